"""What a change of the code does to kernels: quantities before and after, kernels matched by name.

Static quantities need the compiled kernels only.  The others need a run of each version with the same launches; every
kernel is counted, and timed, on its own.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from warpreg.analysis.pressure import pressure
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.designs.parts.hints.program_table import program_table
from warpreg.evaluation.runs.comparison import Setting, compare
from warpreg.evaluation.runs.counting import CountingMethod
from warpreg.evaluation.runs.row import Row
from warpreg.evaluation.runs.run import Run
from warpreg.ir.kernel import Kernel

ALL_KERNELS = "all kernels"
LESS_IS_WORSE = frozenset({"occupancy"})
SUMMED = ("warp-instructions", "MRF accesses", "energy nJ", "cycles", "leakage nJ")
"""Quantities whose sum over kernels has a meaning."""

Values = Mapping[tuple[str, str], float]
"""By design (empty: none) and quantity."""


@dataclass(frozen=True, slots=True)
class Change:
    """One quantity of a kernel, under a design if it depends on one."""

    kernel: str
    design: str
    quantity: str
    before: float
    after: float

    @property
    def relative(self) -> float:
        """The change as a fraction of the value before; infinite for something out of nothing."""
        if self.before == self.after:
            return 0.0
        return (self.after - self.before) / self.before if self.before else math.copysign(math.inf, self.after)

    @property
    def worsening(self) -> float:
        """The change for the worse, as a fraction: more, but less of occupancy."""
        return -self.relative if self.quantity in LESS_IS_WORSE else self.relative


@dataclass(frozen=True)
class Version:
    """One version of the code: its compiled kernels by name, and its run, if there is one."""

    kernels: Mapping[str, Kernel]
    run: Run | None


@dataclass(frozen=True)
class CodeChanges:
    """Kernels of both versions with the changes of their quantities, and kernels of one version only.

    ``differing``: outputs of the runs that are not equal bit for bit; None without runs.
    """

    changes: tuple[Change, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]
    differing: tuple[str, ...] | None

    def above(self, limit: float, quantities: Sequence[str] = ()) -> list[Change]:
        """What has become worse by more than a fraction; of these quantities only, if there are any."""
        chosen = [one for one in self.changes if not quantities or one.quantity in quantities]
        return [one for one in chosen if one.worsening > limit]


def code_changes(
    before: Version, after: Version, choices: Sequence[ConfiguredDesign], setting: Setting, how: CountingMethod
) -> CodeChanges:
    """All changes from one version to the other."""
    common = [name for name in before.kernels if name in after.kernels]
    first, second = (_measured(one, common, choices, setting, how) for one in (before, after))
    changes = [
        Change(kernel, design, quantity, value, second[kernel][design, quantity])
        for kernel in first
        if kernel in second
        for (design, quantity), value in first[kernel].items()
        if (design, quantity) in second[kernel]
    ]
    return CodeChanges(
        tuple(changes),
        tuple(name for name in before.kernels if name not in after.kernels),
        tuple(name for name in after.kernels if name not in before.kernels),
        None if before.run is None or after.run is None else tuple(_differing(before.run, after.run)),
    )


def _measured(
    version: Version, names: Sequence[str], choices: Sequence[ConfiguredDesign], setting: Setting, how: CountingMethod
) -> Mapping[str, Values]:
    """By kernel all its values; with several kernels that ran, also their sums."""
    by_kernel: dict[str, dict[tuple[str, str], float]] = {}
    for name in names:
        by_kernel[name] = {("", quantity): value for quantity, value in static_values(version.kernels[name]).items()}
    if version.run is None:
        return by_kernel
    totals: dict[tuple[str, str], float] = {}
    runs = {kernel.name: _of_kernel(version.run, kernel) for kernel in version.run.kernels}
    for name in names:
        if name not in runs:
            continue
        values = dict(_run_values(runs[name], choices, setting, how))
        by_kernel[name] |= values
        for key, value in values.items():
            if key[1] in SUMMED:
                totals[key] = totals.get(key, 0.0) + value
    return by_kernel | ({ALL_KERNELS: totals} if len(runs.keys() & set(names)) > 1 else {})


def static_values(kernel: Kernel) -> dict[str, float]:
    """Quantities of the compiled code of a kernel."""
    program = program_table(kernel)
    return {
        "registers": kernel.register_demand,
        "live registers": max(pressure(kernel).highest, default=0),
        "instructions": kernel.instruction_count,
        "static reads": int(program.source.size),
        "static writes": int(program.result.size),
        "local bytes": kernel.local_bytes,
        "shared bytes": kernel.shared_bytes,
    }


def _of_kernel(run: Run, kernel: Kernel) -> Run:
    """The launches of one kernel of a run."""
    return dataclasses.replace(run, name=kernel.name, launches=run.launches_of(kernel))


def _run_values(
    run: Run, choices: Sequence[ConfiguredDesign], setting: Setting, how: CountingMethod
) -> Iterator[tuple[tuple[str, str], float]]:
    yield ("", "warp-instructions"), run.warp_instructions
    for row in compare(run, choices, setting, how):
        yield from (((row.label, quantity), value) for quantity, value in _row_values(row))


def _row_values(row: Row) -> Iterator[tuple[str, float]]:
    """Quantities of a kernel under a design."""
    if row.residency:
        yield "occupancy", row.residency[0].fraction
    yield "MRF accesses", row.mrf.reads + row.mrf.writes
    for name, level in row.levels.items():
        if name not in row.main:
            yield f"{name} accesses", level.reads + level.writes
    yield "energy nJ", row.energy_pj / 1000
    if row.timing is not None:
        yield "cycles", row.timing.cycles
    if row.leakage_pj is not None:
        yield "leakage nJ", row.leakage_pj / 1000


def _differing(before: Run, after: Run) -> Iterator[str]:
    """Outputs that are not equal bit for bit."""
    for name, array in before.outputs.items():
        other = after.outputs.get(name)
        if other is None or np.asarray(array).tobytes() != np.asarray(other).tobytes():
            yield name
