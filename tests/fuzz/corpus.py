"""The texts to mutate: PTX of workloads and of other compilers, the parser's samples, and random programs."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from tests.reference.generator import generate

import warpreg

TESTS = Path(__file__).parent.parent
FOLDERS = (
    Path(warpreg.__file__).parent / "workloads",
    TESTS / "ptx" / "samples",
    TESTS / "foreign",
    TESTS / "fuzz" / "seeds",
)
LONGEST = 40_000
"""Characters of a text; a longer one would be most of the time of a campaign."""

PROGRAMS = 4
"""Random programs, of few statements each."""


@functools.cache
def texts() -> tuple[str, ...]:
    """The corpus, in an order that is the same everywhere; comments are left out, for a change to one shows nothing."""
    paths = sorted(path for folder in FOLDERS for path in folder.rglob("*.ptx"))
    found = [_bare(path.read_text(encoding="utf-8")) for path in paths]
    found += [generate(seed, statements=3).text for seed in range(PROGRAMS)]
    return tuple(text for text in found if len(text) <= LONGEST)


@functools.cache
def weights() -> tuple[float, ...]:
    """How often each text is taken: short ones more, since a mutant's time goes with its length."""
    return tuple(len(text) ** -1.5 for text in texts())


def _bare(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)
