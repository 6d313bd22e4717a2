"""Mutation test of the checking executor: the share of corrupted placements that it detects.

A corruption changes where one operand of an executed instruction is read, kept or written; a design may define others
(``corruptions``).  It is *caught* if the run faults, does not end, or produces different memory.  A surviving one is
*equivalent* if the static check still finds every read correct, or finds only reads that are wrong on some paths, which
a run need not take.  Corruptions that affect only reads that may not be executed, in other blocks or under a guard, are
not drawn, because a run cannot detect them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.checks.placement_check import PlacementError, Reference, checking, placing
from warpreg.designs import Design, Program, load
from warpreg.designs.interface.checked import Checked
from warpreg.designs.interface.checked import Corruption as Seeded
from warpreg.ir.edges import visits_of
from warpreg.ir.errors import WarpregError
from warpreg.ir.kernel import Kernel
from warpreg.simt import ExecutionError, Launch

READ_PLACE, RESULT_PLACE, MRF_DROPPED, FILL_PLACE = "read", "result", "mrf", "fill"


@dataclass(frozen=True, slots=True)
class Corruption:
    """One change of one operand; ``row`` is its row of the program table, ``place`` the new level and entry."""

    kind: str
    row: int
    place: tuple[int, int]

    def apply(self, program: Program) -> Program:
        """The program with the change."""
        level, entry = self.place
        if self.kind == READ_PLACE:
            return _changed(program, self.row, source_level=level, source_entry=entry)
        if self.kind == FILL_PLACE:
            return _changed(program, self.row, fill_level=level, fill_entry=entry)
        if self.kind == MRF_DROPPED:
            return _changed(program, self.row, mrf_elided=1)
        return _changed(program, self.row, result_level=level, result_entry=entry)


def _changed(program: Program, row: int, **columns: int) -> Program:
    copies = {name: getattr(program, name).copy() for name in columns}
    for name, value in columns.items():
        copies[name][row] = value
    return program._replace(**copies)


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of one corruption; ``message`` is the error that caught it, empty for a survivor."""

    workload: str
    kernel: str
    corruption: Seeded | Corruption
    message: str
    equivalent: bool


def possible(program: Program, visits: np.ndarray[Any, Any]) -> list[Corruption]:
    """Every corruption of a placed operand in code that was executed.

    A read or a fill may be moved to any other place that the program uses, a result to any other place above the MRF,
    and a result that is written to both may lose the MRF write.  If no read names a place, reads look their value up;
    then a result that is written to both may lose no other write, and guarded results, which may not be executed, none.
    """
    per_pc = np.repeat(visits, np.diff(program.first_pc)) > 0
    ran_source = np.repeat(per_pc, np.diff(program.source_start))
    ran_result = np.repeat(per_pc, np.diff(program.result_start))
    moved = ran_result & (program.result_level > 0)
    if not program.source_level.any():
        ran_result &= np.repeat(program.guarded == 0, np.diff(program.result_start))
        moved &= ran_result & (program.mrf_elided > 0)
    above = sorted({(int(level), int(entry)) for level, entry in _used(program) if level})
    corruptions: list[Corruption] = []
    for row in np.flatnonzero(ran_source & (program.source_level > 0)).tolist():
        own = int(program.source_level[row]), int(program.source_entry[row])
        corruptions += [Corruption(READ_PLACE, row, place) for place in [(0, 0), *above] if place != own]
    for row in np.flatnonzero(ran_source & (program.fill_level > 0)).tolist():
        own = int(program.fill_level[row]), int(program.fill_entry[row])
        corruptions += [Corruption(FILL_PLACE, row, place) for place in [(0, 0), *above] if place != own]
    for row in np.flatnonzero(moved).tolist():
        own = int(program.result_level[row]), int(program.result_entry[row])
        corruptions += [Corruption(RESULT_PLACE, row, place) for place in [(0, 0), *above] if place != own]
    for row in np.flatnonzero(ran_result & (program.mrf_elided == 0)).tolist():
        corruptions.append(Corruption(MRF_DROPPED, row, (0, 0)))
    return corruptions


