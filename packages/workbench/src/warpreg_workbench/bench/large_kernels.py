"""``warpreg bench large``: processor time to compile an instruction of a large kernel, over that of a small one.

Kernels have 2,000 and 16,000 instructions, in few blocks or many (`large_texts`); with 24 registers most of their
values are spilled.  ``native code`` is the translation of the compiled kernel to code of the host.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from piecewise_numba.collector_pause import collector_paused
from warpreg import codegen, ptx
from warpreg.codegen import CompileOptions
from warpreg.evaluation.runs.provenance import code_version
from warpreg.simt import Record
from warpreg.simt.kernel.compile_image import compile_image
from warpreg_workbench.bench.large_texts import NAME, SHAPES, large_ptx

SIZES = {"tiny": (200, 400), "small": (2_000, 16_000), "full": (2_000, 16_000)}
"""Instructions of the two kernels by size of the benchmark."""
LIMITS = (None, 24)
REPEATED = 3
"""Measurements of the small kernel, of which the least counts."""

Begin = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class CompileTime:
    """Processor seconds of a kernel: from PTX to architected registers, and from there to native code."""

    compile_s: float
    native_s: float

    def of(self, step: str) -> float:
        return self.compile_s if step == "compile" else self.native_s


def large_kernels(size: str = "small", begin: Begin = lambda what: None) -> dict[str, Any]:
    """Ratios and microseconds per PTX instruction by shape, register limit and step; ``begin`` is called with each."""
    rows: list[dict[str, Any]] = []
    for shape in SHAPES:
        for limit in LIMITS:
            begin(f"compiling {shape}, {limit or 'any'} registers")
            few, many = SIZES[size]
            repeated = [compile_time(shape, few, limit) for _ in range(REPEATED)]
            large = compile_time(shape, many, limit)
            for step in ("compile", "native code") if limit is None else ("compile",):
                us = [min(one.of(step) for one in repeated) / few * 1e6, large.of(step) / many * 1e6]
                rows.append(
                    {
                        "shape": shape,
                        "registers": limit,
                        "step": step,
                        f"us_{few}": us[0],
                        f"us_{many}": us[1],
                        "ratio": us[1] / us[0],
                    }
                )
    return {"ratio_max": max(row["ratio"] for row in rows), "code": code_version(), "kernels": rows}


def compile_time(shape: str, instructions: int, limit: int | None) -> CompileTime:
    """The time for one kernel; native code only without a limit of registers."""
    text = large_ptx(shape, instructions)
    with collector_paused():
        begin = time.process_time()
        kernel = codegen.translate(ptx.parse(text), NAME, CompileOptions(max_registers=limit))
        compiled = time.process_time()
        if limit is None:
            compile_image(kernel, Record(path=True))
        return CompileTime(compiled - begin, time.process_time() - compiled)
