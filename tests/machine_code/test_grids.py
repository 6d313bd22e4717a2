"""Cooperative grids in machine code: the workspace whose address constant bank 0 holds, beside that of PTX."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simt.test_cooperative import SUMS, expected

from warpreg.codegen import CompileOptions
from warpreg.machine_code.assembler import ARCHITECTURES, MachineCode
from warpreg.simt import DeadlockError, Device


def device(architecture: str, text: str = SUMS) -> Device:
    pytest.importorskip("nvidia")
    target = text.replace(".target sm_75", f".target {architecture}")
    return Device(target, options=CompileOptions(assembler=MachineCode.of(architecture)))


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_grid_waits_for_all_its_blocks(architecture: str) -> None:
    for grid, block in ((1, 32), (5, 40), ((3, 2), 64), (20, 96)):
        threads = int(np.prod(grid)) * block
        one = device(architecture)
        for _ in range(2):
            out = one.zeros(threads, np.uint32)
            one.launch("k", grid, block, out)
            assert out.download().tolist() == expected(threads)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_grid_that_one_block_leaves_is_a_deadlock(architecture: str) -> None:
    one = device(architecture, SUMS.replace("ROUND:", "ROUND: setp.eq.u32 %p, %b, 1; @%p ret;"))
    with pytest.raises(DeadlockError, match=r"^kernel 'k': deadlock: 3 of 4 thread blocks wait for the grid"):
        one.launch("k", 4, 32, one.zeros(128, np.uint32))
