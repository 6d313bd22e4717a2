"""Generated code stays inside its memory: an access to a guard page would kill the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = 12
"""Kernels with one access each, of which each is launched a dozen times."""

ROOT = Path(__file__).parent.parent.parent


def guarded(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.simt.guarded", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=300)


@pytest.mark.slow
@pytest.mark.parametrize("side", ["low", "high"])
def test_accesses_stay_between_the_guard_pages(side: str) -> None:
    done = guarded(side, side, str(COUNT))
    assert done.returncode == 0, done.stderr[-2000:]
    ended, faulted = map(int, done.stdout.split())
    assert ended + faulted == 12 * COUNT
    assert min(ended, faulted) > 12


@pytest.mark.slow
@pytest.mark.parametrize("side", ["low", "high"])
def test_a_guard_page_does_kill(side: str) -> None:
    """The control: without the executor's bounds checks the same accesses die."""
    done = guarded(side, "unchecked", "4")
    assert done.returncode < 0, done.stdout + done.stderr
