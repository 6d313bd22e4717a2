"""Plans: hooks state through them which level serves each operand, what moves between levels, and which tokens wake.

These functions are compiled into the hooks that call them.  Indices of levels, events and resources are positions in
the design's declaration; an operand is a row of the program table (``program.source``, ``program.result``).

A core has one blank :class:`Plan` (:func:`blank_plan`) and derives a plan from it for each call.  Every core keeps the
counts (``accesses``, ``spared``, ``moves``, ``events``, ``tables``).  If ``detailed`` is 1, it also keeps the details:
where and when an operand is accessed.  A core that passes a literal 0 compiles no code for them; nor does one with
``slices`` 1 for slices.  A detailed core sets all columns of ``sources`` to UNSET before ``plan_reads``, and those of
``results`` before ``plan_write``; after the call, an operand without a LEVEL is not accessed.  It resets ``queued``
after it has read the queued rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.jit.records import replacing

PRIVATE, SHARED = 0, 1
READ, WRITE = 0, 1
UNSET = -1
"""Column of the details that is not set: the core's default applies; as a LEVEL: no access."""
GO = -1
"""Return value of ``admit`` that lets an instruction issue; any other value is a token to wait for, 0 or more."""
AFTER = -(1 << 32)
"""``admit`` returns AFTER - n to refuse an instruction for n cycles."""
IRREGULAR = -(1 << 62)
"""Stride of lane addresses that are not affine in the lane; real strides have 32 bits."""

LEVEL, BANK, CYCLES, MERGED, SLICES, ROW, GRANTED = range(7)
"""Columns of an operand's details.

MERGED is the row in ``sources`` of the operand with which this one arrives.  GRANTED are the slices of the access that
serves a source, including merged operands; for a merged operand, those that it adds.
"""
OPERAND_COLUMNS = 7
IN_BANKS, ELSEWHERE = 0, 1
"""Second index of ``results``: a write that needs a bank (MRF, or a bank was named), and a write that needs none."""
EXTRA_ACTION, EXTRA_WARP, EXTRA_REGISTER, EXTRA_BANK = range(4)
"""Columns of an extra access of the MRF."""
ASKED_TABLE, ASKED_INDEX, ASKED_ACTION = range(3)
"""Columns of an access of a table; the action is LOOKUPS or UPDATES."""
LOOKUPS, UPDATES, CONFLICTS = range(3)
"""Columns of ``tables``; CONFLICTS: accesses that waited for a port."""
COMPLETED_LOAD, COMPLETED_CYCLES = range(2)
"""Columns of a held load that a hook completes."""
EXTRAS, WOKEN, ASKED, REFUSED, COMPLETED = range(5)
"""Index of ``queued``."""
LANES_AT, LANE_MASK = range(2)
"""Index of ``lane_at``."""
NOTHING_KEPT, KEEPS, RECALLS = range(3)
"""What `Plan.recall` says of results that two hooks plan."""
ALONE, FIRST, LATER, FIRST_READS = range(4)
"""Position of a design in a composition in which several designs plan operands; FIRST_READS: FIRST, in ``plan_reads``.

What the first design plans ``nowhere`` has CYCLES and no LEVEL (of results: ELSEWHERE), and later ones leave it alone.
"""
VALUE, SINCE, INTEGRAL = range(3)
"""Columns of a resource: its value, the cycle since which it has this value, and the sum over all earlier cycles."""


