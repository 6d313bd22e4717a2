"""An instruction without side effects: operand types and a function from bit patterns to a bit pattern."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

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
    that carry is kept. ``second`` is the type of a second result, written ``p|q``; the function then returns both.
    """

    result: str
    sources: tuple[str, ...]
    function: Callable[..., Any]
    carry: bool = False
    sets_carry: bool = False
    second: str = ""


Builder = Callable[[tuple[str, ...], tuple[str, ...], int], Pure]
"""Makes an instruction of its types, its other modifiers, and how many source operands it has (0: not known)."""


NAMED = {
    "pred": ("pred", 1), "bf16": ("f", 16), "tf32": ("b", 32), "f16x2": ("b", 32), "bf16x2": ("b", 32),
    "f32x2": ("b", 64), "u16x2": ("b", 32), "s16x2": ("b", 32), "e4m3x2": ("b", 16), "e5m2x2": ("b", 16),
}  # fmt: skip
"""Types whose name does not say kind and width."""


_TYPE = re.compile(r"[busf]\d+(x\d)?|bf16(x2)?|tf32|pred|e\dm\dx\d|ue8m0x2|s2f6x2")


def ordered(modifiers: tuple[str, ...]) -> tuple[str, ...]:
    """Modifiers as the manual writes most: a relation first, what combines it next, types last and in their order."""
    return tuple(
        sorted(modifiers, key=lambda m: 3 if _TYPE.fullmatch(m) else 0 if m in RELATIONS else 1 + (m not in COMBINE))
    )


def is_type(word: str) -> bool:
    return word in NAMED or (word[:1] in "busf" and word[1:].isdigit())


def kind_and_bits(name: str) -> tuple[str, int]:
    """How a register of the type is read: ``s``, ``u``, ``b``, ``f`` or ``pred``, and its bits; a pair is bits."""
    return NAMED[name] if name in NAMED else (name[0], int(name[1:]))
