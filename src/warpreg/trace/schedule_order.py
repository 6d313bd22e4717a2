"""Sorts schedules that were recorded cycle by cycle into the order of the format: SM by SM, scheduler by scheduler.

A design of scheduler scope does not depend on warps of other schedulers, and a replay that processes one scheduler for
long is a sixth faster: branches are easier to predict, and more instructions of a warp share one record.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from warpreg.trace.schedule import AMOUNT_SHIFT, KIND_BITS, MAX_AMOUNT, MAX_SLOTS, SLOT_SHIFT, ScheduleWord

Words = NDArray[np.uint32]
PIECE_WORDS = 1 << 22
"""Words that are sorted at a time, so that thread blocks that run together remain close together in the file."""


def sorted_records(words: Words, schedulers: int = 1) -> Iterator[tuple[int, Words]]:
    """The records of words in the order of the run, sorted into pieces of one SM each, for `ScheduleWriter`.

    Within an SM, the order among warps of a scheduler (slots equal modulo ``schedulers``) is preserved; consecutive
    instructions of a warp are one record.
    """
    sm = begin = 0
    while begin < words.size:
        end = min(words.size, begin + PIECE_WORDS)
        piece = words[begin:end]
        operand = _thread_blocks(piece)
        if piece[-1] & _KINDS == ScheduleWord.START and not operand[-1]:
            end += 1
            piece = words[begin:end]
            operand = np.append(operand, True)
        sms, sm = _sms(piece, operand, sm)
        begin = end
        of = sms * schedulers + _slots(piece, operand) % schedulers
        kept = np.flatnonzero(operand | (piece & _KINDS != ScheduleWord.SM))
        kept = kept[np.argsort(of[kept], kind="stable")]
        for group in np.split(kept, np.flatnonzero(np.diff(of[kept])) + 1):
            if group.size:
                yield int(sms[group[0]]), _joined(piece[group], operand[group])


_KINDS = (1 << KIND_BITS) - 1


def _thread_blocks(words: Words) -> NDArray[np.bool_]:
    """Marks the second words of START records."""
    operand = np.zeros(words.size, np.bool_)
    for at in np.flatnonzero(words[:-1] & _KINDS == ScheduleWord.START).tolist():
        if not operand[at]:
            operand[at + 1] = True
    return operand


def _sms(words: Words, operand: NDArray[np.bool_], sm: int) -> tuple[NDArray[np.int32], int]:
    """The SM of each word, given that of the first word, and the SM after the last word."""
    names = np.flatnonzero(~operand & (words & _KINDS == ScheduleWord.SM))
    values = np.concatenate(([sm], words[names] >> SLOT_SHIFT)).astype(np.int32)
    return np.repeat(values, np.diff(np.concatenate(([0], names, [words.size])))), int(values[-1])


def _slots(words: Words, operand: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The slot of each word; a second word has the slot of the first word of its record."""
    slots = (words >> SLOT_SHIFT & MAX_SLOTS - 1).astype(np.int32)
    second = np.flatnonzero(operand)
    slots[second] = slots[second - 1]
    return slots


def _joined(words: Words, operand: NDArray[np.bool_]) -> Words:
    """Records of one SM, with adjacent ISSUE records of one warp joined."""
    issues = ~operand & (words & _KINDS == ScheduleWord.ISSUE)
    warp = words & ((1 << AMOUNT_SHIFT) - 1)
    goes_on = np.zeros(words.size, np.bool_)
    goes_on[1:] = issues[1:] & issues[:-1] & (warp[1:] == warp[:-1])
    amounts = np.where(issues, words >> AMOUNT_SHIFT, 0).astype(np.int64)
    first = np.flatnonzero(~goes_on)
    sums = np.add.reduceat(amounts, first)
    if sums.max() > MAX_AMOUNT:
        return words
    joined = words[first]
    return np.where(issues[first], warp[first] | (sums << AMOUNT_SHIFT).astype(np.uint32), joined)
