"""The run of a target: a workload, a kernel file, a launch description or a hardware trace."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from warpreg import simt
from warpreg.cli.launching import KERNEL_FILES, KINDS, LaunchSpec
from warpreg.evaluation.runs.run import CompileChoice, Run, find_workload, run_workload
from warpreg.evaluation.runs.traces import TraceChoice, is_trace, recorded_run

TARGET = "NAME|KERNEL.cu|.ptx|.cubin|LAUNCHES.toml|.py|kernelslist.g"


def run_target(
    target: str,
    launching: LaunchSpec,
    size: str,
    seed: int,
    choice: CompileChoice,
    max_instructions: int | None,
    reading: TraceChoice,
    record: simt.Record,
) -> Run:
    """Run the target, or read its trace.  Raises click.UsageError for a launch of what is no kernel file, and for
    options of traces with what is none.
    """
    check_reading([target], reading)
    if Path(target).suffix in KERNEL_FILES:
        return launching.run(target, launching.values(seed), choice, max_instructions, record)
    if launching.is_launch:
        raise click.UsageError(f"--grid, --block, --arg and --symbol require a kernel file ({KINDS}), found '{target}'")
    if is_trace(target):
        return recorded_run(target, reading, choice)
    return run_workload(find_workload(target), size, seed, choice, record, max_instructions)


def check_reading(targets: Iterable[str], reading: TraceChoice) -> None:
    """Raise click.UsageError if options that only a trace has are given for something else."""
    others = [target for target in targets if not is_trace(target)]
    if others and (names := reading.needs_trace):
        options = " and ".join(f"--{name.replace('_', '-')}" for name in names)
        raise click.UsageError(f"{options}: expected a hardware trace (kernelslist.g, .traceg), found '{others[0]}'")
