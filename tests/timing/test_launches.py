"""Round trip of hand-written launches through the format of the feed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.launches import Launched, recorded
from tests.timing.random_runs import launches


@settings(max_examples=15, deadline=None)
@given(launches(), st.integers(1, 3))
def test_a_launch_comes_back_from_its_batches(launched: Launched, size: int) -> None:
    assert recorded(launched.kernel, launched.batches(size, lanes=True), lanes=True) == launched
