"""Architected registers: the allocator against a naive checker, and its parts by example."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis import naive
from tests.codegen.texts import after, kernel, listing, text
from tests.reference.generator import KERNEL, generate

from warpreg import ptx
from warpreg.codegen.lower.build import build_kernel
from warpreg.codegen.options import CompileOptions
from warpreg.codegen.pipeline import passes_of
from warpreg.codegen.regalloc.allocator import AllocatedKernel, AllocateRegisters, AllocationError
from warpreg.codegen.regalloc.vector_groups import IsolateVectors
from warpreg.codegen.verify import verify
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register, Vector


def test_values_that_do_not_meet_share_a_register() -> None:
    body = "mov.u32 %r1, %tid.x; add.s32 %r2, %r1, 1; add.s32 %r3, %r2, 1; st.shared.u32 [0], %r3;"
    assert after(AllocateRegisters(), body).splitlines()[:4] == [
        "mov.u32 R0, %tid.x",
        "add.s32 R0, R0, 1",
        "add.s32 R0, R0, 1",
        "st.shared.u32 [0], R0",
    ]


@pytest.mark.parametrize(("rotate", "taken"), [(0, [0, 1, 0, 0]), (1, [0, 1, 0, 1]), (4, [0, 1, 2, 3])])
def test_values_may_take_registers_in_turn(rotate: int, taken: list[int]) -> None:
    """The one that has been free for longest, of those in use, of which R1 is the third sum's, or of the first four."""
    body = """mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; add.s32 %r3, %r1, %r2; add.s32 %r4, %r3, 1;
              st.shared.u32 [0], %r4;"""
    code = AllocateRegisters(rotate=rotate).run(kernel(body))
    assert [one.defined[0].index for one in code.instructions() if one.defined] == taken


def test_a_wide_value_takes_an_aligned_pair() -> None:
    body = "mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %r1; st.global.u32 [%rd1], %r1;"
    program = AllocateRegisters().run(kernel(body))
    assert listing(program).splitlines()[1:3] == ["cvt.u64.u32 R2.64, R0", "st.global.u32 [R2.64], R0"]
    assert program.register_count == 4


def test_predicates_are_numbered_apart() -> None:
    body = "mov.u32 %r1, %tid.x; setp.eq.s32 %p1|%p2, %r1, 0; @%p1 mov.u32 %r1, 1; @!%p2 st.shared.u32 [0], %r1;"
    program = AllocateRegisters().run(kernel(body))
    assert (program.register_count, program.predicate_count) == (1, 2)
    assert listing(program).splitlines()[1] == "setp.eq.s32 P0|P1, R0, 0"


def test_the_elements_of_a_vector_are_an_aligned_group() -> None:
    body = """
        mov.u32 %r1, %tid.x;
        ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
        add.f32 %f4, %f4, %f1;
        st.shared.v4.f32 [%r1], {%f1, %f2, %f3, %f4};
    """
    assert after(AllocateRegisters(), body).splitlines()[1:4] == [
        "ld.global.v4.f32 {R4, R5, R6, R7}, [R0.64]",
        "add.f32 R7, R7, R4",
        "st.shared.v4.f32 [R2], {R4, R5, R6, R7}",
    ]


def test_a_register_in_two_groups_is_copied() -> None:
    body = "ld.global.v2.u32 {%r1, %r2}, [%rd1]; st.shared.v2.u32 [%r3], {%r2, %r1};"
    assert after(IsolateVectors(), body) == text("""
        ld.global.v2.u32 {%r1, %r2}, [%rd1]
        mov.b32 %r2.v0, %r2
        mov.b32 %r1.v1, %r1
        st.shared.v2.u32 [%r3], {%r2.v0, %r1.v1}
        ret
    """)


def test_a_guarded_load_into_a_second_group_keeps_the_old_values_of_other_threads() -> None:
    """The copies that the load writes begin as the registers, which threads without the guard keep."""
    body = "st.shared.v2.u32 [%r3], {%r1, %r2}; @%p1 ld.global.v2.u32 {%r2, %r1}, [%rd1];"
    assert after(IsolateVectors(), f"{body} st.shared.u32 [%r3], %r1; st.shared.u32 [%r3+4], %r2;") == text("""
        st.shared.v2.u32 [%r3], {%r1, %r2}
        mov.b32 %r2.v0, %r2
        mov.b32 %r1.v1, %r1
        @%p1 ld.global.v2.u32 {%r2.v0, %r1.v1}, [%rd1]
        mov.b32 %r2, %r2.v0
        mov.b32 %r1, %r1.v1
        st.shared.u32 [%r3], %r1
        st.shared.u32 [%r3+4], %r2
        ret
    """)


def test_the_move_of_a_loop_variable_is_coalesced_away() -> None:
    body = (
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %r1; L: add.s32 %r2, %r2, 32; "
        "setp.lt.s32 %p1, %r2, 99; @%p1 bra L; st.shared.u32 [0], %r2;"
    )
    assert after(AllocateRegisters(), body).splitlines()[:3] == ["mov.u32 R0, %tid.x", "L:", "add.s32 R0, R0, 32"]


def test_packing_and_unpacking_cost_nothing_where_the_words_lie_right() -> None:
    body = "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.b64 %rd1, {%r1, %r2}; st.global.b64 [%rd2], %rd1;"
    assert after(AllocateRegisters(), body).splitlines()[:3] == [
        "mov.u32 R2, %tid.x",
        "mov.u32 R3, %tid.y",
        "st.global.b64 [R0.64], R2.64",
    ]


