"""The tables of a comparison: results by workload and design, means, accesses by level, and what has failed."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table

from warpreg.cli import energy_tables, output
from warpreg.cli.rankings import points
from warpreg.designs.loading.composition import SEPARATOR
from warpreg.evaluation.runs.residency import theoretical
from warpreg.evaluation.runs.row import Failure, LevelUse, Row, geometric_mean
from warpreg.evaluation.sweep.ranking import AXES, front

PERCENT = 100
MANY = 3
"""Designs from which on the Pareto front is printed."""
MILLION = 1e6
PARTLY_ELIDED = ("reads elided", "writes elided")
"""Columns that are left out first where a table is too wide."""
Band = tuple[float, float] | None
"""Normalized energy at both ends of the technology's band, if it has one."""


def print_rows(rows: Sequence[Row], failures: Sequence[Failure] = (), *, by_cause: bool = False) -> None:
    """Print the comparison as a table; several workloads add a row of means per design.

    Rows of ``failures`` are marked, and stand below the others of their workload.  ``by_cause`` adds where the energy
    goes, what hardware the designs add and what they count.
    """
    lines = _with_failures([_line(row) for row in rows], failures)
    labels = dict.fromkeys(row.label for row in rows)
    if (workloads := len({row.workload for row in rows})) > 1:
        lines += [_mean_line(label, [row for row in rows if row.label == label], workloads) for label in labels]
    levels = dict.fromkeys(name for row in rows for name in row.levels)
    counts = [f"{name} {action}" for name in levels for action in ("reads", "writes")]
    timing = [*_timing(rows[0]), "occupancy", *(["achieved"] if rows[0].timing is not None else [])]
    ratios = [*timing, *_ratios(0, 0, 0, 0)]
    chosen = [[*counts, *ratios], ratios, [one for one in ratios if one not in PARTLY_ELIDED]]
    candidates = (output.table(lines, ["workload", "design", *columns]) for columns in chosen)
    fitting = next((number for number, one in enumerate(candidates) if output.fits(one)), len(chosen) - 1)
    output.print_tables([output.table(lines, ["workload", "design", *chosen[fitting]])])
    console = output.console()
    if by_cause:
        if fitting > 0:
            console.print()
            output.print_tables([_accesses(rows)])
        energy_tables.print_comparison(rows)
    elif fitting > 0:
        console.print(f"\nleft out, wider than {console.width} columns: {', '.join(counts)}", style="dim")
    console.print()
    for sentence in _explained(rows):
        console.print(sentence, style="dim", markup=False)


def print_front(rows: Sequence[Row]) -> None:
    """Print the designs on the Pareto front; nothing for two designs."""
    if len({row.label for row in rows}) >= MANY:
        of = "energy, added storage and speed" if rows[0].timing is not None else "energy and added storage"
        output.console().print(f"\nPareto front of {of}: {', '.join(_front(rows))}")


def _front(rows: Sequence[Row]) -> list[str]:
    """The designs on the Pareto front."""
    same = {**dict.fromkeys(AXES, ""), "compile": {}}
    return front(points([(row.label, {**row.as_dict(), **same, "workload": row.workload}) for row in rows]))


def _explained(rows: Sequence[Row]) -> Iterator[str]:
    """What the columns mean, and what the results depend on."""
    used, baseline = rows[0].provenance, rows[0].normalized_to
    yield "reads and writes: million warp-registers, write-backs included"
    yield "elided: accesses of the main register file that the design avoids, of those of the plain MRF"
    yield f"energy: dynamic, of that of {baseline}"
    if rows[0].band is not None:
        yield "energy in brackets: with the least and the most costly main register file"
    if rows[0].timing is not None:
        yield f"speed: cycles of {baseline} over those of the design"
        yield "occupancy: resident warps, and what limits them; achieved: their mean over the run"
    yield from _misfits(rows)
    if len({row.workload for row in rows}) > 1:
        yield "means over workloads: geometric of energy and speed, arithmetic of shares; counts are sums"
    for workload, note in dict.fromkeys((row.workload, row.note) for row in rows if row.note):
        yield f"{workload}: {note}"
    yield f"machine {used.machine}, technology {used.technology}, warpreg {used.code}"


def _misfits(rows: Sequence[Row]) -> Iterator[str]:
    """Each sentence about kernels that do not fit an SM, with the designs that it holds for."""
    labels_of: dict[str, dict[str, None]] = {}
    for row in rows:
        for one in row.residency:
            if one.misfit:
                labels_of.setdefault(one.misfit, {})[row.label] = None
    for sentence, labels in labels_of.items():
        yield f"occupancy 0% under {', '.join(labels)}: {sentence}"


