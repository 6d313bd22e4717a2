"""Test runs use a cache of their own, shared by workers and the processes that they start, never the user's cache.

Passes of the compiler are verified.  Code that one test compiles is loaded from the cache in all others; tests of the
cache itself set their own folders.  An example of a property test may take any time, as on a host with other load.

Where ``WARPREG_REFUSE_SKIPS`` is set, as in CI, a skipped test fails the run: a missing tool does not hide tests.
"""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterable

import pytest
from hypothesis import settings

from piecewise_numba import bounded

WORKER = "PYTEST_XDIST_WORKER"
REFUSE_SKIPS = "WARPREG_REFUSE_SKIPS"
ALWAYS_SKIPPED = ("needs a GPU", "a long campaign")
"""How the reasons begin of tests that no CI runs."""


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
    os.environ["WARPREG_COMPILED"] = ""  # what `warpreg warm` has compiled


def pytest_collection_finish() -> None:
    """Thousands of tests and compilers in memory are not searched for garbage again and again.  Tests compile in their
    own process, so that they see it.
    """
    bounded.makes_copies = False
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def unexpected_skips(reports: Iterable[pytest.TestReport]) -> list[str]:
    """Tests that were skipped for a reason that CI does not accept, as ``test: reason``."""
    skipped = []
    for report in reports:
        reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
        if not reason.startswith(ALWAYS_SKIPPED):
            skipped.append(f"{report.nodeid}: {reason}")
    return skipped


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that refuses skips and has some. Workers have no terminal reporter: the controller decides."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or REFUSE_SKIPS not in os.environ:
        return
    skipped = unexpected_skips(reporter.stats.get("skipped", ()))
    if skipped:
        reporter.write_line("")
        for line in skipped:
            reporter.write_line(f"skipped in CI: {line}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
