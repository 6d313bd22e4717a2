"""What each argument of a plan function may be.

`ARGUMENTS` has a row for each function: by parameter the kind of the argument.  At a call the value goes through the
range and the guard of its kind, in the order of the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from piecewise_numba.fault_record import fault_record
from piecewise_numba.guards import fail, is_outside, require
from piecewise_numba.noinline import noinline
from warpreg.designs.checking import words
from warpreg.designs.checking.kinds import Kind
from warpreg.designs.interface.declaration import Declaration
from warpreg.designs.interface.own_memory import LINE_BYTES, MAX_LINE, REGISTERS
from warpreg.designs.interface.paths import LANES, MAX_PATHS
from warpreg.designs.interface.plan import UNSET

Guard = Callable[..., Any]
WHERE = {"bank": "bank", "cycles": "cycles", "slices": "slices", "row": "row"}
ARGUMENTS: Mapping[str, Mapping[str, str]] = {
    "read": {"operand": "source", "level": "source_level", "merged": "merged", **WHERE},
    "write": {"operand": "result", "level": "result_level", **WHERE},
    "is_served": {"operand": "own_source"},
    "nowhere": {"operand": "unplanned"},
    "move": {"plan": "queue", "source": "level", "target": "level", "register": "moved_register",
             "warp": "moved_warp", "amount": "moved"},
    "extra": {"plan": "queue", "level": "level", "action": "action", "register": "register", "warp": "warp", **WHERE},
    "transfer": {"plan": "transferring", "path": "path", "register": "transferred_register",
                 "warp": "transferred_warp", "bank": "bank"},
    "count": {"event": "event", "amount": "amount"},
    "level": {"resource": "resource", "value": "value"},
    "change": {"resource": "resource", "more": "value"},
    "wake": {"plan": "queue", "token": "token"},
    "after": {"cycles": "completed"},
    "postpone": {"cycles": "cycles"},
    "stay": {"token": "token"},
    "width": {"operand": "width"},
    "pattern": {"operand": "pattern"},
    "lookup": {"plan": "asking", "table": "table", "index": "entry"},
    "update": {"plan": "asking", "table": "table", "index": "entry"},
    "now": {},
    "is_timed": {},
    "this_load": {},
    "complete": {"plan": "queue", "load": "load", "cycles": "completed"},
    "lane_address": {"lane": "lane"},
    "spill": {"plan": "transferring", "register": "spilled", "warp": "transferred_warp", "line": "line",
              "offset": "offset", "bytes": "bytes"},
    "fetch": {"plan": "transferring", "register": "spilled", "warp": "transferred_warp", "line": "line",
              "offset": "offset", "bytes": "bytes"},
    "warps_of": {"scheduler": "scheduler"},
    "can_issue": {"warp": "own_warp"},
    "next_pc": {"warp": "own_warp"},
    "waits_for": {"warp": "own_warp"},
    "is_fetched": {"warp": "own_warp"},
    "age": {"warp": "own_warp"},
}  # fmt: skip
"""By plan function and parameter the kind of the argument."""
DEFAULTS: Mapping[str, Mapping[str, int]] = {
    "move": {"register": UNSET, "warp": UNSET, "amount": 1},
    "transfer": {"warp": UNSET},
    "spill": {"warp": UNSET},
    "fetch": {"warp": UNSET},
}
"""Arguments that are looked at although they are not given."""
PLACES = ("bank", "row")
"""Arguments that say where in the register file an operand is; without them it is where its register is."""

MAX_LEVELS = 62
MAX_CYCLES = 1 << 20
MAX_AMOUNT = 1 << 31
MAX_VALUE = 1 << 40
EVERYWHERE = -1
"""In place of the level of an operand: it is accessed nowhere."""
RECALLED = -1 - (1 << MAX_LEVELS)
"""In place of the level of a result in ``produced``: ``plan_write`` has planned it, and ``nowhere`` takes that back."""

TABLE, PATH, NO_WARP = int(Kind.TABLE), int(Kind.PATH), int(Kind.NO_WARP)
SOURCE, NO_SOURCE, RESULT, NO_RESULT = int(Kind.SOURCE), int(Kind.NO_SOURCE), int(Kind.RESULT), int(Kind.NO_RESULT)
TWICE, TWICE_THERE, MERGED, HELD = int(Kind.TWICE), int(Kind.TWICE_THERE), int(Kind.MERGED), int(Kind.HELD)
BANK, SLICES, ROW, REGISTER, WARP, WIDTH, NO_WIDTH = (
    int(Kind.BANK), int(Kind.SLICES), int(Kind.ROW), int(Kind.REGISTER), int(Kind.WARP), int(Kind.WIDTH),
    int(Kind.NO_WIDTH),
)  # fmt: skip
UNSEEN, OTHERS_WARP, OTHER_SM = int(Kind.UNSEEN), int(Kind.OTHERS_WARP), int(Kind.OTHER_SM)


def ranges_of(declared: Declaration) -> Mapping[str, tuple[Kind, int, int]]:
    """By kind of argument what a check looks at, and the least and the greatest value, as far as they are constant."""
    levels = Kind.LEVEL, 0, len(declared.levels) - 1
    return {
        "level": levels,
        "source_level": levels,
        "own_source_level": levels,
        "result_level": levels,
        "own_result_level": levels,
        "event": (Kind.EVENT, 0, len(declared.events) - 1),
        "resource": (Kind.RESOURCE, 0, len(declared.resources) - 1),
        "cycles": (Kind.CYCLES, UNSET, MAX_CYCLES),
        "amount": (Kind.AMOUNT, 0, MAX_AMOUNT),
        "moved": (Kind.AMOUNT, 0, MAX_AMOUNT),
        "value": (Kind.VALUE, -MAX_VALUE, MAX_VALUE),
        "token": (Kind.TOKEN, 0, MAX_VALUE),
        "action": (Kind.ACTION, 0, 1),
        "entry": (Kind.ENTRY, 0, MAX_AMOUNT),
        "load": (Kind.LOAD, 0, MAX_VALUE),
        "completed": (Kind.CYCLES, 1, MAX_CYCLES),
        "lane": (Kind.LANE, 0, 31),
        "spilled": (Kind.REGISTER, 0, REGISTERS - 1),
        "line": (Kind.LINE, UNSET, MAX_LINE),
        "offset": (Kind.OFFSET, 0, LINE_BYTES - 1),
        "bytes": (Kind.BYTES, 1, LINE_BYTES),
        "scheduler": (Kind.SCHEDULER, 0, MAX_VALUE),
    }


def source(site: int, operand: Any) -> Any:
    """A source of the instruction, which is planned for the first time."""
    _plan_once(site, own_source(site, operand) - fault_record()[words.FIRST_SOURCE], operand)
    return operand


def own_source(site: int, operand: Any) -> Any:
    """A source of the instruction."""
    record = fault_record()
    first, count = record[words.FIRST_SOURCE], record[words.SOURCES]
    if is_outside(operand - first, count):
        _no_operand(site, NO_SOURCE, SOURCE, operand, first, count)
    return operand


def result(site: int, operand: Any) -> Any:
    """A result of the instruction."""
    record = fault_record()
    row, count = operand - record[words.FIRST_RESULT], record[words.RESULTS]
    if is_outside(row, count):
        _no_operand(site, NO_RESULT, RESULT, operand, record[words.FIRST_RESULT], count)
    word, bit = words.PLANNED + (row >> 6), 1 << (row & 63)
    if record[word] & bit == 0:
        record[word] |= bit
        record[words.LEVELS + row] = 0
    record[words.OPERAND] = row
    return operand


def unplanned(site: int, operand: Any) -> Any:
    """A source or a result, whichever the hook plans, that is accessed nowhere."""
    record = fault_record()
    first, count = record[words.FIRST_SOURCE], record[words.SOURCES]
    if first < 0:
        first, count = record[words.FIRST_RESULT], record[words.RESULTS]
    row = operand - first
    if is_outside(row, count):
        _no_operand(site, NO_RESULT, RESULT, operand, first, count)
    if record[words.LEVELS + row] == RECALLED and record[words.PLANNED + (row >> 6)] >> (row & 63) & 1:
        record[words.LEVELS + row] = 0
        return operand
    _plan_once(site, row, operand)
    record[words.LEVELS + row] = EVERYWHERE
    return operand


def _plan_once(site: int, row: Any, operand: Any) -> None:
    record = fault_record()
    word, bit = words.PLANNED + (row >> 6), 1 << (row & 63)
    if record[word] & bit:
        fail(site, TWICE, operand, 0, 0)
    record[word] |= bit
    record[words.OPERAND] = row


@noinline
def _no_operand(site: int, none: int, other: int, operand: int, first: int, count: int) -> None:
    fail(site, none if first < 0 else other, operand, first, first + count - 1)


def merged(site: int, operand: Any) -> Any:
    """A source that was planned before, for the level of the one whose plan is under way."""
    if operand != UNSET:
        record = fault_record()
        first, count, own = record[words.FIRST_SOURCE], record[words.SOURCES], record[words.OPERAND]
        row = operand - first
        if is_outside(row, count):
            _no_operand(site, NO_SOURCE, SOURCE, operand, first, count)
        is_planned = record[words.PLANNED + (row >> 6)] & 1 << (row & 63) and row != own
        if not is_planned or record[words.LEVELS + row] != record[words.LEVELS + own]:
            fail(site, MERGED, operand, 0, 0)
    return operand


def width(site: int, operand: Any) -> Any:
    """A result of the instruction, whose width is asked for."""
    record = fault_record()
    first, count = record[words.FIRST_WIDTH], record[words.WIDTHS]
    if is_outside(operand - first, count):
        _no_operand(site, NO_WIDTH, WIDTH, operand, first, count)
    return operand


def pattern(site: int, operand: Any) -> Any:
    """A result of the instruction, whose pattern is asked for."""
    return width(site, operand)


def bank(site: int, given: Any) -> Any:
    """A bank of the machine."""
    return require(site, BANK, given, UNSET, fault_record()[words.BANKS] - 1)


def slices(site: int, given: Any) -> Any:
    """A mask of slices of a bank, at least one."""
    count = fault_record()[words.SLICES]
    if given != UNSET and (given < 1 or given >= 1 << count):
        fail(site, SLICES, given, 1, (1 << count) - 1)
    return given


def row(site: int, given: Any) -> Any:
    """A row of a bank."""
    return require(site, ROW, given, UNSET, fault_record()[words.ROWS] - 1)


def register(site: int, given: Any) -> Any:
    """A register of a warp."""
    return require(site, REGISTER, given, UNSET, fault_record()[words.REGISTERS] - 1)


def warp(site: int, given: Any) -> Any:
    """A warp slot of the SM of the call, as far as it is known how many an SM has."""
    record = fault_record()
    require(site, WARP, given, UNSET, record[words.WARPS] - 1)
    slots, sm = record[words.SLOTS], record[words.SM_OF_PLAN]
    if given != UNSET and slots != words.NO_LIMIT and given // slots != sm:
        fail(site, OTHER_SM, given, sm * slots, (sm + 1) * slots - 1)
    return given


def queue(site: int, plan: Any) -> Any:
    """The plan of a call that may queue an access or a token."""
    record = fault_record()
    record[words.QUEUING] = site
    record[words.SM_OF_PLAN] = plan.sm
    return plan


def asking(site: int, plan: Any) -> Any:
    """The plan of a call that asks a table of the design."""
    record = fault_record()
    record[words.QUEUING] = site
    record[words.TABLES] = plan.tables.shape[0] - plan.first_table
    return plan


def table(site: int, given: Any) -> Any:
    """A table of the design."""
    return require(site, TABLE, given, 0, fault_record()[words.TABLES] - 1)


def transferring(site: int, plan: Any) -> Any:
    """The plan of a call that starts a transfer."""
    record = fault_record()
    record[words.QUEUING] = site
    record[words.SM_OF_PLAN] = plan.sm
    record[words.WARP_OF_PLAN] = plan.warp
    record[words.PATHS] = 0
    for number in range(plan.first_path, min(plan.first_path + MAX_PATHS, plan.paths.shape[0])):
        record[words.PATHS] += plan.paths[number, LANES] > 0
    return plan


def path(site: int, given: Any) -> Any:
    """A path of the design."""
    return require(site, PATH, given, 0, fault_record()[words.PATHS] - 1)


def transferred_register(site: int, given: Any) -> Any:
    """The register of a transfer, which must be named."""
    return require(site, REGISTER, given, 0, fault_record()[words.REGISTERS] - 1)


def transferred_warp(site: int, given: Any) -> Any:
    """Its warp; a hook of an SM must name one."""
    if given == UNSET and fault_record()[words.WARP_OF_PLAN] < 0:
        fail(site, NO_WARP, given, 0, 0)
    return warp(site, given)


def source_level(site: int, level: Any) -> Any:
    """The level of the source whose plan is under way."""
    record = fault_record()
    record[words.LEVELS + record[words.OPERAND]] = 1 << level
    return level


def result_level(site: int, level: Any) -> Any:
    """One of the levels of a result."""
    record = fault_record()
    word = words.LEVELS + record[words.OPERAND]
    if record[word] >> level & 1:
        fail(site, TWICE_THERE, record[words.FIRST_RESULT] + record[words.OPERAND], 0, 0)
    record[word] |= 1 << level
    return level


def own_source_level(site: int, level: Any) -> Any:
    """The level of a source whose place in the register file is its register's."""
    if level == 0:
        _own_place(site)
    return source_level(site, level)


