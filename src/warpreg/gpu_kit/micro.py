"""Runs microbenchmarks on the GPU and makes figures of the cycles that their threads write."""

from __future__ import annotations

import struct
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from warpreg.checks.gpu.request import Request
from warpreg.gpu_kit import cubins
from warpreg.gpu_kit.measuring_driver import Function, MeasuringDriver
from warpreg.gpu_kit.microbenchmarks import ITERATIONS, LONG, OPERATIONS, SHORT, WARPS, Operation
from warpreg.gpu_kit.register_banks import CASES, COPIES

OUT_BYTES = 4 << 20
WARMED_BYTES = 64 << 20
"""Footprints up to this size are visited once before the clock of a pointer chase starts."""
STEPS = 4
"""Loads of a turn of the loops that follow pointers."""
CHASED = 4096
"""Loads that a pointer chase times."""

FOOTPRINTS = tuple(1 << n for n in range(12, 31))
"""Bytes that a pointer chase visits."""

BETWEEN = (1 << 20, 8 << 20, 32 << 20)
"""Bytes of which a launch visits every line, for what the next one finds of them."""

STREAMED_BYTES = 1 << 30
"""Bytes that a bandwidth goes through at least, so that the launch does not count."""
MICRO_REPEATS = 3
"""Launches of a microbenchmark; the least counts."""

INPUTS = {
    "f32": struct.pack("<f", 1.0009765625), "f64": struct.pack("<d", 1.0009765625), "f16x2": b"\x01\x3c\x01\x3c",
    "b32": (16).to_bytes(4, "little"), "b64": (16).to_bytes(8, "little"),
}  # fmt: skip


