"""Strict parser of one line of a trace, for lines that the scanner does not recognize and for error messages.

    [line] PC mask results [Rn] OPCODE.MODIFIERS sources [Rn ...] width [mode addresses] [immediate]

PC, mask (8 digits) and addresses are hexadecimal, counts decimal.  A ``width`` of 0 is an instruction without
addresses.  Address modes: 0, an address for each active lane; 1, the address of the first active lane and the stride
between lanes; 2, the same address and the distance of each further active lane from the previous one.  Tracer version 3
writes no immediate.  Text after the immediate (values of registers, tracer version 6) is skipped, and so is text after
the width of a uniform instruction and after the sources of a product by a group of warps (``HGMMA``), which Accel-Sim
2.0 writes.  It also names predicates and uniform registers, which are not kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from warpreg.sass.errors import SassTraceError
from warpreg.sass.isa.opcodes import find
from warpreg.sass.isa.widths import EXPLICIT

LANES = 32
ZERO_REGISTER = 255
MAX_OPERANDS = 9
TWO_RESULTS_SINCE = 70
"""The binary version since which texture fetches have two destinations."""
LISTED, STRIDED, DELTAS = 0, 1, 2

HEXADECIMAL = re.compile(r"(0x)?[0-9a-f]{1,16}")
DECIMAL = re.compile(r"-?[0-9]{1,19}")
REGISTER = re.compile(r"(U?[RP])([0-9]{1,3})")
OPCODE = re.compile(r"[A-Z][A-Z0-9_]*(\.[A-Za-z0-9_]+)*")


@dataclass(frozen=True, slots=True)
class TraceLine:
    """A parsed line."""

    pc: int
    mask: int
    results: tuple[int, ...]
    """Registers; 255 is the zero register."""
    opcode: str
    modifiers: tuple[str, ...]
    sources: tuple[int, ...]
    """Registers likewise."""
    width: int
    """Bytes of an access, 0 without one."""
    addresses: tuple[int, ...]
    """Those of the active lanes, lowest first; empty if ``width`` is 0."""
    immediate: int = 0
    source_line: int = 0
    """0 without line information."""


class _Tokens:
    """The words of a line, read one by one; each error states what was expected."""

    def __init__(self, text: str) -> None:
        self._words = text.split()
        self._at = 0

    def left(self) -> int:
        return len(self._words) - self._at

    def next(self, what: str, pattern: re.Pattern[str]) -> str:
        word = self._words[self._at] if self.left() else ""
        if not pattern.fullmatch(word):
            place = f"'{word}'" if word else "the end of the line"
            raise SassTraceError(f"expected {what}, found {place}")
        self._at += 1
        return word

    def hexadecimal(self, what: str, bits: int) -> int:
        number = int(self.next(what, HEXADECIMAL), 16)
        if number >> bits:
            raise SassTraceError(f"expected {what} of at most {bits} bits, found '{self._words[self._at - 1]}'")
        return number

    def decimal(self, what: str, least: int = -(1 << 63), most: int = (1 << 64) - 1) -> int:
        number = int(self.next(what, DECIMAL))
        if not least <= number <= most:
            raise SassTraceError(f"expected {what} from {least} to {most}, found {number}")
        return number

    def registers(self, what: str) -> tuple[int, ...]:
        count = self.decimal(f"the number of {what} registers", 0, MAX_OPERANDS)
        return tuple(number for number in (self._register(what) for _ in range(count)) if number is not None)

    def _register(self, what: str) -> int | None:
        """The number of an ordinary register; None for a predicate or a uniform register."""
        text = self.next(f"a {what} register (R0 to R255)", REGISTER)
        if not text.startswith("R"):
            return None
        if int(text[1:]) > ZERO_REGISTER:
            raise SassTraceError(f"expected a {what} register (R0 to R255), found '{text}'")
        return int(text[1:])


def parse_line(text: str, has_source_line: bool = False) -> TraceLine:
    """Parse an instruction's line.  Raises SassTraceError, without the location, for a malformed line."""
    tokens = _Tokens(text)
    source_line = tokens.decimal("a line number", 0, (1 << 31) - 1) if has_source_line else 0
    pc = tokens.hexadecimal("a program counter in hexadecimal", 32)
    mask = tokens.hexadecimal("a mask of 32 lanes in hexadecimal", 32)
    results = tokens.registers("destination")
    opcode, *modifiers = tokens.next("an opcode", OPCODE).split(".")
    sources = tokens.registers("source")
    width = tokens.decimal("the width of the memory access in bytes", 0, 1 << 20)
    if opcode.startswith("U") or opcode.endswith("GMMA"):
        return TraceLine(pc, mask, results, opcode, tuple(modifiers), sources, 0, (), 0, source_line)
    addresses = _addresses(tokens, mask) if width else ()
    immediate = tokens.decimal("an immediate") if tokens.left() else 0
    return TraceLine(pc, mask, results, opcode, tuple(modifiers), sources, width, addresses, immediate, source_line)


def _addresses(tokens: _Tokens, mask: int) -> tuple[int, ...]:
    lanes = [lane for lane in range(LANES) if mask >> lane & 1]
    mode = tokens.decimal("the mode of the addresses (0, 1 or 2)", LISTED, DELTAS)
    if mode == LISTED:
        return tuple(tokens.hexadecimal("the address of a lane", 64) for _ in lanes)
    base = tokens.hexadecimal("the address of the first lane", 64)
    if mode == STRIDED:
        stride = tokens.decimal("the distance from lane to lane", -(1 << 31), (1 << 32) - 1)
        return tuple((base + (lane - lanes[0]) * stride) % (1 << 64) for lane in lanes)
    found = [base]
    for _ in lanes[1:]:
        found.append((found[-1] + tokens.decimal("the distance from the lane before")) % (1 << 64))
    return tuple(found) if lanes else ()


def written(line: TraceLine, binary_version: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Registers that a line's instruction writes and reads.

    A tracer records the first operand, if it is a register, as the only result.  Therefore a result after a predicate
    and a second result are among the sources, and a branch appears to write the register that it reads.  Lines with a
    width modifier, which `warpreg.sass.export` writes, are exact.
    """
    row = find(line.opcode)
    if row.reads_all:
        return (), (*line.results, *line.sources)
    is_ours = any(EXPLICIT.fullmatch(modifier) for modifier in line.modifiers)
    behind_predicate = row.predicate_first and not line.results
    second = row.two_results and binary_version >= TWO_RESULTS_SINCE
    if is_ours or not line.sources or not (behind_predicate or second):
        return line.results, line.sources
    return (*line.results, line.sources[0]), line.sources[1:]