class Plan(NamedTuple):
    """The plan of one instruction or event; hooks fill it through the functions below.

    Counts: ``accesses`` int64[levels * 4] with index ``(level * 2 + action) * 2 + datapath``; ``moves`` int64[levels,
    levels], from and to; ``events`` int64[events]; ``spared``, with the index of ``accesses``: slices that accesses
    left out; ``tables`` int64[tables, 3] with columns LOOKUPS, UPDATES, CONFLICTS.  ``slices`` per bank.

    Instruction: ``mask`` of active lanes (in a replay: at the block's entry); ``datapath`` PRIVATE or SHARED; ``base``
    and ``stride``, the lane addresses of a memory instruction in bytes (0 in hooks of other instructions; ``stride`` is
    IRREGULAR if the lanes are not affine); ``warp`` and ``sm`` of the call; ``cycle``, the clock; ``load``, the number
    of the instruction in the order of issue of its SM, -1 without one (`warpreg.designs.interface.loads`).

    Details: ``detailed`` flag; ``first_source`` and ``first_result``, the operands of row 0; ``sources``
    int32[operands, 7] and ``results`` int32[operands, 2, 7] with columns LEVEL, BANK, CYCLES, MERGED, SLICES, ROW,
    GRANTED; ``extras`` int32[n, 4] with columns EXTRA_*; ``woken`` int64[n] tokens; ``asked`` int64[n, 3] accesses of
    tables with columns ASKED_*; ``completed`` int64[n, 2] held loads with columns COMPLETED_*; ``queued`` int64[5], the
    numbers of rows of extras, woken, asked and completed, which exceed n if more were requested so that the core can
    raise an error, and a mask of slices that the banks do not have; ``levels`` int64[sms, resources, 3] with columns
    VALUE, SINCE, INTEGRAL.  If banks have slices, every core keeps ``sources``.

    ``main``: the levels that together are the main register file, a bit each; 1, the MRF, unless a core says more.

    ``recall``: KEEPS in a design in which ``produced`` follows ``plan_write``: every core keeps ``results``; RECALLS in
    its ``produced``, where they hold what was planned at issue.

    ``widths`` uint8: the width of result row ``r`` is at ``width_at[0] + r``.  A core for a design with widths sets
    ``width_at`` before it calls a hook for an instruction.

    ``lanes`` int64: the addresses of the active lanes of an access that is not affine begin at ``lane_at[LANES_AT]``;
    ``lane_at[LANE_MASK]`` names these lanes.  A core for a design with lanes sets ``lane_at`` in the same way.

    In a composition, ``first_level``, ``first_event``, ``first_resource`` and ``first_table`` are the offsets of the
    design's own indices.  If several designs plan operands, ``turn`` is FIRST or LATER (else ALONE), and the rows of
    operands are always kept: a later design places the operands of the register file and skips those that another level
    serves.
    """

    accesses: NDArray[np.int64]
    spared: NDArray[np.int64]
    moves: NDArray[np.int64]
    events: NDArray[np.int64]
    tables: NDArray[np.int64]
    slices: int
    mask: int
    datapath: int
    base: int
    stride: int
    warp: int
    sm: int
    cycle: int
    load: int
    detailed: int
    recall: int
    main: int
    first_source: int
    first_result: int
    sources: NDArray[np.int32]
    results: NDArray[np.int32]
    extras: NDArray[np.int32]
    woken: NDArray[np.int64]
    asked: NDArray[np.int64]
    completed: NDArray[np.int64]
    queued: NDArray[np.int64]
    levels: NDArray[np.int64]
    widths: NDArray[np.uint8]
    width_at: NDArray[np.int64]
    lanes: NDArray[np.int64]
    lane_at: NDArray[np.int64]
    turn: int
    first_level: int
    first_event: int
    first_resource: int
    first_table: int


ARRAYS = (
    "accesses", "spared", "moves", "events", "tables", "sources", "results", "extras", "woken", "asked", "completed",
    "queued", "levels", "widths", "width_at", "lanes", "lane_at",
)  # fmt: skip
"""Fields that are equal in all plans of a core; the others are numbers."""

_of_instruction = replacing(*(name for name in Plan._fields if name not in ARRAYS))
_recalling = replacing("recall")
_of_part = replacing(
    "turn", "first_level", "first_event", "first_resource", "first_table", "first_source", "first_result"
)