class Micro:
    """Runs one microbenchmark after another on the GPU."""

    def __init__(self, driver: MeasuringDriver, folder: Path) -> None:
        self.driver, self.folder = driver, folder

    def launch(
        self, function: Function, warps: int, iterations: int, *more: int, blocks: int = 1, threads: int = 0
    ) -> float:
        """Milliseconds of a launch; its outputs are at the start of memory, its inputs behind them."""
        words = [iterations, *more]
        arguments = (
            self.driver.base.to_bytes(8, "little"),
            (self.driver.base + OUT_BYTES).to_bytes(8, "little"),
            *(word.to_bytes(4, "little") for word in words),
        )
        request = Request("", "", (blocks, 1, 1), (threads or 32 * warps, 1, 1), 0, arguments, b"")
        return self.driver.timed(function, request, {})

    def cycles(self, function: Function, warps: int, iterations: int, *more: int) -> int:
        """Cycles from the first clock of any warp to the last of any warp; the least of `MICRO_REPEATS` launches."""
        cycles = []
        for _ in range(MICRO_REPEATS):
            self.launch(function, warps, iterations, *more)
            cycles.append(self.read_cycles(warps))
        return min(cycles)

    def read_cycles(self, warps: int) -> int:
        """Last minus first reading of the clock that the threads of a block wrote, two words of 64 bits each."""
        clocks = np.frombuffer(self.driver.read_memory(32 * warps * 16), np.uint64).reshape(-1, 2)[::32]
        return int(clocks[:, 1].max() - clocks[:, 0].min())

    def fill(self, operation: Operation) -> None:
        """Inputs of a chain: a number near 1, or 16, in every word."""
        word = INPUTS[operation.type]
        content = word.ljust(8, b"\0") * (32 * 256 // 8)
        self.driver._write(self.driver.base + OUT_BYTES, content)

    def chain(self, name: str, operation: Operation) -> dict[str, Any]:
        """Cycles of a dependent instruction."""
        short, long = (self.driver.function(cubins.read(self.folder, f"micro-{name}"), k) for k in ("short", "long"))
        self.fill(operation)
        few, many = (self.cycles(one, 1, ITERATIONS) for one in (short, long))
        copies = (LONG - SHORT) * ITERATIONS
        return {"cycles_per_copy": (many - few) / copies, "instructions_per_copy": operation.per_copy,
                "cycles": [few, many]}  # fmt: skip

    def rate(self, name: str, operation: Operation) -> dict[str, Any]:
        """Cycles of the SM for a copy of a warp, by number of warps."""
        short, long = (self.driver.function(cubins.read(self.folder, f"micro-{name}"), k) for k in ("short", "long"))
        self.fill(operation)
        found = {}
        for warps in WARPS:
            few, many = (self.cycles(one, warps, ITERATIONS) for one in (short, long))
            found[str(warps)] = (many - few) / ((LONG - SHORT) * ITERATIONS * warps)
        return {"cycles_per_warp_copy": found, "instructions_per_copy": operation.per_copy}

    def banks(self) -> list[dict[str, Any]]:
        """Cycles of an FFMA by banks of its sources, by number of warps."""
        rows = []
        for number, case in enumerate(CASES):
            function = self.driver.function(cubins.read(self.folder, f"banks-{number}"), "banks")
            by_warps = {}
            for warps in (1, 4, 8, 16):
                few, many = (self.cycles(function, warps, n) for n in (8, 40))
                by_warps[str(warps)] = (many - few) / (32 * COPIES)
            rows.append({"case": case.name, "cycles_per_ffma_of_a_warp": by_warps})
        return rows

    def memory(self) -> dict[str, Any]:
        """Latencies by footprint, bandwidths, conflicts of shared memory, clock, launch."""
        cubin = cubins.read(self.folder, "micro-memory")
        kernel = {n: self.driver.function(cubin, n) for n in (
            "chase", "chase_cached", "atomics", "read", "write", "nothing", "clocks", "conflicts", "loads",
        )}  # fmt: skip
        return {
            "launch_ms": median(self.launch(kernel["nothing"], 1, 1, 0) for _ in range(21)),
            "clock_mhz": self.clock(kernel["clocks"]),
            "chase": {k: self.chase(kernel[k]) for k in ("chase", "chase_cached")},
            "atomic_cycles": self.atomics(kernel["atomics"]),
            "conflicts": self.conflicts(kernel["conflicts"]),
            "loads": self.loads(kernel["loads"]),
            "bandwidth_gb_s": self.bandwidth(kernel["read"], kernel["write"]),
        }

    def clock(self, function: Function, iterations: int = 5000) -> float:
        """MHz of the SM, by its clock and the global timer."""
        self.launch(function, 1, iterations, 0)
        cycles, nanoseconds = struct.unpack("<QQ", self.driver.read_memory(16))
        return float(1000 * cycles / max(1, nanoseconds))

    def chase(self, function: Function) -> dict[str, float]:
        """Cycles of a dependent load by bytes that are visited in a random order of lines of 128 bytes."""
        cycles: dict[str, float] = {}
        for size in FOOTPRINTS:
            lines = self.link(size)
            cycles[str(size)] = self.chased(function, lines if size <= WARMED_BYTES else 0)
        return cycles

    def between_launches(self) -> dict[str, dict[str, float]]:
        """Cycles of a load past the first level, by bytes that a launch visits: in the launch that visited all of them
        before, in the next launch, in the one after an empty kernel, and after the second level was emptied.
        """
        cubin = cubins.read(self.folder, "micro-memory")
        chase, nothing = (self.driver.function(cubin, name) for name in ("chase", "nothing"))
        by_size = {}
        for size in BETWEEN:
            lines = self.link(size)
            rows = {"same launch": self.chased(chase, lines), "next launch": self.chased(chase, 0)}
            self.chased(chase, lines)
            self.launch(nothing, 1, 1, 0)
            rows["after another kernel"] = self.chased(chase, 0)
            self.driver.flush()
            rows["emptied"] = self.chased(chase, 0)
            by_size[str(size)] = rows
        return by_size

    def link(self, size: int) -> int:
        """Fill memory with pointers that visit its lines of 128 bytes in a random order; returns the loads that visit
        them all, a multiple of `STEPS`.
        """
        lines, first = size // 128, self.driver.base + OUT_BYTES
        order = np.random.default_rng(0).permutation(lines)
        words = np.zeros(lines * 16, np.uint64)
        words[order * 16] = first + 128 * np.roll(order, -1).astype(np.uint64)
        self.driver._write(first, words.tobytes())
        return -lines % STEPS + lines

    def chased(self, function: Function, warm: int) -> float:
        """Cycles of a dependent load, after ``warm`` others without the clock."""
        self.launch(function, 1, CHASED, warm, threads=1)
        clocks = np.frombuffer(self.driver.read_memory(16), np.uint64)
        return float(int(clocks[1] - clocks[0]) / CHASED)

    def atomics(self, function: Function) -> float:
        """Cycles of a dependent atomic addition of 0 to global memory."""
        self.driver._write(self.driver.base + OUT_BYTES, bytes(64))
        return self.cycles(function, 1, 1024, 0) / 1024

    def barrier(self) -> dict[str, float]:
        """Cycles of a barrier, by number of warps."""
        short, long = (self.driver.function(cubins.read(self.folder, "micro-chain-bar"), k) for k in ("short", "long"))
        self.fill(OPERATIONS[0])
        copies = (LONG - SHORT) * ITERATIONS
        return {str(w): (self.cycles(long, w, ITERATIONS) - self.cycles(short, w, ITERATIONS)) / copies for w in WARPS}

    def code(self, name: str) -> dict[str, Any]:
        """Cycles of an instruction of straight code, by number of warps."""
        function = self.driver.function(cubins.read(self.folder, f"micro-{name}"), "straight")
        self.fill(OPERATIONS[0])
        count = int(name.rpartition("-")[2])
        found = {}
        for warps in (1, 4, 8):
            few, many = (self.cycles(function, warps, n) for n in (4, 12))
            found[str(warps)] = (many - few) / (8 * count)
        return {"instructions": count, "cycles_per_instruction": found}

    def conflicts(self, function: Function) -> dict[str, float]:
        """Cycles of a load of shared memory of one warp and of 8, by stride in words."""
        self.driver._write(self.driver.base + OUT_BYTES, bytes(64))
        return {
            f"{warps} warps, stride {stride}": self.cycles(function, warps, 1024, stride) / 1024
            for warps in (1, 8)
            for stride in (0, 1, 2, 4, 8, 16, 32)
        }

    def loads(self, function: Function) -> dict[str, list[list[int]]]:
        """Cycles before each of twelve independent loads, from the first, by warp, for 1 to 8 warps."""
        self.driver._write(self.driver.base + OUT_BYTES, bytes(8192))
        by_warps = {}
        for warps in (1, 2, 3, 4, 8):
            for _ in range(2):
                self.launch(function, warps, 1, 0)
            rows = np.frombuffer(self.driver.read_memory(64 * warps), np.uint32).reshape(warps, 16)[:, :13]
            by_warps[str(warps)] = [[int(c - row[0] & 0xFFFFFFFF) for c in row.astype(np.int64)] for row in rows]
        return by_warps

    def bandwidth(self, read: Function, write: Function) -> dict[str, float]:
        """Useful GB/s by footprint and stride; a small footprint is gone through many times."""
        blocks = 8 * self.driver.facts()["sms"]
        rates = {}
        for name, function in (("read", read), ("write", write)):
            for size in (1 << 20, 8 << 20, 24 << 20, 256 << 20, 1 << 30):
                for stride in (1, 8):
                    passes = stride * STREAMED_BYTES // size
                    arguments = size // 4, passes, stride
                    times = [self.launch(function, 1, *arguments, blocks=blocks, threads=256) for _ in range(4)]
                    rates[f"{name} {size} bytes, stride {stride}"] = passes * size / stride / min(times[1:]) / 1e6
        return rates
