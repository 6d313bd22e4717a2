"""What is checked before and after a hook: for whom it is called, what it may plan, and what it left behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from piecewise_numba.fault_record import fault_record
from piecewise_numba.guards import fail, plain, require
from piecewise_numba.natives import Function
from piecewise_numba.noinline import noinline
from warpreg.designs.checking import words
from warpreg.designs.checking.kinds import Kind
from warpreg.designs.checking.ranges import MAX_CYCLES, MAX_VALUE, RECALLED, own_warp
from warpreg.designs.interface.hooks import HOOKS
from warpreg.designs.interface.loads import HELD
from warpreg.designs.interface.plan import AFTER, ASKED, COMPLETED, EXTRAS, SENT, STAY, WOKEN
from warpreg.designs.interface.turns import CAN_ISSUE, NOBODY, warps_of

PLANS_SOURCES: Mapping[str, bool] = {"plan_reads": True, "plan_write": False, "produced": False}
"""Hooks that plan operands: sources, or results."""
KNOWS_WIDTHS = ("admit", "plan_write", "issued", "collected", "produced", "arrived")
"""Hooks in which functions for values may be called."""
OF_VALUES = {"width": "widths", "pattern": "patterns"}
"""The functions, and what a design declares that calls them."""
ANSWERS: Mapping[str, tuple[int, int]] = {
    "admit": (-1, MAX_VALUE),
    "load_lookup": (HELD, MAX_CYCLES),
    "priority": (-MAX_VALUE, MAX_VALUE),
    "owner": (-1, MAX_VALUE),
}
"""The least and the greatest answer of a hook."""
QUEUING = ("move", "extra", "transfer", "wake", "lookup", "update", "complete", "spill", "fetch")
LOOPS = ("turn", "bounded")
"""Guards of loops."""

FORGOTTEN_SOURCE, FORGOTTEN_RESULT = int(Kind.FORGOTTEN_SOURCE), int(Kind.FORGOTTEN_RESULT)
ANSWER, QUEUE, MANY, CANNOT_ISSUE = int(Kind.ANSWER), int(Kind.QUEUE), int(Kind.MANY), int(Kind.CANNOT_ISSUE)
FULL = words.KEPT_BITS


@dataclass(frozen=True)
class Way:
    """How a hook is checked: its ``caller`` word and its site; the plan functions, their arguments and the guards that
    its design uses; whether results are planned in two hooks.
    """

    caller: int
    site: int
    uses: frozenset[str]
    in_two_hooks: bool


def around(name: str, hook: Function, way: Way) -> Function:
    """A hook with what is checked before and after it."""
    parameters, caller = HOOKS[name].parameters, way.caller
    may_queue = "plan" in parameters and not way.uses.isdisjoint(QUEUING)
    finish = _end if may_queue else _end_nothing
    if "scheduler" in parameters:
        return _of_turn(name, hook, way, finish)
    asks = not way.uses.isdisjoint(OF_VALUES)
    widths = _nothing if not asks else _know_widths if name in KNOWS_WIDTHS else _know_no_widths
    if name in PLANS_SOURCES:
        return _planning(name, hook, way, finish, widths)
    begin = _begin_instruction if "pc" in parameters else _begin_warp if "warp" in parameters else _begin_sm
    if name not in ANSWERS:

        def happens(state: Any, program: Any, *rest: Any) -> None:
            begin(plain(caller), rest)
            widths(program, rest)
            hook(state, program, *rest)
            finish(rest[-1])

        return happens
    low, high = ANSWERS[name]
    latest = AFTER - MAX_CYCLES if name == "admit" else AFTER
    farthest = STAY - MAX_VALUE if name == "admit" else STAY + 1
    site = way.site

    def answers(state: Any, program: Any, *rest: Any) -> Any:
        begin(plain(caller), rest)
        widths(program, rest)
        answer = hook(state, program, *rest)
        finish(rest[-1])
        if (answer < low and not latest <= answer < AFTER and not farthest <= answer <= STAY) or answer > high:
            fail(site, ANSWER, answer, low, high)
        return answer

    return answers


def _of_turn(name: str, hook: Function, way: Way, finish: Function) -> Function:
    """A hook that is called for a scheduler."""
    caller, site = way.caller, way.site

    def turns(state: Any, program: Any, scheduler: int, plan: Any) -> None:
        _begin_turn(plain(caller), program, scheduler)
        hook(state, program, scheduler, plan)
        fault_record()[words.FIRST_WARP] = words.NOT_PLANNED
        finish(plan)

    def chooses(state: Any, program: Any, scheduler: int, plan: Any) -> Any:
        _begin_turn(plain(caller), program, scheduler)
        chosen = hook(state, program, scheduler, plan)
        if chosen != NOBODY and program.seen[own_warp(site, chosen), CAN_ISSUE] == 0:
            fail(site, CANNOT_ISSUE, chosen, 0, 0)
        fault_record()[words.FIRST_WARP] = words.NOT_PLANNED
        finish(plan)
        return chosen

    return chooses if HOOKS[name].returns_int else turns


def _begin_turn(caller: int, program: Any, scheduler: int) -> None:
    record = fault_record()
    record[words.CALLER] = caller
    record[words.SCHEDULER] = scheduler
    record[words.TURNS] = 0
    warps = warps_of(program, scheduler)
    record[words.FIRST_WARP] = warps.start
    record[words.END_WARP] = warps.stop
    record[words.WARP_STEP] = warps.step


def _planning(name: str, hook: Function, way: Way, finish: Function, widths: Function) -> Function:
    """A hook that plans the sources or the results of an instruction."""
    is_reading, caller, site = PLANS_SOURCES[name], way.caller, way.site
    first_word = words.FIRST_SOURCE if is_reading else words.FIRST_RESULT
    count_word = words.SOURCES if is_reading else words.RESULTS
    recalls, keeps = (way.in_two_hooks and name == one for one in ("produced", "plan_write"))
    has_loops = not way.uses.isdisjoint(LOOPS)
    take_up = _recall if recalls else _start
    leave = _keep if keeps else _look_for_known if recalls else _look_for_forgotten

    def plans(state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
        first, count = _first_and_count(program, pc, is_reading)
        record = fault_record()
        record[words.CALLER] = caller
        record[words.WARP] = warp
        record[words.PC] = pc
        if has_loops:
            record[words.TURNS] = 0
        record[first_word] = first
        record[count_word] = count
        if count > record[words.FEW]:
            _prepare(site, program, first, count, is_reading)
        take_up(warp, pc, count)
        widths(program, (warp, pc))
        hook(state, program, warp, pc, plan)
        if count > FULL or record[words.PLANNED] != (1 << count) - 1 or keeps:
            leave(site, is_reading, first, count, warp, pc)
        record[first_word] = words.NOT_PLANNED
        record[count_word] = 0
        finish(plan)

    return plans


def _first_and_count(program: Any, pc: int, is_reading: bool) -> Any:
    if is_reading:
        return program.source_start[pc], program.source_start[pc + 1] - program.source_start[pc]
    return program.result_start[pc], program.result_start[pc + 1] - program.result_start[pc]


def _start(warp: int, pc: int, count: int) -> None:
    """Nothing is planned yet."""
    fault_record()[words.PLANNED] = 0


def _place(warp: int, pc: int) -> int:
    return words.UNDER_WAY + 2 * ((warp * 67 + pc) % words.PLACES)


def _name(warp: int, pc: int) -> int:
    return (warp + 1) << 32 | pc


@noinline
def _keep(site: int, is_reading: bool, first: int, count: int, warp: int, pc: int) -> None:
    """What is planned at issue is looked at again when the results are produced."""
    record, place = fault_record(), _place(warp, pc)
    record[place] = _name(warp, pc) if count <= FULL else 0
    record[place + 1] = record[words.PLANNED]


@noinline
def _recall(warp: int, pc: int, count: int) -> None:
    """What was planned at issue."""
    record, place = fault_record(), _place(warp, pc)
    record[words.PLANNED] = 0
    if record[place] == _name(warp, pc) and count <= FULL:
        record[words.PLANNED] = record[place + 1]
        for row in range(count):
            record[words.LEVELS + row] = RECALLED


@noinline
def _look_for_known(site: int, is_reading: bool, first: int, count: int, warp: int, pc: int) -> None:
    """Find a result that neither hook has planned, where the other one's are still known."""
    if fault_record()[_place(warp, pc)] == _name(warp, pc):
        _look_for_forgotten(site, is_reading, first, count, warp, pc)


