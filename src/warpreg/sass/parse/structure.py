"""The structure of a trace around its instructions: header, thread blocks, warps, and their valid order."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from warpreg.sass.errors import SassTraceError
from warpreg.sass.parse.header import AS_WRITTEN, Extent, Header, HeaderOverride, entry, parse_header
from warpreg.sass.parse.scan import begin_warp
from warpreg.sass.parse.state import At, Phase
from warpreg.sass.selection import Selection, listed, spans
from warpreg.trace.path import PathWord

PLACE = re.compile(r"thread block = (\d{1,10}),(\d{1,10}),(\d{1,10})")
NEXT_PLACE = re.compile(rb"\nthread block = (\d{1,10}),(\d{1,10}),(\d{1,10})\s*\n")
END_OF_BLOCK = b"#END_TB"
CLUSTER = re.compile(r"cluster (id|cta) = \d{1,10},\d{1,10},\d{1,10}|cluster rank = \d{1,10}")
"""The cluster of a thread block, which Accel-Sim 2.0 writes behind its place."""
NUMBERED = re.compile(r"(warp|insts) = (\d{1,18})")


PLACES = {
    Phase.HEADER: "in the header",
    Phase.OUTSIDE: "between thread blocks",
    Phase.BEGUN: "at the beginning of a thread block",
    Phase.BLOCK: "in a thread block",
    Phase.WARP: "at the beginning of a warp",
    Phase.INSTRUCTIONS: "in a warp",
    Phase.SKIPPED: "in a thread block",
}


class Structure:
    """Processes lines that are not instructions; the scanner does so too for valid lines, with the same ``state``.
    Path words of lines are written to ``steps``.

    Thread blocks are numbered in the order of the file, which is that of their launch.  Those that are not ``selected``
    are not counted; their lines but the first and the last are skipped.
    """

    def __init__(
        self,
        name: str,
        state: NDArray[np.int64],
        steps: NDArray[np.uint32],
        given: HeaderOverride = AS_WRITTEN,
        selected: Selection | None = None,
    ) -> None:
        self.name = name
        self._state, self.steps = state, steps
        self._given, self._selected = given, selected
        self._entries: dict[str, tuple[int, str]] = {}
        self._header: Header | None = None
        self._blocks = np.zeros(0, np.uint8)
        self._expected = self._begun = 0
        self._place: Extent = (0, 0, 0)

    @property
    def phase(self) -> int:
        """The position of the next line, a `Phase`."""
        return int(self._state[At.PHASE])

    @property
    def header(self) -> Header:
        """The header.  Raises SassTraceError before it has ended."""
        if self._header is None:
            raise SassTraceError("the trace ends before its header does")
        return self._header

    @property
    def thread_blocks(self) -> int:
        """The number of thread blocks that are read."""
        return self._expected

    @property
    def is_complete(self) -> bool:
        """Whether all selected thread blocks have been read, so that the rest of the text does not matter."""
        return self._selected is not None and self.phase == Phase.OUTSIDE and self._begun == self._expected

    @property
    def where(self) -> str:
        """The warp or thread block of a line, for messages."""
        in_warp = self.phase == Phase.INSTRUCTIONS
        return f"warp {self._state[At.WARP]} of {self.thread_block}" if in_warp else self.thread_block

    @property
    def thread_block(self) -> str:
        """The thread block of a line, for messages."""
        return f"thread block {self._place[0]},{self._place[1]},{self._place[2]}"

    def line(self, text: str) -> None:
        """Process a line.  Raises SassTraceError, without location (except in the header), if it is invalid here."""
        if not text:
            return
        announced, left = int(self._state[At.ANNOUNCED]), int(self._state[At.LEFT])
        if self.phase == Phase.HEADER:
            self._header_line(text)
        elif left:
            done = announced - left
            raise SassTraceError(
                f"{self.where} announces {announced} instructions, found '{_short(text)}' after {done}"
            )
        elif self.phase == Phase.INSTRUCTIONS and text[0] in "0123456789abcdef":
            raise SassTraceError(f"{self.where} announces {announced} instructions, here is one more")
        else:
            self._body_line(text)

    def skip(self, text: bytes, at: int) -> int:
        """Go past thread blocks that are not selected, without a look at their lines.  ``at`` is in one of them.

        Returns the place of the last line of one, or the end of the text if that is in one.
        """
        while (end := text.find(END_OF_BLOCK, at)) >= 0:
            following = NEXT_PLACE.search(text, end)
            if following is None:
                return end
            x, y, z = (int(number) for number in following.groups())
            index = self._index(x, y, z)
            if index is None or self._is_selected(index) or self._blocks[index]:
                return end
            self._blocks[index] = 1
            self._place = (x, y, z)
            at = following.end()
        return len(text)

    def end(self) -> None:
        """Process the end of the text.  Raises SassTraceError if the trace is incomplete."""
        header, announced, left = self.header, int(self._state[At.ANNOUNCED]), int(self._state[At.LEFT])
        if left:
            done = announced - left
            raise SassTraceError(f"the trace stops in {self.where}, after {done} of {announced} instructions")
        if self.phase != Phase.OUTSIDE:
            raise SassTraceError(f"the trace stops in {self.where}: expected '#END_TB'")
        if self._begun < self._expected:
            raise SassTraceError(self._cut_short(header))
        self._blocks = np.zeros(0, np.uint8)

    def _header_line(self, text: str) -> None:
        number = int(self._state[At.LINE])
        found = entry(text)
        if found:
            key, value = found
            if value != self._entries.get(key, (0, value))[1]:
                raise SassTraceError(f"the header has '-{key}' twice, with '{self._entries[key][1]}' and '{value}'")
            self._entries[key] = number, value
        elif not text.startswith("#"):
            raise SassTraceError(f"expected '-key = value' or '#', found '{_short(text)}'")
        elif self._entries:
            self._end_header(number)
            if text == "#BEGIN_TB":
                self._body_line(text)

    def _end_header(self, number: int) -> None:
        header = parse_header(self._entries, self.name, number, self._given)
        grid, count = header.grid, header.thread_blocks
        if self._selected is not None and (beyond := self._selected.beyond(count)):
            raise SassTraceError(
                f"{self.name}:{number}: no thread blocks {beyond}: the grid {grid[0]}x{grid[1]}x{grid[2]} has 0 to"
                f" {count - 1}"
            )
        self._header = header
        self._blocks = np.zeros(count, np.uint8)
        self._expected = count if self._selected is None else self._selected.count(count)
        self._state[At.WARPS] = header.warps
        self._state[At.PHASE] = Phase.OUTSIDE

    def _cut_short(self, header: Header) -> str:
        """What is missing at the end of the text, and what is there."""
        there = listed(spans(np.flatnonzero(self._blocks).tolist())) or "none"
        if self._selected is None:
            remedy = f"; --blocks selects of those that are there, {there}" if self._begun else ""
            return f"the trace stops after {self._begun} of {header.thread_blocks} thread blocks{remedy}"
        parts = ((low, self._blocks[low : high + 1]) for low, high in self._selected.ranges)
        missing = [low + index for low, part in parts for index in np.flatnonzero(part == 0).tolist()]
        return f"the trace has no thread blocks {listed(spans(missing))}; of {header.thread_blocks} it has {there}"

    def _body_line(self, text: str) -> None:
        if text == "#BEGIN_TB":
            self._expect(text, Phase.OUTSIDE)
            self._state[At.PHASE] = Phase.BEGUN
        elif text == "#END_TB":
            self._expect(text, Phase.BLOCK, Phase.INSTRUCTIONS, Phase.SKIPPED)
            self._end_thread_block()
        elif match := PLACE.fullmatch(text):
            self._expect(text, Phase.BEGUN)
            self._thread_block(int(match[1]), int(match[2]), int(match[3]))
        elif match := NUMBERED.fullmatch(text):
            if match[1] == "warp":
                self._begin_warp(int(match[2]))
            else:
                self._expect(text, Phase.WARP)
                self._state[At.LEFT] = self._state[At.ANNOUNCED] = int(match[2])
                self._state[At.PHASE] = Phase.INSTRUCTIONS
        elif CLUSTER.fullmatch(text):
            self._expect(text, Phase.BLOCK)
        elif not text.startswith("#") or self.phase != Phase.OUTSIDE:
            raise SassTraceError(f"'{_short(text)}' may not stand {PLACES[Phase(self.phase)]}")

    def _thread_block(self, x: int, y: int, z: int) -> None:
        grid, index = self.header.grid, self._index(x, y, z)
        self._place = (x, y, z)
        if index is None:
            raise SassTraceError(f"{self.thread_block} is outside of the grid {grid[0]}x{grid[1]}x{grid[2]}")
        if self._blocks[index]:
            raise SassTraceError(f"{self.thread_block} is in the trace twice")
        self._blocks[index] = 1
        if not self._is_selected(index):
            self._state[At.PHASE] = Phase.SKIPPED
            return
        state, at = self._state, int(self._state[At.STEPS])
        self.steps[at : at + 2] = PathWord.THREAD_BLOCK, self._begun
        self._begun += 1
        state[At.STEPS] += 2
        state[At.SEEN], state[At.PHASE] = 0, Phase.BLOCK

    def _index(self, x: int, y: int, z: int) -> int | None:
        """The number of a thread block, x fastest; None outside of the grid."""
        columns, rows, layers = self.header.grid
        return x + columns * (y + rows * z) if x < columns and y < rows and z < layers else None

    def _is_selected(self, index: int) -> bool:
        return self._selected is None or index in self._selected

    def _end_thread_block(self) -> None:
        warps = int(self._state[At.SEEN]).bit_count()
        if warps < self.header.warps and self.phase != Phase.SKIPPED:
            raise SassTraceError(f"{self.thread_block} has {warps} of its {self.header.warps} warps")
        self._state[At.PHASE] = Phase.OUTSIDE

    def _begin_warp(self, warp: int) -> None:
        self._expect(f"warp = {warp}", Phase.BLOCK, Phase.INSTRUCTIONS)
        if warp >= self.header.warps:
            raise SassTraceError(f"a thread block has {self.header.warps} warps, found warp {warp}")
        if self._state[At.SEEN] >> warp & 1:
            raise SassTraceError(f"warp {warp} is in {self.thread_block} twice")
        begin_warp(self._state, self.steps, warp)

    def _expect(self, text: str, *phases: Phase) -> None:
        if self.phase not in phases:
            raise SassTraceError(f"'{text}' may not stand {PLACES[Phase(self.phase)]}")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
