"""Divisions as instruction sequences: equal to the opcode bit for bit, on edge values and at random."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.codegen.texts import after, kernel

from warpreg import codegen, ptx
from warpreg.codegen import CompileOptions
from warpreg.codegen.passes.divide import ExpandDivision
from warpreg.codegen.passes.divide.sequence import Sequence, constant
from warpreg.ir.operands import Operand, Register
from warpreg.simt import Device

Values = NDArray[Any]

INTEGER_OPCODES = [f"{opcode}.{kind}" for opcode in ("div", "rem") for kind in ("u32", "s32", "u64", "s64")]
FLOAT_OPCODES = ["div.rn.f32", "div.rn.ftz.f32", "div.rn.f64"]
UNARY_OPCODES = ["rcp.rn.f32", "rcp.rn.ftz.f32", "rcp.rn.f64", "sqrt.rn.f32", "sqrt.rn.f64"]
THREADS = 256


def kernel_text(opcode: str) -> str:
    """A kernel that writes ``opcode`` of two buffers' elements to a third; one operand where it takes one."""
    kind = opcode.rpartition(".")[2]
    bytes_ = int(kind[1:]) // 8
    operands = "%x" if opcode in UNARY_OPCODES else "%x, %y"
    return f"""
        .version 8.0
        .target sm_75
        .address_size 64
        .visible .entry k(.param .u64 first, .param .u64 second, .param .u64 out)
        {{
            .reg .u64 %a, %b, %c, %o;
            .reg .u32 %t, %ct, %n;
            .reg .{kind} %x, %y, %z;
            ld.param.u64 %a, [first];
            ld.param.u64 %b, [second];
            ld.param.u64 %c, [out];
            mov.u32 %t, %tid.x;
            mov.u32 %ct, %ctaid.x;
            mov.u32 %n, %ntid.x;
            mad.lo.u32 %t, %ct, %n, %t;
            mul.wide.u32 %o, %t, {bytes_};
            add.u64 %a, %a, %o;
            add.u64 %b, %b, %o;
            add.u64 %c, %c, %o;
            ld.global.{kind} %x, [%a];
            ld.global.{kind} %y, [%b];
            {opcode} %z, {operands};
            st.global.{kind} [%c], %z;
            ret;
        }}
    """


