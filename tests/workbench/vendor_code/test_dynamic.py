"""Ratios of executed instructions and of reads by level, of rows made by hand."""

from __future__ import annotations

import pytest

from warpreg_workbench.vendor_code.dynamic import DESIGNS, DynamicRow, executed, left, measured, per_instruction

ROWS = [
    DynamicRow("a", "own", "mrf", 100, {"mrf": 150.0}),
    DynamicRow("a", "own", "rfc", 100, {"mrf": 50.0, "rfc": 100.0}),
    DynamicRow("b", "own", "mrf", 10, {"mrf": 20.0}),
    DynamicRow("b", "own", "rfc", 10, {"mrf": 20.0, "rfc": 0.0}),
    DynamicRow("a", "sm_80", "mrf", 120, {"mrf": 1.0}),
    DynamicRow("a", "sm_90", "mrf", 150, {"mrf": 1.0}),
    DynamicRow("b", "sm_80", "mrf", 10, {"mrf": 1.0}),
    DynamicRow("b", "sm_90", "mrf", 20, {"mrf": 1.0}),
]


def test_executed_instructions_are_beside_own_code() -> None:
    assert executed(ROWS) == {"a": {"sm_80": 1.2, "sm_90": 1.5}, "b": {"sm_80": 1.0, "sm_90": 2.0}}


def test_reads_are_means_over_workloads() -> None:
    """50/100 and 20/10 of the main register file, 100/100 and 0/10 of the cache; 50/150 and 20/20 are left."""
    assert per_instruction(ROWS, "rfc", "own") == {"mrf": 1.25, "rfc": 0.5}
    assert left(ROWS, "rfc", "own") == pytest.approx(2 / 3)


@pytest.mark.slow
def test_a_workload_is_measured_in_every_code() -> None:
    """What leaves the main register file is read elsewhere: all levels of a cache together read at least as much."""
    pytest.importorskip("nvidia")
    rows = measured(("vector-add",))
    assert [row.design for row in rows] == [*DESIGNS] * 3
    for base, cached in ((rows[at], rows[at + 1]) for at in (0, len(DESIGNS), 2 * len(DESIGNS))):
        assert sum(cached.reads.values()) >= base.reads["mrf"] > cached.reads["mrf"]
