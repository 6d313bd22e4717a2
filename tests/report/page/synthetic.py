"""Rows as a sweep keeps them, made up: every number follows from the places of workload and design."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

LEVELS = ("rfc", "orf", "lrf", "boc")
OPTIONS = {"size": "tiny", "seed": 0, "max_registers": None, "schedule": True, "address_bits": 64, "rotate": 0}
CAUSES = ("issued", "not selected", "alu", "shared", "memory", "operands", "unit", "barrier", "drain", "empty")


def row(workload: str, design: str, place: int, entries: int, machine: str = "gebhart-rfc") -> dict[str, Any]:
    """A timed row whose energy is ``1 - entries / 20 + place / 1000`` of the plain register file's 2 million pJ; with
    no entries it is that of the plain register file.
    """
    share = 1 - entries / 20 + (place / 1000 if entries else 0)
    level = LEVELS[entries % len(LEVELS)]
    of_level = {f"{level}_reads": 30 * entries, f"{level}_writes": 20 * entries} if entries else {}
    parts = {f"{level}_access_normalized": share / 4, f"{level}_wire_normalized": share / 8} if entries else {}
    whole = 1.0 if not entries else 0.625
    return {
        "workload": workload,
        "design": design,
        "parameters": {"entries": entries, "replacement": "fifo"},
        "warp_instructions": 10_000 + place,
        "cycles": 20_000 - 100 * entries,
        "ipc": (10_000 + place) / (20_000 - 100 * entries),
        "speed": 20_000 / (20_000 - 100 * entries),
        "timing": {"occupancy": 0.75, "stalls": {cause: 1000 + 7 * at for at, cause in enumerate(CAUSES)}},
        "mrf_reads": 9000 - 100 * entries,
        "mrf_writes": 6000,
        **of_level,
        "reads_elided": entries / 90,
        "writes_elided": 0.0,
        "elided": entries / 150,
        "energy_pj": 2e6 * share,
        "energy_normalized": share,
        "energy_band": [share * 0.9, share * 1.1],
        "mrf_access_normalized": share * whole / 2,
        "mrf_wire_normalized": share * whole / 2,
        **parts,
        "added_bytes": 1024.0 * entries,
        "added_mm2": entries / 100,
        "leakage_pj": {"MRF": 4e6, "RFC": 1e5 * entries},
        "leakage_normalized": 1 + entries / 40,
        "events": {"fills": 100 * entries, "evicted": place},
        "residency": [{"kernel": workload, "registers_per_thread": 20, "registers_demanded": 20, "occupancy": 0.75}],
        "provenance": {
            "kernel": f"{place:012x}",
            "machine": f"{machine}@167922fe466a",
            "technology": "gebhart-40nm@c2cd50098a5a",
            "design": f"{sum(map(ord, design)):012x}",
            "code": "0.1.0+d178a4b58eb9",
            **OPTIONS,
            "cycles": True,
        },
    }


def rows(workloads: int, designs: int, machines: Sequence[str] = ("gebhart-rfc",)) -> Iterator[dict[str, Any]]:
    """Every workload under the plain register file and under designs of 1, 2, 3, ... entries (modulo 16)."""
    for machine in machines:
        for place in range(workloads):
            for entries in range(designs):
                name = "mrf" if not entries else f"design-{entries // 16}"
                yield row(f"workload-{place}", name, place, entries % 16, machine)
