"""``warpreg rank``: rank the designs of a sweep, and say what would turn the ranking; or the files of a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from warpreg.checks.leaderboard.scores import SCORES
from warpreg.cli import output
from warpreg.cli.options import SIZES, json_option, unchecked_option
from warpreg.cli.rankings import Ranking, Rows
from warpreg.evaluation.runs.provenance import NOTE
from warpreg.evaluation.sweep.batch import Batch
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.evaluation.sweep.ranking import HIGHER, LOWER
from warpreg.evaluation.sweep.study_file import read_study
from warpreg.evaluation.sweep.sweep import batch_of

MACHINE, SECONDS, MEMORY = "gtx980-two-level", 300, 4096
"""Of a folder."""


@click.command()
@click.argument("target", type=click.Path(exists=True, path_type=Path), metavar="STUDY.toml|FOLDER")
@click.option(
    "--by",
    type=click.Choice([*dict.fromkeys((*LOWER, *HIGHER, *SCORES))]),
    help="Result to rank designs by: of a study one of the first five, of a folder energy, cycles or storage. Default: "
    "energy.",
)
@click.option("--workloads", metavar="A,B", help="Folder: workloads. Default: vector-add,reduction,matrix-mul.")
@click.option("--size", type=click.Choice(SIZES), help="Folder: size of the workloads.  [default: tiny]")
@click.option("--machine", help="Folder: machine to time on (name or .toml file).  [default: gtx980-two-level]")
@click.option(
    "--seconds",
    type=click.IntRange(min=1),
    help="Folder: processor time of each design; it is killed after four times as long.  [default: 300]",
)
@click.option("--memory", type=click.IntRange(min=256), metavar="MIB", help="Folder: memory.  [default: 4096]")
@unchecked_option
@json_option
def command(target: Path, by: str | None, unchecked: bool, as_json: bool, **of_folder: Any) -> int:
    """Rank the designs of a study by the finished cells of its sweep, or those of a folder of design files.

    Each design is compared with the next one: how much better it is, with the interval and the certainty of a bootstrap
    over workloads, and the machines, technologies, compile options and workloads that turn the ranking. The Pareto
    front is that of energy, added storage and, if cycles were measured, speed.

    A folder makes a leaderboard: each design file runs in a process of its own with limits on processor time, memory
    and, on Linux, places to write to. It must keep all values, as in 'warpreg check'. A file that fails, hangs or needs
    too much has a line with the reason. This is no sandbox: code of a design can read your files and forge its own
    scores. Tests and files whose names begin with an underscore are left out.

    \b
    warpreg sweep study.toml
    warpreg rank study.toml
    warpreg rank study.toml --by speed --json
    warpreg rank submissions --by cycles
    """
    given = {name: value for name, value in of_folder.items() if value is not None}
    if target.is_dir():
        return _rank_folder(target, by, unchecked, as_json, given)
    if given:
        raise click.UsageError(f"--{next(iter(given))} requires a folder of design files, found '{target}'")
    if by in SCORES and by not in (*LOWER, *HIGHER):
        raise click.UsageError(f"--by {by} requires a folder; of a study: {', '.join((*LOWER, *HIGHER))}")
    _rank_study(target, by or LOWER[0], unchecked, as_json)
    return 0


def _rank_folder(folder: Path, by: str | None, unchecked: bool, as_json: bool, given: Mapping[str, Any]) -> int:
    from warpreg.cli.leaderboard import SIZE, rank_folder, rules_of

    if unchecked or (by is not None and by not in SCORES):
        wrong = "--unchecked" if unchecked else f"--by {by}"
        raise click.UsageError(f"{wrong} requires a study; a folder is ranked by {', '.join(SCORES)}, with checks")
    rules = rules_of(
        given.get("workloads"),
        given.get("size", SIZE),
        given.get("machine", MACHINE),
        given.get("seconds", SECONDS),
        given.get("memory", MEMORY),
    )
    return rank_folder(folder, rules, by or SCORES[0], as_json)


def _rank_study(study: Path, by: str, unchecked: bool, as_json: bool) -> None:
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
