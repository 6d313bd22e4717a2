"""What a name means at a point of a function: nested scopes, counted registers, unique new names."""

from __future__ import annotations

from dataclasses import dataclass, field

from warpreg.ir.module import BranchTable, CallPrototype, RegisterDeclaration
from warpreg.ir.operands import Operand, Register, Vector
from warpreg.ir.types import Type

DIGITS = "0123456789"
COMPONENTS = ("x", "y", "z", "w")


@dataclass
class UniqueNames:
    """Gives each name once as it is, and after that with a suffix ``$n``."""

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


@dataclass
class Scope:
    """The declarations of one ``{ ... }``: bound names, counted register families by prefix, signatures of indirect
    calls."""

    parent: Scope | None = None
    bound: dict[str, Operand] = field(default_factory=dict)
    families: dict[str, tuple[int, Type, str]] = field(default_factory=dict)
    signatures: dict[str, BranchTable | CallPrototype] = field(default_factory=dict)

    def signature(self, name: str) -> BranchTable | CallPrototype | None:
        """What ``.callprototype`` or ``.calltargets`` declares under ``name``."""
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
        prefix = name.rstrip(DIGITS)
        family = self.families.get(prefix)
        if family is None or len(prefix) == len(name) or int(name[len(prefix) :]) >= family[0]:
            return None
        register = Register(name + family[2], family[1])
        self.bound[name] = register
        return register

    def declare(self, declaration: RegisterDeclaration, names: UniqueNames) -> None:
        """Bind the registers of a ``.reg`` line; those of a vector register are its components ``v.x``."""
        name, kind = declaration.name, declaration.type
        suffix = names.suffix("register " + name.rstrip(DIGITS))
        if declaration.count is not None:
            self.families[name] = (declaration.count, kind, suffix)
        elif declaration.vector > 1:
            parts = {c: Register(f"{name}{suffix}.{c}", kind) for c in COMPONENTS[: declaration.vector]}
            self.bound[name] = Vector(tuple(parts.values()))
            self.bound.update({f"{name}.{c}": part for c, part in parts.items()})
        else:
            self.bound[name] = Register(name + suffix, kind)
