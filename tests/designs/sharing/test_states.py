"""Liveness, and where a warp holds a section (thesis of 2021, §4.3, §4.3.1)."""

from __future__ import annotations

import numpy as np
import pytest
from tests.designs.kernels import at, kernel, op, p, r, when

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.parts.sharing.division import divided
from warpreg.designs.parts.sharing.instructions import ACQUIRE, RELEASE, action_of, waiting_points
from warpreg.designs.parts.sharing.states import DivisionError, Marks, need_of, states_of
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Label

BARRIER = op("bar.sync", 0)


def live(code: Kernel) -> list[set[int]]:
    """By pc: the registers that a lane of the warp may still read after the instruction."""
    analysis = Analysis(code)
    bits = analysis.live_after | analysis.waiting[analysis.block_of]
    return [set(np.flatnonzero(row).tolist()) for row in bits]


FIGURE_4_3 = kernel(
    [op("mov.b32", r(3), 1), op("mov.b32", r(2), 2), op("mov.b32", r(4), 4), when(p(0), op("bra", Label("b2")))],
    [
        op("mov.b32", r(1), 1),
        op("add.s32", r(5), r(1), 1),
        op("add.s32", r(5), r(5), r(1)),
        op("st.global.u32", at(r(4)), r(5)),
        op("bra", Label("b3")),
    ],
    [op("add.s32", r(2), r(3), 1), op("st.global.u32", at(r(4)), r(2))],
    [op("st.global.u32", at(r(4)), r(2)), op("exit")],
    successors=((2, 1), (3,), (3,), ()),
)
"""The text on Figure 4.3: R1 is written and last read in s_1 (block 1), R3 is read in s_2 (block 2) only, and R2, which
s_2 writes, is read after the branch."""


def test_figure_4_3() -> None:
    """R1 lives from its write to its last read; R3 all through s_1 although only s_2 reads it; R2 throughout s_1."""
    after = live(FIGURE_4_3)
    s_1 = range(4, 9)
    assert [1 in after[pc] for pc in s_1] == [True, True, False, False, False]
    assert all(3 in after[pc] for pc in s_1)
    assert all(2 in after[pc] for pc in s_1)
    assert 3 not in after[-2]


def growing(count: int, *middle: Instruction) -> Kernel:
    """R0 to R<count - 1> become live one after the other; then they are added to R0, the last first."""
    up = [op("mov.b32", r(i), i) for i in range(count)]
    down = [op("add.s32", r(0), r(0), r(i)) for i in reversed(range(1, count))]
    return kernel([*up, *middle, *down, op("st.global.u32", at(r(0)), r(0)), op("exit")])


def actions(code: Kernel) -> list[int]:
    return [action_of(instruction) for instruction in code.instructions()]


def test_figure_4_2() -> None:
    """31 registers and a base set of 16: a section is held from the write of the 17th on, at 16, until 15 of them have
    been added and 16 are left, at 31 + 15; an instruction before and after that.
    """
    found = divided(growing(31), 16, 32)
    assert [pc for pc, action in enumerate(actions(found.kernel)) if action == ACQUIRE] == [16]
    assert [pc for pc, action in enumerate(actions(found.kernel)) if action == RELEASE] == [31 + 15 + 1]
    assert found.moves == 0


def test_a_base_set_that_suffices_needs_no_instruction() -> None:
    code = growing(8)
    assert actions(divided(code, 8, 12).kernel) == actions(code)


@pytest.mark.parametrize("base", [4, 7])
def test_more_live_registers_at_a_barrier_than_the_base_set_has(base: int) -> None:
    code = growing(8, BARRIER)
    code = kernel(list(code.blocks[0].instructions[:9]), list(code.blocks[0].instructions[9:]))
    with pytest.raises(DivisionError) as error:
        divided(code, base, 8)
    assert str(error.value) == (
        "kernel hand: 8 registers are live at 'bar.sync 0' (pc 8), where a warp may hold no section, and the base set "
        f"has {base}"
    )


