"""NaN results of arithmetic are made canonical only if other instructions can observe their bits."""

from __future__ import annotations

import numpy as np
import pytest
from tests.codegen.texts import kernel

from warpreg.analysis.accesses import accesses
from warpreg.simt import Device
from warpreg.simt.block import register_storage
from warpreg.simt.block.sites import Sites
from warpreg.simt.kernel.block_compiler import BlockCompiler
from warpreg.simt.kernel.block_ends import Ends
from warpreg.simt.kernel.compile_image import ends_of
from warpreg.simt.llvm import text as ir

START = (
    "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; ld.global.f32 %f1, [%rd2]; ld.global.f32 %f2, [%rd2+4];"
)
INFINITY, NAN = 0x7F800000, 0x7FFFFFFF
ODD = 0xFFC12345
"""A NaN that is not the one that arithmetic yields."""


def code(body: str) -> str:
    """The LLVM text of a kernel's only block."""
    program = kernel(f"{START} {body} ret;")
    accesses(program)
    module = ir.Module("k")
    ends = Ends(ends_of(program), False, (), False)
    compiler = BlockCompiler(module, program, register_storage.assign(program), {}, Sites(False), ends)
    compiler.compile(program.blocks[0], 0)
    return str(module)


def result(body: str, first: int, second: int) -> int:
    """The word that a kernel stores at ``[%rd2+8]`` where %f1 and %f2 hold these bits."""
    program = kernel(f"{START} {body} ret;")
    device = Device(program.module, None)
    words = device.upload(np.array([first, second, 0], np.uint32))
    device.launch("k", 1, 1, words, 0, np.float32(0))
    return int(words.download()[2])


@pytest.mark.parametrize(
    ("body", "replaced"),
    [
        ("sub.f32 %f3, %f1, %f2; fma.rn.f32 %f4, %f3, %f2, %f3; st.global.f32 [%rd2+8], %f4;", 1),
        ("sub.f32 %f3, %f1, %f2; setp.lt.f32 %p1, %f3, %f2; @%p1 st.global.f32 [%rd2+8], %f2;", 0),
        ("sub.f32 %f3, %f1, %f2; max.f32 %f4, %f3, %f2; st.global.f32 [%rd2+8], %f4;", 1),
        ("sub.f32 %f3, %f1, %f2; neg.f32 %f4, %f3; st.global.f32 [%rd2+8], %f4;", 1),
        ("sub.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f1; st.global.v2.f32 [%rd2+8], {%f3, %f4};", 2),
        ("sub.f32 %f3, %f1, %f2; bar.sync 0; add.f32 %f4, %f3, %f1; st.global.f32 [%rd2+8], %f4;", 0),
        ("sub.f32 %f3, %f1, %f2; bar.sync 0; add.f32 %f4, %f3, %f1; st.global.v2.f32 [%rd2+8], {%f3, %f4};", 1),
    ],
    ids=["arithmetic", "comparison", "maximum", "negation", "both stored", "added later", "stored later"],
)
def test_only_what_is_seen_is_made_canonical(body: str, replaced: int) -> None:
    text = code(body)
    assert text.count("fcmp uno") == text.count("i32 2147483647") == replaced


@pytest.mark.parametrize(
    ("body", "bits"),
    [
        ("sub.f32 %f3, %f1, %f1; st.global.f32 [%rd2+8], %f3;", NAN),
        ("sub.f32 %f3, %f1, %f1; add.f32 %f4, %f3, %f2; st.global.f32 [%rd2+8], %f4;", NAN),
        ("add.f32 %f3, %f2, %f2; mul.f32 %f4, %f3, %f1; st.global.f32 [%rd2+8], %f4;", NAN),
        ("sub.f32 %f3, %f1, %f1; neg.f32 %f4, %f3; st.global.f32 [%rd2+8], %f4;", NAN | 1 << 31),
        ("sub.f32 %f3, %f1, %f1; mov.b32 %r1, %f3; shr.u32 %r2, %r1, 4; st.global.u32 [%rd2+8], %r2;", NAN >> 4),
        ("sub.f32 %f3, %f1, %f1; max.f32 %f4, %f3, %f1; st.global.f32 [%rd2+8], %f4;", INFINITY),
        ("sub.f32 %f3, %f1, %f1; max.f32 %f4, %f3, %f2; st.global.f32 [%rd2+8], %f4;", NAN),
        ("sub.ftz.f32 %f3, %f1, %f1; mul.ftz.f32 %f4, %f3, %f1; st.global.f32 [%rd2+8], %f4;", NAN),
        ("sub.f32 %f3, %f1, %f1; add.sat.f32 %f4, %f3, %f1; st.global.f32 [%rd2+8], %f4;", 0),
        ("sub.f32 %f3, %f1, %f1; setp.nan.f32 %p1, %f3, %f1; @%p1 st.global.f32 [%rd2+8], %f3;", NAN),
        ("sub.f32 %f3, %f1, %f1; bar.sync 0; add.f32 %f4, %f3, %f1; st.global.f32 [%rd2+8], %f3;", NAN),
        ("sub.f32 %f3, %f1, %f1; bar.sync 0; add.f32 %f4, %f3, %f1; st.global.f32 [%rd2+8], %f4;", NAN),
        ("mov.f32 %f3, %f2; st.global.f32 [%rd2+8], %f3;", ODD),
    ],
)  # fmt: skip
def test_bits_are_those_of_the_table(body: str, bits: int) -> None:
    assert result(body, INFINITY, ODD) == bits


def test_a_deferred_instruction_stands_where_it_was_made() -> None:
    module = ir.Module("m")
    word = ir.IntType(32)
    function = ir.Function(module, ir.FunctionType(word, [word]), "f")
    builder = ir.IRBuilder(function)
    argument = function.args[0]
    dropped = builder.defer(word, "add", (argument,), lambda: f"add i32 {argument.get_reference()}, 1")
    kept = builder.defer(word, "add", (argument,), lambda: f"add i32 {argument.get_reference()}, 2")
    builder.ret(builder.mul(kept, kept))
    lines = [line for line in str(function).splitlines() if line]
    assert lines[2:4] == ["%v3 = add i32 %a0, 2", "%v4 = mul i32 %v3, %v3"]
    assert dropped.reference not in str(function)
