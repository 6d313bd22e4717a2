"""Launches of machine code on the first GPU, timed by events."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from warpreg.checks.gpu.driver import (
    DYNAMIC_SHARED,
    REGISTERS,
    USUAL_SHARED,
    Driver,
    GpuError,
)
from warpreg.checks.gpu.request import Request, TextureObject
from warpreg.gpu_kit.launch_clocks import BYTES, SYMBOL, Clocks, clocks_of

FLUSH_BYTES = 256 << 20
"""Bytes that are written to empty the second-level cache; more than any has."""

LOCAL_BYTES, STATIC_SHARED = 3, 1  # CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, ..._SHARED_SIZE_BYTES
ATTRIBUTES = {
    "sms": 16, "warp_size": 10, "registers_per_sm": 82, "registers_per_block": 12, "shared_bytes_per_sm": 81,
    "shared_bytes_per_block": 97, "threads_per_sm": 39, "blocks_per_sm": 106, "l2_bytes": 38, "clock_khz": 13,
    "memory_clock_khz": 36, "memory_bus_bits": 37, "constant_bytes": 9,
}  # fmt: skip
"""Numbers of CU_DEVICE_ATTRIBUTE_... (``cuda.h``)."""


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel on the GPU, with its module, and what the driver says of it."""

    handle: Any
    module: Any
    registers: int
    shared_bytes: int
    local_bytes: int


