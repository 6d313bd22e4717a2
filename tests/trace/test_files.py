"""Files are written atomically."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpreg.trace.files import whole


def test_a_finished_file_takes_its_place(tmp_path: Path) -> None:
    with whole(tmp_path / "new" / "result") as unfinished:
        unfinished.write_text("all of it")
    assert [path.read_text() for path in (tmp_path / "new").iterdir()] == ["all of it"]


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "result").write_text("before")
    with pytest.raises(OSError, match="full"), whole(tmp_path / "result") as unfinished:
        unfinished.write_text("half")
        raise OSError("disk full")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


def test_an_error_of_a_write_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="disk full") as caught, whole(tmp_path / "result"):
        raise OSError(28, "disk full")
    assert caught.value.filename == str(tmp_path / "result")
