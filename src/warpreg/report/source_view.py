"""A compiled kernel by lines of its source: which instructions each line has become, and what they cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warpreg.evaluation.runs.placement import Placement
from warpreg.ir.kernel import Kernel
from warpreg.ir.text_files import read_text
from warpreg.report.listing import Listing

NO_SOURCE = "instructions without a source line"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one instruction costs in a run: warp-instructions, pJ of its register accesses, warp-registers that it has
    written by significant bytes (1 to 4), the cycles that warps wait before it by cause (None without timing), and the
    same warp-registers by the bytes of their lanes' differences to the first lane (0 to 4).
    """

    executed: int
    energy_pj: float
    widths: Sequence[int] = ()
    stalls: Mapping[str, int] | None = None
    deltas: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a source file with the pcs of its instructions; ``number`` 0 stands for instructions without one."""

    file: str
    number: int
    text: str
    pcs: tuple[int, ...]

    @property
    def spans(self) -> str:
        """The pcs in words: ``0-3, 7``."""
        return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in _spans(self.pcs))


@dataclass(frozen=True)
class Explanation:
    """A kernel with its listing; by pc, what a design decides (``notes``), costs and bank conflicts; its source lines
    in order, and all lines of its source files.
    """

    listing: Listing
    notes: Mapping[int, Placement]
    lines: Sequence[SourceLine]
    costs: Mapping[int, Cost]
    conflicts: Mapping[int, int] = field(default_factory=dict)
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def is_timed(self) -> bool:
        """Whether the causes of waits are known."""
        return any(cost.stalls is not None for cost in self.costs.values())

    def energy_pj(self, line: SourceLine) -> float:
        """The energy of all instructions of a line."""
        return math.fsum(self.costs[pc].energy_pj for pc in line.pcs if pc in self.costs)

    def executed(self, line: SourceLine) -> int:
        """Their warp-instructions."""
        return sum(self.costs[pc].executed for pc in line.pcs if pc in self.costs)

    def stalls(self, pcs: Iterable[int]) -> dict[str, int]:
        """The cycles that warps wait before these instructions, by cause, the most frequent first."""
        found: Counter[str] = Counter()
        for pc in pcs:
            found.update(self.costs[pc].stalls or {} if pc in self.costs else {})
        return dict(found.most_common())

    def waits(self, line: SourceLine) -> int | None:
        """The sum of these cycles, None without timing."""
        return sum(self.stalls(line.pcs).values()) if self.is_timed else None

    def widths(self, pcs: Iterable[int]) -> list[int]:
        """The warp-registers that they write, by significant bytes, 1 to 4; empty without a run."""
        return _added(self.costs[pc].widths for pc in pcs if pc in self.costs)

    def deltas(self, pcs: Iterable[int]) -> list[int]:
        """The same by bytes of the differences to the first lane, 0 to 4."""
        return _added(self.costs[pc].deltas for pc in pcs if pc in self.costs)

    def pressure(self, line: SourceLine) -> int:
        """The most registers that are live after one of them."""
        chosen = set(line.pcs)
        return max(one.pressure for block in self.listing.blocks for one in block.lines if one.pc in chosen)


def source_lines(kernel: Kernel, folder: Path) -> list[SourceLine]:
    """The source lines of a kernel by file and number; files are looked for by their name, and in ``folder``.

    A line of a file that is not there has no text.
    """
    pcs: dict[tuple[str, int], list[int]] = {}
    for pc, instruction in enumerate(kernel.instructions()):
        source = instruction.source
        pcs.setdefault((source.file, source.line) if source else ("", 0), []).append(pc)
    texts = source_texts(kernel, folder)
    return [
        SourceLine(file, number, _text(texts[file], number), tuple(found))
        for (file, number), found in sorted(pcs.items())
    ]


def source_texts(kernel: Kernel, folder: Path) -> dict[str, list[str]]:
    """The lines of each source file, none of a file that is not there."""
    files = {one.source.file if one.source else "" for one in kernel.instructions()}
    return {file: _lines(file, folder) for file in sorted(files)}


def mean_width(widths: Sequence[int], least: int = 1) -> float | None:
    """The mean bytes of values, counted by bytes from the ``least`` on; None without one."""
    written = sum(widths)
    return sum(count * size for size, count in enumerate(widths, least)) / written if written else None


def _added(counts: Iterable[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(*(one for one in counts if one), strict=True)]


def _text(lines: Sequence[str], number: int) -> str:
    if number == 0:
        return NO_SOURCE
    return lines[number - 1] if number <= len(lines) else ""


def _lines(file: str, folder: Path) -> list[str]:
    for path in (Path(file), folder / file, folder / Path(file).name):
        if file and path.is_file():
            return read_text(path, errors="replace").splitlines()
    return []


def _spans(pcs: Sequence[int]) -> Iterator[tuple[int, int]]:
    first = last = pcs[0]
    for pc in pcs[1:]:
        if pc > last + 1:
            yield first, last
            first = pc
        last = pc
    yield first, last
