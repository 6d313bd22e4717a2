"""Writes the instruction stream of one warp as lines of a hardware trace (tracer version 5)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

FULL = 0xFFFFFFFF
ZERO = 255
"""The register that reads as zero."""

OPCODES = {
    61: {"LDG": "LDG.E", "STG": "STG.E", "IMAD": "XMAD", "LDS": "LDS.U.32"},
    70: {"LDG": "LDG.E.SYS", "STG": "STG.E.SYS", "BAR": "BAR.SYNC", "LDS": "LDS.U"},
    86: {"LDG": "LDG.E", "STG": "STG.E", "BAR": "BAR.SYNC.DEFER_BLOCKING"},
}
"""The opcode names of a binary version that differ from the names used here."""

SLOTS_PER_PASCAL_GROUP = 3


class Stream:
    """One warp of a synthetic kernel: every call of `issue` is one warp-instruction.

    ``warp`` is the index in the thread block, ``index`` in the grid.  PCs repeat across the iterations of `loop`.
    """

    def __init__(self, version: int, block: int, warp: int, block_warps: int) -> None:
        self.block, self.warp, self.block_warps = block, warp, block_warps
        self.index = block * block_warps + warp
        self.lines: list[str] = []
        self._names = {"BAR": "BAR.SYNC"} | OPCODES[version]
        self._pascal = version < 70
        self._slot = 0

    def issue(
        self,
        opcode: str,
        results: Sequence[int] = (),
        sources: Sequence[int] = (),
        memory: str = "0",
        mask: int = FULL,
    ) -> None:
        """One instruction; ``memory`` is the result of `strided` or `steps`, or 0 without an address."""
        words = [f"{self._pc():04x} {mask:08x} {len(results)}", *(f"R{r}" for r in results)]
        words += [self._names.get(opcode, opcode), str(len(sources)), *(f"R{r}" for r in sources), memory, "0"]
        self.lines.append(" ".join(words) + "\n")
        self._slot += 1

    def prologue(self) -> None:
        """The stack pointer, the indices, and an address in registers 2 and 3."""
        self.issue("MOV", [1])
        self.issue("S2R", [0])
        self.issue("S2R", [3])
        self.issue("IMAD", [0], [3, 0])
        self.issue("MOV", [7], [ZERO])
        self.issue("IMAD", [2], [0, 7, ZERO])

    def repeat(self, trips: int, body: Callable[[int], None]) -> None:
        """``body(iteration)`` at the same PCs each time, without a branch."""
        top = self._slot
        for iteration in range(trips):
            self._slot = top
            body(iteration)

    def loop(self, trips: int, body: Callable[[int], None]) -> None:
        """`repeat` with a counter, a comparison and a backward branch."""

        def iterate(iteration: int) -> None:
            body(iteration)
            self.issue("IADD3", [7], [7, ZERO, ZERO])
            self.issue("ISETP.GE.AND", [], [7, ZERO])
            self.issue("BRA", mask=FULL if iteration + 1 < trips else 0)

        self.repeat(trips, iterate)

    def _pc(self) -> int:
        """16 bytes per instruction; on Pascal 8, with a control word before every three."""
        if not self._pascal:
            return 16 * self._slot
        group, place = divmod(self._slot, SLOTS_PER_PASCAL_GROUP)
        return 32 * group + 8 * (place + 1)


def strided(base: int, stride: int) -> str:
    """Addresses of 4-byte accesses with a stride of ``stride`` bytes between lanes."""
    return f"4 1 0x{base:x} {stride}"


def steps(addresses: Sequence[int]) -> str:
    """Any addresses of 4-byte accesses, as the first and the differences."""
    differences = (str(after - before) for before, after in itertools.pairwise(addresses))
    return " ".join([f"4 2 0x{addresses[0]:x}", *differences])
