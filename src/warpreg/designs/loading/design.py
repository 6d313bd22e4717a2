"""A design loaded from its file: declaration, parameters, state and hooks."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.kernel_analysis import Analysis, Frequencies
from warpreg.designs.errors import DesignError
from warpreg.designs.interface import Declaration
from warpreg.designs.interface.banks import Banks, Collectors
from warpreg.designs.interface.checked import Checked, Corruption
from warpreg.designs.interface.declaration import field_of
from warpreg.designs.interface.hardware import Logic, Table
from warpreg.designs.interface.own_hints import own_hints
from warpreg.designs.interface.parameters import ParameterSpec, Value, configure, expectation, of_machine, specs
from warpreg.designs.interface.paths import MAX_PATHS
from warpreg.designs.interface.paths import Path as LevelPath
from warpreg.designs.interface.program import HINTS, Program, read_only
from warpreg.designs.interface.residency import Launch, Residency, Room, room, unshared
from warpreg.designs.interface.state import named_leaves, wrong_leaf
from warpreg.designs.loading.author_code import author_code, place_of
from warpreg.designs.parts.hints.program_table import program_table
from warpreg.energy.counts import Structure
from warpreg.gpu.machine import Machine
from warpreg.ir.edges import EdgeError, check_added
from warpreg.ir.errors import UnknownNameError
from warpreg.ir.html_table import html_table
from warpreg.ir.kernel import Kernel

Recorded = Callable[[Kernel], Frequencies]
"""Computes the block frequencies of the recorded run for a kernel that designs have made of its own, int64[blocks]."""
MAX_STAGES = 8
"""Pipeline stages that one design adds at most."""
MAX_TABLES = 8
"""Tables that one design has at most."""
FUNCTIONS = 1024
"""Plain functions of designs whose parameters are kept."""
Returned = TypeVar("Returned")


@dataclass(frozen=True, eq=False)
class Design:
    """One register-file organisation."""

    name: str
    path: Path
    summary: str
    """The first sentence of its docstring."""
    declaration: Declaration
    parameter_type: type
    hooks: Mapping[str, FunctionType]
    module: ModuleType
    is_checked: bool = False
    """Its hooks check what they do."""
    state_with: Callable[[tuple[Any, ...], Kernel | None], tuple[Any, ...]] | None = None
    """What an instrument that has wrapped the hooks makes of the state, and of the code that the design runs."""

    def __repr__(self) -> str:
        return f"<Design {self.name}: {self.summary}>"

    def _repr_html_(self) -> str:
        """Its parameters, for notebooks."""
        rows = [(one.name, one.default, expectation(one), one.source) for one in self.parameters]
        return html_table(f"{self.name}: {self.summary}", ("parameter", "default", "values", "source"), rows)

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the levels, MRF first."""
        return self.declaration.levels

    @property
    def events(self) -> tuple[str, ...]:
        """Names of the design's own counters."""
        return self.declaration.events

    @property
    def parameters(self) -> tuple[ParameterSpec, ...]:
        """The declared parameters."""
        return specs(self.parameter_type)

    @property
    def defaults(self) -> Mapping[str, Value]:
        """The default values of the parameters."""
        return {spec.name: spec.default for spec in self.parameters}

    @property
    def digest(self) -> str:
        """Content hash of the file."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    def configure(self, **values: Value) -> Any:
        """Checked parameters; raises UnknownNameError or ParameterError."""
        return configure(self.name, self.parameter_type, values)

    def of_machine(self, machine: Machine) -> Mapping[str, Value]:
        """The parameters that describe a machine, with its values."""
        return of_machine(self.parameter_type, machine)

    def room(
        self,
        parameters: Any,
        program: Program,
        machine: Machine,
        launch: Launch,
        kernel: Kernel | None = None,
        recorded: Recorded | None = None,
    ) -> Room:
        """Capacity of an SM for the kernel; by default each warp allocates the kernel's registers, unshared.

        Raises DesignError if ``residency`` returns another type, OccupancyError for an impossible launch.
        """
        plain = unshared(machine, program.register_count)
        offered = {"launch": launch, "analysis": self.analysis(kernel, recorded)}
        found = self._call("residency", (parameters, program, machine), offered, plain)
        if not isinstance(found, Residency):
            raise self._wrong_type("residency", found, "a Residency")
        return room(machine, found, launch, program.register_count)

    def rewrite(
        self, kernel: Kernel, parameters: Any, room: Room | None = None, recorded: Recorded | None = None
    ) -> Kernel:
        """The kernel with what the design inserts or renames; blocks stay, and new ones may be on edges."""
        offered = {"room": room, "analysis": self.analysis(kernel, recorded)}
        rewritten = self._call("rewrite", (kernel, parameters), offered, kernel)
        if not isinstance(rewritten, Kernel):
            raise self._wrong_type("rewrite", rewritten, "a Kernel")
        try:
            check_added(kernel, rewritten)
        except EdgeError as error:
            raise DesignError(
                f"{self.path}: rewrite changed the blocks, it may change instructions inside them and put blocks on "
                f"edges: {error}"
            ) from error
        is_copy = rewritten is not kernel and rewritten.analyses is kernel.analyses
        return dataclasses.replace(rewritten, analyses={}) if is_copy else rewritten

    def compile(
        self,
        program: Program,
        parameters: Any,
        kernel: Kernel | None = None,
        room: Room | None = None,
        recorded: Recorded | None = None,
    ) -> Program:
        """The program with the hint columns that the design fills, and its own hints.

        ``kernel`` is the kernel of the program table, None if the design does not need it; ``recorded`` computes the
        block frequencies of the recorded run.  Raises DesignError if the design changes another column, or returns
        hints that hooks cannot index.
        """
        offered = {"kernel": kernel, "room": room, "analysis": self.analysis(kernel, recorded)}
        compiled = self._checked(program, self._call("compile", (program, parameters), offered, program))
        if not hasattr(self.module, "hints"):
            return compiled
        found = self._call("hints", (compiled, parameters), offered, None)
        return compiled._replace(hints=own_hints(str(self.path), found, compiled))

    def _checked(self, program: Program, compiled: object) -> Program:
        """The compiled program.  Raises DesignError unless it is ``program`` with other hint columns."""
        if compiled is program:
            return program
        if not isinstance(compiled, Program):
            raise self._wrong_type("compile", compiled, "a Program")
        for name, before in program._asdict().items():
            after = getattr(compiled, name)
            if name in HINTS and (np.shape(after) != np.shape(before) or np.asarray(after).dtype != before.dtype):
                raise DesignError(f"{self.path}: compile returned {name} with another shape or type than the program's")
            if name not in HINTS and not np.array_equal(after, before):
                raise DesignError(f"{self.path}: compile changed {name}; it may fill {', '.join(HINTS)}")
        return compiled

    def program(
        self, kernel: Kernel, parameters: Any, recorded: Recorded | None = None, room: Room | None = None
    ) -> Program:
        """The table of a kernel with the design's hints, computed once per kernel, parameters and room; with a profile
        each time.
        """
        if self.declaration.profile:
            return self.compile(program_table(kernel), parameters, kernel, room, recorded)
        known, key = _programs(kernel), (self, parameters, room)
        if key not in known:
            known[key] = self.compile(program_table(kernel), parameters, kernel, room)
        return known[key]

    def explain(self, program: Program, parameters: Any, kernel: Kernel) -> Mapping[int, str]:
        """Per pc, the reason of the compile step's decision; empty for a design without ``explain``."""
        offered = {"analysis": self.analysis(kernel, None)}
        reasons: Mapping[int, str] = self._call("explain", (program, parameters, kernel), offered, {})
        return reasons

    def checked(self, program: Program, parameters: Any, kernel: Kernel) -> Checked:
        """What verifies a compiled program by execution; by default the levels of the hint columns are places."""
        if hasattr(self.module, "checked"):
            found: Checked = self._call("checked", (program, parameters, kernel), {}, None)
            return found
        from warpreg.designs.parts.placement.check import findings  # only verification executes placements
        from warpreg.designs.parts.placement.expand import expanded

        changed = expanded(kernel, program, self.levels)
        return Checked(changed.kernel, changed.taints, lambda: findings(kernel, program))

    def corruptions(self, kernel: Kernel, parameters: Any, visits: NDArray[np.int64]) -> Sequence[Corruption] | None:
        """Seeded errors in what ``checked`` verifies, in blocks with ``visits``; None if the design has none."""
        found: Sequence[Corruption] | None = self._call("corruptions", (kernel, parameters, visits), {}, None)
        return found

    def initial_state(
        self,
        parameters: Any,
        program: Program,
        room: Room | None = None,
        kernel: Kernel | None = None,
        recorded: Recorded | None = None,
        beside: Collection[str] = (),
    ) -> tuple[Any, ...]:
        """The state returned by ``init``; empty for a design without one.

        ``beside`` are the names of the designs of the composition; the fields of those that the design uses are 0.
        Raises DesignError if the design needs one that is not there.
        """
        state = self._own_state(parameters, program, room, kernel, recorded, beside)
        return state if self.state_with is None else self.state_with(state, kernel)

    def _own_state(
        self,
        parameters: Any,
        program: Program,
        room: Room | None,
        kernel: Kernel | None,
        recorded: Recorded | None,
        beside: Collection[str],
    ) -> tuple[Any, ...]:
        offered = {"room": room, "analysis": self.analysis(kernel, recorded)}
        state: Any = self._call("init", (parameters, program), offered, ())
        for name in self.declaration.uses if hasattr(state, "_fields") else ():
            if name in beside:
                state = state._replace(**{field_of(name): 0})
            elif getattr(state, field_of(name)) is None:
                raise DesignError(f"{self.name} uses {name}, so it needs that design beside it: {name}+{self.name}")
        return self._sound(state)

    def _sound(self, state: Any) -> tuple[Any, ...]:
        """The state.  Raises DesignError for what hooks cannot be given."""
        if not isinstance(state, tuple) or (state and not hasattr(state, "_fields")):
            raise self._wrong_type("init", state, "the State")
        for name, value in named_leaves(state):
            if wrong := wrong_leaf(value):
                raise DesignError(f"{self._place('init')}: state {name} {wrong}")
        return state

    def analysis(self, kernel: Kernel | None, recorded: Recorded | None) -> Analysis | None:
        """What the design may ask about a kernel; with block frequencies if it declares ``profile``."""
        if kernel is None:
            return None
        if not self.declaration.profile:
            return _analysis(kernel)
        return Analysis(kernel, None if recorded is None else partial(recorded, kernel))

    def _call(self, name: str, needed: tuple[Any, ...], offered: Mapping[str, Any], default: Any) -> Any:
        """Call a plain function of the design with the arguments that it accepts; ``default`` if it is not defined.

        An argument with a default may be missing.  Raises DesignError for another one that is.
        """
        function: Callable[..., Any] | None = getattr(self.module, name, None)
        if function is None:
            return default
        taken = _taken(function)
        chosen = {key: value for key, value in offered.items() if key in taken}
        chosen = {k: v for k, v in chosen.items() if v is not None or taken[k].default is inspect.Parameter.empty}
        if missing := [key for key, value in chosen.items() if value is None]:
            needs = "which needs a machine and a kernel's launch" if missing[0] == "room" else "which needs the kernel"
            lacking = "and no machine is given" if missing[0] == "machine" else needs
            raise DesignError(f"{self.path}: {name} takes {missing[0]}, {lacking}")
        given = (read_only(one) if isinstance(one, Program) else one for one in needed)
        with author_code(self.path, f"{name} ran"):
            return function(*given, **chosen)

    def _wrong_type(self, name: str, found: object, expected: str) -> DesignError:
        return DesignError(f"{self._place(name)}: {name} returned a {type(found).__name__}, expected {expected}")

    def _place(self, name: str) -> str:
        """Where a plain function of the design is defined."""
        return place_of(self.path, getattr(self.module, name, None))

    def structures(self, parameters: Any) -> tuple[Structure, ...]:
        """The storage of each level, in order of levels."""
        declared: Callable[[Any], tuple[Structure, ...]] | None = getattr(self.module, "structures", None)
        if declared is None:
            return tuple(Structure(level) for level in self.levels)
        with author_code(self.path, "structures ran"):
            storage = tuple(declared(parameters))
        if not all(isinstance(one, Structure) for one in storage):
            returned = ", ".join(type(one).__name__ for one in storage)
            raise DesignError(f"{self._place('structures')}: structures returned {returned}, expected Structures")
        if tuple(s.level for s in storage) != self.levels:
            returned = ", ".join(s.level for s in storage)
            raise DesignError(
                f"{self.path}: structures returned {returned}, expected one per level: {', '.join(self.levels)}"
            )
        for one in storage:
            if one.powered is not None and one.powered not in self.declaration.resources:
                known = ", ".join(self.declaration.resources) or "none"
                raise DesignError(
                    f"{self.path}: {one.level} is powered by '{one.powered}', which is no resource; there are: {known}"
                )
        return storage

    def banks(self, parameters: Any, machine: Machine | None = None) -> Banks | None:
        """Slices and row addresses of the banks; None if the design leaves them to the machine."""
        return self._returned("banks", parameters, machine, Banks)

    def collectors(self, parameters: Any, machine: Machine | None = None) -> Collectors | None:
        """The collectors of the design; None if it uses the machine's."""
        return self._returned("collectors", parameters, machine, Collectors)

    def hardware(self, parameters: Any, machine: Machine | None = None) -> tuple[Table | Logic, ...]:
        """Tables and logic that the design adds.  Raises DesignError for anything else."""
        found: tuple[Table | Logic, ...] = tuple(self._call("hardware", (parameters,), {"machine": machine}, ()))
        for one in found:
            if not isinstance(one, (Table, Logic)):
                raise DesignError(f"{self.path}: hardware returned a {type(one).__name__}, expected a Table or Logic")
        return found

    def stages(self, parameters: Any) -> int:
        """Pipeline stages that the design adds between issue and operand fetch.

        Raises DesignError unless they are a number from 0 to `MAX_STAGES`.
        """
        count: object = self._call("stages", (parameters,), {}, 0)
        if not isinstance(count, int) or not 0 <= count <= MAX_STAGES:
            raise DesignError(
                f"{self._place('stages')}: stages returned {count!r}, expected a number from 0 to {MAX_STAGES}"
            )
        return int(count)

    def tables(self, parameters: Any, machine: Machine | None = None) -> dict[int, Table]:
        """The tables by their row in a `Plan`.  Raises DesignError for more than `MAX_TABLES`."""
        found = [one for one in self.hardware(parameters, machine) if isinstance(one, Table)]
        if len(found) > MAX_TABLES:
            raise DesignError(f"{self.path}: hardware returned {len(found)} tables, expected at most {MAX_TABLES}")
        return dict(enumerate(found))

    def paths(self, parameters: Any, machine: Machine | None = None) -> dict[int, LevelPath]:
        """The paths between levels by their number.

        Raises DesignError for anything else, more than `MAX_PATHS`, and a path from or to a level that is none.
        """
        found = tuple(self._call("paths", (parameters,), {"machine": machine}, ()))
        if len(found) > MAX_PATHS:
            raise DesignError(
                f"{self._place('paths')}: paths returned {len(found)} paths, expected at most {MAX_PATHS}"
            )
        for one in found:
            if not isinstance(one, LevelPath):
                raise self._wrong_type("paths", one, "Paths")
            for level in (one.source, one.target):
                if level not in self.levels:
                    raise DesignError(f"{self._place('paths')}: {UnknownNameError('level', level, self.levels)}")
        return dict(enumerate(found))

    def _returned(self, name: str, parameters: Any, machine: Machine | None, kind: type[Returned]) -> Returned | None:
        found = self._call(name, (parameters,), {"machine": machine}, None)
        if found is not None and not isinstance(found, kind):
            raise DesignError(f"{self.path}: {name} returned a {type(found).__name__}, expected {kind.__name__}")
        return found


@functools.lru_cache(FUNCTIONS)
def _taken(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """The parameters of a plain function of a design."""
    return inspect.signature(function).parameters


@cached_analysis
def _analysis(kernel: Kernel) -> Analysis:
    return Analysis(kernel)


@cached_analysis
def _programs(kernel: Kernel) -> dict[tuple[Design, Any, Room | None], Program]:
    """Cache of a kernel's program tables, by design, parameters and room."""
    return {}
