"""Caches of an SM for instructions and constants; rules in docs/reference/timing.md."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.gpu.sourced import Document, quantity


@dataclass(frozen=True, slots=True)
class InstructionCaches:
    """A cache of each scheduler (L0) with a stream buffer, and one that they share (L1), in front of the second level
    of memory.
    """

    line_bytes: int = quantity("a line", "bytes", 16, 1024)
    l0_bytes: int = quantity("capacity of a scheduler's cache", "bytes", 16, 1 << 24)
    l0_ways: int = quantity("lines of a set", "lines", 1, 1024)
    l1_bytes: int = quantity("capacity of the cache of an SM", "bytes", 16, 1 << 24)
    l1_ways: int = quantity("lines of a set", "lines", 1, 1024)
    l1_latency: int = quantity("from a request of a scheduler to its line, which the L1 has", "cycles", 1, 10_000)
    l2_latency: int = quantity("until the L1 has a line that it lacks", "cycles", 1, 10_000)
    prefetch: int = quantity("lines of the stream buffer", "lines", 0, 64)
    buffer: int = quantity("instructions in the buffer of a warp", "instructions", 1, 16)
    jump: int | None = quantity("from a taken branch until what follows may issue", "cycles", 1, 1000, optional=True)


@dataclass(frozen=True, slots=True)
class ConstantCaches:
    """Two caches of each scheduler (L0), for instructions of fixed and of variable latency, and one that all share
    (L1), in front of the second level of memory.
    """

    line_bytes: int = quantity("a line", "bytes", 4, 1024)
    l0_bytes: int = quantity("capacity of each cache of a scheduler", "bytes", 4, 1 << 20)
    l0_ways: int = quantity("lines of a set", "lines", 1, 1024)
    l1_bytes: int = quantity("capacity of the cache of an SM", "bytes", 4, 1 << 24)
    l1_ways: int = quantity("lines of a set", "lines", 1, 1024)
    l1_latency: int = quantity("from a request of a scheduler to its line, which the L1 has", "cycles", 1, 10_000)
    l2_latency: int = quantity("until the L1 has a line that it lacks", "cycles", 1, 10_000)
    patience: int = quantity("for which a miss keeps its scheduler from other warps", "cycles", 1, 1000)


def read_constant_caches(document: Document) -> ConstantCaches | None:
    """Those of the file, None if it has none."""
    if not document.keys("constant_cache"):
        return None
    found = document.section("constant_cache", ConstantCaches)
    for level, size, ways in (("l0", found.l0_bytes, found.l0_ways), ("l1", found.l1_bytes, found.l1_ways)):
        _check_sets(document, f"constant_cache.{level}_bytes", size, ways * found.line_bytes)
    return found


def read_instruction_caches(document: Document) -> InstructionCaches | None:
    """Those of the file, None if it has none."""
    if not document.keys("instruction_cache"):
        return None
    caches = document.section("instruction_cache", InstructionCaches)
    if caches.line_bytes & (caches.line_bytes - 1):
        raise document.refusal("instruction_cache.line_bytes", "a power of two", str(caches.line_bytes))
    for level, size, ways in (("l0", caches.l0_bytes, caches.l0_ways), ("l1", caches.l1_bytes, caches.l1_ways)):
        _check_sets(document, f"instruction_cache.{level}_bytes", size, ways * caches.line_bytes)
    return caches


def _check_sets(document: Document, key: str, size: int, set_bytes: int) -> None:
    if size % set_bytes:
        raise document.refusal(key, f"whole sets of {set_bytes} bytes", str(size))
