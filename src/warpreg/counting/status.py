"""Return values of the replay cores, and the message of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface.program import REPLAY_SLOTS
from warpreg.trace.schedule import AMOUNT_SHIFT, KIND_BITS, MAX_SLOTS, SLOT_SHIFT, Slots

(
    OK, CUT, BAD_KIND, BAD_BLOCK, BAD_WARP, BAD_THREAD_BLOCK, BAD_SM, BAD_SLOT, OCCUPIED, NEEDS_THREAD_BLOCK, TWICE,
    EMPTY, OVERRUN, UNFINISHED, ALREADY_ACTIVE, NOT_ACTIVE, BAD_PC, NOT_LATE, TOO_MANY_LATE,
) = range(19)  # fmt: skip


def path_refusal(status: int, chunk: NDArray[np.uint32], position: int, blocks: int) -> str:
    """Why words are not a path of a kernel with this number of basic blocks."""
    word = int(chunk[position])
    where = f"path word {position} of a chunk ({word:#010x})"
    return {
        CUT: f"{where}: the record is cut off at the end of the chunk",
        BAD_BLOCK: f"{where}: visits block {word >> 2}, the kernel has {blocks}",
        BAD_WARP: f"{where}: switches to warp {word >> 2}, a thread block has at most {REPLAY_SLOTS}",
        BAD_THREAD_BLOCK: f"{where}: starts a thread block with a payload, expected none",
    }.get(status, f"{where}: expected the start of a thread block")


def schedule_refusal(status: int, chunk: NDArray[np.uint32], sm: int, position: int, slots: Slots) -> str:
    """Why a record of a schedule does not match the run."""
    word = int(chunk[position])
    slot, amount = word >> SLOT_SHIFT & MAX_SLOTS - 1, word >> AMOUNT_SHIFT
    block = int(chunk[position + 1]) if position + 1 < chunk.size else 0
    what = {
        CUT: "the record is cut off at the end of the chunk",
        BAD_KIND: f"no record is of kind {word & (1 << KIND_BITS) - 1}",
        BAD_SM: f"goes to SM {word >> SLOT_SHIFT}, the machine has {slots.sms}",
        BAD_SLOT: f"names slot {slot}, an SM has {slots.warps}",
        OCCUPIED: f"starts a warp in slot {slot}, which holds one",
        NEEDS_THREAD_BLOCK: f"starts a warp of thread block {block}, which the path lacks",
        BAD_WARP: f"starts warp {amount} of thread block {block}, which has no such warp",
        TWICE: f"starts warp {amount} of thread block {block} for the second time",
        EMPTY: f"slot {slot} holds no warp",
        OVERRUN: f"issues {amount} instructions from slot {slot}, whose warp has fewer left",
        UNFINISHED: f"ends the warp in slot {slot}, which has instructions left",
        ALREADY_ACTIVE: f"activates the warp in slot {slot}, which is active",
        NOT_ACTIVE: f"suspends the warp in slot {slot}, which is not active",
        NOT_LATE: f"lets results of instruction {amount} arrive in slot {slot}, where none are under way",
        TOO_MANY_LATE: f"issues more instructions from slot {slot} whose results are under way than a warp may have",
        BAD_PC: f"lets results of instruction {amount} arrive, which the kernel lacks",
    }[status]
    return f"schedule word {position} of a chunk ({word:#010x}, SM {sm}): {what}"
