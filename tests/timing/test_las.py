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
    """Moves take a cycle.  Warp 0 loads A in 1; warps 1, 2, 3 and 0 move in 2 to 5.  Loose round-robin lets them move
    again and load in that order.

    Warp 3's first move is written back in 5.  Its load is the second instruction of its buffer then (§5.5.3), and its
    address is known: it is found.  So warp 3 moves in 5 and loads in 6, before the others.
    """
    plain, order = loads(LARF, Sm(slots=4, pipes=QUICK))
    assert order == [1, 2, 3, 0]
    timed, order = loads(BOTH, Sm(slots=4, pipes=QUICK), "larf_")
    assert order == [3, 1, 2, 0]
    timed.warp(3).issues().at(4, 5, 6, *timed.warp(3).issues().cycles[3:])
    assert events(timed, BOTH)["near"] == 1
    assert events(timed, BOTH)["perfect"] == events(plain, LARF)["perfect"] == 1


def test_a_load_behind_a_taken_branch_is_looked_up_when_it_is_next() -> None:
    """Section 5.4: its register is read.  Warp 0 loads A in 1; warps 1 to 3 and 0 branch in 2 to 5, which takes a
    cycle, and no result of theirs is written before they load.  Warp 3's load is next in 4, and found: it loads in 5,
    before warp 0 branches and warps 1 and 2 load.
    """
    body = FIRST, "bra 0", "mov.b32 R7, 1", "ld.global.u32 R1, [R4.64]\nmov.b32 R10, R1"
    then = [words(B), words(B + 4096), words(B + 8192), words(A)]
    paths = [WarpPath(((1, FULL), (3, FULL)), (access,)) for access in then]
    paths[0] = WarpPath(((0, FULL), (1, FULL), (3, FULL)), (words(A), words(B)))
    branching = Launched(code(*body), (tuple(paths),))
    chosen: dict[str, Any] = {f"larf_{name}": value for name, value in SIZES.items()}
    timed = agreed(branching, Sm(slots=4, pipes=QUICK), design=BOTH, **chosen)
    assert timed.warp(3).issues().cycles[:2] == [4, 5]
    assert events(timed, BOTH)["near"] == 1


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
