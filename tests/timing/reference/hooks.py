"""Calls of a design's hooks by the SMs, and their answers (docs/reference/timing.md, "Designs in the core").

The hooks run as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np
from tests.timing.reference.instruction import Result, Source, Step, UnderWay
from tests.timing.reference.load_store import Traffic
from tests.timing.reference.machine import Sm
from tests.timing.reference.tables import Tables
from tests.timing.reference.warp import Warp

from warpreg.designs.interface import plan as details
from warpreg.designs.interface import turns
from warpreg.designs.interface.accounts import unplanned
from warpreg.designs.interface.banks import Banks
from warpreg.designs.interface.banks import Collectors as OwnCollectors
from warpreg.designs.interface.hardware import Table
from warpreg.designs.interface.own_memory import LINE_BYTES, REGISTERS
from warpreg.designs.interface.paths import MEMORY, TRANSFER, Path, path_rows
from warpreg.designs.interface.plan import GO, UNSET, Plan
from warpreg.designs.interface.program import Program
from warpreg.designs.interface.state import Extent, allocate, allocated_state
from warpreg.designs.loading.fetch import UNSLICED
from warpreg.timing.core.access_record import DESIGN_BASE, LINES_OF_SM, OWN_LINES
from warpreg.timing.errors import TimingError

Tell = Callable[[int, int], None]
Complete = Callable[[int, int, int], None]
Send = Callable[[Traffic], None]
Begin = Callable[["Transfer", int], None]


@dataclass(frozen=True)
class Extra:
    """An access of the MRF that belongs to no operand."""

    register: int
    slot: int
    bank: int | None
    then: Callable[[int], None] | None = None


@dataclass(frozen=True)
class Transfer:
    """A register that goes along a path of the design, of the warp that was in a slot, if any."""

    path: int
    register: int
    slot: int
    warp: Warp | None
    bank: int | None


@dataclass
class Behaviour:
    """What a design brings to a run: its hooks, its state before anything has happened, the sizes of what it counts.

    ``program`` is the table of the kernel that runs.
    """

    program: Program
    hooks: Mapping[str, FunctionType] = field(default_factory=dict)
    state: tuple[Any, ...] = ()
    name: str = "design"
    levels: int = 1
    main: int = 1
    events: int = 0
    resources: int = 0
    banks: Banks = UNSLICED
    tables: Mapping[int, Table] = field(default_factory=dict)
    paths: Mapping[int, Path] = field(default_factory=dict)
    level_names: tuple[str, ...] = ("MRF",)
    collectors: OwnCollectors | None = None
    stages: int = 0


class Counts:
    """``accesses`` and ``spared`` int64[levels * 4], ``moves`` int64[levels, levels], ``events`` int64[events],
    ``levels`` int64[sms, resources, 3]: as in a `Plan`.
    """

    def __init__(self, behaviour: Behaviour, sms: int) -> None:
        self.accesses = np.zeros(behaviour.levels * 4, np.int64)
        self.spared = np.zeros(behaviour.levels * 4, np.int64)
        self.moves = np.zeros((behaviour.levels, behaviour.levels), np.int64)
        self.events = np.zeros(behaviour.events, np.int64)
        self.tables = np.zeros((max(behaviour.tables, default=-1) + 1, 3), np.int64)
        self.traffic = np.zeros((2, 2), np.int64)
        self.levels = np.zeros((sms, behaviour.resources, 3), np.int64)

    def integrals(self, cycles: int) -> list[list[int]]:
        """By SM, by resource: its value summed over all cycles."""
        value, since, integral = (self.levels[:, :, column] for column in range(3))
        total: list[list[int]] = (integral + value * (cycles - since)).tolist()
        return total


class Shared:
    """The state of a design, which all SMs have in common, and what it counts."""

    def __init__(self, behaviour: Behaviour, sm: Sm, sms: int) -> None:
        self.behaviour = behaviour
        slots = np.full(sms * sm.slots, -1, np.int64)
        self.program = behaviour.program._replace(
            slots=sm.slots,
            schedulers=sm.schedulers,
            block_of_slot=slots,
            index_of_slot=slots.copy(),
            seen=np.full((sms * sm.slots, turns.COLUMNS), -1, np.int64),
        )
        self.fields = allocate(behaviour.name, behaviour.state, Extent.of_sms(sms, sm.slots, sm.schedulers))
        self.state: Any = allocated_state(behaviour.state, self.fields)
        self.counts = Counts(behaviour, sms)

    def reset(self, warp: int) -> None:
        """The rows of a fresh warp."""
        for one in self.fields:
            if one.reset:
                rows, fresh = one.reset
                rows[warp] = fresh


class Hooks:
    """The hooks as one SM calls them.

    ``extras`` collects the accesses that they ask for; ``wake`` is told each token that they wake, and the cycle;
    ``complete`` each held load that they complete, in how many cycles, and the cycle; ``begin`` each transfer that they
    start, and the cycle; ``send`` each register that they send to memory or fetch; ``slots`` are the warps in slots.
    """

    def __init__(
        self, shared: Shared, sm: Sm, index: int, wake: Tell, complete: Complete, begin: Begin, send: Send,
        slots: list[Warp | None],
    ) -> None:  # fmt: skip
        self._begin, self._slots = begin, slots
        self._shared, self._sm, self._index, self._wake, self._complete = shared, sm, index, wake, complete
        self._hooks, self._send = shared.behaviour.hooks, send
        self.extras: list[Extra] = []
        main = [name for level, name in enumerate(shared.behaviour.level_names) if shared.behaviour.main >> level & 1]
        self._path_rows = path_rows(shared.behaviour.paths, shared.behaviour.level_names, main)
        self.main = main
        self._tables = Tables(shared.behaviour.tables)
        self._looked_up = 0

    @property
    def access(self) -> Banks:
        """What an access of a bank can read."""
        return self._shared.behaviour.banks

    @property
    def paths(self) -> Mapping[int, Path]:
        """Those of the design."""
        return self._shared.behaviour.paths

    def transferred(self, one: Transfer, now: int) -> None:
        """A transfer is complete; nobody is told if its warp has left."""
        if one.warp is not None and self._slots[one.slot] is one.warp and self.defines("transferred"):
            plan = self._plan(now, warp=one.warp)
            self._call("transferred", plan, self._number(one.warp), one.path, one.register)

    @property
    def stages(self) -> int:
        """Pipeline stages that the design adds in front of operand fetch."""
        return self._shared.behaviour.stages

    @property
    def own_collectors(self) -> OwnCollectors | None:
        """Those of warp slots, if the design has any."""
        return self._shared.behaviour.collectors

    def defines(self, name: str) -> bool:
        return name in self._hooks

    def warp_start(self, warp: Warp, now: int) -> None:
        self._shared.reset(self._number(warp))
        self.of_warp("warp_start", warp, now)

    def takes(self, slots: list[int], block: int) -> None:
        """A thread block comes, with one warp for each of these slots."""
        for index, slot in enumerate(slots):
            self._shared.program.block_of_slot[self._index * self._sm.slots + slot] = block
            self._shared.program.index_of_slot[self._index * self._sm.slots + slot] = index

    def leaves(self, warp: Warp) -> None:
        """A warp leaves its slot."""
        self._shared.program.block_of_slot[self._number(warp)] = -1
        self._shared.program.index_of_slot[self._number(warp)] = -1

    def of_warp(self, name: str, warp: Warp, now: int) -> None:
        """``warp_start``, ``warp_end``, ``activated`` or ``suspended``."""
        if self.defines(name):
            self._call(name, self._plan(now, warp=warp), self._number(warp))

    def of_block(self, name: str, now: int) -> None:
        """``block_start`` or ``block_end``."""
        if self.defines(name):
            self._call(name, self._plan(now), self._index)

    def activated(self, warp: Warp, now: int) -> None:
        self.of_warp("activated", warp, now)

    def suspended(self, warp: Warp, now: int) -> None:
        self.of_warp("suspended", warp, now)

    def priority(self, warp: Warp) -> int:
        """Of the head; all are equal without the hook."""
        if not self.defines("priority"):
            return 0
        found = self._hooks["priority"](self._shared.state, self._shared.program, self._number(warp), _pc(warp.head))
        return int(found)

    def choose(self, scheduler: int, slots: Sequence[Warp | None], able: Sequence[Warp], now: int) -> Warp | None:
        """The warp that a scheduler selects among those that are able to issue, the first of them without the hook."""
        if not self.defines("choose"):
            return able[0]
        number = self._of_turn("choose", scheduler, slots, able, now)
        assert number == turns.NOBODY or number in [self._number(warp) for warp in able]
        return None if number == turns.NOBODY else slots[number - self._index * self._sm.slots]

    def turns(self, name: str, slots: Sequence[Warp | None], now: int) -> None:
        """``turns_start`` or ``turns_end``."""
        if self.defines(name) and any(slots):
            for scheduler in range(self._sm.schedulers):
                self._of_turn(name, scheduler, slots, (), now)

    def _of_turn(self, name: str, scheduler: int, slots: Sequence[Warp | None], able: Sequence[Warp], now: int) -> int:
        for slot in self._sm.slots_of(scheduler):
            warp = slots[slot]
            row = self._shared.program.seen[self._index * self._sm.slots + slot]
            row[turns.CAN_ISSUE] = warp in able
            row[turns.NEXT_PC] = _pc(warp.head) if warp else -1
            row[turns.WAITS_FOR] = _awaited(warp, now) if warp else turns.END
            row[turns.IS_FETCHED] = warp is not None and warp.head is not None and warp.fetched <= now
            row[turns.AGE] = warp.age if warp else -1
        return self._call(name, self._plan(now), self._index * self._sm.schedulers + scheduler)

    def admit(self, warp: Warp, now: int) -> int | None:
        """The token that the head has to wait for, or a number below 0 as `after` makes it; None if it may go."""
        if not self.defines("admit"):
            return None
        answer = self._call("admit", self._plan(now, warp.head, warp), self._number(warp), _pc(warp.head))
        return None if answer == GO else answer

    def head(self, name: str, warp: Warp, now: int) -> None:
        """``stalled`` or ``resumed``."""
        if self.defines(name):
            self._call(name, self._plan(now, warp.head, warp), self._number(warp), _pc(warp.head))

    def owner(self, warp: Warp, token: int) -> int:
        """Who holds a token, -1 if nobody does or the design does not say."""
        if not self.defines("owner"):
            return -1
        return int(self._hooks["owner"](self._shared.state, self._shared.program, self._number(warp), token))

    def load_lookup(self, issued: UnderWay, now: int) -> int:
        """After how many cycles a global load is complete that need not go to memory, else 0."""
        if not self.defines("load_lookup"):
            return 0
        plan = self._plan_of_access(now, issued)
        where = (self._number(issued.warp), issued.instruction.pc)
        return self._call("load_lookup", plan, *where, *_addresses(issued.step))

    def memory_issued(self, issued: UnderWay, now: int) -> None:
        if self.defines("memory_issued"):
            plan = self._plan_of_access(now, issued)
            self._call("memory_issued", plan, self._number(issued.warp), issued.instruction.pc)

    def memory_returned(self, issued: UnderWay, now: int) -> None:
        if self.defines("memory_returned"):
            plan = self._plan_of_access(now, issued)
            number, pc = self._number(issued.warp), issued.instruction.pc
            self._call("memory_returned", plan, number, pc, now - issued.entered)

    def register_is_back(self, one: Traffic, now: int) -> None:
        """A register that was fetched is there."""
        warp = self._slots[one.slot]
        if warp is not None and self.defines("transferred"):
            self._call("transferred", self._plan(now, warp=warp), self._number(warp), MEMORY, one.register)

    def arrived(self, issued: UnderWay, now: int) -> None:
        pc = issued.instruction.pc
        if self.defines("arrived") and self._shared.program.long_latency[pc]:
            self._call("arrived", self._plan_of(now, issued), self._number(issued.warp), pc)

    def written_back(self, issued: UnderWay, now: int) -> None:
        if self.defines("written_back"):
            head = issued.warp.head
            plan = self._plan_of(now, issued)
            where = (self._number(issued.warp), issued.instruction.pc, _pc(head))
            self._call("written_back", plan, *where, *(_addresses(head) if head else (0, 0, 0)))

    def see_buffer(self, warp: Warp, now: int) -> None:
        """After a write-back: the head, and the instruction behind it if the path goes straight on."""
        self.see_next(warp, now)
        head = warp.head
        if head is None or warp.position + 1 == len(warp.steps):
            return
        second = warp.steps[warp.position + 1]
        waits = _waits(warp, second, (*warp.scoreboard, *head.instruction.result_cells))
        if second.instruction.pc == head.instruction.pc + 1 and not waits:
            self._buffered(warp, second, 1, now)

    def see_next(self, warp: Warp, now: int) -> None:
        """The head, unless it waits for a result."""
        if warp.head is not None and not _waits(warp, warp.head, tuple(warp.scoreboard)):
            self._buffered(warp, warp.head, 0, now)

    def _buffered(self, warp: Warp, step: Step, ahead: int, now: int) -> None:
        if self.defines("buffered"):
            where = (self._number(warp), step.instruction.pc, ahead)
            self._call("buffered", self._plan(now, step, warp), *where, *_addresses(step))

    def issued(self, issued: UnderWay, now: int) -> None:
        """It has issued, and its operands are planned."""
        if self.defines("issued"):
            plan = self._plan_of(now, issued)
            self._call("issued", plan, self._number(issued.warp), issued.instruction.pc)
            issued.enters_from = max(issued.enters_from, self._looked_up)

    def collected(self, issued: UnderWay, row: int, now: int) -> None:
        """The collector has the source of that position, and with it those that are merged with it."""
        if not self.defines("collected"):
            return
        pc = issued.instruction.pc
        operand = int(self._shared.program.source_start[pc]) + row
        plan = self._plan_of(now, issued)
        self._call("collected", plan, self._number(issued.warp), pc, operand)

    def produced(self, issued: UnderWay, now: int) -> int:
        """The results are there; the design may say where they go, and by how many cycles they are postponed."""
        if not self.defines("produced") or not issued.results:
            return 0
        plan = self._plan_of(now, issued)
        if issued.planned is not None:
            plan.results[:] = issued.planned
            plan = plan._replace(recall=details.RECALLS)
        self._call("produced", plan, self._number(issued.warp), issued.instruction.pc)
        self._set_results(issued, plan)
        return int(plan.queued[details.POSTPONED])

    def _set_results(self, issued: UnderWay, plan: Plan) -> None:
        slot = issued.warp.slot
        issued.results = [
            self._result(word, slot, plan.results[row].tolist()) for row, word in enumerate(issued.instruction.results)
        ]

    def plan(self, issued: UnderWay, now: int) -> None:
        """``plan_reads``, then ``plan_write``: where the instruction's operands are."""
        program, pc = self._shared.program, issued.instruction.pc
        plan = self._plan_of(now, issued)
        self._looked_up = now + 1
        for name in ("plan_reads", "plan_write"):
            if self.defines(name):
                late = name == "plan_write" and self.defines("produced")
                one = plan._replace(recall=details.KEEPS) if late else plan
                self._call(name, one, self._number(issued.warp), pc)
                if name == "plan_write":
                    issued.planned = plan.results.copy()
            elif name == "plan_reads" or not self.defines("produced"):
                count = len(issued.instruction.sources if name == "plan_reads" else issued.instruction.results)
                action = details.READ if name == "plan_reads" else details.WRITE
                plan.accesses[action * 2 + int(program.datapath[pc])] += count
        slot, issued.enters_from = issued.warp.slot, self._looked_up
        for row, word in enumerate(issued.instruction.sources):
            issued.sources.append(self._source(word, slot, plan.sources[row].tolist()))
        self._set_results(issued, plan)

    def bank_of(self, register: int, slot: int) -> int:
        """By the machine's mapping; any with the ideal operand path."""
        return self._sm.banks.of(register, slot, self._sm.schedulers) if self._sm.banks else 0

    def _source(self, word: int, slot: int, row: list[int]) -> Source:
        level, bank, cycles, merged, _, address, granted = row
        if not self.defines("plan_reads"):
            return Source(word, self.bank_of(word, slot), row=(slot, word), slices=self._slices(UNSET))
        if level == UNSET:
            return Source(word, None, cycles=0)
        cycles = 1 if cycles == UNSET else cycles
        if merged != UNSET:
            return Source(word, None, cycles, merged)
        if self._shared.behaviour.main >> level & 1 and bank == UNSET:
            bank = self.bank_of(word, slot)
        source = Source(word, None if bank == UNSET else bank, cycles)
        source.row = (slot, word) if address == UNSET else address
        source.slices = self._slices(granted)
        return source

    def _slices(self, mask: int) -> frozenset[int]:
        return frozenset(one for one in range(self.access.slices) if mask >> one & 1)

    def _result(self, word: int, slot: int, rows: list[list[int]]) -> Result:
        if not self.defines("plan_write") and not self.defines("produced"):
            return Result(word, self.bank_of(word, slot))
        (in_banks, bank, slow, *_), (elsewhere, _, quick, *_) = rows
        if in_banks == UNSET:
            return Result(word, None, True, 1 if elsewhere == UNSET or quick == UNSET else max(1, quick))
        bank = self.bank_of(word, slot) if bank == UNSET else bank
        cycles = slow if elsewhere == UNSET else quick
        return Result(word, bank, elsewhere != UNSET, 1 if cycles == UNSET else cycles)

    def _plan_of(self, now: int, issued: UnderWay) -> Plan:
        """A plan of an instruction under way."""
        return self._plan(now, issued.step, issued.warp, issued.sequence)

    def _plan_of_access(self, now: int, issued: UnderWay) -> Plan:
        """A plan of an access to memory: its mask is that of the record."""
        assert issued.step.access is not None
        return self._plan_of(now, issued)._replace(mask=issued.step.access.mask)

    def _plan(self, now: int, step: Step | None = None, warp: Warp | None = None, load: int = -1) -> Plan:
        """A plan with nothing planned yet."""
        counts, access = self._shared.counts, step.access if step else None
        pc = step.instruction.pc if step else -1
        program = self._shared.program
        return details.blank_plan(1, 0, 32, 32, 256)._replace(
            accesses=counts.accesses,
            spared=counts.spared,
            slices=self.access.slices,
            moves=counts.moves,
            events=counts.events,
            tables=counts.tables,
            traffic=counts.traffic,
            paths=self._path_rows,
            levels=counts.levels,
            mask=step.mask if step else 0,
            datapath=int(program.datapath[pc]) if step else 0,
            base=access.base if access else 0,
            stride=access.stride if access else 0,
            warp=self._number(warp) if warp else -1,
            sm=self._index,
            cycle=now,
            load=load,
            detailed=1,
            accounts=1,
            main=self._shared.behaviour.main,
            first_source=int(program.source_start[pc]) if step else 0,
            first_result=int(program.result_start[pc]) if step else 0,
            widths=np.array(step.widths if step else (), np.uint8),
            width_at=np.array([-int(program.result_start[pc]) if step else 0]),
            lanes=np.array(access.lanes if access else (), np.int64),
            lane_at=np.array([0, access.mask if access else 0]),
        )

    def _call(self, name: str, plan: Plan, *arguments: int) -> int:
        answer = self._hooks[name](self._shared.state, self._shared.program, *arguments, plan)
        if wrong := unplanned(plan.planned, self._hooks, self._shared.program):
            raise wrong
        extras, woken = plan.queued.tolist()[:2]
        for row in plan.extras[:extras].tolist():
            action, warp, register, bank = row
            if action >= TRANSFER:
                slot = self._slot_of(warp)
                own = None if bank == UNSET else bank
                self._begin(Transfer(action - TRANSFER, register, slot, self._slots[slot], own), plan.cycle)
                continue
            self.extras.append(Extra(register, self._slot_of(warp), None if bank == UNSET else bank))
        for token in plan.woken[:woken].tolist():
            self._wake(token, plan.cycle)
        for load, cycles in plan.completed[: plan.queued[details.COMPLETED]].tolist():
            self._complete(load, cycles, plan.cycle)
        for way, warp, register, line, sectors, _ in plan.sent[: plan.queued[details.SENT]].tolist():
            slot = self._slot_of(warp)
            place = OWN_LINES + line if line != UNSET else slot * REGISTERS + register
            place = DESIGN_BASE + (self._index * LINES_OF_SM + place) * LINE_BYTES
            self._send(Traffic(way == details.FETCHED, slot, register, place, sectors, plan.cycle))
        for table, index, action in plan.asked[: plan.queued[details.ASKED]].tolist():
            served = self._tables.serve(table, index, plan.cycle)
            plan.tables[table, details.CONFLICTS] += served > plan.cycle
            if action == details.LOOKUPS:
                self._looked_up = max(self._looked_up, served + self._shared.behaviour.tables[table].stages)
        plan.queued[: details.POSTPONED] = 0
        return 0 if answer is None else int(answer)

    def _slot_of(self, warp: int) -> int:
        """The slot of a warp that a hook names; it must be one of this SM."""
        if warp >= 0 and warp // self._sm.slots != self._index:
            raise TimingError(f"a hook of SM {self._index} names warp {warp}, which is not one of its own")
        return warp % self._sm.slots

    def _number(self, warp: Warp) -> int:
        return self._index * self._sm.slots + warp.slot


def _pc(step: Step | None) -> int:
    return step.instruction.pc if step else -1


def _waits(warp: Warp, step: Step, busy: Sequence[int | str]) -> bool:
    """Whether an instruction waits for one of the cells that are not written yet, or for all of them."""
    return bool(busy) if warp.waits_for_all else not set(step.instruction.cells).isdisjoint(busy)


def _awaited(warp: Warp, now: int) -> int:
    """What hooks see that a warp waits for."""
    if warp.head is None:
        return turns.END
    if warp.at_barrier:
        return turns.BARRIER
    if warp.is_fenced:
        return turns.FENCE
    if warp.token is not None or now < warp.asks_from:
        return turns.TOKEN
    awaited = warp.awaited()
    if any(one.instruction.long_latency for one in awaited):
        return turns.LONG_RESULT
    return turns.RESULT if awaited or warp.exceeds_limit else turns.NOTHING


def _addresses(step: Step) -> tuple[int, int, int]:
    """Base, stride and mask of a memory instruction."""
    access = step.access
    return (access.base, access.stride, access.mask) if access else (0, 0, 0)
