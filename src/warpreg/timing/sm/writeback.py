"""Phase 1 of a cycle: what memory and the pipes give back becomes results to write, and banks take their writes."""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import columns as at
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import bit, lowest
from warpreg.timing.core.columns import Core
from warpreg.timing.core.inflight import give_op, mark, schedule, take_due, take_op
from warpreg.timing.core.rows import bank_at, slot_of


def complete(c: Core, memory: Any, d: Any, sm: int, now: int) -> None:
    """Tickets in order of return, then what is due; then one write in each bank that has any."""
    op = _back(c, memory, d, sm, now)
    while op != at.NONE:
        following = c.rows[op, at.OP_NEXT]
        if c.rows[op, at.OP_DUE] > now:
            schedule(c, sm, op, c.rows[op, at.OP_DUE], now)
        elif c.rows[op, at.OP_PC] == at.TIMER:
            mark(c, c.rows[op, at.OP_WARP])
            give_op(c, op)
        elif c.rows[op, at.OP_PC] == at.LEAVES:
            _leaves_late(c, d, sm, op, now)
        else:
            _results(c, d, sm, op, now)
        op = following
    c.table[sm, at.WRITTEN_BANKS] = c.table[sm, at.WRITE_BANKS]
    if c.table[sm, at.WRITE_BANKS] != 0:
        _write_banks(c, d, sm, now)


def _back(c: Core, memory: Any, d: Any, sm: int, now: int) -> int:
    """The list of what is complete in this cycle: memory's before all else."""
    first, last = at.NONE, at.NONE
    if ports.next_return(memory, sm) <= now:
        op = ports.returned(memory, sm, now)
        while op != at.NONE:
            c.rows[op, at.OP_TICKETS] -= 1
            if c.rows[op, at.OP_TICKETS] == 0 and c.rows[op, at.OP_TO_SEND] == 0:
                c.rows[op, at.OP_DUE] = now
                c.rows[op, at.OP_NEXT] = at.NONE
                if first == at.NONE:
                    first = op
                else:
                    c.rows[last, at.OP_NEXT] = op
                last = op
                if c.code[c.rows[op, at.OP_PC], at.KIND] != at.STORE:
                    c.clock[at.MEMORY_LOADS] += 1
                    c.clock[at.MEMORY_LOAD_CYCLES] += now - c.rows[op, at.OP_SENT_AT]
                ports.memory_returned(c, d, sm, op, now)
            op = ports.returned(memory, sm, now)
    due = take_due(c, sm, now)
    if first == at.NONE:
        return due
    c.rows[last, at.OP_NEXT] = due
    return first


def _results(c: Core, d: Any, sm: int, op: int, now: int) -> None:
    """The results of ``op`` are there: those that need a bank join its queue, the others are written."""
    pc = c.rows[op, at.OP_PC]
    warp = c.rows[op, at.OP_WARP]
    first = c.code[pc, at.WRITES]
    for row in range(first, c.code[pc, at.WRITES_END]):
        word = at.SAYS_BANK | 1 << at.RESULT_SHIFT
        if c.lists[row, 1] != at.NONE:
            word = ports.result_word(c, d, warp, op, row)
        if word & at.SAYS_BANK != at.SAYS_BANK:
            queue_write(c, sm, word & at.SAYS_BANK, op, row - first)
            if word & at.ALSO_ELSEWHERE == 0:
                continue
            c.rows[op, at.OP_LEFT] += 1
        _leave_scoreboard(c, sm, op, row - first, word >> at.RESULT_SHIFT, now)
    mark(c, warp)
    if c.rows[op, at.OP_LEFT] == 0:
        finish(c, d, sm, op, now)


def _leave_scoreboard(c: Core, sm: int, op: int, index: int, cycles: int, now: int) -> None:
    """The cell of a result leaves, now or ``cycles`` - 1 cycles on."""
    if cycles > 1:
        entry = take_op(c, sm, c.rows[op, at.OP_WARP], at.LEAVES)
        c.rows[entry, at.OP_RECORD] = op
        c.rows[entry, at.OP_PLACE] = index
        schedule(c, sm, entry, now + cycles - 1, now)
    else:
        pc = c.rows[op, at.OP_PC]
        _write(c, c.rows[op, at.OP_WARP], pc, c.lists[c.code[pc, at.WRITES] + index, 0])
        c.rows[op, at.OP_LEFT] -= 1


