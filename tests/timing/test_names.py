"""Names that machine files, results and the documentation share are defined once; the documentation has all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpreg.gpu.pipes import PIPES
from warpreg.gpu.scheduling import INNER, POLICIES, SUSPENDS
from warpreg.timing import CAUSES

DOCS = Path(__file__).parents[2] / "docs"


def page(name: str) -> str:
    (found,) = DOCS.rglob(name)
    return found.read_text(encoding="utf-8")


@pytest.mark.parametrize("names", [POLICIES, INNER, SUSPENDS], ids=["policies", "inner", "suspends"])
def test_the_machines_page_lists_what_schedulers_may_do(names: tuple[str, ...]) -> None:
    assert ", ".join(f"`{name}`" for name in names) in page("machines.md")


@pytest.mark.parametrize("cause", CAUSES)
def test_the_timing_page_explains_every_cause(cause: str) -> None:
    assert f"`{cause}`" in page("timing.md")


@pytest.mark.parametrize("pipe", PIPES)
def test_the_timing_page_names_every_pipe(pipe: str) -> None:
    assert re.search(rf"`[^`]*\b{pipe}\b[^`]*`", page("timing.md"))
