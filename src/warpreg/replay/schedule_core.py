"""Replay core that follows a recorded schedule (:mod:`warpreg.trace.schedule`) and calls a design's hooks.

Every slot holds a warp, whose instructions come from its own path (:mod:`warpreg.replay.warp_streams`).  Three of four
records are ISSUE, so they are tested first.  Functions are replaced as in :mod:`warpreg.replay.path_core`, and
`as_compiled` by one that fixes the design's switches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.natives import Function
from piecewise_numba.records import by_reference
from warpreg.counting.status import (
    ALREADY_ACTIVE,
    BAD_KIND,
    BAD_PC,
    BAD_SLOT,
    BAD_SM,
    BAD_WARP,
    CUT,
    EMPTY,
    NEEDS_THREAD_BLOCK,
    NOT_ACTIVE,
    OCCUPIED,
    OK,
    OVERRUN,
    TWICE,
    UNFINISHED,
)
from warpreg.designs.interface import thread_blocks
from warpreg.designs.interface.plan import Plan
from warpreg.designs.interface.program import Program
from warpreg.designs.interface.state import reset_rows
from warpreg.replay import late_results
from warpreg.replay.hook_calls import (
    call_activated,
    call_arrived,
    call_block_end,
    call_block_start,
    call_issued,
    call_suspended,
    call_warp_end,
    call_warp_start,
)
from warpreg.replay.late_results import LateResults
from warpreg.trace.schedule import AMOUNT_SHIFT, KIND_BITS, MAX_SLOTS, SLOT_SHIFT, ScheduleWord

KINDS, SLOTS = (1 << KIND_BITS) - 1, MAX_SLOTS - 1
"""Masks of the kind of a word, and of its slot after the shift."""
ISSUE, START, END = int(ScheduleWord.ISSUE), int(ScheduleWord.START), int(ScheduleWord.END)
ACTIVATE, SUSPEND = int(ScheduleWord.ACTIVATE), int(ScheduleWord.SUSPEND)
NEXT_SM, ARRIVE = int(ScheduleWord.SM), int(ScheduleWord.ARRIVE)
WAITING, RUNNING, ENDED = range(3)
"""State of a row of `Streams`."""
FREE = -1
"""Row of a slot that holds no warp."""

SM, POSITION = range(2)
PROGRESS = 2
"""Length of ``progress``: the current SM, and the position of the last record in the chunk."""
SMS, PLACES = range(2)
"""Columns of ``machine``: number of SMs, and number of slots of each."""


class Streams(NamedTuple):
    """Paths of warps, as documented in :class:`warpreg.replay.warp_streams.WarpStreams`."""

    words: NDArray[np.uint32]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    row_state: NDArray[np.uint8]
    width_start: NDArray[np.int64]
    first_row: NDArray[np.int64]
    row_count: NDArray[np.int64]
    left: NDArray[np.int64]


class Warps(NamedTuple):
    """By warp slot of the machine: its row (FREE without a warp), its thread block, words of the row that were read,
    the next instruction and the end of its basic block, active lanes, and whether it is in the active set.  By pc,
    ``added``: whether a design has added the instruction to the code of the schedule; by pc of that code, ``pcs``: its
    pc now.  Both are empty if nothing was added.
    """

    row: NDArray[np.int64]
    thread_block: NDArray[np.int64]
    taken: NDArray[np.int64]
    pc: NDArray[np.int64]
    end: NDArray[np.int64]
    mask: NDArray[np.uint32]
    active: NDArray[np.uint8]
    added: NDArray[np.uint8]
    pcs: NDArray[np.int64]


def as_compiled(state: Any) -> Any:
    """The state with the switches that are constants of the compiled core; disabled features then leave no code."""
    return state


def take_slots(program: Program, sm: int, block: int, warps: int) -> None:
    """Keep the thread block of the slots that its warps take, if hooks ask for it."""


def take_slot(program: Program, warp: int, block: int, number: int) -> None:
    """The same for a warp that starts; only a schedule that no core has recorded has it in another slot."""


def leave_slots(program: Program, sm: int, block: int) -> None:
    """Forget it."""


def keep_slots(program: Program, sm: int, block: int, warps: int) -> None:
    """In place of `take_slots` where they do."""
    thread_blocks.take_free_slots(program, sm * program.slots, program.slots, block, warps)


def forget_slots(program: Program, sm: int, block: int) -> None:
    """In place of `leave_slots`."""
    thread_blocks.leave_slots(program, sm * program.slots, program.slots, block)


THREAD_BLOCKS: Mapping[Function, Function] = {
    take_slots: keep_slots,
    take_slot: thread_blocks.take_slot,
    leave_slots: forget_slots,
}
"""Replacements if hooks ask for thread blocks."""


def is_scheduled(warps: Warps, pc: int) -> bool:
    """Whether the schedule knows an instruction."""
    return True


def was_scheduled(warps: Warps, pc: int) -> bool:
    """In place of `is_scheduled` if a design has added instructions: they issue before the next one that was there."""
    return bool(warps.added[pc] == 0)


def pc_of(warps: Warps, pc: int) -> int:
    """The pc of an instruction that the schedule names."""
    return pc


def new_pc_of(warps: Warps, pc: int) -> int:
    """In place of `pc_of` if a design has added instructions."""
    return warps.pcs[pc] if pc < warps.pcs.size else warps.added.size


ADDED: Mapping[Function, Function] = {is_scheduled: was_scheduled, pc_of: new_pc_of}
"""Replacements if a design has added instructions."""


def walk(
    schedule: NDArray[np.uint32],
    progress: NDArray[np.int64],
    machine: NDArray[np.int64],
    streams: Streams,
    warps: Warps,
    late: LateResults,
    visits: NDArray[np.int64],
    table: Program,
    given: Any,
    resets: Any,
    blank_plan: Plan,
) -> int:
    """Replay a chunk; returns a status of :mod:`warpreg.counting.status`.

    ``late`` is used where `late_results.are_kept`; ``given`` is the design's state; the other arguments as in
    `path_core.walk`.
    """
    program, blank = by_reference(table), by_reference(blank_plan)
    state = as_compiled(given)
    places = machine[PLACES]
    sm = progress[SM]
    position = progress[POSITION]
    begin = position
    status = OK
    while position < schedule.size and status == OK:
        begin = position
        word: Any = np.int64(schedule[np.uint64(position)])
        position += 1
        kind = word & KINDS
        slot = word >> SLOT_SHIFT & SLOTS
        amount = word >> AMOUNT_SHIFT
        warp: Any = np.int64(np.uint32(sm * places + slot))
        if kind == ISSUE and slot < places:
            status = issue(state, program, blank, streams, warps, late, visits, sm, warp, amount)
        elif kind == NEXT_SM:
            sm = word >> SLOT_SHIFT
            if sm >= machine[SMS]:
                status = BAD_SM
        elif slot >= places:
            status = BAD_SLOT
        elif kind == START:
            status = start(state, program, resets, blank, streams, warps, late, sm, warp, amount, schedule, position)
            position += 1
        elif warps.row[warp] < 0:
            status = EMPTY
        elif kind == END:
            status = end(state, program, blank, streams, warps, visits, sm, warp)
        else:
            status = note(state, program, blank, streams, warps, late, sm, warp, kind, amount)
    progress[SM] = sm
    progress[POSITION] = position if status == OK else begin
    return status


def issue(
    state: Any,
    program: Program,
    blank: Plan,
    streams: Streams,
    warps: Warps,
    late: LateResults,
    visits: NDArray[np.int64],
    sm: int,
    warp: int,
    amount: int,
) -> int:
    """Issue the next ``amount`` instructions of a warp's path."""
    status = OK
    late_results.see(late, blank, streams.width_start, warps.row, warp)
    pc: Any = np.int64(np.uint32(warps.pc[warp]))
    end = warps.end[warp]
    mask = warps.mask[warp]
    issued = 0
    while issued < amount:
        while pc == end:
            row = warps.row[warp]
            if row < 0:
                status = EMPTY
                break
            at = streams.start[row] + warps.taken[warp]
            if at == streams.stop[row]:
                status = OVERRUN
                break
            visit: Any = streams.words[np.uint64(at)]
            if visit & 1:
                mask = streams.words[np.uint64(at + 1)]
                warps.mask[warp] = mask
            warps.taken[warp] += 1 + np.int64(visit & 1)
            block = visit >> 2
            visits[block] += 1
            pc = np.int64(np.uint32(program.first_pc[block]))
            end = np.int64(program.first_pc[block + 1])
            warps.end[warp] = end
            late_results.enter(late, program, warp, block)
            late_results.see(late, blank, streams.width_start, warps.row, warp)
        if status != OK:
            break
        call_issued(state, program, blank, sm, warp, mask, pc)
        if late_results.are_kept() and program.long_latency[pc]:
            status = late_results.keep(late, blank, warp, pc, mask)
        issued += is_scheduled(warps, pc)
        pc = np.int64(np.uint32(pc + 1))
    warps.pc[warp] = pc
    return status


