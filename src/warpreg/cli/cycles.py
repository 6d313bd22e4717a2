"""The option ``--cycles``: time a whole run or a sample of it on a machine, under a design."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from rich.table import Table

from warpreg import simt
from warpreg.cli import energy_tables, output
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.comparison import BASELINE, Setting, row
from warpreg.evaluation.runs.counting import DesignCounts, Timed
from warpreg.evaluation.runs.recording import needed_record
from warpreg.evaluation.runs.residency import theoretical
from warpreg.evaluation.runs.row import Row
from warpreg.evaluation.runs.run import Run

if TYPE_CHECKING:
    from warpreg.timing import Sample

Function = TypeVar("Function", bound=Callable[..., Any])
PARTS = ("added_bytes", "added_mm2", "added_pj", "leakage_pj", "events", "resources")
"""Entries of a row that only some designs have."""


def cycles_options(function: Function) -> Function:
    """``--cycles`` and the sampling options; the command receives ``timed``, or None without ``--cycles``."""

    @functools.wraps(function)
    def command(
        *arguments: Any,
        cycles: bool,
        sample_windows: int | None,
        sample_blocks: int | None,
        sample_sms: int | None,
        cold: bool,
        warm_copies: bool,
        threads: int | None,
        **named: Any,
    ) -> Any:
        given = (sample_windows, sample_blocks, sample_sms)
        if any(given) and not cycles:
            raise click.UsageError("--sample-windows, --sample-blocks and --sample-sms require --cycles")
        if (cold or warm_copies or threads) and not cycles:
            raise click.UsageError("--cold, --warm-copies and --threads require --cycles")
        if cold and warm_copies:
            raise click.UsageError("--cold and --warm-copies exclude each other")
        timed = None
        if cycles:
            sample = _sample(sample_windows, sample_blocks, sample_sms)
            timed = Timed(sample, cold=cold, copies=warm_copies, threads=threads)
        return function(*arguments, timed=timed, **named)

    options = (
        click.option(
            "--cycles", is_flag=True, help="Time the run on the machine: print cycles, IPC and the stall account."
        ),
        click.option(
            "--sample-windows",
            type=click.IntRange(min=2),
            metavar="N",
            help="Time N windows of each launch and estimate the cycles of the launch.",
        ),
        click.option(
            "--sample-blocks",
            type=click.IntRange(min=1),
            metavar="N",
            help="Number of thread blocks in a window. Default: as many as the SMs hold at a time.",
        ),
        click.option(
            "--sample-sms",
            type=click.IntRange(min=1),
            metavar="N",
            help="Time N of the SMs with their share of the memory system.",
        ),
        click.option(
            "--cold",
            is_flag=True,
            help="Empty the second-level cache before each launch. Default: it keeps its contents.",
        ),
        click.option(
            "--warm-copies",
            is_flag=True,
            help="Fill the second-level cache with the copies from the host that a kernelslist.g names.",
        ),
        click.option(
            "--threads",
            type=click.IntRange(min=1),
            metavar="N",
            help="Number of threads that step the SMs of a launch; the result is the same. Default: one per processor, "
            "1 for small launches, with --processes and on a busy host.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return cast("Function", command)


def _sample(windows: int | None, blocks: int | None, sms: int | None) -> Sample | None:
    """The sample of the options; None without any."""
    from warpreg.timing import Sample

    if not any((windows, blocks, sms)):
        return None
    return Sample(windows or Sample().windows, blocks, sms)


def recorded(timed: Timed | None, choices: Iterable[ConfiguredDesign] = ()) -> simt.Record:
    """What a run must record: timing requires addresses, some designs require widths or patterns of values."""
    return needed_record((choice.design.declaration for choice in choices), addresses=timed is not None)


def timed_row(run: Run, choice: ConfiguredDesign, setting: Setting, timed: Timed, schedule: Path | None = None) -> Row:
    """Time all launches of a run in order; ``--registers``, if given, determines occupancy.

    ``schedule`` is a file to save the schedules of the launches to.
    """
    from warpreg.timing import recorded_schedules
    from warpreg.timing.launch.estimate import whole
    from warpreg.trace.chunked import save_all

    if schedule is None:
        counted = timed.count(run, choice, setting.machine)
    else:
        registers = run.options.get("registers")
        result, schedules = recorded_schedules(
            run.launches, setting.machine, designs=choice, registers=registers, mode=timed.mode, **timed.between(run)
        )
        save_all(schedules, schedule)
        counted = DesignCounts([result.counts], whole(result, len(run.launches)))
    assert counted.estimate is not None
    plain = DesignCounts([counted.estimate.timed.plain])
    return row(run, choice, setting, counted, plain, timed.options)


def as_dict(found: Row) -> dict[str, Any]:
    """The timing results of a run as JSON values."""
    values = found.as_dict()
    stalls = {"stalls": values["timing"].pop("stalls")}
    kept = ("cycles", "ipc", "timing", "design", "parameters", "energy_pj", "energy_normalized", "provenance")
    parts = {name: values[name] for name in PARTS if name in values}
    levels = {name: values[name] for name in values if name.endswith(("_reads", "_writes", "_normalized"))}
    return {name: values[name] for name in kept} | parts | stalls | levels


def tables(result: Row) -> list[Table]:
    """Cycles, the stall account of occupied warp slots, and the accesses of each level."""
    from warpreg.timing import CAUSES

    timing = result.timing
    assert timing is not None
    details = timing.details
    cycles = f"{timing.cycles:,.0f}" + (f" ± {timing.margin:,.0f} (95%)" if timing.margin else "")
    figures = {
        "cycles": cycles,
        "warp-instructions a cycle, all SMs": f"{timing.ipc:.2f}",
        "warp-instructions a cycle, an SM": f"{details['ipc_per_sm']:.3f}",
        "theoretical occupancy": theoretical(result.residency),
        "achieved occupancy": f"{details['occupancy']:.0%}",
        "collectors in use": f"{details['collector']['occupancy']:.0%}",
        **{f"use of {part}": f"{use:.0%}" for part, use in details["bandwidth_use"].items()},
    }
    if "sample" in details:
        sample = details["sample"]
        figures["sample"] = (
            f"{sample['windows']} windows on {sample['sms']} SMs, {sample['whole_launches']} launches whole"
        )
    account = {cause: details["stalls"][cause] for cause in CAUSES if cause != "empty" and details["stalls"][cause]}
    total = sum(account.values())
    rows = [
        {"a warp's cycles": cause, "share": f"{cycles / total:.1%}"}
        for cause, cycles in sorted(account.items(), key=lambda item: -item[1])
    ]
    return [
        output.table([{"timing": name, "value": value} for name, value in figures.items()], ["timing", "value"]),
        output.table(rows, ["a warp's cycles", "share"]),
        _levels(result),
        *energy_tables.of_run(result),
    ]


def _levels(result: Row) -> Table:
    rows: list[dict[str, Any]] = [
        {"level": name, "reads": int(use.reads), "writes": int(use.writes), "nJ": use.total_pj / 1000}
        for name, use in result.levels.items()
    ]
    if result.design != BASELINE:
        rows.append({"level": "energy over that of the plain MRF", "nJ": round(result.energy, 3)})
    return output.table(rows, ["level", "reads", "writes", "nJ"], result.label)
