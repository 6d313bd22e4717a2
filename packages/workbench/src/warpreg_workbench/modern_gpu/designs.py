"""Every design in the vendor's code, on a machine with read windows and on one with collectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import warpreg
from warpreg import designs

CODE = "sm_90"
MACHINES = ("h100", "v100")
BASE = "reuse"
WORKLOADS = (
    "backprop", "bfs", "cfd", "histogram", "hotspot", "lud", "mandelbrot", "matrix-mul", "nw", "reduction",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DesignRow:
    """A design over workloads, beside the reuse cache: the mean ratio of accesses of the main register file, geometric
    means of dynamic energy and speed, with the least and the most speed; KiB that it adds to an SM; on how many
    workloads it ran, and why not on the others."""

    design: str
    accesses: float
    energy: float
    speed: float
    slowest: float
    fastest: float
    added_kib: float
    workloads: int
    reason: str = ""


def measured(
    names: Sequence[str], size: str, machines: Sequence[str], begun: Callable[[str], None]
) -> dict[str, pd.DataFrame]:
    """By machine, a line for each workload and design, as of `warpreg.compare`."""
    found: dict[str, list[pd.DataFrame]] = {machine: [] for machine in machines}
    for name in names:
        begun(name)
        run = warpreg.run(name, size=size, machine_code=CODE, cycles=True, widths=True)
        for machine in machines:
            found[machine].append(warpreg.compare(run, designs.names(), machine=machine, cycles=True))
    return {machine: pd.concat(frames, ignore_index=True) for machine, frames in found.items()}


def summary(rows: pd.DataFrame) -> list[DesignRow]:
    """Designs by energy beside the reuse cache; those that ran nowhere come last."""
    base = rows[rows.design.map(_name) == BASE].set_index("workload")
    found = [_row(name, own, base) for name, own in rows.groupby(rows.design.map(_name), sort=True)]
    return sorted(found, key=lambda row: (row.workloads == 0, row.energy))


def _name(design: str) -> str:
    return design.partition("(")[0]


def _row(name: str, own: pd.DataFrame, base: pd.DataFrame) -> DesignRow:
    failed = own[own.error.notna()] if "error" in own else own.iloc[:0]
    ran = own.drop(failed.index).set_index("workload")
    reason = str(failed.error.iloc[0]) if len(failed) else ""
    if ran.empty:
        return DesignRow(name, *5 * (float("nan"),), 0.0, 0, reason)
    beside = base.loc[ran.index]
    speed = beside.cycles / ran.cycles
    accesses = (ran.mrf_reads + ran.mrf_writes) / (beside.mrf_reads + beside.mrf_writes)
    return DesignRow(
        name,
        float(accesses.mean()),
        _mean(ran.energy_normalized / beside.energy_normalized),
        _mean(speed),
        float(speed.min()),
        float(speed.max()),
        float(ran.added_bytes.fillna(0).iloc[0]) / 1024,
        len(ran),
        reason,
    )


def _mean(ratios: Any) -> float:
    """The geometric mean."""
    return float(np.exp(np.log(np.asarray(ratios, float)).mean()))
