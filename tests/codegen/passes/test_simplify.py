"""The simplifying passes, each on a few lines of PTX."""

from __future__ import annotations

import pytest
from tests.codegen.texts import after, kernel, listing, text

from warpreg.codegen.passes.base import Pass
from warpreg.codegen.passes.copy_propagation import PropagateCopies
from warpreg.codegen.passes.dead_code import EliminateDeadCode
from warpreg.codegen.passes.fold_addresses import FoldAddresses
from warpreg.codegen.passes.fold_constants import FoldConstants
from warpreg.codegen.passes.fold_parameters import FoldParameters
from warpreg.codegen.passes.legalize import LegalizeOperands
from warpreg.codegen.passes.split_webs import SplitValues
from warpreg.codegen.passes.widen_loads import WidenLoads


def check(step: Pass, body: str, expected: str, **options: str) -> None:
    """Body and expected listing, both without their final ``ret``."""
    assert after(step, body + "\nret;", **options) == text(expected) + "\nret"


def test_a_register_reused_for_another_value_is_split() -> None:
    check(
        SplitValues(),
        "mov.u32 %r1, 1; st.shared.u32 [0], %r1; mov.u32 %r1, 2; @%p1 mov.u32 %r1, 3; st.shared.u32 [0], %r1;",
        """
        mov.u32 %r1, 1
        st.shared.u32 [0], %r1
        mov.u32 %r1.1, 2
        @%p1 mov.u32 %r1.1, 3
        st.shared.u32 [0], %r1.1
        """,
    )


def test_an_instruction_may_read_one_value_and_write_another_of_a_register() -> None:
    check(
        SplitValues(),
        "mov.u32 %r1, 1; add.s32 %r1, %r1, %r1; st.shared.u32 [%r1], %r1;",
        "mov.u32 %r1, 1\nadd.s32 %r1.1, %r1, %r1\nst.shared.u32 [%r1.1], %r1.1",
    )


def test_loads_of_parameters_become_moves_from_the_bank() -> None:
    check(
        FoldParameters(),
        "ld.param.u32 %r1, [n]; ld.param.v2.u32 {%r2, _}, [n]; ld.param.s8 %r3, [n+1];",
        "mov.b32 %r1, c[0][0x8]\nmov.b32 %r2, c[0][0x8]\ncvt.s32.s8 %r3, c[0][0x9]",
    )


def test_copies_and_identity_conversions_are_propagated() -> None:
    check(
        PropagateCopies(),
        "cvta.to.global.u64 %rd2, %rd1; mov.u64 %rd3, %rd2; add.s64 %rd4, %rd3, %rd3; "
        "mov.b32 %r2, %r1; neg.s32 %r3, %r2;",
        "mov.u64 %rd2, %rd1\nmov.u64 %rd3, %rd2\nadd.s64 %rd4, %rd2, %rd2\nmov.b32 %r2, %r1\nneg.s32 %r3, %r2",
    )


def test_only_copies_of_singly_assigned_registers_are_propagated() -> None:
    """``%r2`` keeps the value that ``%r1`` had; a copy under a guard is none."""
    body = """
        mov.u32 %r1, %tid.x;
        mov.u32 %r2, %r1;
        add.s32 %r1, %r1, 1;
        mov.u32 %r3, %laneid;
        @%p1 mov.u32 %r4, %r3;
        add.s32 %r5, %r2, %r4;
    """
    assert "add.s32 %r5, %r2, %r4" in after(PropagateCopies(), body + "ret;")


def test_the_negation_of_a_negated_predicate_is_a_copy() -> None:
    check(
        PropagateCopies(),
        "setp.eq.u32 %p1, %r1, 3; not.pred %p2, !%p1; @%p2 st.shared.u32 [0], %r1;",
        "setp.eq.u32 %p1, %r1, 3\nnot.pred %p2, !%p1\n@%p1 st.shared.u32 [0], %r1",
    )


