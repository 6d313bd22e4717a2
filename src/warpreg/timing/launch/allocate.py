"""Allocate the arrays of the core for a kernel on a machine, and enlarge them during a run."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from warpreg.gpu import Machine
from warpreg.gpu.pipes import PIPES
from warpreg.timing.core import buffer_pool, inflight, typed
from warpreg.timing.core import whole_columns as whole
from warpreg.timing.core.bitset import count
from warpreg.timing.core.columns import (
    banks,
    blocks,
    causes,
    clock,
    code,
    code_lines,
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
from warpreg.timing.core.prefetch import HOST_LINE
from warpreg.timing.core.state import FRONT, Core
from warpreg.timing.core.typed import NEVER, NONE, SET_SIZE, Array, Words, array_of
from warpreg.timing.feed.kernel_table import Table
from warpreg.timing.launch.machine_words import machine_words
from warpreg.timing.launch.shares import Shares, shared_groups, shared_units

MachineWords = Words[typed.Machine]
MIN_COLLECTOR_ROW, MIN_OP_ROW = 24, 40
"""Words per row, at least."""
OPS_PER_WARP = 8
"""Initial capacity for instructions in flight; untouched pages cost no memory."""


def new_core(
    gpu: Machine,
    sm_count: int,
    resident: int,
    block_warps: int,
    block_count: int,
    table: Table,
    addresses: bool = False,
    owned: int = 1,
    added_banks: int = 0,
    added_stages: int = 0,
    threads: int = 1,
) -> Core:
    """A core before cycle 0, with ``block_count`` thread blocks in total, none of them loaded; ``resident`` fit an SM.

    ``addresses``: whether the bank addresses of sources are kept.  ``owned``: collectors in place of one of the
    machine, if warp slots own them.  ``added_banks`` and ``added_stages``: those of a design, after the machine's.
    ``threads`` are those that step the SMs together.

    Raises TimingError for a machine with more warps, banks or collectors per SM than a set holds.
    """
    sizes = sm_count, resident, block_warps, addresses, owned, added_banks, added_stages
    blank = _blank(gpu, table, sizes)
    m = _with_lines(blank.machine, table)
    least = gpu.schedulers.count * (2 * gpu.schedulers.issue_width + 4) + 2 * block_warps + 4 * gpu.sm.warps
    room = threads * OPS_PER_WARP * max(least, sm_count * gpu.sm.warps)
    first_op = int(m[machine.FIRST_OP])
    core = _on_words(_new_words(first_op + room * int(m[machine.OP_ROW]), m), m, table, blank.units, threads)
    whole.words_of(core)[:first_op] = blank.words
    core.clock[clock.FREE_OP] = NONE
    core.clock[clock.FRESH_OP] = m[machine.FIRST_OP]
    core.clock[clock.FREE_OPS] = room
    core.clock[clock.MIN_OPS] = least
    core.clock[clock.TOTAL_BLOCKS] = block_count
    return core


def _with_lines(m: MachineWords, table: Table) -> MachineWords:
    """The machine with the lines of a kernel's code and constants, none without caches for them."""
    own = cast(MachineWords, array_of(m).copy())
    if m[machine.BUFFER] != 0:
        own[machine.CODE_LINES] = -(-len(table.code) >> m[machine.LINE_SHIFT])
    own[machine.CONSTANT_LINES] = table.constant_lines
    first: Any = m[machine.SMS] * (m[machine.SCHEDULERS] + 1) * own[machine.CODE_LINES]
    own[machine.FIRST_CONSTANT] = first
    return own


class Blank(NamedTuple):
    """What the rows before those of operations contain before cycle 0, and the number of function units of an SM."""

    machine: MachineWords
    words: Array
    units: int


_blanks: dict[tuple[Any, ...], tuple[Machine, Blank]] = {}
"""Those of the last machines, by the identity of the machine."""
BLANKS = 4


def _blank(gpu: Machine, table: Table, sizes: tuple[Any, ...]) -> Blank:
    """The rows of a machine, for kernels with such a table.  Raises TimingError as `new_core`."""
    key = id(gpu), table.words, table.first_pcs, table.most_writes, table.most_reads, *sizes
    if key not in _blanks:
        made = _new_blank(gpu, table, *sizes)
        while len(_blanks) >= BLANKS:
            del _blanks[next(iter(_blanks))]
        _blanks[key] = gpu, made
    return _blanks[key][1]


