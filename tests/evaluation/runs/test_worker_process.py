"""Workers of a pool end when the process that started them is killed, idle or computing, however they were started."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

PARENT = """
import multiprocessing, os, signal, sys, time
from concurrent.futures import ProcessPoolExecutor
from warpreg.evaluation.runs.worker_process import end_with_parent


def noted(folder, number):
    open(f"{folder}/{os.getpid()}", "w").close()
    if number == 0:
        while True:
            pass
    time.sleep(60)


if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[2])
    pool = ProcessPoolExecutor(2, mp_context=context, initializer=end_with_parent)
    for number in range(2):
        pool.submit(noted, sys.argv[1], number)
    while len(os.listdir(sys.argv[1])) < 2:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)
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
    script, folder = tmp_path / "parent.py", tmp_path / "pids"
    script.write_text(PARENT, encoding="utf-8")
    folder.mkdir()
    subprocess.run([sys.executable, str(script), str(folder), start], stderr=subprocess.DEVNULL, check=False)
    workers = [file.name for file in folder.iterdir()]
    began = time.monotonic()
    while any(map(lives, workers)) and time.monotonic() < began + 5:
        time.sleep(0.02)
    assert len(workers) == 2
    assert not any(map(lives, workers))
