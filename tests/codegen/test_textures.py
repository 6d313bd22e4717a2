"""Texture and surface instructions in the passes."""

from __future__ import annotations

import pytest
from tests.codegen.texts import after, kernel, listing, text

from warpreg.codegen import CompileOptions, compile
from warpreg.codegen.passes.dead_code import EliminateDeadCode
from warpreg.codegen.passes.fold_constants import FoldConstants
from warpreg.codegen.passes.legalize import LegalizeOperands
from warpreg.codegen.regalloc.allocation_units import vectors
from warpreg.codegen.regalloc.vector_groups import IsolateVectors
from warpreg.ir.operands import Register

STORED = "st.global.f32 [%rd2], %f1; ret;"


def test_handles_come_from_the_constant_bank() -> None:
    body = """mov.b64 %rd1, c; tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];
        txq.width.b32 %r2, [%rd1]; ret;"""
    changed = after(FoldConstants(), body.replace("c;", "image;"), before=".global .texref image;")
    assert changed == text("""
        mov.b64 %rd1, c[4][image+0]
        tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [c[4][image+0], {%r1}]
        txq.width.b32 %r2, [c[4][image+0]]
        ret
    """)


def test_channels_that_nothing_reads_are_not_written() -> None:
    body = f"tex.2d.v4.f32.f32 {{%f1, %f2, %f3, %f4}}|%p1, [%rd1, {{%f5, %f6}}]; {STORED}"
    assert after(EliminateDeadCode(), body) == text("""
        tex.2d.v4.f32.f32 {%f1, _, _, _}|_, [%rd1, {%f5, %f6}]
        st.global.f32 [%rd2], %f1
        ret
    """)
    unread = "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}]; ret;"
    assert after(EliminateDeadCode(), unread) == "ret"


def test_coordinates_and_data_come_from_registers() -> None:
    body = """tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, 0.5}], 0f3F800000;
        sust.b.a1d.v2.b32.trap [%rd2, {1, %r1}], {7, %r2}; ret;"""
    assert after(LegalizeOperands(), body) == text("""
        mov.b32 %k$0, 0f3F000000
        mov.b32 %k$1, 0f3F800000
        mov.b32 %k$2, 1
        mov.b32 %k$3, 7
        tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %k$0}], %k$1
        sust.b.a1d.v2.b32.trap [%rd2, {%k$2, %r1}], {%k$3, %r2}
        ret
    """)


def test_a_coordinate_of_two_fetches_is_copied_for_the_second() -> None:
    body = """tex.2d.v4.f32.f32 {%f1, _, _, _}, [%rd1, {%f5, %f6}];
        tex.2d.v4.f32.f32 {%f2, %f3, _, _}, [%rd1, {%f5, %f7}]; ret;"""
    assert after(IsolateVectors(), body) == text("""
        tex.2d.v4.f32.f32 {%f1, _, _, _}, [%rd1, {%f5, %f6}]
        mov.b32 %f5.v0, %f5
        tex.2d.v4.f32.f32 {%f2, %f3, _, _}, [%rd1, {%f5.v0, %f7}]
        ret
    """)


@pytest.mark.parametrize("limit", [None, 16])
def test_fetches_take_and_give_aligned_pairs_and_surfaces_aligned_runs_of_registers(limit: int | None) -> None:
    body = """ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f5, %r1;
        tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f5, %f5, %f5}];
        tex.grad.2d.v4.f32.f32 {%f6, %f7, %f8, %f9}, [%rd1, {%f1, %f3}], {%f2, %f2}, {%f3, %f4};
        add.f32 %f6, %f6, %f7; suld.b.2d.v4.b32.zero {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r1}];
        st.global.v4.b32 [%rd1], {%r4, %r5, %r6, %r7}; st.global.f32 [%rd1], %f6; ret;"""
    found = []
    for instruction in compile(kernel(body), CompileOptions(max_registers=limit)).instructions():
        if instruction.opcode in ("tex", "suld"):
            for vector in vectors(instruction.operands):
                registers = [e.index for e in vector.elements if isinstance(e, Register)]
                run = 2 if instruction.opcode == "tex" else 4
                for i in range(0, len(registers) // 2 * 2, run):
                    base, count = registers[i], len(registers[i : i + run])
                    assert registers[i : i + run] == list(range(base, base + count)), instruction
                    assert base % count == 0, instruction
                found.append(len(registers))
    assert sorted(found) == [2, 2, 2, 2, 2, 3, 4, 4]


def test_padding_and_missing_brackets_are_put_right() -> None:
    body = "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, %rd1, {%f5, %f6, %f6, %f6}; ret;"
    assert listing(kernel(body)) == text("""
        tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5}]
        ret
    """)
