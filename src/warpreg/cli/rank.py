"""``warpreg rank``: rank the designs of a sweep, and say what would turn the ranking."""

from __future__ import annotations

from pathlib import Path

import click

from warpreg.cli import output
from warpreg.cli.options import json_option, unchecked_option
from warpreg.cli.rankings import Ranking, Rows
from warpreg.evaluation.runs.provenance import NOTE
from warpreg.evaluation.sweep.batch import Batch
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.evaluation.sweep.ranking import HIGHER, LOWER
from warpreg.evaluation.sweep.study_file import read_study
from warpreg.evaluation.sweep.sweep import batch_of


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
    ranking = Ranking.of(rows, by)
    told = dict.fromkeys(f"{row['workload']}: {row[NOTE]}" for _, row in rows if NOTE in row)
    notes = {"notes": list(told)} if told else {}
    if as_json:
        output.print_json({"batch": batch.digest, "cells": len(rows), **notes, **ranking.as_dict()})
        return
    ranking.print()
    for one in told:
        output.console().print(one, style="dim", markup=False)
    left = len(batch.cells) - len(rows)
    note = f"; {left} of {len(batch.cells)} cells are not finished" if left else ""
    output.console().print(f"geometric means over workloads; {len(rows)} cells{note}", style="dim")


def _finished(batch: Batch) -> Rows:
    found = ((number, batch.result(number)) for number in range(1, len(batch.cells) + 1))
    return [(batch.label(number), batch.row(number, result)) for number, result in found if result is not None]
