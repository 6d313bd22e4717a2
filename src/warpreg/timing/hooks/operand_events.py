"""What the core calls where a design wants to know what happens to an instruction and its operands, and when.

Like `warpreg.timing.hooks.adapters`.  Of a source that is merged with another one the operand word says which, so that
``collected`` is called for both at the same time; what ``plan_write`` has said of results is kept in ``d.kept`` until
``produced`` may add to it.
"""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface.plan import (
    KEEPS,
    MERGED,
    POSTPONED,
    RECALLS,
    UNSET,
    Plan,
    forget_results,
    recalling_plan,
)
from warpreg.timing.core import conditions as when
from warpreg.timing.core import operand_word, ports
from warpreg.timing.core.columns import clock, code, machine, ops
from warpreg.timing.core.inflight import give_op, schedule, take_op
from warpreg.timing.core.port import placeholder, port, stands_for
from warpreg.timing.core.rows import number_of, op_index
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, OpRow, Pc, SmRow, WarpRow
from warpreg.timing.hooks import adapters


def plan_of_op(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> Plan:
    """A plan for a hook that is for an instruction under way."""
    access, load = c.rows[op, ops.RECORD], c.rows[op, ops.SEQUENCE]
    number = number_of(c, c.rows[op, ops.WARP])
    adapters.see_widths(c, d, op)
    return adapters.plan_of(c, d, sm, number, c.rows[op, ops.PC], c.rows[op, ops.MASK], access, load, now)


# An instruction issues.


@placeholder
def issued(state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.issued, when.hook("issued"))
def call_issued(c: Core, d: Any, sm: SmRow, warp: WarpRow, pc: Pc, op: OpRow, now: int) -> None:
    issued(d.state, d.program, number_of(c, warp), pc, plan_of_op(c, d, sm, op, now))
    adapters.await_lookups(c, op, adapters.settle(c, d, sm, now))


# Its sources are read.


@placeholder
def collected(state: Any, program: Any, warp: int, pc: int, operand: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.collected, when.hook("collected"))
def call_collected(c: Core, d: Any, sm: SmRow, op: OpRow, k: int, now: int) -> None:
    """The k-th source and those that come with it, in operand order."""
    if is_alone(c, op):
        _tell_collected(c, d, sm, op, k, now)
        return
    for other in range(_sources(c, op)):
        if other == k or _comes_with(c, d, op, other, k):
            _tell_collected(c, d, sm, op, other, now)


@port("merged sources")
def is_alone(c: Core, op: OpRow) -> bool:
    """Whether no source of an instruction comes with another one: each is another register."""
    return names_each_once(c, c.rows[op, ops.PC])


def names_each_once(c: Core, pc: Pc) -> bool:
    """Whether each source of an instruction is another register."""
    sources = c.code[pc, code.ALL_READS_END] - c.code[pc, code.ALL_READS]
    return sources == c.code[pc, code.READS_END] - c.code[pc, code.READS]


@stands_for(ports.collected_at_once, when.hook("collected"))
def call_collected_at_once(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    for k in range(_sources(c, op)):
        _tell_collected(c, d, sm, op, k, now)


@stands_for(ports.served_elsewhere, when.hook("collected"))
def call_served_elsewhere(c: Core, d: Any, sm: SmRow, op: OpRow, k: int, word: int, now: int) -> None:
    """Present ``-1 - word`` cycles on; one that is merged comes with its partner."""
    if merged_with(c, op, k) != NONE:
        return
    if word == -1:
        call_collected(c, d, sm, op, k, now)
        return
    if c.clock[clock.FREE_OPS] < 2:
        c.clock[clock.OVERFLOW] = 1
        return
    entry = take_op(c, sm, c.rows[op, ops.WARP], ops.PRESENT)
    c.rows[entry, ops.LATE] = op
    c.rows[entry, ops.CURSOR] = k
    schedule(c, sm, entry, now - 1 - word, now)


@stands_for(ports.is_present, when.hook("collected"))
def is_present(c: Core, entry: OpRow) -> bool:
    return c.rows[entry, ops.PC] == ops.PRESENT


@stands_for(ports.present, when.hook("collected"))
def present(c: Core, d: Any, sm: SmRow, entry: OpRow, now: int) -> None:
    op, k = c.rows[entry, ops.LATE], c.rows[entry, ops.CURSOR]
    give_op(c, entry)
    call_collected(c, d, sm, op, k, now)


def _tell_collected(c: Core, d: Any, sm: SmRow, op: OpRow, k: int, now: int) -> None:
    number, pc = number_of(c, c.rows[op, ops.WARP]), c.rows[op, ops.PC]
    operand = d.program.source_start[pc] + k
    collected(d.state, d.program, number, pc, operand, plan_of_op(c, d, sm, op, now))
    adapters.settle(c, d, sm, now)


def _sources(c: Core, op: OpRow) -> int:
    pc = c.rows[op, ops.PC]
    return c.code[pc, code.ALL_READS_END] - c.code[pc, code.ALL_READS]


def _comes_with(c: Core, d: Any, op: OpRow, k: int, granted: int) -> bool:
    """Whether a source is merged with a granted one, or with the same word, or is the same word."""
    partner = merged_with(c, op, k)
    if partner == granted:
        return True
    if partner != NONE:
        k = partner
    first = c.code[c.rows[op, ops.PC], code.ALL_READS]
    if c.lists[first + k, 0] != c.lists[first + granted, 0]:
        return False
    warp = c.rows[op, ops.WARP]
    own = ports.source_word(c, d, warp, op, k, first + k)
    other = ports.source_word(c, d, warp, op, granted, first + granted)
    return own >= 0 and other >= 0 and own & operand_word.SAYS_BANK == other & operand_word.SAYS_BANK


@port("merged sources")
def merged_with(c: Core, op: OpRow, k: int) -> int:
    """The source that the k-th one arrives with, NONE without."""
    return NONE


# The same where a plan may merge sources.


@stands_for(adapters.note_sources, when.MAY_MERGE)
def note_alone(c: Core, op: OpRow, pc: Pc, least: int) -> None:
    c.rows[op, ops.ALONE] = names_each_once(c, pc) and least > operand_word.MERGED_WITH


@stands_for(is_alone, when.MAY_MERGE)
def is_planned_alone(c: Core, op: OpRow) -> bool:
    return c.rows[op, ops.ALONE] != 0


@stands_for(merged_with, when.MAY_MERGE)
def planned_merged_with(c: Core, op: OpRow, k: int) -> int:
    word = c.rows[op, c.machine[machine.OP_READS] + k]
    return operand_word.MERGED_WITH - word if word <= operand_word.MERGED_WITH else NONE


@stands_for(adapters.merged_word, when.MAY_MERGE)
def merged_word(d: Any, k: int) -> int:
    while d.sources[k, MERGED] != UNSET:
        k = int(d.sources[k, MERGED])
    return operand_word.MERGED_WITH - k


@stands_for(adapters.kept_source, when.MAY_MERGE)
def kept_source(c: Core, op: OpRow, k: int) -> int:
    word = c.rows[op, c.machine[machine.OP_READS] + k]
    return word if word > operand_word.MERGED_WITH else -1


# Its results are there.


@placeholder
def produced(state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.produced, when.hook("produced") & ~when.TOLD_ONLY)
def call_produced(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> int:
    pc = c.rows[op, ops.PC]
    count = d.program.result_start[pc + 1] - d.program.result_start[pc]
    if count == 0:
        return 0
    warp = c.rows[op, ops.WARP]
    d.queued[POSTPONED] = 0
    plan = recalling(plan_of_op(c, d, sm, op, now))
    recall_results(c, d, op, count)
    produced(d.state, d.program, number_of(c, warp), pc, plan)
    adapters.settle(c, d, sm, now)
    adapters.note_results(c, d, warp, pc, op)
    return int(d.queued[POSTPONED])


@stands_for(ports.is_postponed, when.hook("produced"))
def is_postponed(c: Core, op: OpRow) -> bool:
    return c.rows[op, ops.POSTPONED] == NONE


@port("results that are planned twice")
def recalling(plan: Plan) -> Plan:
    """The plan for ``produced``."""
    return plan


@port("results that are planned twice")
def recall_results(c: Core, d: Any, op: OpRow, count: int) -> None:
    """What has been planned of the first results: nothing."""
    forget_results(d.results, count, adapters.planned_columns())


# The same behind ``plan_write``: what that has planned stays, or ``produced`` may take it back.


@stands_for(ports.produced, when.TOLD_ONLY)
def tell_produced(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> int:
    pc = c.rows[op, ops.PC]
    if d.program.result_start[pc] == d.program.result_start[pc + 1]:
        return 0
    d.queued[POSTPONED] = 0
    produced(d.state, d.program, number_of(c, c.rows[op, ops.WARP]), pc, plan_of_op(c, d, sm, op, now))
    adapters.settle(c, d, sm, now)
    return int(d.queued[POSTPONED])


@stands_for(adapters.keeping, when.PLANS_TWICE)
def keeping_planned(plan: Plan) -> Plan:
    return recalling_plan(plan, KEEPS)


@stands_for(recalling, when.PLANS_TWICE)
def recalling_planned(plan: Plan) -> Plan:
    return recalling_plan(plan, RECALLS)


@stands_for(adapters.keep_results, when.PLANS_TWICE)
def keep_planned(c: Core, d: Any, op: OpRow, count: int) -> None:
    row = op_index(c, op)
    for k in range(count):
        for place in range(d.results.shape[1]):
            for column in range(d.results.shape[2]):
                d.kept[row, k, place, column] = d.results[k, place, column]


@stands_for(recall_results, when.PLANS_TWICE)
def recall_planned(c: Core, d: Any, op: OpRow, count: int) -> None:
    row = op_index(c, op)
    for k in range(count):
        for place in range(d.results.shape[1]):
            for column in range(d.results.shape[2]):
                d.results[k, place, column] = d.kept[row, k, place, column]
