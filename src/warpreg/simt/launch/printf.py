"""Formatted output of a kernel's ``printf`` (CUDA C++ Programming Guide, "Formatted Output").

The compiler packs the arguments of ``printf`` into memory in order, each aligned to its size: 4 bytes for ``int`` and
narrower types, 8 for ``long``, ``long long``, ``double`` and pointers.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

DIRECTIVE = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    r"(?P<length>hh|h|ll|l|L|j|z|t)?(?P<conversion>[diuoxXcsfFeEgGaAp%])"
)
MAX_ARGUMENTS = 32
"""The most arguments of CUDA's ``printf``."""
WIDEST = 1 << 16
"""Limit of one field in characters; a wider one is truncated."""
LONG = frozenset({"l", "ll", "L", "j", "z", "t"})

Words = Callable[[int, int], bytes]
"""Reads bytes of the packed arguments: (offset, size)."""


@dataclass
class Arguments:
    """Iterates over the packed arguments; ``taken`` counts them."""

    words: Words
    offset: int = 0
    taken: int = 0

    def integer(self, size: int, *, signed: bool = False) -> int:
        """The next argument of ``size`` bytes (4 or 8)."""
        at = -(-self.offset // size) * size
        self.offset, self.taken = at + size, self.taken + 1
        return int.from_bytes(self.words(at, size), "little", signed=signed)

    def real(self) -> float:
        """The next argument as a double."""
        return float(struct.unpack("<d", self.integer(8).to_bytes(8, "little"))[0])


def formatted(template: str, words: Words, text_at: Callable[[int], str]) -> tuple[str, int]:
    """The output of ``printf``, and the number of arguments that it consumes.

    ``text_at`` returns the string at an address.  An unknown directive is printed unchanged.
    """
    arguments = Arguments(words)

    def one(match: re.Match[str]) -> str:
        if match["conversion"] == "%":
            return "%"
        if arguments.taken >= MAX_ARGUMENTS:
            return match[0]
        return _field(match, arguments, text_at)

    return DIRECTIVE.sub(one, template), arguments.taken


def _field(match: re.Match[str], arguments: Arguments, text_at: Callable[[int], str]) -> str:
    flags, length, conversion = match["flags"], match["length"] or "", match["conversion"]
    width = arguments.integer(4, signed=True) if match["width"] == "*" else int(match["width"] or 0)
    if width < 0:
        flags, width = flags + "-", -width
    precision: int | None = None
    if match["precision"] is not None:
        text = match["precision"]
        precision = arguments.integer(4, signed=True) if text == "*" else int(text or 0)
        precision = None if precision < 0 else min(precision, WIDEST)
    sign, digits = _converted(conversion, length, flags, precision, arguments, text_at)
    return _padded(sign, digits, flags, min(width, WIDEST), conversion, precision)


def _converted(
    conversion: str,
    length: str,
    flags: str,
    precision: int | None,
    arguments: Arguments,
    text_at: Callable[[int], str],
) -> tuple[str, str]:
    """Sign or prefix, and digits, of one conversion."""
    if conversion == "c":
        return "", chr(arguments.integer(4) & 0xFF)
    if conversion == "s":
        address = arguments.integer(8)
        text = text_at(address) if address else "(null)"
        return "", text if precision is None else text[:precision]
    if conversion == "p":
        address = arguments.integer(8)
        return ("0x", f"{address:x}") if address else ("", "(nil)")
    if conversion in "fFeEgGaA":
        return _real(arguments.real(), conversion, flags, 6 if precision is None else precision, precision is None)
    return _integer(conversion, length, flags, precision, arguments)


def _integer(conversion: str, length: str, flags: str, precision: int | None, arguments: Arguments) -> tuple[str, str]:
    signed = conversion in "di"
    number = arguments.integer(8 if length in LONG else 4, signed=signed)
    bits = {"hh": 8, "h": 16}.get(length)
    if bits:
        number %= 1 << bits
        number -= (1 << bits) if signed and number >> (bits - 1) else 0
    base = {"o": "o", "x": "x", "X": "X"}.get(conversion, "d")
    digits = format(abs(number), base)
    if precision is not None:
        digits = "" if precision == 0 and number == 0 else digits.rjust(precision, "0")
    prefix = _sign(number < 0, flags) if signed else ""
    if "#" in flags and number and base in "xX":
        prefix = "0" + base
    elif "#" in flags and base == "o" and not digits.startswith("0"):
        digits = "0" + digits
    return prefix, digits


def _sign(negative: bool, flags: str) -> str:
    if negative:
        return "-"
    return "+" if "+" in flags else " " if " " in flags else ""


def _real(number: float, conversion: str, flags: str, precision: int, is_default: bool) -> tuple[str, str]:
    sign = _sign(struct.pack(">d", number)[0] >= 0x80, flags)
    size, upper = abs(number), conversion.isupper()
    if size != size or size == float("inf"):
        text = "nan" if size != size else "inf"
    elif conversion in "aA":
        text = _hexadecimal(size, None if is_default else precision)
    else:
        alternate = "#" if "#" in flags else ""
        text = f"{size:{alternate}.{precision}{conversion.lower()}}"
    return sign, text.upper() if upper else text


def _hexadecimal(size: float, precision: int | None) -> str:
    """``%a`` of a number that is not negative: one digit before the point, 1 unless the number is subnormal or 0."""
    bits = int.from_bytes(struct.pack(">d", size), "big")
    exponent, fraction, lead = bits >> 52, bits & ((1 << 52) - 1), 1 if bits >> 52 else 0
    power = (exponent - 1023 if exponent else -1022) if bits else 0
    if precision is not None and precision < 13:
        dropped = 4 * (13 - precision)
        whole = (lead << 52) | fraction
        half, rest = 1 << (dropped - 1), whole & ((1 << dropped) - 1)
        whole >>= dropped
        whole += 1 if rest > half or (rest == half and whole & 1) else 0
        lead, digits = whole >> (4 * precision), f"{whole & ((1 << 4 * precision) - 1):0{precision}x}"
        digits = digits if precision else ""
    else:
        digits = f"{fraction:013x}"
        digits = digits.rstrip("0") if precision is None else digits.ljust(precision, "0")
    return f"0x{lead}{'.' + digits if digits else ''}p{power:+d}"


def _padded(sign: str, digits: str, flags: str, width: int, conversion: str, precision: int | None) -> str:
    missing = width - len(sign) - len(digits)
    if missing <= 0:
        return sign + digits
    if "-" in flags:
        return sign + digits + " " * missing
    is_number = precision is None if conversion in "diuoxX" else conversion in "fFeEgGaA" and digits[0] not in "niNI"
    if "0" in flags and is_number:
        if digits[:2] in ("0x", "0X"):
            return sign + digits[:2] + "0" * missing + digits[2:]
        return sign + "0" * missing + digits
    return " " * missing + sign + digits
