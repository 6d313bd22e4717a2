"""Thread blocks of a run that is timed more than once are split once more, then taken from memory."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from tests.designs.kernels import kernel, op, r

from warpreg.ir.kernel import Kernel
from warpreg.timing.feed import kept as keeping
from warpreg.timing.feed.feed import ThreadBlocks
from warpreg.timing.feed.kept import kept
from warpreg.trace import Trace, TraceWriter

MOVE = kernel([op("mov.u32", r(0), 1)])
EIGHT_WORDS = 64


def empty_trace() -> Trace:
    file = io.BytesIO()
    TraceWriter(file, {"kernel": "k", "grid": [1, 1, 1]}).finish({})
    return Trace(file)


class Splits:
    """Counts how often two batches are split: 64 bytes of visits each."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> Iterator[ThreadBlocks]:
        self.count += 1
        nothing = np.zeros(0, np.int64)
        for first in range(2):
            yield ThreadBlocks(first, 1, np.full(EIGHT_WORDS // 8, first, np.int64), nothing, nothing, nothing)


def times_split(rounds: int, trace: Trace, code: Callable[[int], Kernel], banks: Callable[[int], int]) -> int:
    """How often a run is split in so many rounds, each of which gets the same visits."""
    splits = Splits()
    for number in range(rounds):
        found = [batch.visits.tolist() for batch in kept(trace, code(number), (banks(number),), splits)]
        assert found == [[0] * 8, [1] * 8]
    return splits.count


def always(value: int) -> Callable[[int], int]:
    return lambda _: value


def test_from_the_third_time_on_they_are_in_memory() -> None:
    assert times_split(5, empty_trace(), lambda _: MOVE, always(32)) == 2


def test_other_banks_or_another_kernel_are_split_again() -> None:
    assert times_split(5, empty_trace(), lambda _: MOVE, lambda number: number) == 5
    assert times_split(5, empty_trace(), lambda _: kernel([op("mov.u32", r(0), 1)]), always(32)) == 5


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets how many bytes are kept, of nothing so far."""
    monkeypatch.setattr(keeping, "_kept", type(keeping._kept)())

    def has(size: int) -> None:
        monkeypatch.setattr(keeping, "KEPT_BYTES", size)

    return has


def test_what_does_not_fit_is_not_kept(room: Callable[[int], None]) -> None:
    """Two batches of 64 bytes take 128."""
    room(2 * EIGHT_WORDS - 1)
    assert times_split(4, empty_trace(), lambda _: MOVE, always(32)) == 4


def test_what_is_timed_now_replaces_what_was_timed_before(room: Callable[[int], None]) -> None:
    """There is room for one run.  Each is split twice, the first one again after the second has replaced it."""
    room(2 * EIGHT_WORDS)
    first, second = empty_trace(), empty_trace()
    assert times_split(4, first, lambda _: MOVE, always(32)) == 2
    assert times_split(4, second, lambda _: MOVE, always(32)) == 2
    assert times_split(3, first, lambda _: MOVE, always(32)) == 2


def test_what_is_timed_in_turns_is_not_replaced(room: Callable[[int], None]) -> None:
    """There is room for one of two runs: the first one stays, the second one is split each time."""
    room(2 * EIGHT_WORDS)
    first, second = empty_trace(), empty_trace()
    splits = [times_split(1, one, lambda _: MOVE, always(32)) for _ in range(4) for one in (first, second)]
    assert splits == [1, 1, 1, 1, 0, 1, 0, 1]


def test_the_oldest_is_replaced_first(room: Callable[[int], None]) -> None:
    """There is room for two of three runs."""
    room(4 * EIGHT_WORDS)
    runs = [empty_trace() for _ in range(3)]
    for one in runs:
        assert times_split(3, one, lambda _: MOVE, always(32)) == 2
    assert [times_split(1, one, lambda _: MOVE, always(32)) for one in reversed(runs)] == [0, 0, 1]


def test_a_part_of_them_is_not_kept() -> None:
    """Reading that stops early leaves nothing."""
    trace, splits = empty_trace(), Splits()
    for _ in range(3):
        next(kept(trace, MOVE, (), splits))
    assert splits.count == 3
