"""Where registers die for a whole warp."""

from __future__ import annotations

import numpy as np
from tests.designs.kernels import at, kernel, op, p, r, when

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs import program_table
from warpreg.designs.parts.affinity.alignment import ANY_SIDE, LEFT
from warpreg.designs.parts.affinity.pairs import NO_BUDDY
from warpreg.designs.parts.renaming.hints import dying_at_entry, renaming_hints
from warpreg.ir.kernel import Kernel

STORE = op("st.shared.u32", at(r(4)), r(3))


def dying(code: Kernel) -> list[list[int]]:
    """The registers that die on the way to each block."""
    return [np.flatnonzero(row).tolist() for row in dying_at_entry(Analysis(code))]


SIDES = kernel(
    [op("mov.u32", r(1), 1), op("mov.u32", r(2), 2), op("setp.lt.s32", p(0), r(0), 5), when(p(0), op("bra"))],
    [op("add.s32", r(3), r(1), 1), op("bra")],
    [op("mov.u32", r(3), 7)],
    [STORE],
    successors=((2, 1), (3,), (3,), ()),
)


def test_what_one_side_of_a_branch_reads_dies_where_the_sides_meet() -> None:
    """Block 1 reads R1 for the last time, but lanes on the way to block 2 may run before those of block 1, or after
    them; so neither the read nor the start of block 2 ends it.  R2 is never read.  R0 is read last before the branch.
    """
    assert dying(SIDES) == [[], [], [], [1]]
    hints = renaming_hints(program_table(SIDES), Analysis(SIDES), frees=True)
    assert hints.entered.tolist() == [0] * 7 + [1 + 3]
    assert hints.released[3].tolist() == [1 << 1]
    assert hints.dead.tolist() == [0, 1, 0, 0]


def test_what_a_loop_reads_again_and_again_dies_at_its_exit() -> None:
    code = kernel(
        [op("mov.u32", r(1), 1)],
        [op("add.s32", r(3), r(3), r(1)), op("setp.lt.s32", p(0), r(3), 5), when(p(0), op("bra"))],
        [STORE],
        successors=((1,), (1, 2), ()),
    )
    assert dying(code) == [[], [], [1]]


def test_an_empty_block_leaves_the_release_to_the_next_one() -> None:
    code = kernel(
        [op("setp.lt.s32", p(0), r(0), 5), when(p(0), op("bra"))],
        [op("add.s32", r(3), r(1), 1), op("bra")],
        [],
        [STORE],
        successors=((2, 1), (3,), (3,), ()),
    )
    assert dying(code)[3] == [1]


def test_nothing_is_released_without_virtualization() -> None:
    """And buddies and sides are those of the result registers R1, R2, R3 and R3."""
    hints = renaming_hints(
        program_table(SIDES), Analysis(SIDES), frees=False, buddies=[-1, 3, -1, 1, -1], sides={2: LEFT}
    )
    assert not hints.entered.any()
    assert not hints.dead.any()
    assert hints.buddy.tolist() == [3, NO_BUDDY, 1, 1]
    assert hints.side.tolist() == [ANY_SIDE, LEFT, ANY_SIDE, ANY_SIDE]
