"""Test runs use a cache of their own, shared by workers and the processes that they start, never the user's cache.

Passes of the compiler are verified.  Code that one test compiles is loaded from the cache in all others; tests of the
cache itself set their own folders.  An example of a property test may take any time, as on a host with other load.
"""

from __future__ import annotations

import gc
import os
import tempfile

import pytest
from hypothesis import settings

WORKER = "PYTEST_XDIST_WORKER"


def pytest_configure(config: pytest.Config) -> None:
    """Before any test is imported; workers inherit what the controller has set."""
    settings.register_profile("any-time", deadline=None)
    settings.load_profile("any-time")
    os.environ.pop("COLUMNS", None)  # the width of tables
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