def start(
    state: Any,
    program: Program,
    resets: Any,
    blank: Plan,
    streams: Streams,
    warps: Warps,
    late: LateResults,
    sm: int,
    warp: int,
    number: int,
    schedule: NDArray[np.uint32],
    position: int,
) -> int:
    """Place warp ``number`` of the thread block that the schedule names at ``position`` in the slot."""
    mask = warps.mask[warp]
    if warps.row[warp] >= 0:
        return OCCUPIED
    if position == schedule.size:
        return CUT
    thread_block = schedule[position]
    if thread_block >= streams.first_row.size or streams.first_row[thread_block] < 0:
        return NEEDS_THREAD_BLOCK
    if number >= streams.row_count[thread_block]:
        return BAD_WARP
    row = streams.first_row[thread_block] + number
    if streams.row_state[row] != WAITING:
        return TWICE
    streams.row_state[row] = RUNNING
    warps.row[warp] = row
    warps.thread_block[warp] = thread_block
    if streams.left[thread_block] < 0:
        streams.left[thread_block] = streams.row_count[thread_block]
        take_slots(program, sm, thread_block, streams.row_count[thread_block])
        call_block_start(state, program, blank, sm, warp, mask)
    warps.taken[warp] = warps.pc[warp] = warps.end[warp] = warps.mask[warp] = 0
    late_results.start(late, warp)
    reset_rows(resets, warp)
    take_slot(program, warp, thread_block, number)
    call_warp_start(state, program, blank, sm, warp, mask)
    return OK


