"""The eight workloads run on the executor, with virtual registers and compiled, and agree with their references."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.workloads.spilling import LARGE, few_registers

from warpreg import workloads
from warpreg.codegen import CompileOptions
from warpreg.simt import Device, Record


def outputs(name: str, options: CompileOptions | None, seed: int, record: Record) -> dict[str, NDArray[np.generic]]:
    """What the workload's kernels leave at size tiny; fails if that is not what the reference says."""
    workload = workloads.find(name)
    problem = workload.problem("tiny", seed)
    device = Device(workload.ptx_path.read_text(), options, record)
    found = problem.run(device)
    problem.check(found)
    assert all(launch.warp_instructions > 0 for launch in device.launches)
    return dict(found)


@pytest.mark.parametrize("name", workloads.names())
def test_a_workload_on_every_version_of_its_kernels(name: str) -> None:
    # A tolerance allows for NumPy's rounding only: among themselves the versions agree to the bit.
    expected = outputs(name, None, 3, Record())
    few = CompileOptions(max_registers=few_registers(name))
    everything = Record(path=True) if name in LARGE else Record(True, True, True)
    for options, record in ((CompileOptions(), Record(path=True)), (few, everything)):
        found = outputs(name, options, 3, record)
        assert found.keys() == expected.keys()
        assert all(found[key].tobytes() == expected[key].tobytes() for key in expected), options
