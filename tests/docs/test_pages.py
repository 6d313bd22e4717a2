"""Every code block of a page works as the page says, in the order of the page (see `page_blocks` for its comments)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.reader import ROOT, Reader, parse

from warpreg import designs
from warpreg_workbench.suite.page_blocks import blocks_of

GENERATED = {ROOT / "docs" / "designs" / f"{name}.md" for name in designs.names()}
PAGES = [
    str(page.relative_to(ROOT))
    for page in sorted({ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")} - GENERATED)
    if any(block.is_shell or block.language == "python" for block in blocks_of(page.read_text(encoding="utf-8")))
    and page.parent.name != "generated"
]

LONG = {
    "docs/explanation/reproduction.md",
    "docs/how-to/compare-designs.md",
    "docs/how-to/reproduce-a-paper.md",
    "docs/how-to/time-a-run.md",
    "docs/how-to/trace-a-run.md",
    "docs/how-to/write-a-design.md",
    "docs/reference/design-interface.md",
    "docs/explanation/energy.md",
}
"""Pages whose cores take minutes to compile."""


@pytest.mark.parametrize("page", PAGES)
def test_commands_exist_and_python_compiles(page: str) -> None:
    for block in blocks_of((ROOT / page).read_text(encoding="utf-8")):
        if block.is_shell:
            for command, _ in block.commands():
                parse(command)
        elif block.language == "python" and not block.has("insert"):
            compile(block.text, f"{page}:{block.line}", "exec")


@pytest.mark.slow
@pytest.mark.parametrize("page", [pytest.param(page, marks=pytest.mark.long if page in LONG else ()) for page in PAGES])
def test_the_blocks_of_a_page_work(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    reader.prepare()
    for block in blocks_of((ROOT / page).read_text(encoding="utf-8")):
        try:
            reader.follow(block)
        except BaseException as error:
            error.add_note(f"{page}:{block.line}")
            raise