def test_negated_predicates_turn_guards_and_selections_round() -> None:
    body = """
        setp.eq.s32 %p1, %r9, 0;
        not.pred %p2, %p1;
        not.pred %p3, %p2;
        @%p2 mov.u32 %r1, 1;
        @!%p2 mov.u32 %r2, 1;
        @%p3 mov.u32 %r3, 1;
        selp.b32 %r4, %r5, %r6, %p2;
    """
    assert after(PropagateCopies(), body).splitlines()[3:7] == [
        "@!%p1 mov.u32 %r1, 1",
        "@%p1 mov.u32 %r2, 1",
        "@%p1 mov.u32 %r3, 1",
        "selp.b32 %r4, %r6, %r5, %p1",
    ]


def test_halves_of_a_packed_pair_are_its_parts() -> None:
    body = (
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.b64 %rd1, {%r1, %r2}; "
        "mov.b64 {%r3, %r4}, %rd1; add.s32 %r5, %r3, %r4;"
    )
    assert after(PropagateCopies(), body).splitlines()[3:6] == [
        "mov.b32 %r3, %r1",
        "mov.b32 %r4, %r2",
        "add.s32 %r5, %r1, %r2",
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("add.s32 %r3, %r2, %r1;", "add.s32 %r3, %r2, 12"),
        ("add.s32 %r3, %r1, %r2;", "add.s32 %r3, %r2, 12"),
        ("sub.s32 %r3, %r2, %r1;", "add.s32 %r3, %r2, -12"),
        ("sub.s32 %r3, %r1, %r2;", "sub.s32 %r3, 12, %r2"),
        ("add.s32 %r3, %r1, %r1;", "mov.b32 %r3, 24"),
        ("mul.wide.s32 %rd3, %r1, -3;", "mov.b64 %rd3, -36"),
        ("mul.wide.u32 %rd3, %r1, -1;", "mov.b64 %rd3, 51539607540"),
        ("shl.b32 %r3, %r1, 30;", "mov.b32 %r3, 0"),
        ("mul.lo.s32 %r3, %r2, 1;", "mov.b32 %r3, %r2"),
        ("add.s32 %r3, 0, %r2;", "mov.b32 %r3, %r2"),
        ("mad.lo.s32 %r3, %r2, %r4, 0;", "mul.lo.s32 %r3, %r2, %r4"),
        ("cvt.s64.s32 %rd3, %r1;", "mov.b64 %rd3, 12"),
        ("setp.lt.s32 %p1, %r2, %r1;", "setp.lt.s32 %p1, %r2, 12"),
        ("add.cc.u32 %r3, %r1, 0;", "add.cc.u32 %r3, 12, 0"),
        ("st.shared.u32 [%r2], %r1;", "st.shared.u32 [%r2], %r1"),
    ],
)
def test_known_integers_are_folded(body: str, expected: str) -> None:
    assert after(FoldConstants(), f"mov.u32 %r1, 12; {body}").splitlines()[1] == expected


def test_an_instruction_takes_one_constant_at_most() -> None:
    """The addend has one reader, so its move can go; the factor's is needed anyway."""
    body = """
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, 4;
        mad.wide.s32 %rd3, %r2, %r1, %rd1;
        neg.s32 %r3, %r1;
        shr.s32 %r4, %r1, %r5;
    """
    program = FoldConstants().run(FoldParameters().run(kernel(body)))
    assert listing(program).splitlines()[2] == "mad.wide.s32 %rd3, %r2, %r1, c[0][0x0]"


def test_a_shift_by_all_ones_leaves_nothing() -> None:
    body = "mov.u32 %r1, -1; mov.u32 %r2, 5; shl.b32 %r3, %r2, %r1; st.shared.u32 [0], %r3;"
    assert "mov.b32 %r3, 0" in after(FoldConstants(), body)


def test_launch_dimensions_and_parameters_are_operands() -> None:
    body = (
        "ld.param.u32 %r1, [n]; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; "
        "mad.lo.s32 %r4, %r3, %r2, %r5; setp.ge.s32 %p1, %r4, %r1;"
    )
    program = FoldConstants().run(FoldParameters().run(kernel(body)))
    assert listing(program).splitlines()[3:5] == [
        "mad.lo.s32 %r4, %r3, %ntid.x, %r5",
        "setp.ge.s32 %p1, %r4, c[0][0x8]",
    ]


