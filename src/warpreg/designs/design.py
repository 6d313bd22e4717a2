"""A design as loaded from its file: declaration, parameters, state, hooks; checked as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from warpreg.designs.errors import DesignError
from warpreg.designs.interface import Declaration
from warpreg.designs.parameters import ParameterSpec, Value, configure, specs
from warpreg.designs.program import HINTS, Program
from warpreg.energy.counts import Structure


@dataclass(frozen=True, eq=False)
class Design:
    """One register-file organisation.  ``summary`` the first sentence of
    its docstring.
    """

    name: str
    path: Path
    summary: str
    declaration: Declaration
    parameter_type: type
    hooks: Mapping[str, FunctionType]
    module: ModuleType

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

    def configure(self, **values: Value) -> Any:
        """Checked parameters; raises UnknownNameError or ParameterError."""
        return configure(self.name, self.parameter_type, values)

    def compile(self, program: Program, parameters: Any) -> Program:
        """The program with the design's hint columns; the design may fill those and change nothing else."""
        step: Callable[[Program, Any], Program] | None = getattr(self.module, "compile", None)
        if step is None:
            return program
        compiled = step(program, parameters)
        for name, before in program._asdict().items():
            after = getattr(compiled, name)
            if name in HINTS and (np.shape(after) != np.shape(before) or np.asarray(after).dtype != before.dtype):
                raise DesignError(f"{self.path}: compile returned {name} with another shape or type than the program's")
            if name not in HINTS and not np.array_equal(after, before):
                raise DesignError(f"{self.path}: compile changed {name}; it may fill {', '.join(HINTS)}")
        return compiled

    def initial_state(self, parameters: Any, program: Program) -> tuple[Any, ...]:
        """The state as ``init`` returns it; empty for a design without one."""
        init: Callable[[Any, Program], tuple[Any, ...]] | None = getattr(self.module, "init", None)
        return () if init is None else init(parameters, program)

    def structures(self, parameters: Any) -> tuple[Structure, ...]:
        """The storage behind each level, in order of levels."""
        declared: Callable[[Any], tuple[Structure, ...]] | None = getattr(self.module, "structures", None)
        storage = tuple(Structure(level) for level in self.levels) if declared is None else tuple(declared(parameters))
        if tuple(s.level for s in storage) != self.levels:
            found = ", ".join(s.level for s in storage)
            raise DesignError(
                f"{self.path}: structures returned {found}, expected one of each level: {', '.join(self.levels)}"
            )
        return storage
