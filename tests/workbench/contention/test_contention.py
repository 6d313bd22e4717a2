"""Memory under load: latency rises near saturation, and throttling helps only if a resource limits the load.

The load is synthetic traffic on the memory system, and kernels on the timing core.
"""

from __future__ import annotations

import pytest
from tests.workbench.contention import kernels, traffic
from tests.workbench.contention.machines import contending, narrow, unlimited

from warpreg import gpu
from warpreg.timing.errors import TimingError

AS_IT_IS = contending(gpu.load("titanx"))


@pytest.mark.slow
def test_latency_rises_at_least_threefold_from_one_sm_to_all() -> None:
    points = traffic.latency_against_load(AS_IT_IS, (1, 8, 28))
    alone, some, all_ = (point.measured.latency for point in points)
    assert alone < some < all_
    assert all_ > 3 * alone


@pytest.mark.slow
def test_fewer_streams_have_more_throughput_where_rows_conflict() -> None:
    few, many = traffic.throttling(narrow(), (8, 64))
    assert few.measured.throughput > 1.3 * many.measured.throughput


@pytest.mark.slow
def test_both_effects_vanish_without_limits() -> None:
    alone, all_ = traffic.latency_against_load(unlimited(), (1, 28))
    assert all_.measured.latency < 1.1 * alone.measured.latency
    few, many = traffic.throttling(unlimited(), (8, 32))
    assert many.measured.throughput > 3.5 * few.measured.throughput


@pytest.mark.slow
def test_a_kernel_on_the_core_waits_at_least_threefold_on_all_sms() -> None:
    alone, some, all_ = (point.latency for point in kernels.latency_against_load(AS_IT_IS, (1, 8, 28)))
    assert alone < some < all_
    assert all_ > 3 * alone


@pytest.mark.slow
def test_a_kernel_on_the_core_gains_from_fewer_warps_where_rows_conflict() -> None:
    few, some, many = kernels.throttling(narrow(), (8, 16, 64))
    assert few.throughput > some.throughput > many.throughput
    assert few.throughput > 1.3 * many.throughput


@pytest.mark.slow
def test_without_limits_the_core_has_neither_effect() -> None:
    """A warp reads two lines in a round trip, so eight times the warps would be eight times as fast but for the end."""
    alone, all_ = kernels.latency_against_load(unlimited(), (1, 28))
    assert all_.latency < 1.1 * alone.latency
    few, many = kernels.throttling(unlimited(), (8, 64))
    assert many.throughput > 5 * few.throughput


def test_a_machine_of_fixed_latency_has_no_contention() -> None:
    with pytest.raises(TimingError, match=r"gebhart: contention needs \[l2\], \[network\] and \[dram\]"):
        contending(gpu.load("gebhart"))
