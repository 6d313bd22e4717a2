"""Composition: several designs as one; `arrangement` says which can work together.

Kernels are rewritten and hints set in the order mapping, levels, operands, policy; each design works on the output of
the previous one.  At run time, the design of slot levels plans operands first, then that of slot operands; the mapping
places the accesses that remain in the register file.  Conflicts between designs are errors when the composition is
made.  A hint column that two designs set is an error of the compile step.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from piecewise_numba.records import record_type
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.banks import Banks, Collectors
from warpreg.designs.interface.declaration import ORDERS, SLOTS, Declaration, field_of
from warpreg.designs.interface.hardware import Logic, Table
from warpreg.designs.interface.paths import Path
from warpreg.designs.interface.program import HINTS, Program
from warpreg.designs.interface.residency import Launch, Room, unshared
from warpreg.designs.loading.arrangement import (
    Names,
    arranged,
    deciders,
    first_paths,
    first_tables,
    names_of,
    rivals,
    used_by,
    uses,
)
from warpreg.designs.loading.composed_hooks import Part, composed_hooks, planning_rank
from warpreg.designs.loading.design import Design, Recorded
from warpreg.energy.counts import Structure
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel

SEPARATOR = "+"


@dataclass(frozen=True, eq=False)
class Composition(Design):
    """Several designs as one; parameter names are prefixed with the design's name (``rfc_entries``)."""

    parts: tuple[Design, ...] = ()

    @property
    def digest(self) -> str:
        """Content hash of the files."""
        return hashlib.sha256("".join(part.digest for part in self.parts).encode()).hexdigest()

    def room(
        self,
        parameters: Any,
        program: Program,
        machine: Machine,
        launch: Launch,
        kernel: Kernel | None = None,
        recorded: Recorded | None = None,
    ) -> Room:
        """The capacity of an SM according to the one design whose residency is not that of the plain register file.

        Raises DesignError for two of them, unless one uses the other.
        """
        defining = rivals([part for part in self.parts if hasattr(part.module, "residency")], self.parts)
        values = dict(self._each(parameters))
        rooms = {
            part: part.room(values[part], program, machine, launch, kernel, recorded)
            for part in defining or self.parts[:1]
        }
        plain = unshared(machine, program.register_count)
        deciding = [part for part, found in rooms.items() if found.residency != plain] or list(rooms)[:1]
        if len(deciding) > 1:
            both = " and ".join(part.name for part in deciding[:2])
            raise DesignError(
                f"{self.name}: both {both} give a warp other registers than the plain register file does, and neither "
                "of them uses the other"
            )
        return rooms[deciding[0]]

    def rewrite(
        self, kernel: Kernel, parameters: Any, room: Room | None = None, recorded: Recorded | None = None
    ) -> Kernel:
        """The kernel rewritten by each design in turn."""
        for part, values in self._each(parameters):
            kernel = part.rewrite(kernel, values, room, recorded)
        return kernel

    def compile(
        self,
        program: Program,
        parameters: Any,
        kernel: Kernel | None = None,
        room: Room | None = None,
        recorded: Recorded | None = None,
    ) -> Program:
        """The hints of all designs; raises DesignError if two designs set the same shared column."""
        filled: dict[str, str] = {}
        own: list[Any] = []
        for part, values in self._each(parameters):
            compiled = part.compile(program, values, kernel, room, recorded)
            for column in HINTS:
                if np.array_equal(getattr(compiled, column), getattr(program, column)):
                    continue
                if column in filled:
                    raise DesignError(f"{self.name}: both {filled[column]} and {part.name} fill {column}")
                filled[column] = part.name
            own.append(compiled.hints)
            program = compiled._replace(hints=0)
        return program._replace(hints=self._hints(*own)) if self._hints is not None else program

    def explain(self, program: Program, parameters: Any, kernel: Kernel) -> Mapping[int, str]:
        """The reasons given by all designs."""
        told = [part.explain(program, values, kernel) for part, values in self._each(parameters)]
        return {
            pc: "; ".join(one[pc] for one in told if pc in one) for pc in sorted({pc for one in told for pc in one})
        }

    def _own_state(
        self,
        parameters: Any,
        program: Program,
        room: Room | None,
        kernel: Kernel | None,
        recorded: Recorded | None,
        beside: Collection[str],
    ) -> tuple[Any, ...]:
        """The states of all designs; each ``init`` sees its own hints."""
        names = [part.name for part in self.parts]
        hints = program.hints if self._hints is not None else (0,) * len(names)
        states = [
            part.initial_state(values, program._replace(hints=own), room, kernel, recorded, names)
            for (part, values), own in zip(self._each(parameters), hints, strict=True)
        ]
        state: tuple[Any, ...] = self.module.State(*states)
        return state

    def structures(self, parameters: Any) -> tuple[Structure, ...]:
        """The register file of the last mapping that describes it, and the levels of all designs."""
        storage = {part: part.structures(values) for part, values in self._each(parameters)}
        mappings = [p for p in self.parts if "mapping" in p.declaration.slots and hasattr(p.module, "structures")]
        levels: dict[str, Structure] = {}
        for structures in storage.values():
            levels = {**{one.level: one for one in structures}, **levels}
        return (storage[[self.parts[0], *mappings][-1]][0], *(levels[name] for name in self.levels[1:]))

    @property
    def _hints(self) -> Any:
        """The class of the hints of all designs; None if none has any."""
        return getattr(self.module, "Hints", None)

    def banks(self, parameters: Any, machine: Machine | None = None) -> Banks | None:
        """According to the design that decides."""
        part = deciders(self.parts).get("banks")
        return None if part is None else part.banks(dict(self._each(parameters))[part], machine)

    def collectors(self, parameters: Any, machine: Machine | None = None) -> Collectors | None:
        """According to the design that decides."""
        part = deciders(self.parts).get("collectors")
        return None if part is None else part.collectors(dict(self._each(parameters))[part], machine)

    def hardware(self, parameters: Any, machine: Machine | None = None) -> tuple[Table | Logic, ...]:
        """The hardware of all designs.  A design that uses another may repeat its hardware, which exists once.

        Raises DesignError for two of one name otherwise.
        """
        own = {part: part.hardware(values, machine) for part, values in self._each(parameters)}
        hardware: list[Table | Logic] = []
        for part, added in own.items():
            known = {one.name for other in self.parts if uses(part, other, self.parts) for one in own[other]}
            hardware += [one for one in added if one.name not in known]
        names = [one.name for one in hardware]
        if twice := next((one for one in names if names.count(one) > 1), None):
            raise DesignError(f"{self.name}: two of the designs have hardware named {twice}")
        return tuple(hardware)

    def stages(self, parameters: Any) -> int:
        """Those of all designs, one after another."""
        return sum(part.stages(values) for part, values in self._each(parameters))

    def tables(self, parameters: Any, machine: Machine | None = None) -> dict[int, Table]:
        """Those of all designs, each from a row of its own on; a repeated one has several rows.

        Raises DesignError as `hardware` does.
        """
        self.hardware(parameters, machine)
        first = first_tables(self.parts).first
        return {
            first[part.name] + row: table
            for part, values in self._each(parameters)
            for row, table in part.tables(values, machine).items()
        }

    def paths(self, parameters: Any, machine: Machine | None = None) -> dict[int, Path]:
        """Those of all designs, each from a number of its own on."""
        first = first_paths(self.parts).first
        return {
            first[part.name] + number: path
            for part, values in self._each(parameters)
            for number, path in part.paths(values, machine).items()
        }

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
    parts = arranged(designs)
    name = SEPARATOR.join(part.name for part in parts)
    _check_results(name, parts)
    levels, events, resources = (names_of(kind, parts) for kind in ("levels", "events", "resources"))
    declarations = [part.declaration for part in parts]
    filled = {slot for one in declarations for slot in one.slots}
    declaration = Declaration(
        slot=tuple(slot for slot in SLOTS if slot in filled),
        source="; ".join(one.source for one in declarations),
        levels=("MRF", *levels.names),
        main=("MRF", *(name for name in levels.names if any(name in one.main for one in declarations))),
        order=max((one.order for one in declarations), key=ORDERS.index),
        events=tuple(events.names),
        resources=tuple(resources.names),
        profile=any(one.profile for one in declarations),
        widths=any(one.widths for one in declarations),
        patterns=any(one.patterns for one in declarations),
        lanes=any(one.lanes for one in declarations),
        technology=_named_technology(declarations),
    )
    module = ModuleType(f"warpreg_composition_{name}")
    fields = tuple(field_of(part.name) for part in parts)
    vars(module)["State"] = record_type("State", fields)
    if any(hasattr(part.module, "hints") for part in parts):
        vars(module)["Hints"] = record_type("Hints", fields)
    return Composition(
        name=name,
        path=parts[0].path,
        summary="; ".join(part.summary for part in parts),
        declaration=declaration,
        parameter_type=_parameters(parts),
        hooks=composed_hooks(
            _hooked(
                parts, (levels, events, resources, first_tables(parts), first_paths(parts)), hasattr(module, "Hints")
            )
        ),
        module=module,
        parts=parts,
        is_checked=any(part.is_checked for part in parts),
    )


