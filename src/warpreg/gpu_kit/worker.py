"""The process that uses the GPU, which a faulty kernel may end."""

from __future__ import annotations

import hashlib
import multiprocessing
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from warpreg import workloads
from warpreg.checks.gpu.driver import GpuFault
from warpreg.gpu_kit import cubins
from warpreg.gpu_kit.measured_device import MeasuredDevice
from warpreg.gpu_kit.measuring_driver import MeasuringDriver
from warpreg.gpu_kit.memory_probes import MemoryProbes
from warpreg.gpu_kit.micro import Micro
from warpreg.gpu_kit.microbenchmarks import MICROBENCHMARKS
from warpreg.ir.errors import WarpregError

CHECKED = "tiny"
"""The size whose outputs are compared with the reference and kept."""
MEMORY_BYTES = 2 << 30
WARM_UP = 20_000
"""Readings of the clock before a workload, so that clocks have risen."""


def serve(pipe: Connection, folder: str) -> None:
    """Answer tasks until the pipe closes; a fault of a kernel ends the process after its answer."""
    driver = None
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        try:
            driver = driver or MeasuringDriver(MEMORY_BYTES)
            pipe.send(_answer(driver, Path(folder), task))
        except GpuFault as error:
            pipe.send({"error": str(error)})
            return
        except Exception as error:
            pipe.send({"error": f"{type(error).__name__}: {error}"[:500]})


def _answer(driver: MeasuringDriver, folder: Path, task: tuple[str, ...]) -> dict[str, Any]:
    kind, name, *rest = task
    micro = Micro(driver, folder)
    if kind == "facts":
        return driver.facts()
    if kind == "banks":
        return {"cases": micro.banks()}
    if kind == "barrier":
        return {"cycles": micro.barrier()}
    if kind == "probes":
        return MemoryProbes(driver, folder).all()
    if kind == "between":
        return {"cycles_per_load": micro.between_launches()}
    if kind == "micro":
        one = next(m for m in MICROBENCHMARKS if m.name == name)
        if one.kind == "memory":
            return micro.memory()
        if one.kind == "code":
            return micro.code(name)
        assert one.operation is not None
        return (micro.rate if one.kind == "rate" else micro.chain)(name, one.operation)
    return workload(driver, folder, name, rest[0])


def workload(driver: MeasuringDriver, folder: Path, name: str, size: str) -> dict[str, Any]:
    """Times of all launches of a workload, and its outputs: whether they pass, their hashes and, at tiny, bytes."""
    found = workloads.find(name)
    problem = found.problem(size)
    device = MeasuredDevice(driver, found.module(), cubins.read(folder, name), clocked=cubins.clocked(folder, name))
    clocks = driver.function(cubins.read(folder, "micro-memory"), "clocks")
    Micro(driver, folder).clock(clocks, WARM_UP)
    before = Micro(driver, folder).clock(clocks)
    outputs = problem.run(device)
    sequence = device.sequence()
    after = Micro(driver, folder).clock(clocks)
    failure = ""
    if size == CHECKED:
        try:
            problem.check(outputs)
        except WarpregError as error:
            failure = str(error)[:300]
    arrays = {key: np.ascontiguousarray(value) for key, value in outputs.items()}
    described = {
        key: {"dtype": str(a.dtype), "shape": list(a.shape), "sha256": hashlib.sha256(a.tobytes()).hexdigest()}
        for key, a in arrays.items()
    }
    raw = {key: a.tobytes() for key, a in arrays.items()} if size == CHECKED else {}
    driver.unload()
    return {
        "failure": failure, "launches": [asdict(one) for one in device.times],
        "sequence": sequence, "outputs": described,
        "clock_mhz": [before, after], "hidden_variables": sorted(device.hidden), "raw": raw,
    }  # fmt: skip


class Worker:
    """The process that uses the GPU; it is replaced when it ends or takes too long."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other, str(self.folder)), daemon=True)
        self.process.start()
        other.close()

    def ask(self, task: tuple[str, ...], seconds: float) -> dict[str, Any]:
        """The answer to a task, or an error."""
        if not self.process.is_alive():
            self._start()
        try:
            self.pipe.send(task)
            if self.pipe.poll(seconds):
                return dict(self.pipe.recv())
            answer = {"error": f"no answer after {seconds:.0f} s"}
        except (EOFError, OSError) as error:
            answer = {"error": f"the process ended: {error}"}
        self.process.kill()
        self.process.join()
        return answer

    def close(self) -> None:
        """End the process."""
        self.pipe.close()
        self.process.join(5)
        self.process.kill()
