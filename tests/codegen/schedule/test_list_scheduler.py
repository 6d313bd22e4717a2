"""Order of instructions in a block, and the dependences that it preserves."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen.texts import after, kernel, listing
from tests.reference.generator import KERNEL, generate

from warpreg import ptx
from warpreg.analysis.pressure import pressure
from warpreg.codegen.lower.build import build_kernel
from warpreg.codegen.schedule.list_scheduler import ScheduleInstructions


def order(body: str, **options: Any) -> list[str]:
    """The first operands' names after scheduling, in order."""
    lines = after(ScheduleInstructions(**options), body).splitlines()
    return [line.split()[1].rstrip(",") for line in lines if len(line.split()) > 1]


def test_loads_go_before_what_does_not_need_them() -> None:
    body = """
        ld.global.u32 %r1, [%rd1];
        add.s32 %r2, %r1, 1;
        ld.global.u32 %r3, [%rd2];
        add.s32 %r4, %r3, 1;
        add.s32 %r5, %r2, %r4;
        st.shared.u32 [%r9], %r5;
    """
    assert order(body) == ["%r1,".rstrip(","), "%r3", "%r2", "%r4", "%r5", "[%r9],".rstrip(",")]


def test_the_longest_chain_goes_first() -> None:
    """``%r3`` waits for a slow square root, ``%r4`` for nothing."""
    body = """
        add.s32 %r4, %r8, 1;
        sqrt.approx.f32 %f1, %f9;
        add.f32 %f2, %f1, %f1;
        st.shared.u32 [%r9], %r4;
        st.shared.f32 [%r9+4], %f2;
    """
    assert order(body)[0] == "%f1"


def test_stores_loads_and_atomics_of_one_space_keep_their_order() -> None:
    body = """
        add.s32 %r1, %r9, 1;
        st.shared.u32 [%r1], %r8;
        ld.shared.u32 %r2, [%r7];
        atom.shared.add.u32 %r3, [%r6], %r2;
        ld.shared.u32 %r4, [%r5];
        st.global.u32 [%rd1], %r3;
    """
    shared = [line for line in after(ScheduleInstructions(), body).splitlines() if "shared" in line]
    assert [line.split(".")[0] for line in shared] == ["st", "ld", "atom", "ld"]


def test_generic_accesses_may_be_of_any_space() -> None:
    body = (
        "add.s64 %rd2, %rd1, 4; st.u32 [%rd2], %r1; ld.global.u32 %r2, [%rd3]; "
        "ld.shared.u32 %r3, [%r4]; mov.u32 %r5, 0;"
    )
    lines = after(ScheduleInstructions(), body).splitlines()
    store = next(i for i, line in enumerate(lines) if line.startswith("st.u32"))
    assert all(store < i for i, line in enumerate(lines) if line.startswith("ld."))


def test_read_only_loads_pass_stores() -> None:
    body = (
        "add.s64 %rd2, %rd1, 4; st.global.u32 [%rd2], %r1; ld.global.nc.u32 %r2, [%rd3]; st.global.u32 [%rd2+4], %r2;"
    )
    assert order(body)[0] == "%r2"


def test_a_fence_stays_between_what_it_separates() -> None:
    body = (
        "add.s64 %rd2, %rd1, 4; st.global.u32 [%rd2], %r1; membar.gl; ld.global.u32 %r2, [%rd3]; "
        "ld.shared.u32 %r3, [%r4];"
    )
    lines = after(ScheduleInstructions(), body).splitlines()
    fence = lines.index("membar.gl")
    assert [line.split(".")[0] for line in lines[fence + 1 :]] == ["ld", "ld", "ret"]


def test_a_chain_of_carries_is_not_interrupted_by_another() -> None:
    body = """
        add.cc.u32 %r1, %r10, %r11;
        addc.u32 %r2, %r12, %r13;
        add.cc.u32 %r3, %r14, %r15;
        addc.u32 %r4, %r16, %r17;
        st.shared.v4.u32 [%r9], {%r1, %r2, %r3, %r4};
    """
    assert order(body)[:4] == ["%r1", "%r2", "%r3", "%r4"]


def test_the_branch_stays_last() -> None:
    body = "L: setp.eq.s32 %p1, %r1, 0; ld.global.u32 %r2, [%rd1]; st.shared.u32 [%r3], %r2; @%p1 bra L;"
    program = ScheduleInstructions().run(kernel(body))
    assert str(program.blocks[0].terminator) == "@%p1 bra L"


def test_few_registers_keep_loads_near_their_use() -> None:
    """Twelve loads summed one by one need few registers; hoisted, they would need more than twelve."""
    body = "\n".join(f"ld.global.f32 %f{i + 1}, [%rd1+{4 * i}]; add.f32 %f0, %f0, %f{i + 1};" for i in range(12))
    body += "st.global.f32 [%rd2], %f0;"
    free = pressure(ScheduleInstructions().run(kernel(body))).highest[0]
    held = pressure(ScheduleInstructions(max_registers=10).run(kernel(body))).highest[0]
    assert free >= 12
    assert held <= 10


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_a_block_keeps_its_instructions(seed: int) -> None:
    program = build_kernel(ptx.parse(generate(seed).text), KERNEL)
    scheduled = ScheduleInstructions().run(program)
    for old, new in zip(program.blocks, scheduled.blocks, strict=True):
        assert sorted(map(str, old.instructions)) == sorted(map(str, new.instructions))
        assert old.terminator == new.terminator
    assert listing(ScheduleInstructions().run(program)) == listing(scheduled)


def test_nothing_moves_across_the_call_of_a_divisions_subroutine() -> None:
    """The guarded division calls it; without the guard the second load, whose chain is longest, would go first."""
    body = """
        add.f32 %f3, %f1, %f2;
        {} div.rn.f32 %f3, %f1, %f2;
        ld.global.f32 %f4, [%rd1];
        add.f32 %f5, %f4, %f3;
        st.shared.f32 [0], %f5;
    """
    whole, called = (after(ScheduleInstructions(), body.format(guard)).splitlines() for guard in ("", "@%p1"))
    assert whole[0].startswith("ld.global")
    assert [line.split(".")[0] for line in called[:3]] == ["add", "@%p1 div", "ld"]


def test_a_comparison_waits_while_the_predicates_are_live() -> None:
    """All comparisons are ready at once; with a bound of two, each later one waits for a selection that frees one."""
    tests = "".join(f"setp.lt.s32 %p{i}, %r9, {i}; " for i in range(5))
    selections = "".join(f"selp.b32 %r{i}, %r8, %r9, %p{i}; st.shared.u32 [{4 * i}], %r{i}; " for i in range(5))
    first = order(tests + selections)
    assert first[:5] == ["%p0", "%p1", "%p2", "%p3", "%p4"]
    live = highest = 0
    for name in order(tests + selections, predicates=2):
        live += name.startswith("%p") - name.startswith("%r")
        highest = max(highest, live)
    assert highest == 2
