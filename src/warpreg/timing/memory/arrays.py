"""The arrays of an idle memory system, in two buffers: those of the second level, which may outlive a launch, and the
others but for outboxes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import DTypeLike

from warpreg.timing.core.buffer_pool import room
from warpreg.timing.core.prefetch import HOST_LINE
from warpreg.timing.core.typed import NEVER, NONE, Array, Words, array_of
from warpreg.timing.core.whole_columns import WholeColumns
from warpreg.timing.memory import agenda, late_bursts, wide_sets
from warpreg.timing.memory.heap import NODES_OF_SM, SPARE_RETURNS
from warpreg.timing.memory.layout import CONTENTION, DAYS, FIXED, RING, ROUTER_FIELDS, WEEK, Memory
from warpreg.timing.memory.memory_columns import (
    Channels,
    DramBanks,
    Parameters,
    Slices,
    Sms,
    cache_lines,
    cache_sets,
    channels,
    counts,
    days,
    dram_banks,
    nodes,
    parameters,
    queues,
    scalars,
    slices,
    sms,
)

WORD_BYTES = 8
NODES_PER_TRANSACTION = 4
"""Nodes per transaction: itself, the request of the first level, that of the second level, and a write-back."""
NODES_OF_MEMBER = 2 * NODES_OF_SM
"""Nodes per transaction for each thread but the leader: enough for most SMs after it has used those of some."""
LAYOUTS = 16
"""Memory systems whose layout is kept."""


class Field(NamedTuple):
    """An array of a `Memory`."""

    name: str
    shape: tuple[int, ...]
    element: DTypeLike = np.int64


class Place(NamedTuple):
    """A field, and its first word in the buffer."""

    field: Field
    begin: int


class Layout(NamedTuple):
    """Places in a buffer of so many ``words``, of which the first ``cleared`` ones are zero before a launch.

    Each place begins at a cache line of the host.
    """

    places: tuple[Place, ...]
    words: int
    cleared: int


def idle(p: Words[Parameters], threads: int) -> Memory:
    """An idle memory system with these parameters, for so many ``threads``."""
    made: dict[str, Any] = {"parameters": p, "outboxes": _outboxes(p, threads)}
    for layout in _layouts(tuple(array_of(p).tolist()), threads):
        made |= _in_buffer(layout)
    memory = Memory(**made)
    own = WholeColumns[Sms](array_of(memory.sms))
    own[sms.RETURN_AT] = own[sms.UNBLOCKED_AT] = NEVER
    for column in (sms.TAKEN_AT, sms.BLOCKED, sms.FIRST_ANSWER, sms.LAST_ANSWER, sms.CHOSEN_BY, sms.FIRST_COMING):
        own[column] = NONE
    of_slices = WholeColumns[Slices](array_of(memory.slices))
    of_slices[slices.CHOSEN] = NONE
    of_slices[slices.CHANNEL] = np.arange(len(of_slices.rows)) % max(1, p[parameters.CHANNELS])
    WholeColumns[DramBanks](array_of(memory.banks))[dram_banks.OPEN_ROW] = NONE
    WholeColumns[Channels](array_of(memory.channels))[channels.STEP_AT] = NEVER
    memory.scalars[scalars.DRAM_AT] = memory.scalars[scalars.NEXT_ANSWER] = NEVER
    memory.scalars[scalars.FREE_NODE] = NONE
    memory.scalars[scalars.NODES_OF_SMS] = NODES_OF_SM * p[parameters.SMS] * p[parameters.OUTSTANDING]
    memory.scalars[scalars.MEMBERS], memory.scalars[scalars.OUTBOX_ROWS] = threads, len(memory.outboxes) // threads
    return memory


def members(memory: Memory) -> list[Memory]:
    """The memory system as each thread sees it: the leader that looks ahead, and the others, which allocate nodes of
    their own for what their SMs send.
    """
    leader, p = array_of(memory.scalars), memory.parameters
    outstanding = p[parameters.SMS] * p[parameters.OUTSTANDING]
    views = [memory]
    for member in range(1, int(leader[scalars.MEMBERS])):
        own = leader.copy()
        own[scalars.MEMBER], own[scalars.OUTBOX] = member, member * leader[scalars.OUTBOX_ROWS]
        own[scalars.FRESH_NODE] = (NODES_PER_TRANSACTION + (member - 1) * NODES_OF_MEMBER) * outstanding
        own[scalars.NODES_OF_SMS] = own[scalars.FRESH_NODE] + NODES_OF_MEMBER * outstanding
        views.append(memory._replace(scalars=cast(Any, own)))
    return views


def _outboxes(p: Words[Parameters], threads: int) -> Array:
    """Empty outboxes for the requests of each thread, and some that are prefetched behind them; their pages are those
    of the system, which are zero and mostly never touched.
    """
    requests = NODES_OF_SM * p[parameters.SMS] * p[parameters.OUTSTANDING] if p[parameters.MODEL] != FIXED else 0
    each = 1 + requests + agenda.AHEAD if threads > 1 else 1
    return np.zeros((threads * each, 2), np.int64)


def _in_buffer(layout: Layout) -> dict[str, Any]:
    """The arrays by name."""
    buffer = room(layout.words + HOST_LINE)
    first = -(buffer.ctypes.data // WORD_BYTES) % HOST_LINE
    buffer[first : first + layout.cleared] = 0
    return {
        field.name: np.ndarray(field.shape, field.element, buffer, (first + begin) * WORD_BYTES)
        for field, begin in layout.places
    }


@functools.lru_cache(LAYOUTS)
def _layouts(p: tuple[int, ...], threads: int) -> tuple[Layout, Layout]:
    """The layouts of both buffers for these parameters."""
    sm_count, slice_count, channel_count = p[parameters.SMS], p[parameters.SLICES], p[parameters.CHANNELS]
    is_fixed, has_queues = p[parameters.MODEL] == FIXED, p[parameters.MODEL] == CONTENTION
    outstanding = sm_count * p[parameters.OUTSTANDING]
    sets1 = sm_count * p[parameters.SETS1] if p[parameters.HAS_L1] else 0
    sets2 = slice_count * p[parameters.SETS2]
    each = NODES_PER_TRANSACTION + (threads - 1) * NODES_OF_MEMBER
    node_rows = 1 if is_fixed else _rows(each * outstanding)
    queue_count = p[parameters.MESH_QUEUES] + 2 * p[parameters.ROUTERS] * 5 * p[parameters.VIRTUAL_CHANNELS]
    cleared = (
        Field("scalars", (scalars.COUNT,)),
        Field("sms", (_rows(sm_count), sms.COUNT)),
        Field("slices", (_rows(slice_count), slices.COUNT)),
        Field("channels", (_rows(channel_count), channels.COUNT)),
        Field("banks", (_rows(channel_count * p[parameters.BANKS]), dram_banks.COUNT)),
        Field("sets1", (_rows(sets1), cache_sets.COUNT)),
        Field("buckets1", (_rows(sm_count * p[parameters.BUCKETS1]),), np.int32),
        Field("days", (DAYS, days.COUNT)),
        Field("weeks", (DAYS // WEEK,)),
        Field("queues", (_rows(queue_count), queues.COUNT)),
        Field("sent", (_rows(p[parameters.SLICE_QUEUES]), HOST_LINE)),
        Field("sets", (_rows(wide_sets.KINDS * p[parameters.SET_WORDS]),)),
        Field("full", (RING * (1 + p[parameters.SET_WORDS]) if has_queues else 1,)),
        Field("late", (RING if has_queues else 1, late_bursts.ROW_WORDS)),
        Field("routers", (_rows(2 * p[parameters.ROUTERS]), ROUTER_FIELDS)),
        Field("counts", (_rows(sm_count), counts.COUNT)),
    )
    as_they_are = (
        Field("lines1", (_rows(sets1 * p[parameters.WAYS1]), cache_lines.COUNT), np.int32),
        Field("nodes", (node_rows, nodes.COUNT)),
        Field("events", (node_rows, 2)),
        Field("returns", (_rows(outstanding + sm_count * SPARE_RETURNS), 2)),
    )
    cleared2 = (
        Field("sets2", (_rows(sets2), cache_sets.COUNT)),
        Field("buckets2", (_rows(slice_count * p[parameters.BUCKETS2]),), np.int32),
    )
    lines2 = Field("lines2", (_rows(sets2 * p[parameters.WAYS2]), cache_lines.COUNT), np.int32)
    return _layout(cleared, as_they_are), _layout(cleared2, (lines2,))


def _layout(cleared: Iterable[Field], as_they_are: Iterable[Field]) -> Layout:
    places, zero = _placed(cleared, 0)
    rest, end = _placed(as_they_are, zero)
    return Layout((*places, *rest), end, zero)


def _placed(fields: Iterable[Field], first: int) -> tuple[list[Place], int]:
    """The fields one after another from word ``first``, and the next word."""
    places = []
    for field in fields:
        places.append(Place(field, first))
        words = -(-math.prod(field.shape) * np.dtype(field.element).itemsize // WORD_BYTES)
        first += -(-words // HOST_LINE) * HOST_LINE
    return places, first


def _rows(count: int) -> int:
    """Rows of an array for so many: at least one, because compiled code knows no empty arrays."""
    return max(1, count)
