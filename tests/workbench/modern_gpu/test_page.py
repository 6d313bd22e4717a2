"""The page of a modern GPU: summaries over workloads, and the text that is kept."""

from __future__ import annotations

import pandas as pd
import pytest

from warpreg.gpu_kit.simulated import ComparedCycles
from warpreg_workbench.modern_gpu.designs import summary
from warpreg_workbench.modern_gpu.page import accuracy_table, design_table

ROWS = pd.DataFrame(
    [
        {"workload": "a", "design": "reuse(positions=3)", "cycles": 100, "mrf_reads": 60, "mrf_writes": 40,
         "energy_normalized": 0.8, "added_bytes": 3072.0, "error": None},
        {"workload": "b", "design": "reuse(positions=3)", "cycles": 400, "mrf_reads": 50, "mrf_writes": 50,
         "energy_normalized": 0.8, "added_bytes": 3072.0, "error": None},
        {"workload": "a", "design": "rfc(entries=6)", "cycles": 200, "mrf_reads": 10, "mrf_writes": 15,
         "energy_normalized": 0.4, "added_bytes": 6144.0, "error": None},
        {"workload": "b", "design": "rfc(entries=6)", "cycles": 200, "mrf_reads": 50, "mrf_writes": 50,
         "energy_normalized": 0.4, "added_bytes": 6144.0, "error": None},
        {"workload": "a", "design": "bow", "error": "has no collectors (there)"},
    ]
)  # fmt: skip


def test_a_design_is_summed_up_beside_the_reuse_cache() -> None:
    """Accesses 1/4 and 1: their mean is 5/8.  Speeds 1/2 and 2: their geometric mean is 1.  Energy is half of 0.8."""
    rfc, reuse, bow = summary(ROWS)
    assert (rfc.design, rfc.accesses, rfc.energy, rfc.speed) == ("rfc", *map(pytest.approx, (0.625, 0.5, 1.0)))
    assert (rfc.slowest, rfc.fastest, rfc.added_kib, rfc.workloads) == (0.5, 2.0, 6.0, 2)
    assert (reuse.design, reuse.accesses, reuse.energy, reuse.speed) == ("reuse", *map(pytest.approx, (1, 1, 1)))
    assert (bow.design, bow.workloads, bow.reason) == ("bow", 0, "has no collectors (there)")


def test_the_table_names_what_did_not_run() -> None:
    lines = [*design_table(summary(ROWS))]
    assert lines[2] == "| `rfc` | 0.625 | 0.500 | 1.000 | 0.500 to 2.000 | 6.00 | 2 |"
    assert lines[-2] == "- `bow`: has no collectors"


def test_the_worst_figures_come_first() -> None:
    rows = [ComparedCycles("a", 1, 4.0, 4.0), ComparedCycles("b", 2, 4.0, 6.0), ComparedCycles("c", 1, 8.0, 8.0)]
    lines = [*accuracy_table(rows)]
    assert lines[0].startswith("3 figures: mean error 16.7%")
    assert lines[3] == "| b | 2 | 4.00 | 6.00 | 50% |"
