"""What ``warpreg sweep`` prints: cells and how far they are, their rows, the trials of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from warpreg.cli import output
from warpreg.evaluation.runs.provenance import NOTE
from warpreg.evaluation.runs.row import geometric_mean
from warpreg.evaluation.sweep.batch import Batch
from warpreg.evaluation.sweep.study_file import SearchEntry, StudyFile

if TYPE_CHECKING:
    from warpreg.evaluation.sweep.search import Trial

Rows = Sequence[Mapping[str, Any]]
MAX_LINES = 60
"""Rows that are printed one by one; of more, their means over workloads and seeds are."""
AXES = ("size", "seed", "compile", "machine", "technology")
RESULTS = ("elided", "energy_normalized", "cycles", "speed")
FAILURE = 1


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """As JSON, as CSV or as tables; with a Parquet file too, or None."""

    as_json: bool
    as_csv: bool
    parquet: Path | None


def print_state(batch: Batch, as_json: bool, *, listing: bool) -> None:
    """Print how many cells are finished; with ``listing``, also the cells."""
    states = [_state(batch, number) for number in range(1, len(batch.cells) + 1)]
    counted = {state: states.count(state) for state in ("finished", "missing", "impossible")}
    if as_json:
        cells = [batch.row(number, state) for number, state in enumerate(states, 1)] if listing else []
        listed = [{**cell, "state": cell.pop("error")} for cell in cells]
        output.print_json({"batch": batch.digest, **counted, **({"cells": listed} if listing else {})})
        return
    if listing:
        lines = [_line(batch, batch.row(number, "")) | {"state": state} for number, state in enumerate(states, 1)]
        output.print_tables([output.table(lines, ["cell", "workload", *_varying(lines), "design", "state"])])
    told = ", ".join(f"{number} {state}" for state, number in counted.items() if number or state != "impossible")
    output.console().print(f"batch {batch.digest}: {len(states)} cells, {told}")


def _state(batch: Batch, number: int) -> str:
    if number in batch.problems:
        return "impossible"
    return "missing" if batch.result(number) is None else "finished"


def print_rows(batch: Batch, rows: Rows, form: OutputFormat) -> int:
    """Print the rows of cells; returns the exit status."""
    failed = [row for row in rows if "error" in row]
    if form.as_json:
        output.print_json(rows)
    elif form.as_csv:
        output.print_csv(rows)
    else:
        _print_table([_line(batch, row) for row in rows if "error" not in row])
        for told in dict.fromkeys(f"{row['workload']}: {row[NOTE]}" for row in rows if NOTE in row):
            output.console().print(told, style="dim", markup=False)
        if failed:
            _print_failures([_line(batch, row) | {"failed": row["error"]} for row in failed])
    if form.parquet is not None:
        output.write_parquet(rows, form.parquet)
    return FAILURE if failed else 0


def _print_failures(lines: Rows) -> None:
    shown = lines[:MAX_LINES]
    output.print_tables([output.table(shown, ["cell", "workload", *_varying(lines), "design", "failed"])])
    if len(lines) > len(shown):
        output.console().print(f"\n{len(lines) - len(shown)} more cells failed; see --csv for each", style="dim")


def _print_table(lines: Rows) -> None:
    if not lines:
        return
    results = [name for name in RESULTS if name in lines[0]]
    axes = _varying(lines)
    if len(lines) <= MAX_LINES:
        output.print_tables([output.table(lines, ["cell", "workload", *axes, "design", *results])])
        return
    over = "workloads and seeds" if "seed" in axes else "workloads"
    axes = [name for name in axes if name != "seed"]
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for line in lines:
        groups.setdefault(tuple(line[name] for name in (*axes, "design")), []).append(line)
    means = [
        {**one[0], "cells": len(one), **{name: _mean(name, [float(row[name]) for row in one]) for name in results}}
        for one in groups.values()
    ]
    output.print_tables([output.table(means, [*axes, "design", "cells", *results])])
    output.console().print(f"\nmeans over {over} of {len(lines)} cells; see --csv for each", style="dim")


def _mean(name: str, values: Sequence[float]) -> float:
    """The arithmetic mean of shares, the geometric one of anything else."""
    return sum(values) / len(values) if name == "elided" else geometric_mean(values)


def _varying(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """The axes along which the rows differ."""
    return [name for name in AXES if len({str(line[name]) for line in lines}) > 1]


def _line(batch: Batch, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row for a table."""
    return {**row, "design": batch.label(row["cell"]), "compile": _told(row["compile"])}


def _told(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def search(
    study: StudyFile, folder: Path, executor: str, processes: int | None, unchecked: bool, form: OutputFormat
) -> int:
    """Search, and print the trials; returns the exit status."""
    from warpreg.evaluation.sweep.search import searched

    assert study.search is not None
    with output.steps(study.search.trials) as progress:
        progress.begin("searching")
        trials = searched(study, folder, executor, processes, unchecked=unchecked, done=progress.done)
    records = [trial.as_dict() for trial in trials]
    if form.as_json:
        output.print_json(records)
    elif form.as_csv:
        output.print_csv(records)
    else:
        output.print_tables(_trials(trials, study.search))
    if form.parquet is not None:
        output.write_parquet(records, form.parquet)
    return 0 if any(trial.values for trial in trials) else FAILURE


def _trials(trials: Sequence[Trial], wanted: SearchEntry) -> list[Table]:
    """The trials with values, and those without, which say why.

    Of several goals, a column says which trials are on the Pareto front.
    """
    lines = [{**one, "parameters": _told(one["parameters"])} for one in (trial.as_dict() for trial in trials)]
    if len(wanted.goals) > 1:
        lines = [{**one, "Pareto front": "yes" if one["best"] else ""} for one in lines]
    results = [*(["Pareto front"] if len(wanted.goals) > 1 else []), *wanted.goals]
    added = [name for name in ("added_bytes", "added_mm2") if name not in wanted.goals]
    chosen = ["trial", "design", "parameters"]
    measured, refused = ([one for one in lines if ("error" in one) == failed] for failed in (False, True))
    tables = [output.table(measured, [*chosen, *results, *added])] if measured else []
    return [*tables, *([output.table(refused, [*chosen, "error"])] if refused else [])]
