"""Cycles compared with those of Accel-Sim on the same traces and machine tables."""

from __future__ import annotations

import functools
import math
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from warpreg.evaluation.runs.traces import recorded_run
from warpreg.gpu import load
from warpreg.timing import simulate
from warpreg_workbench.accelsim.kernels import KERNELS
from warpreg_workbench.accelsim.trace_files import write

FILE = Path(__file__).with_name("cycles.toml")


DELIBERATE = {"titanx": ("barrier_heavy",)}
"""Traces by machine whose difference is a deliberate one (docs/explanation/accelsim.md)."""


@functools.cache
def recorded_cycles() -> dict[str, Any]:
    """The content of ``cycles.toml``."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def machines() -> tuple[str, ...]:
    """The machines with recorded Accel-Sim cycles."""
    return tuple(recorded_cycles()["binary_version"])


def compare(names: Sequence[str] = tuple(KERNELS), on: Sequence[str] = ()) -> pd.DataFrame:
    """A row for each kernel and machine: ``cycles``, ``accelsim_cycles`` without launch latency, ``ratio`` of ours to
    theirs, and the larger of it and its inverse as ``factor``."""
    rows = [row for machine in on or machines() for row in _rows(names, machine)]
    return pd.DataFrame(rows)


def _rows(names: Sequence[str], machine: str) -> Iterator[dict[str, Any]]:
    facts = recorded_cycles()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            listed = write(Path(folder) / name, name, KERNELS[name], facts["binary_version"][machine])
            ours = simulate(recorded_run(str(listed)).launches, load(machine))
            theirs = facts["cycles"][name][machine] - facts["launch_cycles"]
            yield {
                "machine": machine,
                "kernel": name,
                "warp_instructions": ours.warp_instructions,
                "cycles": ours.cycles,
                "accelsim_cycles": theirs,
                **factor(ours.cycles, theirs),
            }


def factor(ours: int, theirs: int) -> dict[str, float]:
    """The ``ratio`` of cycles, and the larger of it and its inverse as ``factor``."""
    ratio = ours / theirs
    return {"ratio": ratio, "factor": max(ratio, 1 / ratio)}


def summary(frame: pd.DataFrame) -> dict[str, float]:
    """Geometric mean of ``factor`` over all rows and by machine, without `DELIBERATE` differences too, and Spearman's
    rank correlation by machine (of at least two rows).
    """
    values = {"factor_geomean": _mean(frame)}
    for machine, rows in frame.groupby("machine"):
        values[f"factor_geomean_{machine}"] = _mean(rows)
        if machine in DELIBERATE:
            values[f"factor_geomean_{machine}_otherwise"] = _mean(rows[~rows["kernel"].isin(DELIBERATE[str(machine)])])
        if len(rows) < 2:
            continue
        ranks = rows[["cycles", "accelsim_cycles"]].rank()
        values[f"spearman_{machine}"] = float(ranks["cycles"].corr(ranks["accelsim_cycles"]))
    return values


def _mean(rows: pd.DataFrame) -> float:
    """Geometric mean of ``factor``."""
    return math.exp(rows["factor"].map(math.log).mean())
