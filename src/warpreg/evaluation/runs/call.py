"""Arrays of the host in one call of a kernel: copied to the device, and back after the launch."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg import simt
from warpreg.evaluation.runs.provenance import DIGITS
from warpreg.ir.errors import WarpregError
from warpreg.ir.module import Module, Variable
from warpreg.simt import Structure, SurfaceArgument, TextureArgument
from warpreg.simt.launch.structures import raw

ByValue = bytes | bytearray | np.void | ctypes.Structure | ctypes.Union | ctypes.Array[Any]
BY_VALUE = (bytes, bytearray, np.void, ctypes.Structure, ctypes.Union, ctypes.Array)
Argument = NDArray[Any] | float | np.generic | TextureArgument | SurfaceArgument | Structure | ByValue
"""What a kernel can be called with."""


class ArgumentError(WarpregError):
    """An invalid argument of a kernel call."""


class HostArrays:
    """The arrays of a call; ``kernel`` is named in messages.  An array that is given twice is one buffer."""

    def __init__(self, device: simt.Device, kernel: str) -> None:
        self._device, self._kernel = device, kernel
        self._buffers: dict[int, simt.Buffer] = {}
        self._given: list[tuple[str, simt.Buffer, NDArray[Any]]] = []
        self._variables: list[tuple[str, NDArray[Any] | None]] = []

    def arguments(self, given: Sequence[Argument]) -> list[object]:
        """Arguments of a launch.  Raises ArgumentError for what is none."""
        parameters: Sequence[Variable | None] = self._device.module.function(self._kernel).parameters
        parameters = [*parameters, *[None] * (len(given) - len(parameters))]
        return [
            self._bound(one, f"argument {place}", parameter)
            for place, (one, parameter) in enumerate(zip(given, parameters, strict=False))
        ]

    def bind(self, references: Mapping[str, TextureArgument | SurfaceArgument]) -> None:
        """Bind texture and surface references of the module."""
        for name, given in references.items():
            bound = self._bound(given, name)
            assert isinstance(bound, simt.Texture | simt.Surface)
            self._device.bind(name, bound)

    def fill(self, symbols: Mapping[str, Argument]) -> None:
        """Fill variables of the module.  Raises LaunchError, UnknownNameError."""
        self._device.variables.expect_distinct(symbols)
        for name, given in symbols.items():
            if isinstance(given, np.ndarray):
                self._device.fill(name, given)
                if self._device.variables.declaration(name).space == "global":
                    self._variables.append((name, given))
            else:
                self._device.fill(name, self._bound(given, name))

    def read(self, names: Sequence[str]) -> None:
        """Read these variables after the launch too.  Raises LaunchError, UnknownNameError."""
        for name in names:
            self._device.variable(name)
            if name not in {one for one, _ in self._variables}:
                self._variables.append((name, None))

    def copy_back(self) -> dict[str, NDArray[Any]]:
        """The outputs by name; arrays of the host that can be written have their new content.

        Raises ArgumentError if a kernel wrote to an array that cannot be written.
        """
        outputs = {label: self._copied(buffer.download(), array, label) for label, buffer, array in self._given}
        for name, array in self._variables:
            found = self._device.variables.content(name)
            if array is not None:
                found = found.reshape(-1).view(np.uint8).view(array.dtype).reshape(array.shape)
                found = self._copied(found, array, f"variable {name}")
            outputs[name] = found
        return outputs

    def _bound(self, given: object, label: str, parameter: Variable | None = None) -> object:
        if isinstance(given, Structure):
            return given.mapped(lambda value, place: self._field(value, f"{label}{place}"))
        if isinstance(given, np.ndarray):
            return given if _is_by_value(given, parameter) else self._buffer(given, label)
        if isinstance(given, TextureArgument):
            return given.on(self._device)
        if isinstance(given, SurfaceArgument):
            surface = given.on(self._device)
            self._given.append((label, surface.buffer, given.array))
            return surface
        if isinstance(given, (bool, int, float, np.generic, *BY_VALUE)):
            return given
        raise ArgumentError(
            f"{self._kernel}: {label} is a {type(given).__name__}, expected a NumPy array, a number, or a structure"
        )

    def _field(self, value: object, label: str) -> object:
        is_pointer = isinstance(value, (np.ndarray, TextureArgument, SurfaceArgument))
        return self._bound(value, label) if is_pointer else value

    def _buffer(self, array: NDArray[Any], label: str) -> simt.Buffer:
        if array.dtype.hasobject or array.size == 0:
            what = "an empty array" if array.size == 0 else f"an array of {array.dtype}"
            raise ArgumentError(f"{self._kernel}: {label} is {what}, which has no device memory")
        if id(array) not in self._buffers:
            self._buffers[id(array)] = self._device.upload(array)
        self._given.append((label, self._buffers[id(array)], array))
        return self._buffers[id(array)]

    def _copied(self, downloaded: NDArray[Any], array: NDArray[Any], what: str) -> NDArray[Any]:
        if array.flags.writeable:
            array[...] = downloaded
        elif downloaded.tobytes() != np.ascontiguousarray(array).tobytes():
            raise ArgumentError(f"{self._kernel}: the kernel wrote to {what}, a read-only array")
        return downloaded


def _is_by_value(array: NDArray[Any], parameter: Variable | None) -> bool:
    """Whether an array is a record, or records for a parameter that is a structure; others are pointers."""
    is_structure = parameter is not None and bool(parameter.dimensions)
    return array.dtype.names is not None and (array.ndim == 0 or is_structure)


def with_parameters(module: Module, kernel: str, arguments: Sequence[Argument]) -> Module:
    """The module; where nothing says the parameters of the kernel, with those that fit the arguments.

    Raises ArgumentError for a number of Python, which does not say its bytes.
    """
    if module.code is None or module.code.knows_parameters(kernel):
        return module
    return module.code.with_parameters(module, kernel, [_slot(kernel, *one) for one in enumerate(arguments)])


def _slot(kernel: str, place: int, given: Argument) -> tuple[int, int]:
    """Bytes and alignment of an argument."""
    if isinstance(given, (bool, int, float)) and not isinstance(given, np.generic):
        raise ArgumentError(
            f"{kernel}: argument {place} is {given!r}, and no record says how many bytes it has: expected a number of "
            "NumPy, such as numpy.int32(1)"
        )
    layout = Structure(given).mapped(_as_address, "").layout()
    return layout.size, layout.alignment


def _as_address(value: object, place: str) -> object:
    is_pointer = isinstance(value, (TextureArgument, SurfaceArgument)) or (
        isinstance(value, np.ndarray) and not _is_by_value(value, None)
    )
    return np.uint64(0) if is_pointer else value


def digest(values: Sequence[object]) -> str:
    """A digest of what a kernel was called with."""
    found = hashlib.sha256()
    for part in _parts(values):
        found.update(part)
    return found.hexdigest()[:DIGITS]


def _parts(values: Sequence[object]) -> Iterator[bytes]:
    for value in values:
        if isinstance(value, (TextureArgument, SurfaceArgument)):
            levels = [value.array] if isinstance(value.array, np.ndarray) else value.array
            yield str(value).encode()
            yield digest(levels).encode()
        elif isinstance(value, Structure):
            yield f"structure {value.align} {len(value.fields)}".encode()
            yield digest(value.fields).encode()
        elif isinstance(value, BY_VALUE) and not isinstance(value, np.void):
            yield f"{type(value).__name__} {len(bytes(value))} ".encode() + bytes(value)
        else:
            array = np.asarray(value)
            yield f"{array.dtype}{array.shape}".encode()
            yield raw(array)
