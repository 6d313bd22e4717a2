"""Kernel arguments from Python: numbers, buffers and structures as the bytes of constant bank 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.kernel import Kernel, Parameter
from warpreg.simt.launch.faults import LaunchError
from warpreg.simt.memory.arena import Buffer, GlobalMemory
from warpreg.simt.texture.objects import Bindable, Sampler, Surface, Texture, TextureTable

FLOATS: dict[int, type[np.floating[Any]]] = {2: np.float16, 4: np.float32, 8: np.float64}

HANDLE_BYTES = 8


class Packer:
    """Passes arguments to one kernel, as bytes of constant bank 0."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._address_bits = kernel.module.address_size
        self._places = [
            (p, p.offset, p.offset + p.bytes, 0 if p.type.is_float or p.bytes != p.type.bytes else 8 * p.bytes)
            for p in kernel.parameters
        ]
        """Each parameter with its begin and end, and the bits of an integer, or 0."""

    def pack(
        self, memory: GlobalMemory, textures: TextureTable, arguments: Sequence[Any], bank: NDArray[np.uint8]
    ) -> None:
        """Write arguments to ``bank``; buffers are in ``memory``, handles refer to ``textures``.

        Arguments beyond the parameters are ignored, as in a CUDA launch.

        Raises LaunchError that names the invalid argument.
        """
        if len(arguments) < len(self._places):
            raise LaunchError(
                f"kernel '{self.kernel.name}': expected {len(self._places)} arguments, found {len(arguments)}"
            )
        content = bytearray(bank.size)
        for (parameter, begin, end, bits), argument in zip(self._places, arguments, strict=False):
            is_address = isinstance(argument, Buffer) and argument.memory is memory and bits == self._address_bits
            number = argument.address if is_address else argument
            if type(number) is int and bits and -(1 << (bits - 1)) <= number < 1 << bits:
                content[begin:end] = (number % (1 << bits)).to_bytes(end - begin, "little")
            else:
                data = self._converted(parameter, argument, memory, textures)
                content[begin : begin + len(data)] = data
        bank[:] = np.frombuffer(content, np.uint8)

    def _converted(self, parameter: Parameter, argument: Any, memory: GlobalMemory, textures: TextureTable) -> bytes:
        try:
            if isinstance(argument, Buffer):
                argument = _address(parameter, argument, self._address_bits, memory)
            elif isinstance(argument, (Texture, Surface, Sampler)):
                argument = _handle(parameter, argument, textures)
            return _bytes(parameter, argument)
        except LaunchError as error:
            raise LaunchError(f"kernel '{self.kernel.name}', parameter '{parameter.name}': {error}") from None


def _address(parameter: Parameter, buffer: Buffer, bits: int, memory: GlobalMemory) -> int:
    if buffer.memory is not memory:
        raise LaunchError(f"buffer '{buffer.name}' belongs to another device")
    if parameter.type.is_float or 8 * parameter.bytes != bits:
        expected = "a number" if parameter.bytes == parameter.type.bytes else f"{parameter.bytes} bytes"
        narrow = f", whose address has {bits} bits (.address_size)" if expected == "a number" and bits < 64 else ""
        raise LaunchError(f"expected {expected}, found a buffer{narrow}")
    return buffer.address


def _handle(parameter: Parameter, bound: Bindable, textures: TextureTable) -> int:
    what = type(bound).__name__.lower()
    if bound.table is not textures:
        raise LaunchError(f"the {what} belongs to another device")
    if parameter.type.is_float or parameter.bytes != HANDLE_BYTES or parameter.type.bytes != HANDLE_BYTES:
        raise LaunchError(f"expected {parameter.type}, found a {what}")
    return bound.handle


def _bytes(parameter: Parameter, argument: Any) -> bytes:
    if parameter.bytes != parameter.type.bytes:
        return _structure(parameter, argument)
    if not isinstance(argument, (int, float, np.integer, np.floating, np.bool_)):
        raise LaunchError(f"expected a number or a buffer, found {type(argument).__name__}")
    if parameter.type.is_float or isinstance(argument, (float, np.floating)):
        return _real(parameter, argument)
    number, bits = int(argument), 8 * parameter.bytes
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise LaunchError(f"{number} does not fit {bits} bits")
    return (number % (1 << bits)).to_bytes(parameter.bytes, "little")


def _structure(parameter: Parameter, argument: Any) -> bytes:
    if not isinstance(argument, (np.ndarray, np.void, bytes)):
        raise LaunchError(f"expected {parameter.bytes} bytes, found {type(argument).__name__}")
    data = argument if isinstance(argument, bytes) else argument.tobytes()
    if len(data) != parameter.bytes:
        raise LaunchError(f"expected {parameter.bytes} bytes, found {len(data)}")
    return data


def _real(parameter: Parameter, number: Any) -> bytes:
    declared = parameter.type
    if not (declared.is_float or declared.name.startswith("b")) or parameter.bytes not in FLOATS:
        raise LaunchError(f"expected an integer ({declared}), found {number}")
    try:
        with np.errstate(over="ignore"):
            return FLOATS[parameter.bytes](number).tobytes()
    except OverflowError:
        raise LaunchError(f"{number} does not fit {declared}") from None
