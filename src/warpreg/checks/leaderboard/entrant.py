"""The process of one design file: it limits itself, checks and measures the design, and writes down the result.

``python -m warpreg.checks.leaderboard.entrant FOLDER`` reads ``rules.json`` in the folder and writes ``result.json``.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpreg.checks.leaderboard.confinement import Limits, confine

RULES, RESULT = "rules.json", "result.json"
FOLLOWED_ON = ("vector-add", "bfs"), "tiny"
"""Workloads, and their size, on which values are followed, whatever designs are ranked on: their launches are short."""
KERNELS = 10
"""Random kernels on which values are followed."""
PLAIN = "mrf"


@dataclass(frozen=True)
class Rules:
    """What every design is measured on, and the limits of its process."""

    workloads: tuple[str, ...]
    size: str
    machine: str
    limits: Limits


def main(folder: Path) -> None:
    """Measure the design that the rules name."""
    given = json.loads((folder / RULES).read_text(encoding="utf-8"))
    limits = Limits(**given["limits"])
    rules = Rules(tuple(given["workloads"]), given["size"], given["machine"], limits)
    is_confined = confine(folder, limits)
    try:
        result = measured(given["file"], rules)
    except BaseException as error:
        result = {"reason": _told(error, limits)}
    (folder / RESULT).write_text(json.dumps(result | {"confined": is_confined}), encoding="utf-8")


def measured(file: str, rules: Rules) -> dict[str, Any]:
    """Energy and cycles of the design over those of the plain register file by workload, and added bytes; or the
    ``reason`` for which it does not take part.
    """
    import warpreg
    from warpreg.checks.contract import NOTHING_PLANNED, random_kernels, values_kept
    from warpreg.checks.subject import Subject, record_for
    from warpreg.designs import load
    from warpreg.evaluation.runs.run import find_workload, run_workload

    design = load(file, checked=True)
    record = record_for(design)
    names, size = FOLLOWED_ON
    subjects = [
        Subject.of(name, run_workload(find_workload(name), size, record=record).launches[0], design, rules.machine)
        for name in names
    ]
    for finding in (
        values_kept(design, {}, subjects),
        random_kernels(design, {}, KERNELS, 0, rules.machine),
    ):
        if finding.verdict == "failed" or (finding.verdict == "not checked" and finding.detail != NOTHING_PLANNED):
            return {"reason": f"{finding.check}: {finding.verdict}: {finding.detail}"}
    runs = [run_workload(find_workload(name), rules.size, record=record) for name in rules.workloads]
    rows = warpreg.compare(runs, [file], machine=rules.machine, cycles=True, threads=1).to_dict("records")
    if wrong := next((str(row["error"]) for row in rows if isinstance(row.get("error"), str)), ""):
        return {"reason": wrong}
    return {
        "energy": [float(row["energy_normalized"]) for row in rows],
        "cycles": [1 / float(row["speed"]) for row in rows],
        "storage": max(float(row.get("added_bytes", 0)) for row in rows),
    }


def _told(error: BaseException, limits: Limits) -> str:
    from warpreg.ir.errors import WarpregError

    if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
        return f"needs more than {limits.memory >> 20:,} MiB of memory"
    return str(error) if isinstance(error, WarpregError) else f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
