"""Kernel arguments and extents in the syntax of the command line.

--arg f32:2.0                      a scalar: PTX type and value
--arg buffer:f32:1024              a buffer of zeros: element type and shape (1024, or 64x16)
--arg buffer:f32:1024:arange       ... filled: zeros, ones, arange, random, or a number
--arg file:input.npy               a buffer read from a NumPy file
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from warpreg.ir.errors import UnknownNameError

SCALARS: dict[str, type[np.generic]] = {
    "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "b8": np.uint8, "b16": np.uint16, "b32": np.uint32, "b64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
"""NumPy type of each PTX type that an argument can have."""

FILLS = ("zeros", "ones", "arange", "random")
MOST_ELEMENTS = 1 << 31


@dataclass(frozen=True)
class Argument:
    """One kernel argument: a NumPy ``scalar``, or the contents of a buffer as an ``array``; ``text`` is as written."""

    text: str
    value: np.generic | NDArray[Any]

    @property
    def is_buffer(self) -> bool:
        return isinstance(self.value, np.ndarray)


def parse_argument(text: str, generator: np.random.Generator) -> Argument:
    """The argument that ``text`` describes; ``random`` fills draw from ``generator``.  Raises click.BadParameter."""
    head, _, rest = text.partition(":")
    if head == "file":
        return Argument(text, _file(text, rest))
    if head == "buffer":
        return Argument(text, _buffer(text, rest, generator))
    if not rest:
        raise click.BadParameter(f"'{text}': expected TYPE:VALUE, buffer:TYPE:SHAPE[:FILL] or file:PATH.npy")
    return Argument(text, _number(text, _type(text, head), rest))


def parse_extent(text: str) -> tuple[int, ...]:
    """``"4"``, ``"4,2"`` or ``"4x2x1"`` as one to three positive integers.  Raises click.BadParameter."""
    try:
        extent = tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        extent = ()
    if not 1 <= len(extent) <= 3 or min(extent) < 1:
        raise click.BadParameter(f"'{text}': expected one to three positive numbers such as 128 or 16x16")
    return extent


def _type(text: str, name: str) -> type[np.generic]:
    if name not in SCALARS:
        raise click.BadParameter(f"'{text}': {UnknownNameError('type', name, [*SCALARS, 'buffer', 'file'])}")
    return SCALARS[name]


def _number(text: str, kind: type[np.generic], value: str) -> np.generic:
    try:
        number: int | float = float(value) if issubclass(kind, np.floating) else int(value, 0)
        result = np.array([number]).astype(kind)[0]
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(f"'{text}': '{value}' is not a number of type {kind.__name__}") from error
    if issubclass(kind, np.integer) and int(result) != number:
        bounds = np.iinfo(kind)
        raise click.BadParameter(f"'{text}': {value} is out of range [{bounds.min}, {bounds.max}]")
    assert isinstance(result, np.generic)
    return result


def _buffer(text: str, rest: str, generator: np.random.Generator) -> NDArray[Any]:
    kind_name, _, rest = rest.partition(":")
    shape_text, _, fill = rest.partition(":")
    kind = _type(text, kind_name)
    try:
        shape = tuple(int(part) for part in shape_text.split("x"))
    except ValueError:
        shape = (0,)
    if min(shape) < 1 or math.prod(shape) > MOST_ELEMENTS:
        raise click.BadParameter(f"'{text}': expected a shape such as 1024 or 64x16, found '{shape_text}'")
    return _filled(text, kind, shape, fill or "zeros", generator)


def _filled(
    text: str, kind: type[np.generic], shape: tuple[int, ...], fill: str, generator: np.random.Generator
) -> NDArray[Any]:
    count = math.prod(shape)
    if fill == "zeros":
        return np.zeros(shape, kind)
    if fill == "ones":
        return np.ones(shape, kind)
    if fill == "arange":
        return np.arange(count).astype(kind).reshape(shape)
    if fill == "random":
        if issubclass(kind, np.floating):
            return generator.random(count).astype(kind).reshape(shape)
        return generator.integers(0, 128, count).astype(kind).reshape(shape)
    if fill[0].isalpha():
        raise click.BadParameter(f"'{text}': {UnknownNameError('fill', fill, FILLS)}, or a number")
    return np.full(shape, _number(text, kind, fill))


def _file(text: str, path: str) -> NDArray[Any]:
    if not path:
        raise click.BadParameter(f"'{text}': expected file:PATH.npy")
    try:
        array: NDArray[Any] = np.load(Path(path), allow_pickle=False)
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"'{text}': {error}") from error
    if array.dtype not in SCALARS.values():
        raise click.BadParameter(f"'{text}': elements of type {array.dtype} have no PTX type")
    return np.ascontiguousarray(array)
