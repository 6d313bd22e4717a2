"""Name resolution in a function: nested scopes, numbered register families, unique new names."""

from __future__ import annotations

from dataclasses import dataclass, field

from warpreg.ir.module import BranchTable, CallPrototype, RegisterDeclaration
from warpreg.ir.operands import Operand, Register, Vector
from warpreg.ir.types import Type
from warpreg.ptx.names import COMPONENT_NAMES, numbered

DIGITS = "0123456789"


@dataclass
class UniqueNames:
    """Returns a name unchanged the first time, and with a suffix ``$n`` afterwards."""

    taken: set[str] = field(default_factory=set)
    serial: int = 0

    def suffix(self, name: str) -> str:
        if name not in self.taken:
            self.taken.add(name)
            return ""
        self.serial += 1
        return f"${self.serial}"

    def unique(self, name: str) -> str:
        return name + self.suffix(name)


@dataclass(frozen=True)
class Family:
    """Registers of one declaration: ``count`` numbered ones, of ``vector`` components each."""

    count: int
    type: Type
    vector: int
    suffix: str


@dataclass
class Scope:
    """The declarations of one ``{ ... }``: bound names, counted register families by prefix, signatures of indirect
    calls."""

    parent: Scope | None = None
    bound: dict[str, Operand] = field(default_factory=dict)
    families: dict[str, Family] = field(default_factory=dict)
    signatures: dict[str, BranchTable | CallPrototype] = field(default_factory=dict)

    def signature(self, name: str) -> BranchTable | CallPrototype | None:
        """The ``.callprototype`` or ``.calltargets`` declared under ``name``."""
        scope: Scope | None = self
        while scope:
            if name in scope.signatures:
                return scope.signatures[name]
            scope = scope.parent
        return None

    def find(self, name: str) -> Operand | None:
        """The meaning of ``name`` here or in the nearest enclosing scope that declares it."""
        scope: Scope | None = self
        while scope:
            found = scope.bound.get(name)
            if found is None and scope.families:
                found = scope._member(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def _member(self, name: str) -> Operand | None:
        base = name.partition(".")[0]
        for prefix, number in numbered(base):
            family = self.families.get(prefix)
            if family is not None and number < family.count:
                self._bind(base, family)
                return self.bound.get(name)
        return None

    def _bind(self, name: str, family: Family) -> None:
        """A register, or the components ``v.x`` of a vector register and the vector of them."""
        if family.vector == 1:
            self.bound[name] = Register(name + family.suffix, family.type)
            return
        parts = {c: Register(f"{name}{family.suffix}.{c}", family.type) for c in COMPONENT_NAMES[: family.vector]}
        self.bound[name] = Vector(tuple(parts.values()))
        self.bound.update({f"{name}.{c}": part for c, part in parts.items()})

    def declare(self, declaration: RegisterDeclaration, names: UniqueNames) -> None:
        """Bind the registers of a ``.reg`` line."""
        name = declaration.name
        suffix = names.suffix("register " + name.rstrip(DIGITS))
        family = Family(declaration.count or 0, declaration.type, declaration.vector, suffix)
        if declaration.count is not None:
            self.families[name] = family
        else:
            self._bind(name, family)
