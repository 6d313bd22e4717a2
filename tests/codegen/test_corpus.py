"""Kernels of many kinds, in ``corpus``: compiled and virtual versions leave the same memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpreg import codegen, ptx
from warpreg.codegen import CompileOptions
from warpreg_workbench.compiler.bench import verified
from warpreg_workbench.compiler.ptx_folder import ptx_files, read_launches

CORPUS = Path(__file__).with_name("corpus")
LAUNCHES = read_launches(CORPUS)


@pytest.mark.slow
@pytest.mark.parametrize("address_bits", [64, 32])
@pytest.mark.parametrize("path", ptx_files(CORPUS), ids=lambda path: path.stem)
def test_compiled_kernels_compute_the_bits_of_the_virtual_ones(path: Path, address_bits: int) -> None:
    module = ptx.parse(path.read_text(), path.name)
    for function in module.kernels:
        compiled = codegen.translate(module, function.name, CompileOptions(address_bits=address_bits))
        assert verified(module, LAUNCHES[function.name], [compiled]) == {function.name}
