"""Constants and constant expressions of PTX (PTX ISA, section 4.5)."""

from __future__ import annotations

import operator
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

from warpreg.ir.operands import Immediate
from warpreg.ptx.diagnostics import MalformedError
from warpreg.ptx.tokens import Cursor

WARP_SIZE = 32
MAX_DEPTH = 64
"""Deepest supported nesting of parentheses, braces of an initialiser, or scopes."""

_HEX_FLOAT = re.compile(r"0([fF])([0-9a-fA-F]{8})|0([dD])([0-9a-fA-F]{16})")
_INTEGER = re.compile(r"(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|(0[0-7]*)|([1-9][0-9]*))(U?)", re.ASCII)
_DECIMAL_FLOAT = re.compile(r"\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+", re.ASCII)
_MAX_DIGITS = 80


def literal(text: str) -> Immediate | None:
    """The constant of a number token, or None if it is not a number.

    Decimal floats have form ``f64``, as in PTX; an integer keeps its written value.
    """
    match = _INTEGER.fullmatch(text)
    if match and len(text) <= _MAX_DIGITS:
        hexadecimal, binary, octal, decimal, _ = match.groups()
        if decimal:
            return Immediate(int(decimal))
        return Immediate(int(hexadecimal, 16) if hexadecimal else int(binary, 2) if binary else int(octal, 8))
    match = _HEX_FLOAT.fullmatch(text)
    if match:
        return Immediate(int(match[2], 16), "f32") if match[1] else Immediate(int(match[4], 16), "f64")
    if _DECIMAL_FLOAT.fullmatch(text):
        return float_immediate(float(text))
    return None


def float_immediate(value: float) -> Immediate:
    """A 64-bit float constant."""
    return Immediate(struct.unpack("<Q", struct.pack("<d", value))[0], "f64")


def negated(constant: Immediate) -> Immediate:
    """The constant with its sign flipped."""
    if constant.form == "int":
        return Immediate(-constant.value)
    return Immediate(constant.value ^ (1 << (31 if constant.form == "f32" else 63)), constant.form)


@dataclass(frozen=True, slots=True)
class _Operator:
    precedence: int
    integers: Callable[[int, int], int]


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _shift_left(a: int, b: int) -> int:
    return a << b if 0 <= b < 64 else 0


def _shift_right(a: int, b: int) -> int:
    return a >> min(b, 64) if b >= 0 else 0


_BINARY = {
    "||": _Operator(1, lambda a, b: int(bool(a) or bool(b))),
    "&&": _Operator(2, lambda a, b: int(bool(a) and bool(b))),
    "|": _Operator(3, operator.or_),
    "^": _Operator(4, operator.xor),
    "&": _Operator(5, operator.and_),
    "==": _Operator(6, lambda a, b: int(a == b)),
    "!=": _Operator(6, lambda a, b: int(a != b)),
    "<": _Operator(7, lambda a, b: int(a < b)),
    "<=": _Operator(7, lambda a, b: int(a <= b)),
    ">": _Operator(7, lambda a, b: int(a > b)),
    ">=": _Operator(7, lambda a, b: int(a >= b)),
    "<<": _Operator(8, _shift_left),
    ">>": _Operator(8, _shift_right),
    "+": _Operator(9, operator.add),
    "-": _Operator(9, operator.sub),
    "*": _Operator(10, operator.mul),
    "/": _Operator(10, _divide),
    "%": _Operator(10, lambda a, b: a - b * _divide(a, b)),
}
_FLOAT_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_LIMIT = 1 << 128


def starts_constant(cursor: Cursor) -> bool:
    """Whether the token can begin a constant expression."""
    return cursor.kind == "number" or cursor.text in ("-", "+", "~", "(", "WARP_SZ") or cursor.text == "!"


def constant(cursor: Cursor, depth: int = 0, lowest: int = 1) -> Immediate:
    """Read and fold a constant expression.  Raises MalformedError.

    Integers fold exactly (PTX folds in 64 bits; a consumer truncates to its type), floats in 64 bits.
    """
    left = _unary(cursor, depth)
    while True:
        operator = _BINARY.get(cursor.text) if cursor.kind == "mark" else None
        if operator is None or operator.precedence < lowest:
            break
        mark, start = cursor.text, cursor.start
        cursor.advance()
        right = constant(cursor, depth + 1, operator.precedence + 1)
        left = _combine(mark, operator, left, right, start)
    if lowest == 1 and cursor.text == "?":
        cursor.advance()
        first = constant(cursor, depth + 1)
        cursor.expect(":", "in a conditional expression")
        second = constant(cursor, depth + 1)
        left = first if left.value else second
    return left


def integer(cursor: Cursor, what: str) -> int:
    """Read a constant integer expression.  Raises MalformedError if it is a float or missing."""
    start = cursor.start
    if not starts_constant(cursor):
        raise MalformedError(start, f"expected {what}, found {cursor.found}")
    found = constant(cursor)
    if found.form != "int":
        raise MalformedError(start, f"expected {what}, found a floating-point constant")
    return found.value


def _combine(mark: str, found: _Operator, left: Immediate, right: Immediate, start: int) -> Immediate:
    if left.form == "int" and right.form == "int":
        if mark in "/%" and right.value == 0:
            raise MalformedError(start, "division by zero in a constant expression")
        value = found.integers(left.value, right.value)
        if not -_LIMIT < value < _LIMIT:
            raise MalformedError(start, "constant expression does not fit in 64 bits")
        return Immediate(value)
    if mark not in _FLOAT_OPERATORS:
        raise MalformedError(start, f"operator '{mark}' does not take floating-point constants")
    a, b = left.as_float, right.as_float
    if mark == "/" and b == 0:
        raise MalformedError(start, "division by zero in a constant expression")
    return float_immediate(_FLOAT_OPERATORS[mark](a, b))


def _unary(cursor: Cursor, depth: int) -> Immediate:
    if depth > MAX_DEPTH:
        raise MalformedError(cursor.start, f"constant expression nested more than {MAX_DEPTH} deep")
    start, text = cursor.start, cursor.text
    if cursor.kind == "number":
        found = literal(text)
        if found is None:
            raise MalformedError(start, f"bad literal '{text}'")
        cursor.advance()
        return found
    if text == "WARP_SZ":
        cursor.advance()
        return Immediate(WARP_SIZE)
    if text in ("-", "+", "~", "!"):
        cursor.advance()
        value = _unary(cursor, depth + 1)
        if text == "-":
            return negated(value)
        if text == "+":
            return value
        if value.form != "int":
            raise MalformedError(start, f"operator '{text}' does not take floating-point constants")
        return Immediate(~value.value if text == "~" else int(not value.value))
    if text == "(":
        cursor.advance()
        if cursor.kind == "dot" and cursor.text in (".s64", ".u64"):
            cursor.advance()
            cursor.expect(")", "after the type of a cast")
            return _unary(cursor, depth + 1)
        value = constant(cursor, depth + 1)
        cursor.expect(")", "to close the expression")
        return value
    raise MalformedError(start, f"expected a constant, found {cursor.found}")
