"""Memory sections of a machine file: rejected values, and the cache that remains beside a kernel's shared memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpreg import gpu
from warpreg.gpu.machine import FOLDER, MachineError
from warpreg.timing.memory.build import with_shared_memory


def changed(folder: Path, machine: str, old: str, new: str) -> Path:
    """A machine file with one text replaced."""
    text = (FOLDER / f"{machine}.toml").read_text(encoding="utf-8")
    assert old in text
    path = folder / "changed.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("machine", "old", "new", "message"),
    [
        ("v100", "[dram]\n", "[dran]\n", "dran: expected 'dram', found unknown key 'dran'"),
        ("gebhart", "[memory]\n", "[memory]\nlatency = 3\n", "memory.latency: expected"),
        ("gebhart", 'value = "fixed"', 'value = "cached"', "memory.bytes_per_cycle: expected bytes with model fixed"),
        ("v100", "slices            = { value = 64,", "slices            = { value = 48,", "a multiple of 32 channels"),
        (
            "v100",
            "bytes             = { value = 98304,",
            "bytes             = { value = 98000,",
            "a multiple of 24 ways",
        ),
        (
            "v100",
            "interleave_bytes  = { value = 128,",
            "interleave_bytes  = { value = 384,",
            "a power of two, found 384",
        ),
        (
            "v100",
            "row_bytes       = { value = 2048,",
            "row_bytes       = { value = 2000,",
            "a power of two, found 2000",
        ),
        (
            "tfet",
            "[3, 7, 10, 12,",
            "[3, 7, 10, 3,",
            "slice_routers: expected 8 different routers, one for each slice, found",
        ),
        (
            "tfet",
            "[3, 7, 10, 12,",
            "[3, 7, 10,",
            "slice_routers: expected 8 different routers, one for each slice, found",
        ),
        (
            "tfet",
            "25, 28, 32]",
            "25, 28, 36]",
            "slice_routers: expected routers below 36, the SMs and slices, found 36",
        ),
        (
            "tfet",
            '"mesh", source',
            '"crossbar", source',
            "flits_per_cycle: expected an entry of a mesh, found one of a",
        ),
        (
            "v100",
            "merged            = { value = 8,",
            "merged            = { value = 0,",
            "l1.merged: expected 1 to 32767",
        ),
        (
            "titanx",
            "caches_read_only  = { value = true,",
            "caches_read_only  = { value = 1,",
            "l1.caches_read_only: expected a value of type bool, found 1",
        ),
        (
            "h100",
            "fetch_bytes       = { value = 64,",
            "fetch_bytes       = { value = 96,",
            "l2.fetch_bytes: expected a power of two, found 96",
        ),
        ("tfet", 'value = "line"', 'value = "row"', "network.packet: expected one of sector, line, found 'row'"),
        ("tfet", 'value = "instruction"', 'value = "warp"', "access: expected one of word, instruction, found 'warp'"),
        ("tfet", 'value = "all"', 'value = "some"', "scoreboard: expected one of named, all, found 'some'"),
    ],
)
def test_a_memory_that_cannot_be_is_refused(tmp_path: Path, machine: str, old: str, new: str, message: str) -> None:
    with pytest.raises(MachineError) as refused:
        gpu.load(changed(tmp_path, machine, old, new))
    assert message in str(refused.value)


def test_a_model_without_its_sections_is_refused(tmp_path: Path) -> None:
    text = (FOLDER / "gtx480.toml").read_text(encoding="utf-8")
    path = tmp_path / "short.toml"
    path.write_text(text[: text.index("[network]")], encoding="utf-8")
    with pytest.raises(MachineError, match=r"network: expected a table \[network\] with model cached, found nothing"):
        gpu.load(path)


@pytest.mark.parametrize(
    ("shared", "kilobytes"), [(0, 128), (1, 120), (8192, 120), (8193, 112), (65536, 64), (98304, 32)]
)
def test_shared_memory_takes_its_part_of_a_unified_memory(shared: int, kilobytes: int) -> None:
    # V100: 128 KB together; 8 KB at least, then the next power of two; the cache keeps its own 32 KB.
    cache = with_shared_memory(gpu.load("v100").memory, shared).l1
    assert cache is not None
    assert cache.bytes == kilobytes << 10
    assert cache.bytes // 128 // cache.ways == 4


def test_a_separate_cache_keeps_its_size() -> None:
    memory = gpu.load("titanx").memory
    assert with_shared_memory(memory, 98304) is memory


@pytest.mark.parametrize(
    ("machine", "merged"),
    [("gtx480", 8), ("titanx", 8), ("v100", 8), ("titanv", 8), ("rtx3070", 48), ("bow-titanx", 8), ("tfet", None)],
)
def test_the_requests_of_a_miss_register_are_those_of_the_configurations(machine: str, merged: int | None) -> None:
    """Third number of the miss registers of `gpgpu_cache:dl1` in GPGPU-Sim; tfet's simulator has none for its cache."""
    cache = gpu.load(machine).memory.l1
    assert cache is not None
    assert cache.merged == merged
