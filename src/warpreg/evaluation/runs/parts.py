"""What one level, table or piece of logic of a design costs beside its accesses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """One level, table or piece of logic.  ``bytes`` and ``area_mm2`` are of an SM, less what the plain machine has.

    ``dynamic_pj`` is 0 for a level, whose accesses are counted elsewhere, and None for logic by cycle in a run without
    cycles; ``leakage_pj`` is None without cycles.
    """

    name: str
    is_level: bool
    bytes: float
    area_mm2: float
    dynamic_pj: float | None
    leakage_pj: float | None