def test_zero_is_free_and_may_be_stored() -> None:
    body = "mov.u32 %r1, 0; st.shared.u32 [%r2], %r1; mov.f32 %f1, 0f00000000; fma.rn.f32 %f2, %f3, 0f40000000, %f1;"
    assert after(FoldConstants(), body).splitlines()[1::2] == [
        "st.shared.u32 [%r2], 0",
        "fma.rn.f32 %f2, %f3, 0f40000000, 0f00000000",
    ]


def test_the_low_half_of_a_wide_parameter_is_a_word_of_its_own() -> None:
    program = FoldConstants().run(FoldParameters().run(kernel("ld.param.u64 %rd1, [out]; cvt.u32.u64 %r1, %rd1;")))
    assert listing(program).splitlines()[1] == "mov.b32 %r1, c[0][0x0]"


@pytest.mark.parametrize(
    ("load", "convert", "expected"),
    [
        ("ld.global.u8 %rs1, [%rd1];", "cvt.u16.u8 %rs2, %rs1;", "mov.b16 %rs2, %rs1"),
        ("ld.global.u8 %rs1, [%rd1];", "cvt.s16.s8 %rs2, %rs1;", "cvt.s16.s8 %rs2, %rs1"),
        ("ld.global.s8 %rs1, [%rd1];", "cvt.s16.s8 %rs2, %rs1;", "mov.b16 %rs2, %rs1"),
        ("ld.global.u16 %rs1, [%rd1];", "cvt.u16.u8 %rs2, %rs1;", "cvt.u16.u8 %rs2, %rs1"),
    ],
)
def test_a_conversion_that_a_load_has_done_already_is_a_copy(load: str, convert: str, expected: str) -> None:
    assert after(WidenLoads(), f"{load} {convert}").splitlines()[1] == expected


@pytest.mark.parametrize(
    ("load", "convert", "expected"),
    [
        ("ld.global.u8 %rs1, [%rd1];", "cvt.u32.u8 %r1, %rs1;", "ld.global.u8 %r1, [%rd1]"),
        ("ld.global.u8 %rs1, [%rd1];", "cvt.s32.s8 %r1, %rs1;", "ld.global.s8 %r1, [%rd1]"),
        ("ld.global.u8 %rs1, [%rd1];", "cvt.s32.s16 %r1, %rs1;", "ld.global.u8 %r1, [%rd1]"),
        ("ld.global.s16 %rs1, [%rd1];", "cvt.u32.u16 %r1, %rs1;", "ld.global.u16 %r1, [%rd1]"),
    ],
)
def test_a_load_extends_to_the_register_that_is_wanted(load: str, convert: str, expected: str) -> None:
    assert after(WidenLoads(), f"{load} {convert}").splitlines() == [expected, "ret"]


def test_a_load_with_another_reader_stays_narrow() -> None:
    body = "ld.global.u8 %rs1, [%rd1]; cvt.u32.u8 %r1, %rs1; setp.eq.s16 %p1, %rs1, 0;"
    assert after(WidenLoads(), body) == listing(kernel(body))


def test_sums_are_folded_into_addresses() -> None:
    check(
        FoldAddresses(),
        "mov.u64 %rd1, %rd9; add.s64 %rd2, %rd1, 16; add.s64 %rd3, %rd2, -4; ld.global.u32 %r1, [%rd3+8];",
        "mov.u64 %rd1, %rd9\nadd.s64 %rd2, %rd1, 16\nadd.s64 %rd3, %rd2, -4\nld.global.u32 %r1, [%rd1+20]",
    )


def test_an_offset_beyond_the_field_is_not_folded() -> None:
    body = "mov.u64 %rd1, %rd9; add.s64 %rd2, %rd1, 16; ld.global.u32 %r1, [%rd2+112];"
    assert "[%rd2+112]" in after(FoldAddresses(offset_bits=8), body)
    assert "[%rd1+128]" in after(FoldAddresses(offset_bits=9), body)


def test_a_base_that_has_moved_on_is_not_used() -> None:
    body = "add.s32 %r2, %r1, 4; add.s32 %r1, %r1, 64; ld.shared.u32 %r3, [%r2];"
    assert "ld.shared.u32 %r3, [%r2]" in after(FoldAddresses(), body)


def test_a_constant_shared_address_needs_no_register() -> None:
    assert "st.shared.u32 [68], %r2" in after(FoldAddresses(), "mov.u32 %r1, 64; st.shared.u32 [%r1+4], %r2;")