def level_alone(site: int, level: Any) -> Any:
    """The level of a source in a design that merges none."""
    return level


def own_level_alone(site: int, level: Any) -> Any:
    """The same where the place is the register's."""
    if level == 0:
        _own_place(site)
    return level


def own_result_level(site: int, level: Any) -> Any:
    """The same of a result."""
    if level == 0:
        _own_place(site)
    return result_level(site, level)


def guards_of_main(main: int) -> Mapping[str, Guard]:
    """The guards of places that are the register's, where ``main`` names several levels of the main register file."""

    def own_main_source(site: int, level: Any) -> Any:
        if main >> level & 1:
            _own_place(site)
        return source_level(site, level)

    def own_main_result(site: int, level: Any) -> Any:
        if main >> level & 1:
            _own_place(site)
        return result_level(site, level)

    return {"own_source_level": own_main_source, "own_result_level": own_main_result}


def _own_place(site: int) -> None:
    """The register is one that the warp holds."""
    record = fault_record()
    if record[words.IS_SHORT]:
        _held(site)


@noinline
def _held(site: int) -> None:
    record = fault_record()
    register = record[words.REGISTER_OF + record[words.OPERAND]]
    if register >= record[words.REGISTERS]:
        fail(site, HELD, register, 0, record[words.REGISTERS] - 1)


