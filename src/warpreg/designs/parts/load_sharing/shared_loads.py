"""A global load has its addresses: it shares registers, waits for another load, or goes to memory (thesis §5.5.2).

Each 32-bit word of a load is looked up alone.  A load shares only if all its words can.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.noinline import noinline
from piecewise_numba.records import by_reference
from warpreg.designs.interface import (
    HELD,
    MRF,
    READ,
    Plan,
    Program,
    complete,
    count,
    extra,
    lookup,
    now,
    this_load,
    update,
)
from warpreg.designs.parts.load_sharing.address_table import THREADS, WORD_BYTES, find, insert, is_regular
from warpreg.designs.parts.load_sharing.columns import (
    ARRIVES,
    BURDEN,
    LANES,
    NONE,
    PLACE,
    REFERENCES,
    SLOT_FREE,
    UNDER_WAY,
)
from warpreg.designs.parts.load_sharing.events import (
    CARRIED,
    CROWDED,
    EVICTED,
    IRREGULAR_LOADS,
    LOADS,
    MERGED,
    MISSED,
    PARTIAL,
    PERFECT,
    SEARCHED,
    STRONG_LOADS,
    UNORDERED_VALUES,
    WAITED,
)
from warpreg.designs.parts.load_sharing.merging import FULL, REGISTER, SHIFT, cover
from warpreg.designs.parts.load_sharing.registers import assign, bank_of, drop, take
from warpreg.designs.parts.load_sharing.shadow import FRESH, compare_word, keep_words, note_fault
from warpreg.designs.parts.load_sharing.state import OWNED, SHARED
from warpreg.designs.parts.load_sharing.waiting import (
    LOAD,
    MAX_BURDEN,
    add_part,
    begin_wait,
    can_wait,
    end_wait,
    next_complete,
    next_read,
)

RENAMING_TABLE, ADDRESS_TABLE = 0, 1
"""Their positions among the tables of the design."""
MEMORY = 0
POINTER_CYCLES = 1
FIRST, SECOND = 0, 1
COUNT_BITS = 16


class Site(NamedTuple):
    """A load: ``pc``; ``mask`` of its lanes; ``words`` that it may share; the ``first`` of its results in ``result``
    (registers) and ``partial`` (whether other lanes are needed) of the program; ``entry`` of the warp's first register
    in the renaming table.
    """

    pc: int
    mask: int
    words: int
    first: int
    entry: int
    result: NDArray[np.uint16]
    partial: NDArray[np.uint8]


def site_of(program: Program, warp: int, pc: int, mask: int, sm: int) -> Site:
    """The load of a warp."""
    entry = table_index(program, warp, 0, sm)
    words, first = int(program.hints.words[pc]), int(program.result_start[pc])
    return Site(pc, mask, words, first, entry, program.result, program.result_partial)


def look_up_load(
    state: Any, program: Program, warp: int, pc: int, base: int, stride: int, mask: int, plan: Plan
) -> int:
    """What `load_lookup` answers."""
    count(plan, LOADS)
    if program.hints.words[pc] == 0:
        count(plan, STRONG_LOADS)
        return MEMORY
    if not is_regular(base, stride):
        count(plan, IRREGULAR_LOADS)
        return MEMORY
    site = site_of(program, warp, pc, mask, plan.sm)
    return look_up_words(by_reference(state), site, warp, base, stride, mask, by_reference(plan))


@noinline
def look_up_words(state: Any, site: Site, warp: int, base: int, stride: int, mask: int, plan: Plan) -> int:
    """The same for a load that may share registers."""
    lookup(plan, ADDRESS_TABLE, base >> 2)
    sm, words = plan.sm, site.words
    if state.fenced[warp] or not choose_parts(state, site, base, stride, mask, plan):
        return miss(state, site, warp, base, stride, mask, plan)
    reads = parts_to_read(state, site, sm)
    lacks = state.joins_pending and lacks_data(state, sm, words)
    if lacks and not can_join(state, sm, words, reads):
        count(plan, CROWDED)
        return MEMORY
    if state.versioned:
        stale = compare_parts(state, sm, warp, site.pc, words, base, stride, mask)
        for kind in range(3):
            count(plan, UNORDERED_VALUES + kind, stale >> COUNT_BITS * kind & (1 << COUNT_BITS) - 1)
    count(plan, PARTIAL if reads else PERFECT)
    answer = HELD if lacks else read_parts(state, site, reads, plan)
    if lacks:
        count(plan, WAITED)
        wait_for_parts(state, site, plan)
    for word in range(words):
        if is_pointer(state, site, word, sm):
            point_to(state, site, warp, word, state.parts[sm, word, FIRST, REGISTER], plan)
        else:
            physical = own_register(state, site, warp, word, plan)
            if state.enters_merged and physical != NONE:
                if state.versioned:
                    keep_merged(state, physical, word, mask, sm)
                enter(state, physical, base + word * WORD_BYTES, stride, mask, plan)
    return answer


def choose_parts(state: Any, site: Site, base: int, stride: int, mask: int, plan: Plan) -> bool:
    """Note in ``parts`` the one or two registers with each word; returns whether there are any for all words."""
    sm = plan.sm
    for word in range(site.words):
        address = base + word * WORD_BYTES
        state.parts[sm, word, FIRST, REGISTER] = find(state, sm, address, stride, mask)
        state.parts[sm, word, FIRST, SHIFT] = 0
        state.parts[sm, word, SECOND, REGISTER] = NONE
        if state.parts[sm, word, FIRST, REGISTER] == NONE:
            covering = search(state, address, stride, mask, plan) if state.partial and stride != 0 else 0
            if covering == 0:
                return False
            for part in range(covering):
                state.parts[sm, word, part, REGISTER] = state.near[sm, part, REGISTER]
                state.parts[sm, word, part, SHIFT] = state.near[sm, part, SHIFT]
    return True


def search(state: Any, base: int, stride: int, mask: int, plan: Plan) -> int:
    """What `cover` finds, by a second access of the table."""
    count(plan, SEARCHED)
    lookup(plan, ADDRESS_TABLE, base >> 2)
    return cover(state, plan.sm, base, stride, mask)


def is_pointer(state: Any, site: Site, word: int, sm: int) -> bool:
    """Whether a word is shared by pointer: one register has it in the right lanes, and no other lane is needed."""
    alone = state.parts[sm, word, SECOND, REGISTER] == NONE and state.parts[sm, word, FIRST, SHIFT] == 0
    return bool(alone and not keeps_lanes(site, word))


def keeps_lanes(site: Site, word: int) -> bool:
    """Whether lanes that the load does not write may need their old value."""
    return bool(site.partial[site.first + word] and site.mask != FULL)


def parts_to_read(state: Any, site: Site, sm: int) -> int:
    """How many registers the slot for merging reads."""
    reads = 0
    for word in range(site.words):
        if not is_pointer(state, site, word, sm):
            reads += 1 if state.parts[sm, word, SECOND, REGISTER] == NONE else 2
    return reads


def lacks_data(state: Any, sm: int, words: int) -> bool:
    """Whether a load is under way to one of the parts."""
    found = False
    for word in range(words):
        for part in range(2):
            found |= is_late(state, sm, state.parts[sm, word, part, REGISTER])
    return found


def is_late(state: Any, sm: int, physical: int) -> bool:
    """Whether a load is under way to a register; NONE is none."""
    return bool(physical != NONE and state.physical[sm, physical, UNDER_WAY] != 0)


def can_join(state: Any, sm: int, words: int, reads: int) -> bool:
    """Whether a load can wait for the parts that are under way."""
    if not can_wait(state, sm, 2 * words):
        return False
    for word in range(words):
        for part in range(2):
            physical = state.parts[sm, word, part, REGISTER]
            if is_late(state, sm, physical) and state.physical[sm, physical, BURDEN] + 1 + reads > MAX_BURDEN:
                return False
    for word in range(words):
        for part in range(2):
            physical = state.parts[sm, word, part, REGISTER]
            if is_late(state, sm, physical):
                state.physical[sm, physical, BURDEN] += 1 + reads
    return True


def wait_for_parts(state: Any, site: Site, plan: Plan) -> None:
    """The load is complete when the data of all its parts are there."""
    wait = begin_wait(state, plan.sm, this_load(plan))
    for word in range(site.words):
        reads = not is_pointer(state, site, word, plan.sm)
        for part in range(2):
            register = state.parts[plan.sm, word, part, REGISTER]
            if register != NONE:
                add_part(state, plan.sm, wait, register, reads)


def arrive(state: Any, physical: int, plan: Plan) -> None:
    """The data of a load are in its physical register: the loads that wait for it may be complete."""
    sm = plan.sm
    wait = next_complete(state, sm, physical)
    while wait != NONE:
        reads = 0
        part = next_read(state, sm, wait)
        while part != NONE:
            read_part(state, part, plan)
            reads += 1
            part = next_read(state, sm, wait)
        complete(plan, state.waits[sm, wait, LOAD], merge_time(state, reads, plan))
        end_wait(state, sm, wait)
        wait = next_complete(state, sm, physical)


@noinline
def end_load(state: Any, sm: int, physical: int) -> None:
    """No load is under way to a register any more."""
    row = state.physical[sm, physical]
    row[UNDER_WAY] = 0
    row[BURDEN] = 0
    drop(state, sm, physical)


def read_parts(state: Any, site: Site, reads: int, plan: Plan) -> int:
    """All parts are there: read those that are merged; returns the cycles that the load takes."""
    if reads:
        for word in range(site.words):
            if not is_pointer(state, site, word, plan.sm):
                for part in range(2):
                    if state.parts[plan.sm, word, part, REGISTER] != NONE:
                        read_part(state, state.parts[plan.sm, word, part, REGISTER], plan)
    return merge_time(state, reads, plan)


def read_part(state: Any, physical: int, plan: Plan) -> None:
    """The slot for merging reads a register."""
    count(plan, MERGED)
    extra(plan, MRF, READ, physical, bank=bank_of(state, physical))


def merge_time(state: Any, reads: int, plan: Plan) -> int:
    """The cycles of a load that shares.  There is one slot for merging, which is taken by one load after the other."""
    if reads == 0:
        return POINTER_CYCLES
    begin = max(now(plan), state.own[plan.sm, SLOT_FREE])
    state.own[plan.sm, SLOT_FREE] = begin + state.merge_cycles
    return int(begin + state.merge_cycles - now(plan))


def point_to(state: Any, site: Site, warp: int, word: int, physical: int, plan: Plan) -> None:
    """A register is in a physical register that is in use already (§5.3.1): no access of the register file."""
    register = site.result[site.first + word]
    state.physical[plan.sm, physical, REFERENCES] += 1
    assign(state, plan.sm, warp, register, physical)
    state.registers[warp, register, ARRIVES] = SHARED
    update(plan, RENAMING_TABLE, site.entry + register)


def miss(state: Any, site: Site, warp: int, base: int, stride: int, mask: int, plan: Plan) -> int:
    """The load goes to memory, to a new physical register that gets an entry (Figure 5.5b)."""
    for word in range(site.words):
        physical = own_register(state, site, warp, word, plan)
        if physical == NONE:
            count(plan, CROWDED)
            return MEMORY
        address = base + word * WORD_BYTES
        enter(state, physical, address, stride, mask, plan)
        if state.versioned:
            keep_words(state, plan.sm, physical, address, stride, mask)
    count(plan, MISSED)
    return MEMORY


@noinline
def own_register(state: Any, site: Site, warp: int, word: int, plan: Plan) -> int:
    """The result of a load gets a new physical register, to which it is under way; NONE if there is none."""
    sm, register = plan.sm, site.result[site.first + word]
    physical = take(state, sm)
    if physical != NONE:
        old = state.registers[warp, register, PLACE]
        if old != NONE and keeps_lanes(site, word):
            carry(state, old, plan)
        assign(state, sm, warp, register, physical)
        update(plan, RENAMING_TABLE, site.entry + register)
        state.physical[sm, physical, REFERENCES] += 1
        state.physical[sm, physical, UNDER_WAY] = 1
        state.registers[warp, register, ARRIVES] = OWNED + physical
    return physical


def enter(state: Any, physical: int, base: int, stride: int, mask: int, plan: Plan) -> None:
    """A register gets an entry."""
    update(plan, ADDRESS_TABLE, base >> 2)
    if insert(state, plan.sm, physical, base, stride, mask):
        count(plan, EVICTED)


def carry(state: Any, old: int, plan: Plan) -> None:
    """A write leaves lanes alone that are needed: the old place is read, to write them to the new one."""
    count(plan, CARRIED)
    extra(plan, MRF, READ, old, bank=bank_of(state, old))


@noinline
def compare_parts(state: Any, sm: int, warp: int, pc: int, words: int, base: int, stride: int, mask: int) -> int:
    """Each lane that is shared has the version that memory has now; returns the numbers of those that are UNORDERED,
    ORDERED and OWN, of `COUNT_BITS` each.
    """
    counts = 0
    for word in range(words):
        for lane in range(THREADS):
            if mask >> lane & 1:
                part = FIRST if has_lane(state, word, FIRST, lane, sm) else SECOND
                place = lane + state.parts[sm, word, part, SHIFT]
                address = base + word * WORD_BYTES + lane * stride
                kind = compare_word(state, sm, state.parts[sm, word, part, REGISTER], place, address)
                if kind != FRESH:
                    counts += 1 << COUNT_BITS * (kind - 1)
                    note_fault(state, kind, warp, pc, address)
    return counts


@noinline
def keep_merged(state: Any, physical: int, word: int, mask: int, sm: int) -> None:
    """A merged register holds the versions of its parts."""
    for lane in range(THREADS):
        if mask >> lane & 1:
            part = FIRST if has_lane(state, word, FIRST, lane, sm) else SECOND
            source = state.parts[sm, word, part, REGISTER]
            state.kept[sm, physical, lane] = state.kept[sm, source, lane + state.parts[sm, word, part, SHIFT]]


def has_lane(state: Any, word: int, part: int, lane: int, sm: int) -> bool:
    """Whether a part holds what a lane of the load needs."""
    physical, place = state.parts[sm, word, part, REGISTER], lane + state.parts[sm, word, part, SHIFT]
    return bool(physical != NONE and 0 <= place < THREADS and state.physical[sm, physical, LANES] >> place & 1)


def table_index(program: Program, warp: int, register: int, sm: int) -> int:
    """The entry of a register in the renaming table: registers of a thread times warp, plus register (§5.5.2)."""
    return (warp - sm * program.slots) * program.register_count + register


@noinline
def would_share(state: Any, warp: int, words: int, base: int, stride: int, mask: int, sm: int) -> bool:
    """Whether a load of so many words at these addresses would share all of them now."""
    if state.fenced[warp] or not is_regular(base, stride):
        return False
    for word in range(words):
        address = base + word * WORD_BYTES
        found = find(state, sm, address, stride, mask) != NONE
        if not found and not (state.partial and cover(state, sm, address, stride, mask) != 0):
            return False
    return True
