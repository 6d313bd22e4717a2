"""Shrink the program of a failing case by removing lines, so that a difference can be analysed by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.reference.generator import Case

KEPT = ("bar", "{", "}", "ret;", ".version", ".target", ".address_size")
"""Lines that stay: without its barriers a program would race, and the rest holds it together."""

ADDRESSES = ("%in", "%out", "%atoms", "%apx", "%me", "%all", "%blk", "%own", "%first", "%last", "%u", "%v")
"""Registers that keep threads apart; what sets them stays."""


def shrink(case: Case, fails: Callable[[Case], bool]) -> Case:
    """The smallest program found that still ``fails``; lines go in ever smaller runs, ``fails`` rejects what is
    malformed.
    """
    lines = case.text.splitlines()
    size = max(1, len(lines) // 2)
    while size:
        at = 0
        while at < len(lines):
            keep = [line for line in lines[at : at + size] if _stays(line)]
            shorter = [*lines[:at], *keep, *lines[at + size :]]
            if len(shorter) < len(lines) and fails(replace(case, text="\n".join(shorter) + "\n")):
                lines = shorter
            else:
                at += size
        size //= 2
    return replace(case, text="\n".join(lines) + "\n")


def _stays(line: str) -> bool:
    text = line.strip()
    if any(f" {name}," in text for name in ADDRESSES):
        return True
    return text.startswith((*KEPT, ".reg", ".param", ".visible", ".func", ".extern", ".shared", ".const", ".global"))
