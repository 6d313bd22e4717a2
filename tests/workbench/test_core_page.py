"""The page of the functions of the timing core is the one that its command writes."""

from __future__ import annotations

import pytest
from tests.docs.reader import ROOT

from warpreg.timing.core import port
from warpreg_workbench.core_page import MARKER, PAGE, tables


@pytest.mark.slow
def test_the_page_is_up_to_date() -> None:
    text, _, written = (ROOT / PAGE).read_text(encoding="utf-8").partition(MARKER)
    assert "warpreg explain-core" in text
    assert written == f"\n\n{tables()}", "write it again: python -m warpreg_workbench.core_page"


@pytest.mark.slow
def test_the_page_has_a_line_for_each_variant() -> None:
    """Each is in a line with the words of its property."""
    lines = tables().splitlines()
    assert len([line for line in lines if line.startswith("| ") and line.count(" | ") == 2]) - 6 == len(port.VARIANTS)