@noinline
def _look_for_forgotten(site: int, is_reading: bool, first: int, count: int, warp: int, pc: int) -> None:
    """Find an operand that was not planned."""
    record = fault_record()
    for row in range(count):
        if record[words.PLANNED + (row >> 6)] >> (row & 63) & 1 == 0:
            fail(site, FORGOTTEN_SOURCE if is_reading else FORGOTTEN_RESULT, first + row, first, first + count - 1)


@noinline
def _prepare(site: int, program: Any, first: int, count: int, is_reading: bool) -> None:
    """What few instructions need: room for many operands, and their registers."""
    require(site, MANY, count, 0, words.MAX_OPERANDS)
    record = fault_record()
    for word in range((count >> 6) + 1):
        record[words.PLANNED + word] = 0
    for row in range(count):
        register = program.source[first + row] if is_reading else program.result[first + row]
        record[words.REGISTER_OF + row] = register


def _begin_instruction(caller: int, rest: Any) -> None:
    _begin_warp(caller, rest)
    fault_record()[words.PC] = rest[1]


def _begin_warp(caller: int, rest: Any) -> None:
    record = fault_record()
    record[words.CALLER] = caller
    record[words.WARP] = rest[0]
    record[words.TURNS] = 0


def _begin_sm(caller: int, rest: Any) -> None:
    record = fault_record()
    record[words.CALLER] = caller
    record[words.SM] = rest[0]
    record[words.TURNS] = 0


def _know_widths(program: Any, rest: Any) -> None:
    """The hook may ask for the widths of the results of its instruction."""
    record, pc = fault_record(), rest[1]
    record[words.FIRST_WIDTH] = program.result_start[pc]
    record[words.WIDTHS] = program.result_start[pc + 1] - program.result_start[pc]


def _know_no_widths(program: Any, rest: Any) -> None:
    """The hook may not ask for widths."""
    record = fault_record()
    record[words.FIRST_WIDTH] = words.NOT_PLANNED
    record[words.WIDTHS] = 0


def _nothing(program: Any, rest: Any) -> None:
    """Nobody asks for widths."""


def _end(plan: Any) -> None:
    """A hook that may queue something is done."""
    if plan.detailed or plan.extras.shape[0] > 0:
        _fits(plan.queued[EXTRAS], plan.extras.shape[0])
    if plan.detailed:
        _fits(plan.queued[WOKEN], plan.woken.size)
        _fits(plan.queued[ASKED], plan.asked.shape[0])
        _fits(plan.queued[COMPLETED], plan.completed.shape[0])
        _fits(plan.queued[SENT], plan.sent.shape[0])


def _fits(queued: int, room: int) -> None:
    """What one call queues fits."""
    if queued > room:
        fail(fault_record()[words.QUEUING], QUEUE, queued, 0, room)


def _end_nothing(plan: Any) -> None:
    """A hook that queues nothing is done."""
