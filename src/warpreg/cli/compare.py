"""``warpreg compare``: compare register-file designs on the same runs."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click

from warpreg import gpu
from warpreg.cli import output
from warpreg.cli.compare_options import ComparisonOptions, Form, form_options, ranking_options
from warpreg.cli.comparison_tables import print_failures, print_front, print_rows
from warpreg.cli.compile_options import compile_options
from warpreg.cli.cycles import cycles_options, recorded
from warpreg.cli.designs import design_grids, design_option, designs_option, set_option
from warpreg.cli.options import (
    json_option,
    limit_option,
    machine_option,
    problem_options,
    processes_option,
    technology_option,
    trace_options,
    unchecked_option,
)
from warpreg.cli.rankings import Ranking
from warpreg.cli.targets import check_reading
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.choices import attempted
from warpreg.evaluation.runs.comparing import RunOptions
from warpreg.evaluation.runs.comparison import BASELINE, Setting
from warpreg.evaluation.runs.counting import AlongSchedule, CountingMethod, Replayed, Timed
from warpreg.evaluation.runs.hardware import for_few_warps
from warpreg.evaluation.runs.row import Failure, Row
from warpreg.evaluation.runs.run import CompileChoice, find_workload
from warpreg.evaluation.runs.traces import TraceChoice, is_trace
from warpreg.evaluation.sweep.variations import Variation, VariationError, VariationStudy, against, variations
from warpreg.ir.errors import WarpregError
from warpreg.replay import Suspend

ALL = "all"
FAILURE = 1
TIMED = ("cycles", "speed", "ipc")
"""Results that only a timed run has."""


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@designs_option("mrf,rfc")
@design_option("Also compare this design. Repeat for more designs.")
@set_option
@machine_option
@technology_option
@click.option(
    "--suspend",
    type=click.Choice(get_args(Suspend)),
    default="never",
    show_default=True,
    help="Points where warps leave the active set: never, before each possible wait for memory (static), or also after"
    " barriers (barriers).",
)
@click.option(
    "--schedule",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Replay along the schedule that 'warpreg run --cycles --save-schedule FILE' saved for the same run.",
)
@form_options
@ranking_options
@click.option("--recompute", is_flag=True, help="Measure again what earlier comparisons and sweeps have kept.")
@processes_option()
@cycles_options
@problem_options("small")
@compile_options
@limit_option
@trace_options
@unchecked_option
@json_option
def command(
    names: tuple[str, ...],
    designs: str,
    files: tuple[str, ...],
    settings: tuple[str, ...],
    machine: str,
    technology: str | None,
    suspend: Suspend,
    schedule: Path | None,
    timed: Timed | None,
    size: str,
    seed: int,
    choice: CompileChoice,
    max_instructions: int | None,
    reading: TraceChoice,
    unchecked: bool,
    form: Form,
    options: ComparisonOptions,
    recompute: bool,
    processes: int | None,
) -> int:
    """Compare register-file designs on workloads or hardware traces. The name 'all' stands for every workload.

    With '--designs all', runs are timed as with --cycles, because most designs depend on the order of warps.
    A design that fails on a workload has a row marked 'failed', with the cause below the table and as 'error' in JSON
    and CSV; the other rows stand, and the exit status is 1. Rows of designs and workloads of the package are kept, and
    found by the next comparison or sweep.

    \b
    warpreg compare hotspot bfs --set rfc.entries=2,4,6
    warpreg compare all --design my_design.py --json
    warpreg compare hotspot --designs mrf,rfc --cycles --machine gtx480
    warpreg compare traces/vectoradd/kernelslist.g --designs rfc
    warpreg compare hotspot --designs all --baseline rfc
    warpreg compare hotspot bfs --designs all --rank-by speed --vary order --vary machine=gtx480
    """
    if timed is None and schedule is None and suspend == "never" and ALL in designs.split(","):
        timed = Timed()
    if options.rank_by is not None and form.as_csv:
        raise click.UsageError("--csv prints no ranking; use --json")
    if options.rank_by in TIMED and timed is None:
        raise click.UsageError(f"--rank-by {options.rank_by} requires --cycles")
    if options.vary and schedule is not None:
        raise click.UsageError("--vary and --schedule exclude each other: a schedule is that of one run")
    named = list(dict.fromkeys([*filter(None, designs.split(",")), *files]))
    if not named:
        raise click.UsageError("--designs: expected at least one design, found none")
    described = gpu.load(machine)
    grids = design_grids(named, settings)
    choices, refused = attempted(grids, machine=described, unchecked=unchecked)
    if not choices:
        raise WarpregError(refused[0].message)
    _check_baseline(options.baseline, choices)
    priced = Setting.load(described, technology, choices).technology
    technology = technology or priced.name
    names = tuple(_expanded(names))
    check_reading(names, reading)
    for name in names:
        if not is_trace(name):
            find_workload(name)
    if timed is not None and processes == 1:
        timed = dataclasses.replace(timed, threads=timed.threads or 1)
    if timed is not None and recompute:
        timed = dataclasses.replace(timed, resume=False)
    how = _way(timed, suspend, schedule, names)
    making = RunOptions(size, seed, choice, recorded(timed, choices), max_instructions, reading)
    varied = _varied(options.vary, machine, choice)
    whole = VariationStudy(names, grids, technology, how, making, unchecked)
    with output.steps(len(names) * len(varied), "runs") as progress:
        progress.begin("replaying" if timed is None else "timing")
        comparisons = []
        for rows in whole.compared(
            varied,
            processes or os.cpu_count() or 1,
            lambda name: progress.done(),
            lambda name: progress.found(),
            recompute=recompute,
        ):
            comparisons.append(rows)
            _log(rows, progress)
    if options.baseline != BASELINE:
        comparisons = [list(against(rows, options.baseline)) for rows in comparisons]
    shown = [
        *comparisons[0],
        *(
            one.named(row)
            for one, rows in zip(varied, comparisons, strict=True)
            for row in rows
            if one.name and isinstance(row, Failure)
        ),
    ]
    by_axes = [row for one, rows in zip(varied, comparisons, strict=True) for row in one.rows(rows, size, seed)]
    ranking = None if options.rank_by is None or not by_axes else Ranking.of(by_axes, options.rank_by)
    status = _print(shown, ranking, form)
    for note in dict.fromkeys(note for one in choices for note in for_few_warps(one, described, priced)):
        click.echo(f"note: {note}", err=True)
    return status


def _log(rows: Sequence[Row | Failure], progress: output.Steps) -> None:
    """Note the results in the log of the command."""
    for row in rows:
        if isinstance(row, Row):
            progress.row(row.as_dict())
        else:
            progress.failed(", ".join(filter(None, (row.workload, row.design))), row.message)


def _check_baseline(baseline: str, choices: Sequence[ConfiguredDesign]) -> None:
    """Raises click.UsageError unless one of the choices is the baseline."""
    number = sum(one.design.name == baseline for one in choices)
    if baseline != BASELINE and number != 1:
        raise click.UsageError(
            f"--baseline {baseline}: expected one of the designs that are compared, found it {number} times"
        )


def _print(results: Sequence[Row | Failure], ranking: Ranking | None, form: Form) -> int:
    """Print rows, failures and ranking, draw the rows; returns the exit status.  Raises WarpregError without rows."""
    rows = [one for one in results if isinstance(one, Row)]
    failures = [one for one in results if isinstance(one, Failure)]
    if not rows:
        raise WarpregError(failures[0].message)
    records = [one.as_dict() for one in results]
    if form.as_json:
        output.print_json(records if ranking is None else {"rows": records, **ranking.as_dict()})
    elif form.as_csv:
        output.print_csv(records)
    else:
        print_rows(rows, failures, by_cause=True)
        if ranking is None:
            print_front(rows)
        print_failures(failures)
        if ranking is not None:
            output.console().print()
            ranking.print()
    if form.parquet is not None:
        output.write_parquet(records, form.parquet)
    if form.plot is not None:
        from warpreg.report.comparison_figure import draw

        click.echo(f"figure: {draw(rows, form.plot)}", err=form.as_json or form.as_csv)
    return FAILURE if failures else 0


def _varied(named: Sequence[str], machine: str, choice: CompileChoice) -> list[Variation]:
    """The comparison and its variations; raises click.UsageError for one that there is not."""
    try:
        return variations(named, machine, choice)
    except VariationError as error:
        raise click.UsageError(f"--vary {error}") from error


def _way(timed: Timed | None, suspend: Suspend, schedule: Path | None, names: Sequence[str]) -> CountingMethod:
    """CountingMethod accesses are counted; raises click.UsageError for options that exclude each other."""
    chosen = [option for option, given in (("--cycles", timed), ("--schedule", schedule)) if given is not None]
    chosen += ["--suspend"] if suspend != "never" else []
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} both determine when warps are suspended; give one of them")
    if schedule is not None and len(names) != 1:
        raise click.UsageError(f"--schedule requires exactly one workload, found {len(names)}")
    if timed is not None:
        return timed
    return Replayed(suspend) if schedule is None else AlongSchedule(schedule)


def _expanded(names: Sequence[str]) -> list[str]:
    """Each name once, `ALL` replaced by every workload."""
    if ALL not in names:
        return list(dict.fromkeys(names))
    from warpreg import workloads

    return list(dict.fromkeys(one for name in names for one in (workloads.names() if name == ALL else [name])))
