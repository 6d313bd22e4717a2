"""Text of machine-code operands to operands of the IR; widths and numbers of floats follow from the slot (`lift`)."""

from __future__ import annotations

import functools
import re
import struct
from dataclasses import dataclass

from warpreg.ir.opcodes import Flow, traits_of
from warpreg.ir.opcodes.sass.asynchronous import BLOCK_COPIES
from warpreg.ir.operands import (
    Address,
    ConstantBank,
    Immediate,
    Label,
    ModifiedOperand,
    Not,
    Operand,
    Register,
    Special,
)
from warpreg.ir.types import B32, B64, PRED

KEPT = 1 << 16
"""Operands whose text is not parsed again; a kernel has a few hundred different ones."""

BRACKETS = re.compile(r"[\[({]")
REUSE = ".reuse"
ZERO = Immediate(0)
SIGNED = re.compile(r"(-?)(\|?)(~?)([^|]*?)(\|?)((?:\.[A-Z]\w*)*)$")
REGISTER = re.compile(r"(U?R)(\d+|Z)$")
PREDICATE = re.compile(r"(!?)(U?P)([0-9]|T)$")
BARRIER = re.compile(r"B(\d+)$")
INTEGER = re.compile(r"-?0x[0-9a-f]+$")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?(e[+-]?\d+)?|INF)$", re.IGNORECASE)
BANK = re.compile(r"c\[(0x[0-9a-f]+)\]\[(?:(U?R\w+)(?:\+(-?0x[0-9a-f]+))?|(-?0x[0-9a-f]+))\]$")
ADDRESS = re.compile(r"(?:desc\[(UR\d+)\])?\[([^\]]*)\]$")
LABEL = re.compile(r"`\(([^)]*)\)$")
BRACKETED = re.compile(r"(?:desc)?\[(UR\w+)\]")
JUMP_TABLE = re.compile(r"\(\*\"BRANCH_TARGETS ([^\"]*)\"\*\)")
NAN = re.compile(r"([+-]?)([QS])NAN$", re.IGNORECASE)
QUIET, SIGNALLING, SIGN = 0x7FF80000, 0x7FF40000, 1 << 31


@dataclass(frozen=True, slots=True)
class Text:
    """A word of an operand that names no register: ``2D``, ``SB5``, ``PR``, and the predicates ``PT`` and ``!PT``."""

    word: str


@dataclass(frozen=True, slots=True)
class Nan:
    """A NaN of any format, as the 32 bits that an instruction holds: a listing prints neither payload nor format, and
    the upper word of an infinite double is printed as one, too."""

    bits: int


Parsed = Operand | Text | Nan


def split(text: str) -> list[str]:
    """The operands of an instruction, divided at commas outside of brackets and braces."""
    if not BRACKETS.search(text):
        return [part.strip() for part in text.split(",")] if text else []
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    rest = text[start:].strip()
    return [*parts, rest] if rest or parts else []


def operand_texts(opcode: str, text: str) -> list[str]:
    """The operands of an instruction; jump tables are dropped, and a register is parted from the target behind it.  The
    registers of a copy of a block of memory stand without their brackets."""
    if opcode in BLOCK_COPIES:
        text = BRACKETED.sub(r"\1", text)
    if traits_of(opcode).flow is Flow.INDIRECT:
        text = JUMP_TABLE.sub("", text)
        text = re.sub(r"(U?R\d+)\s+(?=[-`0])", r"\1, ", text)
    return split(text)


@functools.lru_cache(maxsize=KEPT)
def parse(text: str, encoded: int | None = None) -> tuple[Parsed, bool]:
    """An operand, and whether it has ``.reuse``, one object for equal texts.  Registers have 32 bits, or 64 in an
    address with ``.64``; numbers with a fraction are ``f64`` constants.  ``encoded`` are the bits of a NaN, if they are
    known.  Raises ValueError for text of no known form.
    """
    reuse, plain = REUSE in text, text.replace(REUSE, "").replace("] [", "][").strip()
    if found := NAN.match(plain):
        default = (SIGN if found[1] == "-" else 0) | (QUIET if found[2].upper() == "Q" else SIGNALLING)
        return Nan(default if encoded is None else encoded), reuse
    return _parsed(plain), reuse


def _parsed(text: str) -> Parsed:
    simple = _simple(text)
    if simple is not None:
        return simple
    if match := ADDRESS.match(text):
        return _address(match)
    match = SIGNED.match(text)
    inner = _simple(match[4]) if match and match[4] != text else None
    if match and isinstance(inner, (Register, ConstantBank, Immediate)):
        return ModifiedOperand(inner, bool(match[1]), bool(match[2]), bool(match[3]), match[6][1:])
    if re.fullmatch(r"[\w.{},]+", text):
        return Text(text)
    raise ValueError(text)


def _simple(text: str) -> Parsed | None:
    """An operand without signs and parts; None for others."""
    if match := REGISTER.match(text):
        return ZERO if match[2] == "Z" else Register(text, B32, int(match[2]))
    if match := PREDICATE.match(text):
        return predicate(match[2], match[3], bool(match[1]))
    if INTEGER.match(text):
        return Immediate(int(text, 16))
    if NUMBER.match(text):
        return Immediate(_bits(float(text)), "f64")
    if match := BANK.match(text):
        return _bank(match)
    if match := LABEL.match(text):
        return Label(match[1])
    if match := BARRIER.match(text):
        return Register(text, B32, int(match[1]))
    return Special(text) if text.startswith("SR") else None


def predicate(prefix: str, number: str, negated: bool) -> Register | Not | Text:
    """A predicate or its negation; the constants as `Text` of ``PT`` or ``!PT``."""
    if number == "T":
        return Text("!PT" if negated else "PT")
    register = Register(f"{prefix}{number}", PRED, int(number))
    return Not(register) if negated else register


def _bank(found: re.Match[str]) -> ConstantBank:
    index = _simple(found[2]) if found[2] else None
    offset = int(found[3] or found[4] or "0", 16)
    return ConstantBank(int(found[1], 16), offset, B32, index=index if isinstance(index, Register) else None)


def _address(match: re.Match[str]) -> Address:
    """``desc[UR4][R2.64+UR6+-0x8]``: an ordinary register, a uniform one and a number, each of which may be absent."""
    base: Register | Immediate = ZERO
    uniform, offset, scale = None, 0, 1
    for term in match[2].replace("+-", "+ -").split("+"):
        name, _, part = term.strip().partition(".")
        wide = B64 if "64" in part.split(".") else B32
        operand = _simple(name)
        if isinstance(operand, Register) and operand.name.startswith("U"):
            uniform = Register(name, wide, operand.index)
        elif isinstance(operand, Register):
            base = Register(name, wide, operand.index)
            scale = next((int(one[1:]) for one in part.split(".") if one.startswith("X")), 1)
        elif isinstance(operand, Immediate):
            offset += operand.value
        elif name:
            raise ValueError(match[0])
    descriptor = Register(match[1], B64, int(match[1][2:])) if match[1] else None
    return Address(base, offset, uniform, scale, descriptor)


def _bits(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])
