"""Run a kernel of a PTX file on NumPy arrays, with many registers and with few, and check its results."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.foreign.case import Case

from warpreg import ptx
from warpreg.codegen import CompileOptions
from warpreg.ir.module import Module
from warpreg.simt import Buffer, Device

BUDGETS = (None, 32, 16)
"""Registers a thread: as many as the kernel likes, and two budgets."""


@functools.cache
def module(path: Path) -> Module:
    return ptx.parse(path.read_text(), path.name)


def check(path: Path, kernel: str, case: Case) -> None:
    """Run with each budget; arrays must come out as the case expects, and the same with each."""
    plenty = outputs(path, kernel, case, None)
    for place, expected in case.expected.items():
        close(plenty[place], expected, case)
    for budget in BUDGETS[1:]:
        few = outputs(path, kernel, case, budget)
        assert all(few[place].tobytes() == content.tobytes() for place, content in plenty.items())


def outputs(path: Path, kernel: str, case: Case, max_registers: int | None) -> dict[int, NDArray[Any]]:
    """What the arrays among the arguments hold after a launch, by place."""
    device = Device(module(path), CompileOptions(max_registers=max_registers))
    given = [device.upload(a) if isinstance(a, np.ndarray) else a for a in case.arguments]
    if max_registers:
        assert device.kernel(kernel).register_count <= max_registers
    device.launch(kernel, case.grid, case.block, *given, shared_bytes=case.shared_bytes)
    return {place: argument.download() for place, argument in enumerate(given) if isinstance(argument, Buffer)}


def close(found: NDArray[Any], expected: NDArray[Any], case: Case) -> None:
    """Equal bit for bit, or as near as the case allows."""
    assert found.shape == expected.shape
    if not case.ulps:
        np.testing.assert_array_equal(found, expected)
        return
    close_enough = np.abs(found.astype(np.float64) - expected) <= case.absolute
    np.testing.assert_array_max_ulp(np.where(close_enough, expected, found), expected, maxulp=case.ulps)