def blank_plan(
    levels: int,
    events: int,
    sources: int,
    results: int,
    queue: int = 0,
    sms: int = 0,
    resources: int = 0,
    tables: int = 0,
) -> Plan:
    """An empty plan for instructions of at most these numbers of source and result operands.

    One call may request up to ``queue`` extra accesses, tokens, accesses of tables and completed loads each.
    """
    return Plan(
        accesses=np.zeros(levels * 4, np.int64),
        spared=np.zeros(levels * 4, np.int64),
        moves=np.zeros((levels, levels), np.int64),
        events=np.zeros(events, np.int64),
        tables=np.zeros((tables, 3), np.int64),
        sources=np.full((sources, OPERAND_COLUMNS), UNSET, np.int32),
        results=np.full((results, 2, OPERAND_COLUMNS), UNSET, np.int32),
        extras=np.zeros((queue, 4), np.int32),
        woken=np.zeros(queue, np.int64),
        asked=np.zeros((queue, 3), np.int64),
        completed=np.zeros((queue, 2), np.int64),
        queued=np.zeros(5, np.int64),
        levels=np.zeros((sms, resources, 3), np.int64),
        widths=np.zeros(0, np.uint8),
        width_at=np.zeros(1, np.int64),
        lanes=np.zeros(0, np.int64),
        lane_at=np.zeros(2, np.int64),
        **({name: 0 for name in Plan._fields if name not in ARRAYS} | {"slices": 1, "main": 1}),
    )


def counting_plan(
    blank: Plan, slices: int, main: int, mask: int, datapath: int, warp: int, sm: int, first_source: int,
    first_result: int,
) -> Plan:  # fmt: skip
    """The plan of a core that keeps only counts."""
    plan: Plan = _of_instruction(
        blank, slices, mask, datapath, 0, 0, warp, sm, 0, -1, 0, 0, main, first_source, first_result, 0, 0, 0, 0, 0
    )
    return plan


def detailed_plan(
    blank: Plan,
    slices: int,
    mask: int,
    datapath: int,
    base: int,
    stride: int,
    warp: int,
    sm: int,
    cycle: int,
    load: int,
    main: int,
    first_source: int,
    first_result: int,
) -> Plan:
    """The plan of a core that keeps the details."""
    plan: Plan = _of_instruction(
        blank, slices, mask, datapath, base, stride, warp, sm, cycle, load, 1, 0, main, first_source, first_result,
        0, 0, 0, 0, 0,
    )  # fmt: skip
    return plan


def recalling_plan(plan: Plan, recall: int) -> Plan:
    """The plan for a hook of a design in which ``produced`` follows ``plan_write``: KEEPS or RECALLS."""
    found: Plan = _recalling(plan, recall)
    return found


def plan_of_part(
    plan: Plan,
    turn: int,
    first_level: int,
    first_event: int,
    first_resource: int,
    first_table: int,
    first_source: int,
    first_result: int,
) -> Plan:
    """The view of the plan for one design of a composition."""
    part: Plan = _of_part(plan, turn, first_level, first_event, first_resource, first_table, first_source, first_result)
    return part


def forget(rows: NDArray[np.int32], operands: int) -> None:
    """Set all columns of the first rows of ``sources`` or ``results`` to UNSET."""
    rows[:operands] = UNSET


def forget_levels(sources: NDArray[np.int32], operands: int) -> None:
    """The same for a core that keeps only counts: no source has been planned."""
    for place in range(operands):
        sources[place, LEVEL] = UNSET


