"""Whole kernels compiled by nvcc from CUDA C++ (``tests/tensor/kernels``) against NumPy.

Their PTX is NVRTC 13's for compute_80 (``ring``: compute_90), with the headers of CUDA's include folder.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike, NDArray

from warpreg import codegen, ptx
from warpreg.codegen import CompileOptions
from warpreg.simt import Device

KERNELS = Path(__file__).parent / "kernels"
OPTIONS = [None, CompileOptions(), CompileOptions(max_registers=40)]


def device(name: str, options: CompileOptions | None) -> Device:
    return Device((KERNELS / f"{name}.ptx").read_text(), options=options)


def bfloats(numbers: np.ndarray) -> np.ndarray:
    """Small integers as bfloat16, which holds them exactly."""
    return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(
    ("kernel", "given", "sums"),
    [
        ("half_gemm", lambda x: x.astype(np.float16), np.float32),
        ("byte_gemm", lambda x: x.astype(np.int8), np.int32),
        ("bfloat_gemm", bfloats, np.float32),
    ],
)
def test_gemm_by_cuda_wmma(
    options: CompileOptions | None, kernel: str, given: Callable[[NDArray[Any]], NDArray[Any]], sums: DTypeLike
) -> None:
    """32 x 64 from 32 x 48 and 48 x 64, twice over; sums of integers below 2**24 are exact in any order."""
    rng = np.random.default_rng(11)
    a, b = rng.integers(-8, 9, (32, 48)), rng.integers(-8, 9, (48, 64))
    gpu = device("wmma_gemm", options)
    c = gpu.zeros((32, 64), sums)
    gpu.launch(kernel, (2, 2), 64, gpu.upload(given(a)), gpu.upload(given(b.T.copy())), c, 64, 48)
    np.testing.assert_array_equal(c.download(), (2 * (a @ b)).astype(sums))


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS)
def test_pipelined_gemm(options: CompileOptions | None) -> None:
    """64 x 96 from 64 x 128 and 128 x 96: cp.async, two buffers, ldmatrix with and without transposition, mma."""
    rng = np.random.default_rng(12)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((64, 128), (128, 96)))
    gpu = device("pipelined_gemm", options)
    c = gpu.zeros((64, 96), np.float32)
    gpu.launch("pipelined_gemm", (3, 2), 128, gpu.upload(a), gpu.upload(b), c, 96, 128)
    np.testing.assert_array_equal(c.download(), a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("options", OPTIONS)
def test_a_ring_of_bulk_copies(options: CompileOptions | None) -> None:
    """21 chunks of 32 numbers through four stages, three consumers."""
    numbers = np.arange(21 * 32, dtype=np.int32)
    gpu = device("ring", options)
    out = gpu.zeros(21 * 32, np.int32)
    gpu.launch("ring", 1, 128, gpu.upload(numbers), out, 21, max_instructions=10_000_000)
    np.testing.assert_array_equal(out.download(), 3 * numbers + 1)


@pytest.mark.slow
def test_after_every_pass() -> None:
    """The pipelined kernel gives the same bits after each pass of the compiler, and printed and read again."""
    rng = np.random.default_rng(13)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((32, 64), (64, 32)))
    gpu = device("pipelined_gemm", None)
    left, right = gpu.upload(a), gpu.upload(b)

    def outcome(on: Device) -> list[list[float]]:
        c = on.zeros((32, 32), np.float32)
        on.launch("pipelined_gemm", 1, 128, *([left, right] if on is gpu else map(on.upload, (a, b))), c, 32, 64)
        return list(c.download().tolist())

    expected = outcome(gpu)
    kernel = codegen.build_kernel(gpu.module, "pipelined_gemm")
    for step in codegen.passes_of(CompileOptions(max_registers=44)):
        kernel = step.run(kernel)
        gpu.install(kernel)
        assert outcome(gpu) == expected, step
    assert outcome(Device(ptx.write(gpu.module))) == expected
