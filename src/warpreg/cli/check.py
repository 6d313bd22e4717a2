"""``warpreg check``: check a design against the contract of all designs, over demo workloads, in replay and in time."""

from __future__ import annotations

import click

from warpreg.cli import output
from warpreg.cli.designs import one_value, set_option
from warpreg.cli.options import json_option

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
@json_option
def command(design: str, settings: tuple[str, ...], machine: str, workloads: str | None, as_json: bool) -> int:
    """Check a design: no lost write, every read sees the last write, counts conserve, resets clean, switched off.

    Its hooks run with checks in replay and in time. A check that cannot be made is reported as not checked. The exit
    status is 1 if a check fails.
    """
    from warpreg.experiments.checks.contract import WORKLOADS, check_design

    values = one_value(design, settings)
    chosen = workloads.split(",") if workloads else WORKLOADS
    with output.steps() as progress:
        found = check_design(design, values, chosen, machine, progress.begin)
    rows = [{"check": one.check, "verdict": one.verdict, "detail": one.detail} for one in found]
    if as_json:
        output.print_json(rows)
    else:
        output.print_tables([output.table(rows, list(rows[0]), design)])
    return FAILED if any(one.verdict == "failed" for one in found) else 0
