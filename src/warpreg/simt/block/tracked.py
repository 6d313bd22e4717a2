"""What a checked run tracks beside values."""

from __future__ import annotations

from warpreg.simt.block.section_taints import SectionTaints
from warpreg.simt.block.staging_taints import StagingTaints
from warpreg.simt.block.taints import Taints
from warpreg.simt.block.window_taints import WindowTaints

Tracked = Taints | WindowTaints | SectionTaints | StagingTaints
"""Taints of places above the register file, of windows, of sections of a shared pool, or of a staging unit."""
