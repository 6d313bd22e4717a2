"""Operands of an instruction in their general form (PTX ISA, sections 6.2 to 6.4 and 9.7.12 for calls)."""

from __future__ import annotations

import itertools
import re

from warpreg.ir.operands import (
    Address,
    AddressTuple,
    Arguments,
    Label,
    Not,
    Operand,
    Pair,
    Part,
    Register,
    Sink,
    Special,
    Symbol,
    Vector,
)
from warpreg.ptx.diagnostics import MalformedError, Reporter
from warpreg.ptx.literals import MAX_DEPTH, constant, starts_constant
from warpreg.ptx.names import Names
from warpreg.ptx.tokens import Cursor

_SINK = Sink()
SUMMED = (16, 32, 64)
"""Bits of registers that ``x + 1`` may name."""
_SELECTORS = re.compile(r"b[0-7]{1,4}|h[0-3]{1,2}")


class OperandReader:
    """Reads operands at a cursor; names resolve in ``names``, unknown ones are reported or recorded as labels."""

    def __init__(self, cursor: Cursor, names: Names, reporter: Reporter) -> None:
        self._cursor = cursor
        self._names = names
        self._reporter = reporter
        self.sums: list[tuple[Register, int, Register]] = []
        """Sums of a register and a constant in operands: register, constant, and register of the sum."""

    def operands(self, opcode: str) -> tuple[Operand, ...]:
        """The comma-separated operands of an instruction; the cursor stops at the token after them."""
        if opcode == "call":
            return self._call()
        operands: list[Operand] = []
        while True:
            is_target = opcode == "bra" or (opcode == "brx" and len(operands) == 1)
            operands.append(self._target() if is_target and self._cursor.kind == "name" else self.operand())
            if not self._cursor.take(","):
                return tuple(operands)

    def operand(self, depth: int = 0) -> Operand:
        """One operand.  Raises MalformedError."""
        first = self._simple(depth)
        if self._cursor.text == "|" and self._cursor.kind == "mark":
            self._cursor.advance()
            return Pair(first, self._simple(depth))
        return first

    def _simple(self, depth: int) -> Operand:
        cursor = self._cursor
        if depth > MAX_DEPTH:
            raise MalformedError(cursor.start, f"operand nested more than {MAX_DEPTH} deep")
        if cursor.kind == "name" and cursor.text != "WARP_SZ":
            return self._named(depth=depth)
        if cursor.kind == "sink":
            cursor.advance()
            return _SINK
        if cursor.text == "{":
            return Vector(self._list("{", "}", depth))
        if cursor.text == "[":
            return self._address(depth)
        if cursor.text == "!":
            return self._negated()
        if cursor.text == "-" and cursor.next_is_name():
            return self._negative()
        if starts_constant(cursor):
            return constant(cursor)
        raise MalformedError(cursor.start, f"expected an operand, found {cursor.found}")

    def _list(self, opening: str, closing: str, depth: int) -> tuple[Operand, ...]:
        cursor = self._cursor
        cursor.expect(opening, "before a list")
        elements = [self.operand(depth + 1)]
        while cursor.take(","):
            elements.append(self.operand(depth + 1))
        cursor.expect(closing, "to close the list")
        return tuple(elements)

    def _negated(self) -> Operand:
        cursor = self._cursor
        cursor.advance()
        start = cursor.start
        if cursor.kind != "name":
            cursor.jump(start - 1)
            return constant(cursor)
        operand = self._named()
        if isinstance(operand, Register):
            return Not(operand)
        if isinstance(operand, Label):
            return operand
        raise MalformedError(start, f"'!' takes a predicate, found '{operand}'")

    def _negative(self) -> Operand:
        cursor = self._cursor
        cursor.advance()
        start = cursor.start
        operand = self._named()
        if isinstance(operand, Register):
            return Part(operand, negated=True)
        if isinstance(operand, Part):
            return Part(operand.register, operand.selector, negated=True)
        if isinstance(operand, Label):
            return operand
        raise MalformedError(start, f"'-' takes a register, found '{operand}'")

    def _named(self, kind: str = "name", depth: int = 1) -> Operand:
        cursor = self._cursor
        start, name = cursor.start, self._whole_name()
        operand = self._names.resolve(name)
        if operand is None:
            return self._part(name) or self._unknown(name, start, kind)
        if isinstance(operand, Symbol) and cursor.text in ("+", "-"):
            return Symbol(operand.name, self._offset())
        if isinstance(operand, Register) and depth == 0 and cursor.text == "+":
            return self._sum(operand, start)
        return operand

    def _sum(self, register: Register, start: int) -> Register:
        """``x + 1``: a new register, which the reader of the statement fills before the instruction."""
        if not register.type.is_integer or register.type.bits not in SUMMED:
            raise MalformedError(start, f"'{register}' cannot be added to")
        number = next(n for n in itertools.count() if self._names.resolve(f"%sum${n}") is None)
        result = Register(f"%sum${number}", register.type)
        self._names.declare_register(result.type, result.name, None)
        self.sums.append((register, self._offset(), result))
        return result

    def _part(self, name: str) -> Part | None:
        base, _, selector = name.partition(".")
        register = self._names.resolve(base) if _SELECTORS.fullmatch(selector) else None
        return Part(register, selector) if isinstance(register, Register) else None

    def _whole_name(self) -> str:
        cursor = self._cursor
        name = cursor.name("a name")
        if cursor.kind == "dot" and cursor.start == cursor.previous_end:
            name += cursor.text
            cursor.advance()
        return name

    def _unknown(self, name: str, start: int, kind: str) -> Operand:
        if "." in name or name.startswith("%"):
            self._names.undeclared_register(name, start, self._reporter)
        else:
            self._names.refer(name, start, kind)
        return Label(name)

    def _target(self) -> Label:
        start, name = self._cursor.start, self._cursor.name("a label")
        self._names.refer(name, start, "label")
        return Label(name)

    def _offset(self) -> int:
        total, cursor = 0, self._cursor
        while cursor.text in ("+", "-") and cursor.kind == "mark":
            sign, start = (1 if cursor.text == "+" else -1), cursor.start
            cursor.advance()
            term = constant(cursor, lowest=10)
            if term.form != "int":
                raise MalformedError(start, "an address offset is an integer")
            total += sign * term.value
        return total

    def _address(self, depth: int) -> Operand:
        cursor = self._cursor
        cursor.expect("[", "before an address")
        first = self._location()
        others = []
        while cursor.take(","):
            others.append(self.operand(depth + 1))
        cursor.expect("]", "to close the address")
        if not others:
            return first
        return AddressTuple((first if first.offset else first.base, *others))

    def _location(self) -> Address:
        cursor = self._cursor
        start = cursor.start
        if starts_constant(cursor) or cursor.text == "WARP_SZ":
            value = constant(cursor)
            if value.form != "int":
                raise MalformedError(start, "an address is an integer")
            return Address(value)
        name = self._whole_name() if cursor.kind == "name" else cursor.name("an address")
        base = self._names.resolve(name)
        if base is None:
            self._unknown(name, start, "variable")
            base = Symbol(name)
        if isinstance(base, (Special, Vector)):
            raise MalformedError(start, f"'{name}' cannot be an address")
        return Address(base, self._offset())

    def _call(self) -> tuple[Operand, ...]:
        cursor = self._cursor
        operands: list[Operand] = []
        if cursor.text == "(":
            operands.append(self._arguments())
            cursor.expect(",", "after the return parameters of a call")
        start = cursor.start
        target = self._named("function") if cursor.kind == "name" else None
        if not isinstance(target, (Register, Symbol, Label)):
            raise MalformedError(start, f"expected a function or a register to call, found {cursor.found}")
        operands.append(target)
        while cursor.take(","):
            if cursor.text == "(":
                operands.append(self._arguments())
            else:
                known = self._names.resolve(cursor.text)
                operands.append(self._named() if isinstance(known, Symbol) else self._target())
        return tuple(operands)

    def _arguments(self) -> Arguments:
        cursor = self._cursor
        opening = cursor.start
        cursor.advance()
        if cursor.take(")"):
            return Arguments(())
        cursor.jump(opening)
        return Arguments(self._list("(", ")", 0))
