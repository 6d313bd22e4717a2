"""Acquires, releases and index compaction (thesis of 2021, §4.3.1)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen import random_code
from tests.designs.kernels import at, kernel, op, p, pair, r, when

from warpreg import codegen, ptx
from warpreg.analysis.kernel_analysis import Analysis
from warpreg.codegen import CompileOptions
from warpreg.codegen.verify import verify
from warpreg.designs.parts.sharing.check import findings
from warpreg.designs.parts.sharing.corruptions import (
    EARLY_RELEASE,
    LATE_ACQUIRE,
    MISSING_MOVE,
    WRONG_SECTION,
    corruptions_of,
)
from warpreg.designs.parts.sharing.division import Division, divided
from warpreg.designs.parts.sharing.instructions import ACQUIRE, NOTHING, RELEASE, action_of
from warpreg.designs.parts.sharing.states import DivisionError
from warpreg.ir.edges import visits_of
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Label, Register, Vector

END = [op("exit")]


def written(*registers: int) -> list[Instruction]:
    return [op("mov.b32", r(i), i) for i in registers]


def read(*registers: int) -> list[Instruction]:
    return [op("st.global.u32", at(r(2)), r(i)) for i in registers]


def moves(found: Division) -> list[str]:
    return [
        str(instruction)
        for instruction, original in zip(found.kernel.instructions(), found.original, strict=True)
        if original < 0 and action_of(instruction) == NOTHING
    ]


def test_the_example_of_index_compaction() -> None:
    """|Bs| = 6 and {2, 4, 5, 9} live in front of the release: 9 moves to one of 0, 1 and 3, the lowest; its read too.

    Seven registers are live before the product, which reads 0, 1 and 3 for the last time.
    """
    product = op("mad.lo.s32", r(7), r(0), r(1), r(3))
    code = kernel([*written(0, 1, 2, 3, 4, 5, 9), product, *read(9, 4, 5), *END])
    found = divided(code, 6, 12)
    assert moves(found) == ["mov.b32 R0, R9"]
    lines = [str(instruction) for instruction in found.kernel.instructions()]
    assert lines[-6:] == [
        "mov.b32 R0, R9",
        "setmaxnreg.dec.sync.aligned.u32 6",
        "st.global.u32 [R2], R0",
        "st.global.u32 [R2], R4",
        "st.global.u32 [R2], R5",
        "exit",
    ]


def test_a_release_follows_the_last_need_directly() -> None:
    code = kernel([*written(*range(10)), *read(9, 8, 7, 6), *read(0, 1, 3, 4, 5), *END])
    lines = [action_of(instruction) for instruction in divided(code, 6, 12).kernel.instructions()]
    assert lines.index(ACQUIRE) == 6
    assert lines.index(RELEASE) == 1 + 10 + 4


def test_values_that_meet_have_one_register_on_all_paths() -> None:
    """R9 is written on both sides of a branch, on one of them with a section, and read after it: one base register."""
    code = kernel(
        [*written(2), when(p(0), op("bra", Label("b2")))],
        [*written(*range(10, 18)), *read(*range(10, 18)), *written(9), op("bra", Label("b3"))],
        written(9),
        [*read(9), *END],
        successors=((2, 1), (3,), (3,), ()),
    )
    found = divided(code, 6, 18)
    places = {
        instruction.defined[0].index
        for instruction, original in zip(found.kernel.instructions(), found.original, strict=True)
        if original >= 0 and list(code.instructions())[original].defined[:1] == (r(9),)
    }
    assert len(places) == 1
    assert max(places) < 6
    assert not any(move.endswith("R9") for move in moves(found))


def test_lanes_that_wait_keep_their_values() -> None:
    """Block 1 releases a section while lanes wait with R12 for block 2: it is written to the base set, not moved."""
    code = kernel(
        [*written(2, 12), when(p(0), op("bra", Label("b2")))],
        [*written(*range(3, 10)), *read(*range(3, 10)), op("bra", Label("b3"))],
        read(12),
        [*read(2), *END],
        successors=((2, 1), (3,), (3,), ()),
    )
    found = divided(code, 4, 16)
    assert not any(move.endswith("R12") for move in moves(found))
    first = found.kernel.blocks[0].instructions[1]
    assert first.defined[0].index < 4
    assert findings(code, found) == []


def test_pairs_and_vectors_move_as_a_whole() -> None:
    """A pair stays even, a vector of four aligned, also when it leaves the extended set."""
    four = Vector(tuple(r(i) for i in range(12, 16)))
    code = kernel(
        [
            *written(*range(6)),
            op("ld.global.v4.u32", four, at(r(2))),
            op("add.s64", pair(10), pair(12), pair(14)),
            *read(0, 1, 3, 4, 5),
            op("st.global.u64", at(r(2)), pair(10)),
            op("st.global.v4.u32", at(r(2)), four),
            *END,
        ]
    )
    found = divided(code, 8, 16)
    verify(found.kernel)
    assert findings(code, found) == []
    last = found.kernel.blocks[0].instructions[-2].operands[1]
    assert isinstance(last, Vector)
    numbers = [element.index for element in last.elements if isinstance(element, Register)]
    assert [number - numbers[0] for number in numbers] == [0, 1, 2, 3]
    assert numbers[0] in (0, 4)


def test_a_static_check_finds_seeded_errors() -> None:
    code = kernel([*written(*range(10)), *read(0, 1, 3, 6, 7, 8), *read(9, 4, 5), *END])
    found = divided(code, 6, 12)
    wrong = corruptions_of(code, found, np.ones(1, np.int64))
    assert {one.kind for one in wrong} == {EARLY_RELEASE, LATE_ACQUIRE, MISSING_MOVE, WRONG_SECTION}
    assert findings(code, found) == []
    for one in wrong:
        if one.kind in (EARLY_RELEASE, MISSING_MOVE, LATE_ACQUIRE):
            assert one.checked().findings()


def test_an_acquire_behind_a_barrier_may_lie_on_the_edge_to_a_loop() -> None:
    """The loop writes R1 to R5, which are read after it, so a section is held from one iteration to the next.  One
    register is needed at the barrier in front of it; behind the barrier the warp acquires, on the edge, block 4.
    """
    five = [op("mov.b32", r(i), i) for i in range(1, 6)]
    code = kernel(
        [op("mov.b32", r(0), 0), op("bar.sync", 0)],
        [*five, when(p(0), op("bra", Label("b1")))],
        [op("add.s32", r(0), r(0), r(i)) for i in range(1, 6)],
        [op("st.global.u32", at(r(0)), r(0)), op("exit")],
        successors=((1,), (1, 2), (3,), ()),
    )
    found = divided(code, 4, 8)
    assert [[a for a in map(action_of, block.instructions) if a] for block in found.kernel.blocks] == [
        [], [], [RELEASE], [], [ACQUIRE],
    ]  # fmt: skip
    edge = found.kernel.blocks[4]
    assert (edge.is_edge, edge.successors, len(edge.instructions)) == (True, (1,), 1)
    assert findings(code, found) == []
    wrong = corruptions_of(code, found, np.array([1, 9, 1, 1]))
    assert {one.block for one in wrong} == {2}
    assert all(one.checked().findings() for one in wrong)
    assert visits_of(found.kernel, [1, 9, 1, 1]) == [1, 9, 1, 1, 1]


def test_no_edge_is_used_without_need() -> None:
    code = kernel(
        [op("mov.b32", r(0), 0), op("bar.sync", 0)],
        [op("add.s32", r(0), r(0), 1), when(p(0), op("bra", Label("b1")))],
        [op("st.global.u32", at(r(0)), r(0)), op("exit")],
        successors=((1,), (1, 2), ()),
    )
    found = divided(code, 4, 8)
    assert len(found.kernel.blocks) == 3
    assert [str(one) for one in found.kernel.instructions()] == [str(one) for one in code.instructions()]


def test_registers_that_the_rounding_adds_may_be_used() -> None:
    """R6 and R7 of a kernel of six registers: the code that names them says so."""
    code = kernel([*written(*range(6)), *read(*range(6)), *END])
    for base in (2, 4):
        found = divided(code, base, 8)
        named = {word for one in found.kernel.instructions() for x in (*one.defined, *one.used) for word in x.words}
        assert max(named) < found.kernel.register_count <= 8


def test_values_that_share_a_register_under_a_guard_may_share_it_on() -> None:
    """The guarded sum is read under its guard only, so R2 holds two values; the base set has room for all registers."""
    twice = [when(p(0), op("add.s32", r(2), r(2), 1)), when(p(0), op("st.global.u32", at(r(0)), r(2)))]
    code = kernel([*written(0, 1, 2), *twice, op("st.global.u32", at(r(0)), r(1)), *END])
    found = divided(code, 3, 4)
    assert list(map(str, found.kernel.instructions())) == list(map(str, code.instructions()))


def repeated() -> Kernel:
    """An acquire and a release that a program repeats."""
    return kernel(
        [
            op("setmaxnreg.inc.sync.aligned.u32", 8),
            op("setmaxnreg.inc.sync.aligned.u32", Immediate(8)),
            op("setmaxnreg.dec.sync.aligned.u32", 4),
            op("setmaxnreg.dec.sync.aligned.u32", 4),
            *END,
        ]
    )


def test_inserted_instructions_are_told_by_having_no_location() -> None:
    assert [action_of(one) for one in repeated().instructions()] == [ACQUIRE, ACQUIRE, RELEASE, RELEASE, NOTHING]


def confined(found: Division) -> bool:
    """Whether no register of the extended set is live or named where no section is held, on any path."""
    analysis = Analysis(found.kernel)
    needed = analysis.live_after | analysis.waiting[analysis.block_of]
    held: dict[int, bool] = {0: False}
    work = [0]
    while work:
        block = work.pop()
        state = held[block]
        pcs = np.flatnonzero(analysis.block_of == block)
        for pc in pcs.tolist():
            instruction = list(found.kernel.instructions())[pc]
            action = action_of(instruction)
            assert action == NOTHING or state == (action == RELEASE)
            state = state if action == NOTHING else action == ACQUIRE
            words = [w for register in (*instruction.defined, *instruction.used) for w in register.words]
            if not state and (needed[pc, found.base :].any() or any(w >= found.base for w in words)):
                return False
        for successor in analysis.successors[block]:
            if successor not in held:
                held[successor] = state
                work.append(successor)
            assert held[successor] == state
    return True


FORMS = (
    *random_code.SUMS,
    *random_code.LOGIC,
    *random_code.PRODUCTS,
    "mul.wide.s32 %rd9, {a}, {b}; cvt.u32.u64 {d}, %rd9;",
    "add.s64 %rd9, %rd9, %rd3; cvt.u32.u64 {d}, %rd9;",
)


START = "mov.u32 %r20, %tid.x;"
"""How random code begins; a value that nothing has defined is in no register, so %rd9 gets one."""


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 100_000), st.integers(0, 5), st.integers(2, 6), st.integers(0, 4))
def test_random_kernels_keep_to_the_base_set(seed: int, branches: int, halved: int, gap: int) -> None:
    """The state is the same on all paths, nothing is repeated, and the static check finds every value."""
    text = random_code.text(seed, FORMS, branches=branches).replace(START, f"{START} mov.u64 %rd9, 7;", 1)
    code = codegen.translate(ptx.parse(text), "k", CompileOptions())
    total = -(-code.register_count // 4) * 4
    try:
        found = divided(code, total - 2 * halved, total, gap)
    except DivisionError:
        return
    verify(found.kernel, code)
    assert confined(found)
    assert findings(code, found) == []
