"""Schedules written by hand, and random ones for a path."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st
from tests.replay.naive import Step, steps
from tests.trace.records import record_word

from warpreg.designs import program_table
from warpreg.ir.kernel import Kernel
from warpreg.trace import Schedule, ScheduleWord, ScheduleWriter, Slots, visits
from warpreg.trace.path import RecordedPath
from warpreg.trace.schedule import RecordOrder

ONE_SM = Slots(sms=1, warps=4, schedulers=2)


class Scheduling:
    """A schedule under construction: ``Scheduling().start(0).active(0).issue(0, 3).end(0)``, by slot."""

    def __init__(self, slots: Slots = ONE_SM, order: RecordOrder = "sm") -> None:
        self.slots = slots
        self.order = order
        self._sm = 0
        self._words: list[tuple[int, list[int]]] = []

    def sm(self, index: int) -> Scheduling:
        self._sm = index
        return self

    def start(self, slot: int, thread_block: int = 0, warp: int = 0) -> Scheduling:
        return self.words(record_word(ScheduleWord.START, slot, warp), thread_block)

    def active(self, *slots: int) -> Scheduling:
        return self.words(*(record_word(ScheduleWord.ACTIVATE, slot) for slot in slots))

    def suspended(self, slot: int) -> Scheduling:
        return self.words(record_word(ScheduleWord.SUSPEND, slot))

    def issue(self, slot: int, count: int = 1) -> Scheduling:
        return self.words(record_word(ScheduleWord.ISSUE, slot, count))

    def arrive(self, slot: int, pc: int) -> Scheduling:
        return self.words(record_word(ScheduleWord.ARRIVE, slot, pc))

    def end(self, *slots: int) -> Scheduling:
        return self.words(*(record_word(ScheduleWord.END, slot) for slot in slots))

    def words(self, *words: int) -> Scheduling:
        """Words as they are, right or wrong, in a chunk of their own."""
        self._words.append((self._sm, list(words)))
        return self

    def data(self, code: Kernel, path: RecordedPath) -> bytes:
        """The file."""
        file = io.BytesIO()
        writer = ScheduleWriter(file, self.slots, code, path, self.order)
        for sm, words in self._words:
            writer.append_records(sm, np.array(words, np.uint32))
            writer.end_chunk()
        writer.finish({})
        return file.getvalue()

    def of(self, code: Kernel, path: RecordedPath) -> Schedule:
        return Schedule(io.BytesIO(self.data(code, path)))


@dataclass
class Running:
    """A warp in a slot: its instructions, how many have issued, whether it is active, and those whose results are under
    way, with what they write."""

    steps: list[Step]
    issued: int = 0
    active: bool = False
    under_way: dict[int, set[int]] = field(default_factory=dict)

    def ready(self, long_latency: Sequence[bool]) -> int:
        """How many instructions may issue before one that touches a result that is under way."""
        pending = set().union(*self.under_way.values())
        for count, step in enumerate(self.steps[self.issued :]):
            if pending & {*step.reads, *step.writes}:
                return count
            if long_latency[step.pc]:
                pending |= set(step.writes)
        return len(self.steps) - self.issued

    def issue(self, count: int, long_latency: Sequence[bool]) -> None:
        for step in self.steps[self.issued : self.issued + count]:
            if long_latency[step.pc]:
                self.under_way[step.pc] = set(step.writes)
        self.issued += count


@st.composite
def schedules(draw: st.DrawFn, code: Kernel, path: RecordedPath, may_swap: bool = True) -> Schedule:
    """Any order in which a machine of up to three SMs may run the warps of a path; not every scheduler swaps."""
    per_sm = draw(st.integers(1, 5))
    slots = Slots(draw(st.integers(1, 3)), per_sm, draw(st.integers(1, per_sm)))
    scheduling = Scheduling(slots)
    long_latency = program_table(code).long_latency.tolist()
    warps = steps_of_warps(code, path)
    waiting = deque(draw(st.permutations(sorted(warps))))
    swaps = may_swap and draw(st.booleans())
    free = [(sm, slot) for sm in range(slots.sms) for slot in range(slots.warps)]
    running: dict[tuple[int, int], Running] = {}
    while waiting or running:
        if waiting and free and (not running or draw(st.booleans())):
            place = free.pop(draw(st.integers(0, len(free) - 1)))
            thread_block, warp = waiting.popleft()
            scheduling.sm(place[0]).start(place[1], thread_block, warp)
            running[place] = Running(warps[thread_block, warp])
            continue
        place = draw(st.sampled_from(sorted(running)))
        one, slot = running[place], place[1]
        scheduling.sm(place[0])
        ready = one.ready(long_latency)
        if one.issued == len(one.steps) and not one.under_way:
            scheduling.end(slot)
            del running[place]
            free.append(place)
        elif swaps and draw(st.booleans()):
            scheduling.suspended(slot) if one.active else scheduling.active(slot)
            one.active = not one.active
        elif one.under_way and (ready == 0 or draw(st.booleans())):
            pc = draw(st.sampled_from(sorted(one.under_way)))
            scheduling.arrive(slot, pc)
            del one.under_way[pc]
        else:
            count = draw(st.integers(1, ready))
            scheduling.issue(slot, count)
            one.issue(count, long_latency)
    return scheduling.of(code, path)


def steps_of_warps(code: Kernel, path: RecordedPath) -> dict[tuple[int, int], list[Step]]:
    """What each (thread block, warp) of a path issues."""
    found: dict[tuple[int, int], list[Step]] = {(v.thread_block, v.warp): [] for v in visits(path.path_chunks())}
    for step in steps(code, path):
        found[step.warp].append(step)
    return found
