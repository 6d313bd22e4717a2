"""What the kit measures, in which order, and the files that it writes."""

from __future__ import annotations

import base64
import datetime
import json
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import zstandard

from warpreg import __version__, workloads
from warpreg.gpu_kit import cubins
from warpreg.gpu_kit.measured_device import REPEATS
from warpreg.gpu_kit.micro import MICRO_REPEATS
from warpreg.gpu_kit.microbenchmarks import MICROBENCHMARKS
from warpreg.gpu_kit.worker import Worker

VERSION = 4
TASK_SECONDS = 100
KEPT_BYTES = 12 << 20
"""Bytes of outputs that are kept, after compression."""


def tasks(sizes: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """In order of worth."""
    yield "facts", ""
    names = [one.name for one in MICROBENCHMARKS]
    yield from (("micro", name) for name in names if not name.startswith("rate-"))
    yield "banks", ""
    yield "barrier", ""
    yield "between", ""
    yield "probes", ""
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
    measurements: dict[str, Any] = {
        "version": VERSION, "warpreg": __version__, "repeats": {"micro": MICRO_REPEATS, "launches": REPEATS},
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "code": manifest, "smi_before": smi(), "device": {}, "micro": {}, "banks": {},
        "barrier": {}, "between": {}, "probes": {}, "workloads": {}, "not_measured": [],
    }  # fmt: skip
    raw: dict[str, dict[str, bytes]] = {}
    try:
        for number, task in enumerate(wanted):
            left = seconds - (time.monotonic() - began)
            if left < 2:
                measurements["not_measured"].append(list(task))
                continue
            answer = worker.ask(task, min(TASK_SECONDS, left))
            reason = answer.get("error") or answer.get("failure") or ""
            told(f"{time.monotonic() - began:6.1f} s  {' '.join(task)}  {reason}")
            if "raw" in answer:
                raw[task[1]] = answer.pop("raw") or raw.get(task[1], {})
            place(measurements, task, answer)
            if number % 10 == 9:
                write(out, measurements)
    finally:
        worker.close()
    measurements["smi_after"], measurements["seconds"] = smi(), time.monotonic() - began
    write(out, measurements)
    write_outputs(out, raw)
    return measurements


def place(measurements: dict[str, Any], task: tuple[str, ...], answer: dict[str, Any]) -> None:
    """Put an answer where it belongs."""
    if task[0] == "facts":
        measurements["device"] = answer
    elif task[0] in ("banks", "barrier", "between", "probes"):
        measurements[task[0]] = answer
    elif task[0] == "micro":
        measurements["micro"][task[1]] = answer
    else:
        measurements["workloads"].setdefault(task[2], {})[task[1]] = answer


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
