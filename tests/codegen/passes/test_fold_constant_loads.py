"""Constant memory at known addresses: words of a bank instead of loads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen.texts import REGISTERS, after, kernel, listing

from warpreg import ptx
from warpreg.codegen import CompileOptions, build_kernel, compile
from warpreg.codegen.passes.base import Pass
from warpreg.codegen.passes.fold_constant_loads import FoldConstantLoads
from warpreg.codegen.verify import verify
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.simt import Device

BYTES = 48
DATA = ", ".join(str((37 * i + 11) % 256) for i in range(BYTES))
TABLE = f".const .align 16 .b8 table[{BYTES}] = {{{DATA}}};"
GLOBAL = ".global .align 16 .b8 other[48];"
END = "st.shared.u32 [%r9], %r1; ret;"
THREADS = 32


@pytest.mark.parametrize(
    ("load", "moves"),
    [
        ("ld.const.u32 %r1, [table+8];", ["mov.b32 %r1, c[3][table+8]"]),
        ("ld.const.f64 %d1, [table+40];", ["mov.b64 %d1, c[3][table+40]"]),
        ("@%p1 ld.const.f32 %f1, [table];", ["@%p1 mov.b32 %f1, c[3][table+0]"]),
        ("ld.const.v2.f32 {%f1, %f2}, [table+8];", ["mov.b32 %f1, c[3][table+8]", "mov.b32 %f2, c[3][table+12]"]),
        ("ld.const.v4.u32 {_, %r1, _, _}, [table+16];", ["mov.b32 %r1, c[3][table+20]"]),
    ],
)
def test_a_load_becomes_moves_from_the_bank(load: str, moves: list[str]) -> None:
    assert after(FoldConstantLoads(), load + END, before=TABLE).splitlines()[:-2] == moves


def test_the_address_may_come_through_registers() -> None:
    code = "mov.u64 %rd1, table; add.s64 %rd2, %rd1, 16; add.s64 %rd3, %rd2, 8; ld.const.u32 %r1, [%rd3+-4];" + END
    assert after(FoldConstantLoads(), code, before=TABLE).splitlines()[3] == "mov.b32 %r1, c[3][table+20]"


@pytest.mark.parametrize(
    "code",
    [
        "ld.const.u32 %r1, [%rd1];",
        "mov.u64 %rd1, table; @%p1 add.s64 %rd1, %rd1, 4; ld.const.u32 %r1, [%rd1];",
        "ld.const.u8 %r1, [table];",
        "ld.const.u32 %r1, [table+48];",
        "ld.const.u32 %r1, [table+-4];",
        "ld.const.v4.u32 {%r1, %r2, %r3, %r4}, [table+40];",
        "ld.const.u32 %r1, [table+2];",
        "ld.const.u32 %rd1, [table];",
        "ld.global.u32 %r1, [other];",
    ],
    ids=["unknown", "changed", "narrow", "beyond", "before", "across the end", "misaligned", "wider", "global"],
)
def test_any_other_load_stays(code: str) -> None:
    before = TABLE + GLOBAL
    assert after(FoldConstantLoads(), code + END, before=before) == listing(kernel(code + END, before=before))


class _Compiler:
    """All passes."""

    def run(self, program: Kernel) -> Kernel:
        return compile(program, CompileOptions())


LOADS = st.tuples(st.sampled_from([4, 8]), st.sampled_from([1, 2]), st.integers(0, 11), st.booleans())


@settings(max_examples=12, deadline=None)
@given(st.lists(LOADS, min_size=1, max_size=6), st.sampled_from([FoldConstantLoads(), _Compiler()]))
def test_the_same_bits_are_read(loads: list[tuple[int, int, int, bool]], step: Pass) -> None:
    """Words of 4 and 8 bytes, one or two at a time, at any aligned place, under a guard or not; sums as results."""
    lines = ["mov.b64 %rd1, 0; mov.u32 %r20, %tid.x; setp.lt.u32 %p1, %r20, 9;"]
    for size, count, place, guarded in loads:
        offset = place * 4 // (size * count) * size * count
        guard = "@%p1 " if guarded else ""
        kind = ".v2" if count == 2 else ""
        names = [f"%{'rd' if size == 8 else 'r'}{2 + i}" for i in range(count)]
        lines += [f"mov.b{8 * size} {name}, {place};" for name in names]
        target = f"{{{names[0]}, {names[1]}}}" if count == 2 else names[0]
        lines.append(f"{guard}ld.const{kind}.u{8 * size} {target}, [table+{offset}];")
        for name in names:
            wide = name if size == 8 else "%rd5"
            lines += [f"cvt.u64.u32 %rd5, {name};"] * (size == 4) + [f"mad.lo.s64 %rd1, %rd1, 31, {wide};"]
    lines.append("mul.wide.u32 %rd6, %r20, 8; ld.param.u64 %rd7, [out]; add.s64 %rd7, %rd7, %rd6;")
    lines.append("st.global.u64 [%rd7], %rd1; ret;")
    header = ".version 8.0\n.target sm_75\n.address_size 64\n"
    body = "\n".join(lines)
    module = ptx.parse(f"{header}{TABLE}\n.visible .entry k(.param .u64 out)\n{{{REGISTERS}{body}\n}}\n")
    program = build_kernel(module, "k")
    changed = step.run(program)
    verify(changed, program)
    assert not any("const" in i.modifiers for i in changed.instructions())
    assert _sums(module, changed) == _sums(module, program)


def _sums(module: Module, program: Kernel) -> bytes:
    device = Device(module, None)
    device.install(program)
    out = device.zeros(THREADS, np.uint64)
    device.launch("k", 1, THREADS, out)
    return out.download().tobytes()
