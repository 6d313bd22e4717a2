"""Lanes that part and meet: random kernels in machine code give the bits that they give in PTX, natively and
interpreted."""

from __future__ import annotations

import numpy as np
import pytest
from tests.machine_code.random_control import Program
from tests.machine_code.reference.paired import Paired

from warpreg.machine_code.assembler import ARCHITECTURES
from warpreg.simt import Device

SEEDS = (*range(8), 3021)
"""In the last one, lanes leave a loop for a ``WARPSYNC`` without a ``BREAK``."""
THREADS = 96


def outcome(text: str, architecture: str) -> list[list[int]]:
    device = Paired.assembled(text, architecture) if architecture else Device(text)
    out = device.zeros((THREADS, 4), np.uint32)
    device.launch("parted", 1, THREADS, out)
    if isinstance(device, Paired):
        assert (device.compared, device.differences) == (1, [])
    found: list[list[int]] = out.download().tolist()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_machine_code_gives_the_bits_of_ptx(seed: int) -> None:
    pytest.importorskip("nvidia")
    text = Program(seed).text()
    expected = outcome(text, "")
    for architecture in ARCHITECTURES:
        assert outcome(text, architecture) == expected, architecture
