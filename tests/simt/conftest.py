"""Kernels run with virtual registers and compiled, with equal results."""

from __future__ import annotations

import pytest
from tests.simt.programs import COMPILED, VIRTUAL, Runner


@pytest.fixture(params=[VIRTUAL, COMPILED], ids=["virtual", "compiled"])
def run(request: pytest.FixtureRequest) -> Runner:
    """Runs a small kernel, on virtual and on architected registers."""
    return Runner(request.param)
