"""Plans: hooks state through them which level serves each operand, what moves between levels, and which tokens wake.

Hooks fill a plan through the functions of `warpreg.designs.interface.plan_functions`; this module has the record.

A core has one blank :class:`Plan` (:func:`blank_plan`) and derives a plan from it for each call.  Every core keeps the
counts (``accesses``, ``spared``, ``moves``, ``events``, ``tables``).  If ``detailed`` is 1, it also keeps the details:
where and when an operand is accessed.  A core that passes a literal 0 compiles no code for them; nor does one with
``slices`` 1 for slices.  A detailed core sets the columns of ``sources`` to UNSET before ``plan_reads``, and those of
``results`` before ``plan_write``; after the call, an operand without a LEVEL is not accessed.  It resets ``queued``
after it has read the queued rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.records import replacing

PRIVATE, SHARED = 0, 1
READ, WRITE = 0, 1
UNSET = -1
"""Column of the details that is not set: the core's default applies; as a LEVEL: no access."""
GO = -1
"""Return value of ``admit`` that lets an instruction issue; any other value is a token to wait for, 0 or more."""
AFTER = -(1 << 32)
"""``admit`` returns AFTER - n to refuse an instruction for n cycles."""
STAY = -(1 << 42)
"""``admit`` returns STAY - token to let a warp wait for a token without leaving the active set."""
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
"""Columns of an extra access of the MRF, or of a transfer: READ, WRITE, or `warpreg.designs.interface.paths.TRANSFER`
plus the path.
"""
ASKED_TABLE, ASKED_INDEX, ASKED_ACTION = range(3)
"""Columns of an access of a table; the action is LOOKUPS or UPDATES."""
LOOKUPS, UPDATES, CONFLICTS = range(3)
"""Columns of ``tables``; CONFLICTS: accesses that waited for a port."""
COMPLETED_LOAD, COMPLETED_CYCLES = range(2)
"""Columns of a held load that a hook completes."""
SENT_WAY, SENT_WARP, SENT_REGISTER, SENT_LINE, SENT_SECTORS, SENT_PATH = range(6)
"""Columns of an access to memory of the design's own; the way is SPILLED or FETCHED, the line one of its SM."""
SPILLED, FETCHED = range(2)
"""Rows of ``traffic``."""
ACCESSES, BYTES = range(2)
"""Columns of ``traffic``."""
EXTRAS, WOKEN, ASKED, REFUSED, COMPLETED, SENT, POSTPONED, MISCHOSEN = range(8)
"""Index of ``queued``."""
LANES_AT, LANE_MASK = range(2)
"""Index of ``lane_at``."""
NOTHING_KEPT, KEEPS, RECALLS = range(3)
"""What `Plan.recall` says of results that two hooks plan."""
ALONE, FIRST, LATER, FIRST_READS = range(4)
"""Position of a design in a composition in which several designs plan operands; FIRST_READS: FIRST, in ``plan_reads``.

What the first design plans ``nowhere`` has CYCLES and no LEVEL (of results: ELSEWHERE), and later ones leave it alone.
"""
PLANNED, FIRST_OPERAND, PART, UNPLANNED_IN, UNPLANNED_PC, UNPLANNED_ROW, UNPLANNED_PART = range(7)
"""Index of ``planned``."""
MAX_REQUESTS = 256
"""Requests of a kind in one call of a hook, such as extra accesses or woken tokens: as many as a warp has registers."""
MAX_PLANNED = 32
"""Bits of PLANNED, a power of two; operands beyond share those of the first ones."""
PATH_COLUMNS = 9
"""Those of ``paths``, as `warpreg.designs.interface.paths` names them."""
NO_PATHS = np.zeros((0, PATH_COLUMNS), np.int64)
VALUE, SINCE, INTEGRAL = range(3)
"""Columns of a resource: its value, the cycle since which it has this value, and the sum over all earlier cycles."""