def read(
    plan: Plan,
    operand: int,
    level: int,
    bank: int = UNSET,
    cycles: int = UNSET,
    merged: int = UNSET,
    slices: int = UNSET,
    row: int = UNSET,
) -> None:
    """``level`` serves source ``operand``: count one read there, with the instruction's datapath.

    ``bank``: index of the bank (default: the machine's mapping for the MRF, no bank for other levels); ``cycles`` until
    the word is present (default 1); ``slices``: bits of the slices of the bank that are read (default all); ``row``:
    its address in the bank (default the register's own).  With ``merged``, an operand of the same instruction that was
    planned earlier for the same level, this operand arrives together with it: only the slices that it adds are counted.
    """
    _check_slices(plan, slices)
    if plan.detailed or plan.turn:
        place = operand - plan.first_source
        before = plan.sources[place, LEVEL] if plan.turn == LATER else UNSET
        if before > 0 or (plan.turn == LATER and before == UNSET and plan.sources[place, CYCLES] != UNSET):
            return
        if before == 0:
            _take_back(plan, plan.sources[place])
        absolute = _level(plan, level)
        if merged >= 0 and plan.sources[merged - plan.first_source, LEVEL] != absolute:
            merged = UNSET
        plan.sources[place, LEVEL] = absolute
        plan.sources[place, MERGED] = merged - plan.first_source if merged >= 0 else UNSET
        _keep(plan.sources[place], bank, cycles, slices, row)
        _count_slices(plan, level, place, merged - plan.first_source if merged >= 0 else UNSET)
    elif plan.slices > 1:
        place = operand - plan.first_source
        if merged >= 0 and plan.sources[merged - plan.first_source, LEVEL] != level:
            merged = UNSET
        plan.sources[place, LEVEL] = level
        plan.sources[place, SLICES] = slices
        _count_slices(plan, level, place, merged - plan.first_source if merged >= 0 else UNSET)
    if merged < 0:
        _count_access(plan, level, READ)


def write(
    plan: Plan,
    operand: int,
    level: int,
    bank: int = UNSET,
    cycles: int = UNSET,
    slices: int = UNSET,
    row: int = UNSET,
) -> None:
    """``level`` receives result ``operand``: count one write there; call it once for each level that receives the
    result.

    ``bank``, ``cycles``, ``slices`` and ``row`` as in `read`.
    """
    _check_slices(plan, slices)
    if plan.detailed or plan.turn or plan.recall:
        place = operand - plan.first_result
        banked = plan.results[place, IN_BANKS, LEVEL]
        if plan.turn == LATER and (banked != UNSET or plan.results[place, ELSEWHERE, LEVEL] != UNSET):
            if banked != 0:
                return
            plan.accesses[WRITE * 2 + plan.datapath] -= 1
            if plan.slices > 1:
                plan.spared[WRITE * 2 + plan.datapath] -= _left_out(plan, plan.results[place, IN_BANKS, SLICES])
        elif plan.turn == LATER and plan.results[place, ELSEWHERE, CYCLES] != UNSET:
            return
        where = IN_BANKS if plan.turn == LATER or _is_main(plan, level) or bank >= 0 else ELSEWHERE
        plan.results[place, where, LEVEL] = _level(plan, level)
        _keep(plan.results[place, where], bank, cycles, slices, row)
        slices = plan.results[place, where, SLICES]
    _count_access(plan, level, WRITE)
    _spare(plan, level, WRITE, slices)


def nowhere(plan: Plan, operand: int) -> None:
    """The operand that the hook plans is accessed nowhere.

    In a composition, designs that plan it later leave it alone.  In ``produced``, this takes back what ``plan_write``
    has planned of the result; `write` may then plan it anew.  A later design of a composition takes back writes of the
    register file only.
    """
    if plan.recall == RECALLS:
        place = operand - plan.first_result
        _take_back_result(plan, plan.results[place, IN_BANKS])
        _take_back_result(plan, plan.results[place, ELSEWHERE])
    if plan.turn == FIRST:
        plan.results[operand - plan.first_result, ELSEWHERE, CYCLES] = 0
    elif plan.turn == FIRST_READS:
        plan.sources[operand - plan.first_source, CYCLES] = 0


def move(plan: Plan, source: int, target: int, register: int = UNSET, warp: int = UNSET, amount: int = 1) -> None:
    """Move a warp-register between levels (eviction, flush, fill): count one read of ``source`` and one write of
    ``target``.

    If one of them is the MRF and ``register`` (of ``warp``, by default the warp of the call) is given, the access
    competes for its bank.  With ``amount`` 0 nothing moves, which is faster than a branch that is hard to predict.
    """
    plan.moves[_level(plan, source), _level(plan, target)] += amount
    if plan.detailed and register >= 0 and amount:
        if _is_main(plan, source):
            _queue_extra(plan, READ, register, warp, UNSET)
        if _is_main(plan, target):
            _queue_extra(plan, WRITE, register, warp, UNSET)


