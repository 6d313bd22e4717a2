"""Compile the core with the replacements of `ports` by designs and the memory model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from numpy.typing import NDArray

from piecewise_numba.bare_arrays import Numbers, bare, widths
from piecewise_numba.natives import Function
from piecewise_numba.options import Mode
from piecewise_numba.recipe import CompileError, Recipe
from piecewise_numba.sealed import sealed
from warpreg.counting.diagnostics import author_line, authors_files, brief, check_return_types
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.plan import Plan
from warpreg.designs.interface.program import Program
from warpreg.timing.core.columns import machine as machine_columns
from warpreg.timing.core.port import check, port
from warpreg.timing.core.state import IN_FRONT
from warpreg.timing.memory.memory_columns import parameters
from warpreg.timing.sm.cycle import run

Entry = Callable[..., int]


class Designs(NamedTuple):
    """Argument of the functions of `warpreg.timing.hooks`: states and plans of the designs.

    The arrays from ``sources`` to ``queued`` are those of the ``plan``.  What differs most between designs comes last:
    see `piecewise_numba.sealed`.
    """

    plan: Plan
    """What a hook may set."""
    sources: NDArray[Any]
    """Its sources."""
    results: NDArray[Any]
    """Its results."""
    extras: NDArray[Any]
    """Its extra accesses."""
    woken: NDArray[Any]
    """Tokens that it wakes."""
    asked: NDArray[Any]
    """Accesses of tables that it asks for."""
    completed: NDArray[Any]
    """Held loads that it completes."""
    sent: NDArray[Any]
    """Accesses to memory of the design's own."""
    queued: NDArray[Any]
    """How many there are of these."""
    kept: NDArray[Any]
    """int32[operations, results, 2, columns]: what is planned of the results of instructions under way."""
    tables: NDArray[Any]
    """int64[tables, 4], as in `warpreg.timing.hooks.table_access`."""
    free_ports: NDArray[Any]
    """int64[SMs, banks], as in `warpreg.timing.hooks.table_access`."""
    path_free: NDArray[Any]
    """int64[SMs, counters], as in `warpreg.timing.hooks.transfers`."""
    program: Program
    """The program table."""
    state: Any
    """State of the designs."""
    resets: Any
    """What sets the rows of a warp to their first values."""


NO_DESIGN = Designs._make(0 for _ in Designs._fields)
"""The argument of a core without hooks."""


@port("`warpreg.timing.sm.cycle.run`")
def core(c: Any, memory: Any, d: Any) -> int:
    """The core; replaced by `warpreg.timing.sm.cycle.run`."""
    raise NotImplementedError


@port("bare arrays, in compiled code")
def opened_core(c: Any) -> Any:
    """The arrays of the core; bare ones in compiled code without bounds checks."""
    return c


@port("bare arrays, in compiled code")
def opened_memory(memory: Any) -> Any:
    """The arrays of the memory system, in the same way."""
    return memory


def with_designs(c: Any, memory: Any, d: Designs) -> int:
    """Run the core with designs."""
    return core(opened_core(c), opened_memory(memory), sealed(d))


@dataclass(frozen=True)
class CoreRecipe:
    """Ingredients of a compiled core.

    ``hooks``: those that the core calls.  ``replaced``: by port, what takes its place (`warpreg.timing.core.port`).
    ``mode`` as in a replay.
    """

    replaced: Mapping[Function, Function]
    hooks: Mapping[str, FunctionType] = field(default_factory=dict)
    mode: Mode = "compiled"

    def build(self, arguments: tuple[Any, ...]) -> Entry:
        """The entry point of the core for arguments of these types, from the disk cache if present.

        Raises DesignError for a hook that does not compile, TypeError for a replaced function that is no port.
        """
        replaced: dict[Function, Function] = {core: run, **self.replaced}
        check(replaced)
        if self.mode == "compiled":
            c, memory = arguments[:2]
            machine, system = (
                _numbers(c.machine, machine_columns.STRUCTURE),
                _numbers(memory.parameters, parameters.STRUCTURE),
            )
            replaced[opened_core] = bare(widths(c), IN_FRONT, machine)
            replaced[opened_memory] = bare(widths(memory), (), system)
        try:
            return Recipe(with_designs, replaced, self.hooks, self._check, self.mode, selects=True).build(arguments)
        except CompileError as error:
            raise DesignError(self._blamed(error.error)) from error

    def _check(self, hooks: Mapping[str, Any]) -> None:
        check_return_types(self.hooks, hooks)

    def _blamed(self, error: Exception) -> str:
        """One line that states what does not compile, with the author's file and line if numba names them."""
        for name, hook in self.hooks.items():
            if any(Path(file).name in str(error) for file in authors_files(hook)):
                return f"{author_line(hook, error)}: hook {name}: {brief(error)}"
        return f"the timing core does not compile: {brief(error)}"


def _numbers(array: Any, structure: Sequence[int]) -> Numbers:
    return tuple(zip(structure, array[list(structure)].tolist(), strict=True))
