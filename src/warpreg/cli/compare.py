"""``warpreg compare``: compare register-file designs on the same runs."""

from __future__ import annotations

import dataclasses
import os
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import click

from warpreg import gpu
from warpreg.cli import energy_tables, output
from warpreg.cli.compile_options import compile_options
from warpreg.cli.cycles import cycles_options, recorded
from warpreg.cli.designs import design_choices, design_option, designs_option, set_option
from warpreg.cli.options import (
    json_option,
    limit_option,
    machine_option,
    parquet_option,
    problem_options,
    processes_option,
    technology_option,
    trace_options,
    unchecked_option,
)
from warpreg.experiments.runs.choices import Choice
from warpreg.experiments.runs.comparing import Comparison, Making
from warpreg.experiments.runs.comparison import BASELINE, Setting
from warpreg.experiments.runs.counting import AlongSchedule, How, Replayed, Timed
from warpreg.experiments.runs.residency import theoretical
from warpreg.experiments.runs.row import Failure, Row, geometric_mean
from warpreg.experiments.runs.run import CompileChoice, find_workload
from warpreg.experiments.runs.traces import UnknownOpcodes, is_trace
from warpreg.experiments.sweep.found_rows import compared_once
from warpreg.ir.errors import WarpregError
from warpreg.replay import Suspend

