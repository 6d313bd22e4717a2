"""Executed instructions and reads by level under designs, of this compiler's code and of the vendor's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean

import pandas as pd

import warpreg
from warpreg.machine_code.assembler import ARCHITECTURES

OWN = "own"
CODES = (OWN, *ARCHITECTURES)
WORKLOADS = (
    "backprop", "bfs", "cfd", "histogram", "hotspot", "lud", "mandelbrot", "matrix-mul", "nw", "reduction",
)  # fmt: skip
DESIGNS = ("mrf", "rfc", "rfc-lrf", "orf-lrf", "bow")
"""The main register file alone, caches of the hardware and of the compiler, and the bypassing collector: designs that
need no recorded schedule."""

BASE = "mrf"
TARGET = "sm_80"
"""The target of this compiler that is compared with the architectures."""

READS = "_reads"


@dataclass(frozen=True, slots=True)
class DynamicRow:
    """A workload in one code under a design: executed warp-instructions, and reads by level, ``mrf`` first."""

    workload: str
    code: str
    design: str
    instructions: int
    reads: dict[str, float]


def measured(
    names: Sequence[str] = WORKLOADS, size: str = "tiny", begun: Callable[[str], None] = lambda name: None
) -> list[DynamicRow]:
    """Every workload in every code under every design.  Raises `VendorToolMissingError` without the ``cuda`` extra."""
    rows = []
    for name in names:
        begun(name)
        for code in CODES:
            if code == OWN:
                run = warpreg.run(name, size=size, target=TARGET)
            else:
                run = warpreg.run(name, size=size, machine_code=code)
            frame = warpreg.compare(run, list(DESIGNS))
            rows += [_row(name, code, design, frame.iloc[place]) for place, design in enumerate(DESIGNS)]
    return rows


def _row(name: str, code: str, design: str, found: pd.Series) -> DynamicRow:
    columns = [column for column in found.index if column.endswith(READS) and not pd.isna(found[column])]
    reads = {column.removesuffix(READS): float(found[column]) for column in columns}
    return DynamicRow(name, code, design, int(found.warp_instructions), reads)


def executed(rows: Sequence[DynamicRow]) -> dict[str, dict[str, float]]:
    """By workload and code of the vendor, executed warp-instructions divided by those of own code."""
    counts = {(row.workload, row.code): row.instructions for row in rows if row.design == BASE}
    names = dict.fromkeys(row.workload for row in rows)
    return {n: {code: counts[n, code] / counts[n, OWN] for code in ARCHITECTURES} for n in names}


def per_instruction(rows: Sequence[DynamicRow], design: str, code: str) -> dict[str, float]:
    """Reads of each level by an executed instruction, the mean over workloads."""
    own = [row for row in rows if (row.design, row.code) == (design, code)]
    levels = dict.fromkeys(level for row in own for level in row.reads)
    return {level: mean(row.reads.get(level, 0.0) / row.instructions for row in own) for level in levels}


def left(rows: Sequence[DynamicRow], design: str, code: str) -> float:
    """Reads of the main register file under a design divided by those without one, the mean over workloads."""
    reads = {(row.workload, row.design): row.reads[BASE] for row in rows if row.code == code}
    return mean(reads[name, design] / reads[name, BASE] for name in dict.fromkeys(row.workload for row in rows))
