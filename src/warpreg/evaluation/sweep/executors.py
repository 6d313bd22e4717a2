"""Where the cells of a sweep are measured: executors with the interface of `concurrent.futures`.

``processes`` are worker processes of this machine.  An address is that of a Dask scheduler; ``slurm``, ``pbs`` and
``lsf`` start Dask workers as jobs of a cluster, as Dask-Jobqueue's own configuration describes them.
"""

from __future__ import annotations

import logging
import os
import shutil
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from warpreg.evaluation.runs.worker_process import WorkerPool
from warpreg.evaluation.sweep.errors import SweepError, SweepWarning
from warpreg.evaluation.sweep.processes import CLUSTERS, PROCESSES, starting
from warpreg.ir.errors import UnknownNameError

ANSWER_S = 10
"""A scheduler that does not answer for so long is taken for dead."""
EXTRA = "the Dask executors require the 'cluster' extra: pip install 'warpreg[cluster]'"


@contextmanager
def opened(where: str, workers: int | None) -> Iterator[Executor]:
    """An executor of so many workers, by default one per processor of this machine; of a scheduler, those it has.

    At an error, calls that are not finished are dropped.  Raises SweepError for a scheduler that does not answer or
    without the ``cluster`` extra, and UnknownNameError.
    """
    if where == PROCESSES:
        with WorkerPool(workers, starting()) as executor:
            yield executor
        return
    with _client(where, workers) as client, _closed(client.get_executor()) as executor:
        yield executor


@contextmanager
def _closed(executor: Executor) -> Iterator[Executor]:
    """Shut the executor of Dask down afterwards; at an error it drops calls by itself."""
    try:
        yield executor
    except BaseException:
        executor.shutdown(wait=False)
        raise
    executor.shutdown()


@contextmanager
def _client(where: str, workers: int | None) -> Iterator[Any]:
    if where not in CLUSTERS and ":" not in where:
        raise UnknownNameError("executor", where, [PROCESSES, *CLUSTERS, "tcp://HOST:PORT"])
    try:
        import distributed
    except ImportError as error:
        raise SweepError(EXTRA) from error
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # a lost scheduler is an error of ours
    cluster = _cluster(where, workers) if where in CLUSTERS else None
    try:
        client: Any = distributed.Client(where if cluster is None else cluster, timeout=ANSWER_S)
    except MemoryError as error:  # the answer is read as the length of a message
        raise SweepError(f"{where}: no scheduler answers, but another server") from error
    except (OSError, ValueError, RuntimeError) as error:
        raise SweepError(f"{where}: no scheduler answers: {_first_line(error)}") from error
    if cluster is None and not client.scheduler_info()["workers"]:
        message = f"{where}: has no worker yet; 'dask worker {where} --nthreads 1' starts one"
        warnings.warn(message, SweepWarning, stacklevel=2)
    try:
        yield client
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(":, ")


def _cluster(kind: str, workers: int | None) -> Any:
    """Jobs of a batch system, each with the resources that Dask-Jobqueue's configuration gives it."""
    try:
        import dask_jobqueue
    except ImportError as error:
        raise SweepError(EXTRA) from error
    jobs = getattr(dask_jobqueue, CLUSTERS[kind])
    command = jobs.job_cls.submit_command
    if shutil.which(command) is None:
        raise SweepError(f"{kind}: no command '{command}' on this machine, which submits its jobs")
    try:
        cluster = jobs()
    except (OSError, ValueError, RuntimeError) as error:
        told = f"{kind}: Dask-Jobqueue's configuration (https://jobqueue.dask.org) is not complete"
        raise SweepError(f"{told}: {_first_line(error)}") from error
    cluster.scale(workers or os.cpu_count() or 1)
    return cluster
