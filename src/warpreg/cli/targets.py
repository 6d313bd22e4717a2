"""The run of a target: a workload, a kernel file, a launch description or a hardware trace."""

from __future__ import annotations

from pathlib import Path

import click

from warpreg import simt
from warpreg.cli.launching import KERNEL_FILES, Launching
from warpreg.experiments.runs.run import CompileChoice, Run, find_workload, run_workload
from warpreg.experiments.runs.traces import UnknownOpcodes, is_trace, recorded_run

TARGET = "NAME|KERNEL.cu|.ptx|LAUNCHES.toml|.py|kernelslist.g"


def run_target(
    target: str,
    launching: Launching,
    size: str,
    seed: int,
    choice: CompileChoice,
    max_instructions: int | None,
    unknown_opcodes: UnknownOpcodes,
    record: simt.Record,
) -> Run:
    """Run the target, or read its trace.  Raises click.UsageError for a launch of what is no kernel file."""
    if Path(target).suffix in KERNEL_FILES:
        return launching.run(target, launching.values(seed), choice, max_instructions, record)
    if launching.is_launch:
        raise click.UsageError(f"--grid, --block, --arg and --symbol require a .cu or .ptx file, found '{target}'")
    if is_trace(target):
        return recorded_run(target, unknown_opcodes, choice)
    return run_workload(find_workload(target), size, seed, choice, record, max_instructions)
