"""Bind the core of one run to a memory system and a design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.natives import Function
from piecewise_numba.noinline import out_of_line
from piecewise_numba.options import Mode
from piecewise_numba.rebuild import calls_out_of_line
from warpreg.designs.checking.running import Limits, called_from, has_checks, watched
from warpreg.designs.checking.words import NO_LIMIT
from warpreg.designs.interface.accounts import unplanned
from warpreg.designs.interface.banks import Banks, Collectors
from warpreg.designs.interface.hardware import Table
from warpreg.designs.interface.hooks import authors_of_hook
from warpreg.designs.interface.own_hints import writable
from warpreg.designs.interface.plan import COUNTED, INTEGRAL, REFUSED, SINCE, VALUE, Plan, blank_plan
from warpreg.designs.interface.program import WAITS_FOR_ALL, Program, lengths
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
from warpreg.designs.interface.thread_blocks import knows_thread_blocks, with_slots
from warpreg.designs.loading.fetch import UNSLICED, wrong_slices
from warpreg.gpu import Machine
from warpreg.gpu.units import WINDOW
from warpreg.ir.kernel import Kernel
from warpreg.timing import memory
from warpreg.timing.core import ports
from warpreg.timing.core.columns import code
from warpreg.timing.core.state import Core
from warpreg.timing.core.whole_columns import ops_of
from warpreg.timing.hooks import adapters, held_loads, instruction_buffer, operand_events, table_access, waits
from warpreg.timing.hooks import lanes as lane_feed
from warpreg.timing.hooks import widths as width_feed
from warpreg.timing.launch.compile import NO_DESIGN, CoreRecipe, Designs, Entry
from warpreg.timing.memory import Memory
from warpreg.timing.memory import reach as memory_reach
from warpreg.timing.sm import (
    bank_queues,
    banked_path,
    constant_cache,
    control_codes,
    entry,
    ideal_path,
    instruction_cache,
    issue,
    operand_collector,
    owned_collectors,
    reach,
    readers,
    shared_access,
    stall_account,
    window_path,
    writeback,
)
from warpreg.timing.tracing.recorder import Records

OPERAND_PATH = ("collect", "is_collecting", "may_refuse", "refuses", "waits_for", "take", "result_word")
HOOK_MODULES: Sequence[Any] = (adapters, held_loads, instruction_buffer, operand_events, waits)
"""Modules with placeholders of hooks and with what takes the place of ports where a design defines them."""
issue_out_of_line = out_of_line(issue.issue_head)
QUEUE = 64
"""Extra accesses, woken tokens and completed loads that one call of a hook may request."""


Around = Callable[[Memory], Mapping[Function, Function]]


def _yes(c: Any) -> bool:
    return True


def _no(c: Any) -> bool:
    return False


def constant(value: int | bool) -> Function:
    """A function without parameters that returns ``value``, for the compiled core."""

    def known() -> int | bool:
        return value

    return known


@dataclass(frozen=True)
class Behaviour:
    """A design in a run of a kernel: its hooks, initial state, program table with hints, numbers of counters, banks,
    ``main`` levels, tables by their row in a `Plan`, the registers that a warp holds, and the pipeline stages that it
    adds.
    """

    program: Program
    hooks: Mapping[str, FunctionType] = field(default_factory=dict)
    state: tuple[Any, ...] = ()
    name: str = "mrf"
    levels: int = 1
    main: int = 1
    events: int = 0
    resources: int = 0
    widths: bool = False
    lanes: bool = False
    banks: Banks = UNSLICED
    tables: Mapping[int, Table] = field(default_factory=dict)
    collectors: Collectors | None = None
    registers: int = NO_LIMIT
    stages: int = 0

    @property
    def in_step(self) -> bool:
        """Whether the order among SMs may matter: they share an array that hooks may write."""
        values = (value for _, value in named_leaves(self.state))
        return any(isinstance(value, Row) and value.scope == "kernel" for value in values)

    @property
    def is_checked(self) -> bool:
        """Whether hooks are checked while they run, in one record of the process."""
        return has_checks(self.hooks.values())


class Outside:
    """Arguments of the entry point besides the core, and the counters of a design.

    ``accesses`` int64[levels * 4], ``moves`` int64[levels, levels], ``events`` int64[events] as in a `Plan`;
    ``plan.levels`` int64[SMs, resources, 3].  ``reach``: the run asks which level of memory warps wait for.
    ``around`` gives further replacements for a memory system, such as those of `warpreg.timing.memory.clocked`.
    ``recorder``: what records the run.
    """

    def __init__(
        self,
        behaviour: Behaviour,
        machine: Machine,
        system: Memory,
        reach: bool = False,
        around: Around | None = None,
        recorder: Records | None = None,
    ) -> None:
        self.reach, self._around, self._recorder = reach, around, recorder
        sms, slots, schedulers = len(system.sms), machine.sm.warps, machine.schedulers.count
        self.behaviour, self.system = behaviour, system
        self._is_ideal = machine.operand_path.kind == "ideal"
        self._has_window = machine.operand_path.kind == WINDOW
        self._has_instruction_caches = machine.instruction_cache is not None
        self._has_constant_caches = machine.constant_cache is not None
        self._tracks_sources = machine.schedulers.tracks_sources or False
        self._serves_instructions = machine.register_file.serves_instructions
        self._is_two_level = machine.schedulers.active_warps is not None
        program = with_slots(behaviour.program._replace(slots=slots, schedulers=schedulers), sms * slots)
        self.program = writable(program) if behaviour.hooks else program
        self.fields = allocate(behaviour.name, behaviour.state, Extent.of_sms(sms, slots, schedulers))
        self._limits = Limits(
            banks=machine.register_file.banks + behaviour.banks.added,
            slices=behaviour.banks.slices,
            registers=behaviour.registers,
            warps=sms * slots,
            named=program.register_count,
        )
        sources, results = _most(self.program.source_start), _most(self.program.result_start)
        self.tables, self.free_ports = table_arrays(behaviour.tables, sms)
        sizes = sources, results, QUEUE, sms, behaviour.resources, len(self.tables)
        self.plan = blank_plan(behaviour.levels, behaviour.events, *sizes)
        self._systems = memory.members(system)
        others = [blank_plan(behaviour.levels, behaviour.events, *sizes) for _ in self._systems[1:]]
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
        by_word = not self._is_ideal and not self._serves_instructions
        return by_word and self.behaviour.banks.shares and "plan_reads" in self.behaviour.hooks

    @property
    def collectors_of_a_slot(self) -> int:
        """Collectors of a warp slot, 1 if they are those of the machine."""
        own = self.behaviour.collectors
        return 1 if own is None or self._is_ideal else own.reading

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
        queues = plan.extras, plan.woken, plan.asked, plan.completed, plan.queued
        own = self.program, self.state, resets_of(self.fields)
        return system, Designs(plan, plan.sources, plan.results, *queues, kept, self.tables, self.free_ports, *own)

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
        replaced: dict[Any, Any] = {**memory.in_place_of_ports(self.system), **self._path()}
        modules = {name: module for module in HOOK_MODULES for name in module.HOOKED}
        called = {name: called_from(hook) for name, hook in self.behaviour.hooks.items() if name in modules}
        if self.has_design:
            replaced |= self._out_of_line(tuple(called.values()))
            replaced |= adapters.ALWAYS
            replaced[reset_rows] = resetting(self.fields)
        for name, hook in called.items():
            replaced |= modules[name].HOOKED[name]
            replaced[getattr(modules[name], name)] = hook
        if knows_thread_blocks(self.behaviour.hooks):
            replaced |= adapters.THREAD_BLOCKS
        if self.behaviour.main > 1:
            replaced[adapters.main_levels] = constant(self.behaviour.main)
            replaced[adapters.is_main] = adapters.is_one_of_main
        if self.behaviour.widths:
            replaced |= width_feed.FED
        if self.behaviour.lanes:
            replaced |= lane_feed.FED
        if "admit" in called:
            replaced |= waits.REFUSING
        for names, functions in operand_events.TOGETHER.items():
            replaced |= functions if called.keys() >= names else {}
        replaced |= operand_events.behind_plan_write(called)
        if self.reach:
            replaced |= {**memory_reach.KEPT, **reach.KEPT}
        elif self._joins_at_once:
            replaced[writeback.join] = writeback.write_or_join
        if self._around is not None:
            replaced |= self._around(self.system)
        replaced |= {**self._sharing(), **self._lookups(), **self._owned(), **_dependences(core, self._tracks_sources)}
        if self._recorder is not None:
            replaced |= self._recorder.around(replaced)
        return CoreRecipe(replaced, called, mode).build((core, *self.arguments(core)))

    @property
    def _joins_at_once(self) -> bool:
        """Whether nobody sees the order of writes in a cycle."""
        plain = not self.has_design and self._recorder is None
        return plain and not self._serves_instructions and not self._has_window

    def prepared(self, core: Core) -> Core:
        """The core before its run, with room for what is recorded."""
        return core if self._recorder is None else self._recorder.prepared(core, self.plan)

    def _out_of_line(self, hooks: tuple[FunctionType, ...]) -> dict[Function, Function]:
        """What large hooks put in place of what, those that have functions out of line: an instruction issues in one
        place of the machine code.
        """
        authors = tuple(author for hook in hooks for author in authors_of_hook(hook))
        if has_checks(hooks) or not calls_out_of_line(authors):
            return {}
        return {issue.issue_head: issue_out_of_line}

    def _sharing(self) -> dict[Function, Function]:
        """What banks with slices or row addresses put in place of what."""
        found: dict[Function, Function] = {}
        own = self.behaviour.banks
        if own.slices > 1:
            found[adapters.bank_slices] = constant(own.slices)
        if self.shares:
            found[adapters.note_source] = shared_access.note_source
            found[operand_collector.read_banks] = shared_access.read_banks
            found[window_path.accesses] = shared_access.accesses
            found[shared_access.row_addresses] = constant(own.row_addresses)
            found[shared_access.shares_port] = constant(own.shares_port)
            found[shared_access.across_instructions] = constant(own.across_instructions)
        return found

    def _lookups(self) -> dict[Function, Function]:
        """What tables in front of operand fetch put in place of what."""
        if not self.behaviour.tables:
            return {}
        return {
            ports.begin_lookups: table_access.begin_lookups,
            ports.late_entry: table_access.late_entry,
            adapters.serve_tables: table_access.serve_tables,
            adapters.await_lookups: table_access.await_lookups,
            operand_collector.enter: entry.enter,
            entry.is_ready: entry.lookups_are_done,
        }

    def _owned(self) -> dict[Function, Function]:
        """What collectors of warps put in place of what."""
        own = self.behaviour.collectors
        if own is None or self._is_ideal:
            return {}
        found: dict[Any, Function] = {
            owned_collectors.reading: constant(own.reading),
            owned_collectors.instructions: constant(own.instructions),
            ports.is_full: owned_collectors.is_full,
            banked_path.fill_latch: owned_collectors.fill_latch,
            banked_path.queue: owned_collectors.queue,
            operand_collector.wanted: owned_collectors.wanted,
            operand_collector.enter: owned_collectors.enter,
            operand_collector.can_go: owned_collectors.can_go,
            operand_collector.dispatch: owned_collectors.dispatch,
            operand_collector.request: bank_queues.request,
            operand_collector.read_banks: bank_queues.read_together if self.shares else bank_queues.read_banks,
            stall_account.blocked_warps: owned_collectors.blocked_warps,
        }
        if own.reading > 1:
            found[operand_collector.port_of] = owned_collectors.port_of
        if own.dispatch == "round-robin":
            found[owned_collectors.slot_to_go] = owned_collectors.slot_in_turn
        return found

    def _path(self) -> dict[Function, Function]:
        """Port replacements for the optional parts of the core that the machine has."""
        path: Any = ideal_path if self._is_ideal else window_path if self._has_window else banked_path
        found = {getattr(ports, name): function for name, function in vars(path).items() if name in OPERAND_PATH}
        if self._has_window:
            found |= {writeback.join: window_path.join, operand_collector.can_go: window_path.can_go}
        if self._has_instruction_caches:
            found |= {ports.fetch_next: instruction_cache.fetch_next, ports.fetch_first: instruction_cache.fetch_first}
        if self._has_constant_caches:
            found[ports.lacks_constant] = constant_cache.lacks_constant
            found[ports.constant_cycles] = constant_cache.constant_cycles
        found[ports.is_ideal] = _yes if self._is_ideal else _no
        found[ports.is_two_level] = _yes if self._is_two_level else _no
        waits_for_all = self._is_two_level and bool((self.program.suspends == WAITS_FOR_ALL).any())
        found[ports.may_wait_for_all] = _yes if waits_for_all else _no
        return found


def _dependences(core: Core, tracks_sources: bool) -> dict[Function, Function]:
    """What control codes put in place of the scoreboard, if the kernel on this core has them; else what sources add to
    it, if the machine tracks them.
    """
    rows: Any = core.code
    if not rows[:, int(code.CONTROL)].any():
        of_sources = ("queued", "sources_read", "waits_for_readers") if tracks_sources else ()
        return {getattr(ports, name): getattr(readers, name) for name in of_sources}
    found: dict[Function, Function] = {
        issue.enter_scoreboard: control_codes.enter_scoreboard,
        writeback.write_cell: control_codes.write_cell,
    }
    names = ("sources_read", "results_written", "exceeds_limit", "stall", "unfetched")
    return found | {getattr(ports, name): getattr(control_codes, name) for name in names}


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
