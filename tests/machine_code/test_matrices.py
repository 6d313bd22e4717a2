"""Matrix instructions of machine code: each shape that ``ptxas`` makes gives the bits of PTX."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.tensor.forms import HALF, OTHERS, REST, given, kernel, on_device, product
from tests.tensor.test_kernels import bfloats
from tests.tensor.test_kernels import test_gemm_by_cuda_wmma as check_gemm
from tests.tensor.test_kernels import test_pipelined_gemm as check_pipeline
from tests.tensor.test_moves import WMMA, fragments, text

from warpreg.codegen import CompileOptions
from warpreg.machine_code.assembler import ARCHITECTURES, MachineCode
from warpreg.simt import Device

OF_SM_90 = re.compile(r"(m16n8k(4|8|16)\S*\.f64)")
LEFT_OUT = re.compile(r"e4m3|e5m2|f32\.f16\.f16\.f16$|f16\.f16\.f16\.f32$|m8n8k4\S*f16")
"""Forms of other architectures, forms that are no valid PTX, and the one of sm_70, which becomes many instructions."""


def forms_of(architecture: str) -> list[str]:
    forms = [form for form in HALF + OTHERS + REST if not LEFT_OUT.search(form)]
    return [form for form in forms if architecture == "sm_90" or not OF_SM_90.search(form)]


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_each_shape_gives_the_bits_of_ptx(architecture: str) -> None:
    pytest.importorskip("nvidia")
    for form in forms_of(architecture):
        source = kernel([form]).replace(".target sm_90a", f".target {architecture}")
        words, columns = given([form], 5), product(form).fragment("d").registers
        machine = CompileOptions(assembler=MachineCode.of(architecture))
        found, expected = (on_device(source, words, columns, options) for options in (machine, CompileOptions()))
        np.testing.assert_array_equal(found, expected, err_msg=form)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", WMMA)
def test_wmma_gives_the_bits_of_ptx(name: str, architecture: str) -> None:
    """Loads, product and store of fragments, from both layouts."""
    pytest.importorskip("nvidia")
    kind = WMMA[name][1]
    x = np.random.default_rng(7).integers(-8, 8, 4096).astype(np.float32)
    for layouts in ("row.col",) if kind in ("u4", "b1") else ("row.col", "col.row"):
        stride = ", 128" if kind == "b1" else ", 32" if layouts == "row.col" else ", 48"
        source = text(fragments(name, layouts, stride)).replace("sm_90a", architecture)
        results = []
        for options in (CompileOptions(assembler=MachineCode.of(architecture)), CompileOptions()):
            device = Device(source, options=options)
            out = device.zeros(1536, np.float64)
            device.launch("k", 1, 32, device.upload(x), out)
            results.append(out.download().tobytes())
        assert results[0] == results[1], layouts


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_kernels_of_cuda(architecture: str) -> None:
    """Products by CUDA's ``wmma``, and with ``cp.async``, ``ldmatrix`` and ``mma``."""
    pytest.importorskip("nvidia")
    options = CompileOptions(assembler=MachineCode.of(architecture))
    check_gemm(options, "half_gemm", lambda x: x.astype(np.float16), np.float32)
    check_gemm(options, "byte_gemm", lambda x: x.astype(np.int8), np.int32)
    check_gemm(options, "bfloat_gemm", bfloats, np.float32)
    check_pipeline(options)
