"""Every code block of a page works as the page says, in the order of the page (see `page_blocks` for its comments)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.reader import ROOT, Reader

from warpreg import designs
from warpreg.experiments.suite.page_blocks import blocks_of

GENERATED = {ROOT / "docs" / "designs" / f"{name}.md" for name in designs.names()}
PAGES = [
    str(page.relative_to(ROOT))
    for page in sorted({ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")} - GENERATED)
    if any(block.is_shell or block.language == "python" for block in blocks_of(page.read_text(encoding="utf-8")))
    and page.parent.name != "generated"
]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
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
