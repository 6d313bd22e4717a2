"""What a dependent load waits for: the SM and the home of its line, other warps, what it evicts, its neighbours, the
texture unit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from warpreg.checks.gpu.request import Request, TextureObject
from warpreg.gpu_kit import cubins
from warpreg.gpu_kit.measuring_driver import Function, MeasuringDriver
from warpreg.gpu_kit.micro import OUT_BYTES, Micro

NAME = "micro-probes"
STEPS = 256
"""Dependent loads that are timed."""
HOMES = 16
"""Lines whose latency is measured from each SM, 4 KB apart."""
LOADED = (16 << 20, 256 << 20)
"""Bytes that warps follow pointers in: in the second level, and in DRAM."""
ASKING_SMS = (1, 16, 64, 132)
ASKING_WARPS = (1, 8, 32)
EMPTIED = 8 << 20
"""Bytes that are visited after the second level was emptied."""
EVICTING = 512 << 20
"""Bytes that empty the second level by reads: more than any probe visits, so that the last of them are no probe's."""
L2_BYTES = 32 << 20
"""What is larger than this is read from DRAM."""
TEXELS = 1 << 16
SECTOR_WORDS, LINE_WORDS = 4, 16


class MemoryProbes:
    """Runs the probes on the GPU, with the launches of `Micro`."""

    def __init__(self, driver: MeasuringDriver, folder: Path) -> None:
        self.driver, self.micro = driver, Micro(driver, folder)
        self._memory, self._probes = (cubins.read(folder, name) for name in ("micro-memory", NAME))
        self.first = driver.base + OUT_BYTES

    def all(self) -> dict[str, Any]:
        """Cycles of a dependent access by what it waits for."""
        return {
            "by_sm": {name: self.by_sm(self._probe(name)) for name in ("loads_of_sm", "atomics_of_sm")},
            "loaded": self.loaded(),
            "emptied": self.emptied(),
            "neighbours": self.neighbours(),
            "texture": self.texture(),
        }

    def by_sm(self, function: Function) -> list[list[float]]:
        """Cycles of an access to one line, by SM and line.  Atomics are executed at the home of their line, wherever
        copies of it are."""
        sms = self.driver.facts()["sms"]
        rows: list[list[float]] = [[] for _ in range(sms)]
        for home in range(HOMES):
            line = self.first + 4096 * (home + 1)
            self._write(self.first, [line])
            self._write(line, [line])
            for sm, row in enumerate(rows):
                self.micro.launch(function, 1, STEPS, sm, blocks=sms, threads=1)
                row.append(self._cycles(1) / STEPS)
        return rows

    def loaded(self) -> dict[str, float]:
        """Mean cycles of a load past the first level, by bytes, SMs and warps of each that ask at once."""
        function = self._probe("loads_of_all")
        found = {}
        for size in LOADED:
            lines = self.micro.link(size)
            for sms in ASKING_SMS:
                for warps in ASKING_WARPS:
                    apart = lines // (sms * warps)
                    self.micro.launch(function, warps, STEPS, apart, blocks=sms)
                    if size > L2_BYTES:
                        self._empty()
                    self.micro.launch(function, warps, STEPS, apart, blocks=sms)
                    name = f"{size} bytes, {sms} SMs, {warps} warps"
                    found[name] = self._cycles(32 * sms * warps) / STEPS
        return found

    def emptied(self) -> dict[str, float]:
        """Cycles of a load that evicts a line which was written, and one which was read."""
        self.micro.link(EMPTIED)
        self.driver.flush()
        found = {"of written lines": self._chased()}
        self._empty()
        return found | {"of read lines": self._chased()}

    def neighbours(self) -> dict[str, float]:
        """Mean cycles of a load after the cache was emptied, and one of a sector so many further in its line."""
        found = {}
        for further in (1, 2, 3):
            self.link_pairs(EMPTIED, further)
            self.driver.flush()
            found[str(further)] = self._chased()
        return found

    def texture(self) -> dict[str, float]:
        """Cycles of a dependent fetch of integers from linear memory, by warps and texels between two lanes."""
        function = self._probe("follow_texels")
        self.driver._write(self.first, bytes(4 * TEXELS))
        one = TextureObject(
            1, self.first, "1d", TEXELS, 1, 1, 1, 1, "int32", False, addresses=("clamp",) * 3, is_memory=True
        )
        texels, handle = self.driver.made(one)
        found = {}
        for warps in (1, 8):
            for stride in (0, 1, 32):
                arguments = (self.driver.base.to_bytes(8, "little"), handle.to_bytes(8, "little"))
                words = tuple(word.to_bytes(4, "little") for word in (STEPS, stride))
                request = Request("", "", (1, 1, 1), (32 * warps, 1, 1), 0, (*arguments, *words), b"")
                for _ in range(2):
                    self.driver.timed(function, request, {})
                found[f"{warps} warps, stride {stride}"] = self.micro.read_cycles(warps) / STEPS
        self.driver.destroy(one, texels, handle)
        return found

    def link_pairs(self, size: int, further: int) -> None:
        """Fill memory with pointers that visit in each line, in a random order, the first sector and another one."""
        lines = size // 128
        order = np.random.default_rng(0).permutation(lines)
        words = np.zeros(lines * LINE_WORDS, np.uint64)
        places = self.first + 128 * order.astype(np.uint64)
        words[order * LINE_WORDS] = places + np.uint64(32 * further)
        words[order * LINE_WORDS + SECTOR_WORDS * further] = np.roll(places, -1)
        self.driver._write(self.first, words.tobytes())

    def _empty(self) -> None:
        """Fill the second level with lines that were read."""
        read, blocks = self.driver.function(self._memory, "read"), 8 * self.driver.facts()["sms"]
        self.micro.launch(read, 1, EVICTING // 4, 1, 1, blocks=blocks, threads=256)

    def _probe(self, kernel: str) -> Function:
        return self.driver.function(self._probes, kernel)

    def _chased(self) -> float:
        return self.micro.chased(self.driver.function(self._memory, "chase"), 0)

    def _cycles(self, threads: int) -> float:
        """Mean of last minus first reading of the clock."""
        clocks = np.frombuffer(self.driver.read_memory(threads * 16), np.uint64).reshape(-1, 2)
        return float(np.mean(clocks[:, 1] - clocks[:, 0]))

    def _write(self, address: int, words: list[int]) -> None:
        self.driver._write(address, b"".join(word.to_bytes(8, "little") for word in words))
