"""A PTX module as written: directives, variables and functions with their statements in order.

The parser returns a module, and the writer prints it as PTX; a `Kernel` (basic blocks) is derived from one of its
functions.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Union

from warpreg.ir.cpp_names import demangled, forms, normal, short_name
from warpreg.ir.errors import MAX_NAMES, Location, UnknownNameError, WarpregError
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Immediate, Operand, Symbol
from warpreg.ir.types import Type

if TYPE_CHECKING:
    from warpreg.ir.kernel import Kernel

Initializer = Union[
    Immediate, Symbol, "GenericAddress", "AddressByte", "Property", "Content", "tuple[Initializer, ...]"
]
"""A constant, an address, one byte of an address, a sampler's property, bytes, or a nested list of them."""


@dataclass(frozen=True, slots=True)
class GenericAddress:
    """An initialiser that is a variable's generic address: ``generic(symbol)+offset``."""

    symbol: Symbol


@dataclass(frozen=True, slots=True)
class AddressByte:
    """An initialiser that takes one byte of an address: ``0xFF00(symbol)``."""

    mask: int
    symbol: Symbol | GenericAddress


@dataclass(frozen=True, slots=True)
class Property:
    """A field of a texture, sampler or surface initialiser: ``filter_mode = linear``."""

    name: str
    value: Immediate | Symbol


@dataclass(frozen=True, slots=True)
class Content:
    """An initialiser that is all bytes of a variable, with the addresses that they hold by byte offset."""

    data: bytes
    addresses: tuple[tuple[int, Symbol], ...] = ()


@dataclass(frozen=True, slots=True)
class Attribute:
    """A directive kept as written, such as ``.maxntid 256, 1, 1`` (name ``maxntid``) or ``.pragma "nounroll"``.

    ``arguments`` are tokens; a string keeps its quotes.
    """

    name: str
    arguments: tuple[str, ...] = ()


NOUNROLL = Attribute("pragma", ('"nounroll"',))
"""Disables loop unrolling in a module, a kernel, or for the loop whose header it begins (PTX ISA, "Pragma Strings")."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable or parameter declaration (PTX ISA, section 5.4)."""

    space: str
    type: Type
    name: str
    alignment: int = 0
    dimensions: tuple[int, ...] = ()
    """Empty for a scalar; a dimension of 0 is an unsized array."""
    vector: int = 1
    """1, 2 or 4."""
    initializer: Initializer | None = None
    linkage: str = ""
    """``extern``, ``visible``, ``weak``, ``common`` or empty."""
    qualifiers: tuple[str, ...] = ()
    """The other tokens between the space and the name (``.ptr``, ``.global``, attributes)."""
    location: Location | None = field(default=None, compare=False)
    owner: str = ""
    """The function, with the scope in it, that declares a static variable of global or constant memory."""

    @property
    def unique_name(self) -> str:
        """Its unique name in the module: variables of different functions may have the same name."""
        return f"{self.owner}.{self.name}" if self.owner else self.name

    @property
    def element_bytes(self) -> int:
        return self.type.bytes * self.vector

    @property
    def bytes(self) -> int:
        """Size in bytes; 0 for an unsized array."""
        size = self.element_bytes
        for dimension in self.dimensions:
            size *= dimension
        return size

    @property
    def natural_alignment(self) -> int:
        """Alignment in bytes: the declared one, or the element's size."""
        return self.alignment or max(1, self.element_bytes)


@dataclass(frozen=True, slots=True)
class RegisterDeclaration:
    """``.reg .b32 %r<10>`` (``count`` 10) or ``.reg .b32 a, b`` (one declaration per name, ``count`` None)."""

    type: Type
    name: str
    count: int | None = None
    vector: int = 1


@dataclass(frozen=True, slots=True)
class LabelStatement:
    """``name:``"""

    name: str
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class BranchTable:
    """``name: .branchtargets a, b`` or ``.calltargets`` (``kind``)."""

    name: str
    kind: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallPrototype:
    """``name: .callprototype (ret) _ (params)``."""

    name: str
    returns: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Loc:
    """``.loc file line column`` with its optional inlining clause as tokens."""

    file: int
    line: int
    column: int
    rest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """A nested ``{ ... }`` with declarations of its own."""

    statements: tuple[Statement, ...]


Statement = Union[
    Instruction, LabelStatement, RegisterDeclaration, Variable, BranchTable, CallPrototype, Loc, Attribute, Scope
]


@dataclass(frozen=True, slots=True)
class Function:
    """``.entry`` (``is_kernel``) or ``.func``; ``body`` is None for a prototype."""

    name: str
    is_kernel: bool
    parameters: tuple[Variable, ...]
    returns: tuple[Variable, ...] = ()
    body: tuple[Statement, ...] | None = None
    attributes: tuple[Attribute, ...] = ()
    linkage: str = ""
    location: Location | None = field(default=None, compare=False)

    def instructions(self) -> Iterator[Instruction]:
        """Every instruction in textual order, nested scopes included."""
        yield from _instructions(self.body or ())


def _variables(statements: tuple[Statement, ...]) -> Iterator[Variable]:
    for statement in statements:
        if isinstance(statement, Variable):
            yield statement
        elif isinstance(statement, Scope):
            yield from _variables(statement.statements)


def _instructions(statements: tuple[Statement, ...]) -> Iterator[Instruction]:
    for statement in statements:
        if isinstance(statement, Instruction):
            yield statement
        elif isinstance(statement, Scope):
            yield from _instructions(statement.statements)


