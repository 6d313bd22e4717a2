"""Workers and clients that are killed in mid-run: nothing that was finished is lost or measured twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import NoReturn

import distributed
import pytest
from tests.evaluation.sweep.conftest import StudyFolder

from warpreg.evaluation.sweep import work
from warpreg.evaluation.sweep.batch import Batch
from warpreg.evaluation.sweep.distribution import DIED
from warpreg.evaluation.sweep.sweep import swept
from warpreg.ir.errors import InterruptedCodeError

CELLS = 6
PATIENCE_S = 120
ENDS_S = 5


def finished(batch: Batch) -> int:
    return sum(batch.result(number) is not None for number in range(1, len(batch.cells) + 1))


def has_ended(group: int) -> bool:
    """Whether the workers of a killed client, which are in its process group, end by themselves."""
    began = time.monotonic()
    while time.monotonic() < began + ENDS_S:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    os.killpg(group, signal.SIGKILL)
    return False


@pytest.mark.slow
def test_a_worker_of_a_cluster_is_killed_and_the_rows_are_those_of_one_process(study: StudyFolder) -> None:
    batch = study.batch(study.seeds(CELLS))
    alone = swept(batch, workers=1)
    study.forget(batch.keys)
    before = study.runs
    study.put("kill")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        assert swept(batch, where=cluster.scheduler_address) == alone
    assert study.runs == before + CELLS + 1  # the killed run, again


@pytest.mark.slow
def test_a_process_is_killed_once(study: StudyFolder) -> None:
    batch = study.batch(study.seeds(CELLS))
    study.put("kill")
    rows = swept(batch, workers=2)
    assert [row.get("error") for row in rows] == [None] * CELLS
    assert CELLS < study.runs <= CELLS + 2  # what ran beside it has died with it


@pytest.mark.slow
def test_a_cell_that_kills_its_process_fails_alone(study: StudyFolder) -> None:
    study.put("kill-always")
    file = study.write('workloads = ["vector-add", "counted.py"]\nsizes = "tiny"\n[[designs]]\nname = "rfc"\n')
    good, bad = swept(study.batch(file), workers=2)
    assert "error" not in good
    assert bad["error"] == DIED


CLIENT = """
import signal, sys
from warpreg.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a process in the background lacks
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130), (signal.SIGTERM, 130)]
)
def test_the_client_is_ended_and_goes_on_where_it_stopped(
    number: signal.Signals, status: int, study: StudyFolder
) -> None:
    """Its workers end in the middle of their cells."""
    file = study.seeds(CELLS)
    batch = study.batch(file)
    study.put("sleep")
    command = [sys.executable, "-c", CLIENT, "sweep", str(file), "-j", "2"]
    client = subprocess.Popen(command, start_new_session=True)
    began = time.monotonic()
    while finished(batch) < 2 and time.monotonic() < began + PATIENCE_S:
        time.sleep(0.05)
    client.send_signal(number)
    assert client.wait() == status
    assert has_ended(client.pid)
    done, runs = finished(batch), study.runs
    assert 2 <= done < CELLS
    rows = swept(batch, workers=1)
    assert [row.get("error") for row in rows] == [None] * CELLS
    assert study.runs == runs + CELLS - done


def test_interrupted_code_of_a_file_ends_the_sweep(study: StudyFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in a hook of a design is an error of Warpreg's own family, but no failure of the cell."""

    def interrupt(*given: object) -> NoReturn:
        raise InterruptedCodeError("design.py:3: interrupted while on_read ran")

    monkeypatch.setattr(work, "_results", interrupt)
    with pytest.raises(InterruptedCodeError):
        swept(study.batch(study.seeds(2)), workers=1)
