"""The workloads in the vendor's machine code give what their references expect."""

from __future__ import annotations

import pytest

from warpreg import workloads
from warpreg.codegen import CompileOptions
from warpreg.machine_code.assembler import ARCHITECTURES, MachineCode
from warpreg.simt import Device

QUICK = frozenset(
    """
    b-tree bfs bloom histogram64 hotspot lps mandelbrot matrix-mul merge-sort nqu particles reduction scan spmv
    vector-add
    """.split()
)
"""Those that take about a second of processor time, of all kinds: textures, barriers, atomics, calls, jump tables."""


def checked(name: str, architecture: str) -> None:
    pytest.importorskip("nvidia")
    workload = workloads.find(name)
    problem, assembler = workload.problem("tiny"), MachineCode.of(architecture)
    problem.check(problem.run(Device(workload.module(), options=CompileOptions(assembler=assembler))))


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", sorted(QUICK))
def test_quick_workload(name: str, architecture: str) -> None:
    checked(name, architecture)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", sorted(set(workloads.names()) - QUICK))
def test_workload(name: str, architecture: str) -> None:
    checked(name, architecture)
