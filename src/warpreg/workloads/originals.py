"""Static features of the compiled original kernels that the workloads are named after.

``originals.csv`` has a row for each of 223 kernels of Rodinia, Parboil, PolyBench-GPU and ISPASS, compiled with nvcc
and ptxas 13.0. Counts are static: PTX instructions (``ptx_insts``), those of a kind (``tex``, ``atom``, ``bar``,
``f64``, ``vec``, ``calls``), declared variables (``shared``, ``const``, ``local``), SASS instructions, registers per
thread and bytes of shared memory for sm_75 and sm_80.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warpreg.ir.errors import UnknownNameError

FILE = Path(__file__).with_name("originals.csv")
PRINTED = Path(__file__).with_name("printed.csv")


@dataclass(frozen=True, slots=True)
class Original:
    """One compiled kernel of a suite; ``facts`` are the counts by column name."""

    suite: str
    app: str
    kernel: str
    facts: Mapping[str, int]

    @property
    def name(self) -> str:
        """``suite/app``"""
        return f"{self.suite}/{self.app}"


@cache
def originals() -> tuple[Original, ...]:
    """All rows of the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Original(row.pop("suite"), row.pop("app"), row.pop("kernel"), {key: int(n) for key, n in row.items()})
            for row in csv.DictReader(file)
        )


def kernels_of(name: str) -> tuple[Original, ...]:
    """The kernels of a program ``suite/app``; raises `UnknownNameError` that suggests the nearest name."""
    found = tuple(original for original in originals() if original.name == name)
    if not found:
        raise UnknownNameError("original program", name, sorted({original.name for original in originals()}))
    return found


@dataclass(frozen=True, slots=True)
class Printed:
    """The registers per thread that a paper prints for the program that a workload is named after."""

    workload: str
    paper: str
    where: str
    registers: int


@cache
def printed_registers() -> tuple[Printed, ...]:
    """Every row of ``printed.csv``."""
    with PRINTED.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return tuple(Printed(row["workload"], row["paper"], row["where"], int(row["registers"])) for row in rows)
