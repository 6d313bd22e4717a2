"""A disk that takes no more, or fails, ends a command with one line; no file is left that may pass for a whole one."""

from __future__ import annotations

import errno
import io
import os
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from warpreg.cli import main
from warpreg.sass.export import export
from warpreg.simt.launch import recorder, recording_file, second_thread


class Failing(io.RawIOBase):
    """A file on a disk that takes nothing: each write is an error.  ``writers`` are the threads that have tried."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.writers: list[str] = []

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return offset

    def write(self, data: Any, /) -> int:
        self.writers.append(threading.current_thread().name)
        raise OSError(self.number, os.strerror(self.number))


@pytest.fixture(params=[errno.ENOSPC, errno.EIO], ids=errno.errorcode.__getitem__)
def disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Failing:
    """The disk of a recording that leaves memory at once; 8 KiB of it remain in the buffer of the file."""
    raw = Failing(request.param)
    monkeypatch.setattr(second_thread, "_small", deque())  # without recordings that other tests have left
    monkeypatch.setattr(recording_file, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: io.BufferedRandom(raw))
    return raw


RUN = ["run", "bfs", "--size", "tiny"]


def test_an_error_in_the_thread_that_records(
    disk: Failing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recorder, "BUFFER_BYTES", 16)
    monkeypatch.setattr(second_thread, "may_use_two_processors", lambda: True)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: io.BufferedRandom(disk, 1))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert main(RUN) == 1
    assert disk.writers[0] == "recording"
    one_line = f"warpreg: the recording cannot be written to {tmp_path}: {os.strerror(disk.number)}\n"
    assert capsys.readouterr() == ("", one_line)
    assert list(tmp_path.iterdir()) == []


def test_an_error_at_the_end_of_a_recording(disk: Failing, capsys: pytest.CaptureFixture[str]) -> None:
    # What the file holds back is written when the recording is finished, and once more when it is closed.
    assert main(RUN) == 1
    assert len(disk.writers) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("warpreg: the recording cannot be written to ")
    assert captured.err.endswith(f": {os.strerror(disk.number)}\n")
    assert captured.err.count("\n") == 1


def test_a_recording_without_a_folder_for_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(recording_file, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "gettempdir", refuse)
    assert main(RUN) == 1
    one_line = "warpreg: the recording cannot be written: No usable temporary directory found in ['/tmp']\n"
    assert capsys.readouterr() == ("", one_line)


def test_an_error_while_a_trace_is_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # An earlier export is there: its list would name files of both.
    folder = tmp_path / "traces"
    assert main(["export", "vector-add", "--size", "tiny", "--output", str(folder)]) == 0
    before = (folder / "kernel-1.traceg").read_bytes()

    def cut_off(*_: object) -> Iterator[str]:
        yield "-kernel name = half of it\n"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(export, "trace_text", cut_off)
    capsys.readouterr()
    assert main(["export", "vector-add", "--size", "tiny", "--output", str(folder)]) == 1
    expected = f"warpreg: {folder / 'kernel-1.traceg'}: No space left on device\n"
    assert capsys.readouterr() == ("", expected)
    assert sorted(path.name for path in folder.iterdir()) == [f"kernel-{number}.traceg" for number in (1, 2, 3)]
    assert (folder / "kernel-1.traceg").read_bytes() == before
