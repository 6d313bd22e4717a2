"""``warpreg verify``: run workloads and compare what they compute with their references."""

from __future__ import annotations

import time

import click

from warpreg import designs, workloads
from warpreg.cli import output
from warpreg.cli.options import json_option, problem_options

FAILED = 1
CAUGHT = 0.95
"""Share of corruptions that must be caught."""


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@problem_options("tiny")
@click.option("--thorough", is_flag=True, help="Also with virtual registers, and with at most 16, 24 and 32 registers.")
@click.option(
    "--design",
    metavar="NAME|FILE.py",
    help="Place operands as this design does, each level with storage of its own, and compare memory with a plain run.",
)
@click.option(
    "--corruptions",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --design: make N placements wrong, one operand each, and count how many are caught.",
)
@click.option("--processes", type=click.IntRange(min=1), metavar="N", help="Default: one for each processor.")
@json_option
def command(
    names: tuple[str, ...],
    size: str,
    seed: int,
    thorough: bool,
    design: str | None,
    corruptions: int | None,
    processes: int | None,
    as_json: bool,
) -> int:
    """Run workloads (all, if none is named) and check their outputs; the exit status is 1 if one is wrong."""
    from warpreg.experiments.checks.verification import verify_all

    if design is not None:
        designs.load(design)
        if thorough:
            raise click.UsageError("--thorough is about compiling, --design about placing: give one of them")
    if corruptions is not None and design is None:
        raise click.UsageError("--corruptions needs the --design that places operands")
    chosen = list(names) or workloads.names()
    for name in chosen:
        if not name.endswith(".py"):
            workloads.find(name)
    if design is not None and corruptions is not None:
        return _corrupt(chosen, size, seed, design, corruptions, as_json)
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


def _corrupt(names: list[str], size: str, seed: int, design: str, count: int, as_json: bool) -> int:
    """Corrupt placements; the status is 1 unless 95% are caught and the others proved equivalent."""
    from warpreg.experiments.checks.corruption import trials

    found = []
    with output.steps(count) as progress:
        for trial in trials(names, count, design, size, seed):
            progress.begin(trial.workload)
            found.append(trial)
            progress.done()
    survivors = [trial for trial in found if not trial.message]
    summary = {
        "corruptions": count,
        "caught": count - len(survivors),
        "survivors": len(survivors),
        "equivalent": sum(trial.equivalent for trial in survivors),
    }
    if as_json:
        rows = [{"workload": t.workload, "kernel": t.kernel, "equivalent": t.equivalent} for t in survivors]
        output.print_json(summary | {"surviving": rows})
    else:
        output.print_tables([output.table([summary], list(summary))])
    good = summary["caught"] >= CAUGHT * count and summary["equivalent"] == summary["survivors"]
    return 0 if good else FAILED
