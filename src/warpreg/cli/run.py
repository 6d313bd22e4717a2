"""``warpreg run``: run a workload or a kernel file, check it, print its register profile."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.table import Table

from warpreg import gpu
from warpreg.cli import cycles as cli_cycles
from warpreg.cli import output
from warpreg.cli.compile_options import compile_options
from warpreg.cli.cycles import cycles_options
from warpreg.cli.designs import one_choice, set_option
from warpreg.cli.launching import KERNEL_FILES, KINDS, LaunchSpec, LaunchValues, launch_options
from warpreg.cli.options import (
    json_option,
    limit_option,
    problem_options,
    trace_options,
    unchecked_option,
)
from warpreg.cli.targets import TARGET, check_reading
from warpreg.evaluation.runs.comparison import BASELINE, DEFAULT_MACHINE, Setting
from warpreg.evaluation.runs.counting import Timed
from warpreg.evaluation.runs.profile import register_profile
from warpreg.evaluation.runs.provenance import NOTE
from warpreg.evaluation.runs.residency import Residency
from warpreg.evaluation.runs.row import Row
from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice, Run, find_workload, run_workload
from warpreg.evaluation.runs.traces import TraceChoice, is_trace, recorded_run
from warpreg.gpu import Machine
from warpreg.replay import Profile
from warpreg.trace.files import whole

FIRST_ELEMENTS = 6


@click.command()
@click.argument("target", metavar=TARGET)
@problem_options("small")
@launch_options
@click.option(
    "--save",
    multiple=True,
    metavar="N|NAME=FILE.npy",
    help="Write a buffer to a file after the run: argument N (counted from 0), N.F of field F of a structure, or a "
    "__device__ variable by its name.",
)
@click.option(
    "--machine",
    default=DEFAULT_MACHINE,
    show_default=True,
    help="Machine for occupancy and cycles (name or .toml file).",
)
@cycles_options
@click.option(
    "--design",
    "designs",
    multiple=True,
    metavar="NAME|FILE.py",
    help="With --cycles: design to time. Repeat for designs of other slots.",
)
@set_option
@click.option(
    "--technology",
    help="With --cycles: technology for the energy (name or .toml file). Default: the first that prices the design.",
)
@click.option(
    "--save-schedule",
    "schedule",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --cycles: save the issue schedule for 'warpreg compare --schedule'.",
)
@click.option("--recompute", is_flag=True, help="With --cycles: time launches again that an earlier run has kept.")
@compile_options
@limit_option
@trace_options
@unchecked_option
@json_option
def command(
    target: str,
    size: str,
    seed: int,
    launching: LaunchSpec,
    save: tuple[str, ...],
    machine: str,
    timed: Timed | None,
    designs: tuple[str, ...],
    settings: tuple[str, ...],
    technology: str | None,
    schedule: Path | None,
    recompute: bool,
    choice: CompileChoice,
    max_instructions: int | None,
    reading: TraceChoice,
    unchecked: bool,
    as_json: bool,
) -> None:
    """Run a kernel or workload, check its outputs, and print its register profile.

    The target is a workload name (see 'warpreg list workloads'), a kernel file (.cu, .ptx, .cubin, .fatbin,
    .sass), a launch description (.toml, .py), or a hardware trace of Accel-Sim (kernelslist.g, .traceg).

    \b
    warpreg run hotspot
    warpreg run saxpy.cu --grid 4 --block 256 --arg f32:2.0 --arg buffer:f32:1024:arange \\
        --arg buffer:f32:1024:ones --arg s32:1024
    """
    _refuse_without_cycles(timed, designs, settings, schedule, recompute)
    if timed is not None and recompute:
        timed = dataclasses.replace(timed, resume=False)
    check_reading([target], reading)
    described = gpu.load(machine)
    design = one_choice(designs or (BASELINE,), settings, machine=described, unchecked=unchecked)
    setting = Setting.load(described, technology, [design])
    setting.check([design])
    record = cli_cycles.recorded(timed, [design])
    if Path(target).suffix in KERNEL_FILES:
        given = launching.values(seed)
        saved = _saved(given, save)
        with output.alone(as_json), output.steps() as progress:
            progress.begin(f"running {target}")
            read = [name for name, _ in saved if name not in given.arrays]
            run = launching.run(target, given, choice, max_instructions, record, read)
            progress.begin("reading the path")
            profile = register_profile(run)
        _write(given, run, saved)
        report = _file_report(given)
    elif is_trace(target):
        _refuse_launch_options(target, launching, save)
        with output.alone(as_json), output.steps() as progress:
            progress.begin(f"reading {target}")
            run = recorded_run(target, reading, choice)
            profile = register_profile(run)
        what = "trace" if (reading.kernels, reading.blocks) == (None, None) else "selected part of the trace"
        report = {"checked": f"{what} read completely; a trace contains no outputs to check"}
    else:
        _refuse_launch_options(target, launching, save)
        workload = find_workload(target)
        with output.alone(as_json), output.steps() as progress:
            progress.begin(f"running {target}")
            run = run_workload(workload, size, seed, choice, record, max_instructions)
            progress.begin("reading the path")
            profile = register_profile(run)
        report = {"checked": _checked(run)}
    residencies = run.residencies(described, design)
    timing = None
    if timed is not None:
        with output.alone(as_json), output.steps() as progress:
            progress.begin(f"timing {target} on {machine}")
            timing = cli_cycles.timed_row(run, design, setting, timed, schedule)
            progress.row(timing.as_dict())
    if as_json:
        timed_values = {} if timing is None else cli_cycles.as_dict(timing)
        output.print_json(_as_dict(run, profile, described, residencies) | report | timed_values)
    else:
        _print(run, profile, residencies, report, timing)


def _refuse_without_cycles(
    timed: Timed | None, designs: tuple[str, ...], settings: tuple[str, ...], schedule: Path | None, recompute: bool
) -> None:
    if timed is None:
        wanting = {"--design": designs, "--set": settings, "--save-schedule": schedule, "--recompute": recompute}
        for option, given in wanting.items():
            if given:
                raise click.UsageError(f"{option} requires --cycles; 'warpreg compare' counts accesses without timing")
    elif timed.sample is not None and schedule is not None:
        raise click.UsageError("--save-schedule requires a whole run; remove the --sample options")
    elif timed.threads is not None and schedule is not None:
        raise click.UsageError("--save-schedule and --threads exclude each other; one thread records schedules")


def _checked(run: Run) -> str:
    """The result of checking the outputs."""
    if not run.checked:
        return "finished; no reference outputs to compare with"
    if len(set(run.checked.values())) == 1:
        return f"matches the reference ({next(iter(run.checked.values()))})"
    return f"matches the reference ({'; '.join(f'{name}: {how}' for name, how in run.checked.items())})"


def _refuse_launch_options(target: str, launching: LaunchSpec, save: tuple[str, ...]) -> None:
    if launching.is_given or save:
        raise click.UsageError(
            f"--kernel, --grid, --block, --arg, --symbol and --save require a kernel file ({KINDS}); "
            f"'{target}' is a workload or a trace and defines its own launches"
        )


def _saved(given: LaunchValues, save: tuple[str, ...]) -> list[tuple[str, Path]]:
    """What to write into which file.  Raises click.UsageError for an argument that is no buffer."""
    named = [text.partition("=") for text in save]
    for (name, _, path), text in zip(named, save, strict=True):
        is_place = name.replace(".", "").isdigit()
        if not name or not path or (is_place and name not in given.arrays):
            known = ", ".join(name for name in given.arrays if name.replace(".", "").isdigit()) or "none"
            raise click.UsageError(
                f"--save {text}: expected N=FILE.npy, with N a buffer argument ({known}) or the name of a variable"
            )
    return [(name, Path(path)) for name, _, path in named]


def _write(given: LaunchValues, run: Run, saved: Sequence[tuple[str, Path]]) -> None:
    for name, path in saved:
        array = given.arrays[name][1] if name in given.arrays else run.outputs[name]
        with whole(path) as unfinished, unfinished.open("wb") as file:
            np.save(file, array)


def _file_report(given: LaunchValues) -> dict[str, Any]:
    return {
        "arguments": [
            {"argument": int(place) if place.isdigit() else place, "as": text, **_summary(array)}
            for place, (text, array) in given.arrays.items()
        ]
    }


def _summary(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    flat = array.reshape(-1)
    finite = flat[np.isfinite(flat)] if flat.dtype.kind == "f" else flat
    return {
        "first": " ".join(f"{value:g}" for value in flat[:FIRST_ELEMENTS]),
        "least": f"{finite.min():g}" if finite.size else "",
        "most": f"{finite.max():g}" if finite.size else "",
    }


def _launch_rows(run: Run, residencies: Sequence[Residency]) -> list[dict[str, Any]]:
    resident = {one.kernel: one for one in residencies}
    return [
        {
            "kernel": kernel.name,
            "launches": len(launches),
            "grid": "x".join(map(str, launches[0].grid)),
            "block": "x".join(map(str, launches[0].block)),
            "registers": kernel.register_count,
            "demand": resident[kernel.name].registers,
            "warps an SM": resident[kernel.name].warps,
            "occupancy": f"{resident[kernel.name].fraction:.0%}",
            "limited by": resident[kernel.name].limiter,
            "instructions": kernel.instruction_count,
            "shared bytes": kernel.shared_bytes,
            "local bytes": kernel.local_bytes,
            "warp instructions": sum(int(launch.warp_instructions) for launch in launches),
        }
        for kernel, launches in ((kernel, run.launches_of(kernel)) for kernel in run.kernels)
    ]


def _as_dict(run: Run, profile: Profile, machine: Machine, residencies: Sequence[Residency]) -> dict[str, Any]:
    from warpreg.evaluation.runs.provenance import code_version

    return {
        "run": run.name,
        "options": dict(run.options),
        "kernel": run.digest,
        "code": code_version(),
        "warp_instructions": run.warp_instructions,
        "launches": [{_key(name): value for name, value in row.items()} for row in _launch_rows(run, residencies)],
        "residency": [one.as_dict() for one in residencies],
        "machine": machine.name,
        "profile": profile.as_dict(),
    }


def _key(column: str) -> str:
    return column.replace(" ", "_")


def _print(
    run: Run, profile: Profile, residencies: Sequence[Residency], report: dict[str, Any], timing: Row | None
) -> None:
    console = output.console()
    usual = AS_COMPILED.as_dict() | {"seed": 0, "shared_bytes": 0, NOTE: run.note}
    chosen = {name: value for name, value in run.options.items() if name not in usual or value != usual[name]}
    options = ", ".join(f"{name} {_shown(value)}" for name, value in chosen.items())
    console.print(f"[bold]{run.name}[/bold] ({options})")
    if run.note:
        console.print(f"note: {run.note}", markup=False)
    if "checked" in report:
        console.print(f"[green]✓[/green] {report['checked']}")
    speed = run.warp_instructions / run.seconds / 1e6 if run.seconds else 0
    console.print(
        f"{run.warp_instructions:,} warp-instructions in {run.seconds:.2f} s ({speed:,.0f} million/s, path recorded)\n"
    )
    rows = _launch_rows(run, residencies)
    columns = [name for name in rows[0] if not name.endswith(" bytes") or any(row[name] for row in rows)]
    tables = [output.table(rows, columns), _profile_table(profile)]
    if "arguments" in report:
        tables.append(
            output.table(report["arguments"], ["argument", "as", "first", "least", "most"], "Buffers after the run")
        )
    if timing is not None:
        tables += cli_cycles.tables(timing)
    output.print_tables(tables)
    for one in residencies:
        if one.misfit:
            console.print(f"\noccupancy 0%: {one.misfit}", style="bold yellow", markup=False)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(value)
    return "x".join(map(str, value)) if isinstance(value, list) else str(value)


def _profile_table(profile: Profile) -> Table:
    """The register profile as in Figure 2 of the papers; shares are of all values written."""
    values = profile.as_dict()
    rows = [
        {"register profile": "registers read per instruction", "share": f"{values['reads_per_instruction']:.2f}"},
        {"register profile": "registers written per instruction", "share": f"{values['writes_per_instruction']:.2f}"},
        _shares("values by times read", values["values_by_reads"]),
        _shares("values read once, by instructions until then", values["once_read_by_lifetime"]),
        {"register profile": "values that SFU, MEM or TEX read", "share": f"{values['shared_consumed']:.0%}"},
        {
            "register profile": "... and that an ALU produced",
            "share": f"{values['shared_consumed'] * values['shared_consumed_from_private']:.0%}",
        },
    ]
    return output.table(rows, ["register profile", "share"])


def _shares(name: str, shares: dict[str, float]) -> dict[str, str]:
    return {"register profile": name, "share": "   ".join(f"{key}: {share:.0%}" for key, share in shares.items())}