def test_a_second_constant_gets_a_register() -> None:
    check(
        LegalizeOperands(),
        "mad.lo.s32 %r1, %r2, 3, 5; fma.rn.f32 %f1, %f2, 0f40000000, 0f40000000; st.shared.u32 [%r2], 3;",
        """
        mov.b32 %k$0, 3
        mov.b32 %k$1, 0f40000000
        mad.lo.s32 %r1, %r2, %k$0, 5
        fma.rn.f32 %f1, %f2, %k$1, 0f40000000
        st.shared.u32 [%r2], %k$0
        """,
    )


def test_every_immediate_of_64_bits_stands_in_the_instruction() -> None:
    check(
        FoldConstants(),
        "mov.f64 %d1, 0d3FF71547652B82FE; fma.rn.f64 %d2, %d3, %d1, %d4; "
        "mov.u64 %rd1, 0x123456789A; add.s64 %rd2, %rd3, %rd1;",
        """
        mov.f64 %d1, 0d3FF71547652B82FE
        fma.rn.f64 %d2, %d3, 0d3FF71547652B82FE, %d4
        mov.u64 %rd1, 78187493530
        add.s64 %rd2, %rd3, 78187493530
        """,
    )


def test_a_power_of_two_in_a_multiply_add_of_64_bits_is_a_shift() -> None:
    check(
        LegalizeOperands(),
        "mad.lo.s64 %rd1, %rd2, 8, 4; mad.lo.s64 %rd3, %rd2, 6, 4;",
        """
        mov.b64 %k$0, 6
        mad.lo.s64 %rd1, %rd2, 8, 4
        mad.lo.s64 %rd3, %rd2, %k$0, 4
        """,
    )


def test_a_constant_for_a_loop_is_loaded_before_it() -> None:
    check(
        LegalizeOperands(),
        "mov.u32 %r1, 0; L: st.shared.u32 [%r1], 7; add.s32 %r1, %r1, 4; setp.lt.s32 %p1, %r1, 64; @%p1 bra L;",
        """
        mov.u32 %r1, 0
        mov.b32 %k$0, 7
        L:
        st.shared.u32 [%r1], %k$0
        add.s32 %r1, %r1, 4
        setp.lt.s32 %p1, %r1, 64
        @%p1 bra L
        $B2:
        """,
    )


def test_the_address_of_a_module_variable_comes_from_a_register() -> None:
    check(
        LegalizeOperands(),
        "ld.global.u32 %r1, [v+4]; st.global.u32 [v], %r1; ld.const.u32 %r2, [t+8];",
        """
        mov.b64 %k$0, c[4][v+0]
        ld.global.u32 %r1, [%k$0+4]
        st.global.u32 [%k$0], %r1
        ld.const.u32 %r2, [c[4][t+0]+8]
        """,
        before=".global .u32 v[4]; .const .u32 t[4];",
    )


def test_what_nothing_reads_is_removed() -> None:
    check(
        EliminateDeadCode(),
        """
        mov.u32 %r1, 1;
        add.s32 %r2, %r1, 1;
        ld.global.u32 %r3, [%rd1];
        ld.volatile.global.u32 %r4, [%rd1];
        add.cc.u32 %r5, %r6, 1;
        st.shared.u32 [%r7], %r8;
        """,
        "ld.volatile.global.u32 %r4, [%rd1]\nadd.cc.u32 %r5, %r6, 1\nst.shared.u32 [%r7], %r8",
    )


def test_a_counter_that_only_counts_itself_is_removed() -> None:
    body = (
        "mov.u32 %r1, 0; mov.u32 %r2, 0; L: add.s32 %r1, %r1, 1; add.s32 %r2, %r2, 1; "
        "setp.lt.s32 %p1, %r2, 9; @%p1 bra L;"
    )
    assert "%r1" not in after(EliminateDeadCode(), body)


def test_an_atomic_whose_result_is_unused_is_a_reduction() -> None:
    check(
        EliminateDeadCode(),
        "atom.shared.add.u32 %r1, [%r2], 1; atom.global.exch.b32 %r3, [%rd1], %r4;",
        "red.shared.add.u32 [%r2], 1\natom.global.exch.b32 %r3, [%rd1], %r4",
    )
