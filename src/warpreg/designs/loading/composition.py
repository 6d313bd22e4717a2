"""Composition: several designs, at most one per slot, as one design.

Kernels are rewritten and hint columns set in the order mapping, levels, policy; each design works on the output of the
previous one.  At run time, the design of slot levels plans operands first; the mapping then places the accesses that
remain in the register file.  Conflicts between designs are errors when the composition is made.  A hint column that two
designs set is an error of the compile step.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from warpreg.designs.errors import DesignError
from warpreg.designs.interface.declaration import ORDERS, SLOTS, Declaration
from warpreg.designs.interface.hardware import Logic, Table
from warpreg.designs.interface.hooks import HOOKS
from warpreg.designs.interface.program import HINTS, Program
from warpreg.designs.interface.residency import Launch, Room
from warpreg.designs.loading.composed_hooks import Part, composed_hooks, composed_state
from warpreg.designs.loading.design import Design
from warpreg.energy.counts import Structure
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel

SEPARATOR = "+"


@dataclass(frozen=True, eq=False)
class Composition(Design):
    """Designs of different slots as one; parameter names are prefixed with the design's name (``rfc_entries``)."""

    parts: tuple[Design, ...]

    @property
    def digest(self) -> str:
        """Content hash of the files."""
        return hashlib.sha256("".join(part.digest for part in self.parts).encode()).hexdigest()

    def room(self, parameters: Any, program: Program, machine: Machine, launch: Launch) -> Room:
        """The capacity of an SM according to the one design that defines a residency."""
        deciding = next((i for i, part in enumerate(self.parts) if hasattr(part.module, "residency")), 0)
        return self.parts[deciding].room(self._values(parameters)[deciding], program, machine, launch)

    def rewrite(self, kernel: Kernel, parameters: Any, room: Room | None = None) -> Kernel:
        """The kernel rewritten by each design in turn."""
        for part, values in self._each(parameters):
            kernel = part.rewrite(kernel, values, room)
        return kernel

    def compile(
        self, program: Program, parameters: Any, kernel: Kernel | None = None, room: Room | None = None
    ) -> Program:
        """The hint columns of all designs; raises DesignError if two designs set the same column."""
        filled: dict[str, str] = {}
        for part, values in self._each(parameters):
            compiled = part.compile(program, values, kernel, room)
            for column in HINTS:
                if np.array_equal(getattr(compiled, column), getattr(program, column)):
                    continue
                if column in filled:
                    raise DesignError(f"{self.name}: both {filled[column]} and {part.name} fill {column}")
                filled[column] = part.name
            program = compiled
        return program

    def explain(self, program: Program, parameters: Any, kernel: Kernel) -> Mapping[int, str]:
        """The reasons given by all designs."""
        told = [part.explain(program, values, kernel) for part, values in self._each(parameters)]
        return {
            pc: "; ".join(one[pc] for one in told if pc in one) for pc in sorted({pc for one in told for pc in one})
        }

    def initial_state(self, parameters: Any, program: Program, room: Room | None = None) -> tuple[Any, ...]:
        """The states of all designs."""
        states = [part.initial_state(values, program, room) for part, values in self._each(parameters)]
        state: tuple[Any, ...] = self.module.State(*states)
        return state

    def structures(self, parameters: Any) -> tuple[Structure, ...]:
        """The register file of the mapping, if it has one, and the levels of all designs."""
        all_of_them = [part.structures(values) for part, values in self._each(parameters)]
        return (all_of_them[0][0], *(one for storage in all_of_them for one in storage[1:]))

    def hardware(self, parameters: Any, machine: Machine | None = None) -> tuple[Table | Logic, ...]:
        """That of all parts.  Raises DesignError for two of one name."""
        found = [one for part, values in self._each(parameters) for one in part.hardware(values, machine)]
        names = [one.name for one in found]
        if twice := next((one for one in names if names.count(one) > 1), None):
            raise DesignError(f"{self.name}: two of the designs have hardware named {twice}")
        return tuple(found)

    def _each(self, parameters: Any) -> Iterator[tuple[Design, Any]]:
        return zip(self.parts, self._values(parameters), strict=True)

    def _values(self, parameters: Any) -> list[Any]:
        """The parameters of each design."""
        return [
            part.parameter_type(**{spec.name: getattr(parameters, joined(part, spec.name)) for spec in part.parameters})
            for part in self.parts
        ]


