"""``warpreg verify``: run workloads and compare what they compute with their references."""

from __future__ import annotations

import time

import click

from warpreg import designs, workloads
from warpreg.cli import output
from warpreg.cli.options import json_option, problem_options

FAILED = 1


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@problem_options("tiny")
@click.option("--thorough", is_flag=True, help="Also with virtual registers, and with at most 16, 24 and 32 registers.")
@click.option(
    "--design",
    metavar="NAME|FILE.py",
    help="Place operands as this design does, each level with storage of its own, and compare memory with a plain run.",
)
@click.option("--processes", type=click.IntRange(min=1), metavar="N", help="Default: one for each processor.")
@json_option
def command(
    names: tuple[str, ...],
    size: str,
    seed: int,
    thorough: bool,
    design: str | None,
    processes: int | None,
    as_json: bool,
) -> int:
    """Run workloads (all, if none is named) and check their outputs; the exit status is 1 if one is wrong."""
    from warpreg.experiments.verification import verify_all

    if design is not None:
        designs.load(design)
        if thorough:
            raise click.UsageError("--thorough is about compiling, --design about placing: give one of them")
    chosen = list(names) or workloads.names()
    for name in chosen:
        if not name.endswith(".py"):
            workloads.find(name)
    began = time.perf_counter()
    verdicts = []
    with output.steps(len(chosen)) as progress:
        for verdict in verify_all(chosen, size, seed, thorough, processes, progress.begin, design):
            verdicts.append(verdict)
            progress.done()
    verdicts.sort(key=lambda verdict: verdict.workload)
    failed = [verdict for verdict in verdicts if not verdict.passed]
    summary = {
        "workloads": len(verdicts),
        "kernels": sum(verdict.kernels for verdict in verdicts),
        "passed": len(verdicts) - len(failed),
        "failed": len(failed),
        "seconds": round(time.perf_counter() - began, 2),
    }
    if as_json:
        output.print_json(summary | {"failures": {verdict.workload: verdict.failure for verdict in failed}})
    else:
        rows = [
            {
                "workload": verdict.workload,
                "kernels": verdict.kernels,
                "warp instructions": verdict.warp_instructions,
                "seconds": verdict.seconds,
                "verdict": verdict.failure or "passed",
            }
            for verdict in verdicts
        ]
        output.print_tables([output.table(rows, list(rows[0])), output.table([summary], list(summary))])
    return FAILED if failed else 0
