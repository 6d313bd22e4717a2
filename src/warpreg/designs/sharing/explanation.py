"""Where the code of a kernel holds a section, in words."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.designs.sharing.division import Division
from warpreg.designs.sharing.instructions import ACQUIRE, action_of
from warpreg.designs.sharing.staging import INSERTED


def explanation(division: Division) -> Mapping[int, str]:
    """By pc of the kernel before: what was inserted in front of the instruction, and whether it has a section."""
    told: dict[int, str] = {}
    held = False
    added: list[str] = []
    for instruction, original in zip(division.kernel.instructions(), division.original, strict=True):
        action = action_of(instruction) if original == INSERTED else 0
        if action:
            held = action == ACQUIRE
            added.append("acquires a section" if action == ACQUIRE else "releases the section")
        elif original == INSERTED:
            added.append(f"'{instruction}'")
        else:
            words = [f"before it: {', '.join(added)}"] if added else []
            told[original] = "; ".join([*words, *(["with a section"] if held else [])])
            added = []
    first = f"base set of {division.base} registers, sections of {division.registers - division.base}"
    told[0] = "; ".join(part for part in (first, told.get(0, "")) if part)
    return {pc: words for pc, words in told.items() if words}