def _used(program: Program) -> Iterator[tuple[int, int]]:
    yield from zip(program.source_level, program.source_entry, strict=True)
    yield from zip(program.result_level, program.result_entry, strict=True)


def trials(
    names: Sequence[str], count: int, design: str = "orf-lrf", size: str = "tiny", seed: int = 0
) -> Iterator[Trial]:
    """``count`` corruptions drawn at random, from the workloads in rotation.

    Raises WarpregError if the design decides nothing about any kernel of theirs.
    """
    chosen, rng = load(design, checked=False), random.Random(seed)
    references = [_Target.of(Reference.of(name, size), chosen) for name in names[:count]]
    references = [one for one in references if one.launches]
    if not references:
        raise WarpregError(f"{design} decides nothing that could be corrupted about {', '.join(names[:count])}")
    for index in range(count):
        yield references[index % len(references)].trial(rng)


@dataclass(frozen=True)
class _CorruptedKernel:
    """A corrupted kernel: the corruption, the kernel whose pcs findings name, and what verifies it."""

    corruption: Any
    kernel: Kernel
    checked: Checked


@dataclass(frozen=True)
class _Target:
    """A workload, and the launches of kernels that a design's corruptions change, with these."""

    reference: Reference
    design: Design
    launches: tuple[Launch, ...]
    own: Mapping[str, Sequence[Seeded]]

    @staticmethod
    def of(reference: Reference, design: Design) -> _Target:
        own: dict[str, Sequence[Seeded]] = {}
        for kernel in dict.fromkeys(launch.kernel for launch in reference.launches):
            found = design.corruptions(kernel, design.configure(), _visits(reference, kernel))
            if found is not None:
                own[kernel.name] = found
        launches = tuple(one for one in reference.launches if own.get(one.kernel.name, True))
        return _Target(reference, design, launches, own)

    def trial(self, rng: random.Random) -> Trial:
        """One corruption of one kernel; those that no run can detect are not drawn."""
        kernel = rng.choice(self.launches).kernel
        visits = _visits(self.reference, kernel)
        corruptions = self.own[kernel.name] if self.own else possible(placing(self.design)(kernel), visits)
        while True:
            wrong = self._wrong(kernel, _drawn(corruptions, rng))
            findings = wrong.checked.findings()
            ran = np.repeat(visits_of(wrong.kernel, visits.tolist()), np.diff(wrong.kernel.first_pcs())) > 0
            guarded = [instruction.guard is not None for instruction in wrong.kernel.instructions()]
            if not findings or any(ran[finding.pc] and not guarded[finding.pc] for finding in findings):
                break
        equivalent = not any(finding.certain for finding in findings)
        message = self._message(kernel, wrong.checked)
        return Trial(self.reference.workload.name, kernel.name, wrong.corruption, message, equivalent)

    def _wrong(self, kernel: Kernel, corruption: Any) -> _CorruptedKernel:
        if isinstance(corruption, Corruption):
            program = corruption.apply(placing(self.design)(kernel))
            return _CorruptedKernel(corruption, kernel, checking(self.design)(kernel, program))
        checked = corruption.checked()
        return _CorruptedKernel(corruption, checked.kernel, checked)

    def _message(self, kernel: Kernel, wrong: Checked) -> str:
        """The error of a run with the corrupted kernel, empty if there is none."""
        right = checking(self.design)

        def check(one: Kernel, program: Program) -> Checked:
            return wrong if one.name == kernel.name else right(one, program)

        try:
            self.reference.check(placing(self.design), check)
        except (ExecutionError, PlacementError) as error:
            return str(error)
        return ""


def _drawn(corruptions: Sequence[Any], rng: random.Random) -> Any:
    """One of them; of a design's own ones, each kind is equally likely."""
    if not isinstance(corruptions[0], Corruption):
        kind = rng.choice(sorted({one.kind for one in corruptions}))
        corruptions = [one for one in corruptions if one.kind == kind]
    return rng.choice(corruptions)


def _visits(reference: Reference, kernel: Kernel) -> NDArray[np.int64]:
    """How often each block of a kernel was executed."""
    counts = [one.block_visits.astype(np.int64) for one in reference.launches if one.kernel is kernel]
    return np.array(np.sum(counts, axis=0), np.int64)