def _hooked(parts: Sequence[Design], names: Sequence[Names], has_hints: bool) -> tuple[Part, ...]:
    """The hooks of the designs, with their positions and the offsets of their own indices."""
    decides = deciders(parts)
    return tuple(
        Part(
            position,
            part.declaration.slots,
            {hook: function for hook, function in part.hooks.items() if decides.get(hook, part) is part},
            tuple((field_of(used.name), parts.index(used)) for used in used_by(part, parts)),
            has_hints,
            *(one.first[part.name] for one in names),
        )
        for position, part in enumerate(parts)
    )


def _check_results(name: str, parts: Sequence[Design]) -> None:
    """A design that plans results in ``produced`` alone comes too late for one that takes what it leaves over."""
    planning = sorted(parts, key=lambda part: planning_rank(part.declaration.slots))
    for first, later in itertools.combinations(planning, 2):
        if "produced" in first.hooks and "plan_write" not in first.hooks and "plan_write" in later.hooks:
            raise DesignError(
                f"{name}: {first.name} plans results in produced, so {later.name}, which takes over what it leaves, "
                "cannot plan them in plan_write"
            )


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


def _named_technology(declarations: Sequence[Declaration]) -> str:
    """The technology that the parts name, if they agree."""
    named = {one.technology for one in declarations if one.technology}
    return named.pop() if len(named) == 1 else ""
