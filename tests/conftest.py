"""Tests never touch the user's cache: a session has one of its own, shared by its workers.

How long hypothesis takes to draw a case says something of the machine, nothing of what is tested.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("any machine", suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiled code goes to a temporary folder for the length of the session."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    os.environ["WARPREG_CACHE"] = str(shared / "cache")
