"""From PTX text to blocks: scopes, inlining, placement, control flow."""

from __future__ import annotations

import pytest
from tests.codegen.texts import kernel, listing, text

from warpreg import ptx
from warpreg.codegen.lower.build import build_kernel
from warpreg.ir.errors import UnknownNameError
from warpreg.ir.kernel import Kernel

FUNCTION = """
.func (.param .b32 result) twice(.param .b32 a)
{
    .reg .b32 %r<3>;
    .reg .pred %p;
    ld.param.b32 %r1, [a];
    setp.eq.s32 %p, %r1, 0;
    @%p bra DONE;
    add.s32 %r1, %r1, %r1;
DONE:
    st.param.b32 [result], %r1;
    ret;
}
"""
CALL = """
    {
    .param .b32 a0;
    st.param.b32 [a0], %r5;
    .param .b32 r0;
    call.uni (r0), twice, (a0);
    ld.param.b32 %r6, [r0];
    }
"""


def test_parameters_are_laid_out_with_their_alignment() -> None:
    program = kernel(
        "ret;", parameters=".param .u8 a, .param .f64 b, .param .u16 c, .param .align 16 .b8 s[20], .param .u32 d"
    )
    assert [(p.name, p.offset, p.bytes) for p in program.parameters] == [
        ("a", 0, 1),
        ("b", 8, 8),
        ("c", 16, 2),
        ("s", 32, 20),
        ("d", 52, 4),
    ]
    assert program.parameter_bytes == 56


def test_a_parameter_is_a_word_of_bank_0() -> None:
    assert listing(kernel("ld.param.u32 %r1, [n]; ld.param.f32 %f1, [n+4]; ret;")) == text("""
        ld.param.u32 %r1, [c[0][0x8]]
        ld.param.f32 %f1, [c[0][0xc]]
        ret
    """)


def test_a_parameter_that_is_converted_to_an_address_is_a_pointer() -> None:
    program = kernel("ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; ret;")
    assert [p.is_pointer for p in program.parameters] == [True, False, False]
    explicit = kernel("ret;", parameters=".param .u64 .ptr .global .align 4 a, .param .u64 b")
    assert [p.is_pointer for p in explicit.parameters] == [True, False]


def test_shared_variables_are_placed_with_their_alignment_and_become_offsets() -> None:
    """``b`` (4 bytes) at 0, ``tile`` (aligned to 16) at 16, dynamic shared memory after its 40 bytes, at 56 + 8."""
    program = kernel(
        "mov.u32 %r1, tile; mov.u32 %r2, all; ld.shared.u32 %r3, [tile+4]; st.shared.u32 [b], %r3; ret;",
        before=".shared .u32 b; .shared .align 16 .b8 tile[40]; .shared .u64 unused; "
        ".extern .shared .align 16 .b8 all[];",
    )
    assert listing(program).splitlines()[:4] == [
        "mov.u32 %r1, 16",
        "mov.u32 %r2, 64",
        "ld.shared.u32 %r3, [16+4]",
        "st.shared.u32 [0], %r3",
    ]
    assert (program.shared_bytes, program.dynamic_shared_offset) == (56, 64)


def test_local_variables_make_the_frame() -> None:
    program = kernel(".local .align 8 .b8 stack[24]; mov.u64 %rd1, stack; st.local.u32 [stack+8], %r1; ret;")
    assert program.local_bytes == 24
    assert "st.local.u32 [0+8], %r1" in listing(program)


def test_module_variables_are_words_of_bank_4() -> None:
    program = kernel("mov.u64 %rd1, table+8; ld.const.f32 %f1, [table+4]; ret;", before=".const .f32 table[4];")
    assert listing(program).splitlines()[:2] == ["mov.u64 %rd1, c[4][table+8]", "ld.const.f32 %f1, [c[4][table+0]+4]"]


def test_a_register_declared_again_in_a_scope_is_another() -> None:
    program = kernel(
        "mov.u32 %r1, 1; { .reg .b32 %r<4>; .reg .b32 t; mov.u32 %r1, 2; mov.u32 t, %r2; "
        "} { .reg .b64 t; mov.u64 t, 0; } ret;"
    )
    outer, inner, first, second = (i.operands[0] for i in list(program.instructions())[:4])
    assert str(outer) == "%r1"
    assert str(inner) != "%r1"
    assert str(first) == "t"
    assert str(second) not in ("t", str(inner))


def test_a_device_function_is_inlined_with_moves_for_its_parameters() -> None:
    program = kernel(f"mov.u32 %r5, %tid.x; {CALL} st.shared.u32 [0], %r6; ret;", before=FUNCTION)
    assert listing(program) == text("""
            mov.u32 %r5, %tid.x
            mov.b32 a0+0, %r5
            mov.b32 %r1$1, a0+0
            setp.eq.s32 %p$2, %r1$1, 0
            @%p$2 bra DONE
        $B1:
            add.s32 %r1$1, %r1$1, %r1$1
        DONE:
            mov.b32 r0+0, %r1$1
            mov.b32 %r6, r0+0
            st.shared.u32 [0], %r6
            ret
    """)


def test_each_call_has_registers_and_labels_of_its_own() -> None:
    program = kernel(f"{CALL} {CALL} ret;", before=FUNCTION)
    assert len({b.label for b in program.blocks}) == len(program.blocks) == 5
    added = {str(i.operands[0]) for i in program.instructions() if i.opcode == "add"}
    assert len(added) == 2


