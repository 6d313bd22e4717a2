"""Operands of texture instructions: which registers hold coordinates, level and results.

Found with PTX of known meaning: ``tex.a2d`` becomes ``TEX.LL R6, R4, R4, R7, UR4, 0x0, ARRAY_2D, 0x7`` on sm_90, where
R4 to R6 hold layer, x and y, R7 the level of detail, R4 and R5 get red and green, R6 blue.  With ``.SCR`` (sm_80), the
first register operand holds half of the coordinates and the level, rounded up, and the second the rest.  The handle is
a pair of uniform registers, or the number of a word of constant bank 0.  The last operand has a bit for each channel.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpreg.ir.operands import ConstantBank, Immediate, Operand, Register, Sink, Special, Vector
from warpreg.ir.types import B32, B64
from warpreg.machine_code.operands import Parsed, Text

COORDINATES = {"1D": 1, "2D": 2, "3D": 3, "ARRAY_1D": 2, "ARRAY_2D": 3, "CUBE": 3, "ARRAY_CUBE": 4}
CHANNELS = 4
ALL_CHANNELS = 15


def texture_operands(opcode: str, modifiers: tuple[str, ...], listed: Sequence[Parsed]) -> tuple[Operand, ...]:
    """A vector of four results (sinks for channels that are not read), of coordinates, and of the level or the
    gradients (dx and dy of each dimension in turn), then the handle and the geometry.

    Raises ValueError for operands of another form.
    """
    at = next((n for n, o in enumerate(listed) if isinstance(o, Text) and o.word in COORDINATES), -1)
    if at < 5:
        raise ValueError("no known geometry")
    geometry, after = listed[at], listed[at + 1 :]
    assert isinstance(geometry, Text)
    mask = after[0].value if after and isinstance(after[0], Immediate) else ALL_CHANNELS
    count = COORDINATES[geometry.word]
    further = 1 if "LL" in modifiers else 2 * (count - ("ARRAY" in geometry.word)) if opcode == "TXD" else 0
    words = _words(listed[2 : at - 2], count, further, "SCR" in modifiers)
    return (
        Vector(_results(listed[1], listed[0], mask)),
        Vector(tuple(words[:count])),
        Vector(tuple(words[count:])),
        _handle(listed[at - 2], listed[at - 1]),
        Special(geometry.word),
    )


def _words(listed: Sequence[Parsed], count: int, further: int, halves: bool) -> list[Operand]:
    """Coordinates and what follows them, as single registers."""
    total = count + further
    first = total - total // 2 if halves else count
    parts = (first, total - first)
    if len(listed) != (2 if parts[1] else 1):
        raise ValueError(f"{len(listed)} registers for {total} values")
    return [word for operand, size in zip(listed, parts, strict=False) for word in _registers(operand, size)]


def _registers(operand: Parsed, count: int) -> list[Operand]:
    if isinstance(operand, Register):
        return [Register(f"R{operand.index + n}", B32, operand.index + n) for n in range(count)]
    if operand == Immediate(0):
        return [operand] * count
    raise ValueError(f"'{operand}' is no register")


def _results(first: Parsed, second: Parsed, mask: int) -> tuple[Operand, ...]:
    """The register of each channel: the channels of the mask fill a pair, then another one."""
    places: list[Operand] = []
    for operand in (first, second):
        is_register = isinstance(operand, Register)
        places += _registers(operand, 2) if is_register else [Sink(), Sink()]
    found: list[Operand] = [Sink()] * CHANNELS
    channels = (channel for channel in range(CHANNELS) if mask >> channel & 1)
    for channel, place in zip(channels, places, strict=False):
        found[channel] = place
    return tuple(found)


def _handle(one: Parsed, two: Parsed) -> Operand:
    if isinstance(one, Register) and one.is_uniform:
        return Register(one.name, B64, one.index)
    if isinstance(one, Immediate) and isinstance(two, Immediate) and one.value == 0:
        return ConstantBank(0, 4 * two.value, B32)
    raise ValueError(f"'{one}' is no handle")