def extra(
    plan: Plan,
    level: int,
    action: int,
    register: int,
    warp: int = UNSET,
    bank: int = UNSET,
    slices: int = UNSET,
) -> None:
    """Count an access without operand (a merge, a fill, a tag in the banks): READ or WRITE of ``register`` at
    ``level``.

    It counts with the plan's datapath.  An access of the MRF competes for its bank.  ``slices`` as in `read`.
    """
    _check_slices(plan, slices)
    _count_access(plan, level, action)
    _spare(plan, level, action, slices)
    if plan.detailed and (_is_main(plan, level) or bank >= 0):
        _queue_extra(plan, action, register, warp, bank)


def lookup(plan: Plan, table: int, index: int) -> None:
    """Read entry ``index`` of one of the design's tables in front of operand fetch (`Table`).

    Where the hook is for an instruction that issues, the instruction enters a collector some cycles after its last
    lookup was served.
    """
    _ask(plan, table, index, LOOKUPS)


def update(plan: Plan, table: int, index: int) -> None:
    """Write entry ``index`` of one of the design's tables: it takes a port of its bank, and nothing waits for it."""
    _ask(plan, table, index, UPDATES)


def count(plan: Plan, event: int, amount: int = 1) -> None:
    """Add ``amount`` to one of the design's own events."""
    plan.events[plan.first_event + event] += amount


def wake(plan: Plan, token: int) -> None:
    """Wake ``token``: from the next cycle on, ``admit`` is called again for the warps of this SM that wait for it."""
    if plan.detailed:
        if plan.queued[WOKEN] < plan.woken.size:
            plan.woken[plan.queued[WOKEN]] = token
        plan.queued[WOKEN] += 1


def after(plan: Plan, cycles: int) -> int:
    """The answer of ``admit`` with which the instruction is refused for ``cycles`` cycles, 1 at least: ``admit`` is
    called again that many cycles later, without `wake`.
    """
    return AFTER - cycles


def level(plan: Plan, resource: int, value: int) -> None:
    """Set ``resource`` of this SM to ``value`` from this cycle on; the core sums it over all cycles."""
    if plan.detailed:
        row = plan.levels[plan.sm, plan.first_resource + resource]
        row[INTEGRAL] += row[VALUE] * (plan.cycle - row[SINCE])
        row[VALUE] = value
        row[SINCE] = plan.cycle


def width(plan: Plan, operand: int) -> int:
    """The width of result ``operand`` in bytes, 1 to 4: the least number that holds every lane of the register, sign
    extended, lanes that the instruction does not write with their old content (CORF thesis, section 2.6).

    In ``plan_write``, ``produced`` and ``arrived`` of a design that declares ``widths=True``.  What ``rewrite`` has
    inserted has width 4.
    """
    return int(plan.widths[plan.width_at[0] + operand])


def change(plan: Plan, resource: int, more: int) -> None:
    """From this cycle on, `resource` of this SM has `more` than before; the result of the run is its sum over
    cycles.
    """
    if plan.detailed:
        level(plan, resource, plan.levels[plan.sm, plan.first_resource + resource, VALUE] + more)


def now(plan: Plan) -> int:
    """The current cycle; 0 in a replay."""
    return plan.cycle


def is_timed(plan: Plan) -> bool:
    """Whether the run has cycles; a replay reads the sources of an instruction as soon as it issues."""
    return plan.detailed != 0


def _level(plan: Plan, level: int) -> int:
    """Index of a level in a composition."""
    return level + plan.first_level if level > 0 else 0


def _is_main(plan: Plan, level: int) -> bool:
    """Whether a level is part of the main register file."""
    return level == 0 or (plan.main > 1 and plan.main >> _level(plan, level) & 1 != 0)


def _index(plan: Plan, level: int, action: int) -> int:
    """Index of ``accesses`` and ``spared``."""
    return (_level(plan, level) * 2 + action) * 2 + plan.datapath


