"""The eight workloads run on the executor, with virtual registers and compiled, and agree with their references."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from warpreg import workloads
from warpreg.codegen import CompileOptions
from warpreg.simt import Device, Record

VERSIONS = {
    "virtual": None,
    "compiled": CompileOptions(),
    "few registers": CompileOptions(max_registers=16),
}


def outputs(name: str, version: str, seed: int, record: Record) -> dict[str, NDArray[np.generic]]:
    """What the workload's kernels leave at size tiny; fails if that is not what the reference says."""
    workload = workloads.find(name)
    problem = workload.problem("tiny", seed)
    device = Device(workload.ptx_path.read_text(), VERSIONS[version], record)
    found = problem.run(device)
    problem.check(found)
    assert all(launch.warp_instructions > 0 for launch in device.launches)
    return dict(found)


@pytest.mark.parametrize("name", workloads.names())
def test_a_workload_on_every_version_of_its_kernels(name: str) -> None:
    # A tolerance allows for NumPy's rounding only: among themselves the versions agree to the bit.
    expected = outputs(name, "virtual", 3, Record())
    for version, record in (("compiled", Record(path=True)), ("few registers", Record(True, True, True))):
        found = outputs(name, version, 3, record)
        assert found.keys() == expected.keys()
        assert all(found[key].tobytes() == expected[key].tobytes() for key in expected), version
