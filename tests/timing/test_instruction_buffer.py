"""The instructions that a warp issues next (docs/reference/timing.md, "Designs in the core"), worked by hand.

One warp, the ideal operand path, results after four cycles.
"""

from __future__ import annotations

from tests.timing.assembly import code, one_warp
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.reference.machine import Sm
from tests.timing.test_larf import A, B, words
from tests.timing.test_miniatures import events, miniature
from tests.timing.vocabulary import Timed

BUFFER = miniature("buffer")


def seen(launched: Launched) -> tuple[dict[str, int], Timed]:
    run = agreed(launched, Sm(), design=BUFFER)
    return events(run, BUFFER), run


def test_the_next_instruction_is_seen_once_it_waits_for_nothing() -> None:
    """pc 0 is seen as the warp comes, in cycle 0.  It issues in 1; pc 1 needs R1 and is seen when that is written, in
    5.  pc 1 issues in 5 and is written in 9, when nothing is left.
    """
    found, run = seen(one_warp("mov.b32 R1, 1\nmov.b32 R2, R1"))
    run.warp(0).issues().at(1, 5)
    assert found == {"next": 1 * 0 + 2 * 5, "second": 0, "seconds": 0, "words": 0}


def test_both_are_seen_at_a_write_back() -> None:
    """pc 0 issues in 1, pc 1 in 2, and R1 is written in 5, where pc 2 needs R2 of pc 1, and pc 3 nothing: it is seen as
    the second.  pc 1 is seen in 1 as the next one; R2 is written in 6, where pc 2 and 3 are seen; pc 2 issues in 6, and
    pc 3 is the next one.  pc 3 issues in 7; write-backs in 10 and 11 see nothing.
    """
    found, run = seen(one_warp("mov.b32 R1, 1\nmov.b32 R2, 1\nmov.b32 R3, R2\nmov.b32 R4, 1"))
    run.warp(0).issues().at(1, 2, 6, 7)
    assert found["next"] == 2 * 1 + 3 * 6 + 4 * 6
    assert (found["second"], found["seconds"]) == (100 * (4 * 5 + 4 * 6), 2)


def test_the_second_is_not_seen_if_the_next_writes_what_it_needs() -> None:
    """R1 is written in 5 with pc 1 gone; pc 2 waits for R2, and pc 3 for what pc 2 will write."""
    found, _ = seen(one_warp("mov.b32 R1, 1\nmov.b32 R2, 1\nmov.b32 R3, R2\nmov.b32 R4, R3"))
    assert found["seconds"] == 0


def test_addresses_are_those_of_the_instruction() -> None:
    """Both loads need R4 and R5, which nothing writes.  The first is seen as the next in 0; the second one when the
    first has issued.  R1 is written with the first load's data: the second is gone by then.
    """
    found, _ = seen(one_warp("ld.global.u32 R1, [R4.64]\nld.global.u32 R2, [R4.64]", words(A), words(B)))
    assert found["words"] == A + B


def test_what_does_not_stand_behind_the_next_is_no_second() -> None:
    """Blocks 0 and 2: R1 is written in 5, with pc 1 of block 0 waiting for R2, and pc 4 behind it on the path."""
    body = "mov.b32 R1, 1\nmov.b32 R2, 1\nmov.b32 R3, R2", "mov.b32 R9, 1", "mov.b32 R4, 1"
    straight, _ = seen(Launched(code(*body), ((WarpPath(((0, FULL), (1, FULL)), ()),),)))
    assert straight["seconds"] == 2
    aside, _ = seen(Launched(code(*body), ((WarpPath(((0, FULL), (2, FULL)), ()),),)))
    assert aside["seconds"] == 0
