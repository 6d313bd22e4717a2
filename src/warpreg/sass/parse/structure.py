"""The structure of a trace around its instructions: header, thread blocks, warps, and their valid order."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from warpreg.sass.errors import SassTraceError
from warpreg.sass.parse.header import ENTRY, Extent, Header, parse_header
from warpreg.sass.parse.scan import begin_warp
from warpreg.sass.parse.state import At, Phase
from warpreg.trace.path import PathWord

PLACE = re.compile(r"thread block = (\d{1,10}),(\d{1,10}),(\d{1,10})")
NUMBERED = re.compile(r"(warp|insts) = (\d{1,18})")


PLACES = {
    Phase.HEADER: "in the header",
    Phase.OUTSIDE: "between thread blocks",
    Phase.BEGUN: "at the beginning of a thread block",
    Phase.BLOCK: "in a thread block",
    Phase.WARP: "at the beginning of a warp",
    Phase.INSTRUCTIONS: "in a warp",
}


class Structure:
    """Processes lines that are not instructions; the scanner does so too for valid lines, with the same ``state``.
    Path words of lines are written to ``steps``."""

    def __init__(self, name: str, state: NDArray[np.int64], steps: NDArray[np.uint32]) -> None:
        self.name = name
        self._state, self.steps = state, steps
        self._entries: dict[str, tuple[int, str]] = {}
        self._header: Header | None = None
        self._blocks = np.zeros(0, np.uint8)
        self._begun = 0
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

    def end(self) -> None:
        """Process the end of the text.  Raises SassTraceError if the trace is incomplete."""
        header, announced, left = self.header, int(self._state[At.ANNOUNCED]), int(self._state[At.LEFT])
        if left:
            done = announced - left
            raise SassTraceError(f"the trace stops in {self.where}, after {done} of {announced} instructions")
        if self.phase != Phase.OUTSIDE:
            raise SassTraceError(f"the trace stops in {self.where}: expected '#END_TB'")
        if self._begun < header.thread_blocks:
            raise SassTraceError(f"the trace stops after {self._begun} of {header.thread_blocks} thread blocks")
        self._blocks = np.zeros(0, np.uint8)

    def _header_line(self, text: str) -> None:
        number = int(self._state[At.LINE])
        entry = ENTRY.match(text)
        if entry:
            self._entries[entry[1]] = (number, entry[2])
        elif text.startswith("#"):
            self._header = parse_header(self._entries, self.name, number)
            self._blocks = np.zeros(self._header.thread_blocks, np.uint8)
            self._state[At.WARPS] = self._header.warps
            self._state[At.PHASE] = Phase.OUTSIDE
            if text == "#BEGIN_TB":
                self._body_line(text)
        else:
            raise SassTraceError(f"expected '-key = value' or '#', found '{_short(text)}'")

    def _body_line(self, text: str) -> None:
        if text == "#BEGIN_TB":
            self._expect(text, Phase.OUTSIDE)
            self._state[At.PHASE] = Phase.BEGUN
        elif text == "#END_TB":
            self._expect(text, Phase.BLOCK, Phase.INSTRUCTIONS)
            self._end_thread_block()
        elif found := PLACE.fullmatch(text):
            self._expect(text, Phase.BEGUN)
            self._thread_block(int(found[1]), int(found[2]), int(found[3]))
        elif found := NUMBERED.fullmatch(text):
            if found[1] == "warp":
                self._begin_warp(int(found[2]))
            else:
                self._expect(text, Phase.WARP)
                self._state[At.LEFT] = self._state[At.ANNOUNCED] = int(found[2])
                self._state[At.PHASE] = Phase.INSTRUCTIONS
        elif not text.startswith("#") or self.phase != Phase.OUTSIDE:
            raise SassTraceError(f"'{_short(text)}' may not stand {PLACES[Phase(self.phase)]}")

    def _thread_block(self, x: int, y: int, z: int) -> None:
        grid = self.header.grid
        self._place = (x, y, z)
        if x >= grid[0] or y >= grid[1] or z >= grid[2]:
            raise SassTraceError(f"{self.thread_block} is outside of the grid {grid[0]}x{grid[1]}x{grid[2]}")
        index = x + grid[0] * (y + grid[1] * z)
        if self._blocks[index]:
            raise SassTraceError(f"{self.thread_block} is in the trace twice")
        self._blocks[index] = 1
        self._begun += 1
        state, at = self._state, int(self._state[At.STEPS])
        self.steps[at : at + 2] = PathWord.THREAD_BLOCK, index
        state[At.STEPS] += 2
        state[At.SEEN], state[At.PHASE] = 0, Phase.BLOCK

    def _end_thread_block(self) -> None:
        warps = int(self._state[At.SEEN]).bit_count()
        if warps < self.header.warps:
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
