"""Limits of the generated code: no calls of the C library, and no growth if an operand is constant."""

from __future__ import annotations

import re

import pytest
from llvmlite import binding
from tests.opcodes.bench import Case, compile_case

from warpreg.ir.operands import Immediate
from warpreg.simt.llvm import text as ir

LANES = [0] * 32
OPCODES = {
    "fma.rn.f32": 3, "fma.rz.f64": 3, "div.rn.f32": 2, "sqrt.rp.f32": 1, "min.f32": 2, "max.f64": 2,
    "cvt.rni.f32.f32": 1, "cvt.rmi.s64.f64": 1, "cvt.rn.f32.u64": 1, "cvt.rz.f32.s64": 1, "ex2.approx.ftz.f32": 1,
    "lg2.approx.f32": 1, "sin.approx.f32": 1, "cos.approx.f32": 1, "tanh.approx.f32": 1, "div.s32": 2, "rem.u64": 2,
    "mul.hi.s64": 2, "fma.rn.f16": 3, "fma.rn.relu.bf16x2": 3, "add.sat.f16x2": 2, "mul.bf16": 2, "cvt.rn.f16.f64": 1,
    "cvt.rz.bf16.f32": 1, "cvt.rn.f16.s64": 1, "cvt.rn.bf16.u64": 1, "cvt.f64.f16": 1, "cvt.rzi.s32.f16": 1,
    "cvt.rni.u64.bf16": 1, "ex2.approx.f16x2": 1, "tanh.approx.bf16": 1, "fma.rn.f32x2": 3, "vmad.u32.s32.s32.sat": 3,
    "vadd4.u32.s32.u32.sat": 3, "fns.b32": 3, "redux.sync.add.u32": 2, "match.any.sync.b64": 2,
}  # fmt: skip


def assembly(cases: list[Case], cpu: str = "haswell") -> str:
    """x86-64 assembly for a processor with fused multiply-add."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    module = ir.Module("cases")
    for index, case in enumerate(cases):
        compile_case(module, index, case)
    try:
        target = binding.Target.from_triple("x86_64-unknown-linux-gnu")
    except RuntimeError:
        pytest.skip("LLVM is built without x86-64")
    machine = target.create_target_machine(cpu=cpu, opt=1)
    return str(machine.emit_assembly(binding.parse_assembly(str(module))))


@pytest.mark.slow
def test_nothing_calls_the_c_library() -> None:
    text = assembly([Case(opcode, [LANES] * count) for opcode, count in OPCODES.items()])
    targets = set(re.findall(r"(?:callq\s+|jmp\s+|\$)([A-Za-z_][\w.]*)", text))
    assert {name for name in targets if not name.startswith("warpreg.")} == set()
    assert "vfmadd" in text


@pytest.mark.parametrize(
    ("opcode", "variable", "constants"),
    [
        ("shl.b32", [LANES] * 2, [LANES, Immediate(5)]),
        ("prmt.b32", [LANES] * 3, [LANES, LANES, Immediate(0x5410)]),
        ("div.u32", [LANES] * 2, [LANES, Immediate(10)]),
        ("shfl.sync.down.b32", [LANES] * 4, [LANES, Immediate(16), Immediate(31), Immediate(-1)]),
        ("lop3.b32", [LANES] * 4, [LANES, LANES, LANES, Immediate(0x96)]),
    ],
)
def test_constant_operands_shorten_the_code(
    opcode: str, variable: list[list[int]], constants: list[list[int] | Immediate]
) -> None:
    assert len(assembly([Case(opcode, constants)])) < len(assembly([Case(opcode, variable)]))