@dataclass(frozen=True, slots=True)
class Section:
    """A debug section, kept as raw lines."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """``.file index "name"``, with its optional time stamp and size."""

    index: int
    name: str
    rest: tuple[str, ...] = ()


TopLevel = Union[Variable, RegisterDeclaration, Function, Attribute, Section, SourceFile]


@dataclass(frozen=True, slots=True)
class SourceKernels:
    """Kernel templates of a CUDA C++ source: names in PTX of the instances that were asked for, by what they were asked
    for as, and the templates by name, each with an example of its instantiation."""

    instances: Mapping[str, str] = field(default_factory=dict)
    templates: Mapping[str, str] = field(default_factory=dict)


class Code(Protocol):
    """Machine code of the kernels of a module, which has no statements in PTX."""

    @property
    def architecture(self) -> str:
        """Such as ``sm_80``."""

    def kernel(self, module: Module, name: str) -> Kernel:
        """A kernel in architected registers."""

    def knows_parameters(self, name: str) -> bool:
        """Whether the parameters of a kernel are known."""

    def with_parameters(self, module: Module, name: str, slots: Sequence[tuple[int, int]]) -> Module:
        """The module with parameters of these bytes and alignments, in order, for a kernel whose own are not known."""


@dataclass(frozen=True, eq=True)
class Module:
    """One PTX file, or a file of machine code.  ``items`` are all top-level items in order, after version, target and
    address size; ``digest`` identifies the text that was parsed, empty for a module that was not parsed; ``source`` is
    known of CUDA C++.  A module with ``code`` declares kernels without statements, and variables."""

    version: str
    target: tuple[str, ...]
    address_size: int
    items: tuple[TopLevel, ...]
    file: str = field(default="<ptx>", compare=False)
    digest: str = field(default="", compare=False)
    source: SourceKernels = field(default_factory=SourceKernels, compare=False)
    code: Code | None = field(default=None, compare=False)

    @property
    def functions(self) -> tuple[Function, ...]:
        return tuple(item for item in self.items if isinstance(item, Function))

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(item for item in self.items if isinstance(item, Variable))

    @property
    def registers(self) -> tuple[RegisterDeclaration, ...]:
        """Registers that all functions share; each thread has its own."""
        return tuple(item for item in self.items if isinstance(item, RegisterDeclaration))

    @functools.cached_property
    def static_variables(self) -> tuple[Variable, ...]:
        """The module's variables, and those of global and constant memory that functions declare."""
        return (*self.variables, *(v for v in self.function_variables if v.owner))

    @property
    def function_variables(self) -> Iterator[Variable]:
        """The variables that functions declare, in any space."""
        return (v for f in self.functions for v in _variables(f.body or ()))

    @property
    def kernels(self) -> tuple[Function, ...]:
        return tuple(f for f in self.functions if f.is_kernel and f.body is not None)

    def function(self, name: str) -> Function:
        """The function of that name with a body.  Raises UnknownNameError with the nearest name."""
        defined = {f.name: f for f in self.functions if f.body is not None}
        if name not in defined:
            raise UnknownNameError("function", name, defined)
        return defined[name]

    def kernel_name(self, name: str) -> str:
        """The PTX name of a kernel, given by that name or by its C++ name, as far as that is unique: with parameters,
        without them, without template arguments, without namespaces.  Raises UnknownNameError, WarpregError for a
        name of several kernels and for a template that is not instantiated.
        """
        names = [kernel.name for kernel in self.kernels]
        if name in names:
            return name
        if name in self.source.instances:
            return self.source.instances[name]
        matches = [known for known in names if normal(name) in forms(known)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            listed = ", ".join(self.shown_names(matches))
            raise WarpregError(f"{self.file}: '{name}' is the name of {len(matches)} kernels: {listed}")
        template, _, arguments = name.partition("<")
        if template.rpartition("::")[2] in self.source.templates:
            raise WarpregError(f"{self.file}: {self._not_instantiated(name, template.rpartition('::')[2], arguments)}")
        raise UnknownNameError(f"kernel in {self.file}", name, self.shown_names(names))

    def shown_names(self, names: Sequence[str]) -> list[str]:
        """Kernels by their C++ names, with parameters where the names without are not unique."""
        short = [short_name(name) for name in names]
        return [one if short.count(one) == 1 else demangled(name) for name, one in zip(names, short, strict=True)]

    def kernel_names(self, name: str | None) -> list[str]:
        """The PTX name of one kernel, or of all.  Raises like `kernel_name`, and WarpregError if there is none."""
        if name is not None:
            return [self.kernel_name(name)]
        if not self.kernels:
            examples = [f"--kernel '{example}'" for example in self.source.templates.values()]
            what = f"; its templates need arguments: {' or '.join(examples[:MAX_NAMES])}" if examples else ""
            raise WarpregError(f"{self.file} has no kernel{what}")
        return [kernel.name for kernel in self.kernels]

    def _not_instantiated(self, name: str, template: str, arguments: str) -> str:
        example = name if arguments else self.source.templates[template]
        what = "not instantiated" if arguments else "a template that needs arguments"
        return f"kernel {name} is {what}: --kernel '{example}', in Python compile(..., kernels=[\"{example}\"])"


__all__ = [
    "AddressByte", "Attribute", "BranchTable", "CallPrototype", "Code", "Content", "Function", "GenericAddress",
    "Initializer", "LabelStatement", "Loc", "Module", "Operand", "Property", "RegisterDeclaration", "Scope", "Section",
    "SourceFile", "SourceKernels", "Statement", "TopLevel", "Variable",
]  # fmt: skip
