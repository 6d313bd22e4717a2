"""Accesses, energy and waits of a design by static instruction.

The hooks of the design are wrapped: after each call, what it has counted goes to events of its instruction.  So replays
and timing runs count as they always do, and the events say where.  Hooks of no instruction, such as ``suspended``,
count in a row of their own.  In a timing run, the wait of an instruction is the time since its warp has issued the
instruction before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.natives import Function
from piecewise_numba.noinline import noinline
from piecewise_numba.options import Mode
from piecewise_numba.records import record_type
from warpreg.counting.added_code import fit_of
from warpreg.counting.counts import READS_PLANNED_BY, WRITES_PLANNED_BY
from warpreg.designs import Design
from warpreg.designs.interface import now, per_kernel, per_warp
from warpreg.designs.interface.hooks import HOOKS, combined, parts_of_hook
from warpreg.designs.interface.plan import READ, WRITE, Plan
from warpreg.designs.interface.plan_functions import count
from warpreg.designs.interface.program import Program
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.counting import Timed
from warpreg.evaluation.runs.run import Run, RunError
from warpreg.gpu import Machine
from warpreg.ir.kernel import Kernel
from warpreg.replay import Counts, replay

MAX_ADDED = 2048
"""Instructions that a design may add to a kernel."""
ISSUED, WAITED, OWN_COLUMNS = 0, 1, 2
"""Columns after those of the counts."""


class CountState(NamedTuple):
    """``columns`` of an instruction, ``rows`` of instructions and of what belongs to none, ``first`` event; counts
    ``before`` the last hook; ``last`` [warp]: the cycle of its last issue.
    """

    columns: int
    rows: int
    first: int
    before: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ByInstruction:
    """Counts of a design by instruction of the ``kernel``; the last row is what belongs to none.

    ``issued`` and ``waited`` int64[rows] are warp-instructions and cycles; ``accesses`` int64[rows, levels, action,
    datapath] and ``moves`` int64[rows, levels, levels] are as in `Counts`, ``spared`` too.  What a design has added to
    the code counts with the next instruction that was there.  ``total`` are the counts of the whole run, ``cycles``
    those of all its launches, None without timing.
    """

    kernel: Kernel
    total: Counts
    issued: NDArray[np.int64]
    waited: NDArray[np.int64]
    accesses: NDArray[np.int64]
    spared: NDArray[np.int64]
    moves: NDArray[np.int64]
    cycles: float | None

    def row(self, pc: int) -> Counts:
        """The counts of an instruction, for its energy."""
        return dataclasses.replace(
            self.total, accesses=self.accesses[pc], spared=self.spared[pc], moves=self.moves[pc], events={}
        )

    def uses(self, pc: int, level: int) -> int:
        """Reads and writes of a level, moves included."""
        moved = self.moves[pc, level].sum() + self.moves[pc, :, level].sum()
        return int(self.accesses[pc, level].sum() + moved)


def by_instruction(
    run: Run,
    kernel: Kernel,
    choice: ConfiguredDesign,
    machine: Machine,
    timed: Timed | None = None,
    mode: Mode = "compiled",
) -> ByInstruction:
    """Count the launches of a kernel under a design.  Raises what counting raises, and RunError for a sample."""
    if timed is not None and timed.sample is not None:
        raise RunError(f"{kernel.name}: counts by instruction need a whole run, not a sample")
    design, codes = instrumented(choice.design, kernel)
    cycles = None
    if timed is None:
        counts = replay(run.path(kernel), kernel, design, machine=machine, mode=mode, **choice.parameters)
    else:
        from warpreg.timing import simulate  # takes a tenth of a second

        chosen = ConfiguredDesign(design, choice.values)
        registers = run.options.get("registers")
        found = simulate(run.launches_of(kernel), machine, designs=chosen, registers=registers, mode=mode)
        counts, cycles = found.counts, found.cycles
    return _divided(kernel, codes[-1], choice.design, counts, cycles)


def instrumented(design: Design, kernel: Kernel) -> tuple[Design, list[Kernel]]:
    """The design with events by instruction, and a list that gets the code that it runs."""
    rows, levels = kernel.instruction_count + MAX_ADDED + 1, len(design.levels)
    counted = 8 * levels + levels * levels
    columns = counted + OWN_COLUMNS
    events = tuple(f"{row} {column}" for row in range(rows) for column in range(columns))
    declaration = dataclasses.replace(design.declaration, order=_order(design), events=(*design.events, *events))
    codes: list[Kernel] = []

    def state_with(own: tuple[Any, ...], code: Kernel | None) -> tuple[Any, ...]:
        assert code is not None, "replays and timing runs say which code they run"
        if code.instruction_count >= rows:
            raise RunError(f"{design.name} adds more than {MAX_ADDED} instructions to kernel {kernel.name}")
        codes.append(code)
        before = np.zeros(counted, np.int64)
        kept = CountState(columns, rows, len(design.events), per_kernel(before), per_warp(np.int64(0)))
        state: tuple[Any, ...] = record_type("Instructions", ("own", "kept"))(own, kept)
        return state

    hooks = _wrapped(design.hooks)
    return dataclasses.replace(design, declaration=declaration, hooks=hooks, state_with=state_with), codes


def _order(design: Design) -> Any:
    """Blocks are not counted once for all visits, as those of a static design are."""
    return "warp" if design.declaration.order == "static" else design.declaration.order


def _wrapped(hooks: Mapping[str, FunctionType]) -> dict[str, FunctionType]:
    """The hooks, and those of our own."""
    ours: dict[str, Function] = {"issued": _issues, "warp_start": _starts}
    wrapped = {}
    for name, spec in HOOKS.items():
        if name not in hooks and name not in ours:
            continue
        parts = parts_of_hook(hooks[name]) if name in hooks else ()
        if "plan" not in spec.parameters:
            function = _inner(hooks[name])
        elif name in ours:
            function = _then(hooks[name], ours[name]) if name in hooks else _alone(ours[name])
        elif spec.returns_int:
            function = _answering(hooks[name], "pc" in spec.parameters)
        else:
            function = _then(hooks[name], _notes if "pc" in spec.parameters else _notes_apart)
        wrapped[name] = combined(name, function, parts)
    return wrapped


def _inner(hook: Function) -> Callable[..., Any]:
    def called(state: Any, program: Program, *rest: Any) -> Any:
        return hook(state.own, program, *rest)

    return called


def _then(hook: Function, after: Function) -> Callable[..., Any]:
    def called(state: Any, program: Program, *rest: Any) -> None:
        hook(state.own, program, *rest)
        after(state.kept, rest)

    return called


def _alone(after: Function) -> Callable[..., Any]:
    def called(state: Any, program: Program, *rest: Any) -> None:
        after(state.kept, rest)

    return called


def _answering(hook: Function, has_pc: bool) -> Callable[..., Any]:
    after = _notes if has_pc else _notes_apart

    def called(state: Any, program: Program, *rest: Any) -> Any:
        answer = hook(state.own, program, *rest)
        after(state.kept, rest)
        return answer

    return called


def _issues(kept: Any, rest: Any) -> None:
    """An instruction has issued."""
    warp, pc, plan = rest[0], rest[1], rest[-1]
    first = kept.first + (pc + 1) * kept.columns - OWN_COLUMNS
    count(plan, first + ISSUED)
    count(plan, first + WAITED, now(plan) - kept.last[warp])
    kept.last[warp] = now(plan)
    _note(kept, pc, plan)


def _starts(kept: Any, rest: Any) -> None:
    """A warp starts; so may a run, whose counters are others."""
    plan = rest[-1]
    kept.last[rest[0]] = now(plan)
    _note(kept, -1, plan)


def _notes(kept: Any, rest: Any) -> None:
    """A hook of an instruction has been called."""
    _note(kept, rest[1], rest[-1])


def _notes_apart(kept: Any, rest: Any) -> None:
    """A hook of no instruction has been called."""
    _note(kept, kept.rows - 1, rest[-1])


@noinline
def _note(kept: Any, row: int, plan: Plan) -> None:
    """Move what has been counted since the last hook to the events of a row; of row -1, forget it."""
    size = plan.accesses.size
    first = kept.first + row * kept.columns
    for index in range(size):
        _add(kept, row, first, index, plan.accesses[index], plan)
        _add(kept, row, first, size + index, plan.spared[index], plan)
    levels = plan.moves.shape[0]
    for source in range(levels):
        for target in range(levels):
            _add(kept, row, first, 2 * size + source * levels + target, plan.moves[source, target], plan)


def _add(kept: Any, row: int, first: int, index: int, value: int, plan: Plan) -> None:
    more = value - kept.before[index]
    kept.before[index] = value
    if more != 0 and row >= 0:
        count(plan, first + index, more)


def _divided(kernel: Kernel, code: Kernel, design: Design, counts: Counts, cycles: float | None) -> ByInstruction:
    """The counts by instruction of the kernel, from the events of those of the code."""
    levels = len(design.levels)
    columns = 8 * levels + levels * levels + OWN_COLUMNS
    rows = kernel.instruction_count + MAX_ADDED + 1
    values = np.fromiter(counts.events.values(), np.int64, len(counts.events))[len(design.events) :][: rows * columns]
    table = values.reshape(rows, columns)
    result = np.zeros((kernel.instruction_count + 1, columns), np.int64)
    np.add.at(result, rows_of_code(kernel, code), table[: code.instruction_count])
    result[-1] += table[-1]
    size = 4 * levels
    shape = -1, levels, 2, 2
    own = [*counts.events.items()]
    total = dataclasses.replace(
        counts, events=dict(own[: len(design.events)] + own[len(design.events) + values.size :])
    )
    made = ByInstruction(
        kernel,
        total,
        result[:, -OWN_COLUMNS + ISSUED].copy(),
        result[:, -OWN_COLUMNS + WAITED].copy(),
        result[:, :size].reshape(shape).copy(),
        result[:, size : 2 * size].reshape(shape).copy(),
        result[:, 2 * size : 2 * size + levels * levels].reshape(-1, levels, levels).copy(),
        cycles,
    )
    _add_unplanned(made, design, code, table)
    return made


def rows_of_code(kernel: Kernel, code: Kernel) -> NDArray[np.int64]:
    """By pc of the code: the row of the instruction that was there, or of the next one after an added instruction."""
    if code is kernel:
        return np.arange(kernel.instruction_count)
    rows = np.full(code.instruction_count, kernel.instruction_count, np.int64)
    fit = fit_of(kernel, code)
    rows[fit.pcs] = np.arange(kernel.instruction_count)
    for block in code.blocks[: len(kernel.blocks)]:
        first = int(code.first_pcs()[block.index])
        for pc in reversed(range(first, first + len(block.instructions) - 1)):
            if fit.added.size and fit.added[pc]:
                rows[pc] = rows[pc + 1]
    return rows


def _add_unplanned(made: ByInstruction, design: Design, code: Kernel, table: NDArray[np.int64]) -> None:
    """Accesses of the register file by operands that no hook plans."""
    from warpreg.designs.parts.hints.program_table import program_table

    program = program_table(code)
    issued = table[: code.instruction_count, -OWN_COLUMNS + ISSUED]
    rows = rows_of_code(made.kernel, code)
    for action, planning, starts in (
        (READ, READS_PLANNED_BY, program.source_start),
        (WRITE, WRITES_PLANNED_BY, program.result_start),
    ):
        if planning.isdisjoint(design.hooks):
            np.add.at(made.accesses[:, 0, action], (rows, program.datapath), issued * np.diff(starts))
