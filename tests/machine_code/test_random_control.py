"""Lanes that part and meet: random kernels in machine code give the bits that they give in PTX."""

from __future__ import annotations

import numpy as np
import pytest
from tests.machine_code.compiled import ARCHITECTURES, lifted
from tests.machine_code.random_control import Program

from warpreg.ir.kernel import Kernel
from warpreg.ptx import parse
from warpreg.simt import Device

SEEDS = range(8)
THREADS = 96


def outcome(text: str, kernel: Kernel | None) -> list[list[int]]:
    device = Device(parse(text, "parted.ptx"), max_instructions=10_000_000)
    if kernel:
        device.install(kernel)
    out = device.zeros((THREADS, 4), np.uint32)
    device.launch("parted", 1, THREADS, out)
    found: list[list[int]] = out.download().tolist()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_machine_code_gives_the_bits_of_ptx(seed: int) -> None:
    pytest.importorskip("nvidia")
    text = Program(seed).text()
    expected = outcome(text, None)
    for architecture in ARCHITECTURES:
        (kernel,) = lifted(text, parse(text, "parted.ptx"), architecture)
        assert outcome(text, kernel) == expected, architecture
