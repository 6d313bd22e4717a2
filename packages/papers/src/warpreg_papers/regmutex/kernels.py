"""The sixteen kernels of Table 4.1 and those of the suite that stand for them.

The table names applications.  Each has a workload of its name in the suite; of its kernels, the one that executes the
most instructions at size ``small`` is taken.  The first eight are those of Figure 4.7, on the whole register file, the
others those of Figure 4.8, on half of it: by the columns of the table, and by the kernels that sections 4.4.1 and 4.4.2
name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

GRANULE = 4


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the table: registers of a thread and of its base set; ``kernel`` of the workload."""

    name: str
    kernel: str
    registers: int
    base: int

    @property
    def extended(self) -> int:
        """Registers of the extended set: what is left of the registers, rounded up to a multiple of 4."""
        return -(-self.registers // GRANULE) * GRANULE - self.base


FULL_FILE: Mapping[str, Entry] = {
    "bfs": Entry("BFS", "bfs_expand", 21, 18),
    "cutcp": Entry("CUTCP", "cutoff_potential", 25, 20),
    "dwt2d": Entry("DWT2D", "reverse97", 44, 38),
    "hotspot3d": Entry("HotSpot3D", "hotspot3d", 32, 24),
    "mri-q": Entry("MRI-Q", "compute_q", 21, 18),
    "particlefilter": Entry("ParticleFilter", "likelihood", 32, 20),
    "radix-sort": Entry("RadixSort", "sort_blocks", 33, 30),
    "sad": Entry("SAD", "sad_4", 30, 20),
}
HALF_FILE: Mapping[str, Entry] = {
    "gaussian": Entry("Gaussian", "eliminate", 12, 8),
    "heartwall": Entry("HeatWall", "track_points", 28, 20),
    "lavamd": Entry("LavaMD", "forces_in_boxes", 37, 28),
    "merge-sort": Entry("MergeSort", "merge_intervals", 15, 12),
    "monte-carlo": Entry("MonteCarlo", "price_options", 13, 12),
    "spmv": Entry("SPMV", "spmv", 16, 12),
    "srad": Entry("SRAD", "diffuse_tile", 18, 12),
    "tpacf": Entry("TPACF", "correlate", 28, 20),
}
FULL_GROUP, HALF_GROUP = "full file", "half file"
GROUPS: Mapping[str, Mapping[str, Entry]] = {FULL_GROUP: FULL_FILE, HALF_GROUP: HALF_FILE}
TABLE: Mapping[str, Entry] = {**FULL_FILE, **HALF_FILE}
LIVE = ("bfs", "cutcp", "dwt2d", "hotspot3d", "mri-q", "particlefilter")
"""Kernels of Figure 4.1.  The text has lost which six it shows, of Rodinia and Parboil: the first six of the table."""