def compose(designs: Sequence[Design]) -> Composition:
    """Compose designs.  Raises DesignError with the reason if they are incompatible."""
    parts = tuple(sorted(designs, key=lambda design: SLOTS.index(design.declaration.slot)))
    name = SEPARATOR.join(part.name for part in parts)
    _check(name, parts)
    declarations = [part.declaration for part in parts]
    declaration = Declaration(
        slot=declarations[0].slot,
        source="; ".join(one.source for one in declarations),
        levels=("MRF", *(level for one in declarations for level in one.levels[1:])),
        order=max((one.order for one in declarations), key=ORDERS.index),
        events=tuple(event for one in declarations for event in one.events),
        resources=tuple(resource for one in declarations for resource in one.resources),
    )
    module = ModuleType(f"warpreg_composition_{name}")
    numbered = _numbered(parts)
    vars(module)["State"] = composed_state(numbered)
    return Composition(
        name=name,
        path=parts[0].path,
        summary="; ".join(part.summary for part in parts),
        declaration=declaration,
        parameter_type=_parameters(parts),
        hooks=composed_hooks(numbered),
        module=module,
        parts=parts,
    )


def _numbered(parts: Sequence[Design]) -> tuple[Part, ...]:
    """The designs with the offsets of their levels, events and resources."""
    found: list[Part] = []
    first = (0, 0, 0)
    for part in parts:
        hooks: dict[str, FunctionType] = dict(part.hooks)
        found.append(Part(part.declaration.slot, hooks, *first))
        own = part.declaration
        first = (first[0] + len(own.levels) - 1, first[1] + len(own.events), first[2] + len(own.resources))
    return tuple(found)


def _check(name: str, parts: Sequence[Design]) -> None:
    for slot in SLOTS:
        same = [part.name for part in parts if part.declaration.slot == slot]
        if len(same) > 1:
            raise DesignError(f"{name}: {' and '.join(same)} both have slot {slot}, which takes one design")
    for hook, spec in HOOKS.items():
        deciding = [part.name for part in parts if hook in part.hooks]
        if spec.returns_int and len(deciding) > 1:
            raise DesignError(f"{name}: both {' and '.join(deciding)} define {hook}, and only one can decide")
    deciding = [part.name for part in parts if hasattr(part.module, "residency")]
    if len(deciding) > 1:
        raise DesignError(f"{name}: both {' and '.join(deciding)} define residency, and only one can decide")
    for word in ("levels", "events", "resources"):
        names = [one for part in parts for one in getattr(part.declaration, word) if one != "MRF"]
        if twice := next((one for one in names if names.count(one) > 1), None):
            raise DesignError(f"{name}: two of the designs have {word} named {twice}")


def _parameters(parts: Sequence[Design]) -> type:
    """One class with the parameters of all designs."""
    fields = [
        (joined(part, field.name), spec.type, dataclasses.field(default=spec.default, metadata=field.metadata))
        for part in parts
        for field, spec in zip(dataclasses.fields(part.parameter_type), part.parameters, strict=True)
    ]
    return dataclasses.make_dataclass("Parameters", fields, frozen=True)


def parts_of(design: Design) -> tuple[Design, ...]:
    """The designs of a composition; for any other design, that design alone."""
    return design.parts if isinstance(design, Composition) else (design,)


def joined(part: Design, parameter: str) -> str:
    """The name of a design's parameter in a composition."""
    return f"{part.name.replace('-', '_')}_{parameter}"
