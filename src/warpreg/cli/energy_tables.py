"""Tables of energy by cause, of added storage and area, and of a design's own events and resources."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table

from warpreg.cli import output
from warpreg.evaluation.runs.row import Row

KIB = 1024
MILLION = 1e6
PJ_PER_NJ = 1000
FEW = 8
"""Designs whose own events and resources are printed."""


def print_comparison(rows: Sequence[Row]) -> None:
    """Print by design where the energy goes, what hardware is added, and what the design counts; nothing for the MRF.

    Several workloads are averaged; counts are summed.
    """
    if not any(len(row.parts) > 1 or row.leakage is not None for row in rows):
        return
    designs = [[row for row in rows if row.label == label] for label in dict.fromkeys(row.label for row in rows)]
    tables = [_energy(designs)]
    own = [line for same in designs for line in _own(same)]
    if own and len(designs) <= FEW:
        tables.append(_counts(own, "design"))
    console, baseline = output.console(), rows[0].normalized_to
    console.print()
    output.print_tables(tables)
    console.print(f"\narrays, wires and added (tables and logic): shares of the energy of {baseline}", style="dim")
    if own and len(designs) > FEW:
        console.print(f"events and resources of more than {FEW} designs: see --json or --csv", style="dim")
    console.print("MB moved: read and written at all levels", style="dim")
    console.print("KiB and mm² added: storage and area that the design adds to an SM", style="dim")
    if any(row.leakage is not None for row in rows):
        console.print(f"leakage: of that of {baseline} over its own cycles", style="dim")
    elif any(row.added for row in rows):
        console.print("leakage and the power of logic by cycle need --cycles", style="dim")


def of_run(row: Row) -> Iterator[Table]:
    """Energy by cause, added storage and area, events and resources of one timed run."""
    figures: dict[str, str] = {
        "arrays": _nj(sum(level.access_pj for level in row.levels.values())),
        "wires": _nj(sum(level.wire_pj for level in row.levels.values())),
        **{f"added: {part.name}": _nj(part.dynamic_pj or 0.0) for part in row.added},
        **{f"leakage: {part.name}": _nj(part.leakage_pj or 0.0) for part in row.parts},
    }
    if len(row.parts) > 1:
        figures["added to an SM"] = f"{row.added_bytes / KIB:,.2f} KiB, {row.added_mm2:.3g} mm²"
    yield output.table([{"energy": name, "value": value} for name, value in figures.items()], ["energy", "value"])
    if own := list(_own([row])):
        yield _counts(own)


def _energy(designs: Sequence[Sequence[Row]]) -> Table:
    lines = [
        {
            "design": rows[0].label,
            "arrays": f"{statistics.fmean(row.share('access_pj') for row in rows):.3f}",
            "wires": f"{statistics.fmean(row.share('wire_pj') for row in rows):.3f}",
            "added": f"{statistics.fmean(row.added_energy for row in rows):.3f}",
            "leakage": f"{statistics.fmean(row.leakage or 0.0 for row in rows):.3f}",
            "MB moved": f"{sum(level.bytes for row in rows for level in row.levels.values()) / MILLION:,.2f}",
            "KiB added": f"{rows[0].added_bytes / KIB:,.2f}",
            "mm² added": f"{rows[0].added_mm2:.3g}",
        }
        for rows in designs
    ]
    every = [row for rows in designs for row in rows]
    columns = ["design", "arrays", "wires"]
    columns += ["added"] if any(row.added for row in every) else []
    columns += ["leakage"] if any(row.leakage is not None for row in every) else []
    return output.table(lines, [*columns, "MB moved", "KiB added", "mm² added"])


def _own(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """The events of a design that occurred, and its resources with their mean over cycles and SMs."""
    for name in rows[0].events:
        if total := sum(row.events[name] for row in rows):
            yield {"design": rows[0].label, "counts": name, "total": total}
    sm_cycles = sum(row.timing.sm_cycles for row in rows if row.timing is not None)
    for name in rows[0].resources:
        total = sum(row.resources[name] for row in rows)
        yield {"design": rows[0].label, "counts": name, "total": total, "mean": f"{total / max(1.0, sm_cycles):.2f}"}


def _counts(lines: Sequence[dict[str, Any]], *first: str) -> Table:
    last = ["mean"] if any("mean" in line for line in lines) else []
    return output.table(lines, [*first, "counts", "total", *last])


def _nj(pj: float) -> str:
    return f"{pj / PJ_PER_NJ:,.1f} nJ"
