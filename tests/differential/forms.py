"""Every full opcode that a row of the semantics table allows, derived from its syntax alone."""

from __future__ import annotations

import random
from itertools import product

from warpreg.ir.opcodes import Opcode

HINTS = {r"L1::\w+": ["L1::no_allocate", "L1::evict_first"], r"L2::\w+": ["L2::128B", "L2::evict_last"]}
"""Words for the parts of a syntax that allow any."""

Choices = list[list[str]]


def _parts(syntax: str) -> Choices:
    """The syntax as places in order, each with its alternatives."""
    places: Choices = []
    at = 0
    while at < len(syntax):
        if syntax[at] in "[(":
            end = _closing(syntax, at)
            inner = syntax[at + 1 : end]
            if syntax[at] == "[":
                places.append(["", *_expanded(inner)])
            else:
                places.append([word for choice in _split(inner) for word in _expanded(choice)])
            at = end + 1
        else:
            end = min((i for i in (syntax.find("[", at), syntax.find("(", at)) if i >= 0), default=len(syntax))
            places.append([syntax[at:end]])
            at = end
    return places


def _expanded(text: str) -> list[str]:
    if text in HINTS:
        return HINTS[text]
    return ["".join(words) for words in product(*_parts(text))]


def _closing(text: str, start: int) -> int:
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in "[(") - (text[i] in "])")
        if depth == 0:
            return i
    raise ValueError(f"{text}: bracket at {start} is not closed")


def _split(text: str) -> list[str]:
    """Split at bars outside brackets."""
    out, depth, current = [], 0, ""
    for char in text:
        depth += (char in "[(") - (char in "])")
        if char == "|" and depth == 0:
            out.append(current)
            current = ""
        else:
            current += char
    return [*out, current]


def full_opcodes(syntax: str) -> list[str]:
    """All of them, in order, each once."""
    return list(dict.fromkeys(_expanded(syntax)))


def drawn(syntax: str, rng: random.Random) -> str:
    """One full opcode, each place of the syntax drawn for itself."""
    return "".join(rng.choice(choices) for choices in _parts(syntax))


def source_counts(row: Opcode) -> list[int]:
    """How many source operands the row takes, the flag of carries apart: without and with those that may be absent."""
    slots = [slot for slot in row.types.split("<-")[1].split() if slot != "CC"]
    optional = sum(slot.endswith("?") for slot in slots)
    return sorted({len(slots) - optional, len(slots)})
