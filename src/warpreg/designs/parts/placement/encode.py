"""Writes placement decisions to hint columns of the program table, and describes them in text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from warpreg.analysis.strands import Start, strand_ends
from warpreg.designs.interface.program import WAITS_FOR_NEEDED, Program
from warpreg.designs.parts.placement.allocate import Allocation
from warpreg.designs.parts.placement.candidates import Candidate
from warpreg.designs.parts.placement.copies import LrfCopy
from warpreg.designs.parts.placement.hierarchy import LRF, Placement
from warpreg.designs.parts.placement.instances import Read, Write
from warpreg.ir.kernel import Kernel

LEVELS = ("MRF", "ORF", "LRF")


def encode(program: Program, kernel: Kernel, placement: Placement, waits: int = WAITS_FOR_NEEDED) -> Program:
    """The program with all hint columns filled; operands that are not placed use the MRF.  ``waits``: what a warp waits
    for where a strand waits, as in the column ``suspends``.
    """
    start = np.array(placement.strands.start, np.uint8)
    hinted = program._replace(
        source_level=np.zeros_like(program.source_level),
        source_entry=np.zeros_like(program.source_entry),
        fill_level=np.zeros_like(program.fill_level),
        fill_entry=np.zeros_like(program.fill_entry),
        result_level=np.zeros_like(program.result_level),
        result_entry=np.zeros_like(program.result_entry),
        copy_level=np.zeros_like(program.copy_level),
        copy_entry=np.zeros_like(program.copy_entry),
        mrf_elided=np.zeros_like(program.mrf_elided),
        strand_start=start,
        strand_end=np.array(strand_ends(kernel, placement.strands), np.uint8),
        suspends=np.where(start == Start.WAITS, waits, 0).astype(np.uint8),
    )
    for placed in placement.placed:
        _encode_placed(hinted, placed)
    for copied in placement.copied:
        _encode_copied(hinted, copied)
    return hinted


def _encode_placed(program: Program, placed: Allocation) -> None:
    candidate = placed.candidate
    for read in candidate.reads:
        for row, entry in _entries(candidate, placed.entry, read):
            program.source_level[row], program.source_entry[row] = placed.level, entry
    for write in candidate.writes:
        for row, entry in _entries(candidate, placed.entry, write):
            program.result_level[row], program.result_entry[row] = placed.level, entry
            program.mrf_elided[row] = not write.needs_mrf
    if candidate.fill:
        for row, entry in _entries(candidate, placed.entry, candidate.fill):
            program.fill_level[row], program.fill_entry[row] = placed.level, entry


def _encode_copied(program: Program, copied: LrfCopy) -> None:
    for read in copied.candidate.reads:
        program.source_level[read.rows[0]], program.source_entry[read.rows[0]] = LRF, copied.bank
    for write in copied.candidate.writes:
        program.copy_level[write.rows[0]], program.copy_entry[write.rows[0]] = LRF, copied.bank


def _entries(candidate: Candidate, first: int, access: Read | Write) -> Iterable[tuple[int, int]]:
    """Row and entry of each register of an access."""
    return ((row, first + candidate.words.index(word)) for row, word in zip(access.rows, access.words, strict=True))


def reasons(placement: Placement, levels: Sequence[str] = LEVELS) -> Mapping[int, str]:
    """Per pc, why a strand begins, and the decisions about values that are written or filled there; ``levels`` are the
    names of the levels."""
    words: dict[int, list[str]] = {pc: [f"strand: {reason}"] for pc, reason in placement.strands.reasons.items()}
    for placed in placement.placed:
        text = f"{_name(placed.candidate)} in {_place(placed, levels)}: saves {placed.savings:.1f} pJ"
        words.setdefault(placed.candidate.pc, []).append(text)
    for copied in placement.copied:
        text = f"{_name(copied.candidate)} also in LRF {copied.bank}: saves {copied.savings:.1f} pJ"
        words.setdefault(copied.candidate.pc, []).append(text)
    for refused in placement.refused:
        words.setdefault(refused.candidate.pc, []).append(f"{_name(refused.candidate)} not placed: {refused.reason}")
    return {pc: ", ".join(found) for pc, found in words.items()}


def _name(candidate: Candidate) -> str:
    return "+".join(f"R{word}" for word in candidate.words)


def _place(placed: Allocation, levels: Sequence[str]) -> str:
    last = placed.entry + placed.candidate.width - 1
    return f"{levels[placed.level]} {placed.entry}" + (f" to {last}" if last > placed.entry else "")