def test_no_section_is_held_at_a_barrier_between_two_needs() -> None:
    """Six registers are needed before and after the barrier, one at it: released and acquired again."""
    half = growing(6).blocks[0].instructions[:11]
    code = kernel([*half, BARRIER], [*half, op("st.global.u32", at(r(0)), r(0)), op("exit")])
    found = [action for action in actions(divided(code, 4, 8).kernel) if action]
    assert found == [ACQUIRE, RELEASE, ACQUIRE, RELEASE]


def test_a_short_gap_may_be_held() -> None:
    half = growing(6).blocks[0].instructions[:11]
    code = kernel([*half, *half, op("st.global.u32", at(r(0)), r(0)), op("exit")])
    need = need_of(Analysis(code))
    gap = sum(need.at(pc) <= 4 for pc in range(8, 15))
    assert len([a for a in actions(divided(code, 4, 8, gap).kernel) if a]) == 4
    assert len([a for a in actions(divided(code, 4, 8, gap + 1).kernel) if a]) == 2


def test_where_a_warp_may_wait() -> None:
    """Barriers, but not those of a warp; a lock's atomics where they are repeated, but not a sum that is."""
    lock, total = op("atom.global.cas.b32", r(1), at(r(0)), 0, 1), op("atom.global.add.u32", r(1), at(r(0)), 1)
    compared = op("atom.global.cas.b32", r(1), at(r(0)), r(2), 1)
    loop = kernel(
        [lock, op("mov.b32", r(0), 0)],
        [lock, total, compared, op("bar.warp.sync", -1), when(p(0), op("bra", Label("b1")))],
        [BARRIER],
        [op("exit")],
        successors=((1,), (1, 2), (3,), ()),
    )
    assert waiting_points(loop) == {2, 7}


def test_hardware_traces_have_the_same_rules() -> None:
    """Seven registers are needed from the second move behind the barrier to the second sum; R6 and R7 are moved."""
    code = kernel(
        [*(op("MOV", r(i), i) for i in range(4)), op("BAR.SYNC.DEFER_BLOCKING", 0)],
        [*(op("MOV", r(i), i) for i in range(4, 8)), op("BRA", 0)],
        [op("IADD3", r(0), r(0), r(i)) for i in range(1, 8)],
        [op("STG.E", at(r(0)), r(0)), op("EXIT")],
    )
    assert waiting_points(code) == {4}
    found = divided(code, 6, 8).kernel
    assert [list(map(action_of, block.instructions)) for block in found.blocks[:3]] == [
        [0] * 5,
        [0, 0, ACQUIRE, 0, 0, 0],
        [0, 0, 0, 0, RELEASE, 0, 0, 0, 0, 0],
    ]


def test_divergent_sides_have_the_state_of_their_branch() -> None:
    """Only block 1 needs a section: it is acquired and released inside, as block 2 may run after it."""
    inner = growing(6).blocks[0].instructions[:11]
    code = kernel(
        [op("mov.b32", r(6), 0), when(p(0), op("bra", Label("b2")))],
        [*inner, op("st.global.u32", at(r(0)), r(0)), op("bra", Label("b3"))],
        [op("st.global.u32", at(r(6)), r(6))],
        [op("st.global.u32", at(r(6)), r(6)), op("exit")],
        successors=((2, 1), (3,), (3,), ()),
    )
    analysis = Analysis(code)
    found = states_of(analysis, need_of(analysis), 5, Marks())
    assert not any(found.boundary.values())
    assert any(found.at)


def test_a_loop_that_needs_more_all_the_time_is_held_all_the_time() -> None:
    """Six registers are live around the loop: acquired once before it, released once after it."""
    six = [op("mov.b32", r(i), i) for i in range(6)]
    code = kernel(
        six,
        [op("add.s32", r(0), r(0), r(1)), when(p(0), op("bra", Label("b1")))],
        [op("add.s32", r(0), r(0), r(i)) for i in range(1, 6)],
        [op("st.global.u32", at(r(0)), r(0)), op("exit")],
        successors=((1,), (1, 2), (3,), ()),
    )
    found = divided(code, 4, 8).kernel
    assert [[a for a in map(action_of, block.instructions) if a] for block in found.blocks] == [
        [ACQUIRE],
        [],
        [RELEASE],
        [],
    ]
