"""Schedules that were recorded cycle by cycle, put in the order of the format: SM by SM, scheduler by scheduler.

Warps of other schedulers do not matter to a design of scheduler scope, and a replay that stays with one scheduler for
long is a sixth faster: what comes next is easier to guess, and more of what a warp issues joins in one record.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from warpreg.trace.schedule import AMOUNT_SHIFT, KIND_BITS, MOST_AMOUNT, MOST_SLOTS, SLOT_SHIFT, ScheduleWord

Words = NDArray[np.uint32]
PIECE_WORDS = 1 << 22
"""Words that are put in order at a time; the thread blocks of all SMs stay close together that way."""


def sorted_records(words: Words, schedulers: int = 1) -> Iterator[tuple[int, Words]]:
    """The records of words that go from SM to SM as it happened, in pieces of one SM each, for `ScheduleWriter`.

    Inside an SM the order stays among warps of a scheduler, whose slots leave the same rest by ``schedulers``;
    instructions that a warp issues in a row are one record.
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
    """Which words are the second ones of START records."""
    operand = np.zeros(words.size, np.bool_)
    for at in np.flatnonzero(words[:-1] & _KINDS == ScheduleWord.START).tolist():
        if not operand[at]:
            operand[at + 1] = True
    return operand


def _sms(words: Words, operand: NDArray[np.bool_], sm: int) -> tuple[NDArray[np.int32], int]:
    """The SM of each word, where ``sm`` is that of the first, and that of what follows."""
    names = np.flatnonzero(~operand & (words & _KINDS == ScheduleWord.SM))
    values = np.concatenate(([sm], words[names] >> SLOT_SHIFT)).astype(np.int32)
    return np.repeat(values, np.diff(np.concatenate(([0], names, [words.size])))), int(values[-1])


def _slots(words: Words, operand: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The slot of each record; that of the first word for its second."""
    slots = (words >> SLOT_SHIFT & MOST_SLOTS - 1).astype(np.int32)
    second = np.flatnonzero(operand)
    slots[second] = slots[second - 1]
    return slots


def _joined(words: Words, operand: NDArray[np.bool_]) -> Words:
    """Records of one SM, with those joined in which one warp issues and nothing happens in between."""
    issues = ~operand & (words & _KINDS == ScheduleWord.ISSUE)
    warp = words & ((1 << AMOUNT_SHIFT) - 1)
    goes_on = np.zeros(words.size, np.bool_)
    goes_on[1:] = issues[1:] & issues[:-1] & (warp[1:] == warp[:-1])
    amounts = np.where(issues, words >> AMOUNT_SHIFT, 0).astype(np.int64)
    first = np.flatnonzero(~goes_on)
    sums = np.add.reduceat(amounts, first)
    if sums.max() > MOST_AMOUNT:
        return words
    joined = words[first]
    return np.where(issues[first], warp[first] | (sums << AMOUNT_SHIFT).astype(np.uint32), joined)
