"""Allocates the core's arrays for a kernel on a machine, and gives them more room or more thread blocks on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.gpu import Machine
from warpreg.gpu.units import PIPES
from warpreg.timing.core import buffer_pool
from warpreg.timing.core import columns as at
from warpreg.timing.core.bitset import count
from warpreg.timing.core.columns import Core
from warpreg.timing.core.prefetch import HOST_LINE
from warpreg.timing.errors import TimingError
from warpreg.timing.feed.feed import ThreadBlocks
from warpreg.timing.feed.kernel_table import Table, own_banks

Array = NDArray[np.int64]
LEAST_WHEEL = 128
LEAST_LINES = 9
OPS_PER_WARP = 8
"""Room for instructions under way; what nobody uses costs no memory."""
POLICIES = ("lrr", "gto", "oldest", "greedy")
SUSPENDS = ("static", "pending", "stall")


def machine_words(machine: Machine, sms: int, resident: int, block_warps: int) -> Array:
    """The machine as the core reads it; ``resident`` thread blocks of ``block_warps`` warps fit an SM."""
    m = np.zeros(at.MACHINE, np.int64)
    schedulers, path = machine.schedulers, machine.operand_path
    m[at.SMS], m[at.SLOTS], m[at.SCHEDULERS] = sms, machine.sm.warps, schedulers.count
    m[at.WIDTH] = schedulers.issue_width
    m[at.IDEAL] = path.kind == "ideal"
    m[at.DISPATCH_CYCLES], m[at.QUEUE] = path.dispatch_cycles, machine.load_store.entries
    m[at.SHARED_LATENCY], m[at.CONSTANT_LATENCY] = machine.latency.shared, machine.latency.constant
    m[at.BLOCKS], m[at.BLOCK_WARPS], m[at.WHEEL] = resident, block_warps, wheel_size(machine)
    m[at.CTRL_LATENCY] = machine.pipes[machine.worker["ctrl"]].latency or 0
    m[at.POLICY] = POLICIES.index(schedulers.inner or schedulers.policy)
    m[at.ACTIVE_WARPS] = schedulers.active_warps or 0
    m[at.SUSPEND] = SUSPENDS.index(schedulers.suspend) if schedulers.suspend else 0
    m[at.STALL_THRESHOLD], m[at.SWAP_CYCLES] = schedulers.stall_threshold or 0, schedulers.swap_cycles or 0
    m[at.UNITS] = len(_units(machine).rows)
    m[at.BANKS], m[at.OWN_BANKS] = 1, own_banks(machine)
    if not m[at.IDEAL]:
        file = machine.register_file
        m[at.BANKS], m[at.SINGLE_PORTED], m[at.STEPS] = file.banks, file.is_single_ported, file.steps_per_cycle
        m[at.OPERAND_PORTS] = path.operand_ports
        m[at.BY_REGISTER], m[at.BY_SLOT] = file.mapping != "warp", file.mapping != "register"
        m[at.COLLECTORS] = sum(one.collectors * _copies(machine, one.private) for one in machine.collectors.values())
        m[at.GROUPS] = sum(_copies(machine, one.private) for one in machine.collectors.values())
    _check(m, machine.name)
    return m


def wheel_size(machine: Machine) -> int:
    """Buckets enough for every latency of the SM, a power of two."""
    latencies = [pipe.latency or 0 for pipe in machine.pipes.values()]
    longest = max(*latencies, machine.latency.shared, machine.latency.constant) + machine.operand_path.dispatch_cycles
    return max(LEAST_WHEEL, 1 << (longest + 2).bit_length())


def _copies(machine: Machine, private: bool) -> int:
    """How often an SM has something that may be private to a scheduler."""
    return machine.schedulers.count if private else 1


def _check(m: Array, name: str) -> None:
    for what, word in (("warps", at.SLOTS), ("banks", at.BANKS), ("collectors", at.COLLECTORS), ("blocks", at.BLOCKS)):
        if m[word] > at.SET_SIZE:
            raise TimingError(f"machine {name}: {what} of an SM: expected at most {at.SET_SIZE}, found {m[word]}")


class Shares(NamedTuple):
    """What the schedulers of an SM share or have for themselves: a row of each; for scheduler ``s`` and a pipe that of
    index ``first[pipe] + s * apart[pipe]``.
    """

    rows: Array
    first: Array
    apart: Array


def _units(machine: Machine) -> Shares:
    """The function units of an SM."""
    rows: list[list[int]] = []
    shares = Shares(np.zeros(0, np.int64), np.zeros(at.PIPES, np.int64), np.zeros(at.PIPES, np.int64))
    first = 0
    for name, pipe in machine.pipes.items():
        index = PIPES.index(name)
        shares.first[index], shares.apart[index] = len(rows), pipe.private
        for _ in range(_copies(machine, pipe.private)):
            rows.append([0, first, pipe.units, name in ("mem", "tex"), 0, 1 << len(rows)])
            first += pipe.units
    return shares._replace(rows=np.array(rows, np.int64))


def _groups(machine: Machine) -> Shares:
    """The groups of collectors of an SM."""
    rows: list[list[int]] = []
    shares = Shares(np.zeros(0, np.int64), np.zeros(at.PIPES, np.int64), np.zeros(at.PIPES, np.int64))
    collector = 0
    for one in machine.collectors.values():
        for name in one.pipes:
            pipe = PIPES.index(name)
            shares.first[pipe], shares.apart[pipe] = len(rows), one.private
        for _ in range(_copies(machine, one.private)):
            own = ((1 << one.collectors) - 1) << collector
            row = [0] * at.GROUP
            row[at.FREE_COLLECTORS] = row[at.ALL_COLLECTORS] = own - (1 << 64) if own >> 63 else own
            row[at.LATCHED] = row[at.LATCHED_END] = row[at.EARLIEST] = at.NONE
            row[at.IN_PORTS] = one.in_ports
            row[at.OWN_GROUP] = 1 << len(rows)
            rows.append(row)
            collector += one.collectors
    return shares._replace(rows=np.array(rows, np.int64).reshape(-1, at.GROUP))


def new_core(machine: Machine, sms: int, resident: int, block_warps: int, blocks: int, table: Table) -> Core:
    """A core before cycle 0: ``blocks`` thread blocks in all, none of them loaded; ``resident`` fit an SM.

    Raises TimingError for a machine with more warps, banks or collectors in an SM than a set holds.
    """
    m = machine_words(machine, sms, resident, block_warps)
    m[at.WORDS], m[at.FIRST_PCS] = table.words, table.first_pcs
    m[at.OP_WRITES] = at.OP_LINK + table.most_writes
    m[at.OP_READS] = m[at.OP_WRITES] + table.most_writes
    wheel = int(m[at.WHEEL])
    groups, units = _groups(machine), _units(machine)
    first_op = _place_rows(m)
    issues = machine.schedulers.count * (2 * machine.schedulers.issue_width + 4)
    least = issues + 2 * block_warps + 4 * machine.sm.warps
    room = OPS_PER_WARP * max(least, sms * machine.sm.warps)
    m[at.ROW] = width = _row_width(table, wheel)
    m[at.TO_ACCOUNT] = sms * m[at.SCHEDULERS] * width
    rows = _new_rows(first_op + room, width)
    rows[:first_op] = 0
    _rows_of(rows, m, at.FIRST_WARP, at.FIRST_SCHEDULER)[:, at.CAUSE] = at.EMPTY
    _rows_of(rows, m, at.FIRST_WARP, at.FIRST_SCHEDULER)[:, at.BLOCK] = at.NONE
    _warps_of_schedulers(rows, m, not m[at.IDEAL] and machine.register_file.private_banks)
    _schedulers(rows, m, machine, units, groups)
    unit_count = int(units.rows[:, at.UNIT_COUNT].sum())
    own_units = _rows_of(rows, m, at.FIRST_UNITS, at.FIRST_OP)
    own_units[:, : units.rows.shape[1]] = np.tile(units.rows, (sms, 1))
    own_units[:, at.FIRST_UNIT] += np.repeat(np.arange(sms) * unit_count, len(units.rows))
    _rows_of(rows, m, at.FIRST_GROUP, at.FIRST_COLLECTOR)[:, : at.GROUP] = np.tile(groups.rows, (sms, 1))
    collectors = _rows_of(rows, m, at.FIRST_COLLECTOR, at.FIRST_BANK)
    collectors[:, [at.HELD, at.TAKEN_AT]] = at.NONE
    collectors[:, at.OF_GROUP] = _group_of_collectors(m, groups)
    _rows_of(rows, m, at.FIRST_BANK, at.FIRST_BLOCK)[:, [at.WRITES_HEAD, at.WRITES_TAIL]] = at.NONE
    rows[:sms, [at.STEPPED, at.EXTRA_FIRST, at.PLACES_AT]] = at.NONE
    for column, kind, each in (
        (at.BANKS_AT, at.FIRST_BANK, at.BANKS),
        (at.COLLECTORS_AT, at.FIRST_COLLECTOR, at.COLLECTORS),
        (at.BLOCKS_AT, at.FIRST_BLOCK, at.BLOCKS),
    ):
        rows[:sms, column] = (m[kind] + np.arange(sms) * m[each]) * width
    rows[:sms, at.FREE_SLOTS] = full_set(machine.sm.warps)
    rows[:sms, at.FREE_BLOCKS] = full_set(resident)
    m, clock = _in_front(rows, m, np.zeros(at.CLOCK, np.int64))
    core = Core(
        machine=m,
        code=table.code,
        lists=table.lists,
        slab=np.zeros(4, np.int64),
        table=rows,
        rows=_by_place(rows),
        wheel=np.full((sms * wheel, 2), at.NONE, np.int64),
        units=np.zeros(sms * unit_count, np.int64),
        sequences=np.zeros(max(1, sms * int(m[at.COLLECTORS])), np.int64),
        clock=clock,
    )
    core.clock[at.FREE_OP] = at.NONE
    core.clock[at.FRESH_OP] = first_op * width
    core.clock[at.FREE_OPS] = room
    core.clock[at.LEAST_OPS] = least
    core.clock[at.TOTAL_BLOCKS] = blocks
    return core


def _place_rows(m: Array) -> int:
    """Say in ``m`` where the rows of each kind begin; returns where those of instructions under way do."""
    sms = int(m[at.SMS])
    first = sms
    for word, each in (
        (at.FIRST_WARP, m[at.SLOTS]),
        (at.FIRST_SCHEDULER, 2 * m[at.SCHEDULERS]),
        (at.FIRST_GROUP, m[at.GROUPS]),
        (at.FIRST_COLLECTOR, m[at.COLLECTORS]),
        (at.FIRST_BANK, m[at.BANKS]),
        (at.FIRST_BLOCK, m[at.BLOCKS]),
        (at.FIRST_UNITS, m[at.UNITS]),
    ):
        m[word] = first
        first += sms * int(each)
    m[at.FIRST_OP] = first
    return first


def _row_width(table: Table, wheel: int) -> int:
    """An odd number of cache lines, so that rows spread over a cache, and the same for almost all kernels: the width
    is part of the compiled core.
    """
    needed = max(
        at.BUSY + at.BUSY_SETS * table.words,
        at.SCHEDULER,
        at.CAUSES,
        at.WORD + table.most_reads,
        at.OP_LINK + 2 * table.most_writes + table.most_reads,
        at.RIPE + wheel // at.SET_SIZE,
    )
    lines = max(LEAST_LINES, -(-needed // HOST_LINE))
    return (lines + 1 - lines % 2) * HOST_LINE


def _warps_of_schedulers(rows: Array, m: Array, private_banks: bool) -> None:
    """What stays as it is of each warp slot."""
    sm, slot = np.divmod(np.arange(m[at.SMS] * m[at.SLOTS]), m[at.SLOTS])
    position, turn = np.divmod(slot, m[at.SCHEDULERS])
    warps = _rows_of(rows, m, at.FIRST_WARP, at.FIRST_SCHEDULER)
    warps[:, at.OWN] = np.int64(1) << position
    warps[:, at.TURN_ROW] = (m[at.FIRST_SCHEDULER] + sm * m[at.SCHEDULERS] + turn) * m[at.ROW]
    warps[:, at.BANK_OFFSET] = slot * m[at.BY_SLOT] % m[at.OWN_BANKS]
    if private_banks:
        warps[:, at.FIRST_OWN_BANK] = turn * m[at.OWN_BANKS]


def _schedulers(rows: Array, m: Array, machine: Machine, units: Shares, groups: Shares) -> None:
    """What stays as it is of each scheduler."""
    sm, turn = np.divmod(np.arange(m[at.SMS] * m[at.SCHEDULERS]), m[at.SCHEDULERS])
    own = rows[m[at.FIRST_SCHEDULER] :][: sm.size]
    own[:, [at.LAST, at.LAST_ACTIVE]] = at.SET_SIZE - 1
    for column, kind, each, shares in (
        (at.UNITS_FOR, at.FIRST_UNITS, at.UNITS, units),
        (at.GROUP_FOR, at.FIRST_GROUP, at.GROUPS, groups),
    ):
        index = shares.first + turn[:, np.newaxis] * shares.apart
        own[:, column : column + at.PIPES] = (m[kind] + sm[:, np.newaxis] * m[each] + index) * m[at.ROW]


def _group_of_collectors(m: Array, groups: Shares) -> Array:
    """The place of each collector's group."""
    sizes = [count(own) for own in groups.rows[:, at.ALL_COLLECTORS]]
    within = np.repeat(np.arange(len(sizes)), sizes)
    sm = np.repeat(np.arange(m[at.SMS]), within.size)
    return (m[at.FIRST_GROUP] + sm * m[at.GROUPS] + np.tile(within, m[at.SMS])) * m[at.ROW]


