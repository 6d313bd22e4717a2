"""Structures that a kernel takes by value: fields of NumPy values and pointers, laid out by the rules of C."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.simt.launch.faults import LaunchError
from warpreg.simt.memory.arena import Buffer
from warpreg.simt.texture.objects import Sampler, Surface, Texture

HANDLE_BYTES = 8
"""Size of the handle of a texture, sampler or surface."""

LARGEST_ALIGNMENT = 256

NUMPY_TYPES: dict[str, type[np.generic]] = {
    "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "b8": np.uint8, "b16": np.uint16, "b32": np.uint32, "b64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
"""The NumPy type of each PTX type that has one."""

Handle = Texture | Surface | Sampler

Raw = bytes | bytearray | np.generic | NDArray[Any] | ctypes.Structure | ctypes.Union | ctypes.Array[Any]
"""A value that is bytes of host memory."""
RAW = (bytes, bytearray, np.generic, np.ndarray, ctypes.Structure, ctypes.Union, ctypes.Array)


class Structure:
    """A structure, or an array, that a kernel takes by value.

    Each field is a NumPy number or record, ``bytes``, a ``ctypes`` structure or array, a pointer, or a `Structure`, a
    tuple or a list as a structure or array inside.  A pointer is a buffer, or an array in a call from Python; a texture
    or surface is its handle.  Fields are aligned as C aligns them: numbers to their size, pointers to the size of an
    address, records as NumPy aligns them, bytes to 1, structures to their largest field or to ``align`` bytes.

    Raises LaunchError for an alignment that is no power of two.
    """

    def __init__(self, *fields: Any, align: int = 1) -> None:
        if align not in {1 << n for n in range(LARGEST_ALIGNMENT.bit_length())}:
            raise LaunchError(f"a structure: expected align 1, 2, 4, ... or {LARGEST_ALIGNMENT}, found {align!r}")
        self.fields = tuple(Structure(*one) if isinstance(one, (tuple, list)) else one for one in fields)
        self.align = align

    def mapped(self, change: Callable[[Any, str], Any], path: str = "") -> Structure:
        """The structure with ``change(value, place)`` for each value in it; places are ``.2``, or ``.1.0`` for field 0
        of the structure that is field 1.
        """
        fields = [
            one.mapped(change, f"{path}.{place}") if isinstance(one, Structure) else change(one, f"{path}.{place}")
            for place, one in enumerate(self.fields)
        ]
        return Structure(*fields, align=self.align)

    def values(self, path: str = "") -> Iterator[tuple[str, Any]]:
        """Every value in it with its place, structures inside resolved."""
        for place, one in enumerate(self.fields):
            if isinstance(one, Structure):
                yield from one.values(f"{path}.{place}")
            else:
                yield f"{path}.{place}", one

    def layout(self, address_bytes: int = 8) -> Layout:
        """Where C puts the fields.  Raises LaunchError for a field of a type that a kernel cannot take."""
        placed: list[PlacedField] = []
        size, alignment = 0, self.align
        for field in self.fields:
            inner = field.layout(address_bytes) if isinstance(field, Structure) else _alone(field, address_bytes)
            first = -(-size // inner.alignment) * inner.alignment
            placed += [PlacedField(one.kind, first + one.offset, one.size, one.value) for one in inner.placed]
            size, alignment = first + inner.size, max(alignment, inner.alignment)
        return Layout(tuple(placed), -(-size // alignment) * alignment, alignment)


@dataclass(frozen=True, slots=True)
class PlacedField:
    """A value of ``size`` bytes at a byte offset; ``kind`` is its type in words."""

    kind: str
    offset: int
    size: int
    value: Any


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of a structure, in order, and its size and alignment in bytes."""

    placed: tuple[PlacedField, ...]
    size: int
    alignment: int

    def content(self, address_of: Callable[[Any], int]) -> bytes:
        """The bytes; ``address_of`` gives the address of a buffer and the handle of a texture."""
        content = bytearray(self.size)
        for one in self.placed:
            data = one.value
            if isinstance(data, (Buffer, Handle)):
                data = address_of(data).to_bytes(one.size, "little")
            content[one.offset : one.offset + one.size] = raw(data)
        return bytes(content)

    def __str__(self) -> str:
        """``f32 at 0, s32[3] at 4, a buffer at 16``"""
        words = []
        rest = list(self.placed)
        while rest:
            first = rest[0]
            count = 1
            while count < len(rest) and _follows(rest[count], first, count):
                count += 1
            words.append(f"{first.kind}{f'[{count}]' if count > 1 else ''} at {first.offset}")
            del rest[:count]
        return ", ".join(words) or "no fields"


