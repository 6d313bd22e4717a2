"""The order of modifiers.

`ptxas` accepts modifiers in any order, as long as types, state spaces and matrix layouts keep their relative order.  A
few words belong to an opcode's name and follow it directly (``mul.wide``, ``cp.async.bulk``).  The manual uses one
order, which is that of a row's syntax; instructions are parsed into this order.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from warpreg.ir.types import TYPES

NAMED = {
    **dict.fromkeys(("mul", "mad", "madc", "mul24", "mad24", "dp2a"), "lo hi wide"),
    **dict.fromkeys(("bar", "barrier"), "cta cluster warp sync arrive red wait"),
    **dict.fromkeys(("suld", "sust", "sured"), "b p"),
    **dict.fromkeys(("st", "red"), "async bulk"),
    **dict.fromkeys(("fence", "membar"), "proxy"),
    "div": "full",
    "cp": "async reduce bulk prefetch commit_group wait_group wait_all mbarrier arrive",
    "createpolicy": "fractional range cvt",
    "cvt": "pack",
    "cvta": "to",
    "mbarrier": "init inval arrive arrive_drop expect_tx complete_tx test_wait try_wait parity pending_count",
    "setmaxnreg": "inc dec",
    "shf": "l r",
    "tex": "level grad base",
    "wmma": "load store mma a b c d",
}
"""Words that belong to the name of an opcode if they come first, as in ptxas."""
SPACES = frozenset({"const", "global", "local", "param", "shared", "shared::cta", "shared::cluster"})
LAYOUTS = frozenset({"row", "col"})
PRIORITIES = frozenset({"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"})

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a row's syntax: one of some ``choices``, each of one or several words; empty if ``optional``.  A word
    with a backslash is a regular expression.
    """

    choices: tuple[Words, ...]
    optional: bool


@functools.cache
def places(syntax: str) -> tuple[Place, ...]:
    """The parts of a row's syntax after the base opcode, in order."""
    parts, at = [], re.match(r"\w+", syntax)
    position = at.end() if at else 0
    while position < len(syntax):
        optional = syntax[position] == "["
        start = position + (2 if optional else 1)
        end = _end(syntax, start, "]" if optional else ".[")
        parts.append(Place(_choices(syntax[start:end]), optional))
        position = end + optional
    return tuple(parts)


def _end(syntax: str, start: int, marks: str) -> int:
    """Position of the first of some marks outside parentheses, from ``start`` on; the end if there is none."""
    depth = 0
    for position in range(start, len(syntax)):
        if depth == 0 and syntax[position] in marks:
            return position
        depth += (syntax[position] == "(") - (syntax[position] == ")")
    return len(syntax)


def _choices(text: str) -> tuple[Words, ...]:
    options = text[1:-1].split("|") if text.startswith("(") else [text]
    return tuple(tuple(option.split(".")) for option in options)


def arranged(opcode: str, syntax: str, modifiers: Words) -> Words | None:
    """The modifiers in the order of a row's syntax; None if the row does not have them."""
    ordered = _fitted(places(syntax), modifiers)
    if ordered is None:
        return None
    names = NAMED.get(opcode, "").split()
    head = next((i for i, word in enumerate(ordered) if word not in names), len(ordered))
    written = tuple(word for word in modifiers if word != "aligned")
    return ordered if written[:head] == ordered[:head] else None


def _fitted(open_places: tuple[Place, ...], left: Words) -> Words | None:
    """All words in the order of the parts; an optional part may be empty."""
    if not open_places:
        return None if left else ()
    place, *_ = open_places
    for choice in place.choices:
        taken = _taken(choice, left)
        if taken is not None:
            following = _fitted(open_places[1:], taken[1])
            if following is not None:
                return (*taken[0], *following)
    return _fitted(open_places[1:], left) if place.optional else None


def _taken(choice: Words, left: Words) -> tuple[Words, Words] | None:
    """The words that match a choice, and the remaining words; None if one is missing."""
    words: list[str] = []
    for wanted in choice:
        position = next((i for i, word in enumerate(left) if _is_first(left, i) and _is(word, wanted)), None)
        if position is None:
            return None
        words.append(left[position])
        left = (*left[:position], *left[position + 1 :])
    return tuple(words), left


def _is(word: str, wanted: str) -> bool:
    return bool(re.fullmatch(wanted, word)) if "\\" in wanted else word == wanted


def _is_first(words: Words, position: int) -> bool:
    """Whether no earlier word has the same kind, among kinds whose order matters."""
    return all(not (words[position] in kind and kind.intersection(words[:position])) for kind in ORDERED)


ORDERED = (frozenset(TYPES), SPACES, LAYOUTS, PRIORITIES)
"""Words that keep their relative order."""
