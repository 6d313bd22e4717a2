"""Probes of memory: their kernels on the executor, and what they make of the answers of a stand-in for the driver."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpreg import simt
from warpreg.gpu_kit import cubins, memory_kernels, memory_probes
from warpreg.gpu_kit.measuring_driver import MeasuringDriver
from warpreg.gpu_kit.memory_probes import STEPS, MemoryProbes
from warpreg.gpu_kit.micro import Micro
from warpreg.machine_code.tools import assembled

from .fake_driver import FakeDriver

MEMORY = 8 << 20


@pytest.fixture
def probes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MemoryProbes:
    monkeypatch.setattr(cubins, "read", lambda folder, name: b"cubin")
    return MemoryProbes(MeasuringDriver(MEMORY, FakeDriver()), tmp_path)


def words_of(probes: MemoryProbes, size: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    content = probes.driver.read_memory(MEMORY)[-MEMORY // 2 :]
    return np.frombuffer(content[:size], np.uint64)


def test_pairs_visit_every_line_twice(probes: MemoryProbes) -> None:
    """32 lines: the first sector, the third one of the same line, the first one of another line."""
    probes.link_pairs(4096, 2)
    words, at, visited = words_of(probes, 4096), 0, []
    for _ in range(64):
        visited.append(at)
        at = int(words[at // 8]) - probes.first
    assert at == 0
    assert sorted(visited) == sorted(128 * line + further for line in range(32) for further in (0, 64))
    assert {second - first for first, second in zip(visited[::2], visited[1::2], strict=True)} == {64}


def test_an_access_is_timed_from_each_sm(probes: MemoryProbes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two lines from each of 132 SMs: all thread blocks but those of the SM leave at once."""
    launched: list[tuple[int, ...]] = []
    monkeypatch.setattr(memory_probes, "HOMES", 2)
    monkeypatch.setattr(
        Micro, "launch", lambda self, function, *words, **more: launched.append((*words, more["blocks"]))
    )
    monkeypatch.setattr(MemoryProbes, "_cycles", lambda self, threads: float(STEPS * (200 + launched[-1][2])))
    found = probes.by_sm(probes._probe("loads_of_sm"))
    assert [len(found), found[0], found[131]] == [132, [200.0, 200.0], [331.0, 331.0]]
    assert launched[:2] == [(1, STEPS, 0, 132), (1, STEPS, 1, 132)]
    assert words_of(probes, 8)[0] == probes.first + 8192


def test_a_load_is_timed_while_others_ask(probes: MemoryProbes, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line apart for each of 132 x 32 warps at most; DRAM is read again after the second level was emptied."""
    monkeypatch.setattr(memory_probes, "LOADED", (1 << 20, 64 << 20))
    monkeypatch.setattr(Micro, "link", lambda self, size: size // 128)
    launched: list[tuple[int, ...]] = []
    monkeypatch.setattr(
        Micro, "launch", lambda self, function, *words, **more: launched.append((more["blocks"], *words))
    )
    monkeypatch.setattr(MemoryProbes, "_cycles", lambda self, threads: float(STEPS * threads))
    found = probes.loaded()
    assert len(found) == 24
    assert found["1048576 bytes, 16 SMs, 8 warps"] == 32 * 16 * 8
    assert launched[:2] == [(1, 1, STEPS, 8192)] * 2
    assert launched[-3:] == [(132, 32, STEPS, 124), (1056, 1, 128 << 20, 1, 1), (132, 32, STEPS, 124)]


def test_what_a_load_evicts_was_written_or_read(probes: MemoryProbes, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    monkeypatch.setattr(Micro, "link", lambda self, size: steps.append("link"))
    monkeypatch.setattr(MeasuringDriver, "flush", lambda self: steps.append("write"))
    monkeypatch.setattr(Micro, "launch", lambda *given, **more: steps.append("read"))
    monkeypatch.setattr(Micro, "chased", lambda self, function, warm: float(len(steps)))
    assert probes.emptied() == {"of written lines": 2.0, "of read lines": 3.0}
    assert steps == ["link", "write", "read"]


def test_fetches_of_a_texture_are_timed(probes: MemoryProbes) -> None:
    assert [*probes.texture()] == [f"{w} warps, stride {s}" for w in (1, 8) for s in (0, 1, 32)]


def test_warps_follow_pointers_from_lines_of_their_own() -> None:
    """Two warps, 3 lines apart, in 8 lines each of which names the next one: a step elsewhere would be a fault."""
    device = simt.Device(memory_kernels.TEXT)
    out, lines = device.zeros(2 * 64, np.uint64), device.zeros(8 * 16, np.uint64)
    lines.write(np.repeat(np.roll(lines.address + 128 * np.arange(8, dtype=np.uint64), -1), 16))
    turn = (
        device.launch("loads_of_all", 2, 32, out, lines, 8, 3).warp_instructions
        - device.launch("loads_of_all", 2, 32, out, lines, 4, 3).warp_instructions
    )
    assert turn == 2 * (4 + 3)


def test_texels_are_part_of_the_next_coordinate() -> None:
    """Four fetches, each with an addition of 0, and the end of a turn."""
    device = simt.Device(memory_kernels.TEXT)
    out = device.zeros(64, np.uint64)
    texture = device.texture(np.zeros(64, np.int32), kind="1d")
    few, many = (device.launch("follow_texels", 1, 32, out, texture, n, 2).warp_instructions for n in (4, 8))
    assert many - few == 4 * 2 + 3


def test_machine_code_of_the_probes_is_made() -> None:
    assert assembled(memory_kernels.TEXT, "sm_90")
