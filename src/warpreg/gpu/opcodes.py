"""Opcodes whose timing differs from that of their pipe."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from warpreg.gpu.pipes import CTRL, PIPES, UNTIMED
from warpreg.gpu.sourced import Document, quantity
from warpreg.gpu.units import MIN_FIXED_LATENCY

ARITHMETIC = tuple(name for name in PIPES if name not in (*UNTIMED, PIPES[CTRL]))
"""Pipes that may execute an opcode in place of its own."""


@dataclass(frozen=True, slots=True)
class OpcodeTiming:
    """What an opcode has instead of what its pipe says; None: as the pipe.

    ``latency`` counts as that of its pipe; of an instruction of pipe ``mem``, it is what the machine says of shared
    memory.
    """

    pipe: str | None = quantity("the pipe that executes it", choices=ARITHMETIC, optional=True)
    latency: int | None = quantity("from dispatch to result", "cycles", MIN_FIXED_LATENCY, 100_000, optional=True)
    initiation: int | None = quantity("until a unit takes the next instruction", "cycles", 1, 100_000, optional=True)


Opcodes = Mapping[str, OpcodeTiming]
"""By opcode, with some of its modifiers behind hyphens: ``SHFL-IDX``."""


def read_opcodes(document: Document) -> Opcodes:
    """Those of the file.  Raises its error for an entry that says nothing."""
    found = {name: document.section(f"opcodes.{name}", OpcodeTiming) for name in document.keys("opcodes")}
    for name, own in found.items():
        if own == OpcodeTiming():
            raise document.refusal(f"opcodes.{name}", "a pipe, a latency or an initiation interval", "nothing")
    return found


def timing_of(opcodes: Opcodes, opcode: str, modifiers: Collection[str]) -> OpcodeTiming:
    """What is said of an instruction: the first of the entries with most modifiers, all of which it has."""
    fitting = [name for name in opcodes if _fits(name.split("-"), opcode, modifiers)]
    return opcodes[max(fitting, key=lambda name: name.count("-"))] if fitting else OpcodeTiming()


def _fits(words: list[str], opcode: str, modifiers: Collection[str]) -> bool:
    return words[0] == opcode and set(words[1:]) <= set(modifiers)
