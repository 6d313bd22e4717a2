"""A compiled kernel by lines of its source: which instructions each line has become, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpreg.ir.kernel import Kernel
from warpreg.ir.text_files import read_text
from warpreg.report.listing import Listing

NO_SOURCE = "instructions without a source line"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one instruction costs in a run: warp-instructions, pJ of its register accesses, and cycles that warps wait
    before it (None without timing)."""

    executed: int
    energy_pj: float
    waits: int | None


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
class Explained:
    """A kernel with its listing, ``notes`` and ``costs`` by pc, and its source lines in order."""

    listing: Listing
    notes: Mapping[int, str]
    lines: Sequence[SourceLine]
    costs: Mapping[int, Cost]

    def energy_pj(self, line: SourceLine) -> float:
        """The energy of all instructions of a line."""
        return math.fsum(self.costs[pc].energy_pj for pc in line.pcs if pc in self.costs)

    def executed(self, line: SourceLine) -> int:
        """Their warp-instructions."""
        return sum(self.costs[pc].executed for pc in line.pcs if pc in self.costs)

    def waits(self, line: SourceLine) -> int | None:
        """The cycles that warps wait before them, None without timing."""
        found = [cost.waits for pc in line.pcs if (cost := self.costs.get(pc)) and cost.waits is not None]
        return sum(found) if found else None

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
    texts = {file: _lines(file, folder) for file, _ in pcs}
    return [
        SourceLine(file, number, _text(texts[file], number), tuple(found))
        for (file, number), found in sorted(pcs.items())
    ]


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
