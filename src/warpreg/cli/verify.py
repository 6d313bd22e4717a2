"""``warpreg verify``: run workloads and check their outputs against their references."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from warpreg import designs, workloads
from warpreg.cli import output
from warpreg.cli.options import json_option, problem_options, processes_option
from warpreg.ir.cpp_names import short_name
from warpreg.machine_code.assembler import ARCHITECTURES

if TYPE_CHECKING:
    from warpreg.checks.verification import Verdict

FAILED = 1
CAUGHT = 0.95
"""Share of corruptions that must be detected."""


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@problem_options("tiny")
@click.option(
    "--thorough", is_flag=True, help="Also verify with virtual registers and with at most 16, 24 and 32 registers."
)
@click.option(
    "--design",
    metavar="NAME|FILE.py",
    help="Run with the operand placement of this design on the checking executor, and compare memory with a plain run.",
)
@click.option(
    "--corruptions",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --design: corrupt N placements, one operand each, and count the detected ones.",
)
@click.option(
    "--gpu",
    is_flag=True,
    help="Run every launch on the NVIDIA GPU of this machine too, from the same memory; compare memory and outputs.",
)
@click.option(
    "--control-codes",
    type=click.Choice(ARCHITECTURES),
    help="Instead of running: check that the control codes of the machine code that ptxas makes for this architecture "
    "keep every dependence; requires the cuda extra.",
)
@processes_option()
@json_option
def command(
    names: tuple[str, ...],
    size: str,
    seed: int,
    thorough: bool,
    design: str | None,
    corruptions: int | None,
    gpu: bool,
    control_codes: str | None,
    processes: int | None,
    as_json: bool,
) -> int:
    """Run workloads and check their outputs against their references. Default: all workloads.

    The exit status is 1 if an output is wrong, or if nothing could be checked.
    """
    from warpreg.checks.verification import verify_all

    if design is not None:
        designs.load(design)
        if thorough:
            raise click.UsageError("--thorough and --design exclude each other; give one of them")
    if gpu and (thorough or design is not None):
        raise click.UsageError("--gpu excludes --thorough and --design")
    if control_codes and (gpu or thorough or design is not None):
        raise click.UsageError("--control-codes excludes --gpu, --thorough and --design")
    if corruptions is not None and design is None:
        raise click.UsageError("--corruptions requires --design")
    chosen = list(names) or workloads.names()
    for name in chosen:
        if not name.endswith(".py"):
            workloads.find(name)
    if design is not None and corruptions is not None:
        return _corrupt(chosen, size, seed, design, corruptions, as_json)
    if control_codes:
        return _control_codes(chosen, control_codes, as_json)
    if gpu:
        return _on_gpu(chosen, size, seed, processes, as_json)
    began = time.perf_counter()
    verdicts = []
    with output.steps(len(chosen), "workloads") as progress:
        for verdict in verify_all(chosen, size, seed, thorough, processes, progress.begin, design):
            verdicts.append(verdict)
            progress.done()
            progress.failed(verdict.workload, verdict.failure)
    verdicts.sort(key=lambda verdict: verdict.workload)
    failed = [verdict for verdict in verdicts if verdict.failure]
    unchecked = [verdict for verdict in verdicts if verdict.unchecked and not verdict.failure]
    summary: dict[str, float] = {
        "workloads": len(verdicts),
        "kernels": sum(verdict.kernels for verdict in verdicts),
        "passed": sum(verdict.passed for verdict in verdicts),
        "failed": len(failed),
    }
    if unchecked:
        summary["not checked"] = len(unchecked)
    if as_json:
        output.print_json(summary | _messages(failed, unchecked))
    else:
        rows = [
            {
                "workload": verdict.workload,
                "kernels": verdict.kernels,
                "warp instructions": verdict.warp_instructions,
                "seconds": verdict.seconds,
                "verdict": verdict.failure or (f"not checked: {verdict.unchecked}" if verdict.unchecked else "passed"),
            }
            for verdict in verdicts
        ]
        summary["seconds"] = round(time.perf_counter() - began, 2)
        output.print_tables([output.table(rows, list(rows[0])), output.table([summary], list(summary))])
    return FAILED if failed or not summary["passed"] else 0


def _messages(failed: Sequence[Verdict], unchecked: Sequence[Verdict]) -> dict[str, dict[str, str]]:
    found = {"failures": {verdict.workload: verdict.failure for verdict in failed}}
    return found | ({"unchecked": {one.workload: one.unchecked for one in unchecked}} if unchecked else {})


def _on_gpu(names: list[str], size: str, seed: int, processes: int | None, as_json: bool) -> int:
    """Compare with the GPU; the status is 1 if an output of the GPU is wrong, or if a launch could not be compared."""
    from warpreg.checks.gpu.comparison import compare_all

    verdicts = []
    with output.steps(len(names), "workloads") as progress:
        for verdict in compare_all(names, size, seed, processes, progress.begin):
            verdicts.append(verdict)
            progress.done()
    verdicts.sort(key=lambda verdict: verdict.workload)
    kernels = [(verdict.workload, kernel) for verdict in verdicts for kernel in verdict.kernels]
    failures = {verdict.workload: verdict.failure for verdict in verdicts if verdict.failure}
    summary: dict[str, float] = {
        "workloads": len(verdicts),
        "kernels": len(kernels),
        "equal kernels": sum(one.compared == one.launches and not one.differing for _, one in kernels),
        "elements": sum(one.elements for _, one in kernels),
        "differing": sum(one.differing for _, one in kernels),
        "differing at -O0": sum(one.unoptimized for _, one in kernels),
        "failed": len(failures),
    }
    rows = [
        {
            "workload": workload,
            "kernel": short_name(one.kernel),
            "launches": one.launches,
            "compared": one.compared,
            "elements": one.elements,
            "differing": one.differing,
            "at -O0": one.unoptimized,
            "absolute": one.absolute if math.isfinite(one.absolute) else "infinite",
            "relative": one.relative if math.isfinite(one.relative) else "infinite",
            "registers": one.registers,
            "GPU's registers": one.gpu_registers,
            "first difference": one.first,
        }
        for workload, one in kernels
    ]
    gpus = [*dict.fromkeys(verdict.gpu for verdict in verdicts)]
    notes = sorted({note for verdict in verdicts for note in verdict.notes})
    if as_json:
        output.print_json(summary | {"gpu": gpus, "notes": notes, "failures": failures, "kernels": rows})
    else:
        tables = [output.table(rows, list(rows[0]))] if rows else []
        failed = [{"workload": name, "failure": failure} for name, failure in failures.items()]
        tables += [output.table(failed, list(failed[0]))] if failed else []
        output.print_tables([*tables, output.table([summary | {"gpu": ", ".join(gpus)}], [*summary, "gpu"])])
    return FAILED if failures else 0


def _control_codes(names: list[str], architecture: str, as_json: bool) -> int:
    """Check the control codes of machine code; the status is 1 if one does not keep a dependence."""
    from warpreg.checks.control_codes import CheckedCode, check_codes

    checked: list[CheckedCode] = []
    with output.steps(len(names), "workloads") as progress:
        for name in names:
            progress.begin(name)
            checked += check_codes(name, architecture)
            progress.done()
    rows = [row for one in checked for row in one.rows()]
    summary = {
        "workloads": len(names),
        "kernels": len(checked),
        "instructions": sum(one.kernel.instruction_count for one in checked),
        "unsafe": len(rows),
    }
    if as_json:
        output.print_json(summary | {"architecture": architecture, "found": rows})
    else:
        tables = [output.table(rows, list(rows[0]))] if rows else []
        output.print_tables([*tables, output.table([summary], list(summary))])
    return FAILED if rows else 0


def _corrupt(names: list[str], size: str, seed: int, design: str, count: int, as_json: bool) -> int:
    """Corrupt placements; the status is 0 if 95% are detected and the others are proved equivalent."""
    from warpreg.checks.corruption import trials

    results = []
    with output.steps(count, "corruptions") as progress:
        for trial in trials(names, count, design, size, seed):
            progress.begin(trial.workload)
            results.append(trial)
            progress.done()
    survivors = [trial for trial in results if not trial.message]
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