def _new_blank(
    gpu: Machine,
    table: Table,
    sm_count: int,
    resident: int,
    block_warps: int,
    addresses: bool,
    owned: int,
    added_banks: int,
    added_stages: int,
) -> Blank:
    m = machine_words(gpu, sm_count, resident, block_warps, added_banks, added_stages)
    m[machine.COLLECTORS] *= owned
    m[machine.WORDS], m[machine.FIRST_PCS] = table.words, table.first_pcs
    m[machine.OP_WRITES] = ops.LINK + table.most_writes
    m[machine.OP_READS] = m[machine.OP_WRITES] + table.most_writes
    m[machine.OP_RESULT] = m[machine.OP_READS] + table.most_reads
    m[machine.OP_ADDRESSES] = m[machine.OP_RESULT] + 1
    m[machine.COLLECTOR_LINKS] = collectors.WORD + table.most_reads
    first_op = _place_rows(m, table, addresses)
    words = _new_words(first_op, m)
    words[:] = 0
    groups_of_sm, units_of_sm = shared_groups(gpu), shared_units(gpu)
    core = _on_words(words, m, table, int(units_of_sm.rows[:, function_units.SIZE].sum()), 1)
    _sms(core)
    _warps(core, not m[machine.IDEAL] and gpu.register_file.private_banks)
    _schedulers(core, units_of_sm, groups_of_sm)
    unit_count = _units(core, units_of_sm)
    _collectors(core, groups_of_sm, owned)
    bank_rows = whole.banks_of(core)
    bank_rows[banks.WRITES_HEAD] = bank_rows[banks.WRITES_TAIL] = NONE
    return Blank(m, whole.words_of(core).copy(), unit_count)


def _on_words(words: Array, m: MachineWords, table: Table, unit_count: int, threads: int) -> Core:
    """A core whose rows are in these ``words``."""
    sm_count = int(m[machine.SMS])
    return Core(
        machine=_in_front(words, m),
        code=cast(Any, table.code),
        lists=table.lists,
        slab=np.zeros(4, np.int64),
        table=_by_sm(words, m),
        rows=_by_row(words, m),
        wheel=_wheel(sm_count * int(m[machine.WHEEL])),
        units=np.zeros(sm_count * unit_count, np.int64),
        sequences=np.zeros(max(1, sm_count * m[machine.COLLECTORS]), np.int64),
        clock=cast(Any, np.zeros(clock.COUNT, np.int64)),
        turns=np.full(sm_count, NEVER, np.int64),
        lines=cast(Any, np.zeros((max(1, _line_rows(m)), code_lines.COUNT), np.int64)),
        team=cast(Any, np.zeros((2 + threads, team.COUNT), np.int64)),
    )


def _line_rows(m: MachineWords) -> int:
    """Rows of lines: for code those of each scheduler's cache and of that of the SM, for constants those of two of each
    scheduler and of that of the SM.
    """
    constant_caches = m[machine.SMS] * (2 * m[machine.SCHEDULERS] + 1)
    return int(m[machine.FIRST_CONSTANT] + constant_caches * m[machine.CONSTANT_LINES])


def _wheel(buckets: int) -> Array:
    """Empty buckets."""
    size = buckets * inflight.WHEEL_WORDS
    found = buffer_pool.room(size)[:size].reshape(buckets, inflight.WHEEL_WORDS)
    found[:] = NONE
    found[:, inflight.WOKEN] = 0
    return found


