"""A register file cache as searched lists, with every option of the design ``rfc``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.replay import naive
from tests.replay.naive import Event, Step

from warpreg.designs import Program, load, program_table
from warpreg.ir.kernel import Kernel
from warpreg.replay import Counts
from warpreg.trace import Schedule
from warpreg.trace.path import RecordedPath

ALL = 0xFFFFFFFF


@dataclass
class Entry:
    """One warp-register in the cache."""

    register: int
    lanes: int = 0
    dirty: bool = False
    dead: bool = False
    idle: bool = False


@dataclass
class Operand:
    """A register of an instruction with its row in the program table."""

    register: int
    row: int


class NaiveCache:
    """Counts as ``level.action.datapath`` and ``from>to`` of one run; ``caches`` hold entries, the oldest first."""

    def __init__(self, code: Kernel, options: Any, program: Program) -> None:
        self.options = options
        self.program = program
        self.counts: Counter[str] = Counter()
        self.caches: dict[int, list[Entry]] = {}

    def run(self, events: Iterable[Event]) -> Counter[str]:
        for event in events:
            if event.kind == "start":
                self.caches[event.slot] = []
            elif event.kind == "suspend":
                self.flush(event.slot)
            elif event.step is not None:
                self.step(self.caches[event.slot], event.step)
                if self.options.flush_backward and self.program.hints.backward[event.step.pc]:
                    self.flush(event.slot)
        return +self.counts

    def step(self, cache: list[Entry], step: Step) -> None:
        sources = operands(self.program.source_start, step.reads, step.pc)
        for operand in sources:
            self.read(cache, step, operand)
        if self.options.allocate_sources and self.options.entries:
            for operand in sources:
                dying = self.options.static_liveness and self.program.last_read[operand.row]
                if not dying and find(cache, operand.register) is None:
                    self.make_room(cache)
                    cache.append(Entry(operand.register, ALL))
                    self.counts[f"RFC.write.{step.datapath}"] += 1
                    self.counts["fills"] += 1
        for operand in operands(self.program.result_start, step.writes, step.pc):
            self.write(cache, step, operand)

    def read(self, cache: list[Entry], step: Step, operand: Operand) -> None:
        entry = find(cache, operand.register)
        if entry is None:
            self.counts[f"MRF.read.{step.datapath}"] += 1
            return
        self.counts[f"RFC.read.{step.datapath}"] += 1
        if step.mask & ~entry.lanes:
            self.counts[f"MRF.read.{step.datapath}"] += 1
            self.counts["merged_reads"] += 1
        if self.options.replacement == "lru":
            cache.remove(entry)
            cache.append(entry)
        entry.dead |= bool(self.program.last_read[operand.row])
        entry.idle |= bool(self.program.source_idle[operand.row])

    def write(self, cache: list[Entry], step: Step, operand: Operand) -> None:
        entry = find(cache, operand.register)
        partial = bool(self.program.result_partial[operand.row])
        late = self.options.around_long_latency and self.program.long_latency[step.pc]
        if not self.options.entries:
            self.counts[f"MRF.write.{step.datapath}"] += 1
        elif late or (self.options.bypass_idle and self.program.result_idle[operand.row]):
            if entry is not None:
                cache.remove(entry)
                if partial:
                    self.write_back(entry)
            self.counts[f"MRF.write.{step.datapath}"] += 1
        else:
            if entry is None:
                self.make_room(cache)
                entry = Entry(operand.register)
                cache.append(entry)
                if partial and self.options.partial == "fill":
                    entry.lanes = ALL
                    self.counts["MRF>RFC"] += 1
                    self.counts["fills"] += 1
            elif self.options.replacement == "lru":
                cache.remove(entry)
                cache.append(entry)
            self.counts[f"RFC.write.{step.datapath}"] += 1
            if not partial:
                entry.lanes = ALL
            elif not self.program.guarded[step.pc]:
                entry.lanes |= step.mask
            entry.dirty, entry.dead = True, False
            entry.idle = bool(self.program.result_idle[operand.row])

    def make_room(self, cache: list[Entry]) -> None:
        if len(cache) == self.options.entries:
            unread = [entry for entry in cache if self.options.idle_first and (entry.dead or entry.idle)]
            victim = (unread or cache)[0]
            cache.remove(victim)
            self.write_back(victim)

    def write_back(self, entry: Entry) -> bool:
        needed = entry.dirty and not (self.options.static_liveness and entry.dead)
        self.counts["RFC>MRF"] += needed
        return needed

    def flush(self, slot: int) -> None:
        self.counts["flushed"] += sum(self.write_back(entry) for entry in self.caches[slot])
        self.caches[slot] = []


def find(cache: list[Entry], register: int) -> Entry | None:
    return next((entry for entry in cache if entry.register == register), None)


def operands(starts: Any, registers: list[int], pc: int) -> list[Operand]:
    return [Operand(register, int(starts[pc]) + place) for place, register in enumerate(registers)]


def in_path_order(code: Kernel, path: RecordedPath, program: Program, static: bool) -> Iterator[Event]:
    """A run without a schedule: every warp in a slot of its own; with ``static`` it suspends where it may wait."""
    slots: dict[naive.Warp, int] = {}
    for step in naive.steps(code, path):
        if step.warp not in slots:
            slots[step.warp] = len(slots)
            yield Event("start", slots[step.warp], 0)
        if static and program.suspends[step.pc]:
            yield Event("suspend", slots[step.warp], 0)
        yield Event("issue", slots[step.warp], 0, step)


def cache_counts(
    code: Kernel, path: RecordedPath, schedule: Schedule | None = None, *, static: bool = False, **options: Any
) -> Counter[str]:
    """What the design ``rfc`` should count; zeros left out."""
    design = load("rfc")
    values = design.configure(**options)
    program = design.compile(program_table(code), values, code)
    events = naive.events(code, path, schedule) if schedule else in_path_order(code, path, program, static)
    return NaiveCache(code, values, program).run(events)


def as_counter(found: Counts) -> Counter[str]:
    """All counts by name, zeros left out."""
    told = found.as_dict()
    return +Counter(told["accesses"] | told["moves"] | dict(found.events))
