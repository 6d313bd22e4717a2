"""Workloads from cubins alone: they leave the bytes that the machine code of their PTX leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warpreg import ptx, simt, workloads
from warpreg.codegen import CompileOptions
from warpreg.ir.module import Module
from warpreg.machine_code import files
from warpreg.machine_code.assembler import ARCHITECTURES, MachineCode
from warpreg.simt import Device

FEW = frozenset("b-tree hotspot particles reduction".split())
"""Variables, structures, textures, shared memory."""


class Kept(Device):
    """A device that keeps every buffer."""

    def __init__(self, module: Module, options: CompileOptions | None = None) -> None:
        super().__init__(module, options=options)
        self.kept: list[simt.Buffer] = []

    def upload(self, array: Any, name: str = "") -> simt.Buffer:
        self.kept.append(super().upload(array, name))
        return self.kept[-1]

    def zeros(self, shape: Any, dtype: Any, name: str = "") -> simt.Buffer:
        self.kept.append(super().zeros(shape, dtype, name))
        return self.kept[-1]


def left(name: str, device: Kept) -> tuple[list[bytes], dict[str, bytes]]:
    """What the launches of a workload leave: its outputs and every buffer; variables by name."""
    outputs = workloads.find(name).problem("tiny").run(device)
    found = [np.asarray(outputs[one]).tobytes() for one in sorted(outputs)]
    variables = {v: buffer.download().tobytes() for v, buffer in device.variables.buffers.items()}
    return [*found, *(buffer.download().tobytes() for buffer in device.kept)], variables


def compare(name: str, architecture: str, folder: Path) -> None:
    pytest.importorskip("nvidia")
    module, assembler = workloads.find(name).module(), MachineCode.of(architecture)
    path = folder / f"{name}.cubin"
    path.write_bytes(assembler.files(ptx.write(module))[0])
    expected, found = Kept(module, CompileOptions(assembler=assembler)), Kept(files.read(path))
    (buffers, variables), (own_buffers, own_variables) = left(name, expected), left(name, found)
    assert own_buffers == buffers
    assert own_variables == {v: variables[v] for v in own_variables}  # a cubin lacks those that no code uses
    used = {launch.kernel.name for launch in found.launches}
    assert all(found.kernel(k).register_demand == expected.kernel(k).register_demand for k in used)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", sorted(FEW))
def test_a_few_workloads(name: str, architecture: str, tmp_path: Path) -> None:
    compare(name, architecture, tmp_path)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", sorted(set(workloads.names()) - FEW))
def test_workload(name: str, architecture: str, tmp_path: Path) -> None:
    compare(name, architecture, tmp_path)
