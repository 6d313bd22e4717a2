"""Phase 1 of a cycle: returns of memory and pipe results become results to write; banks serve their writes."""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import access_record as record
from warpreg.timing.core import conditions as when
from warpreg.timing.core import operand_word, ports
from warpreg.timing.core.bitset import bit, lowest
from warpreg.timing.core.columns import banks, blocks, clock, code, machine, ops, sms, warps
from warpreg.timing.core.inflight import give_op, mark, schedule, take_due, take_op
from warpreg.timing.core.operand_word import op_of
from warpreg.timing.core.port import port, stands_for
from warpreg.timing.core.rows import bank_at, slot_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, BankRow, OpRow, Pc, SmRow, WarpRow


def complete(c: Core, memory: Any, d: Any, sm: SmRow, now: int) -> None:
    """Process tickets in order of return, then due entries; then one write per bank with a queue."""
    c.table[sm, sms.WRITTEN_BANKS] = ports.still_writing(c, sm, now)
    op = _back(c, memory, d, sm, now)
    while op != NONE:
        following = c.rows[op, ops.NEXT]
        if c.rows[op, ops.DUE] > now:
            schedule(c, sm, op, c.rows[op, ops.DUE], now)
        elif c.rows[op, ops.PC] == ops.TIMER:
            mark(c, c.rows[op, ops.WARP])
            give_op(c, op)
        elif c.rows[op, ops.PC] == ops.LEAVES:
            _leaves_late(c, d, sm, op, now)
        elif ports.asks_again(c, op):
            ports.ask_again(c, op, now)
        elif ports.is_present(c, op):
            ports.present(c, d, sm, op, now)
        elif ports.is_postponed(c, op):
            c.rows[op, ops.POSTPONED] = 0
            write_results(c, d, sm, op, now)
        elif ports.is_transfer(c, op):
            ports.advance_transfer(c, d, sm, op, now)
        else:
            process_results(c, d, sm, op, now)
        op = following
    if c.table[sm, sms.WRITE_BANKS] & ~c.table[sm, sms.WRITTEN_BANKS] != 0:
        write_banks(c, d, sm, now)


def _back(c: Core, memory: Any, d: Any, sm: SmRow, now: int) -> OpRow:
    """The list of what is complete in this cycle: returns of memory first."""
    first: OpRow = NONE
    last: OpRow = NONE
    if ports.next_return(memory, sm) <= now:
        op = ports.returned(memory, sm, now)
        while op != NONE:
            if ports.is_traffic(c, op):
                ports.traffic_is_back(c, memory, d, sm, op, now)
                op = ports.returned(memory, sm, now)
                continue
            ports.ticket_is_back(c, memory, sm, op)
            c.rows[op, ops.TICKETS] -= 1
            if c.rows[op, ops.TICKETS] == 0 and c.rows[op, ops.TO_SEND] == 0:
                c.rows[op, ops.DUE] = now
                c.rows[op, ops.NEXT] = NONE
                if first == NONE:
                    first = op
                else:
                    c.rows[last, ops.NEXT] = op
                last = op
                if c.code[c.rows[op, ops.PC], code.KIND] != record.STORE:
                    c.clock[clock.MEMORY_LOADS] += 1
                    c.clock[clock.MEMORY_LOAD_CYCLES] += now - c.rows[op, ops.SENT_AT]
                ports.memory_returned(c, d, sm, op, now)
            op = ports.returned(memory, sm, now)
    due = take_due(c, sm, now)
    if first == NONE:
        return due
    c.rows[last, ops.NEXT] = due
    return first


