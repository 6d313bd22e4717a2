"""``warpreg oracle``: the greedy placement of the compiler-managed hierarchy against the best possible one."""

from __future__ import annotations

import click

from warpreg import workloads
from warpreg.cli import output
from warpreg.cli.compare import design_choices
from warpreg.cli.options import compile_options, json_option
from warpreg.experiments.oracle import OracleGap, total
from warpreg.experiments.runs import CompileChoice
from warpreg.experiments.study import study

DESIGN = "orf-lrf"


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--set", "settings", multiple=True, metavar="orf-lrf.PARAMETER=VALUE", help="A parameter of the design.")
@click.option("--limit", default=10.0, show_default=True, metavar="SECONDS", help="Time of the solver for one strand.")
@click.option("--size", type=click.Choice(["tiny", "small", "full"]), default="small", show_default=True)
@click.option("--processes", type=click.IntRange(min=1), metavar="N", help="Default: one for each processor.")
@compile_options
@json_option
def command(
    names: tuple[str, ...],
    settings: tuple[str, ...],
    limit: float,
    size: str,
    processes: int | None,
    choice: CompileChoice,
    as_json: bool,
) -> None:
    """Energy that the greedy placement saves, and the best one, on workloads (all, if none is named).

    \b
    warpreg oracle hotspot --set orf-lrf.entries=5
    """
    chosen = list(names) or list(workloads.names())
    (design,) = design_choices([DESIGN], settings)
    measure = OracleGap(tuple(sorted(design.values.items())), limit)
    with output.steps(len(chosen)) as progress:
        found = study(chosen, [measure], size, choice, processes, lambda name: progress.done())[measure]
    rows = {**found, "all": total(found.values())}
    if as_json:
        output.print_json({name: gap.as_dict() for name, gap in rows.items()})
        return
    shown = [{"workload": name, **gap.as_dict(), "unproven": len(gap.unproven)} for name, gap in rows.items()]
    output.print_tables([output.table(shown, list(shown[0]))])
