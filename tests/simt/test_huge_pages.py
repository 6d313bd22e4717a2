"""Host memory in huge pages."""

from __future__ import annotations

import mmap
import sys
from pathlib import Path

import numpy as np
import pytest

from warpreg.simt.memory import huge_pages

LEAST = huge_pages.LEAST_BYTES


@pytest.mark.parametrize("size", [0, 1, LEAST - 1, LEAST, LEAST + 4097])
def test_memory_is_zero_and_can_be_written(size: int) -> None:
    memory = huge_pages.zeroed(size)
    assert (memory.size, memory.dtype) == (size, np.uint8)
    assert not memory.any()
    memory[:] = 7
    assert memory.sum(dtype=np.int64) == 7 * size


@pytest.mark.parametrize("size", [1 << 60, sys.maxsize, 1 << 64])
def test_too_much_memory(size: int) -> None:
    with pytest.raises(MemoryError, match=f"{size} bytes"):
        huge_pages.zeroed(size)


def test_a_system_without_huge_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)
    assert not huge_pages.zeroed(LEAST).any()


def test_a_kernel_that_was_built_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mmap, "MADV_HUGEPAGE", -1, raising=False)
    assert not huge_pages.zeroed(LEAST).any()


def test_pages_are_huge_where_the_system_offers_them() -> None:
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not setting.exists() or "[never]" in setting.read_text():
        pytest.skip("this system offers none")
    memory = huge_pages.zeroed(4 * LEAST)
    memory[:] = 1
    assert huge_bytes_around(memory.ctypes.data + 2 * LEAST) > 0


def huge_bytes_around(address: int) -> int:
    """Bytes in huge pages of the mapping that contains an address."""
    is_inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first, *rest = line.split()
        if first.endswith(":"):
            if is_inside and first == "AnonHugePages:":
                return int(rest[0]) << 10
        else:
            begin, end = (int(number, 16) for number in first.split("-"))
            is_inside = begin <= address < end
    return 0
