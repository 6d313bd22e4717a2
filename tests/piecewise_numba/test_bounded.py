"""A process compiles its first entry point itself and others in copies of itself, with equal results."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from piecewise_numba import bounded, recipe
from piecewise_numba.entry_points import EntryCode, EntryPoint
from piecewise_numba.recipe import Recipe
from warpreg.cli import main

WORDS = (np.arange(3),)


def total(words: Any) -> int:
    found = 0
    for word in words:
        found += word
    return found


def greatest(words: Any) -> int:
    found = 0
    for word in words:
        found = max(found, word)
    return found


@pytest.fixture
def copying(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first entry point is compiled, and copies are allowed, as outside of tests."""
    monkeypatch.setattr(bounded, "makes_copies", True)
    monkeypatch.setattr(bounded, "_is_ready", True)
    monkeypatch.setattr(bounded, "has_own_threads", lambda: True)  # pytest's workers have others


@pytest.fixture
def compiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[int]]:
    """The processes that have compiled since."""
    build, file = Recipe._build, tmp_path / "processes"
    file.touch()

    def noted(*given: Any) -> Any:
        with file.open("a", encoding="ascii") as lines:
            lines.write(f"{os.getpid()}\n")
        return build(*given)

    monkeypatch.setattr(Recipe, "_build", noted)
    return lambda: [int(line) for line in file.read_text(encoding="ascii").split()]


def forget() -> None:
    """Have nothing compiled, as a new process."""
    recipe._loaded.clear()
    recipe._by_digest.clear()


def entry(function: Any) -> Any:
    forget()
    return recipe.compiled(function, WORDS)


@pytest.mark.usefixtures("copying")
def test_each_entry_point_has_a_copy_of_its_own(
    compiling: Callable[[], list[int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path / "empty"))
    assert entry(total)(*WORDS) == 3
    assert [entry(greatest)(*WORDS) for _ in range(2)] == [2, 2]
    assert len({os.getpid(), *compiling()}) == 3
    assert len(compiling()) == 2  # the third one was in the cache


FILES = Path("/proc/self/fd")
COMPARISON = ["compare", "vector-add", "--size", "tiny", "--designs", "rfc", "--json"]


@pytest.mark.slow
@pytest.mark.usefixtures("copying")
def test_rows_are_equal(
    compiling: Callable[[], list[int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with monkeypatch.context() as before:
        before.setattr(bounded, "makes_copies", False)
        assert main(COMPARISON) == 0
    expected = capsys.readouterr()
    here = set(compiling())
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path / "empty"))
    forget()
    assert main(COMPARISON) == 0
    assert capsys.readouterr() == expected
    assert here <= {os.getpid()}
    assert set(compiling()) - here


@pytest.mark.usefixtures("copying")
def test_the_first_entry_point_is_compiled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "_is_ready", False)
    assert bounded.built(os.getpid) == os.getpid()  # as of a compiler whose code no copy could send
    assert not bounded._is_ready
    entry_point = EntryPoint(0, EntryCode("symbol", b"", []), None)
    assert bounded.built(lambda: entry_point) is entry_point
    assert bounded._is_ready


@pytest.mark.usefixtures("copying")
def test_another_thread_is_not_left_out_of_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "has_own_threads", lambda: False)
    monkeypatch.setattr("threading.active_count", lambda: 2)
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a copy lacks the other thread"))
    assert bounded.built(os.getpid) == os.getpid()


@pytest.mark.usefixtures("copying")
def test_an_error_is_raised_in_the_process_itself() -> None:
    def fails() -> Any:
        raise ValueError(os.getpid())

    with pytest.raises(ValueError, match=f"^{os.getpid()}$"):
        bounded.built(fails)


@pytest.mark.usefixtures("copying")
def test_what_a_copy_cannot_send_is_compiled_here() -> None:
    # A copy that the system kills, and code that holds addresses of its process.
    parent = os.getpid()

    def dies() -> Any:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return "here"

    assert bounded.built(dies) == "here"
    kept_open = EntryPoint(0, None, None)
    assert bounded.built(lambda: kept_open) is kept_open


@pytest.mark.usefixtures("copying")
def test_without_room_for_a_copy_this_process_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    files = len(list(FILES.iterdir()))
    monkeypatch.setattr(os, "fork", refused)
    assert bounded.built(os.getpid) == os.getpid()
    assert len(list(FILES.iterdir())) == files


@pytest.mark.usefixtures("copying")
def test_ctrl_c_ends_the_copy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    here = os.getpid()

    def waits() -> Any:
        (tmp_path / "copy").write_text(str(os.getpid()), encoding="ascii")
        time.sleep(0.3)  # what interrupts a fork can get lost
        os.kill(here, signal.SIGUSR1)
        time.sleep(60)

    before = signal.signal(signal.SIGUSR1, interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            bounded.built(waits)
    finally:
        signal.signal(signal.SIGUSR1, before)
    copy = int((tmp_path / "copy").read_text(encoding="ascii"))
    with pytest.raises(ProcessLookupError):
        os.kill(copy, 0)


@pytest.mark.usefixtures("copying")
def test_ctrl_c_that_reaches_only_the_copy() -> None:
    here = os.getpid()

    def interrupted() -> Any:
        assert os.getpid() != here
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        bounded.built(interrupted)


KILLED = """
import os, signal, time
from piecewise_numba import bounded
bounded._is_ready = True
def waits():
    print(os.getpid(), flush=True)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)
bounded.built(waits)
"""


def test_a_copy_ends_with_its_process() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", KILLED]
    begun = time.monotonic()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    # The pipe of its output is open as long as the copy lives.
    assert int(done.stdout) > 0
    assert done.returncode == -signal.SIGKILL
    assert time.monotonic() - begun < 30


INTERRUPTED = """
import os, signal
from piecewise_numba import bounded
bounded._is_ready = True
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    bounded.built(lambda: print("compiled"))
except KeyboardInterrupt:
    print(os.getpid(), flush=True)
"""


def test_ctrl_c_while_the_process_forks_stays_in_the_copy() -> None:
    """The copy ends; the process, which may have missed it, goes on as after Ctrl-C."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], env=environment, stdout=subprocess.PIPE, text=True
    ) as one:
        found, _ = one.communicate()
    assert found == f"{one.pid}\n"


@pytest.mark.usefixtures("copying")
def test_copies_whose_end_the_system_does_not_tell() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert bounded.built(lambda: 5) == 5
    finally:
        signal.signal(signal.SIGCHLD, before)
