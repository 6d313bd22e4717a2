"""Register profile of a run: number of reads, lifetimes and consumers of values (Figure 2 of both Gebhart papers)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from warpreg.designs.interface.hooks import hooks_of
from warpreg.designs.interface.plan import PRIVATE, READ, SHARED, WRITE
from warpreg.designs.parts.hints.program_table import program_table
from warpreg.ir.kernel import Kernel
from warpreg.replay import profile_hooks
from warpreg.replay.replay import warp_instructions
from warpreg.replay.walker import Behaviour, Counters, PathWalker
from warpreg.trace.path import RecordedPath

READ_COUNTS = ("0", "1", "2", ">2")
LIFETIMES = ("1", "2", "3", ">3")
CONSUMERS = ("none", "private", "shared", "both")


@dataclass(frozen=True, eq=False)
class Profile:
    """Counts over all warps of a run, from which shares and averages are derived.

    ``values_by_reads`` by READ_COUNTS and ``once_read_by_lifetime`` by LIFETIMES are numbers of values; a lifetime is
    in instructions from producer to consumer, 1 if the next instruction reads.  ``values_by_use`` int64[producer,
    consumers]: PRIVATE or SHARED by CONSUMERS.  ``operands`` int64[action, datapath] are warp-registers read and
    written.
    """

    warp_instructions: int
    operands: NDArray[np.int64]
    values_by_reads: Mapping[str, int]
    once_read_by_lifetime: Mapping[str, int]
    values_by_use: NDArray[np.int64]

    @property
    def values(self) -> int:
        """Values written."""
        return sum(self.values_by_reads.values())

    @property
    def reads_per_instruction(self) -> float:
        """Mean number of warp-registers read per instruction."""
        return _share(self.operands[READ].sum(), self.warp_instructions)

    @property
    def writes_per_instruction(self) -> float:
        """Mean number of warp-registers written per instruction."""
        return _share(self.operands[WRITE].sum(), self.warp_instructions)

    @property
    def shared_consumed(self) -> float:
        """Share of all values that the shared datapath reads at least once."""
        return _share(self._read_by_shared().sum(), self.values)

    @property
    def shared_consumed_from_private(self) -> float:
        """Share of the values read by the shared datapath that the private datapath produced."""
        return _share(self._read_by_shared()[PRIVATE], self._read_by_shared().sum())

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON; shares, including those of lifetimes, are of all values, as in the papers'
        figures.
        """
        return {
            "warp_instructions": self.warp_instructions,
            "values": self.values,
            "reads_per_instruction": self.reads_per_instruction,
            "writes_per_instruction": self.writes_per_instruction,
            "values_by_reads": {k: _share(n, self.values) for k, n in self.values_by_reads.items()},
            "once_read_by_lifetime": {k: _share(n, self.values) for k, n in self.once_read_by_lifetime.items()},
            "shared_consumed": self.shared_consumed,
            "shared_consumed_from_private": self.shared_consumed_from_private,
            "operands": {
                f"{action}.{datapath}": int(self.operands[a, d])
                for a, action in ((READ, "read"), (WRITE, "write"))
                for d, datapath in ((PRIVATE, "private"), (SHARED, "shared"))
            },
        }

    def _read_by_shared(self) -> NDArray[np.int64]:
        """Values that the shared datapath reads, by producer."""
        by_producer: NDArray[np.int64] = self.values_by_use[:, CONSUMERS.index("shared") :].sum(axis=1)
        return by_producer


def profile(trace: RecordedPath, kernel: Kernel, *, mode: Mode = "compiled") -> Profile:
    """The register profile of the path that ``trace`` recorded of ``kernel`` (architected registers).

    Raises DesignError for a kernel with virtual registers and ReplayError for a path of another kernel.
    """
    program = program_table(kernel)
    counters = Counters(program, levels=1, events=profile_hooks.EVENTS)
    behaviour = Behaviour(program, hooks_of(vars(profile_hooks)), profile_hooks.no_values(program), "profile", mode)
    PathWalker(behaviour, counters).walk(trace)
    reads, lifetimes, private, shared = counters.events.reshape(4, 4)
    return Profile(
        warp_instructions=warp_instructions(counters, program),
        operands=counters.accesses[0],
        values_by_reads=dict(zip(READ_COUNTS, reads.tolist(), strict=True)),
        once_read_by_lifetime=dict(zip(LIFETIMES, lifetimes.tolist(), strict=True)),
        values_by_use=np.stack((private, shared)),
    )


def _share(part: int | np.int64, whole: int | np.int64) -> float:
    return float(part / whole) if whole else 0.0