def _place_rows(m: MachineWords, table: Table, addresses: bool) -> int:
    """Set the width of the rows of each component in ``m``, and the first one; returns that of operations.

    Rows begin at cache lines.  The widths are the same for almost all kernels, because they are constants of the
    compiled core.
    """
    named = int(m[machine.BANKS]) if addresses else 2
    widths = {
        machine.WARP_ROW: int(warps.BUSY) + (warps.READING_SET + 1) * table.words,
        machine.SCHEDULER_ROW: int(schedulers.ACCOUNT) + causes.COUNT,
        machine.GROUP_ROW: groups.COUNT,
        machine.COLLECTOR_ROW: max(MIN_COLLECTOR_ROW, int(collectors.WORD) + 2 * table.most_reads),
        machine.BANK_ROW: int(banks.NAMED) + named,
        machine.BLOCK_ROW: int(blocks.ARRIVED) + code.BARRIERS,
        machine.UNITS_ROW: function_units.COUNT,
        machine.OP_ROW: max(MIN_OP_ROW, int(ops.LINK) + 2 * table.most_writes + (1 + addresses) * table.most_reads + 1),
    }
    for row, width in widths.items():
        m[row] = _lines(width)
    m[machine.WIDEST] = max(_sm_row(m), *(int(m[row]) for row in widths))
    first = int(m[machine.SMS]) * _sm_row(m)
    for word, each, row in (
        (machine.FIRST_WARP, m[machine.SLOTS], machine.WARP_ROW),
        (machine.FIRST_SCHEDULER, m[machine.SCHEDULERS], machine.SCHEDULER_ROW),
        (machine.FIRST_GROUP, m[machine.GROUPS], machine.GROUP_ROW),
        (machine.FIRST_COLLECTOR, m[machine.COLLECTORS], machine.COLLECTOR_ROW),
        (machine.FIRST_BANK, m[machine.BANKS], machine.BANK_ROW),
        (machine.FIRST_BLOCK, m[machine.BLOCKS], machine.BLOCK_ROW),
        (machine.FIRST_UNITS, m[machine.UNITS], machine.UNITS_ROW),
        (machine.FIRST_OP, 0, machine.OP_ROW),
    ):
        m[cast(Any, word)] = first
        first += int(m[machine.SMS] * each * m[row])
    return first