def _follows(one: PlacedField, first: PlacedField, count: int) -> bool:
    return one.kind == first.kind and one.offset == first.offset + count * first.size


def record_layout(dtype: np.dtype[Any]) -> str:
    """The fields of a NumPy record in words: ``a at 0, b at 4``."""
    offsets = {name: field[1] for name, field in (dtype.fields or {}).items()}
    return ", ".join(f"{name} at {offset}" for name, offset in offsets.items())


def _alone(value: Any, address_bytes: int) -> Layout:
    """The layout of a structure of one field."""
    kind, size, alignment = _described(value, address_bytes)
    return Layout((PlacedField(kind, 0, size, value),), -(-size // alignment) * alignment, alignment)


def _described(value: Any, address_bytes: int) -> tuple[str, int, int]:
    """The type of a field in words, its size and its alignment in bytes."""
    if isinstance(value, Buffer):
        return "a buffer", address_bytes, address_bytes
    if isinstance(value, Handle):
        return f"a {type(value).__name__.lower()}", HANDLE_BYTES, HANDLE_BYTES
    if isinstance(value, (bytes, bytearray)):
        return "bytes", len(value), 1
    if isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array)):
        return type(value).__name__, ctypes.sizeof(value), ctypes.alignment(value)
    if isinstance(value, np.ndarray) and value.dtype.names and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.void) and not value.dtype.hasobject:
        return "a record", value.dtype.itemsize, value.dtype.alignment
    if isinstance(value, np.generic) and value.dtype.kind in "biuf" and value.dtype.itemsize <= 8:
        return type_name(value.dtype), value.dtype.itemsize, value.dtype.itemsize
    if isinstance(value, np.ndarray):
        raise LaunchError(
            f"a structure: expected a buffer as a pointer or tuple(array) as an array by value, found an array of "
            f"{value.dtype}"
        )
    remedy = f", such as numpy.{'float32' if isinstance(value, float) else 'int32'}({value})"
    raise LaunchError(
        f"a structure: expected a NumPy number{remedy if type(value) in (int, float) else ''}, a record, bytes, or a "
        f"buffer, found {type(value).__name__}"
    )


def type_name(dtype: np.dtype[Any]) -> str:
    """The PTX type of a NumPy type: ``f32``; the NumPy name of one that has none."""
    letters = {"i": "s", "u": "u", "f": "f", "b": "u"}
    return f"{letters[dtype.kind]}{8 * dtype.itemsize}" if dtype.kind in letters else str(dtype)


def raw(value: Raw) -> bytes:
    """The bytes of a value, of an array in C order; bytes between the fields of records are 0."""
    if isinstance(value, (np.ndarray, np.generic)):
        array: NDArray[Any] = np.asarray(value)
        return (_without_padding(array) if array.dtype.names else array).tobytes()
    return bytes(value)


def _without_padding(records: NDArray[Any]) -> NDArray[Any]:
    """A copy of records; NumPy leaves what is between fields to chance."""
    copy = np.zeros(records.shape, records.dtype)
    for name in records.dtype.names or ():
        field = records[name]
        copy[name] = _without_padding(field) if field.dtype.names else field
    return copy
