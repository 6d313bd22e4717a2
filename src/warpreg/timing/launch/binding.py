"""Bind the core of one run to a memory system and a design."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from warpreg.designs.checking.running import Limits, has_checks, watched
from warpreg.designs.checking.words import NO_LIMIT
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.accounts import unplanned
from warpreg.designs.interface.banks import Banks, Collectors
from warpreg.designs.interface.hardware import Table
from warpreg.designs.interface.own_hints import writable
from warpreg.designs.interface.paths import Path, counters_of, path_rows
from warpreg.designs.interface.plan import (
    COUNTED,
    INTEGRAL,
    MAX_REQUESTS,
    MISCHOSEN,
    REFUSED,
    SINCE,
    VALUE,
    Plan,
    blank_plan,
)
from warpreg.designs.interface.program import Program, lengths
from warpreg.designs.interface.state import (
    Extent,
    Row,
    allocate,
    allocated_state,
    named_leaves,
    reset_rows,
    resets_of,
    resetting,
)
from warpreg.designs.interface.thread_blocks import with_slots
from warpreg.designs.interface.turns import mischosen, with_sight
from warpreg.designs.loading.fetch import UNSLICED, wrong_slices
from warpreg.gpu import Machine
from warpreg.ir.kernel import Kernel
from warpreg.timing import memory
from warpreg.timing.core.columns import code
from warpreg.timing.core.conditions import CoreConfig, shares_accesses
from warpreg.timing.core.port import HOOKS, replacements
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import array_of
from warpreg.timing.core.whole_columns import ops_of
from warpreg.timing.launch.compile import NO_DESIGN, CoreRecipe, Designs, Entry
from warpreg.timing.launch.variants import called_hooks, given_of, waits_for_all
from warpreg.timing.memory import Memory
from warpreg.timing.tracing.recorder import Records


@dataclass(frozen=True)
class Behaviour:
    """A design in a run of a kernel."""

    program: Program
    """The program table, with the hints of the design."""
    hooks: Mapping[str, FunctionType] = field(default_factory=dict)
    """The hooks that it defines, by name."""
    state: tuple[Any, ...] = ()
    """Its initial state."""
    name: str = "mrf"
    """Its name, for messages."""
    levels: int = 1
    """The number of its levels."""
    main: int = 1
    """The levels of the main register file, a bit each."""
    events: int = 0
    """The number of events that it counts."""
    resources: int = 0
    """The number of quantities that it sets with `level`."""
    widths: bool = False
    """Whether hooks ask for the widths of results, or for patterns."""
    lanes: bool = False
    """Whether hooks ask for the addresses of lanes."""
    banks: Banks = UNSLICED
    """Slices and row addresses of the banks."""
    tables: Mapping[int, Table] = field(default_factory=dict)
    """Tables by their row in a `Plan`."""
    paths: Mapping[int, Path] = field(default_factory=dict)
    """Paths between its levels by their number."""
    level_names: tuple[str, ...] = ("MRF",)
    """The names of its levels."""
    collectors: Collectors | None = None
    """The collectors of a warp slot, None for those of the machine."""
    registers: int = NO_LIMIT
    """The registers that a warp holds."""
    stages: int = 0
    """The pipeline stages that it adds."""
    patterns: bool = False
    """Whether hooks ask for patterns of results; then they also have ``widths``."""

    @property
    def in_step(self) -> bool:
        """Whether the order among SMs may matter: they share an array that hooks may write."""
        values = (value for _, value in named_leaves(self.state))
        return any(isinstance(value, Row) and value.scope == "kernel" for value in values)

    @property
    def is_checked(self) -> bool:
        """Whether hooks are checked while they run, in one record of the process."""
        return has_checks(self.hooks.values())


class EntryArguments:
    """Arguments of the entry point besides the core, and the counters of a design.

    ``accesses`` int64[levels * 4], ``moves`` int64[levels, levels], ``events`` int64[events] as in a `Plan`;
    ``plan.levels`` int64[SMs, resources, 3].  ``reach``: the run asks which level of memory warps wait for.
    ``clocked``: it measures the time that the memory model takes.  ``recorder``: what records the run.
    """

    def __init__(
        self,
        behaviour: Behaviour,
        machine: Machine,
        system: Memory,
        reach: bool = False,
        clocked: bool = False,
        recorder: Records | None = None,
    ) -> None:
        self.reach, self._clocked, self._recorder = reach, clocked, recorder
        sms, slots, schedulers = len(system.sms), machine.sm.warps, machine.schedulers.count
        self.behaviour, self.system = behaviour, system
        self._machine = machine
        program = with_slots(behaviour.program._replace(slots=slots, schedulers=schedulers), sms * slots)
        program = with_sight(program, sms * slots, behaviour.hooks)
        self.program = writable(program) if behaviour.hooks else program
        self.fields = allocate(behaviour.name, behaviour.state, Extent.of_sms(sms, slots, schedulers))
        self._limits = Limits(
            banks=machine.register_file.banks + behaviour.banks.added,
            slices=behaviour.banks.slices,
            registers=behaviour.registers,
            warps=sms * slots,
            slots=slots,
            named=program.register_count,
        )
        sources, results = _most(self.program.source_start), _most(self.program.result_start)
        self.tables, self.free_ports = table_arrays(behaviour.tables, sms)
        main = [name for level, name in enumerate(behaviour.level_names) if behaviour.main >> level & 1]
        rows = path_rows(behaviour.paths, behaviour.level_names, main, schedulers)
        self.path_free = np.zeros((sms, counters_of(rows)), np.int64)
        sizes = sources, results, MAX_REQUESTS, sms, behaviour.resources, len(self.tables)
        self.plan = blank_plan(behaviour.levels, behaviour.events, *sizes, rows)
        self._systems = memory.members(system)
        others = [blank_plan(behaviour.levels, behaviour.events, *sizes, rows) for _ in self._systems[1:]]
        self._plans = [self.plan, *(one._replace(levels=self.plan.levels) for one in others)]
        self._kept = np.zeros((0, *self.plan.results.shape), np.int32)
        self.accesses, self.moves, self.events = self.plan.accesses, self.plan.moves, self.plan.events

    @property
    def threads(self) -> int:
        """Threads that step the SMs together, as many as the memory system is made for."""
        return len(self._systems)

    @property
    def has_design(self) -> bool:
        """Whether any hook is called."""
        return bool(self.behaviour.hooks)

    def watched(self) -> AbstractContextManager[None]:
        """What the core runs in: a check that fails in a hook becomes a DesignError."""
        return watched(self.behaviour.hooks, self._limits)

    @property
    def shares(self) -> bool:
        """Whether words may share an access of a bank by their slices and rows."""
        return shares_accesses(given_of(self._machine, self.behaviour.hooks, banks=self.behaviour.banks))

    @property
    def collectors_of_a_slot(self) -> int:
        """Collectors of a warp slot, 1 if they are those of the machine."""
        own = self.behaviour.collectors
        return 1 if own is None or self._machine.operand_path.kind == "ideal" else own.reading

    @property
    def state(self) -> Any:
        """The design's state as its hooks see it."""
        return allocated_state(self.behaviour.state, self.fields)

    def integrals(self, cycles: int) -> list[list[int]]:
        """By SM and resource: the value summed over all cycles of the run."""
        levels = self.plan.levels
        summed: list[list[int]] = (
            levels[:, :, INTEGRAL] + levels[:, :, VALUE] * (cycles - levels[:, :, SINCE])
        ).tolist()
        return summed

    def check(self, kernel: Kernel) -> None:
        """Raises DesignError if a hook has named slices that banks do not have, or left an operand unplanned."""
        found = int(self.plan.queued[REFUSED])
        if found != 0:
            raise wrong_slices(self.behaviour.name, self.behaviour.banks.slices, found)
        for one in self._plans:
            if wrong := unplanned(one.planned, self.behaviour.hooks, self.program, kernel):
                raise wrong

    @property
    def mischosen(self) -> DesignError | None:
        """The error for a warp that ``choose`` has returned and that cannot issue."""
        found = [int(one.queued[MISCHOSEN]) for one in self._plans if one.queued[MISCHOSEN]]
        return mischosen(self.behaviour.name, found[0] - 1) if found else None

    def gather(self) -> None:
        """At the end, bring the counts of all threads into those of the leader."""
        for one in self._plans[1:]:
            for name in COUNTED:
                getattr(self.plan, name)[...] += getattr(one, name)
            self.plan.queued[REFUSED] |= one.queued[REFUSED]

    def arguments(self, core: Core, member: int = 0) -> tuple[Any, ...]:
        """Arguments of the entry point after the core, for one of the threads."""
        system = self._systems[member]
        if not self.has_design:
            return system, NO_DESIGN
        plan, kept = self._plan_for(core, self._plans[member]), self._kept_for(core)
        queues = plan.extras, plan.woken, plan.asked, plan.completed, plan.sent, plan.queued
        own = self.program, self.state, resets_of(self.fields)
        return system, Designs(
            plan, plan.sources, plan.results, *queues, kept, self.tables, self.free_ports, self.path_free, *own
        )

    def _plan_for(self, core: Core, plan: Plan) -> Plan:
        """The blank plan; with the core's records where widths or the addresses of lanes stand behind them."""
        plan = plan._replace(widths=core.slab.view(np.uint8)) if self.behaviour.widths else plan
        return plan._replace(lanes=core.slab) if self.behaviour.lanes else plan

    def _kept_for(self, core: Core) -> NDArray[np.int32]:
        """Room for what is planned of the results of all instructions under way, where two hooks plan them."""
        room = len(ops_of(core).rows)
        if self.behaviour.hooks.keys() >= {"plan_write", "produced"} and len(self._kept) < room:
            more = np.zeros((room - len(self._kept), *self._kept.shape[1:]), np.int32)
            self._kept = np.concatenate((self._kept, more))
        return self._kept

    def entry(self, core: Core, mode: Mode) -> Entry:
        """The entry point of the core for these arguments."""
        called = called_hooks(self.behaviour.hooks)
        replaced: dict[Any, Any] = {**replacements(self.given(core)), **{HOOKS[name]: called[name] for name in called}}
        if self.has_design:
            replaced[reset_rows] = resetting(self.fields)
        return CoreRecipe(replaced, called, mode).build((core, *self.arguments(core)))

    def given(self, core: Core) -> CoreConfig:
        """What the core is compiled for."""
        own, rows = self.behaviour, array_of(core.code)
        return given_of(
            self._machine,
            own.hooks,
            waits_for_all=waits_for_all(self.program),
            has_control_codes=bool(rows[:, int(code.CONTROL)].any()),
            widths=own.widths,
            lanes=own.lanes,
            main_levels=own.main,
            banks=own.banks,
            collectors=own.collectors,
            has_tables=bool(own.tables),
            has_paths=bool(own.paths),
            reach=self.reach,
            recording="" if self._recorder is None else self._recorder.recording,
            clocked=self._clocked,
        )

    def prepared(self, core: Core) -> Core:
        """The core before its run, with room for what is recorded."""
        return core if self._recorder is None else self._recorder.prepared(core, self.plan)


def table_arrays(tables: Mapping[int, Table], sms: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Shapes of tables by row, and the first free port of all their banks: int64[tables, 4] and int64[SMs, banks].

    Rows with tables of one name are one table.
    """
    shapes = np.zeros((max(tables, default=-1) + 1, 4), np.int64)
    first: dict[str, int] = {}
    banks = 0
    for row, table in tables.items():
        if table.name not in first:
            first[table.name] = banks
            banks += table.banks
        shapes[row] = first[table.name], table.banks, table.ports, table.stages
    return shapes, np.zeros((sms, banks), np.int64)


def _most(starts: NDArray[np.int32]) -> int:
    """The largest number of operands of an instruction, at least 1."""
    return max(1, int(lengths(starts).max(initial=0)))
