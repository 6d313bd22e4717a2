"""A design's static decisions for each instruction: its hint columns as text, with reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from warpreg import designs
from warpreg.designs import Design, Program
from warpreg.designs.interface.parameters import Value
from warpreg.designs.interface.plan import SHARED
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Placement:
    """The decisions for one instruction: ``facts`` about it, ``places`` of its operands such as ``R3 from ORF 1``,
    whether a strand ends, and the ``reason`` of the design, empty without.
    """

    facts: tuple[str, ...]
    places: tuple[str, ...]
    ends_strand: bool
    reason: str

    def __str__(self) -> str:
        ends = ("strand ends",) if self.ends_strand else ()
        reason = f"[{self.reason}]" if self.reason else ""
        return f"{', '.join((*self.facts, *self.places, *ends))} {reason}".strip()


def placements(kernel: Kernel, design_name: str, values: Mapping[str, Value] | None = None) -> dict[int, Placement]:
    """By pc: datapath, waits for long-latency results, last reads, the places chosen by the design's compile step with
    these parameter values, and its reasons, if any.

    A hardware design chooses no places: the level that serves an operand then depends on the path.
    """
    design = designs.load(design_name, checked=False)
    table, parameters = designs.program_table(kernel), design.configure(**(values or {}))
    program = design.compile(table, parameters, kernel)
    placed = bool(np.any(program.source_level)) or bool(np.any(program.result_level))
    why = design.explain(table, parameters, kernel)
    by_pc: dict[int, Placement] = {}
    for pc in range(kernel.instruction_count):
        places = tuple(_places(program, design, pc)) if placed else ()
        made = Placement(tuple(_facts(program, pc)), places, bool(program.strand_end[pc]), why.get(pc, ""))
        if str(made):
            by_pc[pc] = made
    return by_pc


def _facts(program: Program, pc: int) -> Iterator[str]:
    if program.datapath[pc] == SHARED:
        yield "shared datapath"
    if program.suspends[pc]:
        yield "may wait for memory"
    dying = [f"R{program.source[row]}" for row in _sources(program, pc) if program.last_read[row]]
    if dying:
        yield f"last read of {', '.join(dict.fromkeys(dying))}"


def _places(program: Program, design: Design, pc: int) -> Iterator[str]:
    """The places where each operand is read and each result is written."""

    def named(level: int, entry: int) -> str:
        return f"{design.levels[level]} {entry}" if level else design.levels[level]

    for row in _sources(program, pc):
        kept = f", kept in {named(program.fill_level[row], program.fill_entry[row])}" if program.fill_level[row] else ""
        yield f"R{program.source[row]} from {named(program.source_level[row], program.source_entry[row])}{kept}"
    for row in range(int(program.result_start[pc]), int(program.result_start[pc + 1])):
        places = [
            named(level, entry)
            for level, entry in (
                (program.result_level[row], program.result_entry[row]),
                (program.copy_level[row], program.copy_entry[row]),
            )
            if level
        ]
        places += [] if program.mrf_elided[row] else [design.levels[0]]
        yield f"R{program.result[row]} to {' and '.join(places) or 'nowhere'}"


def _sources(program: Program, pc: int) -> range:
    return range(int(program.source_start[pc]), int(program.source_start[pc + 1]))
