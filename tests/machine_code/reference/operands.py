"""Operands of a listing by their text."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, replace

REGISTER = re.compile(r"(U?)R(\d+|Z)((?:\.\w+)*)")
PREDICATE = re.compile(r"(U?)P(\d|T)")
CONSTANT = re.compile(r"c\[0x(\w+)\]\[(.*)\]((?:\.\w+)*)")
ADDRESS = re.compile(r"(?:desc\[\w+\])?\[(.*)\]")
INTEGER = re.compile(r"[-+]?0x[0-9a-f]+")
NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|INF|QNAN|SNAN)")
ZERO, UNIFORM_ZERO, TRUE = 255, 63, 7


@dataclass(frozen=True)
class Operand:
    """``kind``: ``register``, ``predicate``, ``constant``, ``address``, ``integer``, ``number``, or ``name``.

    ``number`` is the index of a register, or an integer; ``terms`` are the registers that an address sums, with its
    ``offset``.  ``negated`` is a minus sign, ``inverted`` ``~`` or ``!``.
    """

    kind: str
    text: str
    number: int = 0
    uniform: bool = False
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    parts: tuple[str, ...] = ()
    bank: int = 0
    offset: int = 0
    terms: tuple[Operand, ...] = ()

    def is_zero_register(self) -> bool:
        return self.kind == "register" and self.number == (UNIFORM_ZERO if self.uniform else ZERO)


def operand(text: str, immediate: int = 0) -> Operand:
    """An operand; ``immediate`` is the field of the encoding for a NaN, whose bits the text does not tell."""
    plain = text.replace(".reuse", "").replace("] [", "][").strip()
    if plain.startswith("`("):
        return Operand("name", plain[2:-1])
    if match := INTEGER.fullmatch(plain):
        return Operand("integer", text, int(match[0], 16))
    if NUMBER.fullmatch(plain):
        return Operand("number", plain, immediate)
    negated, inverted = plain.startswith("-"), plain[:1] in ("~", "!")
    inner = plain[1:] if negated or inverted else plain
    found = _plain(inner.replace("|", ""), text)
    return replace(found, negated=negated, absolute=inner.startswith("|"), inverted=inverted)


def _plain(inner: str, text: str) -> Operand:
    """An operand without signs."""
    if match := REGISTER.fullmatch(inner):
        last = UNIFORM_ZERO if match[1] else ZERO
        number = last if match[2] == "Z" else int(match[2])
        return Operand("register", text, number, bool(match[1]), parts=_parts(match[3]))
    if match := PREDICATE.fullmatch(inner):
        return Operand("predicate", text, TRUE if match[2] == "T" else int(match[2]), bool(match[1]))
    if match := CONSTANT.fullmatch(inner):
        terms, offset = _sum(match[2])
        return Operand("constant", text, bank=int(match[1], 16), terms=terms, offset=offset, parts=_parts(match[3]))
    if match := ADDRESS.fullmatch(inner):
        terms, offset = _sum(match[1])
        return Operand("address", text, terms=terms, offset=offset)
    return Operand("name", inner)


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(".") if part)


def _sum(text: str) -> tuple[tuple[Operand, ...], int]:
    """Registers and offset of ``R2.X4+UR5+-0x10``."""
    terms, offset = [], 0
    for part in text.split("+"):
        if INTEGER.fullmatch(part):
            offset += int(part, 16)
        else:
            terms.append(operand(part))
    return tuple(terms), offset


def single_bits(one: Operand) -> int:
    """The pattern of a number in single precision."""
    return _bits(one, "<f", "<I", 0)


def double_bits(one: Operand) -> int:
    """The pattern of a number in double precision, whose lower half is zero in an instruction."""
    return _bits(one, "<d", "<Q", 32)


def _bits(one: Operand, number: str, word: str, shift: int) -> int:
    if "NAN" in one.text:
        return one.number << shift
    return int(struct.unpack(word, struct.pack(number, float(one.text)))[0])