def _count_access(plan: Plan, level: int, action: int) -> None:
    plan.accesses[_index(plan, level, action)] += 1


def _check_slices(plan: Plan, slices: int) -> None:
    """Note a mask that the banks do not have, for the core to refuse."""
    if slices != UNSET and (slices <= 0 or slices >> plan.slices != 0):
        plan.queued[REFUSED] = slices if slices != 0 else -1


def _keep(operand: NDArray[np.int32], bank: int, cycles: int, slices: int, row: int) -> None:
    """Keep what is said of an operand."""
    if bank != UNSET:
        operand[BANK] = bank
    if cycles != UNSET:
        operand[CYCLES] = cycles
    if slices != UNSET:
        operand[SLICES] = slices
    if row != UNSET:
        operand[ROW] = row


def _count_slices(plan: Plan, level: int, place: int, merged: int) -> None:
    """What a source reads of its access, or adds to that of another; ``place`` and ``merged`` are rows of sources."""
    if plan.slices > 1:
        slices = plan.sources[place, SLICES]
        if merged == UNSET:
            plan.sources[place, GRANTED] = slices
            _spare(plan, level, READ, slices)
        else:
            added = slices & ~plan.sources[merged, GRANTED]
            plan.sources[merged, GRANTED] |= slices
            plan.sources[place, GRANTED] = added
            plan.spared[_index(plan, level, READ)] -= _width(plan, added)


def _take_back(plan: Plan, source: NDArray[np.int32]) -> None:
    """An earlier design of a composition read a source from the register file; a later one says how."""
    index = READ * 2 + plan.datapath
    if source[MERGED] == UNSET:
        plan.accesses[index] -= 1
        if plan.slices > 1:
            plan.spared[index] -= _left_out(plan, source[SLICES])
    elif plan.slices > 1:
        plan.spared[index] += _width(plan, source[GRANTED])


def _take_back_result(plan: Plan, result: NDArray[np.int32]) -> None:
    """A result is not written where ``plan_write`` has planned it."""
    level = result[LEVEL]
    if level == UNSET or (plan.turn == LATER and plan.main >> level & 1 == 0):
        return
    index = (level * 2 + WRITE) * 2 + plan.datapath
    plan.accesses[index] -= 1
    if plan.slices > 1:
        plan.spared[index] -= _left_out(plan, result[SLICES])
    for column in range(OPERAND_COLUMNS):
        result[column] = UNSET


def _spare(plan: Plan, level: int, action: int, slices: int) -> None:
    """An access leaves slices out."""
    if plan.slices > 1 and slices != UNSET:
        plan.spared[_index(plan, level, action)] += _left_out(plan, slices)


def _left_out(plan: Plan, slices: int) -> int:
    """How many slices of a bank a mask leaves out."""
    return plan.slices - _width(plan, slices)


def _width(plan: Plan, slices: int) -> int:
    """How many slices of a bank a mask has."""
    found = 0
    for one in range(plan.slices):
        found += slices >> one & 1
    return found


def _ask(plan: Plan, table: int, index: int, action: int) -> None:
    plan.tables[plan.first_table + table, action] += 1
    if plan.detailed:
        if plan.queued[ASKED] < plan.asked.shape[0]:
            plan.asked[plan.queued[ASKED], ASKED_TABLE] = plan.first_table + table
            plan.asked[plan.queued[ASKED], ASKED_INDEX] = index
            plan.asked[plan.queued[ASKED], ASKED_ACTION] = action
        plan.queued[ASKED] += 1


def _queue_extra(plan: Plan, action: int, register: int, warp: int, bank: int) -> None:
    if plan.queued[EXTRAS] < plan.extras.shape[0]:
        row = plan.queued[EXTRAS]
        plan.extras[row, EXTRA_ACTION] = action
        plan.extras[row, EXTRA_WARP] = warp if warp >= 0 else plan.warp
        plan.extras[row, EXTRA_REGISTER] = register
        plan.extras[row, EXTRA_BANK] = bank
    plan.queued[EXTRAS] += 1
