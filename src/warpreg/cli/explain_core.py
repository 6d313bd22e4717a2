"""``warpreg explain-core``: which functions the timing core of a machine and a design consists of, and why."""

from __future__ import annotations

import dataclasses

import click

from warpreg import gpu
from warpreg.cli import output
from warpreg.cli.designs import design_option, one_choice, set_option
from warpreg.cli.options import json_option
from warpreg.designs.loading.configured_design import PLAIN
from warpreg.timing.launch.explained import WRITTEN, explained
from warpreg.timing.launch.variants import given_of_design


@click.command()
@click.argument("machine", metavar="MACHINE")
@design_option("Design of the core, by default the plain MRF. Repeat for designs of other slots.")
@set_option
@click.option("--control-codes", is_flag=True, help="For a kernel whose control codes order its instructions.")
@click.option("--replaced", is_flag=True, help="Show only the functions in whose place another one runs.")
@json_option
def command(
    machine: str,
    files: tuple[str, ...],
    settings: tuple[str, ...],
    control_codes: bool,
    replaced: bool,
    as_json: bool,
) -> None:
    """Print which functions the timing core of a MACHINE consists of: those that a machine, a design, a kernel or a run
    may replace, in the order of a cycle, with the function that runs, its file and line, and why.

    warpreg explain-core h100 --design rfc --replaced
    """
    described = gpu.load(machine)
    choice = one_choice(files or (PLAIN,), settings, machine=described)
    given = given_of_design(described, choice, has_control_codes=control_codes)
    rows = [row for row in explained(given, choice.design.hooks) if not replaced or row.why != WRITTEN]
    if as_json:
        output.print_json([dataclasses.asdict(row) for row in rows])
        return
    stages = dict.fromkeys(row.stage for row in rows)
    output.print_tables(
        output.table(
            [
                {"port": row.port, "runs": row.function, "at": row.place, "because": row.why}
                for row in rows
                if row.stage == stage
            ],
            ["port", "runs", "at", "because"],
            title=stage[0].upper() + stage[1:],
        )
        for stage in stages
    )
