"""The header of a trace: launch parameters and tracer version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from warpreg.sass.errors import SassTraceError

OLDEST_TRACER, NEWEST_TRACER = 3, 6
OLDEST_BINARY, NEWEST_BINARY = 50, 129
MOST_THREAD_BLOCKS = 2**31 - 1
MOST_THREADS = 1024

ENTRY = re.compile(r"-([a-z_ ]+?) = ?(.*)")
EXTENT = re.compile(r"\((\d{1,10}),(\d{1,10}),(\d{1,10})\)")

Extent = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Header:
    """One kernel launch.  ``shared_bytes`` is per thread block, ``registers`` per thread; ``binary_version`` is 70 for
    sm_70; the bases are generic addresses of the windows of shared and local memory, 0 if not in the trace."""

    kernel: str
    kernel_id: int
    grid: Extent
    block: Extent
    shared_bytes: int
    registers: int
    binary_version: int
    tracer_version: int
    shared_base: int = 0
    local_base: int = 0
    has_source_lines: bool = False
    stream: int = 0

    @property
    def thread_blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def warps(self) -> int:
        """Warps of a thread block."""
        return -(-self.threads // 32)

    @property
    def threads(self) -> int:
        """Threads of a thread block."""
        return self.block[0] * self.block[1] * self.block[2]


def parse_header(lines: Mapping[str, tuple[int, str]], name: str, end: int) -> Header:
    """The header from its entries, by key: line and value; ``end`` is its last line.

    Raises SassTraceError, with the file ``name`` and the line, for a missing or wrong entry or an unsupported version.
    """
    entries = _Entries(lines, name, end)
    tracer = entries.number("accelsim tracer version")
    if not OLDEST_TRACER <= tracer <= NEWEST_TRACER:
        raise entries.wrong(
            "accelsim tracer version",
            f"traces of tracer versions {OLDEST_TRACER} to {NEWEST_TRACER} are read, this is version {tracer}",
        )
    binary = entries.number("binary version")
    if not OLDEST_BINARY <= binary <= NEWEST_BINARY:
        raise entries.wrong("binary version", f"expected machine code of sm_50 or later, found sm_{binary}")
    header = Header(
        kernel=entries.text("kernel name"),
        kernel_id=entries.number("kernel id", 0),
        grid=entries.extent("grid dim", MOST_THREAD_BLOCKS, "thread blocks"),
        block=entries.extent("block dim", MOST_THREADS, "threads in a block"),
        shared_bytes=entries.number("shmem", 0),
        registers=entries.number("nregs", 0),
        binary_version=binary,
        tracer_version=tracer,
        shared_base=entries.number("shmem base_addr", 0),
        local_base=entries.number("local mem base_addr", 0),
        has_source_lines=bool(entries.number("enable lineinfo", 0)),
        stream=entries.number("cuda stream id", 0),
    )
    if header.registers > 255:
        raise entries.wrong("nregs", f"a thread has at most 255 registers, found {header.registers}")
    return header


@dataclass(frozen=True, slots=True)
class _Entries:
    lines: Mapping[str, tuple[int, str]]
    name: str
    end: int

    def wrong(self, key: str, what: str) -> SassTraceError:
        line = self.lines[key][0] if key in self.lines else self.end
        return SassTraceError(f"{self.name}:{line}: {what}")

    def text(self, key: str) -> str:
        if key not in self.lines:
            raise self.wrong(key, f"the header has no entry '-{key} = ...'")
        return self.lines[key][1].strip()

    def number(self, key: str, default: int | None = None) -> int:
        if key not in self.lines and default is not None:
            return default
        text = self.text(key).split()
        try:
            number = int(text[0], 0) if text else -1
        except ValueError:
            number = -1
        if not 0 <= number < 1 << 64:
            raise self.wrong(key, f"expected a number for '{key}', found '{self.text(key)}'")
        return number

    def extent(self, key: str, most: int, what: str) -> Extent:
        found = EXTENT.match(self.text(key))
        x, y, z = (int(n) for n in found.groups()) if found else (0, 0, 0)
        if not 1 <= x * y * z <= most:
            raise self.wrong(key, f"expected '(x,y,z)' of 1 to {most} {what} for '{key}', found '{self.text(key)}'")
        return x, y, z
