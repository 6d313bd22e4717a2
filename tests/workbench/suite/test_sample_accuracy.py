"""Comparison of samples with complete runs, without timing."""

from __future__ import annotations

from warpreg_workbench.suite.sample_accuracy import Accuracy, line


def test_an_estimate_is_within_its_range_or_not() -> None:
    """96 is 4 off 100: within 5, not within 3; what was timed whole is exact."""
    good, bad, exact = (Accuracy("w", "s", 100, cycles, margin, 0.5) for cycles, margin in ((96, 5), (96, 3), (100, 0)))
    assert (good.is_within, bad.is_within, exact.is_within) == (True, False, True)
    assert [line(good), line(bad)] == [
        "| w | 100 | s | 50% | -4.0% | ±5.0% | yes |",
        "| w | 100 | s | 50% | -4.0% | ±3.0% | no |",
    ]
