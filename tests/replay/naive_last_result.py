"""The last result file in front of a register file cache, as one entry and a searched list."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.replay import naive
from tests.replay.naive import Step
from tests.replay.naive_cache import Entry, NaiveCache, Operand, find, in_path_order, operands

from warpreg.designs import Program, load, program_table
from warpreg.ir.kernel import Kernel
from warpreg.trace import Schedule
from warpreg.trace.path import RecordedPath


class NaiveLastResult(NaiveCache):
    """The last entry of each warp's list may stand for the LRF: ``last`` says which warps have one."""

    def __init__(self, code: Kernel, options: Any, program: Program) -> None:
        super().__init__(code, options, program)
        self.last: dict[int, Entry | None] = {}
        self.slot = 0

    def step_of(self, slot: int, step: Step) -> None:
        self.slot = slot
        cache = self.caches[slot]
        for operand in operands(self.program.source_start, step.reads, step.pc):
            last = self.last.get(slot)
            if last is None or last.register != operand.register or step.datapath == "shared":
                self.read(cache, step, operand)
                continue
            self.counts[f"LRF.read.{step.datapath}"] += 1
            if step.mask & ~last.lanes:
                self.counts[f"MRF.read.{step.datapath}"] += 1
                self.counts["merged_reads"] += 1
            last.dead |= bool(self.program.last_read[operand.row])
        results = operands(self.program.result_start, step.writes, step.pc)
        for operand in results:
            self.result(cache, step, operand, alone=len(results) == 1)

    def result(self, cache: list[Entry], step: Step, operand: Operand, alone: bool) -> None:
        partial = bool(self.program.result_partial[operand.row])
        last, inside = self.last.get(self.slot), find(cache, operand.register)
        is_last = last is not None and last.register == operand.register
        late = self.options.around_long_latency and self.program.long_latency[step.pc]
        barred = not alone or step.datapath == "shared" or self.program.hints.shared_reader[operand.row]
        if late or barred:
            if is_last:
                if partial:
                    self.displace(cache, to_mrf=bool(late))
                self.last[self.slot] = None
            self.write(cache, step, operand)
        elif partial and inside is not None:
            self.write(cache, step, operand)
        else:
            if not is_last:
                self.displace(cache, to_mrf=False)
                last = self.last[self.slot] = Entry(operand.register)
                if inside in cache:
                    cache.remove(inside)
            assert last is not None
            self.counts[f"LRF.write.{step.datapath}"] += 1
            if not partial:
                last.lanes = 0xFFFFFFFF
            elif not self.program.guarded[step.pc]:
                last.lanes |= step.mask
            last.dirty, last.dead = True, False

    def displace(self, cache: list[Entry], to_mrf: bool) -> None:
        last = self.last.get(self.slot)
        if last is None or (self.options.static_liveness and last.dead):
            return
        if to_mrf or not self.options.entries:
            self.counts["LRF>MRF"] += 1
            return
        self.counts["LRF>RFC"] += 1
        self.make_room(cache)
        cache.append(Entry(last.register, last.lanes, True, last.dead))


def last_result_counts(
    code: Kernel, path: RecordedPath, schedule: Schedule | None = None, *, static: bool = False, **options: Any
) -> Counter[str]:
    """What the design ``rfc-lrf`` should count; zeros left out."""
    design = load("rfc-lrf")
    values = design.configure(**options)
    program = design.compile(program_table(code), values, code)
    model = NaiveLastResult(code, WithDefaults(values), program)
    events = naive.events(code, path, schedule) if schedule else in_path_order(code, path, program, static)
    for event in events:
        if event.kind == "start":
            model.caches[event.slot], model.last[event.slot] = [], None
        elif event.kind == "suspend":
            last = model.last[event.slot]
            if last is not None and not (values.static_liveness and last.dead):
                model.counts["LRF>MRF"] += 1
                model.counts["flushed"] += 1
            model.last[event.slot] = None
            model.flush(event.slot)
        elif event.step is not None:
            model.step_of(event.slot, event.step)
    return +model.counts


class WithDefaults:
    """The options of ``rfc-lrf`` with what its cache does not have switched off."""

    replacement, allocate_sources, bypass_idle, idle_first, flush_backward = "fifo", False, False, False, False

    def __init__(self, values: Any) -> None:
        self.entries, self.partial = values.entries, values.partial
        self.static_liveness, self.around_long_latency = values.static_liveness, values.around_long_latency
