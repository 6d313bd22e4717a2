"""Allocate the arrays of the core for a kernel on a machine, and enlarge them during a run."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from warpreg.gpu import Machine
from warpreg.gpu.pipes import PIPES
from warpreg.timing.core import buffer_pool
from warpreg.timing.core import whole_columns as whole
from warpreg.timing.core.bitset import count
from warpreg.timing.core.columns import (
    banks,
    causes,
    clock,
    collectors,
    function_units,
    groups,
    machine,
    ops,
    schedulers,
    sms,
    team,
    warps,
)
from warpreg.timing.core.columns import typed as columns
from warpreg.timing.core.columns.typed import NEVER, NONE, SET_SIZE, Array, Words, array_of
from warpreg.timing.core.prefetch import HOST_LINE
from warpreg.timing.core.state import FRONT, Core
from warpreg.timing.feed.kernel_table import Table
from warpreg.timing.launch.machine_words import machine_words
from warpreg.timing.launch.shares import Shares, shared_groups, shared_units

MachineWords = Words[columns.Machine]
LEAST_LINES = 9
OPS_PER_WARP = 8
"""Initial capacity for instructions in flight; untouched pages cost no memory."""


def new_core(
    gpu: Machine,
    sm_count: int,
    resident: int,
    block_warps: int,
    blocks: int,
    table: Table,
    addresses: bool = False,
    owned: int = 1,
    added_banks: int = 0,
    added_stages: int = 0,
    threads: int = 1,
) -> Core:
    """A core before cycle 0, with ``blocks`` thread blocks in total, none of them loaded; ``resident`` fit an SM.

    ``addresses``: whether the bank addresses of sources are kept.  ``owned``: collectors in place of one of the
    machine, if warp slots own them.  ``added_banks`` and ``added_stages``: those of a design, after the machine's.
    ``threads`` are those that step the SMs together.

    Raises TimingError for a machine with more warps, banks or collectors per SM than a set holds.
    """
    m = machine_words(gpu, sm_count, resident, block_warps, added_banks, added_stages)
    m[machine.COLLECTORS] *= owned
    m[machine.WORDS], m[machine.FIRST_PCS] = table.words, table.first_pcs
    m[machine.OP_WRITES] = ops.LINK + table.most_writes
    m[machine.OP_READS] = m[machine.OP_WRITES] + table.most_writes
    m[machine.OP_RESULT] = m[machine.OP_READS] + table.most_reads
    m[machine.OP_ADDRESSES] = m[machine.OP_RESULT] + 1
    m[machine.COLLECTOR_LINKS] = collectors.WORD + table.most_reads
    first_op = _first_rows(m)
    least = gpu.schedulers.count * (2 * gpu.schedulers.issue_width + 4) + 2 * block_warps + 4 * gpu.sm.warps
    room = threads * OPS_PER_WARP * max(least, sm_count * gpu.sm.warps)
    m[machine.ROW] = width = _row_width(table, int(m[machine.WHEEL]), addresses)
    m[machine.TO_ACCOUNT] = sm_count * m[machine.SCHEDULERS] * width
    rows = _new_rows(first_op + room, width)
    rows[:first_op] = 0
    groups_of_sm, units_of_sm = shared_groups(gpu), shared_units(gpu)
    _sms(rows, m)
    _warps(rows, m, not m[machine.IDEAL] and gpu.register_file.private_banks)
    _schedulers(rows, m, units_of_sm, groups_of_sm)
    unit_count = _units(rows, m, units_of_sm)
    _collectors(rows, m, groups_of_sm, owned)
    bank_rows = whole.banks_of(rows, m)
    bank_rows[banks.WRITES_HEAD] = bank_rows[banks.WRITES_TAIL] = NONE
    core = Core(
        machine=_in_front(rows, m),
        code=cast(Any, table.code),
        lists=table.lists,
        slab=np.zeros(4, np.int64),
        table=cast(Any, rows),
        rows=_by_row(rows),
        wheel=np.full((sm_count * m[machine.WHEEL], 2), NONE, np.int64),
        units=np.zeros(sm_count * unit_count, np.int64),
        sequences=np.zeros(max(1, sm_count * m[machine.COLLECTORS]), np.int64),
        clock=cast(Any, np.zeros(clock.COUNT, np.int64)),
        turns=np.full(sm_count, NEVER, np.int64),
        team=cast(Any, np.zeros((1 + threads, team.COUNT), np.int64)),
    )
    core.clock[clock.FREE_OP] = NONE
    core.clock[clock.FRESH_OP] = columns.OpRow(columns.Row(first_op * width))
    core.clock[clock.FREE_OPS] = room
    core.clock[clock.LEAST_OPS] = least
    core.clock[clock.TOTAL_BLOCKS] = blocks
    return core


def _first_rows(m: MachineWords) -> int:
    """Set the first row of each component in ``m``; returns that of operations."""
    first = m[machine.SMS]
    for word, each in (
        (machine.FIRST_WARP, m[machine.SLOTS]),
        (machine.FIRST_SCHEDULER, 2 * m[machine.SCHEDULERS]),
        (machine.FIRST_GROUP, m[machine.GROUPS]),
        (machine.FIRST_COLLECTOR, m[machine.COLLECTORS]),
        (machine.FIRST_BANK, m[machine.BANKS]),
        (machine.FIRST_BLOCK, m[machine.BLOCKS]),
        (machine.FIRST_UNITS, m[machine.UNITS]),
    ):
        m[word] = first
        first += m[machine.SMS] * each
    m[machine.FIRST_OP] = first
    return int(first)


def _row_width(table: Table, wheel: int, addresses: bool) -> int:
    """An odd number of cache lines, so that rows spread over a cache.  It is the same for almost all kernels, because
    the width is a constant of the compiled core.
    """
    needed = max(
        int(warps.BUSY) + warps.BUSY_SETS * table.words,
        schedulers.COUNT,
        causes.COUNT,
        int(collectors.WORD) + 2 * table.most_reads,
        int(ops.LINK) + 2 * table.most_writes + (1 + addresses) * table.most_reads + 1,
        int(sms.RIPE) + wheel // SET_SIZE,
    )
    lines = max(LEAST_LINES, -(-needed // HOST_LINE))
    return (lines + 1 - lines % 2) * HOST_LINE


def _sms(rows: Array, m: MachineWords) -> None:
    own = whole.sms_of(rows, m)
    own[sms.STEPPED] = own[sms.EXTRA_FIRST] = own[sms.TAKES_BLOCK_AT] = NONE
    own.rows[:, sms.HELD : sms.HELD + sms.HELD_LISTS] = NONE
    index = np.arange(m[machine.SMS])
    own[sms.FIRST_BANK] = (m[machine.FIRST_BANK] + index * m[machine.BANKS]) * m[machine.ROW]
    own[sms.FIRST_COLLECTOR] = (m[machine.FIRST_COLLECTOR] + index * m[machine.COLLECTORS]) * m[machine.ROW]
    own[sms.FIRST_BLOCK] = (m[machine.FIRST_BLOCK] + index * m[machine.BLOCKS]) * m[machine.ROW]
    own[sms.LAST_DISPATCH] = m[machine.SLOTS] - 1
    own[sms.FREE_SLOTS] = full_set(m[machine.SLOTS])
    own[sms.FREE_BLOCKS] = full_set(m[machine.BLOCKS])


def _warps(rows: Array, m: MachineWords, private_banks: bool) -> None:
    sm, slot = np.divmod(np.arange(m[machine.SMS] * m[machine.SLOTS]), m[machine.SLOTS])
    position, turn = np.divmod(slot, m[machine.SCHEDULERS])
    own = whole.warps_of(rows, m)
    own[warps.CAUSE] = causes.EMPTY
    own[warps.BLOCK] = NONE
    own[warps.OWN] = np.int64(1) << position
    own[warps.NUMBER] = np.arange(len(own[warps.OWN]))
    own[warps.TURN_ROW] = (m[machine.FIRST_SCHEDULER] + sm * m[machine.SCHEDULERS] + turn) * m[machine.ROW]
    own[warps.BANK_OFFSET] = slot * m[machine.BY_SLOT] % m[machine.OWN_BANKS]
    if private_banks:
        own[warps.FIRST_OWN_BANK] = turn * m[machine.OWN_BANKS]


def _schedulers(rows: Array, m: MachineWords, units: Shares, collected: Shares) -> None:
    sm, turn = np.divmod(np.arange(m[machine.SMS] * m[machine.SCHEDULERS]), m[machine.SCHEDULERS])
    own = whole.schedulers_of(rows, m)
    own[schedulers.LAST] = own[schedulers.LAST_ACTIVE] = SET_SIZE - 1
    for pipe in range(len(PIPES)):
        index = units.first[pipe] + turn * units.apart[pipe]
        first = m[machine.FIRST_UNITS] + sm * m[machine.UNITS]
        own[schedulers.UNITS_FOR + pipe] = (first + index) * m[machine.ROW]
        index = collected.first[pipe] + turn * collected.apart[pipe]
        first = m[machine.FIRST_GROUP] + sm * m[machine.GROUPS]
        own[schedulers.GROUP_FOR + pipe] = (first + index) * m[machine.ROW]


def _units(rows: Array, m: MachineWords, shares: Shares) -> int:
    """Fill the rows of units; returns the number of units per SM."""
    unit_count = int(shares.rows[:, function_units.SIZE].sum())
    own = whole.units_of(rows, m)
    own.rows[:, : function_units.COUNT] = np.tile(shares.rows, (m[machine.SMS], 1))
    own[function_units.FIRST] += np.repeat(np.arange(m[machine.SMS]) * unit_count, len(shares.rows))
    return unit_count


def _collectors(rows: Array, m: MachineWords, shares: Shares, owned: int) -> None:
    """Fill the rows of collectors and their groups."""
    whole.groups_of(rows, m).rows[:, : groups.COUNT] = np.tile(shares.rows, (m[machine.SMS], 1))
    sizes = [owned * count(own) for own in shares.rows[:, groups.ALL]]
    within = np.repeat(np.arange(len(sizes)), sizes)
    sm = np.repeat(np.arange(m[machine.SMS]), within.size)
    group = m[machine.FIRST_GROUP] + sm * m[machine.GROUPS] + np.tile(within, m[machine.SMS])
    own = whole.collectors_of(rows, m)
    own[collectors.HELD] = own[collectors.TAKEN_AT] = NONE
    own[collectors.GROUP] = group * m[machine.ROW]


def _new_rows(count: int, width: int) -> Array:
    """Rows that begin at a cache line, after space for the words before the first row (see `state.IN_FRONT`)."""
    words = buffer_pool.room(FRONT + count * width + HOST_LINE)
    begin = -(words.ctypes.data // words.itemsize) % HOST_LINE + FRONT
    return words[begin:][: count * width].reshape(count, width)


def _by_row(table: Array) -> Any:
    """The same memory with a row starting at each word."""
    count, width = table.shape
    step = table.itemsize
    return np.lib.stride_tricks.as_strided(table, ((count - 1) * width + 1, width), (step, step))


def _in_front(rows: Array, m: MachineWords) -> MachineWords:
    """Copy the machine to the words before the first row."""
    words = rows.base
    assert isinstance(words, np.ndarray)
    first = (rows.ctypes.data - words.ctypes.data) // rows.itemsize
    copy = words[first - FRONT :][: machine.COUNT]
    copy[:] = array_of(m)
    return cast(MachineWords, copy)


def full_set(size: int) -> int:
    """The set of the first ``size`` numbers, as an int64."""
    return (1 << int(size)) - 1 if size < SET_SIZE else -1


def more_rows(core: Core, more: int, used: int) -> Core:
    """The core with ``more`` rows for instructions in flight; the first ``used`` rows keep their contents."""
    table = array_of(core.table)
    rows = _new_rows(len(table) + more, table.shape[1])
    rows[:used] = table[:used]
    return core._replace(table=cast(Any, rows), rows=_by_row(rows), machine=_in_front(rows, core.machine))