ALL = "all"
PERCENT = 100
FAILURE = 1
Band = tuple[float, float] | None
"""Normalized energy at both ends of the technology's band, if it has one."""


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
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: a line for each row of the JSON output.")
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also draw the comparison (.png, .svg or .pdf).",
)
@parquet_option
@click.option(
    "--baseline",
    default=BASELINE,
    show_default=True,
    metavar="DESIGN",
    help="The design that energy, leakage and speed are normalized to, one of those that are compared.",
)
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
    unknown_opcodes: UnknownOpcodes,
    unchecked: bool,
    as_json: bool,
    as_csv: bool,
    plot: Path | None,
    parquet: Path | None,
    baseline: str,
    recompute: bool,
    processes: int | None,
) -> int:
    """Compare register-file designs on workloads or hardware traces. The name 'all' stands for every workload.

    A design that fails on a workload has a row that says why, and the exit status is then 1. Rows of designs and
    workloads of the package are kept, and found by the next comparison or sweep.

    \b
    warpreg compare hotspot bfs --set rfc.entries=2,4,6
    warpreg compare all --design my_design.py --json
    warpreg compare hotspot --designs mrf,rfc --cycles --machine gtx480
    warpreg compare traces/vectoradd/kernelslist.g --designs rfc
    warpreg compare hotspot --designs all --cycles --machine titanx --baseline rfc
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    named = [*filter(None, designs.split(",")), *files]
    described = gpu.load(machine)
    choices = design_choices(named, settings, machine=described, unchecked=unchecked)
    _check_baseline(baseline, choices)
    setting = Setting.load(described, technology, choices)
    setting.check(choices)
    names = tuple(_expanded(names))
    for name in names:
        if not is_trace(name):
            find_workload(name)
    if timed is not None and processes == 1:
        timed = dataclasses.replace(timed, threads=timed.threads or 1)
    making = Making(size, seed, choice, recorded(timed, choices), max_instructions, unknown_opcodes)
    comparison = Comparison(
        tuple((one.source, one.values) for one in choices),
        unchecked,
        machine,
        technology or setting.technology.name,
        _way(timed, suspend, schedule, names),
        making,
    )
    found: list[Row | Failure] = []
    with output.steps(len(names)) as progress:
        progress.begin("replaying" if timed is None else "timing")
        rows = compared_once(
            comparison, names, processes or os.cpu_count() or 1, lambda name: progress.done(), recompute=recompute
        )
        found += rows
    if baseline != BASELINE:
        found = list(_against(found, baseline))
    return _print(found, as_json, as_csv, plot, parquet)


def _against(found: Sequence[Row | Failure], baseline: str) -> Iterator[Row | Failure]:
    """Rows normalized to the baseline on the same run; where that has failed, so has the row."""
    by_run = {one.workload: one for one in found if isinstance(one, Row) and one.design == baseline}
    for one in found:
        if isinstance(one, Failure):
            yield one
        elif one.workload in by_run:
            yield one.against(by_run[one.workload])
        else:
            yield Failure(
                one.workload, f"the baseline {baseline} has no result", one.design, one.parameters, one.defaults
            )


def _check_baseline(baseline: str, choices: Sequence[Choice]) -> None:
    """Raises click.UsageError unless one of the choices is the baseline."""
    number = sum(one.design.name == baseline for one in choices)
    if baseline != BASELINE and number != 1:
        raise click.UsageError(
            f"--baseline {baseline}: expected one of the designs that are compared, found it {number} times"
        )


def _print(found: Sequence[Row | Failure], as_json: bool, as_csv: bool, plot: Path | None, parquet: Path | None) -> int:
    """Print rows and failures, draw the rows; returns the exit status.  Raises WarpregError if there are no rows."""
    rows = [one for one in found if isinstance(one, Row)]
    failures = [one for one in found if isinstance(one, Failure)]
    if not rows:
        raise WarpregError(failures[0].message)
    if as_json:
        output.print_json([one.as_dict() for one in found])
    elif as_csv:
        output.print_csv([one.as_dict() for one in found])
    else:
        print_rows(rows, by_cause=True)
        _print_failures(failures)
    if parquet is not None:
        output.write_parquet([one.as_dict() for one in found], parquet)
    if plot is not None:
        from warpreg.report.comparison import draw

        click.echo(f"figure: {draw(rows, plot)}", err=as_json or as_csv)
    return FAILURE if failures else 0


def _print_failures(failures: Sequence[Failure]) -> None:
    if failures:
        lines = [{"workload": one.workload, "design": one.label or "all", "failed": one.message} for one in failures]
        output.console().print()
        output.print_tables([output.table(lines, list(lines[0]))])


def _way(timed: Timed | None, suspend: Suspend, schedule: Path | None, names: Sequence[str]) -> How:
    """How accesses are counted; raises click.UsageError for options that exclude each other."""
    chosen = [option for option, given in (("--cycles", timed), ("--schedule", schedule)) if given is not None]
    chosen += ["--suspend"] if suspend != "never" else []
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} both determine when warps are suspended; give one of them")
    if schedule is not None and len(names) != 1:
        raise click.UsageError(f"--schedule requires exactly one workload, found {len(names)}")
    if timed is not None:
        return timed
    return Replayed(suspend) if schedule is None else AlongSchedule(schedule)


def print_rows(rows: Sequence[Row], *, by_cause: bool = False) -> None:
    """Print the comparison as a table; several workloads add a row of means per design.

    ``by_cause`` adds where the energy goes, what hardware the designs add and what they count.
    """
    lines = [_line(row) for row in rows]
    labels = dict.fromkeys(row.label for row in rows)
    if len({row.workload for row in rows}) > 1:
        lines += [_mean_line(label, [row for row in rows if row.label == label]) for label in labels]
    levels = dict.fromkeys(name for row in rows for name in row.levels)
    counts = [f"{name} {action}" for name in levels for action in ("reads", "writes")]
    console = output.console()
    timing = [*_timing(rows[0]), "occupancy", *(["achieved"] if rows[0].timing is not None else [])]
    ratios = [*timing, *_ratios(0, 0, 0, 0)]
    whole = output.table(lines, ["workload", "design", *counts, *ratios])
    fits = output.fits(whole)
    output.print_tables([whole if fits else output.table(lines, ["workload", "design", *ratios])])
    if by_cause:
        energy_tables.print_comparison(rows)
    used, baseline = rows[0].provenance, rows[0].normalized_to
    if not fits:
        console.print(f"\nleft out, wider than {console.width} columns: {', '.join(counts)}; see --csv", style="dim")
    console.print(
        f"\nmillion warp-registers, write-backs included; energy normalized to {baseline}, its mean geometric",
        style="dim",
    )
    if rows[0].band is not None:
        console.print("energy in brackets: with the least and the most costly main register file", style="dim")
    if rows[0].timing is not None:
        console.print(f"speed: cycles of {baseline} over those of the design, its mean geometric", style="dim")
    console.print(f"machine {used.machine}, technology {used.technology}, warpreg {used.code}", style="dim")


def _line(row: Row) -> dict[str, Any]:
    line: dict[str, Any] = {"workload": row.workload, "design": row.label}
    for name, level in row.levels.items():
        line[f"{name} reads"] = level.reads / 1e6
        line[f"{name} writes"] = level.writes / 1e6
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


def _mean_line(label: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Arithmetic means of elided shares, geometric means of normalized energy and speed."""
    speeds = [row.timing.speed for row in rows if row.timing is not None and row.timing.speed]
    speed = {"speed": f"{geometric_mean(speeds):.3f}"} if speeds else {}
    return (
        {"workload": "mean", "design": label}
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


def _expanded(names: Sequence[str]) -> list[str]:
    if ALL not in names:
        return list(names)
    from warpreg import workloads

    return workloads.names()
