"""What an instruction without side effects is: operand types and a function from patterns to a pattern."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

ROUNDINGS = ("rn", "rz", "rm", "rp")
RELATIONS = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan".split()
COMBINE: dict[str, Callable[[bool, bool], bool]] = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
}
UNSIGNED_RELATIONS = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


class Pure(NamedTuple):
    """Operand types by name (``s32``, ``pred``), and a function from patterns to the result's pattern.

    ``carry``: the function takes the carry flag as its last argument and returns (result, carry); ``sets_carry``:
    that carry is kept.
    """

    result: str
    sources: tuple[str, ...]
    function: Callable[..., int]
    carry: bool = False
    sets_carry: bool = False


def is_type(word: str) -> bool:
    return word == "pred" or (word[:1] in "busf" and word[1:].isdigit())


def kind_and_bits(name: str) -> tuple[str, int]:
    return ("pred", 1) if name == "pred" else (name[0], int(name[1:]))
