"""Scopes of names (PTX ISA, section 4.4): resolution of names in operands, and a cache of operands by text.

A nested scope may redeclare a register name.  Registers keep their written names; a consumer distinguishes two of the
same name by the `Scope` statement that contains their declaration.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Union

from warpreg.ir.instruction import Guard
from warpreg.ir.operands import Address, Immediate, Label, Not, Operand, Register, Special, Symbol, Vector
from warpreg.ir.types import Type
from warpreg.ptx.diagnostics import Reporter
from warpreg.ptx.literals import literal
from warpreg.ptx.tokens import IDENTIFIER

Named = Union[Register, Vector, Special, Symbol]

SPECIAL_NAMES = (
    "%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid", "%laneid",
    "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%is_explicit_cluster", "%cluster_ctarank",
    "%cluster_nctarank", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%clock",
    "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%total_smem_size",
    "%aggr_smem_size", "%dynamic_smem_size", "%current_graph_exec",
)  # fmt: skip
_NUMBERED = (r"%pm[0-7](?:_64)?", r"%envreg(?:[12]?\d|3[01])", r"%reserved_smem_offset_\w+")
_SPECIAL = re.compile(f"(?:{'|'.join((*SPECIAL_NAMES, *_NUMBERED))})(?:\\.[xyzw])?", re.ASCII)
_ADDRESS = re.compile(r"\[ ?([%$\w.]+)(?: ?\+ ?(-?(?:0|[1-9]\d{0,18})))? ?\]", re.ASCII)
_NAME = re.compile(IDENTIFIER, re.ASCII)
_COMMA = re.compile(r"\s*,\s*")
_DIGITS = "0123456789"
_LONGEST_NUMBER = 9
_COMPONENTS = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}
COMPONENT_NAMES = "xyzw"


class UnresolvedOperandError(Exception):
    """An operand of an uncommon form: the general reader parses the statement."""


class OperandCache(dict[str, Operand]):
    """Operands of one scope by their text; an uncommon form raises UnresolvedOperandError."""

    __slots__ = ("_names",)

    def __init__(self, names: Names) -> None:
        super().__init__()
        self._names = names

    def __missing__(self, text: str) -> Operand:
        operand = self._read(text)
        if operand is None:
            raise UnresolvedOperandError
        self[text] = operand
        return operand

    def _read(self, text: str) -> Operand | None:
        first = text[:1]
        if first == "[":
            return self._address(text)
        if first == "{":
            if text[-1] != "}" or "{" in text[1:]:
                return None
            return Vector(tuple([self[part] for part in _COMMA.split(text[1:-1].strip())]))
        if first == "!":
            operand = self[text[1:]]
            return Not(operand) if isinstance(operand, Register) else None
        if first.isdigit():
            return literal(text)
        if first == "-" and text[1:2].isdigit():
            number = literal(text[1:])
            return Immediate(-number.value) if number and number.form == "int" else None
        return self._names.resolve(text)

    def _address(self, text: str) -> Operand | None:
        match = _ADDRESS.fullmatch(text)
        if match is None:
            return None
        base = self[match[1]]
        if isinstance(base, Immediate):
            return Address(Immediate(base.value + int(match[2] or 0))) if base.form == "int" else None
        return Address(base, int(match[2] or 0)) if isinstance(base, (Register, Symbol)) else None


class Names:
    """The names that one scope declares, and through ``parent`` those of enclosing scopes."""

    def __init__(self, parent: Names | None = None) -> None:
        self.parent = parent
        self.operands = OperandCache(self)
        self.guards: dict[str, Guard] = {}
        self.targets: dict[str, tuple[Label]] = {}
        self.labels: dict[str, int] = {}
        self.externals: set[str] = set()
        self.references: dict[str, tuple[int, str]] = {}
        self._single: dict[str, Register | Vector] = {}
        self._ranges: dict[str, tuple[Type, int, int]] = {}
        self._members: dict[str, Register | Vector] = {}
        self._lowest: dict[str, int] = {}
        self._symbols: dict[str, Symbol] = {}
        self._unreadable: set[str] = parent._unreadable if parent and parent.parent else set()
        self.is_silent: bool = parent.is_silent if parent else False

    def declare_register(self, type_: Type, name: str, count: int | None, vector: int = 1) -> bool:
        """Declare a register, or with ``count`` the registers ``name0`` to ``name<count-1>``; False if one exists."""
        self._clear_cache()
        if count is None:
            if self.is_declared_here(name):
                return False
            self._single[name] = _register(type_, name, vector)
            for prefix, number in numbered(name):
                self._lowest[prefix] = min(number, self._lowest.get(prefix, number))
            return True
        if name in self._ranges or self._lowest.get(name, count) < count:
            return False
        self._ranges[name] = (type_, count, vector)
        return True

    def declare_symbol(self, name: str) -> bool:
        """Declare a variable, parameter or function; False if this scope has the name already."""
        if self.is_declared_here(name):
            return False
        self._clear_cache()
        self._symbols[name] = Symbol(name)
        return True

    def _clear_cache(self) -> None:
        self.operands.clear()
        self.guards.clear()

    def guard(self, predicate: str, negated: str) -> Guard:
        """``@p``, or ``@!p`` if ``negated`` is ``!``.  Raises UnresolvedOperandError if ``p`` is not a register."""
        guard = self.guards.get(negated + predicate)
        if guard is None:
            register = self.resolve(predicate)
            if not isinstance(register, Register) or not register.is_predicate:
                raise UnresolvedOperandError
            guard = self.guards[negated + predicate] = Guard(register, bool(negated))
        return guard

    def target(self, name: str, offset: int) -> tuple[Label]:
        """The operand of a branch to a label.  Raises UnresolvedOperandError if ``name`` is not an identifier."""
        target = self.targets.get(name)
        if target is None:
            if _NAME.fullmatch(name) is None:
                raise UnresolvedOperandError
            self.refer(name, offset, "label")
            target = self.targets[name] = (Label(name),)
        return target

    def is_declared_here(self, name: str) -> bool:
        """Whether this scope itself declares a register, variable or parameter of that name."""
        return self._declared_here(name) is not None

    def _declared_here(self, name: str) -> Register | Vector | Symbol | None:
        return self._single.get(name) or self._members.get(name) or self._symbols.get(name) or self._member(name)

    def resolve(self, name: str) -> Named | None:
        """The operand that a name (``%r1``, ``v.x``, ``%tid.x``, ``table``) refers to, or None if it is undeclared."""
        scope: Names | None = self
        while scope is not None:
            found = scope._declared_here(name)
            if found is not None:
                return found
            scope = scope.parent
        if _SPECIAL.fullmatch(name):
            return Special(name)
        base, dot, component = name.partition(".")
        if dot and component in _COMPONENTS:
            whole = self.resolve(base)
            if isinstance(whole, Vector) and _COMPONENTS[component] < len(whole.elements):
                element = whole.elements[_COMPONENTS[component]]
                return element if isinstance(element, Register) else None
        return None

    def _member(self, name: str) -> Register | Vector | None:
        if not self._ranges:
            return None
        for prefix, number in numbered(name):
            found = self._ranges.get(prefix)
            if found is not None and number < found[1]:
                register = _register(found[0], name, found[2])
                self._members[name] = register
                return register
        return None

    def refer(self, name: str, offset: int, kind: str) -> None:
        """Record the use of a name that may be a label declared later; `close` reports it if it is not."""
        self.references.setdefault(name, (offset, kind))

    def close(self, reporter: Reporter) -> None:
        """Resolve the label references of this scope; undeclared ones are passed to the enclosing scope."""
        enclosing = self.parent if self.parent is not None and self.parent.parent is not None else None
        for name, (offset, kind) in self.references.items():
            if name in self.labels:
                continue
            if enclosing is not None:
                enclosing.refer(name, offset, kind)
            elif not self.is_suppressed(name):
                known = self.labels if kind == "label" else (*self.known(), *self.labels)
                reporter.add_unknown(offset, kind, name, known)

    def undeclared_register(self, name: str, offset: int, reporter: Reporter) -> None:
        """Report an undeclared register, once per function."""
        if self.is_suppressed(name):
            return
        self.suppress(name)
        scope: Names | None = self
        while scope is not None:
            for prefix, _ in numbered(name):
                if prefix in scope._ranges:
                    count = scope._ranges[prefix][1]
                    held = f"'{prefix}<{count}>' declares {prefix}0 to {prefix}{count - 1}" if count else "it is empty"
                    reporter.add(offset, f"undeclared register '{name}': {held}")
                    return
            scope = scope.parent
        reporter.add_unknown(offset, "register", name, itertools.chain(self._members_numbered(name), self.known()))

    def _members_numbered(self, name: str) -> Iterator[str]:
        """The registers of every visible range that have the number of ``name``."""
        for _, number in numbered(name):
            scope: Names | None = self
            while scope is not None:
                yield from (f"{p}{number}" for p, (_, count, _) in scope._ranges.items() if number < count)
                scope = scope.parent

    def known(self) -> Iterator[str]:
        """Every visible declared name; a range by its prefix and first number."""
        scope: Names | None = self
        while scope is not None:
            ranges = (f"{prefix}0" for prefix in scope._ranges)
            yield from itertools.chain(scope._single, scope._symbols, scope._members, ranges)
            scope = scope.parent
        yield from SPECIAL_NAMES

    def suppress(self, *names: str) -> None:
        """Suppress errors about these names in this function: their declaration could not be read."""
        self._unreadable.update(names)

    def is_suppressed(self, name: str) -> bool:
        """Whether errors about a name are suppressed."""
        if self.is_silent or name in self._unreadable:
            return True
        return any(prefix + "<" in self._unreadable for prefix, _ in numbered(name))


def _register(type_: Type, name: str, vector: int) -> Register | Vector:
    if vector == 1:
        return Register(name, type_)
    return Vector(tuple(Register(f"{name}.{c}", type_) for c in COMPONENT_NAMES[:vector]))


def numbered(name: str) -> Iterator[tuple[str, int]]:
    """The splits of a name into prefix and number: ``%r12`` as ``%r`` 12 and ``%r1`` 2; the first declared one is
    used."""
    first = len(name.rstrip(_DIGITS))
    if len(name) - first > _LONGEST_NUMBER:
        return
    for split in range(first, len(name)):
        if name[split] != "0" or split == len(name) - 1:
            yield name[:split], int(name[split:])
