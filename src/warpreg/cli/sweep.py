"""``warpreg sweep``: measure the cells of a study file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from warpreg.cli import output
from warpreg.cli.options import json_option, parquet_option, processes_option, unchecked_option
from warpreg.experiments.runs.row import geometric_mean
from warpreg.experiments.sweep.batch import Batch
from warpreg.experiments.sweep.executors import CLUSTERS, PROCESSES
from warpreg.experiments.sweep.study_file import StudyFile, SweepError, read_study
from warpreg.experiments.sweep.sweep import batch_of, swept

Rows = Sequence[Mapping[str, Any]]
MOST_LINES = 60
"""Rows that are printed one by one; of more, their means over workloads are."""
AXES = ("size", "seed", "compile", "machine", "technology")
RESULTS = ("elided", "energy_normalized", "cycles", "speed")
FAILURE = 1


@click.command()
@click.argument("study", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="STUDY.toml")
@click.option("--list", "listing", is_flag=True, help="Print the numbered cells, and which are finished.")
@click.option("--status", is_flag=True, help="Print how many cells are finished.")
@click.option("--only", metavar="N,N-M", help="Measure these cells only, by number.")
@click.option("--batch", metavar="HASH", help="Stop if code or inputs are not those of this batch (see --status).")
@click.option(
    "--executor",
    default=PROCESSES,
    show_default=True,
    metavar="WHERE",
    help=f"'{PROCESSES}' of this machine, tcp://HOST:PORT of a Dask scheduler, or jobs of {', '.join(CLUSTERS)}.",
)
@processes_option()
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: a line for each cell.")
@parquet_option
@unchecked_option
@json_option
def command(
    study: Path,
    listing: bool,
    status: bool,
    only: str | None,
    batch: str | None,
    executor: str,
    processes: int | None,
    as_csv: bool,
    parquet: Path | None,
    unchecked: bool,
    as_json: bool,
) -> int:
    """Measure every cell of a study: each workload under each design, machine, technology and compile option.

    Finished cells are kept: a sweep that was interrupted goes on where it stopped, and a changed study measures only
    what is new. A cell that fails has a row that says why, and the exit status is then 1.

    \b
    warpreg sweep study.toml --list
    warpreg sweep study.toml -j 4 --csv > study.csv
    warpreg sweep study.toml --only 17 --batch 3f2a9c81d0e4
    warpreg sweep study.toml --executor tcp://head:8786
    """
    if sum((as_json, as_csv)) > 1 or sum((listing, status)) > 1:
        raise click.UsageError("--json and --csv exclude each other, and so do --list and --status")
    read = read_study(study)
    if read.search is not None:
        if listing or status or only or batch:
            raise click.UsageError(f"{study}: a search has no cells before it runs; leave out [search] to number them")
        return _search(read, study.parent, executor, processes, unchecked, as_json, as_csv, parquet)
    cells = batch_of(read, study.parent, unchecked=unchecked)
    if batch is not None and batch != cells.digest:
        raise SweepError(f"{study}: expected batch {batch}, found {cells.digest}: the code or an input has changed")
    if listing or status:
        _print_state(cells, as_json, listing=listing)
        return 0
    numbers = _numbers(only) if only else []
    with output.steps(len(numbers) or len(cells.cells)) as progress:
        progress.begin("measuring")
        rows = swept(cells, numbers, executor, processes, progress.done)
    return _print(cells, rows, as_json, as_csv, parquet)


def _numbers(text: str) -> list[int]:
    """The numbers of ``1,4-6``.  Raises click.UsageError."""
    numbers: list[int] = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()):
            raise click.UsageError(f"--only: expected numbers such as 17 or 3,5-8, found '{text}'")
        numbers += range(int(low), int(high if dash else low) + 1)
    return numbers


def _print_state(batch: Batch, as_json: bool, *, listing: bool) -> None:
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
    click.echo(f"batch {batch.digest}: {len(states)} cells, {told}")


def _state(batch: Batch, number: int) -> str:
    if number in batch.problems:
        return "impossible"
    return "missing" if batch.result(number) is None else "finished"


def _print(batch: Batch, rows: Rows, as_json: bool, as_csv: bool, parquet: Path | None) -> int:
    failed = [row for row in rows if "error" in row]
    if as_json:
        output.print_json(rows)
    elif as_csv:
        output.print_csv(rows)
    else:
        _print_table([_line(batch, row) for row in rows if "error" not in row])
        if failed:
            lines = [_line(batch, row) | {"failed": row["error"]} for row in failed]
            output.print_tables([output.table(lines, ["cell", "workload", *_varying(lines), "design", "failed"])])
    if parquet is not None:
        output.write_parquet(rows, parquet)
    return FAILURE if failed else 0


def _print_table(lines: Rows) -> None:
    if not lines:
        return
    results = [name for name in RESULTS if name in lines[0]]
    axes = _varying(lines)
    if len(lines) <= MOST_LINES:
        output.print_tables([output.table(lines, ["cell", "workload", *axes, "design", *results])])
        return
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for line in lines:
        groups.setdefault(tuple(line[name] for name in (*axes, "design")), []).append(line)
    means = [
        {**one[0], "cells": len(one), **{name: _mean(name, [float(row[name]) for row in one]) for name in results}}
        for one in groups.values()
    ]
    output.print_tables([output.table(means, [*axes, "design", "cells", *results])])
    output.console().print(f"\nmeans over workloads of {len(lines)} cells; see --csv for each", style="dim")


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


def _search(
    study: StudyFile,
    folder: Path,
    executor: str,
    processes: int | None,
    unchecked: bool,
    as_json: bool,
    as_csv: bool,
    parquet: Path | None,
) -> int:
    from warpreg.experiments.sweep.search import searched

    assert study.search is not None
    with output.steps(study.search.trials) as progress:
        progress.begin("searching")
        trials = searched(study, folder, executor, processes, unchecked=unchecked, done=progress.done)
    records = [trial.as_dict() for trial in trials]
    if as_json:
        output.print_json(records)
    elif as_csv:
        output.print_csv(records)
    else:
        goal = study.search.minimize or study.search.maximize
        lines = [{**one, "parameters": _told(one["parameters"]), str(goal): one["value"]} for one in records]
        columns = ["trial", "design", "parameters", str(goal), "added_bytes", "added_mm2"]
        output.print_tables([output.table(lines, [*columns, *(["error"] if any(t.error for t in trials) else [])])])
    if parquet is not None:
        output.write_parquet(records, parquet)
    return 0 if any(trial.value is not None for trial in trials) else FAILURE
