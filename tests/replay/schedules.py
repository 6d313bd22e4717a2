"""Schedules written by hand, and random ones for a path."""

from __future__ import annotations

import io
from collections import deque

import numpy as np
from hypothesis import strategies as st

from warpreg.ir.kernel import Kernel
from warpreg.trace import Schedule, ScheduleWord, ScheduleWriter, Slots, visits
from warpreg.trace.path import RecordedPath
from warpreg.trace.schedule import record_word

ONE_SM = Slots(sms=1, warps=4, schedulers=2)


class Scheduling:
    """A schedule under construction: ``Scheduling().start(0).active(0).issue(0, 3).end(0)``, by slot."""

    def __init__(self, slots: Slots = ONE_SM) -> None:
        self.slots = slots
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

    def end(self, *slots: int) -> Scheduling:
        return self.words(*(record_word(ScheduleWord.END, slot) for slot in slots))

    def words(self, *words: int) -> Scheduling:
        """Words as they are, right or wrong, in a chunk of their own."""
        self._words.append((self._sm, list(words)))
        return self

    def data(self, code: Kernel, path: RecordedPath) -> bytes:
        """The file."""
        file = io.BytesIO()
        writer = ScheduleWriter(file, self.slots, code, path)
        for sm, words in self._words:
            writer.append_records(sm, np.array(words, np.uint32))
        writer.finish({})
        return file.getvalue()

    def of(self, code: Kernel, path: RecordedPath) -> Schedule:
        return Schedule(io.BytesIO(self.data(code, path)))


@st.composite
def schedules(draw: st.DrawFn, code: Kernel, path: RecordedPath, may_swap: bool = True) -> Schedule:
    """Any order in which a machine of up to three SMs may run the warps of a path; not every scheduler swaps."""
    per_sm = draw(st.integers(1, 5))
    slots = Slots(draw(st.integers(1, 3)), per_sm, draw(st.integers(1, per_sm)))
    scheduling = Scheduling(slots)
    lengths = warp_lengths(code, path)
    waiting = deque(draw(st.permutations(sorted(lengths))))
    swaps = may_swap and draw(st.booleans())
    free = [(sm, slot) for sm in range(slots.sms) for slot in range(slots.warps)]
    running: dict[tuple[int, int], list[int]] = {}
    while waiting or running:
        if waiting and free and (not running or draw(st.booleans())):
            place = free.pop(draw(st.integers(0, len(free) - 1)))
            thread_block, warp = waiting.popleft()
            scheduling.sm(place[0]).start(place[1], thread_block, warp)
            running[place] = [lengths[thread_block, warp], 0]
            continue
        place = draw(st.sampled_from(sorted(running)))
        warp_state = running[place]
        scheduling.sm(place[0])
        if warp_state[0] == 0:
            scheduling.end(place[1])
            del running[place]
            free.append(place)
        elif swaps and draw(st.booleans()):
            scheduling.suspended(place[1]) if warp_state[1] else scheduling.active(place[1])
            warp_state[1] ^= 1
        else:
            count = draw(st.integers(1, warp_state[0]))
            scheduling.issue(place[1], count)
            warp_state[0] -= count
    return scheduling.of(code, path)


def warp_lengths(code: Kernel, path: RecordedPath) -> dict[tuple[int, int], int]:
    """Instructions that each (thread block, warp) of a path issues."""
    lengths: dict[tuple[int, int], int] = {}
    for visit in visits(path.path_chunks()):
        key = visit.thread_block, visit.warp
        lengths[key] = lengths.get(key, 0) + len(code.blocks[visit.block].instructions)
    return lengths
