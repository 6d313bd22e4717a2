"""Blocks of a page, the comments in front of them, and outputs that are shown anew."""

from __future__ import annotations

from pathlib import Path

from tests.docs.reader import smaller

from warpreg_workbench.suite.page_blocks import blocks_of
from warpreg_workbench.suite.shown_output import refreshed

PAGE = """
<!-- file: a.py -->
```python
def one(x):
    return x
```

<!-- insert: a.py, one -->
```python
    x += 1
```

<!-- not run: `all`, too many -->
<!-- fails: as it should -->
```
warpreg run x   # comment
warpreg run all
```

    warpreg run y
"""
SHOWN = "text\n```\n$ warpreg run x\nx in 0.07 s (248 million/s, path recorded)\n\n  a\n\n```\nmore\n"


def test_blocks_have_lines_and_notes() -> None:
    found = blocks_of(PAGE)
    assert [(one.line, one.language) for one in found] == [(3, "python"), (9, "python"), (15, ""), (20, "")]
    assert list(found[2].commands()) == [("warpreg run x", True), ("warpreg run all", False)]
    assert (found[2].has("fails"), found[2].note("fails")) == (True, "as it should")
    assert list(found[3].commands()) == [("warpreg run y", True)]


def test_files_are_written_and_changed(tmp_path: Path) -> None:
    for block in blocks_of(PAGE):
        block.write(tmp_path)
    assert (tmp_path / "a.py").read_text() == "def one(x):\n    x += 1\n    return x\n"


def test_an_output_that_differs_is_shown_anew(tmp_path: Path) -> None:
    """Times may differ; as many paragraphs are shown as before."""
    assert refreshed(SHOWN, lambda command: "x in 1.00 s (1 million/s, path recorded)\n\n  a\n\nb\n", tmp_path) == SHOWN
    now = "x in 1.00 s (1 million/s, path recorded)\n\n  c  \n\nb\n"
    assert refreshed(SHOWN, lambda command: now, tmp_path) == (
        "text\n```\n$ warpreg run x\nx in 1.00 s (1 million/s, path recorded)\n\n  c\n```\nmore\n"
    )


def test_commands_are_made_small() -> None:
    assert smaller(["compare", "bfs"]) == ["compare", "bfs", "--size", "tiny", "-j", "1"]
    assert smaller(["run", "bfs", "--size", "full"]) == ["run", "bfs", "--size", "tiny"]
    assert smaller(["run", "a.ptx"]) == ["run", "a.ptx"]
