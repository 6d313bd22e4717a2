"""The comparison with a GPU, with the executor as a stand-in, and the driver's calls on a library of functions here."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.checks.gpu_stand_in import BASE, REGISTERS, Absent, Dying, Endless, StandIn, Wrong

from warpreg import ptx, simt, workloads
from warpreg.checks.gpu import driver
from warpreg.checks.gpu.comparison import compare_workload
from warpreg.checks.gpu.differences import difference
from warpreg.checks.gpu.driver import Driver, GpuError
from warpreg.checks.gpu.paired_device import PairedDevice
from warpreg.checks.gpu.process import Gpu
from warpreg.checks.gpu.request import Request, TextureObject, accepted, newest_ptx, visible
from warpreg.checks.gpu.textures import described, read_by_index

ADD = """.version 9.5
.target sm_75
.address_size 64
.global .align 4 .u32 steps = 3;
.visible .entry add(.param .u64 out, .param .u32 n)
{
    .reg .b64 %at, %s; .reg .b32 %t, %n, %x;
    ld.param.u64 %at, [out]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x;
    mad.wide.u32 %at, %t, 4, %at; ld.global.u32 %x, [%at]; add.u32 %x, %x, %n;
    mov.u64 %s, steps; ld.global.u32 %n, [%s]; add.u32 %x, %x, %n; st.global.u32 [%at], %x;
    ret;
}
"""


@pytest.mark.slow
def test_a_workload_leaves_equal_memory_on_equal_machines() -> None:
    with Gpu(StandIn) as gpu:
        verdicts = [compare_workload(name, "tiny", 0, gpu) for name in ("bfs", "bicubic-texture")]
    for verdict in verdicts:
        assert verdict.failure == ""
        for kernel in verdict.kernels:
            assert (kernel.compared, kernel.differing, kernel.first) == (kernel.launches, 0, "")
            assert kernel.gpu_registers == REGISTERS
    assert [len(verdict.kernels) for verdict in verdicts] == [2, 4]


def test_a_launch_is_compared_buffer_by_buffer() -> None:
    with Gpu(Wrong) as gpu:
        device = PairedDevice(gpu, ADD, None)
        numbers = device.upload(np.arange(32, dtype=np.uint32), "numbers")
        device.launch("add", 1, 32, numbers, 5)
        (compared,) = device.comparisons
        assert compared.error == ""
        assert (compared.elements, compared.differing, compared.unoptimized) == (
            32 + 4,
            1,
            1,
        )  # the variable's four bytes are as they were
        assert [one.first for one in compared.differences if one.differing] == [
            "numbers[31]: executor np.uint32(39), GPU np.uint32(40)"
        ]
        assert device.on_gpu(numbers)[31] == 40
        assert numbers.download()[31] == 31 + 5 + 3


def test_the_outputs_are_those_of_the_gpu() -> None:
    with Gpu(Wrong) as gpu:
        verdict = compare_workload("vector-add", "tiny", 0, gpu)
    assert "output 'c'" in verdict.failure
    assert verdict.kernels[0].differing == verdict.kernels[0].launches


@pytest.mark.parametrize(("make", "message"), [(Dying, "died"), (Endless, "did not end within 0.5 seconds")])
def test_a_lost_process_is_an_error_of_the_launch_and_the_next_has_another(make: Any, message: str) -> None:
    with Gpu(make, seconds=0.5) as gpu:
        device = PairedDevice(gpu, ADD, None)
        numbers = device.upload(np.arange(32, dtype=np.uint32))
        for launches in (1, 2):
            device.launch("add", 1, 32, numbers, 0)
            assert len(device.comparisons) == launches
            assert message in device.comparisons[-1].error
        with pytest.raises(GpuError, match=message):
            device.on_gpu(numbers)


def test_a_machine_without_a_gpu_is_named() -> None:
    with pytest.raises(GpuError, match="no NVIDIA driver"):
        Gpu(Absent)


def test_old_addresses_stay_on_the_executor() -> None:
    old = (
        ADD.replace(".address_size 64", ".address_size 32").replace("b64 %at", "b32 %at").replace("u64 out", "u32 out")
    )
    old = old.replace("ld.param.u64", "ld.param.u32").replace("mad.wide.u32", "mad.lo.u32").replace("b64", "b32")
    old = old.replace("mov.u64", "mov.u32")
    with Gpu(StandIn) as gpu:
        device = PairedDevice(gpu, old, None)
        numbers = device.upload(np.zeros(32, np.uint32))
        device.launch("add", 1, 32, numbers, 5)
    assert "32-bit addresses" in device.comparisons[0].error
    assert numbers.download().tolist() == [8] * 32


def test_addresses_are_those_of_the_gpu() -> None:
    workload = workloads.find("vector-add")
    problem = workload.problem("tiny")
    with Gpu(StandIn) as gpu:
        device = PairedDevice(gpu, workload.ptx_text())
        problem.check(problem.run(device))
        assert device.memory.base == BASE


def test_versions_and_targets_are_lowered_to_what_the_driver_reads() -> None:
    assert [newest_ptx(v) for v in (13000, 13010, 12000, 12030, 12050, 12060, 12080, 12090)] == [
        (9, 0), (9, 1), (8, 0), (8, 3), (8, 5), (8, 5), (8, 7), (8, 8),
    ]  # fmt: skip
    text, notes = accepted(ADD, (9, 0), 90)
    assert text.startswith(".version 9.0\n.target sm_75\n")
    assert notes == (".version 9.5 lowered to 9.0",)
    newer = ADD.replace("sm_75", "sm_100a")
    assert accepted(newer, (9, 5), 90)[0].startswith(".version 9.5\n.target sm_90a\n")
    assert accepted(ADD, (9, 5), 90) == (ADD, ())


def test_variables_are_made_visible_to_the_driver() -> None:
    text = ".version 8.0\n.const .align 4 .b8 wide[8];\n.visible .global .u32 seen;\n\t.global .u32 wid = 3;\n"
    assert visible(text, ["wid", "seen", "wide"]) == (
        ".version 8.0\n.visible .const .align 4 .b8 wide[8];\n.visible .global .u32 seen;\n"
        "\t.visible .global .u32 wid = 3;\n"
    )


def test_differences_count_bits_and_measure_numbers() -> None:
    x, y = np.array([1.0, 2.0, np.nan, 0.0], np.float32), np.array([1.0, 2.5, np.nan, -0.0], np.float32)
    found = difference("x", x, y)
    assert (found.elements, found.differing, found.absolute, found.relative) == (4, 2, 0.5, 0.2)
    assert difference("x", x, x).differing == 0
    assert difference("x", np.ones(1), np.full(1, np.nan)).relative == np.inf


def test_structures_have_the_sizes_of_cuda_h() -> None:
    """Sums of the members with their alignment, from the declarations in ``cuda.h``."""
    assert ctypes.sizeof(driver._ArrayDescription) == 3 * 8 + 3 * 4 + 4
    assert ctypes.sizeof(driver._Copy) == 2 * (4 * 8 + 8 + 6 * 8) + 3 * 8
    assert ctypes.sizeof(driver._Resource) == ctypes.sizeof(driver._Memory) == 8 + 128 + 8
    assert ctypes.sizeof(driver._Sampling) == 3 * 4 + 4 + 3 * 4 + 3 * 4 + 4 * 4 + 12 * 4


class Library:
    """A driver library whose GPU is this process: memory of the host, and a kernel that adds ``n`` to 32 numbers."""

    def __init__(self) -> None:
        self.blocks: list[Any] = []
        self.called: list[str] = []
        self.copies: list[Any] = []
        self.resources: list[Any] = []
        self.fault = 0

    def __getitem__(self, name: str) -> Callable[..., int]:
        self.called.append(name)
        return getattr(self, name, lambda *arguments: 0)

    def cuDriverGetVersion(self, version: Any) -> int:  # noqa: N802
        version._obj.value = 13000
        return 0

    def cuDeviceGetAttribute(self, value: Any, which: int, device: Any) -> int:  # noqa: N802
        value._obj.value = {75: 9, 76: 0}[which]
        return 0

    def cuMemAlloc_v2(self, address: Any, size: Any) -> int:  # noqa: N802
        self.blocks.append(ctypes.create_string_buffer(size.value))
        address._obj.value = ctypes.addressof(self.blocks[-1])
        return 0

    def cuMemcpyHtoD_v2(self, to: Any, source: bytes, size: Any) -> int:  # noqa: N802
        ctypes.memmove(to.value, source, size.value)
        return 0

    def cuMemcpyDtoH_v2(self, to: Any, source: Any, size: Any) -> int:  # noqa: N802
        ctypes.memmove(to, source.value, size.value)
        return 0

    def cuMemcpyDtoD_v2(self, to: Any, source: Any, size: Any) -> int:  # noqa: N802
        ctypes.memmove(to.value, source.value, size.value)
        return 0

    def cuTexObjectCreate(self, handle: Any, resource: Any, *_: Any) -> int:  # noqa: N802
        self.resources.append(resource._obj)
        return 0

    def cuModuleGetGlobal_v2(self, *_: Any) -> int:  # noqa: N802
        return driver.NOT_FOUND

    def cuFuncGetAttribute(self, value: Any, *_: Any) -> int:  # noqa: N802
        value._obj.value = 10
        return 0

    def cuMemcpy3D_v2(self, copy: Any) -> int:  # noqa: N802
        self.copies.append(copy._obj)
        return 0

    def cuLaunchKernel(self, function: Any, *rest: Any) -> int:  # noqa: N802
        extents, (stream, pointers, extra) = rest[:7], rest[7:]
        assert [n.value for n in extents] == [1, 1, 1, 32, 1, 1, 0]
        assert (stream, extra) == (None, None)
        at = ctypes.cast(pointers[0], ctypes.POINTER(ctypes.c_uint64))[0]
        added = ctypes.cast(pointers[1], ctypes.POINTER(ctypes.c_uint32))[0]
        numbers = (ctypes.c_uint32 * 32).from_address(at)
        for i in range(32):
            numbers[i] += added
        return 0

    def cuCtxSynchronize(self) -> int:  # noqa: N802
        return self.fault


def request(base: int, **other: Any) -> Request:
    memory = np.arange(32, dtype=np.uint32).tobytes()
    arguments = (base.to_bytes(8, "little"), (7).to_bytes(4, "little"))
    return Request(ADD, "add", (1, 1, 1), (32, 1, 1), 0, arguments, memory, **other)


def test_the_driver_copies_memory_and_passes_arguments() -> None:
    gpu = Driver(1 << 12, Library())
    reply = gpu.run(request(gpu.base, variables=(("steps", 0, 4),)))
    assert np.frombuffer(reply.memory, np.uint32).tolist() == [7 + i for i in range(32)]
    assert (reply.registers, reply.hidden) == (10, ("steps",))
    assert reply.notes == (".version 9.5 lowered to 9.0",)
    assert "sm_90" in gpu.name


def test_the_driver_makes_and_frees_textures() -> None:
    library = Library()
    gpu = Driver(1 << 12, library)
    surface = TextureObject(5, gpu.base, "2d-layered", 4, 2, 1, 3, 2, "uint16")
    gpu.run(request(gpu.base, objects=(surface,)))
    first, back = library.copies
    assert (first.width, first.height, first.depth) == (4 * 2 * 2, 2, 3)  # bytes of a row, rows, layers
    assert (first.from_device, first.from_pitch, first.to_type) == (gpu.base, 16, driver.IN_ARRAY)
    assert (back.to_device, back.from_type) == (gpu.base, driver.IN_ARRAY)
    assert library.called.count("cuSurfObjectDestroy") == library.called.count("cuArrayDestroy") == 1


def test_a_texture_read_by_index_is_linear_memory() -> None:
    """On an H100, ``tex.1d`` with an integer coordinate returns 0 for a texture of an array."""
    text = (Path(__file__).parents[1] / "simt" / "data" / "texturing.ptx").read_text(encoding="utf-8")
    assert read_by_index(ptx.parse(text).function("lines")) == {0}
    assert read_by_index(ptx.parse(text).function("pixels")) == set()
    library = Library()
    gpu = Driver(1 << 12, library)
    texture = TextureObject(5, gpu.base, "1d", 4, 1, 1, 1, 2, "uint16", addresses=("clamp",) * 3, is_memory=True)
    gpu.run(request(gpu.base, objects=(texture,)))
    (memory,) = library.resources
    assert (memory.type, memory.format, memory.channels, memory.size) == (2, 2, 2, 4 * 2 * 2)
    assert memory.address == ctypes.addressof(library.blocks[-1])
    assert library.called.count("cuMemFree_v2") == library.called.count("cuTexObjectDestroy") == 1
    assert "cuArrayDestroy" not in library.called


def test_dimensions_that_a_texture_lacks_are_clamped() -> None:
    """On an H100, a border of the second dimension halves the means of a 1D texture."""
    text = (Path(__file__).parents[1] / "simt" / "data" / "texturing.ptx").read_text(encoding="utf-8")
    device = simt.Device(text, None)
    texture = device.texture(np.zeros(4, np.float32), "1d", address="border")
    first, second = described([texture, texture], ptx.parse(text).function("lines"))
    assert first.addresses == second.addresses == ("border", "clamp", "clamp")
    assert (first.is_memory, second.is_memory) == (True, False)


def test_a_fault_and_memory_that_does_not_fit_are_errors() -> None:
    library = Library()
    gpu = Driver(64, library)
    with pytest.raises(GpuError, match="128 bytes of global memory; 64 are reserved"):
        gpu.run(request(gpu.base))
    library = Library()
    gpu = Driver(1 << 12, library)
    library.fault = 700
    with pytest.raises(driver.GpuFault, match="cuCtxSynchronize"):
        gpu.run(request(gpu.base))
