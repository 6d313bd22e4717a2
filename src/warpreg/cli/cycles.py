"""What ``--cycles`` adds to a run: its cycles on a machine, instructions a cycle, and where warp slots spent them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from rich.table import Table

from warpreg import simt
from warpreg.cli import output
from warpreg.experiments.runs import PATH, Run
from warpreg.gpu import Machine
from warpreg.timing import TimingResult, simulate

ADDRESSES = simt.Record(path=True, addresses=True)

cycles_option = click.option("--cycles", is_flag=True, help="Time the run on --machine: cycles, IPC, stall account.")
design_option = click.option(
    "--design", "designs", multiple=True, metavar="NAME|FILE.py", help="With --cycles: under this design; one a slot."
)


def recorded(cycles: bool) -> simt.Record:
    """What a run must record; timing needs addresses."""
    return ADDRESSES if cycles else PATH


def timed(run: Run, machine: Machine, designs: Sequence[str] = ()) -> TimingResult:
    """All launches of a run, one after the other; ``--registers`` decides occupancy where it is given."""
    return simulate(run.launches, machine, designs=designs, registers=run.options.get("registers"))


def as_dict(result: TimingResult) -> dict[str, Any]:
    """For JSON: what a run reports beside its profile."""
    told = result.as_dict()
    first = {name: told.pop(name) for name in ("cycles", "warp_instructions", "ipc", "stalls")}
    return {**first, "timing": told}


def tables(result: TimingResult) -> list[Table]:
    """Cycles, and the stall account of occupied warp slots."""
    figures = [
        {"timing": "cycles", "value": f"{result.cycles:,}"},
        {"timing": "warp-instructions a cycle, all SMs", "value": f"{result.ipc:.2f}"},
        {"timing": "warp-instructions a cycle, an SM", "value": f"{result.ipc_per_sm:.3f}"},
        {"timing": "warp slots that hold a warp", "value": f"{result.occupancy:.0%}"},
    ]
    account = {cause: cycles for cause, cycles in result.stall_account.items() if cycles and cause != "empty"}
    total = sum(account.values())
    rows = [
        {"a warp's cycles": cause, "share": f"{cycles / total:.1%}"}
        for cause, cycles in sorted(account.items(), key=lambda item: -item[1])
    ]
    return [output.table(figures, ["timing", "value"]), output.table(rows, ["a warp's cycles", "share"])]