class MeasuringDriver(Driver):
    """As `Driver`, with machine code instead of PTX, and events around launches."""

    def __init__(self, size: int, library: Any = None) -> None:
        super().__init__(size, library)
        self._loaded: dict[bytes, ctypes.c_void_p] = {}
        self._snapshot = self._allocated(size)
        self._flush = self._allocated(FLUSH_BYTES)
        self._events = [ctypes.c_void_p() for _ in range(2)]
        for event in self._events:
            self._call("cuEventCreate", ctypes.byref(event), 0)

    def facts(self) -> dict[str, Any]:
        """Name and attributes of the device."""
        device, version = ctypes.c_int(), ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDriverGetVersion", ctypes.byref(version))
        found = {name: self._attribute(device, which) for name, which in ATTRIBUTES.items()}
        return {"name": self.name, "capability": self.capability, "cuda_driver": version.value, **found}

    def function(self, cubin: bytes, kernel: str) -> Function:
        """A kernel of a cubin.  Raises GpuError if the driver does not load it."""
        if cubin not in self._loaded:
            module = ctypes.c_void_p()
            self._call("cuModuleLoadData", ctypes.byref(module), cubin)
            self._loaded[cubin] = module
        handle, module = ctypes.c_void_p(), self._loaded[cubin]
        self._call("cuModuleGetFunction", ctypes.byref(handle), module, kernel.encode())
        of = [self._function_attribute(handle, which) for which in (REGISTERS, STATIC_SHARED, LOCAL_BYTES)]
        return Function(handle, module, *of)

    def unload(self) -> None:
        """Forget all modules."""
        for module in self._loaded.values():
            self._call("cuModuleUnload", module)
        self._loaded.clear()

    def timed(self, function: Function, request: Request, handles: dict[int, int]) -> float:
        """Milliseconds between events before and after a launch, which has ended.  Raises GpuError, GpuFault."""
        before, after = self._events
        launch = PreparedLaunch(self, function, request, handles)
        self._call("cuEventRecord", before, None)
        launch.start()
        self._call("cuEventRecord", after, None)
        self._call("cuEventSynchronize", after)
        return self._between(before, after)

    def clocked(self, launch: PreparedLaunch) -> Clocks:
        """What the clocks say of a launch of a kernel that has them, which has ended.  Raises GpuError, GpuFault."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        module = launch.function.module
        self._call("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, SYMBOL.encode())
        self._call("cuMemsetD32_v2", address, 0, ctypes.c_size_t(BYTES // 4))
        self._call("cuCtxSynchronize")
        launch.start()
        self._call("cuCtxSynchronize")
        content = ctypes.create_string_buffer(BYTES)
        self._call("cuMemcpyDtoH_v2", content, address, ctypes.c_size_t(BYTES))
        return clocks_of(content.raw)

    def sequence(self, launches: Sequence[PreparedLaunch]) -> list[float]:
        """Milliseconds of each of several launches that follow one another, an event between each two."""
        events = [ctypes.c_void_p() for _ in range(len(launches) + 1)]
        for event in events:
            self._call("cuEventCreate", ctypes.byref(event), 0)
        self._call("cuEventRecord", events[0], None)
        for launch, event in zip(launches, events[1:], strict=True):
            launch.start()
            self._call("cuEventRecord", event, None)
        self._call("cuCtxSynchronize")
        found = [self._between(a, b) for a, b in pairwise(events)]
        for event in events:
            self._call("cuEventDestroy_v2", event)
        return found

    def _between(self, before: Any, after: Any) -> float:
        elapsed = ctypes.c_float()
        self._call("cuEventElapsedTime", ctypes.byref(elapsed), before, after)
        return elapsed.value

    def write_memory(self, content: bytes) -> None:
        """Set the reserved memory, and keep a copy on the GPU."""
        if len(content) > self.size:
            raise GpuError(f"{len(content)} bytes of global memory; {self.size} are reserved on the GPU")
        self._write(self.base, content)
        self._write(self._snapshot, content)

    def restore(self, size: int) -> None:
        """Set the reserved memory to the copy."""
        self._call(
            "cuMemcpyDtoD_v2", ctypes.c_uint64(self.base), ctypes.c_uint64(self._snapshot), ctypes.c_size_t(size)
        )

    def read_memory(self, size: int) -> bytes:
        """The reserved memory, ``size`` bytes of it."""
        return self._read(size)

    def flush(self) -> None:
        """Replace what the second-level cache holds."""
        self._call("cuMemsetD32_v2", ctypes.c_uint64(self._flush), 0, ctypes.c_size_t(FLUSH_BYTES // 4))
        self._call("cuCtxSynchronize")

    def variables(
        self, module: Any, named: Sequence[tuple[str, int, int]]
    ) -> tuple[list[tuple[Any, tuple[str, int, int]]], tuple[str, ...]]:
        """Addresses of module variables, and the names of those that the driver does not show."""
        return self._variables(module, named)

    def copy_variables(self, found: Sequence[tuple[Any, tuple[str, int, int]]], back: bool) -> None:
        """Copy module variables from the reserved memory to where the module has them, or ``back``."""
        for address, (_, offset, size) in found:
            ours = ctypes.c_uint64(self.base + offset)
            pair = (ours, address) if back else (address, ours)
            self._call("cuMemcpyDtoD_v2", *pair, ctypes.c_size_t(size))

    def made(self, described: TextureObject) -> tuple[Any, int]:
        """Texels and handle of a texture or surface."""
        return self._object(described)

    def take_back(self, described: TextureObject, texels: Any) -> None:
        """Copy the texels of a surface to the memory that it describes."""
        self._copy(described, texels, back=True)

    def destroy(self, described: TextureObject, texels: Any, handle: int) -> None:
        """Free a texture or surface."""
        destroy = "cuSurfObjectDestroy" if described.is_surface else "cuTexObjectDestroy"
        self._library[destroy](ctypes.c_uint64(handle))
        self._library["cuMemFree_v2" if described.is_memory else "cuArrayDestroy"](texels)

    def _allocated(self, size: int) -> int:
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def _function_attribute(self, function: Any, which: int) -> int:
        value = ctypes.c_int()
        self._call("cuFuncGetAttribute", ctypes.byref(value), which, function)
        return value.value


class PreparedLaunch:
    """A launch with its arguments in host memory, to be started any number of times."""

    def __init__(self, driver: MeasuringDriver, function: Function, request: Request, handles: dict[int, int]) -> None:
        self._driver, self.function, self._request = driver, function, request
        self._held = [
            ctypes.create_string_buffer(handles[i].to_bytes(8, "little") if i in handles else data, len(data))
            for i, data in enumerate(request.arguments)
        ]
        self._pointers = (ctypes.c_void_p * max(1, len(self._held)))(*map(ctypes.addressof, self._held))
        self._extents = [ctypes.c_uint(n) for n in (*request.grid, *request.block, request.shared_bytes)]
        if request.shared_bytes > USUAL_SHARED:
            driver._call("cuFuncSetAttribute", function.handle, DYNAMIC_SHARED, request.shared_bytes)

    def start(self) -> None:
        """Queue the launch.  Raises GpuError."""
        call, function = self._driver._call, self.function.handle
        if self._request.is_cooperative:
            call("cuLaunchCooperativeKernel", function, *self._extents, None, self._pointers)
        else:
            call("cuLaunchKernel", function, *self._extents, None, self._pointers, None)
