"""The functions through which hooks fill a plan.

They are compiled into the hooks that call them.  Indices of levels, events and resources are positions in the design's
declaration; an operand is a row of the program table (``program.source``, ``program.result``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface.plan import (
    AFTER,
    ASKED,
    ASKED_ACTION,
    ASKED_INDEX,
    ASKED_TABLE,
    BANK,
    CYCLES,
    ELSEWHERE,
    EXTRA_ACTION,
    EXTRA_BANK,
    EXTRA_REGISTER,
    EXTRA_WARP,
    EXTRAS,
    FIRST,
    FIRST_OPERAND,
    FIRST_READS,
    GRANTED,
    IN_BANKS,
    INTEGRAL,
    LATER,
    LEVEL,
    LOOKUPS,
    MAX_PLANNED,
    MERGED,
    OPERAND_COLUMNS,
    PLANNED,
    POSTPONED,
    READ,
    RECALLS,
    REFUSED,
    ROW,
    SINCE,
    SLICES,
    STAY,
    UNSET,
    UPDATES,
    VALUE,
    WOKEN,
    WRITE,
    Plan,
)
from warpreg.trace.patterns import pattern_of, width_of


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
    _note_planned(plan, operand - plan.first_source)
    if plan.detailed or plan.turn:
        place = operand - plan.first_source
        if is_served(plan, operand):
            return
        if plan.turn == LATER and plan.sources[place, LEVEL] == 0:
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


def is_served(plan: Plan, operand: int) -> bool:
    """Whether source ``operand`` does not come to the register file: a design of the composition that plans earlier has
    planned it at another level, or ``nowhere``.
    """
    if plan.turn != LATER:
        return False
    place = operand - plan.first_source
    level = plan.sources[place, LEVEL]
    return bool(level > 0 or (level == UNSET and plan.sources[place, CYCLES] != UNSET))


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

    ``bank``, ``slices`` and ``row`` as in `read`; ``cycles`` are those of the write, for which its bank serves no other
    one.
    """
    _check_slices(plan, slices)
    _note_planned(plan, operand - plan.first_result)
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


def postpone(plan: Plan, cycles: int) -> None:
    """In ``produced``: the results of the instruction join the write queues of their banks, or are there, ``cycles``
    cycles later; of several calls the largest number counts.

    A stage between unit and register file costs time so, without keeping a bank busy.  No effect in other hooks, in a
    replay, or for instructions that execute when they issue.
    """
    if plan.detailed:
        plan.queued[POSTPONED] = max(plan.queued[POSTPONED], cycles)


def nowhere(plan: Plan, operand: int) -> None:
    """The operand that the hook plans is accessed nowhere.

    In a composition, designs that plan it later leave it alone.  In ``produced``, this takes back what ``plan_write``
    has planned of the result; `write` may then plan it anew.  A later design of a composition takes back writes of the
    register file only.
    """
    _note_planned(plan, operand - plan.planned[FIRST_OPERAND])
    if plan.recall == RECALLS:
        place = operand - plan.first_result
        _take_back_result(plan, plan.results[place, IN_BANKS])
        _take_back_result(plan, plan.results[place, ELSEWHERE])
    if plan.turn == FIRST or (plan.recall and plan.results[operand - plan.first_result, ELSEWHERE, LEVEL] == UNSET):
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
            queue_extra(plan, READ, register, warp, UNSET)
        if _is_main(plan, target):
            queue_extra(plan, WRITE, register, warp, UNSET)


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
        queue_extra(plan, action, register, warp, bank)


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


def stay(plan: Plan, token: int) -> int:
    """The answer of ``admit`` with which the instruction waits for ``token`` like with the token alone, but its warp
    keeps its place in the active set.
    """
    return STAY - token


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
    return int(width_of(plan.widths[plan.width_at[0] + operand]))


def pattern(plan: Plan, operand: int) -> int:
    """The pattern of result ``operand``: shape and deltas of the register after the write, and whether the write is
    partial (`shape_of`, `delta_bytes`, `is_partial`).

    In the hooks that know `width`, of a design that declares ``patterns=True``.  What ``rewrite`` has inserted is
    uneven and partial.
    """
    return int(pattern_of(plan.widths[plan.width_at[0] + operand]))


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


def _note_planned(plan: Plan, row: int) -> None:
    """The hook under way has planned an operand."""
    if plan.accounts:
        plan.planned[PLANNED] |= 1 << bit_of(row)


def bit_of(row: int) -> int:
    """The bit of an operand in ``planned``."""
    return row & (MAX_PLANNED - 1)


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


def queue_extra(plan: Plan, action: int, register: int, warp: int, bank: int) -> None:
    """Ask the core for an access that belongs to no operand, or for a transfer (`warpreg.designs.interface.paths`)."""
    if plan.queued[EXTRAS] < plan.extras.shape[0]:
        row = plan.queued[EXTRAS]
        plan.extras[row, EXTRA_ACTION] = action
        plan.extras[row, EXTRA_WARP] = warp if warp >= 0 else plan.warp
        plan.extras[row, EXTRA_REGISTER] = register
        plan.extras[row, EXTRA_BANK] = bank
    plan.queued[EXTRAS] += 1
