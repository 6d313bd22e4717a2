"""Old PTX is parsed with the modifiers that it omits."""

from __future__ import annotations

import numpy as np
import pytest

from warpreg import ptx
from warpreg.codegen import CompileOptions
from warpreg.codegen.lower.build import build_kernel
from warpreg.ir.errors import UnsupportedError
from warpreg.simt import Device

REGISTERS = ".reg .f32 a, b, c; .reg .f64 d, e, f; .reg .u32 i; .reg .pred p;"


def built(version: str, target: str, statement: str) -> str:
    text = f".version {version}\n.target {target}\n.entry k\n{{\n{REGISTERS}\n{statement}\n}}\n"
    kernel = build_kernel(ptx.parse(text), "k")
    return kernel.blocks[0].instructions[0].full_opcode


@pytest.mark.parametrize(
    ("version", "target", "statement", "expected"),
    [
        ("1.3", "sm_20", "sin.f32 a, b;", "sin.approx.ftz.f32"),
        ("1.3", "sm_20", "div.f32 a, b, c;", "div.approx.ftz.f32"),
        ("1.3", "sm_13", "div.f64 d, e, f;", "div.rn.f64"),
        ("1.3", "sm_13", "rsqrt.f64 d, e;", "rsqrt.approx.f64"),
        ("1.3", "sm_13", "sqrt.rn.f64 d, e;", "sqrt.rn.f64"),
        ("1.3", "sm_13", "mad.f64 d, e, f, d;", "mad.rn.f64"),
        ("1.3", "sm_13", "add.sat.f32 a, b, c;", "add.ftz.sat.f32"),
        ("1.4", "sm_13", "mad.sat.f32 a, b, c, a;", "mad.rn.ftz.sat.f32"),
        ("1.4", "sm_11", "setp.lt.f32 p, a, b;", "setp.lt.ftz.f32"),
        ("1.4", "sm_11", "set.lt.f32.u32 a, i, i;", "set.lt.f32.u32"),
        ("1.4", "sm_13", "cvt.rzi.u32.f32 i, a;", "cvt.rzi.ftz.u32.f32"),
        ("1.4", "sm_13", "cvt.f64.f32 d, a;", "cvt.f64.f32"),
        ("1.5", "sm_13", "cvt.f64.f32 d, a;", "cvt.ftz.f64.f32"),
        ("1.4", "sm_13", "mul.f64 d, e, f;", "mul.f64"),
        ("2.0", "sm_20", "add.f32 a, b, c;", "add.f32"),
        ("3.1", "sm_20", "mad.f32 a, b, c, a;", "mad.rn.f32"),
        ("3.1", "sm_20", "mad.rz.f32 a, b, c, a;", "mad.rz.f32"),
        ("8.0", "sm_100", "add.f32 a, b, c;", "add.f32"),
    ],
)
def test_implied_modifiers(version: str, target: str, statement: str, expected: str) -> None:
    assert built(version, target, statement) == expected


OLD = """
.version 1.4
.target sm_13, texmode_unified
.entry k (.param .u32 out)
{
    .reg .u32 %r<5>;
    .reg .u16 %h<3>;
    .reg .f32 %f<5>;
    .reg .pred %p<2>;
    ld.param.u32 %r1, [out];
    mov.u16 %h1, %tid.x;
    cvt.u32.u16 %r2, %h1;
    mul24.lo.u32 %r3, %r2, 4;
    add.u32 %r1, %r1, %r3;
    cvt.rn.f32.u32 %f1, %r2;
    mad.f32 %f2, %f1, 0f40000000, 0f3F800000;
    mul.f32 %f3, 0f00800000, 0f3F000000;
    add.f32 %f2, %f2, %f3;
    setp.eq.f32 %p1, %f3, 0f00000000;
    @%p1 st.global.f32 [%r1], %f2;
    exit;
}
"""


@pytest.mark.parametrize("options", [None, CompileOptions()])
def test_an_old_kernel_with_32_bit_addresses_runs(options: CompileOptions | None) -> None:
    """2i + 1; half of the smallest normal number is flushed to zero."""
    device = Device(OLD, options=options)
    out = device.zeros(32, np.float32)
    device.launch("k", 1, 32, out)
    assert out.download().tolist() == [2.0 * i + 1 for i in range(32)]


def test_a_conversion_without_its_second_type_is_refused_like_any_other() -> None:
    with pytest.raises(UnsupportedError, match=r"cvt\.f32"):
        built("1.3", "sm_13", "cvt.f32 a, b;")