@port("a recording")
def process_results(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """The results of ``op`` have left their unit or memory; they are written now, or later if a design says so."""
    late = ports.produced(c, d, sm, op, now)
    if late > 0:
        c.rows[op, ops.POSTPONED] = NONE
        schedule(c, sm, op, now + late, now)
    else:
        write_results(c, d, sm, op, now)


def write_results(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """Results that need a bank join its queue, the others are written."""
    pc = c.rows[op, ops.PC]
    warp = c.rows[op, ops.WARP]
    first = c.code[pc, code.WRITES]
    for row in range(first, c.code[pc, code.WRITES_END]):
        word = operand_word.SAYS_BANK | 1 << operand_word.RESULT_SHIFT
        if c.lists[row, 1] != NONE:
            word = ports.result_word(c, d, warp, op, row - first, row)
        if word & operand_word.SAYS_BANK != operand_word.SAYS_BANK:
            join(c, sm, word & operand_word.SAYS_BANK, op, row - first, now)
            if word & operand_word.ALSO_ELSEWHERE == 0:
                continue
            c.rows[op, ops.LEFT] += 1
        leave_scoreboard(c, sm, op, row - first, word >> operand_word.RESULT_SHIFT, now)
    mark(c, warp)
    if c.rows[op, ops.LEFT] == 0:
        finish(c, d, sm, op, now)


def leave_scoreboard(c: Core, sm: SmRow, op: OpRow, index: int, cycles: int, now: int) -> None:
    """Remove the cell of a result from the scoreboard, now or after ``cycles`` - 1 cycles."""
    if cycles > 1:
        entry = take_op(c, sm, c.rows[op, ops.WARP], ops.LEAVES)
        c.rows[entry, ops.LATE] = op
        c.rows[entry, ops.CURSOR] = index
        schedule(c, sm, entry, now + cycles - 1, now)
    else:
        pc = c.rows[op, ops.PC]
        ports.result_is_there(c, op)
        write_cell(c, c.rows[op, ops.WARP], pc, c.lists[c.code[pc, code.WRITES] + index, 0])
        c.rows[op, ops.LEFT] -= 1


def _leaves_late(c: Core, d: Any, sm: SmRow, entry: OpRow, now: int) -> None:
    """Remove the cell of a result whose extra cycles are over."""
    op = c.rows[entry, ops.LATE]
    leave_scoreboard(c, sm, op, c.rows[entry, ops.CURSOR], 1, now)
    give_op(c, entry)
    mark(c, c.rows[op, ops.WARP])
    if c.rows[op, ops.LEFT] == 0:
        finish(c, d, sm, op, now)


@port("a read window, or a bank that may serve the result at once")
def join(c: Core, sm: SmRow, bank: int, op: OpRow, index: int, now: int) -> None:
    """A result joins the queue of its bank, which serves the first one after all have joined."""
    queue_write(c, sm, bank, op, index)


@stands_for(join, when.JOINS_AT_ONCE)
def write_or_join(c: Core, sm: SmRow, bank: int, op: OpRow, index: int, now: int) -> None:
    """In place of `join` if nobody sees the order of writes in a cycle: a bank without a queue serves a result now."""
    own = bit(bank)
    if (c.table[sm, sms.WRITE_BANKS] | c.table[sm, sms.WRITTEN_BANKS]) & own == 0:
        c.table[sm, sms.WRITTEN_BANKS] |= own
        leave_scoreboard(c, sm, op, index, 1, now)
        return
    if c.table[sm, sms.WRITE_BANKS] & own == 0:
        c.clock[clock.WRITE_CONFLICTS] += 1
    queue_write(c, sm, bank, op, index)


def queue_write(c: Core, sm: SmRow, bank: int, op: OpRow, index: int) -> None:
    """Append a result to the write queue of a bank."""
    word = op << operand_word.WORD_BITS | index
    c.rows[op, ops.LINK + index] = NONE
    row = bank_at(c, sm, bank)
    if c.rows[row, banks.WRITES_HEAD] == NONE:
        c.rows[row, banks.WRITES_HEAD] = word
    else:
        last = c.rows[row, banks.WRITES_TAIL]
        c.rows[op_of(last), ops.LINK + (last & operand_word.WORD_MASK)] = word
    if c.table[sm, sms.WRITE_BANKS] & bit(bank) != 0:
        c.clock[clock.WRITE_CONFLICTS] += 1
    c.table[sm, sms.WRITE_BANKS] |= bit(bank)
    c.rows[row, banks.WRITES_TAIL] = word


def write_banks(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """Let every bank with a queue that has not served a write yet serve its first one."""
    still = c.table[sm, sms.WRITE_BANKS]
    waiting = still & ~c.table[sm, sms.WRITTEN_BANKS]
    c.table[sm, sms.WRITTEN_BANKS] |= waiting
    while waiting != 0:
        bank = lowest(waiting)
        waiting ^= bit(bank)
        row = bank_at(c, sm, bank)
        if not ports.serves_extra(c, row):
            _serve_bank(c, d, sm, bank, row, now)
        if c.rows[row, banks.WRITES_HEAD] == NONE and not ports.has_extras(c, row):
            still ^= bit(bank)
    c.table[sm, sms.WRITE_BANKS] = still


def _serve_bank(c: Core, d: Any, sm: SmRow, bank: int, row: BankRow, now: int) -> None:
    """A bank serves the first write of its queue, and with whole instructions those of the same one behind it."""
    word = c.rows[row, banks.WRITES_HEAD]
    op = op_of(word)
    serves = True
    while serves:
        following = c.rows[op, ops.LINK + (word & operand_word.WORD_MASK)]
        c.rows[row, banks.WRITES_HEAD] = following
        serve_write(c, d, sm, bank, word, now)
        serves = c.machine[machine.WHOLE_INSTRUCTIONS] != 0 and following != NONE and op_of(following) == op
        word = following


@port("a recording")
def serve_write(c: Core, d: Any, sm: SmRow, bank: int, word: int, now: int) -> None:
    """A bank serves a write: an extra access, an end of a transfer, or a result, whose cell leaves the scoreboard
    unless the result is also written elsewhere.
    """
    op = op_of(word)
    if c.rows[op, ops.PC] == ops.EXTRA:
        give_op(c, op)
        return
    if ports.is_transfer(c, op):
        ports.advance_transfer(c, d, sm, op, now)
        return
    index = word & operand_word.WORD_MASK
    row = c.code[c.rows[op, ops.PC], code.WRITES] + index
    result = ports.result_word(c, d, c.rows[op, ops.WARP], op, index, row)
    if result & operand_word.ALSO_ELSEWHERE != 0:
        c.rows[op, ops.LEFT] -= 1
    else:
        cycles = result >> operand_word.RESULT_SHIFT
        if cycles > 1:
            ports.keep_writing(c, sm, bank, now + cycles)
        leave_scoreboard(c, sm, op, index, cycles, now)
    mark(c, c.rows[op, ops.WARP])
    if c.rows[op, ops.LEFT] == 0:
        finish(c, d, sm, op, now)


@stands_for(ports.still_writing, when.PLANS_RESULTS)
def still_writing(c: Core, sm: SmRow, now: int) -> int:
    """The banks whose last write is not over, where a design plans results."""
    long = c.table[sm, sms.LONG_WRITES]
    if long == 0:
        return 0
    rest = long
    while rest != 0:
        bank = lowest(rest)
        rest ^= bit(bank)
        if c.rows[bank_at(c, sm, bank), banks.WRITES_FROM] <= now:
            long ^= bit(bank)
    c.table[sm, sms.LONG_WRITES] = long
    return long


@stands_for(ports.keep_writing, when.PLANS_RESULTS)
def keep_writing(c: Core, sm: SmRow, bank: int, until: int) -> None:
    """A bank writes a result and serves no other write before cycle ``until``, where a design plans results."""
    row = bank_at(c, sm, bank)
    c.rows[row, banks.WRITES_FROM] = max(c.rows[row, banks.WRITES_FROM], until)
    c.table[sm, sms.LONG_WRITES] |= bit(bank)


@port("control codes")
def write_cell(c: Core, warp: WarpRow, pc: Pc, cell: int) -> None:
    """Remove a cell from the scoreboard."""
    words = c.machine[machine.WORDS]
    column = warps.BUSY + (cell >> 6)
    others = ~bit(cell & 63)
    kind = c.code[pc, code.WAIT_CLASS]
    c.rows[warp, column] &= others
    if kind != 0:
        c.rows[warp, column + (kind & code.CLASS_BITS) * words] &= others
        if kind & code.LONG_BIT != 0:
            c.rows[warp, column + warps.LONG_SET * words] &= others


@port("a recording")
def finish(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """Complete an instruction; if it is the last one of a warp that has issued everything, the warp ends."""
    warp = c.rows[op, ops.WARP]
    ports.arrived(c, d, sm, op, now)
    ports.written_back(c, d, sm, op, now)
    ports.see_buffer(c, d, sm, op, now)
    ports.results_written(c, op)
    give_op(c, op)
    c.rows[warp, warps.FLIGHT] -= 1
    if c.code[c.rows[op, ops.PC], code.FLAGS] & code.COPIES_ONE != 0:
        c.rows[warp, warps.COPIED] += 1
        mark(c, warp)
    if c.rows[warp, warps.FLIGHT] == 0:
        mark(c, warp)
        if c.rows[warp, warps.HEAD] == NONE and ports.nothing_away(c, warp):
            end_warp(c, sm, warp)


def end_warp(c: Core, sm: SmRow, warp: WarpRow) -> None:
    """Count a warp that has ended; its thread block leaves with the last one."""
    block = c.rows[warp, warps.BLOCK]
    c.table[sm, sms.ENDED_WARPS] |= bit(slot_of(c, sm, warp))
    c.rows[block, blocks.WARPS_LEFT] -= 1
    if c.rows[block, blocks.WARPS_LEFT] == 0:
        c.table[sm, sms.BLOCK_ENDED] |= c.rows[block, blocks.OWN]
