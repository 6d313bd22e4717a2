"""Results of ``ptxas`` for the workloads' checked-in PTX: registers per thread and instructions, by kernel.

``vendor.csv`` is written together with the PTX; reading it needs no compiler.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("vendor.csv")


@dataclass(frozen=True, slots=True, order=True)
class VendorKernel:
    """A kernel of a workload, compiled by ``ptxas`` for a ``target`` (``sm_75``); instructions are static."""

    workload: str
    kernel: str
    target: str
    registers: int
    uniform_registers: int
    instructions: int


@cache
def vendor_kernels() -> tuple[VendorKernel, ...]:
    """All rows."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            VendorKernel(
                row["workload"],
                row["kernel"],
                row["target"],
                int(row["registers"]),
                int(row["uniform_registers"]),
                int(row["instructions"]),
            )
            for row in csv.DictReader(file)
        )


def most_registers(workload: str, kernels: Iterable[str], target: str) -> int | None:
    """The largest register count of some kernels of a workload, or None if none of them is in the file."""
    wanted = {(workload, kernel, target) for kernel in kernels}
    found = [row.registers for row in vendor_kernels() if (row.workload, row.kernel, row.target) in wanted]
    return max(found, default=None)


def write(rows: Iterable[VendorKernel]) -> None:
    """Replace the file by ``rows``, sorted."""
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(VendorKernel))
        writer.writerows(astuple(row) for row in sorted(rows))
