"""Operands of one instruction in different register banks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen.texts import after, kernel
from tests.differential.comparing import run_on_device
from tests.reference.generator import KERNEL, generate

from warpreg import codegen, ptx, workloads
from warpreg.codegen import CompileOptions
from warpreg.codegen.lower.build import build_kernel
from warpreg.codegen.regalloc.allocator import AllocateRegisters
from warpreg.codegen.regalloc.bank_assignment import conflicts
from warpreg.simt import Device

CROWDED = """
    ld.shared.u32 %r1, [0];
    ld.shared.u32 %r2, [4];
    ld.shared.u32 %r3, [8];
    st.shared.u32 [12], %r2;
    add.s32 %r4, %r1, %r3;
    st.shared.u32 [16], %r4;
"""
"""First fit has %r1 in R0 and %r3 in R2, which is one bank of two; R1 is not free yet."""


def test_without_banks_the_lowest_register_is_taken() -> None:
    program = AllocateRegisters().run(kernel(CROWDED))
    assert "add.s32 R0, R0, R2" in after(AllocateRegisters(), CROWDED)
    assert conflicts(program, 2) == 1
    assert conflicts(program, 4) == 0


def test_a_place_in_another_bank_is_taken_where_one_of_the_used_ones_is_free() -> None:
    body = """
        ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [0];
        st.shared.v2.u32 [16], {%r1, %r2};
        ld.shared.u32 %r5, [32];
        add.s32 %r6, %r5, %r3;
        st.shared.u32 [36], %r6;
        st.shared.u32 [40], %r4;
    """
    first_fit, by_bank = (AllocateRegisters(banks=banks).run(kernel(body)) for banks in (0, 2))
    assert conflicts(by_bank, 2) <= conflicts(first_fit, 2)
    assert by_bank.register_count == first_fit.register_count
    assert conflicts(by_bank, 2) == 0


def test_a_register_read_twice_is_fetched_once_and_a_pair_lies_in_two_banks() -> None:
    """``R0.64`` and ``R2.64`` meet twice in two banks, never in four; ``R0, R0`` is one fetch."""
    wide = AllocateRegisters().run(kernel("add.s64 %rd3, %rd1, %rd2; st.global.b64 [%rd3], %rd3;"))
    assert (conflicts(wide, 2), conflicts(wide, 4)) == (2, 0)
    twice = AllocateRegisters().run(kernel("add.s32 %r2, %r1, %r1; st.shared.u32 [0], %r2;"))
    assert conflicts(twice, 1) == 0


@pytest.mark.parametrize("name", ["matrix-mul", "hotspot"])
def test_fewer_conflicts_in_the_workloads_with_no_more_registers(name: str) -> None:
    module = ptx.parse(workloads.find(name).ptx_path.read_text(encoding="utf-8"))
    for function in module.kernels:
        virtual = build_kernel(module, function.name)
        plain, banked = (codegen.compile(virtual, CompileOptions(banks=banks)) for banks in (0, 4))
        assert conflicts(banked, 4) <= conflicts(plain, 4)
        assert banked.register_count <= plain.register_count + 2


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([2, 4]), st.sampled_from([None, 24]))
def test_memory_is_the_same_with_banks(seed: int, banks: int, limit: int | None) -> None:
    case = generate(seed, 12)
    module = ptx.parse(case.text)
    options = CompileOptions(max_registers=limit, fuse_multiply_add=False, banks=banks)
    assert KERNEL in [f.name for f in module.kernels]
    assert run_on_device(case, Device(module, options)) == run_on_device(case, Device(module, None))
