"""Tests never touch the user's cache: a run has one of its own, shared by its workers and by processes that they start.

Passes of the compiler are verified.  What is compiled once in a run is loaded from there everywhere else; tests of the
cache itself set folders of their own.
"""

from __future__ import annotations

import gc
import os
import tempfile

import pytest

WORKER = "PYTEST_XDIST_WORKER"


def pytest_configure(config: pytest.Config) -> None:
    """Before any test is imported; workers inherit what the controller has set."""
    if WORKER in os.environ:
        return
    os.environ["WARPREG_VERIFY_EACH"] = "1"
    folder = tempfile.TemporaryDirectory(prefix="warpreg-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(folder.cleanup)
    os.environ["WARPREG_CACHE"] = folder.name


def pytest_collection_finish() -> None:
    """Thousands of tests and compilers in memory are not searched for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
