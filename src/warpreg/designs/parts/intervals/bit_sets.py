"""Sets of registers as words of 32 bits in int64, for hints and hooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

WORD = 32


def words_of(registers: int) -> int:
    """Words of a set, at least one."""
    return max(1, -(-registers // WORD))


def bit_sets(rows: Sequence[Iterable[int]], registers: int) -> NDArray[np.int64]:
    """int64[rows, words]: a set of registers in each row."""
    found = np.zeros((len(rows), words_of(registers)), np.int64)
    for row, members in enumerate(rows):
        for register in members:
            found[row, register // WORD] |= 1 << register % WORD
    return found


def bit_sets_of(flags: NDArray[np.bool_], registers: int) -> NDArray[np.int64]:
    """The same from bool[rows, registers or more]."""
    rows, flags = len(flags), flags[:, :registers]
    padded = np.zeros((rows, words_of(registers) * WORD), np.bool_)
    padded[:, : flags.shape[1]] = flags
    weights = np.left_shift(np.int64(1), np.arange(WORD, dtype=np.int64))
    summed: NDArray[np.int64] = (padded.reshape(rows, words_of(registers), WORD) * weights).sum(axis=2)
    return summed


def has(words: NDArray[np.int64], register: int) -> bool:
    """Whether a set has a register."""
    return bool(words[register // WORD] >> np.int64(register % WORD) & 1)


def add(words: NDArray[np.int64], register: int) -> None:
    """Put a register into a set."""
    words[register // WORD] |= np.int64(1) << np.int64(register % WORD)
