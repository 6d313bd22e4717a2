"""Any kernel compiles to sixteen registers: wide vectors, f64 pairs and expanded divisions spill and stay correct."""

from __future__ import annotations

import numpy as np
import pytest
from tests.codegen.passes.test_divide import FLOAT_OPCODES, INTEGER_OPCODES, UNARY_OPCODES, edges, kernel_text

from warpreg import codegen, ptx, workloads
from warpreg.codegen import CompileOptions, target
from warpreg.simt import Device

TARGETS = ["plain", "sm_80"]
VECTORS = """
    .version 8.0
    .target sm_80
    .address_size 64
    .visible .entry k(.param .u64 source, .param .u64 out)
    {
        .reg .u64 %a, %c, %o;
        .reg .u32 %t;
        .reg .f32 %f<20>;
        .reg .f64 %d<20>;
        ld.param.u64 %a, [source];
        ld.param.u64 %c, [out];
        mov.u32 %t, %tid.x;
        mul.wide.u32 %o, %t, 64;
        add.u64 %a, %a, %o;
        add.u64 %c, %c, %o;
        ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%a];
        ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%a+16];
        ld.global.v2.f64 {%d0, %d1}, [%a+32];
        ld.global.v2.f64 {%d2, %d3}, [%a+48];
        fma.rn.f64 %d4, %d0, %d1, %d2;
        fma.rn.f64 %d5, %d1, %d2, %d3;
        fma.rn.f64 %d6, %d2, %d3, %d0;
        fma.rn.f64 %d7, %d3, %d0, %d1;
        add.rn.f32 %f8, %f0, %f7;
        st.global.v4.f32 [%c], {%f8, %f6, %f5, %f4};
        st.global.v4.f32 [%c+16], {%f3, %f2, %f1, %f0};
        st.global.v2.f64 [%c+32], {%d4, %d5};
        st.global.v2.f64 [%c+48], {%d6, %d7};
        ret;
    }
"""


def options(name: str) -> CompileOptions:
    return CompileOptions(max_registers=16, target=target(name))


@pytest.mark.parametrize("name", TARGETS)
def test_vectors_and_f64_pairs_fit_by_spilling(name: str) -> None:
    values = np.random.default_rng(1).random(32 * 8)
    found = []
    for chosen in (None, options(name)):
        device = Device(ptx.parse(VECTORS), chosen)
        source, out = device.upload(values), device.zeros(values.shape, np.float64)
        launch = device.launch("k", 1, 32, source, out)
        found.append(out.download().tobytes())
    assert found[0] == found[1]
    assert launch.kernel.register_demand <= 16
    assert launch.kernel.local_bytes > 0


@pytest.mark.parametrize("name", TARGETS)
def test_every_division_fits(name: str) -> None:
    for opcode in (*INTEGER_OPCODES, *FLOAT_OPCODES, *UNARY_OPCODES):
        module = ptx.parse(kernel_text(opcode))
        program = codegen.compile(codegen.build_kernel(module, "k"), options(name))
        assert program.register_demand <= 16, opcode


@pytest.mark.parametrize("opcode", ["div.rn.f64", "sqrt.rn.f64", "div.s64"])
def test_spilled_divisions_give_the_same_bits(opcode: str) -> None:
    values = np.resize(np.array(edges(opcode.rpartition(".")[2]), np.uint64), 256)
    other = np.roll(values, 7)
    found = []
    for chosen in (None, options("sm_80")):
        device = Device(ptx.parse(kernel_text(opcode)), chosen)
        buffers = device.upload(values), device.upload(other)
        out = device.zeros(256, np.uint64)
        device.launch("k", 1, 256, *buffers, out)
        found.append(out.download().tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("name", TARGETS)
def test_every_workload_compiles(name: str) -> None:
    for workload in ("matrix-mul", "hotspot", "bfs", "mandelbrot"):
        module = workloads.find(workload).module()
        for function in module.kernels:
            program = codegen.compile(codegen.build_kernel(module, function.name), options(name))
            assert program.register_demand <= 16
