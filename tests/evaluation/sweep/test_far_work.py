"""Workers of a Dask scheduler that have a store of their own, or lack the package."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import distributed
import pytest
from tests.evaluation.sweep.conftest import StudyFolder

import warpreg
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.evaluation.sweep.sweep import swept

WITHOUT = """
import sys


class Nothing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "warpreg":
            raise ModuleNotFoundError("No module named 'warpreg'")


sys.meta_path.insert(0, Nothing)
from distributed.cli.dask_worker import main

main([sys.argv[1], "--nthreads", "1", "--no-dashboard", "--no-nanny"])
"""
PATIENCE_S = 60


@pytest.mark.slow
def test_results_of_a_worker_with_a_store_of_its_own_are_kept_here_too(study: StudyFolder) -> None:
    batch = study.batch(study.seeds(2))
    options = {"nthreads": 1, "env": {"WARPREG_CACHE": str(study.folder / "far")}}
    with distributed.SpecCluster(
        workers={0: {"cls": distributed.Nanny, "options": options}},
        scheduler={"cls": distributed.Scheduler, "options": {"dashboard": False, "host": "127.0.0.1"}},
    ) as cluster:
        rows = swept(batch, where=cluster.scheduler_address)
    assert [batch.row(number, batch.result(number) or "") for number in (1, 2)] == rows
    assert len(list((study.folder / "far" / "results").iterdir())) == 2


@pytest.mark.slow
def test_a_worker_without_the_package_is_told_in_the_rows(study: StudyFolder) -> None:
    script = study.folder / "worker.py"
    script.write_text(WITHOUT, encoding="utf-8")
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        worker = subprocess.Popen([sys.executable, str(script), cluster.scheduler_address], stderr=subprocess.DEVNULL)
        try:
            began = time.monotonic()
            while not cluster.scheduler.workers and time.monotonic() < began + PATIENCE_S:
                time.sleep(0.1)
            (row,) = swept(study.batch(study.seeds(1)), where=cluster.scheduler_address)
        finally:
            worker.terminate()
            worker.wait()
    version = warpreg.__version__
    assert row["error"] == f"expected warpreg {version} on every worker, found one without: No module named 'warpreg'"


@pytest.mark.slow
def test_a_scheduler_that_is_gone_ends_the_sweep_and_what_was_finished_stays(study: StudyFolder) -> None:
    batch = study.batch(study.seeds(4))
    study.put("sleep")
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)

    def close() -> None:
        study.wait_for_runs(2)
        cluster.close()

    closing = threading.Thread(target=close)
    closing.start()
    with pytest.raises(SweepError, match="the scheduler is gone; what was finished is kept"):
        swept(batch, where=cluster.scheduler_address)
    closing.join()
    assert batch.result(1) is not None
    assert batch.result(4) is None
