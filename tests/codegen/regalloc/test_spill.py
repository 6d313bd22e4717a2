"""Spill code: which values are spilled, and predicates in registers whose copies in predicates are up to date."""

from __future__ import annotations

import pytest
from tests.codegen.texts import kernel, listing, text

from warpreg.analysis.accesses import accesses
from warpreg.codegen.regalloc.allocation_units import Unit, predicate_units
from warpreg.codegen.regalloc.allocator import AllocateRegisters
from warpreg.codegen.regalloc.spill import spill_predicates
from warpreg.codegen.verify import verify
from warpreg.ir.kernel import Kernel


def unit_of(program: Kernel, name: str) -> Unit:
    """The allocation unit of a predicate."""
    return predicate_units(program).at[accesses(program).cells.named(name)][0]


def spilled(body: str, name: str = "%p1") -> str:
    """The listing with a predicate in a register, and its guards kept."""
    program = kernel(body)
    return listing(spill_predicates(program, [unit_of(program, name)], set(), keep_guards=True))


def test_a_reloaded_guard_serves_the_instructions_that_follow() -> None:
    assert spilled("@%p1 st.shared.u32 [%r7], %r1; @!%p1 st.shared.u32 [%r7], %r2; ret;") == text("""
        setp.ne.u32 %p1.t0, %p1.bits, 0
        @%p1.t0 st.shared.u32 [%r7], %r1
        @!%p1.t0 st.shared.u32 [%r7], %r2
        ret
    """)


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        ("setp.lt.s32 %p1, %r1, %r2;", ["setp.lt.s32 %p1.t1, %r1, %r2", "selp.b32 %p1.bits, 1, 0, %p1.t1"]),
        ("mov.pred %p1, %p2;", ["selp.b32 %p1.bits, 1, 0, %p2"]),
        (
            "@%p2 setp.lt.s32 %p1, %r1, %r2;",
            [
                "setp.ne.u32 %p1.t1, %p1.bits, 0",
                "@%p2 setp.lt.s32 %p1.t1, %r1, %r2",
                "selp.b32 %p1.bits, 1, 0, %p1.t1",
            ],
        ),
        (
            "@%p1 setp.lt.s32 %p1, %r1, %r2;",
            [
                "setp.ne.u32 %p1.t1, %p1.bits, 0",
                "@%p1.t1 setp.lt.s32 %p1.t1, %r1, %r2",
                "selp.b32 %p1.bits, 1, 0, %p1.t1",
            ],
        ),
        (
            "setp.lt.s32 %p3|%p1, %r1, %r2;",
            ["setp.lt.s32 %p3|%p1.t1, %r1, %r2", "selp.b32 %p1.bits, 1, 0, %p1.t1"],
        ),
    ],
    ids=["comparison", "move", "other guard", "own guard", "second result"],
)
def test_a_guard_is_reloaded_once_its_predicate_is_written(change: str, changed: list[str]) -> None:
    """``@p1 st; change of p1; @p1 st``: the second store reads the new value."""
    lines = spilled(f"@%p1 st.shared.u32 [%r7], %r1; {change} @%p1 st.shared.u32 [%r7], %r2; ret;").splitlines()
    assert lines[:2] == ["setp.ne.u32 %p1.t0, %p1.bits, 0", "@%p1.t0 st.shared.u32 [%r7], %r1"]
    assert lines[2:-3] == changed
    reload, store = lines[-3:-1]
    fresh = reload.split()[1].rstrip(",")
    assert not any(fresh in line for line in lines[:-3])
    assert (reload, store) == (f"setp.ne.u32 {fresh}, %p1.bits, 0", f"@{fresh} st.shared.u32 [%r7], %r2")


def test_a_guarded_write_reloads_an_old_value_only_where_it_is_needed() -> None:
    """Both stores read what the write under %p2 left: the second one under the same guard, the first one not."""
    needed = "@%p2 setp.lt.s32 %p1, %r1, %r2; @%p1 st.shared.u32 [%r7], %r1; ret;"
    assert spilled(needed).splitlines()[:2] == [
        "setp.ne.u32 %p1.t0, %p1.bits, 0",
        "@%p2 setp.lt.s32 %p1.t0, %r1, %r2",
    ]
    only_there = "@%p2 setp.lt.s32 %p1, %r1, %r2; @%p2 or.pred %p3, %p1, %p4; @%p3 st.shared.u32 [%r7], %r1; ret;"
    assert spilled(only_there) == text("""
        @%p2 setp.lt.s32 %p1.t0, %r1, %r2
        selp.b32 %p1.bits, 1, 0, %p1.t0
        setp.ne.u32 %p1.t1, %p1.bits, 0
        @%p2 or.pred %p3, %p1.t1, %p4
        @%p3 st.shared.u32 [%r7], %r1
        ret
    """)


def test_a_predicate_that_is_defined_under_a_guard_alone_can_be_spilled() -> None:
    """Eight predicates for seven registers: the last one has the fewest accesses, and no value before its first."""
    compared = "".join(f"setp.eq.s32 %p{i}, %r1, {i};" for i in range(7))
    used = "".join(f"@%p{i} st.shared.u32 [{4 * i}], %r1; @!%p{i} st.shared.u32 [{4 * i}], %r2;" for i in range(7))
    under = "@%p0 setp.lt.s32 %p7, %r1, %r2;"
    program = kernel(
        f"mov.u32 %r1, 1; mov.u32 %r2, 2; {compared}{under}{used} @%p0 selp.b32 %r3, %r1, %r2, %p7;"
        "@%p0 st.shared.u32 [0], %r3; ret;"
    )
    allocated = AllocateRegisters().run(program)
    verify(allocated, program)
    assert "selp.b32" in [i.full_opcode for i in allocated.instructions() if not i.guard]


def test_a_value_that_a_deep_loop_reads_is_not_the_one_to_spill() -> None:
    """Two registers for three values: ``%r1`` has two accesses, one in two loops (1 + 100), ``%r2`` four outside."""
    body = """
        ld.shared.u32 %r1, [0];
        ld.shared.u32 %r2, [4];
        ld.shared.u32 %r3, [8];
    OUTER:
    INNER:
        add.s32 %r3, %r3, %r1;
        setp.lt.s32 %p1, %r3, 99;
        @%p1 bra INNER;
        setp.lt.s32 %p2, %r3, 999;
        @%p2 bra OUTER;
        st.shared.u32 [0], %r2;
        st.shared.u32 [4], %r2;
        st.shared.u32 [8], %r2;
        st.shared.u32 [12], %r3;
        ret;
    """
    program = AllocateRegisters(max_registers=2).run(kernel(body))
    assert program.local_bytes == 4
    spilling = [block.index for block in program.blocks if any("local" in i.modifiers for i in block.instructions)]
    assert spilling == [0, len(program.blocks) - 1]
