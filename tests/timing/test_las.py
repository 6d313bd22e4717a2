"""LAS in time: warps whose next load is in the address mapping table go first (thesis of 2021, §5.5.3)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.timing.assembly import code
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.reference.machine import Pipe, Sm, TwoLevel
from tests.timing.test_larf import SIZES, A, B, few_words, words
from tests.timing.test_miniatures import events
from tests.timing.vocabulary import Timed

from warpreg.designs import Design, DesignError, load, program_table
from warpreg.designs.loading.composition import compose

__all__ = ["few_words"]

LARF = load("larf")
BOTH = compose([LARF, load("las")])
QUICK = {name: Pipe(latency=1) for name in Sm().pipes}
FIRST = "ld.global.u32 R9, [R8.64]"
THEN = "mov.b32 R4, 1\nmov.b32 R6, 1\nld.global.u32 R1, [R4.64]\nadd.s32 R10, R1, R9"


def launched() -> Launched:
    """Warp 0 loads A.  Then all warps move twice and load: warp 3 A, the others words that nobody has loaded."""
    then = [words(B), words(B + 4096), words(B + 8192), words(A)]
    paths = [WarpPath(((1, FULL),), (access,)) for access in then]
    paths[0] = WarpPath(((0, FULL), (1, FULL)), (words(A), words(B)))
    return Launched(code(FIRST, THEN), (tuple(paths),))


def loads(design: Design, sm: Sm, prefix: str = "") -> tuple[Timed, list[int]]:
    """The warps in the order in which they issue the last load."""
    chosen: dict[str, Any] = {prefix + name: value for name, value in SIZES.items()}
    timed = agreed(launched(), sm, design=design, **chosen)
    return timed, sorted(range(4), key=lambda warp: timed.warp(warp).issues("ld.global.u32 R1").first)


def test_a_warp_whose_load_hits_goes_first() -> None:
    """Moves take a cycle, so that the load of a warp is ready and looked up a cycle after its second move.

    Warp 0 loads A in 1; warps 1 to 3 and 0 move in 2 to 9.  Loose round-robin lets warps 1, 2, 3 load in 10 to 12.
    Warp 3's second move is written back in 9, where its load is looked up and found: it loads in 9, before warp 0 has
    moved, and the others follow.
    """
    plain, order = loads(LARF, Sm(slots=4, pipes=QUICK))
    assert order == [1, 2, 3, 0]
    timed, order = loads(BOTH, Sm(slots=4, pipes=QUICK), "larf_")
    assert order == [3, 1, 2, 0]
    assert events(timed, BOTH)["near"] == 1
    assert events(timed, BOTH)["perfect"] == events(plain, LARF)["perfect"] == 1


@pytest.mark.parametrize("policy", ["gto", "oldest"])
def test_it_works_with_other_orders(policy: str) -> None:
    timed, order = loads(BOTH, Sm(slots=4, pipes=QUICK, policy=policy), "larf_")
    assert events(timed, BOTH)["perfect"] == 1
    assert sorted(order) == [0, 1, 2, 3]


def test_it_works_in_an_active_set() -> None:
    timed, _ = loads(BOTH, Sm(slots=4, pipes=QUICK, two_level=TwoLevel(active_warps=2)), "larf_")
    assert events(timed, BOTH)["perfect"] == 1


def test_las_needs_larf() -> None:
    las, kernel = load("las"), launched().kernel
    with pytest.raises(DesignError, match=r"needs that design beside it: larf\+las"):
        las.initial_state(las.configure(), program_table(kernel), None, kernel)
