"""Memory under load: latency rises near saturation and throttling pays, unless nothing is limited."""

from __future__ import annotations

import pytest

from warpreg import gpu
from warpreg.experiments import contention
from warpreg.timing.errors import TimingError

TITANX = gpu.load("titanx")
AS_IT_IS = contention.contended(TITANX)
NARROW = contention.narrow(AS_IT_IS)
UNLIMITED = contention.unlimited(AS_IT_IS)


def test_latency_rises_at_least_threefold_from_one_sm_to_all() -> None:
    points = contention.latency_against_load(TITANX, AS_IT_IS, (1, 8, 28))
    alone, some, all_ = (point.measured.latency for point in points)
    assert alone < some < all_
    assert all_ > 3 * alone


def test_fewer_streams_have_more_throughput_where_rows_conflict() -> None:
    few, many = contention.throttling(TITANX, NARROW, (8, 64))
    assert few.measured.throughput > 1.3 * many.measured.throughput


def test_both_effects_vanish_without_limits() -> None:
    alone, all_ = contention.latency_against_load(TITANX, UNLIMITED, (1, 28))
    assert all_.measured.latency < 1.1 * alone.measured.latency
    few, many = contention.throttling(TITANX, UNLIMITED, (8, 32))
    assert many.measured.throughput > 3.5 * few.measured.throughput


def test_a_machine_of_fixed_latency_has_no_contention() -> None:
    with pytest.raises(TimingError, match=r"gebhart: contention needs \[l2\], \[network\] and \[dram\]"):
        contention.contended(gpu.load("gebhart"))
