"""Runs of several launches, exported as traces and timed like those of Accel-Sim.

``warpreg export NAME --size tiny --output FOLDER`` writes what Accel-Sim reads.  Its cycles can be given in a file:

    launch_cycles = 5000

    [cycles.backprop]
    v100 = CYCLES
"""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from warpreg import simt
from warpreg.evaluation.runs.run import Run, find_workload, run_workload
from warpreg.evaluation.runs.traces import export_run, recorded_run
from warpreg.gpu import load
from warpreg.ir.errors import WarpregError
from warpreg.timing import TimingResult, simulate
from warpreg_workbench.accelsim.comparison import factor, machines, summary

WORKLOADS = (
    "3mm", "b-tree", "backprop", "bfs", "gaussian", "hotspot", "kmeans", "lud", "nw", "pathfinder", "scan",
    "streamcluster",
)  # fmt: skip
"""Twelve workloads of 2 to 40 launches (size tiny)."""
ADDRESSES = simt.Record(path=True, addresses=True)


class CyclesError(WarpregError):
    """A wrong file of cycles; the message names the file."""


@dataclass(frozen=True)
class AccelSimCycles:
    """Accel-Sim's cycles by workload and machine, with ``launch`` cycles of latency in each launch."""

    cycles: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    launch: int = 0

    def of(self, name: str, machine: str, launches: int) -> int | None:
        """The cycles of a run without launch latency; None if they are not known."""
        found = self.cycles.get(name, {}).get(machine)
        return None if found is None else found - self.launch * launches


def read_cycles(path: Path) -> AccelSimCycles:
    """The file of Accel-Sim's cycles.  Raises CyclesError for a malformed one, OSError."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CyclesError(f"{path}: {error}") from None
    launch, cycles = content.pop("launch_cycles", 0), content.pop("cycles", None)
    if content:
        raise CyclesError(f"{path}: expected launch_cycles and tables [cycles.WORKLOAD], found '{next(iter(content))}'")
    if type(launch) is not int or launch < 0:
        raise CyclesError(f"{path}: launch_cycles: expected a number of cycles, found {launch!r}")
    if not isinstance(cycles, dict) or not all(isinstance(row, dict) for row in cycles.values()):
        raise CyclesError(f"{path}: expected tables [cycles.WORKLOAD] with cycles by machine")
    for name, row in cycles.items():
        _check(path, name, row)
    return AccelSimCycles(cycles, launch)


def _check(path: Path, name: str, row: Mapping[str, Any]) -> None:
    if name not in WORKLOADS:
        raise CyclesError(f"{path}: cycles.{name}: expected one of {', '.join(WORKLOADS)}")
    for machine, cycles in row.items():
        if machine not in machines():
            raise CyclesError(f"{path}: cycles.{name}.{machine}: expected one of {', '.join(machines())}")
        if type(cycles) is not int or cycles < 1:
            raise CyclesError(f"{path}: cycles.{name}.{machine}: expected a number of cycles, found {cycles!r}")


def compare(
    names: Sequence[str] = WORKLOADS,
    on: Sequence[str] = (),
    theirs: AccelSimCycles | None = None,
    begin: Callable[[str], None] = lambda what: None,
) -> list[dict[str, Any]]:
    """A row for each workload and machine: launches, cycles and sectors read from DRAM, the same with empty caches
    before each launch; where Accel-Sim's cycles are known, these, ``ratio`` and ``factor`` as in `comparison.compare`.
    """
    rows: list[dict[str, Any]] = []
    for name in names:
        begin(f"exporting and timing {name}")
        rows += _rows(name, on or machines(), theirs or AccelSimCycles())
    return rows


def figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """`comparison.summary` of the rows with Accel-Sim's cycles; empty without any."""
    known = [{**row, "kernel": row["workload"]} for row in rows if "factor" in row]
    return summary(pd.DataFrame(known)) if known else {}


def _rows(name: str, on: Sequence[str], theirs: AccelSimCycles) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        run = recorded_run(str(export_run(run_workload(find_workload(name), "tiny", record=ADDRESSES), Path(folder))))
        for machine in on:
            warm, cold = timed(run, machine), timed(run, machine, cold=True)
            row = {
                "machine": machine,
                "workload": name,
                "launches": len(run.launches),
                "cycles": warm.cycles,
                "cold_cycles": cold.cycles,
                "dram_reads": warm.memory["dram_reads"],
                "cold_dram_reads": cold.memory["dram_reads"],
            }
            known = theirs.of(name, machine, len(run.launches))
            yield row | ({} if known is None else {"accelsim_cycles": known, **factor(warm.cycles, known)})


def timed(run: Run, machine: str, cold: bool = False) -> TimingResult:
    """The launches of a run in sequence."""
    return simulate(run.launches, load(machine), cold=cold)
