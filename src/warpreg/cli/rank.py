"""``warpreg rank``: rank the designs of a sweep, and say what would turn the ranking."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from warpreg.cli import output
from warpreg.cli.options import json_option, unchecked_option
from warpreg.experiments.runs.row import geometric_mean
from warpreg.experiments.sweep.batch import Batch
from warpreg.experiments.sweep.errors import SweepError
from warpreg.experiments.sweep.ranking import HIGHER, LOWER, Comparison, Results, front
from warpreg.experiments.sweep.study_file import read_study
from warpreg.experiments.sweep.sweep import batch_of

Rows = Sequence[tuple[str, dict[str, Any]]]


@click.command()
@click.argument("study", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="STUDY.toml")
@click.option(
    "--by", type=click.Choice([*LOWER, *HIGHER]), default=LOWER[0], show_default=True, help="Result to rank designs by."
)
@unchecked_option
@json_option
def command(study: Path, by: str, unchecked: bool, as_json: bool) -> None:
    """Rank the designs of a study by the finished cells of its sweep.

    Each design is compared with the next one: how much better it is, with the interval and the certainty of a bootstrap
    over workloads, and the machines, technologies, compile options and workloads that turn the ranking. The Pareto
    front is that of energy, added storage and, if cycles were measured, speed.

    \b
    warpreg sweep study.toml
    warpreg rank study.toml
    warpreg rank study.toml --by speed --json
    """
    batch = batch_of(read_study(study), study.parent, unchecked=unchecked)
    rows = _finished(batch)
    if not rows:
        raise SweepError(f"{study}: no cell is finished; 'warpreg sweep {study}' measures them")
    results = Results.of(rows, by)
    order = results.ranked()
    pairs = [results.compared(better, other) for better, other in itertools.pairwise(order)]
    known = [pair for pair in pairs if pair is not None]
    best = front(_points(rows))
    if as_json:
        ranked = [{"design": label, by: results.mean(label), "on_the_front": label in best} for label in order]
        every = [one.as_dict() for one in _all_pairs(results, order)]
        output.print_json({"batch": batch.digest, "cells": len(rows), "ranking": ranked, "comparisons": every})
        return
    lines = [
        {"rank": rank, "design": label, by: results.mean(label), "Pareto front": "yes" if label in best else ""}
        for rank, label in enumerate(order, 1)
    ]
    output.print_tables([output.table(lines, list(lines[0]))])
    console = output.console()
    console.print()
    for pair in known:
        console.print(str(pair))
    left = len(batch.cells) - len(rows)
    note = f"; {left} of {len(batch.cells)} cells are not finished" if left else ""
    console.print(f"\ngeometric means over workloads; {len(rows)} cells{note}", style="dim")


def _finished(batch: Batch) -> Rows:
    found = ((number, batch.result(number)) for number in range(1, len(batch.cells) + 1))
    return [(batch.label(number), batch.row(number, result)) for number, result in found if result is not None]


def _all_pairs(results: Results, order: Sequence[str]) -> list[Comparison]:
    pairs = (results.compared(better, other) for place, better in enumerate(order) for other in order[place + 1 :])
    return [pair for pair in pairs if pair is not None]


def _points(rows: Rows) -> dict[str, list[float]]:
    """Energy, added storage and time of each design, all better if lower."""
    found: dict[str, list[dict[str, Any]]] = {}
    for label, row in rows:
        found.setdefault(label, []).append(row)
    return {label: _point(own) for label, own in found.items()}


def _point(rows: Sequence[dict[str, Any]]) -> list[float]:
    speeds = [float(row["speed"]) for row in rows if row.get("speed")]
    time = [1 / geometric_mean(speeds)] if speeds else []
    return [geometric_mean(row["energy_normalized"] for row in rows), float(rows[0].get("added_bytes", 0)), *time]
