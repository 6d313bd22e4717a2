"""Bypassing collectors as dictionaries that are searched, with every option of the designs ``bow`` and ``bow-wr``.

It also keeps by lane what the register file lacks, and fails if an instruction reads a lane that is nowhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.replay import naive
from tests.replay.naive import Event, Step
from tests.replay.naive_cache import in_path_order

from warpreg.designs import Program, load, program_table
from warpreg.ir.kernel import Kernel
from warpreg.trace import Schedule
from warpreg.trace.path import RecordedPath

ALL = 0xFFFFFFFF
COLLECTOR, FILE, HOMELESS = 1, 2, 4
NAMES = ("to_neither", "to_collector", "to_file", "to_both")


@dataclass
class Entry:
    """A register in a collector: the instruction that last touched it, its lanes, whether the register file lacks it,
    and whether it goes there at the end of its window."""

    touched: int
    lanes: int = ALL
    dirty: bool = False
    saved: bool = False


class Collector:
    """The collector of one warp; ``entries`` are in the order in which they were made."""

    def __init__(self, window: NaiveWindow) -> None:
        self.all = window
        self.options = window.options
        self.counts = window.counts
        self.clock = 0
        self.entries: dict[int, Entry] = {}
        self.issued: dict[int, tuple[int, int]] = {}
        self.lost: dict[int, int] = {}

    def issue(self, step: Step) -> None:
        self.clock += 1
        before = self.options.eviction == "before"
        if before:
            self.slide()
        hits = [register for register in step.reads if register in self.entries]
        fresh = list(dict.fromkeys(register for register in step.reads if register not in self.entries))
        for register in hits:
            self.read(register, step)
        for register in fresh:
            self.counts[f"MRF.read.{step.datapath}"] += 1
            self.counts["fills"] += 1
            self.from_file(register, step, step.mask)
        self.counts[f"BOC.read.{step.datapath}"] += len(step.reads) - len(hits) - len(fresh)
        if not before:
            self.slide()
        for register in fresh:
            self.entries[register] = Entry(self.clock)
            self.make_room()
        for register, partial in zip(step.writes, self.all.partial(step.pc), strict=True):
            self.issued[register] = self.clock, 0 if self.all.program.guarded[step.pc] else step.mask
            entry = self.entries.get(register)
            if entry is not None and partial:
                entry.touched = self.clock
            elif entry is not None:
                self.counts["consolidated"] += entry.saved
                del self.entries[register]

    def read(self, register: int, step: Step) -> None:
        entry = self.entries[register]
        if step.mask & ~entry.lanes:
            self.counts[f"MRF.read.{step.datapath}"] += 1
            self.counts["merged_reads"] += 1
            self.from_file(register, step, step.mask & ~entry.lanes)
            entry.lanes = ALL
            entry.touched = self.clock
        else:
            self.counts[f"BOC.read.{step.datapath}"] += 1
            if self.options.extended:
                entry.touched = self.clock

    def from_file(self, register: int, step: Step, lanes: int) -> None:
        """A path does not say in which lanes a guard holds, so only a read without a guard is sure to need them all."""
        guarded = self.all.program.guarded[step.pc]
        assert guarded or not self.lost.get(register, 0) & lanes, f"R{register} is read where it is not"

    def arrive(self, pc: int, registers: list[int], datapath: str) -> None:
        for register, partial, bits in zip(registers, self.all.partial(pc), self.all.bits(pc), strict=True):
            self.counts[NAMES[bits & 3]] += 1
            at, mask = self.issued[register]
            lanes = mask if partial else ALL
            if bits & COLLECTOR and self.clock - at < self.options.window:
                self.hold(register, at, lanes, partial, bits, datapath)
                self.make_room()
                continue
            self.counts["late"] += bool(bits & COLLECTOR)
            if register in self.entries:
                self.leave(register)
            if bits & FILE:
                self.to_file(register, lanes, f"MRF.write.{datapath}")
            else:
                self.lost[register] = self.lost.get(register, 0) | lanes

    def hold(self, register: int, at: int, lanes: int, partial: bool, bits: int, datapath: str) -> None:
        entry = self.entries.setdefault(register, Entry(at, 0))
        entry.touched = at
        entry.lanes |= lanes
        self.counts[f"BOC.write.{datapath}"] += 1
        if self.all.writes_back:
            entry.dirty |= not bits & HOMELESS
            entry.saved |= bool(bits & FILE)
            self.lost[register] = self.lost.get(register, 0) | lanes
        else:
            self.to_file(register, lanes, f"MRF.write.{datapath}")

    def to_file(self, register: int, lanes: int, name: str) -> None:
        self.counts[name] += 1
        self.lost[register] = self.lost.get(register, 0) & ~lanes

    def slide(self) -> None:
        for register in [r for r, entry in self.entries.items() if self.clock - entry.touched >= self.options.window]:
            self.leave(register)

    def leave(self, register: int) -> None:
        entry = self.entries.pop(register)
        if entry.saved:
            self.to_file(register, entry.lanes, "BOC>MRF")

    def make_room(self) -> None:
        if len(self.entries) > self.all.entries:
            register = next(iter(self.entries))
            self.counts["evicted"] += 1
            self.counts["rescued"] += self.entries[register].dirty and not self.entries[register].saved
            if self.entries[register].dirty:
                self.entries[register].saved = True
            self.leave(register)


class NaiveWindow:
    """Counts as ``level.action.datapath`` and ``from>to`` of one run."""

    def __init__(self, options: Any, program: Program, writes_back: bool) -> None:
        self.options = options
        self.program = program
        self.writes_back = writes_back
        self.entries = options.entries or 4 * options.window
        self.counts: Counter[str] = Counter()
        self.collectors: dict[int, Collector] = {}
        self.collector: Callable[[], Collector] = lambda: Collector(self)
        self.under_way: dict[tuple[int, int], tuple[list[int], str]] = {}

    def partial(self, pc: int) -> list[bool]:
        return [bool(self.program.result_partial[row]) for row in self.rows(pc)]

    def bits(self, pc: int) -> list[int]:
        if not self.writes_back:
            return [COLLECTOR | FILE] * len(self.rows(pc))
        file = [0 if self.program.mrf_elided[row] else FILE for row in self.rows(pc)]
        homeless = [int(self.program.hints.bits[row]) & HOMELESS for row in self.rows(pc)]
        levels = [int(self.program.result_level[row]) for row in self.rows(pc)]
        return [sum(bits) for bits in zip(file, homeless, levels, strict=True)]

    def rows(self, pc: int) -> range:
        return range(int(self.program.result_start[pc]), int(self.program.result_start[pc + 1]))

    def run(self, events: Iterable[Event], arrivals: bool) -> Counter[str]:
        for event in events:
            if event.kind == "start":
                self.collectors[event.slot] = self.collector()
            elif event.kind == "arrive" and self.options.window > 1:
                self.collectors[event.slot].arrive(event.pc, *self.under_way[event.slot, event.pc])
            elif event.step is not None:
                self.issue(event.slot, event.step, arrivals)
        return +self.counts

    def issue(self, slot: int, step: Step, arrivals: bool) -> None:
        collector = self.collectors[slot]
        if self.options.window == 1:
            self.counts[f"MRF.read.{step.datapath}"] += len(step.reads)
            self.counts[f"MRF.write.{step.datapath}"] += len(step.writes)
            return
        collector.issue(step)
        if arrivals and self.program.long_latency[step.pc]:
            self.under_way[slot, step.pc] = step.writes, step.datapath
        else:
            collector.arrive(step.pc, step.writes, step.datapath)


def window_counts(
    design: str, code: Kernel, path: RecordedPath, schedule: Schedule | None = None, **options: Any
) -> Counter[str]:
    """What ``bow`` or ``bow-wr`` should count; zeros left out."""
    chosen = load(design)
    values = chosen.configure(**options)
    program = chosen.compile(program_table(code), values, code)
    events = naive.events(code, path, schedule) if schedule else in_path_order(code, path, program, static=False)
    return NaiveWindow(values, program, design == "bow-wr").run(events, arrivals=schedule is not None)
