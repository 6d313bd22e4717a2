"""``warpreg rank FOLDER``: a leaderboard of the design files of a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warpreg.checks.leaderboard.confinement import Limits
from warpreg.checks.leaderboard.entrant import Rules
from warpreg.checks.leaderboard.process import Outcome, outcomes
from warpreg.checks.leaderboard.scores import SCORES, Score, ranked, row
from warpreg.cli import output
from warpreg.gpu import load as load_machine

WORKLOADS = ("vector-add", "reduction", "matrix-mul")
SIZE = "tiny"
WALL = 4
"""Seconds until a process is killed, for each of its processor time: processors may be busy."""
NOT_A_SANDBOX = (
    "Not a sandbox: code of a design can read your files, and can forge its own scores. Rank files of people you know."
)


def rules_of(workloads: str | None, size: str, machine: str, seconds: int, memory: int) -> Rules:
    """What the options say.  ``memory`` in MiB.  Raises the errors of unknown names."""
    from warpreg.evaluation.runs.run import find_workload

    names = tuple(workloads.split(",")) if workloads else WORKLOADS
    for name in names:
        find_workload(name)
    load_machine(machine)
    return Rules(names, size, machine, Limits(seconds, WALL * seconds, memory << 20))


def rank_folder(folder: Path, rules: Rules, by: Score, as_json: bool) -> int:
    """Measure and print; returns 1 if no file of the folder has scores."""
    with output.steps() as progress:
        progress.begin(f"measuring the designs of {folder}")
        found = outcomes(folder, rules)
    lines = ranked(found, by)
    order = [by, *(one for one in SCORES if one != by)]
    if as_json:
        output.print_json(_as_dict(rules, order, lines))
    else:
        _print(rules, order, lines)
    return 0 if any(not one.reason for one in found[1:]) else 1


def _as_dict(rules: Rules, order: Sequence[str], lines: Sequence[tuple[int, Outcome]]) -> dict[str, Any]:
    return {
        "workloads": list(rules.workloads),
        "size": rules.size,
        "machine": rules.machine,
        "order": list(order),
        "writes_confined": all(one.is_confined for _, one in lines if not one.reason),
        "ranking": [row(rank, one) for rank, one in lines],
    }


def _print(rules: Rules, order: Sequence[str], lines: Sequence[tuple[int, Outcome]]) -> None:
    scored = [
        {
            "rank": str(rank),
            "design": one.name,
            "energy": f"{one.energy:.3f}",
            "cycles": f"{one.cycles:.3f}",
            "storage": f"{one.storage / 1024:.1f} KiB",
        }
        for rank, one in lines
        if rank
    ]
    failed = [{"design": one.name, "not ranked, because": one.reason} for rank, one in lines if not rank]
    output.print_tables([output.table(rows, list(rows[0])) for rows in (scored, failed) if rows])
    confined = all(one.is_confined for rank, one in lines if rank)
    limits = rules.limits
    notes = (
        f"energy (dynamic) and cycles: of those of the plain register file (mrf), geometric means over "
        f"{', '.join(rules.workloads)} ({rules.size}) on {rules.machine}; storage: what a design adds to an SM",
        f"ranked by {order[0]}, among equals by {order[1]}, then {order[2]}; six digits count",
        f"each file in a process of its own: {limits.seconds:,} s of processor time, {limits.wall_seconds:,} s in all, "
        f"{limits.memory >> 20:,} MiB; writes outside a temporary folder "
        + ("refused" if confined else "NOT refused, as this system has no Landlock"),
        NOT_A_SANDBOX,
    )
    console = output.console()
    console.print()
    for note in notes:
        console.print(note, style="dim", markup=False)