def results(opcode: str, one: Values, other: Values, *, expand: bool) -> Values:
    """The bits that a compiled kernel computes; operands are padded to whole blocks."""
    count = -(-len(one) // THREADS) * THREADS
    module = ptx.parse(kernel_text(opcode))
    device = Device(module, None)
    device.install(codegen.compile(codegen.build_kernel(module, "k"), CompileOptions(expand_division=expand)))
    buffers = [device.upload(np.resize(values, count)) for values in (one, other)]
    out = device.zeros(count, one.dtype)
    device.launch("k", count // THREADS, THREADS, *buffers, out)
    return out.download()[: len(one)]


def assert_same(opcode: str, one: Values, other: Values) -> None:
    wanted, found = (results(opcode, one, other, expand=expand) for expand in (False, True))
    wrong = np.flatnonzero(wanted != found)
    assert wrong.size == 0, f"{opcode} {one[wrong[0]]:#x}, {other[wrong[0]]:#x}: {found[wrong[0]]:#x}"


def edges(kind: str) -> list[int]:
    """Bit patterns near which a division goes wrong first, with both signs."""
    bits = int(kind[1:])
    top = 1 << bits - 1
    if kind[0] != "f":
        half = 1 << bits // 2
        return [0, 1, 2, 3, 7, 10, half - 1, half, half + 1, top - 1, top, top + 1, 2 * top - 2, 2 * top - 1]
    fraction = {32: 23, 64: 52}[bits]
    bias = (1 << bits - 2 - fraction) - 1
    ones = (1 << fraction) - 1
    exponents = [0, 1, 2, bias - 63, bias - 62, bias, bias + 61, bias + 62, 2 * bias, 2 * bias + 1]
    found = [e << fraction | f for e in exponents for f in (0, 1, ones - 1, ones)]
    return found + [top | value for value in found]


@pytest.mark.slow
@pytest.mark.parametrize("opcode", [*INTEGER_OPCODES, *FLOAT_OPCODES])
def test_every_pair_of_edge_values_gives_the_opcodes_bits(opcode: str) -> None:
    kind = opcode.rpartition(".")[2]
    dtype = np.uint32 if "32" in kind else np.uint64
    pairs = np.array(list(itertools.product(edges(kind), repeat=2)), dtype)
    assert_same(opcode, pairs[:, 0].copy(), pairs[:, 1].copy())


@pytest.mark.parametrize("opcode", UNARY_OPCODES)
def test_edge_values_and_their_neighbours_give_the_opcodes_bits(opcode: str) -> None:
    kind = opcode.rpartition(".")[2]
    dtype = np.uint32 if "32" in kind else np.uint64
    most = int(np.iinfo(dtype).max)
    values = np.array([(value + step) & most for value in edges(kind) for step in (-3, -1, 0, 2)], dtype)
    assert_same(opcode, values, values)


@settings(max_examples=8, deadline=None)
@given(st.sampled_from([*INTEGER_OPCODES, *FLOAT_OPCODES, *UNARY_OPCODES]), st.integers(0, 1 << 30))
def test_random_bit_patterns_give_the_opcodes_bits(opcode: str, seed: int) -> None:
    dtype = np.uint32 if "32" in opcode else np.uint64
    generator = np.random.default_rng(seed)
    one, other = (
        generator.integers(0, np.iinfo(dtype).max, 4096, dtype, endpoint=True)
        >> generator.integers(0, 8 * dtype().itemsize, 4096).astype(dtype)
        for _ in range(2)
    )
    assert_same(opcode, one, other)


@pytest.mark.slow
@pytest.mark.parametrize("opcode", ["rcp.rn.f32", "sqrt.rn.f32", "div.rn.f64", "sqrt.rn.f64", "div.u32", "div.u64"])
@pytest.mark.parametrize("ulps", [-1, 1])
def test_an_approximation_may_be_one_unit_off(opcode: str, ulps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit of the f32 result, and of the high word that the f64 approximations give."""

    def shifted(name: str, add: str, unit: int) -> None:
        original = getattr(Sequence, name)

        def made(seq: Sequence, opcode: str, *sources: Operand) -> Register:
            result: Register = original(seq, opcode, *sources)
            if "approx" not in opcode:
                return result
            moved = seq.fresh(result.type)
            seq.add(add, moved, result, constant(ulps * unit))
            return moved

        monkeypatch.setattr(Sequence, name, made)

    shifted("single", "add.s32", 1)
    shifted("double", "add.s64", 1 << 32)
    kind = opcode.rpartition(".")[2]
    dtype = np.uint32 if "32" in kind else np.uint64
    generator = np.random.default_rng(5)
    spread = generator.integers(0, np.iinfo(dtype).max, 1 << 13, dtype, endpoint=True)
    values = np.concatenate((np.array(edges(kind), dtype), spread))
    assert_same(opcode, values, np.roll(values, 1000))


def test_a_quotient_reads_its_operands_before_it_is_written() -> None:
    """``div a, a, b`` keeps a for the guarded division at the end."""
    listed = after(ExpandDivision(), "div.rn.f32 %f1, %f1, %f2; st.shared.f32 [0], %f1;").splitlines()
    assert listed[-4].startswith("@%divide0$") or listed[-4].startswith("div")
    assert listed[-3].startswith("mov.b32 %f1, %divide0$")


def test_a_guarded_division_writes_under_its_guard_only() -> None:
    body = "setp.eq.s32 %p1, %r1, 0; @%p1 div.u32 %r2, %r3, %r4; st.shared.u32 [0], %r2;"
    writers = [line for line in after(ExpandDivision(), body).splitlines() if " %r2, " in line]
    assert [line.split()[0] for line in writers] == ["@%p1"]


def test_what_the_hardware_does_in_one_step_stays() -> None:
    body = "div.approx.f32 %f1, %f2, %f3; div.rz.f32 %f4, %f2, %f3; div.u16 %rs1, %rs2, %rs3; rcp.approx.f32 %f5, %f6;"
    program = kernel(body)
    assert ExpandDivision().run(program) is program
