"""Results of a fuzzing campaign as a Markdown table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.fuzz.trial import Stage


def written(state: Path) -> tuple[str, int]:
    """The record of the slices in a state folder, and the number of defects in it."""
    paths = sorted(state.glob("[0-9]*.json"))
    starts, slices = [int(path.stem) for path in paths], [json.loads(path.read_text()) for path in paths]
    parts = [part for slice_ in slices for part in slice_["parts"]]
    stages = [sum(part["stages"][stage] for part in parts) for stage in Stage]
    defects = sum(len(part["defects"]) for part in parts)
    inputs = sum(stages) + defects
    parsed, compiled = sum(stages[Stage.PARSED :]), sum(stages[Stage.COMPILED :])
    dates = sorted(slice_["date"] for slice_ in slices)
    rows = {
        "date": dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}",
        "versions of the code (hashes of the compiler's sources)": ", ".join(
            dict.fromkeys(slice_["code"] for slice_ in slices)
        ),
        "inputs": f"{inputs:,}, numbers {min(starts):,} to {min(starts) + inputs - 1:,}",
        "parsed": _share(parsed, inputs),
        "compiled": _share(compiled, inputs),
        "executed": _share(stages[Stage.EXECUTED], inputs),
        "crashes, hangs, uncaught exceptions": str(defects),
        "host time, processes added up": f"{sum(slice_['seconds'] for slice_ in slices) / 60:.0f} minutes",
        "growth of resident memory over the last four fifths of a slice": _growth(parts),
    }
    rows |= {f"lines of `{package}` executed": share for package, share in _coverage(state).items()}
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())]), defects


def _share(count: int, inputs: int) -> str:
    return f"{count:,} ({count / inputs:.1%})"


def _growth(parts: list[dict[str, Any]]) -> str:
    """Median and greatest growth, in MiB."""
    grown = sorted((late - early) / 1024 for early, late in (part["resident"] for part in parts) if early)
    return f"median {grown[len(grown) // 2]:.1f} MiB, at most {grown[-1]:.1f} MiB" if grown else "not measured"


def _coverage(state: Path) -> dict[str, str]:
    """Line coverage by package; empty without measured slices."""
    measured = [str(path) for path in sorted(state.glob("coverage.*"))]
    if not measured:
        return {}
    data, report = state / "combined", state / "report.json"
    for command in (
        ["combine", "--keep", "-q", f"--data-file={data}", *measured],
        ["json", f"--data-file={data}", "-o", str(report), "-q"],
    ):
        subprocess.run([sys.executable, "-m", "coverage", *command], check=True, stdout=subprocess.DEVNULL)
    lines: dict[str, list[int]] = {}
    for name, file in json.loads(report.read_text())["files"].items():
        package = Path(name).parts[Path(name).parts.index("warpreg") + 1]
        total = lines.setdefault(package, [0, 0])
        total[0] += file["summary"]["covered_lines"]
        total[1] += file["summary"]["num_statements"]
    return {package: f"{done / every:.1%} of {every:,}" for package, (done, every) in sorted(lines.items())}