def test_a_guarded_call_is_branched_around() -> None:
    program = kernel(f"setp.eq.s32 %p1, %r5, 7; {CALL.replace('call', '@%p1 call')} ret;", before=FUNCTION)
    branch = program.blocks[0].terminator
    assert str(branch) == "@!%p1 bra twice$return"
    assert program.blocks[program.blocks[0].successors[0]].label == "twice$return"


def test_a_parameter_whose_address_is_taken_lives_in_local_memory() -> None:
    function = """
    .func f(.param .align 8 .b8 s[16])
    {
        .reg .b64 %a;
        .reg .b32 %v;
        mov.b64 %a, s;
        ld.param.u32 %v, [%a+4];
        st.shared.u32 [0], %v;
        ret;
    }
    """
    program = kernel("{ .param .align 8 .b8 p[16]; st.param.b64 [p+8], %rd1; call f, (p); } ret;", before=function)
    assert program.local_bytes == 16
    assert "st.local.b64 [0+8], %rd1" in listing(program)


def test_a_narrow_parameter_is_converted_as_memory_would() -> None:
    function = """
    .func (.param .b32 r) f(.param .b8 c)
    {
        .reg .b32 %v;
        ld.param.s8 %v, [c];
        st.param.b32 [r], %v;
        ret;
    }
    """
    body = "{ .param .b8 c0; st.param.b8 [c0], %rs1; .param .b32 r0; call (r0), f, (c0); ld.param.b32 %r1, [r0]; } ret;"
    assert listing(kernel(body, before=function)).splitlines()[:2] == ["cvt.u16.u8 c0+0, %rs1", "cvt.s32.s8 %v, c0+0"]


def test_functions_with_register_parameters_are_inlined() -> None:
    function = ".func (.reg .u32 rv) inc(.reg .u32 a) { add.u32 rv, a, 1; ret; }"
    assert listing(kernel("call (%r2), inc, (%r1); ret;", before=function)).splitlines() == [
        "mov.u32 a, %r1",
        "add.u32 rv, a, 1",
        "mov.u32 %r2, rv",
        "ret",
    ]


def test_a_call_of_an_external_function_stays_a_call() -> None:
    function = ".extern .func (.param .b32 r) f(.param .b32 a);"
    program = kernel("{ .param .b32 a0; .param .b32 r0; call (r0), f, (a0); } ret;", before=function)
    assert [i.opcode for i in program.instructions()].count("call") == 1


def test_blocks_end_at_branches_barriers_and_labels_that_are_targets() -> None:
    program = kernel("""
        mov.u32 %r1, 0;
    UNUSED:
        add.s32 %r1, %r1, 1;
    LOOP:
        add.s32 %r1, %r1, 1;
        bar.sync 0;
        setp.lt.s32 %p1, %r1, 9;
        @%p1 bra LOOP;
        @%p2 ret;
        st.shared.u32 [0], %r1;
        ret;
    """)
    assert [(b.label, len(b.instructions), b.successors) for b in program.blocks] == [
        ("UNUSED", 2, (1,)),
        ("LOOP", 2, (2,)),
        ("$B2", 2, (1, 3)),
        ("$B3", 1, (4,)),
        ("$B4", 2, ()),
    ]


def test_a_branch_around_a_jump_is_inverted_and_needless_jumps_vanish() -> None:
    program = kernel("""
        @%p1 bra A;
        bra.uni B;
    A:
        mov.u32 %r1, 1;
        bra.uni C;
        mov.u32 %r1, 2;
    B:
        mov.u32 %r1, 3;
    C:
        bra.uni D;
    D:
        ret;
    """)
    assert listing(program) == text("""
            @!%p1 bra B
        A:
            mov.u32 %r1, 1
            bra.uni D
        B:
            mov.u32 %r1, 3
        D:
            ret
    """)


def test_a_branch_table_gives_the_successors() -> None:
    program = kernel("T: .branchtargets A, B, A; brx.idx %r1, T; A: ret; B: mov.u32 %r1, 0; ret;")
    assert [b.successors for b in program.blocks] == [(1, 2, 1), (), ()]


def test_a_guarded_branch_table_is_branched_around() -> None:
    program = kernel("T: .branchtargets A, B; @%p1 brx.idx %r1, T; exit; A: ret; B: ret;")
    assert [(str(b.terminator), b.successors) for b in program.blocks[:2]] == [
        ("@!%p1 bra $skip0", (2, 1)),
        ("brx.idx %r1, T", (3, 4)),
    ]


def test_a_body_that_runs_off_its_end_returns() -> None:
    assert listing(kernel("mov.u32 %r1, 0;")).endswith("ret")


def test_an_unknown_kernel_suggests_the_nearest() -> None:
    module = ptx.parse(".version 8.0\n.target sm_75\n.address_size 64\n.entry saxpy() { ret; }")
    with pytest.raises(UnknownNameError, match="did you mean 'saxpy'"):
        build_kernel(module, "saxpi")


def test_source_positions_survive() -> None:
    program: Kernel = kernel(".loc 1 7 3\n mov.u32 %r1, 0; ret;\n", before='.file 1 "a.cu"')
    source = next(program.instructions()).source
    assert source is not None
    assert (source.file, source.line) == ("a.cu", 7)
