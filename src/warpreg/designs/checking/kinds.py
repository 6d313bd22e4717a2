"""What can be wrong, and how it is said."""

from __future__ import annotations

import enum


class Kind(enum.IntEnum):
    """What a check looks at; the value of a member is what the record holds."""

    INDEX = 1
    DIVISOR = enum.auto()
    SHIFT = enum.auto()
    LOOP = enum.auto()
    SOURCE = enum.auto()
    RESULT = enum.auto()
    NO_SOURCE = enum.auto()
    NO_RESULT = enum.auto()
    TWICE = enum.auto()
    TWICE_THERE = enum.auto()
    FORGOTTEN_SOURCE = enum.auto()
    FORGOTTEN_RESULT = enum.auto()
    LEVEL = enum.auto()
    MERGED = enum.auto()
    BANK = enum.auto()
    SLICES = enum.auto()
    ROW = enum.auto()
    CYCLES = enum.auto()
    EVENT = enum.auto()
    RESOURCE = enum.auto()
    TABLE = enum.auto()
    TOKEN = enum.auto()
    ACTION = enum.auto()
    REGISTER = enum.auto()
    HELD = enum.auto()
    WARP = enum.auto()
    AMOUNT = enum.auto()
    VALUE = enum.auto()
    ENTRY = enum.auto()
    QUEUE = enum.auto()
    ANSWER = enum.auto()
    MANY = enum.auto()
    WIDTH = enum.auto()
    NO_WIDTH = enum.auto()
    LOAD = enum.auto()
    LANE = enum.auto()
    LINE = enum.auto()
    OFFSET = enum.auto()
    BYTES = enum.auto()
    PATH = enum.auto()
    NO_WARP = enum.auto()
    SCHEDULER = enum.auto()
    UNSEEN = enum.auto()
    OTHERS_WARP = enum.auto()
    CANNOT_ISSUE = enum.auto()
    OTHER_SM = enum.auto()


OUTSIDE = "{what} {value} is outside {low} to {high}"
WORDS = {
    Kind.DIVISOR: "division by zero",
    Kind.SHIFT: "shift by {value} bits is outside 0 to 63",
    Kind.LOOP: "the loops of one call take more than {high} steps",
    Kind.NO_SOURCE: "a source operand is planned in a hook that does not plan sources",
    Kind.NO_RESULT: "a result operand is planned in a hook that does not plan results",
    Kind.NO_WARP: "this hook is for no warp, so a transfer names one: warp=",
    Kind.NO_WIDTH: "this hook cannot ask for widths and patterns",
    Kind.TWICE: "operand {value} is planned twice",
    Kind.TWICE_THERE: "result operand {value} is planned twice for this level",
    Kind.FORGOTTEN_SOURCE: "source operand {value} is not planned; call read, or nowhere(plan, operand)",
    Kind.FORGOTTEN_RESULT: "result operand {value} is not planned; call write, or nowhere(plan, operand)",
    Kind.MERGED: "merged operand {value} is not planned before for the same level",
    Kind.HELD: "register {value} of the register file is outside {low} to {high}, what a warp holds by residency",
    Kind.UNSEEN: "only choose, turns_start and turns_end see warps of a scheduler",
    Kind.OTHERS_WARP: "warp {value} is not a warp of the scheduler",
    Kind.OTHER_SM: "warp {value} is not one of {low} to {high}, the warps of this SM",
    Kind.CANNOT_ISSUE: "warp {value} cannot issue; choose one of which can_issue says so, or NOBODY",
    Kind.QUEUE: "one call queues more than {high} extra accesses, transfers, tokens, table accesses, completed "
    "loads or memory accesses",
}
"""By kind; the others are `OUTSIDE`."""
NAMES = {
    Kind.SOURCE: "source operand",
    Kind.RESULT: "result operand",
    Kind.WIDTH: "result operand",
    Kind.SLICES: "slice mask",
    Kind.ROW: "row address",
    Kind.ENTRY: "table index",
    Kind.ANSWER: "answer",
    Kind.MANY: "number of operands",
}


def said(kind: int, value: int, low: int, high: int) -> str:
    """What is wrong, in words."""
    named = Kind(kind)
    what = NAMES.get(named, named.name.lower())
    if named not in WORDS and high < low:
        return f"{what} {value} does not exist, there is none"
    return WORDS.get(named, OUTSIDE).format(what=what, value=value, low=low, high=high)
