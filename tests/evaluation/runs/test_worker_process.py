"""Workers of a pool end when the process that started them is killed or interrupted, idle or computing, however they
were started.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import pytest

from warpreg.evaluation.runs import worker_process
from warpreg.evaluation.runs.worker_process import WorkerPool

PARENT = """
import multiprocessing, os, signal, sys, time
from warpreg.evaluation.runs.worker_process import WorkerPool


def noted(folder, number):
    try:
        open(f"{folder}/{os.getpid()}", "w").close()
        while number == 0:
            sum(range(100_000))  # Python 3.13.0 skips handlers where an interrupt comes between rounds of a loop
        time.sleep(60)
    finally:
        open(f"{folder}/{os.getpid()}.kept", "w").close()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder, start, ends = sys.argv[1:]
    with WorkerPool(3, multiprocessing.get_context(start)) as pool:
        for number in range(8):  # more than begin
            pool.submit(noted, folder, number % 2)
        while len(os.listdir(folder)) < 3:
            time.sleep(0.01)
        if ends == "group":
            os.killpg(os.getpgid(0), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGKILL if ends == "killed" else signal.SIGINT)
        time.sleep(60)
"""


def lives(pid: str) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("start", ["fork", "forkserver", "spawn"])
def test_workers_end_with_a_killed_parent(start: str, tmp_path: Path) -> None:
    assert ended(tmp_path, start, "killed").returncode == -signal.SIGKILL


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("start", "ends"),
    [("fork", "alone"), ("fork", "group"), ("forkserver", "group"), ("spawn", "group")],
)
def test_workers_end_in_mid_call_with_an_interrupted_parent(start: str, ends: str, tmp_path: Path) -> None:
    """Ctrl-C reaches all processes of the terminal; ``kill -INT`` this one only.  What a call does at its end, it does,
    and only the parent has a traceback.
    """
    found = ended(tmp_path, start, ends)
    assert found.stderr.count("Traceback") == 1
    assert found.stderr.rstrip().endswith("KeyboardInterrupt")
    assert len(list((tmp_path / "pids").glob("*.kept"))) == 3


def test_idle_workers_end_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    with pytest.raises(KeyError), WorkerPool(2, get_context("fork")) as pool:
        assert pool.submit(abs, -1).result() == 1
        raise KeyError
    assert time.monotonic() - began < 5
    assert capfd.readouterr().err == ""


def test_a_worker_that_is_asked_to_end_breaks_the_pool() -> None:
    with WorkerPool(1, get_context("fork")) as pool:
        (worker,) = {pool.submit(os.getpid).result()}
        call = pool.submit(time.sleep, 60)
        while not call.running():
            time.sleep(0.01)
        os.kill(worker, signal.SIGTERM)
        with pytest.raises(BrokenProcessPool):
            call.result()


class _MissesSigterm:
    """An error in a finalizer is ignored."""

    def __del__(self) -> None:
        time.sleep(60)


def missing_sigterm() -> None:
    _MissesSigterm()


def dying() -> None:
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_misses_the_death_of_another_does_not_keep_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """An idle one that is ended, too, holds the lock of the pipe on which this one waits for its next call."""
    monkeypatch.setattr(worker_process, "GRACE_S", 1.0)
    began = time.monotonic()
    with WorkerPool(3, get_context("fork")) as pool:
        calls = [pool.submit(call) for call in (dying, missing_sigterm)]
        pool.submit(int)
        for call in calls:
            with pytest.raises(BrokenProcessPool):
                call.result()
    assert time.monotonic() - began < 20


def ended(folder: Path, start: str, ends: str) -> subprocess.CompletedProcess[str]:
    """A parent that has ended, and all of its workers with it."""
    script, pids = folder / "parent.py", folder / "pids"
    script.write_text(PARENT, encoding="utf-8")
    pids.mkdir()
    command = [sys.executable, str(script), str(pids), start, ends]
    began = time.monotonic()
    parent = subprocess.run(command, capture_output=True, text=True, check=False, start_new_session=True, timeout=60)
    assert time.monotonic() - began < 30
    workers = [file.name for file in pids.iterdir() if file.name.isdecimal()]
    began = time.monotonic()
    while any(map(lives, workers)) and time.monotonic() < began + 5:
        time.sleep(0.02)
    assert len(workers) == 3
    assert not any(map(lives, workers))
    return parent
