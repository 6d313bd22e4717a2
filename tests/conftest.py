"""Tests never touch the user's cache: a session has one of its own, shared by its workers; passes are verified."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiled code goes to a temporary folder for the length of the session."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    os.environ["WARPREG_CACHE"] = str(shared / "cache")


@pytest.fixture(scope="session", autouse=True)
def verified_passes() -> None:
    """The kernel is verified after every pass of the compiler."""
    os.environ["WARPREG_VERIFY_EACH"] = "1"