def _new_rows(count: int, width: int) -> Array:
    """Rows that begin at a cache line; in front of them is room for what lies there (see `at.IN_FRONT`)."""
    words = buffer_pool.room(at.FRONT + count * width + HOST_LINE)
    begin = -(words.ctypes.data // words.itemsize) % HOST_LINE + at.FRONT
    return words[begin:][: count * width].reshape(count, width)


def _by_place(table: Array) -> Array:
    """The same words, with a row that begins at each of them."""
    count, width = table.shape
    step = table.itemsize
    return np.lib.stride_tricks.as_strided(table, ((count - 1) * width + 1, width), (step, step))


def _in_front(rows: Array, machine: Array, clock: Array) -> tuple[Array, Array]:
    """Copies of the machine and the clock in front of the rows."""
    words = rows.base
    assert isinstance(words, np.ndarray)
    first = (rows.ctypes.data - words.ctypes.data) // rows.itemsize
    found = []
    for distance, source in ((at.MACHINE_DISTANCE, machine), (at.CLOCK_DISTANCE, clock)):
        copy = words[first - distance :][: source.size]
        copy[:] = source
        found.append(copy)
    return found[0], found[1]


def _rows_of(rows: Array, m: Array, kind: int, following: int) -> Array:
    return rows[m[kind] : m[following]]


def full_set(size: int) -> int:
    """The set of the first ``size`` numbers, as an int64."""
    return (1 << size) - 1 if size < at.SET_SIZE else -1


def more_room(core: Core) -> Core:
    """Twice as much room for instructions under way."""
    (before, width), fresh = core.table.shape, int(core.clock[at.FRESH_OP] // core.machine[at.ROW])
    more = 2 * max(before - int(core.machine[at.FIRST_OP]), int(core.clock[at.LEAST_OPS]))
    rows = _new_rows(before + more, width)
    rows[:fresh] = core.table[:fresh]
    core.clock[at.FREE_OPS] += more
    machine, clock = _in_front(rows, core.machine, core.clock)
    return core._replace(table=rows, rows=_by_place(rows), machine=machine, clock=clock)


def more_blocks(core: Core, batches: Sequence[ThreadBlocks]) -> Core:
    """The thread blocks of ``batches`` follow those that wait to be placed; what resident warps still need is kept."""
    pieces: list[Array] = []
    size = _keep_resident(core, pieces)
    starts = []
    for begins, visits, accesses in (_waiting(core), *map(_of_batch, batches)):
        starts.append(begins + np.array([size, size, size + visits.size, size + visits.size], np.int64))
        pieces += [visits, accesses]
        size += visits.size + accesses.size
    core.clock[at.FIRST_LOADED] = core.clock[at.NEXT_BLOCK]
    core.clock[at.LOADED_BLOCKS] += sum(batch.count for batch in batches)
    core.clock[at.STARTS] = size
    return core._replace(slab=np.concatenate((*pieces, *(one.reshape(-1) for one in starts))))


def _of_batch(batch: ThreadBlocks) -> tuple[Array, Array, Array]:
    """Where each warp's visits begin and end, and its records, int64[warps, 4]; then the visits and the records."""
    begins = (batch.visit_start[:-1], batch.visit_start[1:], batch.access_start[:-1], batch.access_start[1:])
    return np.stack(begins, axis=1), batch.visits, batch.accesses


def _waiting(core: Core) -> tuple[Array, Array, Array]:
    """The same of the thread blocks that are loaded and not yet placed."""
    begin = int(core.clock[at.STARTS])
    placed = int(core.clock[at.NEXT_BLOCK] - core.clock[at.FIRST_LOADED]) * int(core.machine[at.BLOCK_WARPS])
    loaded = int(core.clock[at.LOADED_BLOCKS] - core.clock[at.FIRST_LOADED]) * int(core.machine[at.BLOCK_WARPS])
    begins = core.slab[begin : begin + 4 * loaded].reshape(-1, 4)[placed:]
    if not begins.size:
        return begins, core.slab[:0], core.slab[:0]
    first, last = begins[0], begins[-1]
    visits, records = core.slab[first[0] : last[1]], core.slab[first[2] : last[3]]
    return begins - first[[0, 0, 2, 2]], visits, records


def _keep_resident(core: Core, pieces: list[Array]) -> int:
    """What the warps in the SMs have still to do, and the records of what they have under way; returns its size."""
    size = 0
    first = int(core.machine[at.FIRST_OP])
    moved = np.zeros(first, np.int64)
    slots = _rows_of(core.table, core.machine, at.FIRST_WARP, at.FIRST_SCHEDULER)
    for warp in int(core.machine[at.FIRST_WARP]) + np.flatnonzero(slots[:, at.PRESENT]):
        row = core.table[warp]
        pieces.append(core.slab[row[at.VISIT] : row[at.VISIT_END]])
        row[[at.VISIT, at.VISIT_END]] += size - row[at.VISIT]
        size += pieces[-1].size
        pieces.append(core.slab[row[at.RECORDS] : row[at.RECORDS_END]])
        moved[warp] = size - row[at.RECORDS]
        row[[at.ACCESS, at.RECORDS, at.RECORDS_END]] += moved[warp]
        size += pieces[-1].size
    width = core.machine[at.ROW]
    ops = core.table[first : core.clock[at.FRESH_OP] // width]
    by = moved[ops[:, at.OP_WARP] // width]
    for column in (at.OP_RECORD, at.OP_PLACE):
        ops[:, column] += np.where((ops[:, at.OP_PC] >= 0) & (ops[:, column] >= 0), by, 0)
    return size
