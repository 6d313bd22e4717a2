"""``warpreg oracle``: compare greedy operand placement with optimal placement."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import click

from warpreg import workloads
from warpreg.cli import output
from warpreg.cli.compile_options import compile_options
from warpreg.cli.designs import design_choices, designs_option, set_option
from warpreg.cli.options import json_option, processes_option
from warpreg.evaluation.oracle.gap import Gap, OracleGap, gaps, total
from warpreg.evaluation.oracle.greedy_steps import DESIGNS
from warpreg.evaluation.oracle.page import page
from warpreg.evaluation.runs.run import CompileChoice, find_workload
from warpreg.ir.errors import UnknownNameError

ALL = "all"
COLUMNS = ("workload", "strands", "instructions", "greedy", "best", "bound", "share_of_best", "proven_share")


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@designs_option(",".join(DESIGNS))
@set_option
@click.option(
    "--limit", type=click.FloatRange(min=0), default=60.0, show_default=True, metavar="SECONDS",
    help="Time limit of the solver per strand; a strand that exceeds it is listed with its bounds.",
)  # fmt: skip
@click.option("--steps", is_flag=True, help="Also measure the saving of each step from greedy to optimal placement.")
@click.option(
    "--size",
    type=click.Choice(["tiny", "small", "full"]),
    default="small",
    show_default=True,
    help="Problem size of the workloads.",
)
@processes_option()
@click.option("--markdown", is_flag=True, help="Print Markdown tables.")
@compile_options
@json_option
def command(
    names: tuple[str, ...],
    designs: str,
    settings: tuple[str, ...],
    limit: float,
    steps: bool,
    size: str,
    processes: int | None,
    markdown: bool,
    choice: CompileChoice,
    as_json: bool,
) -> None:
    """Compare the operand energy of greedy placement with that of optimal placement. Default: all workloads.

    Energies are normalized to the main register file alone.

    \b
    warpreg oracle hotspot --set orf-lrf.entries=5
    warpreg oracle --designs rsp --size tiny --json
    """
    names_of_designs = designs.split(",")
    for name in names_of_designs:
        if name not in DESIGNS:
            raise click.UsageError(str(UnknownNameError("design with a greedy placement", name, DESIGNS)))
    measures = [
        OracleGap(one.design.name, tuple(sorted(one.parameters.items())), limit, steps)
        for one in design_choices(names_of_designs, settings)
    ]
    chosen = list(names) or list(workloads.names())
    for name in chosen:
        find_workload(name)
    found = _found(chosen, measures, size, choice, processes or os.cpu_count() or 1)
    tables = {
        measure.design: {name: found[name][place] for name in chosen} | {ALL: total(found[n][place] for n in chosen)}
        for place, measure in enumerate(measures)
    }
    if as_json:
        output.print_json({d: {n: gap.as_dict() for n, gap in rows.items()} for d, rows in tables.items()})
    elif markdown:
        click.echo(page(tables), nl=False)
    else:
        output.print_tables([_table(design, rows) for design, rows in tables.items()])


def _found(
    names: Sequence[str], measures: Sequence[OracleGap], size: str, choice: CompileChoice, processes: int
) -> Mapping[str, list[Gap]]:
    """The gaps by workload; tells of each finished workload."""
    rows: dict[str, list[Gap]] = {}
    with output.steps(len(names), "workloads") as progress:
        progress.begin("placing operands")
        for name, row in gaps(names, measures, size, choice, processes):
            rows[name] = row
            words = ", ".join(f"{m.design} {_short(gap)}" for m, gap in zip(measures, row, strict=True))
            progress.tell(f"{len(rows)}/{len(names)} {name}: {words}" if len(names) > 1 else "")
    return rows


def _short(gap: Gap) -> str:
    row = gap.as_dict()
    return f"{row['greedy']:.3f} greedy, {row['best']:.3f} best ({row['proven_share']:.0%} proven)"


def _table(design: str, rows: Mapping[str, Gap]) -> Any:
    lines = [{"workload": name, **gap.as_dict()} for name, gap in rows.items()]
    for line in lines:
        line |= {key: f"{line[key]:.1%}" for key in ("share_of_best", "proven_share")}
        line |= {key: f"{line[key]:.4f}" for key in ("greedy", "best", "bound")}
    return output.table(lines, COLUMNS, title=design)
