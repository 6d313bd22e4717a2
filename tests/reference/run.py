"""Run a generated case on the reference interpreter."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tests.reference.generator import KERNEL, Case
from tests.reference.interpreter import Reference

FILLER = 0xA5


@dataclass(frozen=True)
class Outcome:
    """What a run left in memory: the rows, the approximate results, the contended atomics. ``steps`` counts
    instructions.
    """

    rows: bytes
    approximate: bytes
    atomics: bytes
    steps: int = 0


def run_reference(case: Case, counts: Counter[str] | None = None) -> Outcome:
    """The outcome that every other way of running ``case`` must equal; ``counts`` takes instructions by opcode."""
    reference = Reference(case.text)
    source = reference.buffer(case.input)
    rows = reference.buffer(bytes([FILLER]) * (case.threads * case.row_bytes))
    approximate = reference.buffer(bytes(case.threads * 8 * len(case.slots) + 8))
    atoms = reference.buffer(case.atomics)
    arguments = [source, rows, approximate, atoms, *case.scalars.values()]
    steps = reference.launch(KERNEL, case.grid, case.block, arguments, case.shared_bytes, counts=counts)
    return Outcome(bytes(rows.data), bytes(approximate.data), bytes(atoms.data), steps)
