"""Declarations: registers, variables, parameters and initialisers (PTX ISA, sections 5.1 to 5.4)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from warpreg.ir.module import AddressByte, GenericAddress, Initializer, Property, RegisterDeclaration, Variable
from warpreg.ir.operands import Immediate, Symbol
from warpreg.ir.types import TYPES, Type
from warpreg.ptx.diagnostics import MalformedError
from warpreg.ptx.literals import MAX_DEPTH, constant, integer, literal
from warpreg.ptx.names import COMPONENT_NAMES, Names
from warpreg.ptx.source import Source
from warpreg.ptx.tokens import Cursor

SPACES = frozenset({".sreg", ".const", ".global", ".local", ".param", ".shared", ".tex"})
VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}
MAX_REGISTERS = 1 << 24
MAX_BYTES = 1 << 48
"""Maximum size of a variable in bytes."""
MAX_ALIGNMENT = 1 << 20
_POINTER_SPACES = frozenset({".const", ".global", ".local", ".shared", ".param", ".tex"})
_FLAT_NUMBERS = re.compile(r"\{[\s\d,]*\d\s*\}", re.ASCII)


class _Literals(dict[str, Immediate]):
    """Integer constants by their text, each parsed once."""

    def __missing__(self, text: str) -> Immediate:
        found = literal(text)
        if found is None:
            raise ValueError(text)
        self[text] = found
        return found


class DeclarationReader:
    """Reads declarations at a cursor and enters their names in ``names``."""

    def __init__(self, source: Source, cursor: Cursor, names: Names) -> None:
        self._source = source
        self._cursor = cursor
        self._names = names

    def registers(self) -> list[RegisterDeclaration]:
        """``.reg`` is at the cursor; reads up to the ``;``."""
        cursor = self._cursor
        start = cursor.start
        cursor.advance()
        vector, type_ = 1, None
        while cursor.kind == "dot":
            if cursor.text in VECTORS:
                vector = VECTORS[cursor.text]
                cursor.advance()
            else:
                type_ = self._type(type_)
        if type_ is None:
            raise MalformedError(cursor.start, f"expected a register type, found {cursor.found}")
        _check_vector(start, type_, vector)
        found = [self._register(type_, vector)]
        while cursor.take(","):
            found.append(self._register(type_, vector))
        return found

    def _register(self, type_: Type, vector: int) -> RegisterDeclaration:
        cursor = self._cursor
        start = cursor.start
        name = cursor.name("a register name")
        count = None
        if cursor.text == "<":
            cursor.advance()
            count = integer_literal(cursor, "the number of registers")
            cursor.expect(">", "after the number of registers")
            if not 0 <= count <= MAX_REGISTERS:
                raise MalformedError(start, f"{count} registers is not a sensible number")
        if not self._names.declare_register(type_, name, count, vector):
            shown = name if count is None else f"{name}<{count}>"
            self._source.reporter.add(start, f"register '{shown}' is already declared in this scope")
        return RegisterDeclaration(type_, name, count, vector)

    def variables(self, linkage: str = "") -> list[Variable]:
        """A state space is at the cursor; reads every variable that the statement declares, up to the ``;``.

        A name may be redeclared if one of the two declarations is ``.extern``.
        """
        found = [self._variable(linkage)]
        while self._cursor.take(","):
            found.append(self._declared(found[0]))
        return found

    def parameters(self) -> tuple[Variable, ...]:
        """``( .param ... , ... )``; the cursor is at the parenthesis."""
        cursor = self._cursor
        cursor.expect("(", "before parameters")
        if cursor.take(")"):
            return ()
        found = [self._parameter()]
        while cursor.take(","):
            found.append(self._parameter())
        cursor.expect(")", "to close the parameters")
        return tuple(found)

    def _parameter(self) -> Variable:
        if self._cursor.text not in (".param", ".reg"):
            raise MalformedError(self._cursor.start, f"expected a parameter, found {self._cursor.found}")
        return self._variable("")

    def _variable(self, linkage: str) -> Variable:
        cursor = self._cursor
        start, space = cursor.start, cursor.text[1:]
        cursor.advance()
        qualifiers: list[str] = []
        if space == "const" and cursor.take("["):
            qualifiers.append(f"[{integer(cursor, 'a constant bank')}]")
            cursor.expect("]", "after a constant bank")
        alignment, vector, type_ = 0, 1, None
        while cursor.kind == "dot":
            if cursor.text == ".align":
                cursor.advance()
                alignment = self._alignment()
            elif cursor.text in VECTORS:
                vector = VECTORS[cursor.text]
                cursor.advance()
            elif cursor.text == ".attribute":
                qualifiers += self._attribute()
            elif cursor.text == ".ptr":
                qualifiers += self._pointer()
            else:
                type_ = self._type(type_)
        if type_ is None:
            raise MalformedError(cursor.start, f"expected a type, found {cursor.found}")
        if space == "reg":
            _check_vector(start, type_, vector)
        model = Variable(space, type_, "", alignment, (), vector, None, linkage, tuple(qualifiers))
        return self._declared(model)

    def _declared(self, model: Variable) -> Variable:
        cursor = self._cursor
        start = cursor.start
        if cursor.kind == "sink":
            name = "_"
            cursor.advance()
        else:
            name = cursor.name("a variable name")
            self._declare(name, start, model)
        dimensions = tuple(self._dimensions())
        size = model.element_bytes * math.prod(dimensions)
        if size > MAX_BYTES:
            raise MalformedError(start, f"'{name}' has {_power(size)} bytes, at most {_power(MAX_BYTES)} are possible")
        initializer = self._initializer() if cursor.take("=") else None
        return Variable(
            model.space, model.type, name, model.alignment, dimensions, model.vector, initializer, model.linkage,
            model.qualifiers, self._source.place(start),
        )  # fmt: skip

    def _declare(self, name: str, start: int, model: Variable) -> None:
        if model.space == "reg":
            is_new = self._names.declare_register(model.type, name, None, model.vector)
        else:
            is_new = self._names.declare_symbol(name)
        externals = self._names.externals
        if not is_new and model.linkage != "extern" and name not in externals:
            self._source.reporter.add(start, f"'{name}' is already declared in this scope")
        if model.linkage == "extern":
            externals.add(name)
        else:
            externals.discard(name)

    def _type(self, earlier: Type | None) -> Type:
        cursor = self._cursor
        declared = TYPES.get(cursor.text[1:])
        if declared is None:
            raise MalformedError(cursor.start, f"unknown type '{cursor.text}'")
        if earlier is not None:
            raise MalformedError(cursor.start, f"a second type '{cursor.text}' after '.{earlier}'")
        cursor.advance()
        return declared

    def _alignment(self) -> int:
        start = self._cursor.start
        alignment = integer_literal(self._cursor, "an alignment")
        if alignment < 1 or alignment & (alignment - 1):
            raise MalformedError(start, f"alignment {alignment} is not a power of two")
        if alignment > MAX_ALIGNMENT:
            raise MalformedError(start, f"alignment {alignment} is more than {MAX_ALIGNMENT}")
        return alignment

    def _attribute(self) -> list[str]:
        return [self._step(), *attribute_tokens(self._cursor)]

    def _pointer(self) -> list[str]:
        tokens = [self._step()]
        while self._cursor.text in _POINTER_SPACES or self._cursor.text == ".align":
            tokens.append(self._step())
            if tokens[-1] == ".align":
                tokens.append(str(self._alignment()))
        return tokens

    def _step(self) -> str:
        text = self._cursor.text
        self._cursor.advance()
        return text

    def _dimensions(self) -> Iterator[int]:
        cursor = self._cursor
        while cursor.take("["):
            if cursor.take("]"):
                yield 0
                continue
            start = cursor.start
            size = integer(cursor, "an array size")
            if size < 0:
                raise MalformedError(start, f"array size {size} is negative")
            cursor.expect("]", "after an array size")
            yield size

    def _initializer(self, depth: int = 0) -> Initializer:
        cursor = self._cursor
        if cursor.text != "{":
            return self._element()
        flat = _FLAT_NUMBERS.match(self._source.text, cursor.start)
        if flat is not None:
            numbers = _flat(flat[0])
            if numbers is not None:
                cursor.jump(flat.end())
                return numbers
        if depth > MAX_DEPTH:
            raise MalformedError(cursor.start, f"initialiser nested more than {MAX_DEPTH} deep")
        cursor.advance()
        elements: list[Initializer] = []
        if cursor.text != "}":
            elements.append(self._initializer(depth + 1))
        while cursor.take(","):
            elements.append(self._initializer(depth + 1))
        cursor.expect("}", "to close the initialiser")
        return tuple(elements)

    def _element(self) -> Initializer:
        cursor = self._cursor
        if cursor.kind == "name" and cursor.text != "WARP_SZ":
            name = cursor.text
            start = cursor.start
            cursor.advance()
            if cursor.text == "(" and name == "generic":
                return self._generic()
            if cursor.take("="):
                return Property(name, self._property())
            return self._symbol(name, start)
        value = constant(cursor)
        if cursor.text != "(" or value.form != "int":
            return value
        cursor.advance()
        masked = self._element()
        cursor.expect(")", "after a masked address")
        if not isinstance(masked, (Symbol, GenericAddress)):
            raise MalformedError(cursor.previous_end - 1, "a mask takes an address")
        return AddressByte(value.value, masked)

    def _generic(self) -> GenericAddress:
        cursor = self._cursor
        cursor.expect("(", "after generic")
        start = cursor.start
        inner = self._symbol(cursor.name("a variable"), start)
        cursor.expect(")", "after generic(...")
        return GenericAddress(Symbol(inner.name, inner.offset + self._offset()))

    def _symbol(self, name: str, start: int) -> Symbol:
        found = self._names.resolve(name)
        if not isinstance(found, Symbol) and not self._names.is_suppressed(name):
            self._source.reporter.add_unknown(start, "name", name, self._names.known())
        return Symbol(name, self._offset())

    def _property(self) -> Immediate | Symbol:
        cursor = self._cursor
        return Symbol(cursor.name("a property")) if cursor.kind == "name" else constant(cursor)

    def _offset(self) -> int:
        total, cursor = 0, self._cursor
        while cursor.text in ("+", "-") and cursor.kind == "mark":
            sign = 1 if cursor.text == "+" else -1
            cursor.advance()
            start = cursor.start
            term = constant(cursor, lowest=10)
            if term.form != "int":
                raise MalformedError(start, "an address offset is an integer")
            total += sign * term.value
        return total


def _check_vector(start: int, type_: Type, vector: int) -> None:
    """Raise MalformedError for a vector that no registers form."""
    if vector > 1 and type_.is_predicate:
        raise MalformedError(start, "predicates form no vectors")
    if vector > len(COMPONENT_NAMES):
        raise MalformedError(start, f"a vector of registers has 2 or 4 elements, found {vector}")


def _power(number: int) -> str:
    """A number as text, as a power of two if it is large."""
    exponent = number.bit_length() - 1
    if exponent < 30:
        return str(number)
    return f"2^{exponent}" if number == 1 << exponent else f"more than 2^{exponent}"


def _flat(text: str) -> tuple[Immediate, ...] | None:
    table = _Literals()
    try:
        return tuple(map(table.__getitem__, "".join(text[1:-1].split()).split(",")))
    except ValueError:
        return None


def integer_literal(cursor: Cursor, what: str) -> int:
    """A single integer constant.  Raises MalformedError."""
    start = cursor.start
    found = literal(cursor.text) if cursor.kind == "number" else None
    if found is None or found.form != "int":
        raise MalformedError(start, f"expected {what}, found {cursor.found}")
    cursor.advance()
    return found.value


def attribute_tokens(cursor: Cursor) -> list[str]:
    """The tokens of ``( ... )`` after ``.attribute``, parentheses included, without commas."""
    cursor.expect("(", "after .attribute")
    tokens = ["("]
    depth = 1
    while depth:
        if cursor.kind not in ("dot", "name", "number") and cursor.text not in ("(", ")", ","):
            raise MalformedError(cursor.start, f"expected an attribute, found {cursor.found}")
        depth += {"(": 1, ")": -1}.get(cursor.text, 0)
        if cursor.text != ",":
            tokens.append(cursor.text)
        cursor.advance()
    return tokens
