"""Warps that an SM holds during a run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.designs.kernels import kernel, op, r

from warpreg import gpu
from warpreg.evaluation.measures.resident_warps import ResidentWarps, resident

KERNEL = kernel([op("mov.u32", r(1), 7)])


def launch(blocks: int, threads: int, instructions: int = 1) -> Any:
    return SimpleNamespace(
        kernel=KERNEL,
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        shared_bytes=0,
        recording=None,
        warp_instructions=instructions,
    )


@pytest.mark.parametrize(
    ("blocks", "threads", "warps"),
    [(1024, 256, 64), (64, 256, 32), (8, 256, 8), (24, 256, 40 / 3), (1024, 32, 32)],
)
def test_a_grid_fills_sms_evenly_until_they_are_full(blocks: int, threads: int, warps: float) -> None:
    """16 SMs of 64 warps and 32 blocks: 64 blocks of 8 warps are 4 on each SM; 8 are alone.  Of 24, 8 are alone and 16
    in pairs, so that a block finds (8 + 16 x 2) / 24 blocks.
    """
    assert resident(launch(blocks, threads), gpu.load("gtx980-two-level")) == pytest.approx(warps)


def test_launches_weigh_by_their_instructions() -> None:
    run: Any = SimpleNamespace(launches=[launch(1024, 256, 30), launch(64, 256, 10)])
    assert ResidentWarps("gtx980-two-level")(run) == (64 * 30 + 32 * 10) / 40
    nothing: Any = SimpleNamespace(launches=[])
    assert ResidentWarps("gtx980-two-level")(nothing) == 0
