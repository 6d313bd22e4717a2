"""Video instructions, scalar and SIMD (PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions").

Operands are whole registers; `Selected` names the parts that an instruction reads and writes.  Numbers are exact
integers; results are truncated to 34 bits before they saturate, and to 33 after that, as the manual says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tests.reference.floats import compare_integers
from tests.reference.instruction import Pure
from tests.reference.integers import clamp, value
from tests.reference.number import mask, signed

_RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge")
_SECONDARY: dict[str, Callable[[int, int], int]] = {"add": lambda t, c: t + c, "min": min, "max": max}


def _average(a: int, b: int) -> int:
    return (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1


_PRIMARY: dict[str, Callable[[int, int], int]] = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
    "vavrg": _average,
}
_SCALAR = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset", "vmad")
_SIMD = tuple(f"{name}{n}" for name in (*_PRIMARY, "vset") for n in (2, 4))
OPCODES = frozenset((*_SCALAR, *_SIMD))


class Selected(NamedTuple):
    """Selectors such as ``h1`` or ``b7610`` of the destination and the sources, empty where there is none; and which
    sources are negated.
    """

    destination: str = ""
    sources: tuple[str, ...] = ("", "", "")
    negated: tuple[bool, ...] = (False, False, False)


WHOLE = Selected()


def split(text: str) -> tuple[str, str, bool]:
    """Register, selector and sign of an operand such as ``-%r1.h0``."""
    found = re.fullmatch(r"(-?)([%$\w]+?)(?:\.([bh]\d+))?", text)
    if not found or found.group(2).isdigit():
        return text, "", False
    return found.group(2), found.group(3) or "", bool(found.group(1))


def build(opcode: str, types: tuple[str, ...], rest: tuple[str, ...], count: int, chosen: Selected = WHOLE) -> Pure:
    """The instruction; ``count`` is 2 or 3 source operands."""
    is_set = opcode.startswith("vset")
    names = ("u32", *types) if is_set else types
    operation = _simd if opcode in _SIMD else _multiply_add if opcode == "vmad" else _scalar
    function = operation(opcode, names, rest, chosen)
    return Pure(names[0], ("u32",) * (count or 3), function)


def _part(pattern: int, selector: str, name: str) -> int:
    bits = {"": 32, "b": 8, "h": 16}[selector[:1]]
    return value(name[0], bits, pattern >> (bits * int(selector[1:] or 0)))


def _scalar(opcode: str, types: tuple[str, ...], rest: tuple[str, ...], chosen: Selected) -> Callable[..., int]:
    to = types[0][0]
    second = "u32" if opcode in ("vshl", "vshr") else types[2]
    width = {"": 32, "b": 8, "h": 16}[chosen.destination[:1]]
    secondary = next((_SECONDARY[m] for m in rest if m in _SECONDARY), None)

    def run(a: int, b: int, c: int = 0) -> int:
        x, y = _part(a, chosen.sources[0], types[1]), _part(b, chosen.sources[1], second)
        out = _first(opcode, rest, x, y)
        if "sat" in rest:
            out = clamp(to, width, signed(out, 34))
        if secondary:
            return secondary(signed(out, 33), value(to, 32, c)) & mask(32)
        if not chosen.destination:
            return out & mask(32)
        at = width * int(chosen.destination[1:])
        return (c & ~(mask(width) << at)) | (out & mask(width)) << at

    return run


def _first(opcode: str, rest: tuple[str, ...], a: int, b: int) -> int:
    if opcode == "vset":
        relation = next(m for m in rest if m in _RELATIONS)
        return int(compare_integers(relation, a, b))
    if opcode in _PRIMARY:
        return _PRIMARY[opcode](a, b)
    b = b & 31 if "wrap" in rest else min(b, 32)
    return a << b if opcode == "vshl" else a >> b


def _multiply_add(opcode: str, types: tuple[str, ...], rest: tuple[str, ...], chosen: Selected) -> Callable[..., int]:
    minus_a, minus_b, minus_c = chosen.negated
    is_signed = "s" in (types[1][0], types[2][0]) or minus_a != minus_b or minus_c
    scale = 7 if "shr7" in rest else 15 if "shr15" in rest else 0

    def run(a: int, b: int, c: int) -> int:
        product = _part(a, chosen.sources[0], types[1]) * _part(b, chosen.sources[1], types[2])
        if minus_a != minus_b:
            product = -product
        addend = value("s" if is_signed else "u", 32, c) * (-1 if minus_c else 1)
        out = (product + addend + ("po" in rest)) >> scale
        return (clamp("s" if is_signed else "u", 32, out) if "sat" in rest else out) & mask(32)

    return run


def _simd(opcode: str, types: tuple[str, ...], rest: tuple[str, ...], chosen: Selected) -> Callable[..., int]:
    name, count = opcode[:-1], int(opcode[-1])
    bits = 32 // count
    written = [int(d) for d in chosen.destination[1:]] or list(range(count))

    def elements(a: int, b: int, source: int) -> list[int]:
        both = b << 32 | a
        digits = chosen.sources[source][1:]
        places = [int(d) for d in reversed(digits)] or [source * count + i for i in range(count)]
        return [value(types[1 + source][0], bits, both >> (bits * p)) for p in places]

    def run(a: int, b: int, c: int) -> int:
        results = [_first(name, rest, x, y) for x, y in zip(elements(a, b, 0), elements(a, b, 1), strict=True)]
        if "sat" in rest:
            results = [clamp(types[0][0], bits, t) for t in results]
        if "add" in rest:
            return (c + sum(results[i] for i in written)) & mask(32)
        for i in written:
            c = (c & ~(mask(bits) << (bits * i))) | (results[i] & mask(bits)) << (bits * i)
        return c

    return run
