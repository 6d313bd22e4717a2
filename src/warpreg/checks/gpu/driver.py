"""NVIDIA's driver library by ctypes: modules, memory, textures and launches on the first GPU of this machine.

Structures and numbers are those of ``cuda.h`` (CUDA Driver API, "Data types used by CUDA driver").
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from warpreg.checks.gpu.request import Reply, Request, TextureObject, accepted, newest_ptx, visible
from warpreg.ir.errors import WarpregError

LIBRARY = "libcuda.so.1"
LOG_BYTES = 4096
REGISTERS = 4  # CU_FUNC_ATTRIBUTE_NUM_REGS
DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
USUAL_SHARED = 48 << 10
STACK_SIZE = 0  # CU_LIMIT_STACK_SIZE
CAPABILITY = (75, 76)  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, MINOR
ERROR_LOG, ERROR_LOG_BYTES = 5, 6  # CU_JIT_ERROR_LOG_BUFFER, ..._SIZE_BYTES
LEVEL = 7  # CU_JIT_OPTIMIZATION_LEVEL
NOT_FOUND = 500  # CUDA_ERROR_NOT_FOUND
FAULTS = frozenset((700, 702, 710, 714, 715, 716, 717, 718, 719))
"""Errors of kernels, from CUDA_ERROR_ILLEGAL_ADDRESS to CUDA_ERROR_LAUNCH_FAILED, that end the use of the GPU."""
LAYERED, FOR_SURFACES, CUBEMAP = 1, 2, 4  # CUDA_ARRAY3D_...
ON_DEVICE, IN_ARRAY = 2, 3  # CU_MEMORYTYPE_...
OF_ARRAY, OF_MEMORY = 0, 2  # CU_RESOURCE_TYPE_...
AS_INTEGER, NORMALIZED = 1, 2  # CU_TRSF_...
ADDRESS_MODES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}
FORMATS = {
    "uint8": 0x01, "uint16": 0x02, "uint32": 0x03, "int8": 0x08, "int16": 0x09, "int32": 0x0A, "float16": 0x10,
    "float32": 0x20,
}  # fmt: skip
"""CU_AD_FORMAT by NumPy dtype."""
MODULES = 16
"""Loaded modules that are kept."""


class GpuError(WarpregError):
    """A GPU or driver that is missing, or refuses a launch."""


class GpuFault(GpuError):
    """A kernel that ended with an error, after which its process can use the GPU no more."""


class _ArrayDescription(ctypes.Structure):
    _fields_ = [("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t),
                ("format", ctypes.c_int), ("channels", ctypes.c_uint), ("flags", ctypes.c_uint)]  # fmt: skip


def _side(prefix: str) -> list[tuple[str, Any]]:
    words = [("x", ctypes.c_size_t), ("y", ctypes.c_size_t), ("z", ctypes.c_size_t), ("level", ctypes.c_size_t),
             ("type", ctypes.c_int), ("host", ctypes.c_void_p), ("device", ctypes.c_uint64),
             ("array", ctypes.c_void_p), ("reserved", ctypes.c_void_p), ("pitch", ctypes.c_size_t),
             ("height", ctypes.c_size_t)]  # fmt: skip
    return [(f"{prefix}_{name}", type_) for name, type_ in words]


class _Copy(ctypes.Structure):
    _fields_ = [*_side("from"), *_side("to"), ("width", ctypes.c_size_t), ("height", ctypes.c_size_t),
                ("depth", ctypes.c_size_t)]  # fmt: skip


class _Resource(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("padding", ctypes.c_int), ("array", ctypes.c_void_p),
                ("unused", ctypes.c_uint64 * 15), ("flags", ctypes.c_uint), ("end", ctypes.c_uint)]  # fmt: skip


class _Memory(ctypes.Structure):
    """As `_Resource`, of linear memory."""

    _fields_ = [("type", ctypes.c_int), ("padding", ctypes.c_int), ("address", ctypes.c_uint64),
                ("format", ctypes.c_int), ("channels", ctypes.c_uint), ("size", ctypes.c_size_t),
                ("unused", ctypes.c_uint64 * 13), ("flags", ctypes.c_uint), ("end", ctypes.c_uint)]  # fmt: skip


class _Sampling(ctypes.Structure):
    _fields_ = [("address", ctypes.c_int * 3), ("filter", ctypes.c_int), ("flags", ctypes.c_uint),
                ("anisotropy", ctypes.c_uint), ("mipmap", ctypes.c_int), ("bias", ctypes.c_float),
                ("least", ctypes.c_float), ("most", ctypes.c_float), ("border", ctypes.c_float * 4),
                ("reserved", ctypes.c_int * 12)]  # fmt: skip


class Driver:
    """The first GPU, with ``size`` bytes of its memory from ``base`` on for the contents of global memory."""

    def __init__(self, size: int, library: Any = None) -> None:
        self.size = size
        self._library = _library() if library is None else library
        self._modules: dict[tuple[str, int], ctypes.c_void_p] = {}
        self._call("cuInit", 0)
        device, context, version = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDriverGetVersion", ctypes.byref(version))
        self.ptx_version = newest_ptx(version.value)
        major, minor = (self._attribute(device, which) for which in CAPABILITY)
        self.capability = 10 * major + minor
        name = ctypes.create_string_buffer(100)
        self._call("cuDeviceGetName", name, 100, device)
        self.name = f"{name.value.decode()} (sm_{self.capability}, driver for CUDA {version.value / 1000:g})"
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)
        base = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(base), ctypes.c_size_t(size))
        self.base = base.value
        self._stack = 0

    def run(self, request: Request) -> Reply:
        """Run a launch to its end.  Raises GpuError, and GpuFault for a kernel that ends with an error."""
        ptx, notes = accepted(request.ptx, self.ptx_version, self.capability)
        ptx = visible(ptx, [name for name, _, _ in request.variables])
        module, function, registers = self._module(ptx, request.level), ctypes.c_void_p(), ctypes.c_int()
        self._call("cuModuleGetFunction", ctypes.byref(function), module, request.kernel.encode())
        self._call("cuFuncGetAttribute", ctypes.byref(registers), REGISTERS, function)
        if request.shared_bytes > USUAL_SHARED:
            self._call("cuFuncSetAttribute", function, DYNAMIC_SHARED, request.shared_bytes)
        if request.stack_bytes > self._stack:
            self._call("cuCtxSetLimit", STACK_SIZE, ctypes.c_size_t(request.stack_bytes))
            self._stack = request.stack_bytes
        if len(request.memory) > self.size:
            raise GpuError(f"{len(request.memory)} bytes of global memory; {self.size} are reserved on the GPU")
        self._write(self.base, request.memory)
        variables, hidden = self._variables(module, request.variables)
        for address, (_, offset, size) in variables:
            self._call("cuMemcpyDtoD_v2", address, ctypes.c_uint64(self.base + offset), ctypes.c_size_t(size))
        objects = [self._object(described) for described in request.objects]
        try:
            handles = {d.argument: made[1] for d, made in zip(request.objects, objects, strict=True)}
            self._launch(request, function, handles)
            for described, (texels, _) in zip(request.objects, objects, strict=True):
                if described.is_surface:
                    self._copy(described, texels, back=True)
        finally:
            for described, (texels, handle) in zip(request.objects, objects, strict=True):
                destroy = "cuSurfObjectDestroy" if described.is_surface else "cuTexObjectDestroy"
                self._library[destroy](ctypes.c_uint64(handle))
                self._library["cuMemFree_v2" if described.is_memory else "cuArrayDestroy"](texels)
        for address, (_, offset, size) in variables:
            self._call("cuMemcpyDtoD_v2", ctypes.c_uint64(self.base + offset), address, ctypes.c_size_t(size))
        return Reply(self._read(len(request.memory)), registers.value, hidden, notes)

    def _launch(self, request: Request, function: ctypes.c_void_p, handles: dict[int, int]) -> None:
        held = [
            ctypes.create_string_buffer(handles[i].to_bytes(8, "little") if i in handles else data, len(data))
            for i, data in enumerate(request.arguments)
        ]
        pointers = (ctypes.c_void_p * max(1, len(held)))(*map(ctypes.addressof, held))
        extents = [ctypes.c_uint(n) for n in (*request.grid, *request.block, request.shared_bytes)]
        if request.is_cooperative:
            self._call("cuLaunchCooperativeKernel", function, *extents, None, pointers)
        else:
            self._call("cuLaunchKernel", function, *extents, None, pointers, None)
        self._call("cuCtxSynchronize")

    def _module(self, ptx: str, level: int) -> ctypes.c_void_p:
        if (ptx, level) in self._modules:
            return self._modules[ptx, level]
        if len(self._modules) == MODULES:
            self._call("cuModuleUnload", self._modules.pop(next(iter(self._modules))))
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(LOG_BYTES)
        options = (ctypes.c_int * 3)(ERROR_LOG, ERROR_LOG_BYTES, LEVEL)
        values = (ctypes.c_void_p * 3)(ctypes.addressof(log), LOG_BYTES, level)
        try:
            self._call("cuModuleLoadDataEx", ctypes.byref(module), ptx.encode() + b"\0", 3, options, values)
        except GpuError as error:
            raise GpuError(f"{error}: {log.value.decode(errors='replace').strip()}") from None
        self._modules[ptx, level] = module
        return module

    def _variables(
        self, module: ctypes.c_void_p, variables: Sequence[tuple[str, int, int]]
    ) -> tuple[list[tuple[ctypes.c_uint64, tuple[str, int, int]]], tuple[str, ...]]:
        """Addresses of module variables on the GPU, and the names of those that the driver does not show."""
        pairs, hidden = [], []
        for variable in variables:
            address, size = ctypes.c_uint64(), ctypes.c_size_t()
            sought = ctypes.byref(address), ctypes.byref(size), module, variable[0].encode()
            if self._library["cuModuleGetGlobal_v2"](*sought) == NOT_FOUND:
                hidden.append(variable[0])
            else:
                pairs.append((address, variable))
        return pairs, tuple(hidden)

    def _object(self, described: TextureObject) -> tuple[Any, int]:
        """An array, or memory, with a copy of the texels, and the handle of a texture or surface of it."""
        handle = ctypes.c_uint64()
        texels, resource = self._memory(described) if described.is_memory else self._array(described)
        if described.is_surface:
            self._call("cuSurfObjectCreate", ctypes.byref(handle), ctypes.byref(resource))
            return texels, handle.value
        as_integer = not described.is_normalized_read and not described.element.startswith("float")
        sampling = _Sampling(
            address=(ctypes.c_int * 3)(*(ADDRESS_MODES[mode] for mode in described.addresses)),
            filter=int(described.is_linear),
            flags=AS_INTEGER * as_integer | NORMALIZED * described.is_normalized,
        )
        self._call("cuTexObjectCreate", ctypes.byref(handle), ctypes.byref(resource), ctypes.byref(sampling), None)
        return texels, handle.value

    def _array(self, described: TextureObject) -> tuple[ctypes.c_void_p, _Resource]:
        kind, layered = described.kind, "layered" in described.kind
        is_cube = kind.startswith("cube")
        flags = LAYERED * layered | CUBEMAP * is_cube | FOR_SURFACES * described.is_surface
        height = 0 if kind.startswith("1d") else described.height
        depth = described.layers if layered or is_cube else described.depth if kind == "3d" else 0
        form = _ArrayDescription(described.width, height, depth, FORMATS[described.element], described.channels, flags)
        array = ctypes.c_void_p()
        self._call("cuArray3DCreate_v2", ctypes.byref(array), ctypes.byref(form))
        self._copy(described, array, back=False)
        return array, _Resource(type=OF_ARRAY, array=array)

    def _memory(self, described: TextureObject) -> tuple[ctypes.c_uint64, _Memory]:
        """Memory of its own, which has the alignment of textures."""
        size = described.width * described.channels * _bytes_of(described.element)
        memory = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(size))
        self._call("cuMemcpyDtoD_v2", memory, ctypes.c_uint64(described.address), ctypes.c_size_t(size))
        form = FORMATS[described.element]
        resource = _Memory(type=OF_MEMORY, address=memory.value, format=form, channels=described.channels, size=size)
        return memory, resource

    def _copy(self, described: TextureObject, array: ctypes.c_void_p, back: bool) -> None:
        """Copy texels from memory to an array, or ``back``."""
        row = described.width * described.channels * _bytes_of(described.element)
        linear, other = ("to", "from") if back else ("from", "to")
        copy = _Copy(width=row, height=described.height, depth=described.depth * described.layers)
        for name, value in (
            (f"{linear}_type", ON_DEVICE),
            (f"{linear}_device", described.address),
            (f"{linear}_pitch", row),
            (f"{linear}_height", described.height),
            (f"{other}_type", IN_ARRAY),
            (f"{other}_array", array),
        ):
            setattr(copy, name, value)
        self._call("cuMemcpy3D_v2", ctypes.byref(copy))

    def _write(self, address: int, content: bytes) -> None:
        self._call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), content, ctypes.c_size_t(len(content)))

    def _read(self, size: int) -> bytes:
        content = ctypes.create_string_buffer(size)
        self._call("cuMemcpyDtoH_v2", content, ctypes.c_uint64(self.base), ctypes.c_size_t(size))
        return content.raw

    def _attribute(self, device: ctypes.c_int, which: int) -> int:
        value = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(value), which, device)
        return value.value

    def _call(self, function: str, *arguments: Any) -> None:
        """Raises GpuError, or GpuFault, that names the function and the error."""
        status = self._library[function](*arguments)
        if status:
            name = ctypes.c_char_p()
            self._library["cuGetErrorName"](status, ctypes.byref(name))
            message = f"{function}: {(name.value or b'error').decode()} ({status})"
            raise GpuFault(message) if status in FAULTS else GpuError(message)


def _library() -> Any:
    try:
        return ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise GpuError(f"this machine has no NVIDIA driver: {error}") from None


def _bytes_of(element: str) -> int:
    return int("".join(filter(str.isdigit, element))) // 8
