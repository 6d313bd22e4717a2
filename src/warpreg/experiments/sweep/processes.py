"""Worker processes of this machine: copies of one that has imported the package, where the system has such."""

from __future__ import annotations

from multiprocessing import forkserver, get_all_start_methods, get_context
from typing import Any

PROCESSES = "processes"
CLUSTERS = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "lsf": "LSFCluster"}
"""Batch systems, and their classes in Dask-Jobqueue."""
FORKSERVER = "forkserver"
IMPORTED = "warpreg.experiments.sweep.warm"
"""What workers would each import first, which takes as long as some hundred small cells."""


def starting() -> Any:
    """How worker processes start, as a context of `multiprocessing`."""
    if FORKSERVER not in get_all_start_methods():
        return get_context("spawn")
    context = get_context(FORKSERVER)
    context.set_forkserver_preload([IMPORTED])
    return context


def begin() -> None:
    """Start the process that workers are copies of, so that it imports while this one plans."""
    if FORKSERVER in get_all_start_methods():
        starting()
        forkserver.ensure_running()
