"""Workloads in sizes that suit the reference interpreter: the executor's outputs are equal bit for bit."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from tests.reference.device import ReferenceDevice

from warpreg import workloads
from warpreg.codegen import CompileOptions
from warpreg.simt import Device

SIZES = {
    "bfs": {"nodes": 301, "searches": 1, "highest_degree": 10, "reach": 100},
    "histogram": {"bytes": 3_003, "rounds": 1},
    "hotspot": {"rows": 19, "cols": 21, "steps": 2, "steps_per_launch": 1},
    "mandelbrot": {"width": 20, "height": 11, "limit": 32},
    "matrix-mul": {"m": 17, "n": 20, "k": 18},
    "nw": {"rows": 20, "cols": 23},
    "reduction": {"n": 1_301, "rounds": 1},
    "vector-add": {"n": 803, "rounds": 1},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_workload(name: str) -> None:
    workload = replace(workloads.find(name), sizes={"short": SIZES[name]})
    problem = workload.problem("short")
    text = workload.ptx_path.read_text()
    wanted = problem.run(cast(workloads.Device, ReferenceDevice(text)))
    for options in (None, CompileOptions(fuse_multiply_add=False)):
        got = problem.run(Device(text, options=options))
        for output, expected in wanted.items():
            np.testing.assert_array_equal(got[output].view(np.uint8), expected.view(np.uint8))
    problem.check(wanted)
