"""Worker processes of this machine: copies of one that has imported the package, where the system has such.

A command's own process has no thread that its workers would miss, at most one that draws progress, so they are copies
of it, with all that it has loaded.  A process of the user may have threads that a copy would lack: its workers are
copies of a process started for that.
"""

from __future__ import annotations

import importlib
import os
import sys
from multiprocessing import get_all_start_methods, get_context
from typing import Any

from piecewise_numba import settings

PROCESSES = "processes"
CLUSTERS = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "lsf": "LSFCluster"}
"""Batch systems, and their classes in Dask-Jobqueue."""
FORKSERVER = "forkserver"
IMPORTED = "warpreg.evaluation.sweep.warm"
"""What workers would each import first, which takes as long as some hundred small cells."""

_is_command = False
"""Whether this process is that of a command."""


def begin() -> None:
    """Say that this process is that of a command, whose workers may be copies of it."""
    global _is_command
    settings.own_threads()
    _is_command = sys.platform == "linux" and settings.has_own_threads()


def at_once(workers: int | None) -> int:
    """How many of the workers that the user allows are started on this machine, by default one per processor.

    They only compute, so no more than there are processors; but two, if several are allowed, so that a cell that kills
    its process does not kill this one.
    """
    processors = os.cpu_count() or 1
    return processors if workers is None else min(workers, max(2, processors))


def starting() -> Any:
    """How worker processes start, as a context of `multiprocessing`."""
    if _is_command:
        importlib.import_module(IMPORTED)
        return get_context("fork")
    if FORKSERVER not in get_all_start_methods():
        return get_context("spawn")
    context = get_context(FORKSERVER)
    context.set_forkserver_preload([IMPORTED])
    return context