class Plan(NamedTuple):
    """The plan of one instruction or event; hooks fill it through the functions below.

    In a composition, the offsets ``first_...`` are those of the design's own indices.
    """

    accesses: NDArray[np.int64]
    """int64[levels * 4] with index ``(level * 2 + action) * 2 + datapath``."""
    spared: NDArray[np.int64]
    """With the index of ``accesses``: slices that accesses left out."""
    moves: NDArray[np.int64]
    """int64[levels, levels], from and to."""
    events: NDArray[np.int64]
    """int64[events]."""
    tables: NDArray[np.int64]
    """int64[tables, 3] with columns LOOKUPS, UPDATES, CONFLICTS."""
    traffic: NDArray[np.int64]
    """int64[2, 2]: accesses to memory of the design's own, rows SPILLED and FETCHED, columns ACCESSES and BYTES."""
    slices: int
    """Slices of a bank."""
    mask: int
    """Active lanes; in a replay, at the block's entry."""
    datapath: int
    """PRIVATE or SHARED."""
    base: int
    """Lane address of a memory instruction in bytes; 0 in hooks of other instructions."""
    stride: int
    """Distance of lane addresses in bytes; IRREGULAR if the lanes are not affine."""
    warp: int
    """The warp of the call."""
    sm: int
    """The SM of the call."""
    cycle: int
    """The clock."""
    load: int
    """Number of the instruction in the order of issue of its SM, -1 without one (`warpreg.designs.interface.loads`)."""
    detailed: int
    """Flag: details are kept."""
    recall: int
    """KEEPS in a design in which ``produced`` follows ``plan_write``: every core keeps ``results``; RECALLS in its
    ``produced``, where they hold what was planned at issue.
    """
    accounts: int
    """Whether the hook keeps an account of what it plans (`warpreg.designs.interface.accounts`)."""
    main: int
    """The levels that together are the main register file, a bit each; 1, the MRF, unless a core says more."""
    first_source: int
    """The source of row 0."""
    first_result: int
    """The result of row 0."""
    sources: NDArray[np.int32]
    """int32[operands, 7] with columns LEVEL, BANK, CYCLES, MERGED, SLICES, ROW, GRANTED; kept by every core if banks
    have slices.
    """
    results: NDArray[np.int32]
    """int32[operands, 2, 7] with the same columns."""
    extras: NDArray[np.int32]
    """int32[n, 4] with columns EXTRA_*."""
    woken: NDArray[np.int64]
    """int64[n] tokens."""
    asked: NDArray[np.int64]
    """int64[n, 3] accesses of tables with columns ASKED_*."""
    completed: NDArray[np.int64]
    """int64[n, 2] held loads with columns COMPLETED_*."""
    sent: NDArray[np.int64]
    """int64[n, 6] accesses to memory of the design's own with columns SENT_*."""
    queued: NDArray[np.int64]
    """int64[8]: numbers of rows of extras, woken, asked, completed and sent, which exceed n if more were requested so
    that the core can raise an error; a mask of slices that the banks do not have; the cycles by which the results of
    the instruction are postponed; and 1 plus a warp that ``choose`` may not choose.
    """
    planned: NDArray[np.int64]
    """int64[7].  Of the hook under way, a bit for each operand that it has planned (PLANNED), the operand of row 0
    (FIRST_OPERAND), and in a composition the place of its design among those that define the hook (PART).  Of the first
    operand that a hook has left unplanned: 1 and the number of the hook in `warpreg.designs.interface.hooks`
    (UNPLANNED_IN, 0 if there is none), pc, row and PART.
    """
    levels: NDArray[np.int64]
    """int64[sms, resources, 3] with columns VALUE, SINCE, INTEGRAL."""
    widths: NDArray[np.uint8]
    """uint8: the width of result row ``r`` is at ``width_at[0] + r``."""
    width_at: NDArray[np.int64]
    """A core for a design with widths sets it before it calls a hook for an instruction."""
    paths: NDArray[np.int64]
    """int64[paths, columns] as `warpreg.designs.interface.paths.path_rows` makes them."""
    lanes: NDArray[np.int64]
    """int64: addresses of the active lanes of an access that is not affine, from ``lane_at[LANES_AT]`` on."""
    lane_at: NDArray[np.int64]
    """``lane_at[LANE_MASK]`` names these lanes; a core for a design with lanes sets it before it calls a hook."""
    turn: int
    """If several designs plan operands, FIRST or LATER, else ALONE.  The rows of operands are then always kept: a later
    design places the operands of the register file and skips those that another level serves.
    """
    first_level: int
    first_event: int
    first_resource: int
    first_table: int
    first_path: int


ARRAYS = (
    "accesses", "spared", "moves", "events", "tables", "traffic", "sources", "results", "extras", "woken", "asked",
    "completed", "sent", "queued", "planned", "levels", "widths", "width_at", "paths", "lanes", "lane_at",
)  # fmt: skip
"""Fields that are equal in all plans of a core; the others are numbers."""

