"""The workloads run on the executor, with virtual registers and compiled, and agree with their references."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.workloads.spilling import few_registers

from warpreg import ptx, workloads
from warpreg.codegen import CompileOptions
from warpreg.ir.module import Module
from warpreg.simt import Device, Record

LONG = 20_000
"""Characters of PTX.  Widths of longer kernels are not recorded: that takes most of the time to compile them."""


def outputs(
    name: str, module: Module, options: CompileOptions | None, record: Record
) -> dict[str, NDArray[np.generic]]:
    """What the workload's kernels leave at size tiny; fails if that is not what the reference says."""
    problem = workloads.find(name).problem("tiny", 3)
    device = Device(module, options, record)
    found = problem.run(device)
    problem.check(found)
    assert all(launch.warp_instructions > 0 for launch in device.launches)
    return dict(found)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "name"), [*enumerate(workloads.names())], ids=workloads.names())
def test_a_workload_on_every_version_of_its_kernels(number: int, name: str) -> None:
    """Virtual registers, compiled, and compiled with spills; every other workload spills without being scheduled.

    A tolerance allows for NumPy's rounding only: among themselves the versions agree to the bit.
    """
    text = workloads.find(name).ptx_path.read_text()
    few = CompileOptions(max_registers=few_registers(name), schedule=number % 2 == 0)
    recorded = Record(path=True, addresses=True, widths=len(text) < LONG)
    versions = [(None, Record()), (CompileOptions(), Record(path=True)), (few, recorded)]
    module = ptx.parse(text)
    first, *others = [outputs(name, module, *version) for version in versions]
    for found in others:
        assert found.keys() == first.keys()
        assert all(found[key].tobytes() == first[key].tobytes() for key in first)