def _accesses(rows: Sequence[Row]) -> Table:
    """Accesses by design and level, summed over the workloads."""
    uses: dict[tuple[str, str], list[LevelUse]] = {}
    for row in rows:
        for name, level in row.levels.items():
            uses.setdefault((row.label, name), []).append(level)
    lines = [
        {
            "design": label,
            "level": name,
            "reads": sum(one.reads for one in used) / MILLION,
            "writes": sum(one.writes for one in used) / MILLION,
            "MB moved": sum(one.bytes for one in used) / MILLION,
        }
        for (label, name), used in uses.items()
    ]
    return output.table(lines, list(lines[0]))


def _line(row: Row) -> dict[str, Any]:
    line: dict[str, Any] = {"workload": row.workload, "design": row.label}
    for name, level in row.levels.items():
        line[f"{name} reads"] = level.reads / MILLION
        line[f"{name} writes"] = level.writes / MILLION
    ratios = _ratios(row.reads_elided, row.writes_elided, row.elided, row.energy, row.band)
    return line | _timing(row) | _occupancy(row) | ratios


def _occupancy(row: Row) -> dict[str, str]:
    """Theoretical occupancy with what limits it, and in a timed run the achieved one."""
    achieved = {} if row.timing is None else {"achieved": f"{row.timing.details['occupancy']:.0%}"}
    return {"occupancy": theoretical(row.residency), **achieved}


def _timing(row: Row) -> dict[str, Any]:
    """Cycles (of a sample, with its error), IPC and speed of a timed run; empty otherwise."""
    if row.timing is None:
        return {}
    margin = f" ± {row.timing.margin:,.0f}" if row.timing.margin else ""
    return {
        "cycles": f"{row.timing.cycles:,.0f}{margin}",
        "IPC": f"{row.timing.ipc:.3f}",
        "speed": f"{row.timing.speed or 1:.3f}",
    }


def _with_failures(lines: Sequence[dict[str, Any]], failures: Sequence[Failure]) -> list[dict[str, Any]]:
    """The lines of a table with those of failures."""
    marked = [{"workload": one.workload, "design": f"{one.label or 'all designs'}: failed"} for one in failures]
    every = [*lines, *marked]
    order = {name: place for place, name in enumerate(dict.fromkeys(line["workload"] for line in every))}
    return sorted(every, key=lambda line: order[line["workload"]])


def _mean_line(label: str, rows: Sequence[Row], workloads: int) -> dict[str, Any]:
    """Arithmetic means of elided shares, geometric means of normalized energy and speed; says so if the design has
    results on fewer ``workloads``.
    """
    over = "mean" if len(rows) == workloads else f"mean of {len(rows)} of {workloads}"
    speeds = [row.timing.speed for row in rows if row.timing is not None and row.timing.speed]
    speed = {"speed": f"{geometric_mean(speeds):.3f}"} if speeds else {}
    return (
        {"workload": over, "design": label}
        | speed
        | _ratios(
            reads=statistics.fmean(row.reads_elided for row in rows),
            writes=statistics.fmean(row.writes_elided for row in rows),
            both=statistics.fmean(row.elided for row in rows),
            energy=geometric_mean(row.energy for row in rows),
            band=_mean_band(rows),
        )
    )


def _mean_band(rows: Sequence[Row]) -> Band:
    """Geometric means of both ends; None unless all rows have a band."""
    bands = [row.band for row in rows if row.band is not None]
    if len(bands) < len(rows):
        return None
    return geometric_mean(low for low, _ in bands), geometric_mean(high for _, high in bands)


def _ratios(reads: float, writes: float, both: float, energy: float, band: Band = None) -> dict[str, Any]:
    ends = "" if band is None else f" ({band[0]:.3f} to {band[1]:.3f})"
    return {
        "reads elided": f"{PERCENT * reads:.1f}%",
        "writes elided": f"{PERCENT * writes:.1f}%",
        "elided": f"{PERCENT * both:.1f}%",
        "energy": f"{energy:.3f}{ends}",
    }


def print_failures(failures: Sequence[Failure]) -> None:
    """Print each reason of failures once, with the designs and workloads that it holds for."""
    by_reason: dict[str, dict[str, dict[str, None]]] = {}
    for one in failures:
        reason = one.message
        for name in (one.design, *one.design.split(SEPARATOR)):
            reason = reason.removeprefix(f"{name}: ")
        by_reason.setdefault(reason, {}).setdefault(one.label or "all designs", {})[one.workload] = None
    console = output.console()
    for reason, designs in by_reason.items():
        console.print(f"\nfailed: {reason}", markup=False)
        by_workloads: dict[str, list[str]] = {}
        for label, names in designs.items():
            by_workloads.setdefault(", ".join(names), []).append(label)
        for workloads, labels in by_workloads.items():
            console.print(f"  {', '.join(labels)} on {workloads}", markup=False)