def moved_register(site: int, given: Any) -> Any:
    """The register of a move, which nobody looks at where nothing is moved."""
    fault_record()[words.REGISTER] = given
    return given


def moved_warp(site: int, given: Any) -> Any:
    """Its warp."""
    fault_record()[words.OTHER_WARP] = given
    return given


def moved(site: int, amount: Any) -> Any:
    """How much is moved, now that register and warp are known."""
    if amount != 0:
        record = fault_record()
        require(site, REGISTER, record[words.REGISTER], UNSET, record[words.REGISTERS] - 1)
        warp(site, record[words.OTHER_WARP])
    return amount


def own_warp(site: int, given: Any) -> Any:
    """A warp of the scheduler that the hook is called for."""
    record = fault_record()
    first = record[words.FIRST_WARP]
    if first < 0:
        fail(site, UNSEEN, given, 0, 0)
    if given < first or given >= record[words.END_WARP] or (given - first) % record[words.WARP_STEP] != 0:
        fail(site, OTHERS_WARP, given, 0, 0)
    return given


GUARDS: Mapping[str, Guard] = {
    guard.__name__: guard
    for guard in (
        source, own_source, result, unplanned, merged, source_level, result_level, own_source_level, own_result_level,
        bank, slices, row, register, warp, width, pattern, asking, table, moved_register, moved_warp, moved, queue,
        transferring, path, transferred_register, transferred_warp, own_warp,
    )
}  # fmt: skip
"""By kind of argument what else is to be done with it."""
