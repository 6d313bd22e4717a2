"""Values from Python: numbers, buffers and structures as the bytes of kernel parameters and variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.kernel import Kernel, Parameter
from warpreg.ir.types import Kind
from warpreg.simt.launch.faults import LaunchError
from warpreg.simt.launch.structures import HANDLE_BYTES, RAW, Structure, raw, record_layout
from warpreg.simt.memory.arena import Buffer, GlobalMemory
from warpreg.simt.texture.objects import Bindable, Sampler, Surface, Texture, TextureTable

FLOATS: dict[int, type[np.floating[Any]]] = {2: np.float16, 4: np.float32, 8: np.float64}


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
            return Conversion(memory, textures, self._address_bits).bytes_of(parameter, argument)
        except LaunchError as error:
            raise LaunchError(f"kernel '{self.kernel.name}', parameter '{parameter.name}': {error}") from None


@dataclass(frozen=True, slots=True)
class Conversion:
    """Values as the bytes of parameters and variables of a device with that memory and those textures."""

    memory: GlobalMemory
    textures: TextureTable
    address_bits: int

    def bytes_of(self, slot: Parameter, argument: Any) -> bytes:
        """The value as bytes, at most as many as the parameter has.  Raises LaunchError for one that does not fit."""
        if isinstance(argument, Structure) and not slot.is_structure and len(argument.fields) == 1:
            (argument,) = argument.fields
        if isinstance(argument, Structure):
            return self._structure(slot, argument)
        if isinstance(argument, Buffer):
            return self._argument_address(slot, argument).to_bytes(slot.bytes, "little")
        if isinstance(argument, (Texture, Surface, Sampler)):
            return self._argument_handle(slot, argument).to_bytes(slot.bytes, "little")
        return _bytes(slot, argument)

    def _structure(self, slot: Parameter, given: Structure) -> bytes:
        if not slot.is_structure and slot.type.kind is not Kind.BITS:
            raise LaunchError(f"expected {slot.type}, found a structure")
        layout = given.layout(self.address_bits // 8)
        size = -(-layout.size // slot.alignment) * slot.alignment
        if size != slot.bytes:
            aligned = f", aligned to {slot.alignment}" if slot.alignment > 1 else ""
            raise LaunchError(f"expected {slot.bytes} bytes{aligned}, found {size}: {layout}")
        return layout.content(self._address)

    def _address(self, pointer: Buffer | Texture | Surface | Sampler) -> int:
        if isinstance(pointer, Buffer):
            if pointer.memory is not self.memory:
                raise LaunchError(f"buffer '{pointer.name}' belongs to another device")
            return pointer.address
        if pointer.table is not self.textures:
            raise LaunchError(f"the {type(pointer).__name__.lower()} belongs to another device")
        return pointer.handle

    def _argument_address(self, slot: Parameter, buffer: Buffer) -> int:
        address = self._address(buffer)
        if slot.is_structure or slot.type.is_float or 8 * slot.bytes != self.address_bits:
            expected = f"{slot.bytes} bytes" if slot.is_structure else "a number"
            narrow = f", whose address has {self.address_bits} bits (.address_size)" if self.address_bits < 64 else ""
            raise LaunchError(f"expected {expected}, found a buffer{BY_VALUE if slot.is_structure else narrow}")
        return address

    def _argument_handle(self, slot: Parameter, bound: Bindable) -> int:
        handle = self._address(bound)
        if slot.type.is_float or slot.bytes != HANDLE_BYTES or slot.type.bytes != HANDLE_BYTES:
            raise LaunchError(f"expected {slot.type}, found a {type(bound).__name__.lower()}")
        return handle


BY_VALUE = "; a structure takes its fields (struct:FIELD,... or warpreg.struct), a NumPy record, or bytes"


def _bytes(slot: Parameter, argument: Any) -> bytes:
    is_number = isinstance(argument, (int, float, np.integer, np.floating, np.bool_))
    is_bits = slot.type.kind is Kind.BITS and slot.bytes == slot.type.bytes
    is_raw = isinstance(argument, RAW) and not isinstance(argument, np.ndarray)
    if not (is_bits and is_number) and (slot.is_structure or (is_bits and is_raw)):
        return _raw(slot, argument)
    if not is_number:
        raise LaunchError(f"expected a number or a buffer, found {type(argument).__name__}")
    if slot.type.is_float or isinstance(argument, (float, np.floating)):
        return _real(slot, argument)
    number, bits = int(argument), 8 * slot.bytes
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise LaunchError(f"{number} does not fit {bits} bits")
    return (number % (1 << bits)).to_bytes(slot.bytes, "little")


def _raw(slot: Parameter, argument: Any) -> bytes:
    """The bytes of host memory that are passed by value."""
    if not isinstance(argument, RAW) or (isinstance(argument, (np.ndarray, np.generic)) and argument.dtype.hasobject):
        raise LaunchError(f"expected {slot.bytes} bytes, found {type(argument).__name__}{BY_VALUE}")
    data = raw(argument)
    if len(data) != slot.bytes:
        fields = record_layout(argument.dtype) if isinstance(argument, (np.ndarray, np.void)) else ""
        told = f": {fields}; numpy.dtype(..., align=True) places fields as C does" if fields else ""
        told = BY_VALUE if isinstance(argument, np.generic) and not isinstance(argument, np.void) else told
        raise LaunchError(f"expected {slot.bytes} bytes, found {len(data)}{told}")
    return data


def _real(slot: Parameter, number: Any) -> bytes:
    declared = slot.type
    if not (declared.is_float or declared.name.startswith("b")) or slot.bytes not in FLOATS:
        raise LaunchError(f"expected an integer ({declared}), found {number}")
    try:
        with np.errstate(over="ignore"):
            return FLOATS[slot.bytes](number).tobytes()
    except OverflowError:
        raise LaunchError(f"{number} does not fit {declared}") from None
