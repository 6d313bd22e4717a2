"""``warpreg check``: check a design against the contract of all designs, over demo workloads, in replay and in time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warpreg import gpu
from warpreg.cli import output
from warpreg.cli.designs import one_value, set_option
from warpreg.cli.options import json_option

if TYPE_CHECKING:
    from warpreg.checks.contract import Finding
    from warpreg.checks.counterexample import Counterexample

FAILED = 1


@click.command()
@click.argument("design", metavar="NAME|FILE.py")
@set_option
@click.option(
    "--machine", default="gtx980-two-level", show_default=True, help="Machine to time on (name or .toml file)."
)
@click.option(
    "--workloads", metavar="A,B", help="Comma-separated workloads to check on. Default: the eight demo workloads."
)
@click.option(
    "--kernels",
    type=click.IntRange(min=0),
    default=40,
    show_default=True,
    metavar="N",
    help="Number of random kernels to check on as well.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random kernels.")
@click.option(
    "--save-kernel",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.ptx",
    help="Write the random kernel that fails, made as small as possible, to this file.",
)
@json_option
def command(
    design: str,
    settings: tuple[str, ...],
    machine: str,
    workloads: str | None,
    kernels: int,
    seed: int,
    save_kernel: Path | None,
    as_json: bool,
) -> int:
    """Check a design: no lost write, every read sees the last write, counts conserve, resets clean, switched off.

    Its hooks run with checks in replay and in time. A check that cannot be made is reported as not checked. A random
    kernel on which the design fails is made as small as possible and shown. The exit status is 1 if a check fails.
    """
    from warpreg.checks.contract import WORKLOADS, check_design

    gpu.load(machine)  # a name that is wrong is no failure of the design
    values = one_value(design, settings)
    chosen = workloads.split(",") if workloads else WORKLOADS
    with output.steps() as progress:
        findings = check_design(design, values, chosen, machine, progress.begin, kernels=kernels, seed=seed)
    failing = next((one.counterexample for one in findings if one.counterexample), None)
    if as_json:
        output.print_json([_as_dict(one) for one in findings])
    else:
        rows = [{"check": one.check, "verdict": one.verdict, "detail": one.detail} for one in findings]
        output.print_tables([output.table(rows, list(rows[0]), design)])
        if failing is not None:
            _print(failing)
    if failing is not None and save_kernel is not None:
        _save(failing, save_kernel)
    return FAILED if any(one.verdict == "failed" for one in findings) else 0


def _as_dict(finding: Finding) -> dict[str, Any]:
    row: dict[str, Any] = {"check": finding.check, "verdict": finding.verdict, "detail": finding.detail}
    failing = finding.counterexample
    if failing is None:
        return row
    code = [str(instruction) for instruction in failing.kernel.instructions()]
    kernel = {"pc": failing.pc, "code": code, "notes": failing.notes, "suspend": failing.suspend, "ptx": failing.ptx}
    return row | {"kernel": kernel}


def _print(failing: Counterexample) -> None:
    from warpreg.cli.listings import styled
    from warpreg.report.listing import listing

    console = output.console()
    console.print("\nThe smallest kernel found on which it fails:\n")
    for line in styled(listing(failing.kernel), failing.notes, marked=failing.pc):
        console.print(line, soft_wrap=True)


def _save(failing: Counterexample, path: Path) -> None:
    from warpreg.trace.files import whole

    with whole(path) as unfinished:
        unfinished.write_text(failing.ptx, encoding="utf-8")
    click.echo(f"wrote {path}", err=True)
