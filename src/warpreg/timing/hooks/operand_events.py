"""What the core calls where a design wants to know what happens to an instruction and its operands, and when.

Like `warpreg.timing.hooks.adapters`.  Of a source that is merged with another one the operand word says which, so that
``collected`` is called for both at the same time; what ``plan_write`` has said of results is kept in ``d.kept`` until
``produced`` may add to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any

from piecewise_numba.natives import Function
from warpreg.designs.interface.accounts import plans_results
from warpreg.designs.interface.plan import KEEPS, MERGED, RECALLS, UNSET, Plan, forget_results, recalling_plan
from warpreg.timing.core import operand_word, ports
from warpreg.timing.core.columns import clock, code, machine, ops
from warpreg.timing.core.columns.typed import NONE, OpRow, Pc, SmRow, WarpRow
from warpreg.timing.core.inflight import give_op, schedule, take_op
from warpreg.timing.core.rows import number_of, op_index
from warpreg.timing.core.state import Core
from warpreg.timing.hooks import adapters


def plan_of_op(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> Plan:
    """A plan for a hook that is for an instruction under way."""
    access, load = c.rows[op, ops.RECORD], c.rows[op, ops.SEQUENCE]
    number = number_of(c, c.rows[op, ops.WARP])
    adapters.see_widths(c, d, op)
    return adapters.plan_of(c, d, sm, number, c.rows[op, ops.PC], c.rows[op, ops.MASK], access, load, now)


# An instruction issues.


def issued(state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


def call_issued(c: Core, d: Any, sm: SmRow, warp: WarpRow, pc: Pc, op: OpRow, now: int) -> None:
    issued(d.state, d.program, number_of(c, warp), pc, plan_of_op(c, d, sm, op, now))
    adapters.await_lookups(c, op, adapters.settle(c, d, sm, now))


# Its sources are read.


def collected(state: Any, program: Any, warp: int, pc: int, operand: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


def call_collected(c: Core, d: Any, sm: SmRow, op: OpRow, k: int, now: int) -> None:
    """The k-th source and those that come with it, in operand order."""
    if is_alone(c, op):
        _tell_collected(c, d, sm, op, k, now)
        return
    for other in range(_sources(c, op)):
        if other == k or _comes_with(c, d, op, other, k):
            _tell_collected(c, d, sm, op, other, now)


def is_alone(c: Core, op: OpRow) -> bool:
    """Whether no source of an instruction comes with another one: each is another register."""
    return names_each_once(c, c.rows[op, ops.PC])


def names_each_once(c: Core, pc: Pc) -> bool:
    """Whether each source of an instruction is another register."""
    sources = c.code[pc, code.ALL_READS_END] - c.code[pc, code.ALL_READS]
    return sources == c.code[pc, code.READS_END] - c.code[pc, code.READS]


def call_collected_at_once(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    for k in range(_sources(c, op)):
        _tell_collected(c, d, sm, op, k, now)


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


def is_present(c: Core, entry: OpRow) -> bool:
    return c.rows[entry, ops.PC] == ops.PRESENT


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


def merged_with(c: Core, op: OpRow, k: int) -> int:
    """The source that the k-th one arrives with, NONE without."""
    return NONE


# The same where a plan may merge sources.


def note_alone(c: Core, op: OpRow, pc: Pc, least: int) -> None:
    c.rows[op, ops.ALONE] = names_each_once(c, pc) and least > operand_word.MERGED_WITH


def is_planned_alone(c: Core, op: OpRow) -> bool:
    return c.rows[op, ops.ALONE] != 0


def planned_merged_with(c: Core, op: OpRow, k: int) -> int:
    word = c.rows[op, c.machine[machine.OP_READS] + k]
    return operand_word.MERGED_WITH - word if word <= operand_word.MERGED_WITH else NONE


def merged_word(d: Any, k: int) -> int:
    while d.sources[k, MERGED] != UNSET:
        k = int(d.sources[k, MERGED])
    return operand_word.MERGED_WITH - k


def kept_source(c: Core, op: OpRow, k: int) -> int:
    word = c.rows[op, c.machine[machine.OP_READS] + k]
    return word if word > operand_word.MERGED_WITH else -1


# Its results are there.


def produced(state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


def call_produced(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    pc = c.rows[op, ops.PC]
    count = d.program.result_start[pc + 1] - d.program.result_start[pc]
    if count == 0:
        return
    warp = c.rows[op, ops.WARP]
    plan = recalling(plan_of_op(c, d, sm, op, now))
    recall_results(c, d, op, count)
    produced(d.state, d.program, number_of(c, warp), pc, plan)
    adapters.settle(c, d, sm, now)
    adapters.note_results(c, d, warp, pc, op)


def recalling(plan: Plan) -> Plan:
    """The plan for ``produced``."""
    return plan


def recall_results(c: Core, d: Any, op: OpRow, count: int) -> None:
    """What has been planned of the first results: nothing."""
    forget_results(d.results, count)


# The same behind ``plan_write``: what that has planned stays, or ``produced`` may take it back.


def tell_produced(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    pc = c.rows[op, ops.PC]
    if d.program.result_start[pc] == d.program.result_start[pc + 1]:
        return
    produced(d.state, d.program, number_of(c, c.rows[op, ops.WARP]), pc, plan_of_op(c, d, sm, op, now))
    adapters.settle(c, d, sm, now)


def keeping_planned(plan: Plan) -> Plan:
    return recalling_plan(plan, KEEPS)


def recalling_planned(plan: Plan) -> Plan:
    return recalling_plan(plan, RECALLS)


def keep_planned(c: Core, d: Any, op: OpRow, count: int) -> None:
    row = op_index(c, op)
    for k in range(count):
        for place in range(d.results.shape[1]):
            for column in range(d.results.shape[2]):
                d.kept[row, k, place, column] = d.results[k, place, column]


def recall_planned(c: Core, d: Any, op: OpRow, count: int) -> None:
    row = op_index(c, op)
    for k in range(count):
        for place in range(d.results.shape[1]):
            for column in range(d.results.shape[2]):
                d.results[k, place, column] = d.kept[row, k, place, column]


HOOKED: Mapping[str, Mapping[Function, Function]] = {
    "issued": {ports.issued: call_issued},
    "collected": {
        ports.collected: call_collected,
        ports.collected_at_once: call_collected_at_once,
        ports.served_elsewhere: call_served_elsewhere,
        ports.is_present: is_present,
        ports.present: present,
        ports.first_read: adapters.first_read,
        ports.end_of_reads: adapters.end_of_reads,
        ports.same_word: adapters.same_word,
    },
    "produced": {ports.produced: call_produced, **adapters.PLANNED_RESULTS},
}
"""By hook, what takes the place of what in the core where a design defines it."""
TOGETHER: Mapping[frozenset[str], Mapping[Function, Function]] = {
    frozenset({"plan_reads", "collected"}): {
        is_alone: is_planned_alone,
        merged_with: planned_merged_with,
        adapters.merged_word: merged_word,
        adapters.kept_source: kept_source,
        adapters.note_sources: note_alone,
    },
}
"""What besides, where it defines several."""
PLANNED_LATE: Mapping[Function, Function] = {
    adapters.keeping: keeping_planned,
    adapters.keep_results: keep_planned,
    recalling: recalling_planned,
    recall_results: recall_planned,
}
"""What besides, where ``produced`` may change what ``plan_write`` has planned."""
TOLD: Mapping[Function, Function] = {ports.produced: tell_produced}
"""What instead, where it does not plan."""


def behind_plan_write(hooks: Mapping[str, FunctionType]) -> Mapping[Function, Function]:
    """What takes the place of what where a design defines ``produced`` behind ``plan_write``."""
    if not hooks.keys() >= {"plan_write", "produced"}:
        return {}
    return PLANNED_LATE if plans_results(hooks["produced"]) else TOLD
