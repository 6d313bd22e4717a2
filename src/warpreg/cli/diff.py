"""``warpreg diff``: what a change of the code does to registers, accesses, energy and cycles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from warpreg import codegen, gpu, simt
from warpreg.cli import output
from warpreg.cli.compile_options import compile_options
from warpreg.cli.cycles import cycles_options, recorded
from warpreg.cli.designs import design_choices, design_option, designs_option, set_option
from warpreg.cli.launching import KERNEL_FILES, LaunchSpec, launch_options
from warpreg.cli.options import (
    json_option,
    limit_option,
    machine_option,
    problem_options,
    technology_option,
    unchecked_option,
)
from warpreg.evaluation.runs.code_changes import Change, CodeChanges, Version, code_changes
from warpreg.evaluation.runs.comparison import Setting
from warpreg.evaluation.runs.counting import Replayed, Timed
from warpreg.evaluation.runs.provenance import code_version
from warpreg.evaluation.runs.run import CompileChoice, Run, find_workload, run_workload
from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.ir.module import Module

FAILED = 1


def _percent(text: str) -> float:
    """``2%`` or ``2`` as a fraction.  Raises click.BadParameter."""
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise click.BadParameter(f"'{text}': expected a percentage from 0 on, such as 2%")
    return number / 100


@click.command()
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@click.option(
    "--launches",
    metavar="NAME|LAUNCHES.toml|.py",
    help="Run the code of either file with the launches and inputs of this workload or launch file.",
)
@launch_options
@designs_option("mrf,rfc")
@design_option("Also count accesses under this design. Repeat for more designs.")
@set_option
@machine_option
@technology_option
@click.option(
    "--fail-above",
    "limit",
    type=_percent,
    metavar="P%",
    help="Exit with status 1 if a quantity becomes worse by more than this.",
)
@click.option("--fail-on", metavar="A,B", help="Quantities that --fail-above looks at. Default: all of the table.")
@click.option("--all", "is_whole", is_flag=True, help="Also print quantities that do not change.")
@cycles_options
@problem_options("small")
@compile_options
@limit_option
@unchecked_option
@json_option
def command(
    before: str,
    after: str,
    launches: str | None,
    launching: LaunchSpec,
    designs: str,
    files: tuple[str, ...],
    settings: tuple[str, ...],
    machine: str,
    technology: str | None,
    limit: float | None,
    fail_on: str | None,
    is_whole: bool,
    timed: Timed | None,
    size: str,
    seed: int,
    choice: CompileChoice,
    max_instructions: int | None,
    unchecked: bool,
    as_json: bool,
) -> int:
    """Compare two versions of kernels: registers, instructions, and of runs accesses, energy and cycles.

    BEFORE and AFTER are kernel files (.cu, .ptx, .cubin, .fatbin, .sass), workloads or launch files. Kernels are
    matched by name. Files without --launches or launch options (as for 'warpreg run') are compared without a run. A
    file beside a workload runs with the launches of the workload.

    \b
    warpreg diff old.ptx new.ptx --fail-above 2%
    warpreg diff hotspot new.ptx --cycles --machine gtx480
    warpreg diff old.ptx new.ptx --launches launches.toml --fail-above 2% --fail-on energy,cycles
    warpreg diff old.ptx new.ptx --grid 4 --block 256 --arg buffer:f32:1024:arange --arg s32:1024
    """
    if fail_on is not None and limit is None:
        raise click.UsageError("--fail-on requires --fail-above")
    named = [*filter(None, designs.split(",")), *files]
    described = gpu.load(machine)
    choices = design_choices(named, settings, machine=described, unchecked=unchecked)
    setting = Setting.load(described, technology, choices)
    setting.check(choices)
    sides = [_Side(target, launches, launching, other) for target, other in ((before, after), (after, before))]
    if timed is not None and not sides[0].is_run:
        raise click.UsageError("--cycles requires launches: give --launches, or --grid, --block and --arg")
    record = recorded(timed, choices)
    with output.alone(as_json), output.steps() as progress:
        versions = []
        for side in sides:
            progress.begin(f"running {side.target}" if side.is_run else f"compiling {side.target}")
            versions.append(side.version(size, seed, choice, max_instructions, record))
        progress.begin("counting" if timed is None else "timing")
        comparison = code_changes(versions[0], versions[1], choices, setting, timed or Replayed())
    if not {*versions[0].kernels} & {*versions[1].kernels}:
        raise WarpregError(f"{before} and {after} have no kernel of the same name: {_only(comparison)}")
    worse = [] if limit is None else comparison.above(limit, _quantities(fail_on, comparison))
    if as_json:
        output.print_json(_as_dict(before, after, comparison, worse, limit, setting))
    else:
        _print(before, after, comparison, worse, limit, is_whole)
    return FAILED if worse else 0


class _Side:
    """One of the two versions: a kernel file, or a workload with launches of its own."""

    def __init__(self, target: str, launches: str | None, launching: LaunchSpec, other: str) -> None:
        self.target = target
        self.is_file = Path(target).suffix in KERNEL_FILES
        self._launching = launching
        if launching.is_launch and (launches or not (self.is_file and Path(other).suffix in KERNEL_FILES)):
            raise click.UsageError("--grid, --block, --arg and --symbol are for two kernel files without --launches")
        own = [one for one in (launches, target, other) if one and Path(one).suffix not in KERNEL_FILES]
        self._workload = find_workload(own[0]) if own else None
        self._code = None if self.is_file else find_workload(target)

    @property
    def is_run(self) -> bool:
        return self._workload is not None or self._launching.is_launch

    def version(
        self, size: str, seed: int, choice: CompileChoice, max_instructions: int | None, record: simt.Record
    ) -> Version:
        """The compiled kernels, and the run."""
        module = self._launching.module(self.target, choice) if self._code is None else self._code.module(choice.cuda)
        run: Run | None = None
        if self._workload is not None:
            try:
                run = run_workload(self._workload, size, seed, choice, record, max_instructions, module=module)
            except UnknownNameError as error:
                raise WarpregError(f"{self.target} with the launches of {self._workload.name}: {error}") from error
        elif self._launching.is_launch:
            run = self._launching.run(self.target, self._launching.values(seed), choice, max_instructions, record)
        return Version(self._kernels(module, choice, run), run)

    def _kernels(self, module: Module, choice: CompileChoice, run: Run | None) -> dict[str, Any]:
        names = module.kernel_names(self._launching.kernel)
        ran = {} if run is None else {kernel.name: kernel for kernel in run.kernels}
        return {name: ran.get(name) or codegen.translate(module, name, choice.options_for(module)) for name in names}


def _quantities(fail_on: str | None, found: CodeChanges) -> Sequence[str]:
    """The names of ``--fail-on``; a name stands for all quantities that begin with it."""
    names = sorted({change.quantity for change in found.changes})
    chosen: list[str] = []
    for word in filter(None, (fail_on or "").split(",")):
        fitting = [name for name in names if name == word or name.partition(" ")[0] == word]
        if not fitting:
            raise click.UsageError(f"--fail-on: {UnknownNameError('quantity of this comparison', word, names)}")
        chosen += fitting
    return chosen


def _print(
    before: str, after: str, comparison: CodeChanges, worse: Sequence[Change], limit: float | None, is_whole: bool
) -> None:
    shown = [change for change in comparison.changes if is_whole or change.before != change.after]
    rows = [
        {
            "kernel": change.kernel,
            "design": change.design,
            "quantity": change.quantity,
            "before": _value(change, change.before),
            "after": _value(change, change.after),
            "change": _percentage(change),
            "fails": "yes" if change in worse else "",
        }
        for change in shown
    ]
    console = output.console()
    if rows:
        columns = [name for name in rows[0] if any(row[name] for row in rows)]
        console.print(f"{before} -> {after}", style="bold", markup=False)
        output.print_tables([output.table(rows, columns)])
        console.print()
    same = len(comparison.changes) - sum(change.before != change.after for change in comparison.changes)
    console.print(f"{same} of {len(comparison.changes)} quantities do not change", style="dim")
    if only := _only(comparison):
        console.print(only)
    if comparison.differing is not None:
        console.print(
            f"outputs differ: {', '.join(comparison.differing)}"
            if comparison.differing
            else "outputs are equal bit for bit",
            style="" if comparison.differing else "dim",
        )
    if limit is not None:
        console.print(f"{len(worse)} worse by more than {100 * limit:g}%", style="bold red" if worse else "green")


def _percentage(change: Change) -> str:
    if change.before == change.after:
        return ""
    return f"{change.relative:+.1%}" if math.isfinite(change.relative) else "new"


def _value(change: Change, value: float) -> Any:
    if change.quantity == "occupancy":
        return f"{value:.0%}"
    return int(value) if value == int(value) else value


def _only(found: CodeChanges) -> str:
    """Kernels that one version does not have."""
    parts = [("removed", found.removed), ("added", found.added)]
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in parts if names)


def _as_dict(
    before: str, after: str, comparison: CodeChanges, worse: Sequence[Change], limit: float | None, setting: Setting
) -> dict[str, Any]:
    changes = [
        {
            "kernel": change.kernel,
            "design": change.design or None,
            "quantity": change.quantity,
            "before": change.before,
            "after": change.after,
            "change": change.relative if math.isfinite(change.relative) else None,
            **({} if limit is None else {"fails": change in worse}),
        }
        for change in comparison.changes
    ]
    return {
        "before": before,
        "after": after,
        "changes": changes,
        "removed": comparison.removed,
        "added": comparison.added,
        "outputs_differ": comparison.differing,
        **({} if limit is None else {"limit": limit, "failures": len(worse)}),
        "machine": setting.machine.name,
        "technology": setting.technology.name,
        "code": code_version(),
    }
