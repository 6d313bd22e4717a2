"""Tests never touch the user's cache: each worker has one of its own, shared by the tests it runs."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiled code goes to a temporary folder for the length of the session."""
    os.environ["WARPREG_CACHE"] = str(tmp_path_factory.mktemp("cache"))
