"""The register caches in the timing core: every operand is served, whenever warps issue and are suspended."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.timing.random_runs import Case, cases
from tests.timing.vocabulary import timed

from warpreg.designs import load
from warpreg.designs.plan import READ, WRITE

CACHES: dict[str, tuple[str, dict[str, Any]]] = {
    "rfc": ("rfc", {"static_liveness": True, "around_long_latency": True, "idle_first": True}),
    "rfc-lrf": ("rfc-lrf", {}),
    "rc": ("rc", {"lines": 6}),
    "rc with private parts": ("rc", {"lines": 8, "private": True, "active_warps": 2}),
}


@pytest.mark.parametrize("name", CACHES)
@settings(max_examples=8, deadline=None)
@given(cases)
def test_every_operand_is_served_at_some_level(name: str, case: Case) -> None:
    design, options = CACHES[name]
    run = (case.launched, case.sm, case.memory(), case.sms, case.resident)
    found, plain = (timed(*run, one, **more).outcome.counts for one, more in ((load(design), options), (None, {})))
    accesses, baseline = (counts.accesses.reshape(-1, 2, 2).sum(axis=(0, 2)) for counts in (found, plain))
    merged = found.events[0]
    assert accesses[READ] == baseline[READ] + merged
    assert accesses[WRITE] == baseline[WRITE]
    assert np.trace(found.moves) == 0
