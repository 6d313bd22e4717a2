"""Functions of the host that machine code calls: it prints, allocates and asserts what PTX of the same source does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.ptx.cuda.compilers import needs_nvrtc

from warpreg.codegen import CompileOptions, translate
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.module import Module
from warpreg.machine_code import files
from warpreg.machine_code.assembler import ARCHITECTURES, MachineCode
from warpreg.ptx import parse, write
from warpreg.ptx.cuda.compile import compile_file
from warpreg.simt import Device
from warpreg.simt.launch.faults import AssertionFault, MemoryFault

SOURCE = r"""
#include <cstdio>
#include <cassert>
__device__ int total = 40;
extern "C" __global__ void tell(const int *in, int n, double x) {
    __shared__ char word[4];
    char own[3] = {'a', (char)('b' + threadIdx.x % 3), 0};
    if (threadIdx.x == 0) { word[0] = 'o'; word[1] = 'k'; word[2] = 0; }
    __syncthreads();
    if (in[threadIdx.x] % 3 == 0) {
        int count = printf("%d of %d: %s %s %.3f %p\n", threadIdx.x, n, word, own, x, (void *)0);
        if (threadIdx.x % 2) printf("%d printed\n", count);
    } else
        atomicAdd(&total, 1);
    if (threadIdx.x == 33) printf("total %d, sum %d\n", total >= 40, __popc(__activemask()));
}
extern "C" __global__ void reversed(int *out, int n) {
    int *own = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) own[i] = i * threadIdx.x;
    int sum = 0;
    for (int i = 0; i < n; i++) sum = 3 * sum + own[n - 1 - i];
    if (threadIdx.x != 5) free(own);
    out[threadIdx.x] = sum;
}
extern "C" __global__ void freed(int *out) { free(out + threadIdx.x / 40); }
extern "C" __global__ void asserted(int *out, int n) {
    assert(out[threadIdx.x] != n && "each is other");
    out[threadIdx.x] = 7;
}
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Module:
    path = tmp_path_factory.mktemp("services") / "services.cu"
    path.write_text(SOURCE)
    return parse(compile_file(path).ptx, "services.ptx")


def devices(module: Module) -> list[Device]:
    """One of PTX, and one of each machine code."""
    pytest.importorskip("nvidia")
    codes = [CompileOptions(assembler=MachineCode.of(architecture)) for architecture in ARCHITECTURES]
    return [Device(module), *(Device(module, options=options) for options in codes)]


@pytest.mark.slow
@needs_nvrtc
def test_it_prints_the_same(module: Module, capsys: pytest.CaptureFixture[str]) -> None:
    """Strings in global, shared and local memory; only some lanes print, in order of lanes."""
    printed = []
    for device in devices(module):
        numbers = device.upload(np.arange(70, dtype=np.int32) * 5)
        device.launch("tell", 1, 70, numbers, np.int32(70), np.float64(2.5))
        printed.append(sorted(capsys.readouterr().out.splitlines()))
        assert device.variable("total").download().view(np.int32)[0] == 40 + sum(n % 3 != 0 for n in range(70))
    threads = [n for n in range(70) if 5 * n % 3 == 0]
    expected = [f"{n} of 70: ok a{'bcd'[n % 3]} 2.500 (nil)" for n in threads]
    expected += ["6 printed"] * sum(n % 2 for n in threads) + ["total 1, sum 1"]
    assert printed == [sorted(expected)] * 3


@pytest.mark.slow
@needs_nvrtc
def test_memory_of_the_heap(module: Module) -> None:
    """Thread t: its numbers are t times those of thread 1, whose sum is of 3 ** i * i."""
    one = sum(3**i * i for i in range(6))
    for device in devices(module):
        out = device.zeros(40, np.int32)
        device.launch("reversed", 1, 40, out, np.int32(6))
        assert out.download().tolist() == [t * one for t in range(40)]


@pytest.mark.slow
@needs_nvrtc
def test_what_malloc_did_not_give(module: Module) -> None:
    for device in devices(module):
        with pytest.raises(MemoryFault, match=r"thread \(0,0,0\).* is no memory that malloc gave"):
            device.launch("freed", 1, 64, device.zeros(4, np.int32))


@pytest.mark.slow
@needs_nvrtc
def test_an_assertion_that_fails(module: Module) -> None:
    """Thread 41 of 64 has the number; file, line, function and condition are told."""
    for device in devices(module):
        numbers = device.upload(np.arange(64, dtype=np.int32))
        device.launch("asserted", 1, 64, numbers, np.int32(64))
        assert numbers.download().tolist() == [7] * 64
        numbers = device.upload(np.arange(64, dtype=np.int32))
        with pytest.raises(AssertionFault, match=r"thread \(41,0,0\).*services.cu:27: .*asserted.*each is other"):
            device.launch("asserted", 1, 64, numbers, np.int32(41))


@pytest.mark.slow
@needs_nvrtc
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_another_function_is_refused(module: Module, architecture: str, tmp_path: Path) -> None:
    """The cubin with another name in its table of symbols."""
    pytest.importorskip("nvidia")
    data, _ = MachineCode.of(architecture).files(write(module))
    path = tmp_path / "other.cubin"
    path.write_bytes(data.replace(b"\0vprintf\0", b"\0wprintf\0"))
    expected = r"CALL\.ABS\.NOINC calls 'wprintf' outside of the kernel, which is not supported; only __assertfail, "
    with pytest.raises(UnsupportedError, match=expected):
        translate(files.read(path), "tell")


@pytest.mark.slow
@needs_nvrtc
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_address_in_memory_is_refused(architecture: str, tmp_path: Path) -> None:
    pytest.importorskip("nvidia")
    path = tmp_path / "pointers.cu"
    path.write_text('extern "C" __global__ void k(int (**f)(int), int *out) { out[0] = f[threadIdx.x](3); }')
    pointers = parse(compile_file(path).ptx)
    with pytest.raises(UnsupportedError, match=r"CALL\.REL\.NOINC calls an address in a register"):
        translate(pointers, "k", CompileOptions(assembler=MachineCode.of(architecture)))
