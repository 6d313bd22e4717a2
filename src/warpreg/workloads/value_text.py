"""Values of kernel arguments and variables as text, of the command line and of launch files.

f32:2.0                            a number: PTX type and value
f32:1,2,3                          an array by value
f32:16:arange                      ... of a shape, filled: zeros, ones, arange, random, or a number
f32x4:1,2,3,4                      a vector, aligned as CUDA's float4
struct:f32:2.5,s32:20,buffer:f32:8 a structure by value; [f32:1,s32:2] is one inside
bytes:00ff7f, bytes:FILE           bytes by value, in hexadecimal, or of a file (of a .npy file its array)
buffer:f32:64x16:ones              a pointer to a buffer, filled with zeros if nothing else is given
file:input.npy                     a pointer to a buffer with the array of a NumPy file; of a variable, its contents
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.simt import Structure
from warpreg.simt.launch.structures import NUMPY_TYPES

Value = Any
"""A number, an array, a structure, bytes, or what the names of a launch file stand for."""

FILLS = ("zeros", "ones", "arange", "random")
MAX_ELEMENTS = 1 << 31
HEADS = ("buffer", "file", "struct", "bytes")
WIDE = "b128"
FORMS = "TYPE:VALUE, TYPE:SHAPE:FILL, struct:FIELDS, bytes:HEX, buffer:TYPE:SHAPE[:FILL] or file:PATH.npy"


class ValueTextError(WarpregError):
    """A text that describes no value."""


@dataclass(frozen=True)
class ValueReader:
    """Reads values: ``random`` fills draw from ``generator``, files are in ``folder``.

    In a launch file, which has no generator, ``numbers`` can be named in place of numbers, ``buffer:NAME`` is one of
    ``buffers``, and ``texture:NAME`` one of ``textures``.  Elsewhere ``buffers`` is None: ``buffer:`` is a new array.
    """

    generator: np.random.Generator | None
    folder: Path = Path()
    numbers: Mapping[str, int] = field(default_factory=dict)
    buffers: Mapping[str, object] | None = None
    textures: Mapping[str, object] = field(default_factory=dict)

    def argument(self, text: str) -> Value:
        """An argument or a field: arrays in it are pointers to buffers.  Raises ValueTextError."""
        head, rest = _split(text)
        if head == "buffer":
            return self._pointer(text, rest)
        if head == "file" and self.buffers is not None:
            raise ValueTextError(f"'{text}': expected the name of an array; a file is one under [arrays]")
        if head == "file":
            return self._array_of(text, rest)
        value = self.contents(text)
        return Structure(*value.reshape(-1)) if isinstance(value, np.ndarray) else value

    def contents(self, text: str) -> Value:
        """The contents of a variable: an array in it is not a pointer.  Raises ValueTextError."""
        head, rest = _split(text)
        if head == "struct":
            return Structure(*(self._field(one) for one in fields_of(text, rest)))
        if head == "buffer":
            return Structure(self._pointer(text, rest))
        if head == "file":
            return self._array_of(text, rest)
        if head == "bytes":
            return self._bytes(text, rest)
        if head == "texture" and self.buffers is not None:
            return _named(text, "texture", rest, self.textures)
        kind, lanes = self._type(text, head)
        if ":" in rest:
            return self._filled(text, head, rest)
        values = [self._number(text, head, kind, one) for one in rest.split(",")]
        if lanes > 1:
            return _vectors(text, lanes, values)
        if len(values) == 1:
            return values[0]
        return Structure(*values) if head == WIDE else np.array(values)

    def _field(self, text: str) -> Value:
        if text.startswith("["):
            return Structure(*(self._field(one) for one in fields_of(text, text[1:-1])))
        return self.argument(text)

    def _pointer(self, text: str, rest: str) -> object:
        if self.buffers is not None:
            return _named(text, "array", rest, self.buffers)
        head, inner = _split(rest)
        if head == "file":
            return self._array_of(text, inner)
        self._type(text, head, is_alone=True)
        return self._filled(text, head, inner)

    def _type(self, text: str, name: str, *, is_alone: bool = False) -> tuple[type[np.generic] | None, int]:
        """The NumPy type of a PTX type, None for 128 bits, and the elements of a vector."""
        scalar, _, lanes = name.partition("x")
        known = scalar in NUMPY_TYPES or (scalar == WIDE and not is_alone)
        if known and lanes in ("", "2", "4") and not (is_alone and lanes):
            return NUMPY_TYPES.get(scalar), int(lanes or 1)
        names = [*NUMPY_TYPES] if is_alone else [*NUMPY_TYPES, WIDE, *HEADS]
        raise ValueTextError(f"'{text}': {UnknownNameError('type', name, names)}")

    def _number(self, text: str, name: str, kind: type[np.generic] | None, value: str) -> Any:
        try:
            if value in self.numbers:
                number: int | float = self.numbers[value]
            else:
                is_float = kind is not None and issubclass(kind, np.floating)
                number = float(value) if is_float else int(value, 0)
            if kind is None:
                high, low = divmod(int(number) % (1 << 128), 1 << 64)
                result: Any = Structure(np.uint64(low), np.uint64(high), align=16)
            else:
                with np.errstate(over="ignore"):
                    result = np.array([number]).astype(kind)[0]
        except (ValueError, OverflowError) as error:
            raise ValueTextError(f"'{text}': '{value}' is not a number of type {name}") from error
        bounds = _bounds(kind)
        if bounds is not None and not bounds[0] <= number <= bounds[1]:
            raise ValueTextError(f"'{text}': {value} is out of range [{bounds[0]}, {bounds[1]}]")
        return result

    def _filled(self, text: str, name: str, rest: str) -> NDArray[Any]:
        kind, _ = self._type(text, name, is_alone=True)
        assert kind is not None
        extents, _, fill = rest.partition(":")
        try:
            shape = tuple(self.numbers.get(one) or int(one) for one in extents.split("x"))
        except ValueError:
            shape = (0,)
        if min(shape) < 1 or math.prod(shape) > MAX_ELEMENTS:
            raise ValueTextError(f"'{text}': expected a shape such as 1024 or 64x16, found '{extents}'")
        fill = fill or "zeros"
        if fill == "random" and self.generator is None:
            raise ValueTextError(f"'{text}': expected zeros, ones, arange or a number; an array may be random")
        if fill in FILLS:
            return filled(np.dtype(kind), shape, fill, self.generator)
        if fill[0].isalpha() and fill not in self.numbers:
            raise ValueTextError(f"'{text}': {UnknownNameError('fill', fill, FILLS)}, or a number")
        return np.full(shape, self._number(text, name, kind, fill))

    def _array_of(self, text: str, path: str) -> NDArray[Any]:
        if not path:
            raise ValueTextError(f"'{text}': expected file:PATH.npy")
        array = self._load(text, path)
        if array.dtype not in NUMPY_TYPES.values():
            raise ValueTextError(f"'{text}': elements of type {array.dtype} have no PTX type")
        return array

    def _load(self, text: str, path: str) -> NDArray[Any]:
        try:
            return np.ascontiguousarray(np.load(self.folder / path, allow_pickle=False))
        except (OSError, ValueError) as error:
            raise ValueTextError(f"'{text}': {error}") from error

    def _bytes(self, text: str, rest: str) -> bytes:
        if rest and _is_hexadecimal(rest):
            if len(rest) % 2:
                raise ValueTextError(f"'{text}': expected two hexadecimal digits for each byte, found {len(rest)}")
            return bytes.fromhex(rest)
        if rest.endswith(".npy"):
            return self._load(text, rest).tobytes()
        if "." not in rest and "/" not in rest:
            raise ValueTextError(f"'{text}': expected hexadecimal digits or a file, found '{rest}'")
        try:
            return (self.folder / rest).read_bytes()
        except OSError as error:
            raise ValueTextError(f"'{text}': {error}") from error


def filled(
    dtype: np.dtype[Any], shape: tuple[int, ...], fill: str, generator: np.random.Generator | None
) -> NDArray[Any]:
    """An array of `FILLS`; ``random`` draws from the generator."""
    if fill == "random" and generator is not None:
        is_float = np.issubdtype(dtype, np.floating)
        return (generator.random(shape) if is_float else generator.integers(0, 128, shape)).astype(dtype)
    if fill == "arange":
        return np.arange(math.prod(shape)).astype(dtype).reshape(shape)
    return np.full(shape, fill == "ones", dtype)


def files_of(text: str) -> Iterator[str]:
    """The files that a value of a launch file is read from.  Raises ValueTextError."""
    head, rest = _split(text)
    if head == "file" or (head == "bytes" and not _is_hexadecimal(rest)):
        yield rest
    elif head == "struct":
        for one in fields_of(text, rest):
            yield from files_of(f"struct:{one[1:-1]}" if one.startswith("[") else one)


def fields_of(text: str, rest: str) -> list[str]:
    """The fields of a structure as texts; a part without a type continues the one before.  Raises ValueTextError."""
    parts: list[str] = []
    depth, begin = 0, 0
    for at, letter in enumerate(rest + ","):
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if depth < 0:
            break
        if letter == "," and depth == 0:
            part, begin = rest[begin:at], at + 1
            if parts and ":" not in part and not part.startswith("["):
                parts[-1] += f",{part}"
            else:
                parts.append(part)
    if depth or not rest:
        expected = "balanced brackets" if depth else "fields such as struct:f32:2.5,s32:20"
        raise ValueTextError(f"'{text}': expected {expected}")
    return parts


def _split(text: str) -> tuple[str, str]:
    head, _, rest = text.partition(":")
    if not rest and head not in HEADS:
        raise ValueTextError(f"'{text}': expected {FORMS}")
    return head, rest


def _named(text: str, what: str, name: str, known: Mapping[str, object]) -> object:
    if name not in known:
        raise ValueTextError(f"'{text}': {UnknownNameError(what, name, known)}")
    return known[name]


def _vectors(text: str, lanes: int, values: list[Any]) -> Structure:
    """Vectors of 2 or 4 elements, aligned to their size, to 16 bytes at most (CUDA C++ Programming Guide, "Built-in
    Vector Types")."""
    if len(values) % lanes or isinstance(values[0], Structure):
        raise ValueTextError(f"'{text}': expected a multiple of {lanes} numbers, found {len(values)}")
    align = min(16, lanes * values[0].dtype.itemsize)
    groups = [Structure(*values[at : at + lanes], align=align) for at in range(0, len(values), lanes)]
    return groups[0] if len(groups) == 1 else Structure(*groups)


def _bounds(kind: type[np.generic] | None) -> tuple[int, int] | None:
    """The least and the greatest value of an integer type."""
    if kind is None:
        return -(1 << 127), (1 << 128) - 1
    if not issubclass(kind, np.integer):
        return None
    bounds = np.iinfo(kind)
    return int(bounds.min), int(bounds.max)


def _is_hexadecimal(text: str) -> bool:
    return re.fullmatch("[0-9a-fA-F]+", text) is not None