def test_what_does_not_fit_is_spilled_where_it_is_cheapest() -> None:
    """Four values are wanted in three registers; ``%r1`` is used in the loop, so another goes to local memory."""
    body = """
        ld.shared.u32 %r1, [0];
        ld.shared.u32 %r2, [4];
        ld.shared.u32 %r3, [8];
    L:
        add.s32 %r1, %r1, 1;
        setp.lt.s32 %p1, %r1, 9;
        @%p1 bra L;
        ld.shared.u32 %r4, [12];
        add.s32 %r1, %r1, %r4;
        add.s32 %r2, %r2, %r3;
        add.s32 %r1, %r1, %r2;
        st.shared.u32 [0], %r1;
    """
    program = AllocateRegisters(max_registers=3).run(kernel(body))
    verify(program, kernel(body))
    assert program.register_count == 3
    assert program.local_bytes == 4
    assert all("local" not in i.modifiers for i in program.blocks[1].instructions)
    assert [i.full_opcode for i in program.instructions() if "local" in i.modifiers] == ["st.local.b32", "ld.local.b32"]


def test_a_constant_is_loaded_again_rather_than_spilled() -> None:
    body = """
        mov.u32 %r1, 7;
        ld.shared.v2.u32 {%r2, %r3}, [0];
        add.s32 %r2, %r2, %r3;
        shr.u32 %r4, %r1, %r2;
        st.shared.u32 [0], %r4;
    """
    program = AllocateRegisters(max_registers=2).run(kernel(body))
    assert program.local_bytes == 0
    assert "mov.u32 R1, 7" in listing(program).splitlines()[2:]


def test_predicates_beyond_seven_are_kept_in_registers() -> None:
    body = "".join(f"setp.eq.s32 %p{i}, %r1, {i};" for i in range(9))
    body += "".join(f"@%p{i} st.shared.u32 [{4 * i}], %r1;" for i in range(9))
    program = AllocateRegisters().run(kernel(body))
    assert program.predicate_count == 7
    opcodes = [i.full_opcode for i in program.instructions()]
    assert "selp.b32" in opcodes
    assert "setp.ne.u32" in opcodes
    assert program.local_bytes == 0


def test_guards_kept_in_predicates_leave_room_for_what_is_spilled_later() -> None:
    body = "".join(f"setp.eq.s32 %p{i}, %r1, {i};" for i in range(9))
    uses = (
        "8 st",
        "2 st",
        "5 3 6",
        "6 st",
        "4 0 6",
        "0 1 7",
        "2 7 4",
        "6 st",
        "7 st",
        "6 1 8",
        "1 7 5",
        "2 st",
        "6 5 3",
    )
    for guard, *operands in (use.split() for use in uses):
        if operands == ["st"]:
            body += f"@%p{guard} st.shared.u32 [0], %r1;"
        else:
            target, source = operands
            body += f"@%p{guard} and.pred %p{target}, %p{target}, %p{source};"
    assert AllocateRegisters().run(kernel(body)).predicate_count == 7


def test_too_few_registers_for_an_instruction_are_an_error() -> None:
    with pytest.raises(AllocationError, match="kernel 'k' needs more than 3 registers"):
        AllocateRegisters(max_registers=3).run(kernel("add.s64 %rd1, %rd2, %rd3; st.global.b64 [%rd1], %rd2;"))


def clashes(allocated: AllocatedKernel) -> list[str]:
    """Values that one instruction writes over while a later one still reads them."""
    program, registers = allocated.kernel, allocated.registers
    held = {name: _storage(register) for name, register in registers.items()}
    found = []
    for point, live in naive.live_after(program).items():
        instruction = naive.instruction_at(program, point)
        for written in instruction.defined:
            others = live | {r.name for r in instruction.defined}
            for name in others - {written.name} - _copied(instruction):
                if held[name] & held[written.name]:
                    found.append(f"{instruction}: {written} and {name} are both in {registers[name]}")
    return found


def _copied(instruction: Instruction) -> set[str]:
    """What a move reads may stay in the register that it writes: both hold the same."""
    return {r.name for r in instruction.used} if instruction.opcode == "mov" and not instruction.guard else set()


def _storage(register: Register) -> int:
    """The words that a register lies in, as a bit set; predicates have bits of their own, which are odd."""
    words = (2 * register.index + 1,) if register.is_predicate else (2 * word for word in register.words)
    return sum(1 << bit for bit in words)


def before_allocation(seed: int, statements: int) -> Kernel:
    program = build_kernel(ptx.parse(generate(seed, statements).text), KERNEL)
    for step in passes_of(CompileOptions())[:-1]:
        program = step.run(program)
    return program


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([None, 40, 20]), st.sampled_from([0, 1, 32]))
def test_no_two_live_values_share_a_register(seed: int, limit: int | None, rotate: int) -> None:
    allocated = AllocateRegisters(limit, rotate=rotate).allocate(before_allocation(seed, 12))
    assert clashes(allocated) == []


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([None, 32, 24, 16]), st.sampled_from([0, 1, 32]))
def test_pairs_and_groups_are_aligned_within_the_limit(seed: int, limit: int | None, rotate: int) -> None:
    program = before_allocation(seed, 30)
    allocated = AllocateRegisters(limit, rotate=rotate).run(program)
    verify(allocated, program)
    assert limit is None or allocated.register_count <= limit
    assert allocated.predicate_count <= 7
    for instruction in allocated.instructions():
        for operand in instruction.operands:
            if isinstance(operand, Vector) and instruction.opcode in ("ld", "st") and instruction.types[-1].bits >= 32:
                words = [w for e in operand.elements if isinstance(e, Register) for w in e.words]
                first = operand.elements[0]
                assert words == list(range(words[0], words[0] + len(words)))
                assert not isinstance(first, Register) or first.index % len(words) == 0