def end(
    state: Any,
    program: Program,
    blank: Plan,
    streams: Streams,
    warps: Warps,
    visits: NDArray[np.int64],
    sm: int,
    warp: int,
) -> int:
    """Remove the warp from its slot; the rest of its path may only be visits of empty blocks."""
    row = warps.row[warp]
    status = UNFINISHED if warps.pc[warp] < warps.end[warp] else OK
    at = streams.start[row] + warps.taken[warp]
    while at < streams.stop[row]:
        block = streams.words[at] >> 2
        at += 1 + np.int64(streams.words[at] & 1)
        visits[block] += 1
        if program.first_pc[block] < program.first_pc[block + 1]:
            status = UNFINISHED
    streams.row_state[row] = ENDED
    warps.row[warp] = FREE
    warps.pc[warp] = warps.end[warp] = 0
    warps.active[warp] = 0
    call_warp_end(state, program, blank, sm, warp, warps.mask[warp])
    thread_block = warps.thread_block[warp]
    streams.left[thread_block] -= 1
    if streams.left[thread_block] == 0:
        call_block_end(state, program, blank, sm, warp, warps.mask[warp])
        leave_slots(program, sm, thread_block)
    return status


def note(
    state: Any,
    program: Program,
    blank: Plan,
    streams: Streams,
    warps: Warps,
    late: LateResults,
    sm: int,
    warp: int,
    kind: int,
    amount: int,
) -> int:
    """Process another record of a warp: it enters or leaves the active set, or results of instruction ``amount``
    arrive.
    """
    mask = warps.mask[warp]
    status = OK
    if kind == ACTIVATE:
        if warps.active[warp]:
            status = ALREADY_ACTIVE
        warps.active[warp] = 1
        call_activated(state, program, blank, sm, warp, mask)
    elif kind == SUSPEND:
        if not warps.active[warp]:
            status = NOT_ACTIVE
        warps.active[warp] = 0
        call_suspended(state, program, blank, sm, warp, mask)
    elif kind == ARRIVE:
        pc = pc_of(warps, amount)
        if pc >= program.long_latency.size:
            status = BAD_PC
        else:
            if late_results.are_kept():
                status = late_results.recall(late, blank, streams.width_start, warps.row, warp, pc)
            if status == OK:
                call_arrived(state, program, blank, sm, warp, late_results.mask_of(late, mask), pc)
    else:
        status = BAD_KIND
    return status
