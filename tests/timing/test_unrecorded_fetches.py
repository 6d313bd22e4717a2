"""Texture fetches of hardware traces have no addresses: they take the texture latency (docs/reference/timing.md)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sass.text import line, write_trace
from tests.timing.both_cores import agreed
from tests.timing.launches import Launched, recorded
from tests.timing.reference.machine import Sm

from warpreg.sass.reader import read_recording
from warpreg.timing.feed.feed import feed


def launched(folder: Path, *lines: str) -> Launched:
    (launch,) = read_recording(write_trace(folder, [[lines]])).launches
    return recorded(launch.kernel, feed(launch.trace, launch.kernel))


@pytest.mark.parametrize("opcode", ["TEX.SCR.LL", "TLD.LZ", "SULD.D.BA.2D"])
def test_a_reader_waits_for_the_texture_latency(tmp_path: Path, opcode: str) -> None:
    """Issued at 1, dispatched at once, due 200 cycles later; the sum issues then and takes 4 cycles."""
    fetch = launched(
        tmp_path,
        line(0x00, f"R4 <- {opcode} R2"),
        line(0x10, "R8 <- FADD R4 R4"),
        line(0x20, "EXIT"),
    )
    run = agreed(fetch, Sm(), latency=200)
    run.warp(0).issues().at(1, 201, 202)
    assert run.cycles == 1 + 200 + 4 + 1


def test_a_store_to_a_surface_takes_a_cycle(tmp_path: Path) -> None:
    """It issues at 1 and is due at 2, when the exit issues."""
    store = launched(tmp_path, line(0x00, "SUST.D.BA.2D R4 R2"), line(0x10, "EXIT"))
    assert agreed(store, Sm(), latency=200).cycles == 3
