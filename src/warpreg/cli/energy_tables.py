"""Tables of energy by cause, of added storage and area, and of a design's own events and resources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table

from warpreg.cli import output
from warpreg.experiments.runs.row import Row

KIB = 1024
PJ_PER_NJ = 1000
NOTE = (
    "arrays, wires and added (tables, logic) are shares of the energy of the plain MRF, leakage of its leakage; "
    "storage and area are added to an SM"
)


def print_comparison(rows: Sequence[Row]) -> None:
    """Print where the energy goes and what hardware is added, if a row has more than the accesses of the MRF."""
    if not any(len(row.parts) > 1 or row.leakage is not None for row in rows):
        return
    tables = [_energy(rows)]
    if own := [line for row in rows for line in _own(row)]:
        tables.append(output.table(own, ["workload", "design", "counts", "total", "mean"]))
    output.console().print()
    output.print_tables(tables)
    output.console().print(f"\n{NOTE}", style="dim")
    if any(part.dynamic_pj is None for row in rows for part in row.added):
        output.console().print("without the energy of logic by cycle and leakage, which need --cycles", style="dim")


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
    if own := list(_own(row)):
        yield output.table(own, ["counts", "total", "mean"])


def _energy(rows: Sequence[Row]) -> Table:
    lines = [
        {
            "workload": row.workload,
            "design": row.label,
            "arrays": f"{row.share('access_pj'):.3f}",
            "wires": f"{row.share('wire_pj'):.3f}",
            "added": f"{row.added_energy:.3f}",
            "leakage": None if row.leakage is None else f"{row.leakage:.3f}",
            "added KiB": f"{row.added_bytes / KIB:,.2f}",
            "added mm²": f"{row.added_mm2:.3g}",
        }
        for row in rows
    ]
    columns = ["workload", "design", "arrays", "wires"]
    columns += ["added"] if any(row.added for row in rows) else []
    columns += ["leakage"] if any(row.leakage is not None for row in rows) else []
    return output.table(lines, [*columns, "added KiB", "added mm²"])


def _own(row: Row) -> Iterator[dict[str, Any]]:
    """The events of a design, and its resources with their mean over cycles and SMs."""
    start = {"workload": row.workload, "design": row.label}
    for name, count in row.events.items():
        yield start | {"counts": name, "total": count}
    if row.timing is not None:
        for name, total in row.resources.items():
            mean = total / max(1.0, row.timing.sm_cycles)
            yield start | {"counts": name, "total": total, "mean": f"{mean:.2f}"}


def _nj(pj: float) -> str:
    return f"{pj / PJ_PER_NJ:,.1f} nJ"
