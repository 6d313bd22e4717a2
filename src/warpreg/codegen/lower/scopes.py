"""Name resolution in a function: nested scopes, numbered register families, unique new names."""

from __future__ import annotations

from dataclasses import dataclass, field

from warpreg.codegen.lower.stack import STACK
from warpreg.ir.module import BranchTable, CallPrototype, RegisterDeclaration, Variable
from warpreg.ir.operands import Operand, Register, Vector
from warpreg.ir.types import B16, Type
from warpreg.ptx.names import COMPONENT_NAMES, numbered

DIGITS = "0123456789"


@dataclass
class UniqueNames:
    """Returns a name unchanged the first time, and with a suffix ``$n`` afterwards."""

    taken: set[str] = field(default_factory=lambda: {f"register {STACK.name}"})
    serial: int = 0

    def suffix(self, name: str) -> str:
        if name not in self.taken:
            self.taken.add(name)
            return ""
        self.serial += 1
        return f"${self.serial}"

    def unique(self, name: str) -> str:
        """A name of a variable or a label."""
        return name + self.suffix(name)

    def register_suffix(self, name: str) -> str:
        """The suffix of a register, or of the numbered registers that share its prefix."""
        return self.suffix("register " + name.rstrip(DIGITS))

    def register(self, name: str) -> str:
        """A name of a register."""
        return name + self.register_suffix(name)


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
                self._bind(base, family.type, family.vector, family.suffix)
                return self.bound.get(name)
        return None

    def _bind(self, name: str, kind: Type, vector: int, suffix: str) -> Register | Vector:
        """A register, or the components ``v.x`` of a vector register and the vector of them; one of 8 bits, which no
        move takes, has 16."""
        kind = B16 if kind.bits == 8 else kind
        if vector == 1:
            self.bound[name] = register = Register(name + suffix, kind)
            return register
        parts = {c: Register(f"{name}{suffix}.{c}", kind) for c in COMPONENT_NAMES[:vector]}
        self.bound[name] = whole = Vector(tuple(parts.values()))
        self.bound.update({f"{name}.{c}": part for c, part in parts.items()})
        return whole

    def declare(self, declaration: RegisterDeclaration, names: UniqueNames) -> None:
        """Bind the registers of a ``.reg`` line."""
        name = declaration.name
        suffix = names.register_suffix(name)
        if declaration.count is not None:
            self.families[name] = Family(declaration.count, declaration.type, declaration.vector, suffix)
        else:
            self._bind(name, declaration.type, declaration.vector, suffix)

    def declare_formal(self, formal: Variable, names: UniqueNames) -> Register | Vector:
        """Bind a parameter or result of a function that is declared as a register."""
        return self._bind(formal.name, formal.type, formal.vector, names.register_suffix(formal.name))
