"""Kernels without allocation: each virtual register has its own architected register."""

from __future__ import annotations

import numpy as np
import pytest
from tests.codegen.texts import kernel, listing

from warpreg import codegen, designs, ptx, workloads
from warpreg.codegen import CompileOptions
from warpreg.codegen.passes.number_registers import NumberRegisters
from warpreg.codegen.verify import verify
from warpreg.replay import replay
from warpreg.simt import Device, Record

CHAIN = """
    .version 8.0
    .target sm_75
    .address_size 64
    .visible .entry chain(.param .u64 out)
    {
        .reg .b32 %r<5>;
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x;
        add.s32 %r2, %r1, %r1;
        add.s32 %r3, %r2, %r1;
        add.s32 %r4, %r3, %r3;
        st.global.u32 [%rd1], %r4;
        ret;
    }
"""


def test_every_register_keeps_a_place_and_wide_ones_are_aligned() -> None:
    body = "mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %r1; add.s32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;"
    program = NumberRegisters().run(kernel(body))
    verify(program, kernel(body))
    assert listing(program).splitlines()[:4] == [
        "mov.u32 R0, %tid.x",
        "cvt.u64.u32 R2.64, R0",
        "add.s32 R4, R0, 1",
        "st.global.u32 [R2.64], R4",
    ]
    assert program.register_count == 5
    assert program.register_demand == 3


def test_the_cache_counts_of_a_chain_before_and_after_allocation() -> None:
    """Before allocation: ld.param writes 2 words; the chain reads 2 + 2 + 2 and writes 4; the store reads 2 + 1.

    That is 9 reads and 6 writes, whatever the design. Two entries hold all that the chain reads; the two words of the
    address, written first and read last, have been evicted by then and come from the MRF.
    """
    device = Device(ptx.parse(CHAIN), CompileOptions(level="ptx"), Record(path=True))
    out = device.zeros(1, np.uint32)
    launch = device.launch("chain", 1, 32, out)
    assert launch.trace is not None
    plain = replay(launch.trace, launch.kernel, designs.load("mrf"))
    assert (plain.reads("MRF"), plain.writes("MRF")) == (9, 6)
    cached = replay(launch.trace, launch.kernel, designs.load("rfc"), entries=2)
    assert cached.reads("MRF") == 2
    assert cached.reads("RFC") == 7
    assert cached.writes("RFC") == 6


@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("level", ["ptx", "allocated-ptx"])
@pytest.mark.parametrize("name", ["matrix-mul", "bfs"])
def test_workloads_are_right_at_the_ptx_level(name: str, level: str, bits: int) -> None:
    workload = workloads.find(name)
    problem = workload.problem("tiny", seed=0)
    device = Device(workload.module(), CompileOptions(level=level, address_bits=bits))
    problem.check(problem.run(device))


def test_allocated_ptx_has_the_registers_of_the_machine_and_keeps_its_instructions() -> None:
    """The third and fourth value of the chain take the register of the first, which is dead by then.  With the address
    of 32 bits, three words are live at a time."""
    source = CompileOptions(level="allocated-ptx", schedule=False, address_bits=32)
    virtual = codegen.build_kernel(ptx.parse(CHAIN), "chain")
    found = codegen.compile(virtual, source)
    assert listing(found).splitlines()[1:6] == [
        "mov.u32 R1, %tid.x",
        "add.s32 R2, R1, R1",
        "add.s32 R1, R2, R1",
        "add.s32 R1, R1, R1",
        "st.global.u32 [R0], R1",
    ]
    assert found.register_count == 3


def test_allocated_ptx_is_scheduled_for_the_given_latencies() -> None:
    """Of two chains that a store joins, the schedule starts the loads of both first."""
    body = """
        ld.global.u32 %r1, [%rd1]; add.s32 %r2, %r1, 1; ld.global.u32 %r3, [%rd1+4]; add.s32 %r4, %r3, 1;
        add.s32 %r5, %r2, %r4; st.global.u32 [%rd1], %r5; ret;
    """
    opcodes = {}
    for schedule in (False, True):
        found = codegen.compile(kernel(body), CompileOptions(level="allocated-ptx", schedule=schedule))
        opcodes[schedule] = [i.opcode for i in found.instructions()]
    assert opcodes[False][:4] == ["ld", "add", "ld", "add"]
    assert opcodes[True][:4] == ["ld", "ld", "add", "add"]


def test_instructions_stay_as_they_are() -> None:
    module = ptx.parse(CHAIN)
    virtual = codegen.build_kernel(module, "chain")
    numbered = codegen.compile(virtual, CompileOptions(level="ptx"))
    assert [i.full_opcode for i in numbered.instructions()] == [i.full_opcode for i in virtual.instructions()]