NUMBERS: Any = {name: 0 for name in Plan._fields if name not in ARRAYS} | {"slices": 1, "main": 1}
"""The numbers of a blank plan."""

COUNTED = ("accesses", "spared", "moves", "events", "tables", "traffic")
"""Those that only grow: counts."""

_of_instruction = replacing(*(name for name in Plan._fields if name not in ARRAYS))
_recalling = replacing("recall")
_accounting = replacing("accounts")
_of_part = replacing(
    "turn", "first_level", "first_event", "first_resource", "first_table", "first_path", "first_source", "first_result"
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
    paths: NDArray[np.int64] = NO_PATHS,
) -> Plan:
    """An empty plan for instructions of at most these numbers of source and result operands.

    One call may request up to ``queue`` extra accesses, tokens, accesses of tables, completed loads and accesses to
    memory each.
    """
    return Plan(
        accesses=np.zeros(levels * 4, np.int64),
        spared=np.zeros(levels * 4, np.int64),
        moves=np.zeros((levels, levels), np.int64),
        events=np.zeros(events, np.int64),
        tables=np.zeros((tables, 3), np.int64),
        traffic=np.zeros((2, 2), np.int64),
        sources=np.full((sources, OPERAND_COLUMNS), UNSET, np.int32),
        results=np.full((results, 2, OPERAND_COLUMNS), UNSET, np.int32),
        extras=np.zeros((queue, 4), np.int32),
        woken=np.zeros(queue, np.int64),
        asked=np.zeros((queue, 3), np.int64),
        completed=np.zeros((queue, 2), np.int64),
        sent=np.zeros((queue, 6), np.int64),
        queued=np.zeros(8, np.int64),
        planned=np.zeros(7, np.int64),
        levels=np.zeros((sms, resources, 3), np.int64),
        widths=np.zeros(0, np.uint8),
        width_at=np.zeros(1, np.int64),
        paths=paths,
        lanes=np.zeros(0, np.int64),
        lane_at=np.zeros(2, np.int64),
        **NUMBERS,
    )


def counting_plan(
    blank: Plan, slices: int, main: int, mask: int, datapath: int, warp: int, sm: int, first_source: int,
    first_result: int, accounts: int = 0,
) -> Plan:  # fmt: skip
    """The plan of a core that keeps only counts."""
    plan: Plan = _of_instruction(
        blank, slices, mask, datapath, 0, 0, warp, sm, 0, -1, 0, 0, accounts, main, first_source, first_result,
        0, 0, 0, 0, 0, 0,
    )  # fmt: skip
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
        blank, slices, mask, datapath, base, stride, warp, sm, cycle, load, 1, 0, 1, main, first_source, first_result,
        0, 0, 0, 0, 0, 0,
    )  # fmt: skip
    return plan


def recalling_plan(plan: Plan, recall: int) -> Plan:
    """The plan for a hook of a design in which ``produced`` follows ``plan_write``: KEEPS or RECALLS."""
    found: Plan = _recalling(plan, recall)
    return found


def accounting_plan(plan: Plan) -> Plan:
    """The plan for a hook that keeps an account of what it plans."""
    found: Plan = _accounting(plan, 1)
    return found


def plan_of_part(
    plan: Plan,
    turn: int,
    first_level: int,
    first_event: int,
    first_resource: int,
    first_table: int,
    first_path: int,
    first_source: int,
    first_result: int,
) -> Plan:
    """The view of the plan for one design of a composition."""
    part: Plan = _of_part(
        plan, turn, first_level, first_event, first_resource, first_table, first_path, first_source, first_result
    )
    return part


def forget(sources: NDArray[np.int32], operands: int, columns: int = GRANTED) -> None:
    """Set the first ``columns`` of the first rows of ``sources`` to UNSET: by default all but GRANTED, which is set
    before it is read.
    """
    for place in range(operands):
        row = sources[place]
        for column in range(columns):
            row[column] = UNSET


def forget_results(results: NDArray[np.int32], operands: int, columns: int = GRANTED) -> None:
    """The same for ``results``."""
    for place in range(operands):
        banked, elsewhere = results[place, IN_BANKS], results[place, ELSEWHERE]
        for column in range(columns):
            banked[column] = UNSET
        for column in range(columns):
            elsewhere[column] = UNSET


def forget_levels(sources: NDArray[np.int32], operands: int) -> None:
    """The same for a core that keeps only counts: no source has been planned."""
    for place in range(operands):
        sources[place, LEVEL] = UNSET