def _sm_row(m: MachineWords) -> int:
    """Words per row of an SM."""
    return _lines(int(sms.RIPE) + int(m[machine.WHEEL]) // SET_SIZE)


def _lines(words: int) -> int:
    """So many words, in whole cache lines of the host."""
    return -(-words // HOST_LINE) * HOST_LINE


def _sms(core: Core) -> None:
    own = whole.sms_of(core)
    for column in (sms.STEPPED, sms.EXTRA_FIRST, sms.TAKES_BLOCK_AT, sms.TRAFFIC_FIRST):
        own[column] = NONE
    own.rows[:, sms.HELD : sms.HELD + sms.HELD_LISTS] = NONE
    m, index = core.machine, np.arange(core.machine[machine.SMS])
    own[sms.FIRST_BANK] = m[machine.FIRST_BANK] + index * m[machine.BANKS] * m[machine.BANK_ROW]
    own[sms.FIRST_COLLECTOR] = m[machine.FIRST_COLLECTOR] + index * m[machine.COLLECTORS] * m[machine.COLLECTOR_ROW]
    own[sms.FIRST_BLOCK] = m[machine.FIRST_BLOCK] + index * m[machine.BLOCKS] * m[machine.BLOCK_ROW]
    own[sms.LAST_DISPATCH] = m[machine.SLOTS] - 1
    own[sms.FREE_SLOTS] = full_set(m[machine.SLOTS])
    own[sms.FREE_BLOCKS] = full_set(m[machine.BLOCKS])


def _warps(core: Core, private_banks: bool) -> None:
    m = core.machine
    sm, slot = np.divmod(np.arange(m[machine.SMS] * m[machine.SLOTS]), m[machine.SLOTS])
    position, turn = np.divmod(slot, m[machine.SCHEDULERS])
    own = whole.warps_of(core)
    own[warps.CAUSE] = causes.EMPTY
    own[warps.BLOCK] = NONE
    own[warps.OWN] = np.int64(1) << position
    own[warps.NUMBER] = np.arange(len(own[warps.OWN]))
    own[warps.TURN_ROW] = m[machine.FIRST_SCHEDULER] + (sm * m[machine.SCHEDULERS] + turn) * m[machine.SCHEDULER_ROW]
    own[warps.BANK_OFFSET] = slot * m[machine.BY_SLOT] % m[machine.OWN_BANKS]
    if private_banks:
        own[warps.FIRST_OWN_BANK] = turn * m[machine.OWN_BANKS]


def _schedulers(core: Core, units: Shares, collected: Shares) -> None:
    m = core.machine
    sm, turn = np.divmod(np.arange(m[machine.SMS] * m[machine.SCHEDULERS]), m[machine.SCHEDULERS])
    own = whole.schedulers_of(core)
    own[schedulers.LAST] = own[schedulers.LAST_ACTIVE] = SET_SIZE - 1
    for pipe in range(len(PIPES)):
        index = sm * m[machine.UNITS] + units.first[pipe] + turn * units.apart[pipe]
        own[schedulers.UNITS_FOR + pipe] = m[machine.FIRST_UNITS] + index * m[machine.UNITS_ROW]
        index = sm * m[machine.GROUPS] + collected.first[pipe] + turn * collected.apart[pipe]
        own[schedulers.GROUP_FOR + pipe] = m[machine.FIRST_GROUP] + index * m[machine.GROUP_ROW]


def _units(core: Core, shares: Shares) -> int:
    """Fill the rows of units; returns the number of units per SM."""
    unit_count = int(shares.rows[:, function_units.SIZE].sum())
    m, own = core.machine, whole.units_of(core)
    own.rows[:, : function_units.COUNT] = np.tile(shares.rows, (m[machine.SMS], 1))
    own[function_units.FIRST] += np.repeat(np.arange(m[machine.SMS]) * unit_count, len(shares.rows))
    return unit_count


def _collectors(core: Core, shares: Shares, owned: int) -> None:
    """Fill the rows of collectors and their groups."""
    m = core.machine
    whole.groups_of(core).rows[:, : groups.COUNT] = np.tile(shares.rows, (m[machine.SMS], 1))
    sizes = [owned * count(own) for own in shares.rows[:, groups.ALL]]
    within = np.repeat(np.arange(len(sizes)), sizes)
    sm = np.repeat(np.arange(m[machine.SMS]), within.size)
    group = sm * m[machine.GROUPS] + np.tile(within, m[machine.SMS])
    own = whole.collectors_of(core)
    own[collectors.HELD] = own[collectors.TAKEN_AT] = NONE
    own[collectors.GROUP] = m[machine.FIRST_GROUP] + group * m[machine.GROUP_ROW]


def _new_words(count: int, m: MachineWords) -> Array:
    """Words for rows, uninitialised, that begin at a cache line, after space for the words before the first row (see
    `state.IN_FRONT`); ``count`` of them, and what the last row lacks of the widest one.
    """
    size = count + int(m[machine.WIDEST]) - 1
    words = buffer_pool.room(FRONT + size + HOST_LINE)
    begin = -(words.ctypes.data // words.itemsize) % HOST_LINE + FRONT
    return words[begin:][:size]


def _by_row(words: Array, m: MachineWords) -> Any:
    """A row starting at each word."""
    width, step = int(m[machine.WIDEST]), words.itemsize
    return np.ndarray((len(words) - width + 1, width), np.int64, words, strides=(step, step))


def _by_sm(words: Array, m: MachineWords) -> Any:
    """The rows of SMs."""
    sm_count, width = int(m[machine.SMS]), _sm_row(m)
    return words[: sm_count * width].reshape(sm_count, width)


def _in_front(words: Array, m: MachineWords) -> MachineWords:
    """Copy the machine to the words before the first row."""
    buffer = words.base
    assert isinstance(buffer, np.ndarray)
    first = (words.ctypes.data - buffer.ctypes.data) // words.itemsize
    copy = buffer[first - FRONT :][: machine.COUNT]
    copy[:] = array_of(m)
    return cast(MachineWords, copy)


def full_set(size: int) -> int:
    """The set of the first ``size`` numbers, as an int64."""
    return (1 << int(size)) - 1 if size < SET_SIZE else -1


def more_rows(core: Core, more: int, used: int) -> Core:
    """The core with ``more`` rows for instructions in flight; the first ``used`` of them keep their contents."""
    m, before = core.machine, whole.words_of(core)
    words = _new_words(len(before) + more * int(m[machine.OP_ROW]), m)
    kept = int(m[machine.FIRST_OP] + used * m[machine.OP_ROW])
    words[:kept] = before[:kept]
    return core._replace(table=_by_sm(words, m), rows=_by_row(words, m), machine=_in_front(words, m))
