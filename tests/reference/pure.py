"""Instructions whose result depends only on their operands: ``lookup`` returns the types and the function of one."""

from __future__ import annotations

from tests.reference import comparison, conversion, integers, narrow, packed, pure_integers, video
from tests.reference.instruction import COMBINE, Pure, is_type, kind_and_bits, ordered
from tests.reference.number import mask
from tests.reference.pure_floats import FLOAT, mixed


def lookup(opcode: str, modifiers: tuple[str, ...], count: int = 0) -> Pure | None:
    """The instruction with ``count`` source operands, or None if it is not a pure one."""
    if opcode not in video.OPCODES:
        modifiers = ordered(modifiers)
    types = tuple(m for m in modifiers if is_type(m))
    rest = tuple(m for m in modifiers if not is_type(m))
    if opcode in _CARRY and ("cc" in rest or opcode.endswith("c")):
        return _carry(opcode, types[0], rest)
    if opcode in video.OPCODES:
        return video.build(opcode, types, rest, count)
    if opcode == "cvt":
        return narrow.narrow(modifiers) or conversion.build(types, rest)
    if opcode in comparison.BUILDERS:
        return comparison.BUILDERS[opcode](types, rest, count)
    if types and types[-1].endswith("x2"):
        one = lookup(opcode, (*rest, types[-1].removesuffix("x2")), count)
        return packed.lifted(one, types[-1]) if one else None
    if types and kind_and_bits(types[-1])[0] == "f" and opcode in FLOAT:
        if len(types) == 2:
            return mixed(opcode, types[1], rest)
        return FLOAT[opcode](types, rest, count)
    if opcode not in pure_integers.BUILDERS:
        return None
    return pure_integers.BUILDERS[opcode](types, rest, count)


def _carry(opcode: str, name: str, rest: tuple[str, ...]) -> Pure:
    _, bits = kind_and_bits(name)
    kind = name[0]

    def run(*operands: int) -> tuple[int, int]:
        *values, carry = operands
        carry = carry if opcode.endswith("c") else 0
        if opcode.startswith("sub"):
            total = values[0] + (~values[1] & mask(bits)) + (carry if opcode == "subc" else 1)
        elif opcode.startswith("add"):
            total = values[0] + values[1] + carry
        else:
            product = integers.value(kind, bits, values[0]) * integers.value(kind, bits, values[1])
            total = ((product >> bits if "hi" in rest else product) & mask(bits)) + values[2] + carry
        return total & mask(bits), int(total > mask(bits))

    return Pure(name, (name,) * (3 if opcode.startswith("mad") else 2), run, True, "cc" in rest)


_CARRY = ("add", "sub", "mad", "addc", "subc", "madc")

__all__ = ["COMBINE", "Pure", "is_type", "kind_and_bits", "lookup"]
