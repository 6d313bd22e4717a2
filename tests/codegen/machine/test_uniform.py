"""Uniform values in registers of the uniform datapath."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen.texts import after, kernel
from tests.differential.comparing import run_on_device
from tests.reference.generator import generate

from warpreg import ptx, workloads
from warpreg.codegen import CompileOptions, target
from warpreg.codegen.machine.uniform import uniform_values
from warpreg.codegen.regalloc.allocator import AllocateRegisters
from warpreg.designs.parts.hints.program_table import program_table
from warpreg.simt import Device

SM_80 = target("sm_80")
BLOCK_START = """
    mov.u32 %r1, %ctaid.x;
    shl.b32 %r2, %r1, 7;
    mov.u32 %r3, %tid.x;
    add.s32 %r4, %r3, %r2;
    st.shared.u32 [0], %r4;
"""


def test_what_comes_from_block_indices_and_constants_is_uniform() -> None:
    assert uniform_values(kernel(BLOCK_START)) == {"%r1", "%r2"}
    assert after(AllocateRegisters(target=SM_80), BLOCK_START).splitlines()[:4] == [
        "mov.u32 UR0, %ctaid.x",
        "shl.b32 UR0, UR0, 7",
        "mov.u32 R0, %tid.x",
        "add.s32 R0, R0, UR0",
    ]


def test_uniform_registers_are_counted_apart_and_are_no_accesses_of_the_register_file() -> None:
    """One register and R1 are used, one uniform register; only the sum and the store read the file, once each."""
    program = AllocateRegisters(target=SM_80).run(kernel(BLOCK_START))
    assert (program.register_count, program.uniform_count, program.register_demand) == (2, 1, 4)
    table = program_table(program)
    assert (table.source.size, table.result.size) == (2, 2)
    assert "UR0" in "\n".join(map(str, program.instructions()))


@pytest.mark.parametrize(
    "reader",
    ["mad.lo.s32 %r4, %r3, %r2, 5;", "st.shared.u32 [0], %r2;", "mad.lo.s32 %r4, %r2, %r1, %r3;"],
    ids=["the one constant is taken", "stores store ordinary registers", "two uniform registers"],
)
def test_a_reader_that_cannot_take_it_keeps_a_value_in_the_register_file(reader: str) -> None:
    body = "mov.u32 %r3, %tid.x; mov.u32 %r1, %ctaid.x; shl.b32 %r2, %r1, 7; " + reader
    assert "%r2" not in uniform_values(kernel(body))


def test_of_two_that_one_reader_cannot_take_one_stays_always_the_same() -> None:
    body = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r2, %r1, %r3;"
    assert uniform_values(kernel(body + "st.shared.u32 [0], %r4;")) == {"%r1"}


def test_the_papers_machines_have_none() -> None:
    assert AllocateRegisters().run(kernel(BLOCK_START)).uniform_count == 0


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([None, 24]))
def test_memory_is_the_same_on_every_target(seed: int, limit: int | None) -> None:
    case = generate(seed, 12)
    module = ptx.parse(case.text)
    options = CompileOptions(max_registers=limit, fuse_multiply_add=False, target=SM_80)
    assert run_on_device(case, Device(module, options)) == run_on_device(case, Device(module, None))


@pytest.mark.parametrize("name", ["hotspot", "histogram"])
def test_workloads_with_uniform_values_are_right(name: str) -> None:
    workload = workloads.find(name)
    device = Device(workload.module(), CompileOptions(target=SM_80))
    problem = workload.problem("tiny", seed=0)
    problem.check(problem.run(device))
    assert any(launch.kernel.uniform_count for launch in device.launches)
