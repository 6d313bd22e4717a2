"""The register cache of a scheduler as sets of searched lists, least recently used line first."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.replay import naive
from tests.replay.naive import Event, Step
from tests.replay.naive_cache import operands

from warpreg.designs import Program, load, program_table
from warpreg.ir.kernel import Kernel
from warpreg.trace import Schedule, Slots
from warpreg.trace.path import RecordedPath

ALL = 0xFFFFFFFF
Line = list[Any]
"""Warp, register, lanes, whether it is dirty."""
WARP, REGISTER, LANES, DIRTY = range(4)


class NaiveRegisterCache:
    """``sets`` by (scheduler, number); ``part`` of the warps that have one; ``coming`` by (warp, pc)."""

    def __init__(self, options: Any, program: Program, slots: Slots) -> None:
        self.options, self.program, self.slots = options, program, slots
        self.per_part = options.lines // (options.active_warps if options.private else 1) // 2
        self.counts: Counter[str] = Counter()
        self.sets: dict[tuple[int, int], list[Line]] = {}
        self.part: dict[int, int] = {}
        self.coming: dict[tuple[int, int], Step] = {}

    def run(self, events: list[Event]) -> Counter[str]:
        for event in events:
            if event.kind == "activate" and self.options.private and self.per_part:
                taken = {p for w, p in self.part.items() if self.scheduler(w) == event.scheduler}
                free = [p for p in range(self.options.active_warps) if p not in taken]
                if free:
                    self.part[event.slot] = free[0]
            elif event.kind in ("suspend", "end"):
                if event.kind == "end":
                    self.forget(event.slot)
                if event.slot in self.part:
                    flushed = self.forget(event.slot)
                    self.counts["flushed"] += flushed
                    self.counts["RC>MRF"] += flushed
                    del self.part[event.slot]
            elif event.kind == "arrive":
                self.results(event.slot, self.coming.pop((event.slot, event.pc)))
            elif event.step is not None:
                self.step(event.slot, event.step)
        return +self.counts

    def scheduler(self, warp: int) -> int:
        sm, slot = divmod(warp, self.slots.warps)
        return sm * self.slots.schedulers + slot % self.slots.schedulers

    def forget(self, warp: int) -> int:
        """Drop all lines of a warp; how many were dirty."""
        dirty = 0
        for lines in self.sets.values():
            dirty += sum(line[DIRTY] for line in lines if line[WARP] == warp)
            lines[:] = [line for line in lines if line[WARP] != warp]
        return dirty

    def set_of(self, warp: int, register: int) -> list[Line] | None:
        if not self.per_part:
            return None
        if self.options.private:
            if warp not in self.part:
                return None
            number = self.part[warp] * self.per_part + register % self.per_part
        else:
            shift = warp % self.slots.warps // self.slots.schedulers
            number = (register + (shift if self.options.sets_by == "register-and-warp" else 0)) % self.per_part
        return self.sets.setdefault((self.scheduler(warp), number), [])

    def step(self, warp: int, step: Step) -> None:
        sources = operands(self.program.source_start, step.reads, step.pc)
        dying = []
        for operand in sources:
            lines = self.set_of(warp, operand.register)
            line = find(lines, warp, operand.register)
            if lines is None or line is None:
                self.counts[f"MRF.read.{step.datapath}"] += 1
                continue
            self.counts[f"RC.read.{step.datapath}"] += 1
            if step.mask & ~line[LANES]:
                self.counts[f"MRF.read.{step.datapath}"] += 1
                self.counts["merged_reads"] += 1
            lines.remove(line)
            lines.append(line)
            if self.program.last_read[operand.row]:
                dying.append((lines, line))
        for lines, line in dying:
            if line in lines:
                lines.remove(line)
        for operand in sources if self.options.allocate_sources else []:
            lines = self.set_of(warp, operand.register)
            if lines is None or self.program.last_read[operand.row] or find(lines, warp, operand.register):
                continue
            self.add(lines, [warp, operand.register, ALL, False])
            self.counts[f"RC.write.{step.datapath}"] += 1
            self.counts["fills"] += 1
        if self.program.long_latency[step.pc]:
            self.coming[warp, step.pc] = step
        else:
            self.results(warp, step)

    def results(self, warp: int, step: Step) -> None:
        for operand in operands(self.program.result_start, step.writes, step.pc):
            self.result(warp, step, operand.register, operand.row)

    def result(self, warp: int, step: Step, register: int, row: int) -> None:
        lines = self.set_of(warp, register)
        if lines is None:
            self.counts[f"MRF.write.{step.datapath}"] += 1
            self.counts["without_part"] += self.per_part > 0
            return
        line = find(lines, warp, register)
        if line is None:
            line = [warp, register, 0, True]
            self.add(lines, line)
        self.counts[f"RC.write.{step.datapath}"] += 1
        if not self.program.result_partial[row]:
            line[LANES] = ALL
        elif not self.program.guarded[step.pc]:
            line[LANES] |= step.mask
        line[DIRTY] = True
        lines.remove(line)
        lines.insert(0 if self.options.brief_first and self.is_brief(step.pc, register) else len(lines), line)

    def add(self, lines: list[Line], line: Line) -> None:
        if len(lines) == 2:
            self.counts["RC>MRF"] += lines.pop(0)[DIRTY]
        lines.append(line)

    def is_brief(self, pc: int, register: int) -> bool:
        """Whether the next instruction of the block reads the value for the last time."""
        if pc + 1 in self.program.first_pc:
            return False
        rows = range(self.program.source_start[pc + 1], self.program.source_start[pc + 2])
        return any(self.program.source[row] == register and self.program.last_read[row] for row in rows)


def find(lines: list[Line] | None, warp: int, register: int) -> Line | None:
    return next((line for line in lines or [] if line[:2] == [warp, register]), None)


def register_cache_counts(code: Kernel, path: RecordedPath, schedule: Schedule, **options: Any) -> Counter[str]:
    """What the design ``rc`` should count; zeros left out."""
    design = load("rc")
    values = design.configure(**options)
    program = design.compile(program_table(code), values, code)
    events = list(naive.events(code, path, schedule))
    return NaiveRegisterCache(values, program, schedule.slots).run(events)
