"""Sweeps in jobs of Slurm, PBS and LSF, with stand-ins of their commands that start a job's script on this machine."""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import dask
import dask_jobqueue
import pytest
from tests.evaluation.sweep.conftest import StudyFolder

from warpreg.evaluation.sweep.processes import CLUSTERS
from warpreg.evaluation.sweep.sweep import swept

COMMANDS = {
    "slurm": ("sbatch", "scancel", "Submitted batch job $!"),
    "pbs": ("qsub", "qdel", "$!"),
    "lsf": ("bsub", "bkill", "Job <$!> is submitted"),
}
"""Of each system: what submits and cancels jobs, and what it says of a new one."""
SUBMIT = """#!/bin/sh
[ $# = 0 ] && cat > {folder}/read.sh  # LSF reads the script
cp "${{1:-{folder}/read.sh}}" {folder}/script.sh
setsid sh {folder}/script.sh > {folder}/job.out 2>&1 &
echo $! >> {folder}/jobs
echo "{told}"
"""
CANCEL = '#!/bin/sh\nfor job in "$@"; do kill -- -"$job"; done\n'
RESOURCES = {"cores": 1, "processes": 1, "memory": "2GB", "walltime": "00:05", "interface": "lo"}
ANNOUNCED = {"slurm": "#SBATCH -t 00:05", "pbs": "#PBS -l walltime=00:05", "lsf": "#BSUB -W 00:05"}


@pytest.fixture
def cluster(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A batch system whose jobs run here; none is left afterwards."""
    kind = str(request.param)
    submit, cancel, told = COMMANDS[kind]
    folder = tmp_path / "commands"
    folder.mkdir()
    for name, content in ((submit, SUBMIT.format(folder=folder, told=told)), (cancel, CANCEL)):
        (folder / name).write_text(content, encoding="utf-8")
        (folder / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    more = {"lsf-units": "MB", "use-stdin": True} if kind == "lsf" else {}
    with dask.config.set({f"jobqueue.{kind}": {**dask.config.get(f"jobqueue.{kind}"), **RESOURCES, **more}}):
        yield kind
    for job in (folder / "jobs").read_text().split() if (folder / "jobs").exists() else []:
        end(int(job))


def end(job: int) -> None:
    """End what is left of a job, which is a process group."""
    for _ in range(50):
        try:
            os.killpg(job, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(job, signal.SIGKILL)


@pytest.mark.parametrize("cluster", CLUSTERS, indirect=True)
def test_a_job_script_asks_for_the_resources_and_starts_a_worker(cluster: str) -> None:
    with getattr(dask_jobqueue, CLUSTERS[cluster])() as made:
        script = made.job_script()
    assert ANNOUNCED[cluster] in script
    assert "distributed.cli.dask_worker tcp://127.0.0.1:" in script
    assert "--nthreads 1" in script


@pytest.mark.slow
@pytest.mark.parametrize("cluster", CLUSTERS, indirect=True)
def test_cells_are_measured_in_jobs_with_the_rows_of_one_process(cluster: str, study: StudyFolder) -> None:
    batch = study.batch(study.seeds(2))
    alone = swept(batch, workers=1)
    study.forget(batch.keys)
    before = study.runs
    assert swept(batch, where=cluster, workers=1) == alone
    assert study.runs == before + 2
    assert (study.folder / "commands" / "jobs").read_text().count("\n") == 1
