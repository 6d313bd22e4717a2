"""``warpreg export``: write a run of a workload as a trace for Accel-Sim."""

from __future__ import annotations

from pathlib import Path

import click

from warpreg import ptx, simt
from warpreg.cli import output
from warpreg.cli.compile_options import compile_options
from warpreg.cli.options import json_option, limit_option, output_option, problem_options
from warpreg.evaluation.runs.run import CompileChoice, find_workload, run_workload
from warpreg.evaluation.runs.traces import export_run
from warpreg.machine_code.assembler import MachineCode
from warpreg.workloads import Workload

RECORD = simt.Record(path=True, addresses=True)


@click.command()
@click.argument("name", metavar="NAME|LAUNCHES.toml|.py")
@output_option("folder", "Output folder.", required=True)
@problem_options("tiny")
@compile_options
@limit_option
@json_option
def command(
    name: str,
    folder: Path,
    size: str,
    seed: int,
    choice: CompileChoice,
    max_instructions: int | None,
    as_json: bool,
) -> None:
    """Run a workload and write its trace for Accel-Sim (tracer version 5): kernelslist.g and one .traceg file per
    launch. With --code, also the cubin of the machine code, for --listing.

    \b
    warpreg export hotspot --output traces/hotspot
    """
    workload = find_workload(name)
    with output.alone(as_json), output.steps() as progress:
        progress.begin(f"running {name}")
        run = run_workload(workload, size, seed, choice, RECORD, max_instructions=max_instructions)
        progress.begin(f"writing {folder}")
        listed = export_run(run, folder)
        if choice.machine_code:
            (folder / f"{run.name}.{choice.machine_code}.cubin").write_bytes(_cubin(workload, choice))
    written = sum(path.stat().st_size for path in folder.glob("kernel-*.traceg"))
    if as_json:
        output.print_json(
            {
                "run": run.name,
                "list": str(listed),
                "launches": len(run.launches),
                "warp_instructions": run.warp_instructions,
                "bytes": written,
            }
        )
    else:
        click.echo(
            f"{listed}: {len(run.launches)} launches, {run.warp_instructions:,} warp-instructions, {written:,} bytes"
        )


def _cubin(workload: Workload, choice: CompileChoice) -> bytes:
    """What the assembler makes of a workload."""
    assert choice.machine_code is not None
    assembler = MachineCode.of(choice.machine_code, choice.max_registers)
    binary, _ = assembler.files(ptx.write(workload.module(choice.cuda)))
    return binary
