"""What the kit measures, in which order, in a process of its own that a faulty kernel may end."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import multiprocessing
import struct
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import zstandard

from warpreg import workloads
from warpreg.experiments.checks.gpu.driver import GpuFault
from warpreg.experiments.checks.gpu.request import Request
from warpreg.experiments.gpu_kit import cubins
from warpreg.experiments.gpu_kit.measured_device import MeasuredDevice, as_rows
from warpreg.experiments.gpu_kit.measuring_driver import Function, MeasuringDriver
from warpreg.experiments.gpu_kit.microbenchmarks import (
    ITERATIONS,
    LONG,
    MICROBENCHMARKS,
    OPERATIONS,
    SHORT,
    WARPS,
    Operation,
)
from warpreg.experiments.gpu_kit.register_banks import CASES, COPIES
from warpreg.ir.errors import WarpregError

VERSION = 1
CHECKED = "tiny"
"""The size whose outputs are compared with the reference and kept."""
MEMORY_BYTES = 2 << 30
OUT_BYTES, RESULTS = 4 << 20, 1 << 20
TASK_SECONDS = 100
WARM_UP = 20_000
"""Readings of the clock before a workload, so that clocks have risen."""
KEPT_BYTES = 12 << 20
"""Bytes of outputs that are kept, after compression."""

FOOTPRINTS = tuple(1 << n for n in range(12, 31))
"""Bytes that a pointer chase visits."""

INPUTS = {
    "f32": struct.pack("<f", 1.0009765625), "f64": struct.pack("<d", 1.0009765625), "f16x2": b"\x01\x3c\x01\x3c",
    "b32": (16).to_bytes(4, "little"), "b64": (16).to_bytes(8, "little"),
}  # fmt: skip
NUMBERS = {"f32": 0.9990234375, "f64": 0.9990234375}


class Micro:
    """Runs one microbenchmark after another on the GPU."""

    def __init__(self, driver: MeasuringDriver, folder: Path) -> None:
        self.driver, self.folder = driver, folder

    def launch(
        self, function: Function, warps: int, iterations: int, *more: int, blocks: int = 1, threads: int = 0
    ) -> float:
        """Milliseconds of a launch; its outputs are at the start of memory, its inputs behind them."""
        words = [iterations, *more]
        arguments = (
            self.driver.base.to_bytes(8, "little"),
            (self.driver.base + OUT_BYTES).to_bytes(8, "little"),
            *(word.to_bytes(4, "little") for word in words),
        )
        request = Request("", "", (blocks, 1, 1), (threads or 32 * warps, 1, 1), 0, arguments, b"")
        return self.driver.timed(function, request, {})

    def cycles(self, function: Function, warps: int, iterations: int, *more: int) -> int:
        """The most cycles that a warp took; the least of three launches."""
        found = []
        for _ in range(3):
            self.launch(function, warps, iterations, *more)
            found.append(max(self.read_cycles(warps)))
        return min(found)

    def read_cycles(self, warps: int) -> list[int]:
        """The cycles that each warp wrote, every 32nd word of 64 bits."""
        words = np.frombuffer(self.driver.read_memory(32 * warps * 8), np.uint64)
        return [int(one) for one in words[::32]]

    def fill(self, operation: Operation) -> None:
        """Inputs of a chain: a number near 1, or 16, in every word."""
        word = INPUTS[operation.type]
        content = word.ljust(8, b"\0") * (32 * 256 // 8)
        self.driver._write(self.driver.base + OUT_BYTES, content)

    def chain(self, name: str, operation: Operation) -> dict[str, Any]:
        """Cycles of a dependent instruction."""
        short, long = (self.driver.function(cubins.read(self.folder, f"micro-{name}"), k) for k in ("short", "long"))
        self.fill(operation)
        few, many = (self.cycles(one, 1, ITERATIONS) for one in (short, long))
        copies = (LONG - SHORT) * ITERATIONS
        return {"cycles_per_copy": (many - few) / copies, "instructions_per_copy": operation.per_copy,
                "cycles": [few, many]}  # fmt: skip

    def rate(self, name: str, operation: Operation) -> dict[str, Any]:
        """Cycles of the SM for a copy of a warp, by number of warps."""
        short, long = (self.driver.function(cubins.read(self.folder, f"micro-{name}"), k) for k in ("short", "long"))
        self.fill(operation)
        found = {}
        for warps in WARPS:
            few, many = (self.cycles(one, warps, ITERATIONS) for one in (short, long))
            found[str(warps)] = (many - few) / ((LONG - SHORT) * ITERATIONS * warps)
        return {"cycles_per_warp_copy": found, "instructions_per_copy": operation.per_copy}

    def banks(self) -> list[dict[str, Any]]:
        """Cycles of an FFMA by banks of its sources, by number of warps."""
        found = []
        for number, case in enumerate(CASES):
            function = self.driver.function(cubins.read(self.folder, f"banks-{number}"), "banks")
            by_warps = {}
            for warps in (1, 4, 8, 16):
                few, many = (self.cycles(function, warps, n) for n in (8, 40))
                by_warps[str(warps)] = (many - few) / (32 * COPIES)
            found.append({"case": case.name, "cycles_per_ffma_of_a_warp": by_warps})
        return found

    def memory(self) -> dict[str, Any]:
        """Latencies by footprint, bandwidths, conflicts of shared memory, clock, launch."""
        cubin = cubins.read(self.folder, "micro-memory")
        kernel = {n: self.driver.function(cubin, n) for n in (
            "chase", "chase_cached", "atomics", "read", "write", "nothing", "clocks", "conflicts", "loads",
        )}  # fmt: skip
        return {
            "launch_ms": median(self.launch(kernel["nothing"], 1, 1) for _ in range(21)),
            "clock_mhz": self.clock(kernel["clocks"]),
            "chase": {k: self.chase(kernel[k]) for k in ("chase", "chase_cached")},
            "atomic_cycles": self.atomics(kernel["atomics"]),
            "conflicts": self.conflicts(kernel["conflicts"]),
            "loads": self.loads(kernel["loads"]),
            "bandwidth_gb_s": self.bandwidth(kernel["read"], kernel["write"]),
        }

    def clock(self, function: Function, iterations: int = 5000) -> float:
        """MHz of the SM, by its clock and the global timer."""
        self.launch(function, 1, iterations)
        cycles, nanoseconds = struct.unpack("<QQ", self.driver.read_memory(16))
        return float(1000 * cycles / max(1, nanoseconds))

    def chase(self, function: Function) -> dict[str, float]:
        """Cycles of a dependent load by bytes that are visited in a random order of lines of 128 bytes."""
        found = {}
        first = self.driver.base + OUT_BYTES
        for size in FOOTPRINTS:
            lines = size // 128
            order = np.random.default_rng(0).permutation(lines)
            words = np.zeros(lines * 16, np.uint64)
            words[order * 16] = first + 128 * np.roll(order, -1).astype(np.uint64)
            self.driver._write(first, words.tobytes())
            count = min(4096, max(512, 4 * (lines // 2)))
            if size <= 64 << 20:
                self.launch(function, 1, min(2 * lines + 2 & ~3 or 4, 400_000), threads=1)
            self.launch(function, 1, count, threads=1)
            found[str(size)] = self.read_cycles(1)[0] / count
        return found

    def atomics(self, function: Function) -> float:
        """Cycles of a dependent atomic addition of 0 to global memory."""
        self.driver._write(self.driver.base + OUT_BYTES, bytes(64))
        return self.cycles(function, 1, 1024) / 1024

    def barrier(self) -> dict[str, float]:
        """Cycles of a barrier, by number of warps."""
        short, long = (self.driver.function(cubins.read(self.folder, "micro-chain-bar"), k) for k in ("short", "long"))
        self.fill(OPERATIONS[0])
        copies = (LONG - SHORT) * ITERATIONS
        return {str(w): (self.cycles(long, w, ITERATIONS) - self.cycles(short, w, ITERATIONS)) / copies for w in WARPS}

    def code(self, name: str) -> dict[str, Any]:
        """Cycles of an instruction of straight code, by number of warps."""
        function = self.driver.function(cubins.read(self.folder, f"micro-{name}"), "straight")
        self.fill(OPERATIONS[0])
        count = int(name.rpartition("-")[2])
        found = {}
        for warps in (1, 4, 8):
            few, many = (self.cycles(function, warps, n) for n in (4, 12))
            found[str(warps)] = (many - few) / (8 * count)
        return {"instructions": count, "cycles_per_instruction": found}

    def conflicts(self, function: Function) -> dict[str, float]:
        """Cycles of a load of shared memory of one warp and of 8, by stride in words."""
        self.driver._write(self.driver.base + OUT_BYTES, bytes(64))
        return {
            f"{warps} warps, stride {stride}": self.cycles(function, warps, 1024, stride) / 1024
            for warps in (1, 8)
            for stride in (0, 1, 2, 4, 8, 16, 32)
        }

    def loads(self, function: Function) -> dict[str, list[list[int]]]:
        """Cycles before each of twelve independent loads, from the first, by warp, for 1 to 8 warps."""
        self.driver._write(self.driver.base + OUT_BYTES, bytes(8192))
        found = {}
        for warps in (1, 2, 3, 4, 8):
            for _ in range(2):
                self.launch(function, warps, 1)
            rows = np.frombuffer(self.driver.read_memory(64 * warps), np.uint32).reshape(warps, 16)[:, :13]
            found[str(warps)] = [[int(c - row[0] & 0xFFFFFFFF) for c in row.astype(np.int64)] for row in rows]
        return found

    def bandwidth(self, read: Function, write: Function) -> dict[str, float]:
        """Useful GB/s by footprint and stride."""
        sms = self.driver.facts()["sms"]
        found = {}
        for name, function in (("read", read), ("write", write)):
            for size in (1 << 20, 8 << 20, 24 << 20, 256 << 20, 1 << 30):
                for stride in (1, 8):
                    words = size // 4
                    times = [self.launch(function, 1, words, stride, blocks=8 * sms, threads=256) for _ in range(4)]
                    found[f"{name} {size} bytes, stride {stride}"] = size / stride / min(times[1:]) / 1e6
        return found


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
    device = MeasuredDevice(driver, found.module(), cubins.read(folder, name))
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
        "failure": failure, "launches": as_rows(device.times), "sequence": sequence, "outputs": described,
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


def tasks(sizes: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """In order of worth."""
    yield "facts", ""
    names = [one.name for one in MICROBENCHMARKS]
    yield from (("micro", name) for name in names if not name.startswith("rate-"))
    yield "banks", ""
    yield "barrier", ""
    yield from (("workload", name, "tiny") for name in workloads.names())
    yield from (("micro", name) for name in names if name.startswith("rate-"))
    for size in sizes:
        yield from (("workload", name, size) for name in workloads.names() if size in workloads.find(name).sizes)


def measure(
    folder: Path, out: Path, seconds: float, wanted: Iterable[tuple[str, ...]], told: Callable[[str], None]
) -> dict[str, Any]:
    """Measure what is ``wanted`` (`tasks`) for at most ``seconds``, and write the file after every tenth task."""
    began, worker = time.monotonic(), Worker(folder)
    manifest = json.loads((folder / cubins.MANIFEST).read_text(encoding="utf-8"))
    found: dict[str, Any] = {
        "version": VERSION, "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "code": manifest, "smi_before": smi(), "device": {}, "micro": {}, "banks": {},
        "barrier": {}, "workloads": {}, "not_measured": [],
    }  # fmt: skip
    raw: dict[str, dict[str, bytes]] = {}
    try:
        for number, task in enumerate(wanted):
            left = seconds - (time.monotonic() - began)
            if left < 2:
                found["not_measured"].append(list(task))
                continue
            answer = worker.ask(task, min(TASK_SECONDS, left))
            reason = answer.get("error") or answer.get("failure") or ""
            told(f"{time.monotonic() - began:6.1f} s  {' '.join(task)}  {reason}")
            if "raw" in answer:
                raw[task[1]] = answer.pop("raw") or raw.get(task[1], {})
            place(found, task, answer)
            if number % 10 == 9:
                write(out, found)
    finally:
        worker.close()
    found["smi_after"], found["seconds"] = smi(), time.monotonic() - began
    write(out, found)
    write_outputs(out, raw)
    return found


def place(found: dict[str, Any], task: tuple[str, ...], answer: dict[str, Any]) -> None:
    """Put an answer where it belongs."""
    if task[0] == "facts":
        found["device"] = answer
    elif task[0] in ("banks", "barrier"):
        found[task[0]] = answer
    elif task[0] == "micro":
        found["micro"][task[1]] = answer
    else:
        found["workloads"].setdefault(task[2], {})[task[1]] = answer


def write(out: Path, found: dict[str, Any]) -> None:
    """Write the measurements as JSON."""
    out.write_text(json.dumps(found, separators=(",", ":")), encoding="utf-8")


def write_outputs(out: Path, raw: dict[str, dict[str, bytes]]) -> None:
    """Write outputs beside the measurements, smallest first, as far as they fit."""
    kept: dict[str, dict[str, str]] = {}
    size = 0
    for name in sorted(raw, key=lambda one: sum(map(len, raw[one].values()))):
        packed = {key: base64.b64encode(zstandard.compress(data, 10)).decode() for key, data in raw[name].items()}
        size += sum(map(len, packed.values()))
        if size <= KEPT_BYTES:
            kept[name] = packed
    outputs_path(out).write_text(json.dumps(kept), encoding="utf-8")


def outputs_path(out: Path) -> Path:
    """The file of outputs that belongs to a file of measurements."""
    return out.with_suffix(".outputs.json")


def smi() -> str:
    """What ``nvidia-smi`` says of clocks, power and temperature; empty without it."""
    query = "name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,temperature.gpu,power.draw"
    try:
        done = subprocess.run(
            ["nvidia-smi", f"--query-gpu={query}", "--format=csv"],
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()
