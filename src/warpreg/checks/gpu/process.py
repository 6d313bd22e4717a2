"""The process that owns the GPU: a fault or an endless kernel ends it, and the next launch starts another one."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Protocol

from warpreg.checks.gpu.driver import Driver, GpuError, GpuFault
from warpreg.checks.gpu.request import Reply, Request

MEMORY_BYTES = 256 << 20
"""Memory of the GPU that a process takes; that of other sizes than ``tiny`` may not fit."""

SECONDS = 60.0
"""Most time for a launch, compilation by the driver included."""

START_SECONDS = 120.0


class Runner(Protocol):
    """What runs launches: a GPU's driver, or a stand-in."""

    base: int
    name: str

    def run(self, request: Request) -> Reply:
        """Raises GpuError."""


class Gpu:
    """The GPU in a process of its own.  ``base`` is the address of its global memory, which may change after a fault;
    ``name`` describes it.

    ``make`` makes the runner in that process.  Raises GpuError if there is none.
    """

    def __init__(self, make: Callable[[int], Runner] = Driver, seconds: float = SECONDS) -> None:
        self._make, self._seconds = make, seconds
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def run(self, request: Request) -> Reply:
        """The reply to a launch; errors are in it."""
        try:
            self._connection.send(request)
            if not self._connection.poll(self._seconds):
                return self._failed(f"did not end within {self._seconds:g} seconds")
            reply = self._connection.recv()
        except (EOFError, OSError):
            return self._failed("the process of the GPU died")
        assert isinstance(reply, Reply)
        return self._failed(reply.error) if reply.is_fault else reply

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.kill()
        self._process.join()

    def __enter__(self) -> Gpu:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _start(self) -> None:
        self._connection, theirs = self._context.Pipe()
        self._process = self._context.Process(target=serve, args=(theirs, self._make), daemon=True)
        self._process.start()
        theirs.close()
        if not self._connection.poll(START_SECONDS):
            self.close()
            raise GpuError(f"the GPU did not start within {START_SECONDS:g} seconds")
        try:
            started = self._connection.recv()
        except EOFError:
            started = "the process of the GPU died at its start"
        if isinstance(started, str):
            self.close()
            raise GpuError(started)
        self.base, self.name = started

    def _failed(self, error: str) -> Reply:
        """A reply with this error, and a new process."""
        self.close()
        self._start()
        return Reply(error=error, is_fault=True)


def serve(connection: Connection, make: Callable[[int], Runner]) -> None:
    """Answer requests until the other end closes; output of kernels is discarded."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        runner = make(MEMORY_BYTES)
    except GpuError as error:
        connection.send(str(error))
        return
    connection.send((runner.base, runner.name))
    while True:
        try:
            request = connection.recv()
        except (EOFError, OSError):
            return
        try:
            reply = runner.run(request)
        except GpuError as error:
            reply = Reply(error=str(error), is_fault=isinstance(error, GpuFault))
        connection.send(reply)