def _leaves_late(c: Core, d: Any, sm: int, entry: int, now: int) -> None:
    """The cycles of a slow result are over."""
    op = c.rows[entry, at.OP_RECORD]
    _leave_scoreboard(c, sm, op, c.rows[entry, at.OP_PLACE], 1, now)
    give_op(c, entry)
    mark(c, c.rows[op, at.OP_WARP])
    if c.rows[op, at.OP_LEFT] == 0:
        finish(c, d, sm, op, now)


def queue_write(c: Core, sm: int, bank: int, op: int, index: int) -> None:
    """The result of that index joins the write queue of a bank."""
    word = op << at.WORD_BITS | index
    c.rows[op, at.OP_LINK + index] = at.NONE
    row = bank_at(c, sm, bank)
    if c.rows[row, at.WRITES_HEAD] == at.NONE:
        c.rows[row, at.WRITES_HEAD] = word
        c.table[sm, at.WRITE_BANKS] |= bit(bank)
    else:
        last = c.rows[row, at.WRITES_TAIL]
        c.rows[last >> at.WORD_BITS, at.OP_LINK + (last & at.WORD_MASK)] = word
        c.clock[at.WRITE_WAITS] += 1
    c.rows[row, at.WRITES_TAIL] = word


def _write_banks(c: Core, d: Any, sm: int, now: int) -> None:
    """Every bank with a queue serves its first write."""
    waiting = c.table[sm, at.WRITE_BANKS]
    still = waiting
    while waiting != 0:
        bank = lowest(waiting)
        waiting ^= bit(bank)
        row = bank_at(c, sm, bank)
        word = c.rows[row, at.WRITES_HEAD]
        op = word >> at.WORD_BITS
        index = word & at.WORD_MASK
        following = c.rows[op, at.OP_LINK + index]
        c.rows[row, at.WRITES_HEAD] = following
        if following == at.NONE:
            still ^= bit(bank)
        if c.rows[op, at.OP_PC] == at.EXTRA:
            give_op(c, op)
        else:
            _written(c, d, sm, op, index, now)
    c.table[sm, at.WRITE_BANKS] = still


def _written(c: Core, d: Any, sm: int, op: int, index: int, now: int) -> None:
    """A bank has taken a result; its cell leaves unless that is another's matter."""
    row = c.code[c.rows[op, at.OP_PC], at.WRITES] + index
    word = ports.result_word(c, d, c.rows[op, at.OP_WARP], op, row)
    if word & at.ALSO_ELSEWHERE != 0:
        c.rows[op, at.OP_LEFT] -= 1
    else:
        _leave_scoreboard(c, sm, op, index, word >> at.RESULT_SHIFT, now)
    mark(c, c.rows[op, at.OP_WARP])
    if c.rows[op, at.OP_LEFT] == 0:
        finish(c, d, sm, op, now)


def _write(c: Core, warp: int, pc: int, cell: int) -> None:
    """A cell leaves the scoreboard."""
    words = c.machine[at.WORDS]
    column = at.BUSY + (cell >> 6)
    others = ~bit(cell & 63)
    kind = c.code[pc, at.WAIT_CLASS]
    c.rows[warp, column] &= others
    if kind != 0:
        c.rows[warp, column + at.SLOW_SET * words] &= others
        c.rows[warp, column + (at.SLOW_SET + (kind & at.CLASS_BITS)) * words] &= others
        if kind & at.LONG_BIT != 0:
            c.rows[warp, column + at.LONG_SET * words] &= others


def finish(c: Core, d: Any, sm: int, op: int, now: int) -> None:
    """An instruction is complete; with the last one of a warp that has issued all the warp ends."""
    warp = c.rows[op, at.OP_WARP]
    ports.arrived(c, d, sm, op, now)
    ports.written_back(c, d, sm, op, now)
    give_op(c, op)
    c.rows[warp, at.FLIGHT] -= 1
    if c.code[c.rows[op, at.OP_PC], at.FLAGS] & at.COPIES_ONE != 0:
        c.rows[warp, at.COPIED] += 1
        mark(c, warp)
    if c.rows[warp, at.FLIGHT] == 0:
        mark(c, warp)
        if c.rows[warp, at.HEAD] == at.NONE:
            end_warp(c, sm, warp)


def end_warp(c: Core, sm: int, warp: int) -> None:
    """Count a warp that has ended; its thread block leaves with the last one."""
    block = c.rows[warp, at.BLOCK]
    c.table[sm, at.ENDED_WARPS] |= bit(slot_of(c, sm, warp))
    c.rows[block, at.WARPS_LEFT] -= 1
    if c.rows[block, at.WARPS_LEFT] == 0:
        c.table[sm, at.BLOCK_ENDED] |= c.rows[block, at.OWN_BLOCK]
