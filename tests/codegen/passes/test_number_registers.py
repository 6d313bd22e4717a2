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


@pytest.mark.parametrize("name", ["matrix-mul", "bfs"])
def test_workloads_are_right_at_the_ptx_level(name: str) -> None:
    workload = workloads.find(name)
    problem = workload.problem("tiny", seed=0)
    device = Device(workload.module(), CompileOptions(level="ptx"))
    problem.check(problem.run(device))


def test_instructions_stay_as_they_are() -> None:
    module = ptx.parse(CHAIN)
    virtual = codegen.build_kernel(module, "chain")
    numbered = codegen.compile(virtual, CompileOptions(level="ptx"))
    assert [i.full_opcode for i in numbered.instructions()] == [i.full_opcode for i in virtual.instructions()]
