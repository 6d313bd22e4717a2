"""Outputs of workloads in machine code: those that a GPU left beside those of the executor, bit for bit."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from warpreg import simt
from warpreg.evaluation.runs.run import CompileChoice, find_workload, load_device
from warpreg.gpu_kit.kit import outputs_path
from warpreg.gpu_kit.worker import CHECKED
from warpreg.ir.errors import UnknownNameError, WarpregError

UNRECORDED = simt.Record()


@dataclass(frozen=True, slots=True)
class ComparedOutput:
    """An output: elements, those whose bits differ, the largest difference of two numbers, alone and in relation to the
    number; ``error``: why the executor gave none."""

    workload: str
    output: str
    elements: int = 0
    differing: int = 0
    absolute: float = 0.0
    relative: float = 0.0
    error: str = ""


def kept_outputs(measurements: Path) -> dict[str, dict[str, bytes]]:
    """The outputs beside a file of measurements, by workload and name.  Raises WarpregError without them."""
    path = outputs_path(measurements)
    try:
        packed = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WarpregError(f"{path}: no outputs of a GPU: {error}") from error
    return {
        name: {key: zstandard.decompress(base64.b64decode(text)) for key, text in outputs.items()}
        for name, outputs in packed.items()
    }


def compare_outputs(
    measurements: Path, names: Sequence[str] = (), begun: Callable[[str], None] = lambda name: None
) -> Iterator[ComparedOutput]:
    """Run the workloads in the machine code that the GPU ran, and compare; by default all that are kept."""
    content = json.loads(measurements.read_text(encoding="utf-8"))
    kept, architecture = kept_outputs(measurements), content["code"]["architecture"]
    for name in names:
        if name not in kept:
            raise UnknownNameError("workload among the kept outputs", name, kept)
    for name in names or sorted(kept):
        begun(name)
        described = content["workloads"][CHECKED][name]["outputs"]
        try:
            ours = _outputs(name, architecture)
        except WarpregError as error:
            yield ComparedOutput(name, "", error=str(error))
            continue
        for output, row in described.items():
            theirs = np.frombuffer(kept[name][output], row["dtype"]).reshape(row["shape"])
            yield compared(name, output, ours[output], theirs)


def _outputs(name: str, architecture: str) -> dict[str, NDArray[Any]]:
    workload = find_workload(name)
    device = load_device(workload, CompileChoice(machine_code=architecture), UNRECORDED)
    return {key: np.ascontiguousarray(value) for key, value in workload.problem(CHECKED).run(device).items()}


def compared(workload: str, output: str, ours: NDArray[Any], theirs: NDArray[Any]) -> ComparedOutput:
    """Two arrays of the same shape and dtype; NaNs of any bits are equal."""
    differs = ours != theirs
    if np.issubdtype(ours.dtype, np.inexact):
        differs = (ours.view(f"u{ours.dtype.itemsize}") != theirs.view(f"u{ours.dtype.itemsize}")) & ~(
            np.isnan(ours) & np.isnan(theirs)
        )
    if not differs.any():
        return ComparedOutput(workload, output, ours.size)
    a, b = ours[differs].astype(np.float64), theirs[differs].astype(np.float64)
    distance = np.abs(a - b)
    scale = np.maximum(np.abs(a), np.abs(b))
    relative = np.divide(distance, scale, out=np.zeros_like(distance), where=scale > 0)
    return ComparedOutput(
        workload, output, ours.size, int(differs.sum()), float(np.nanmax(distance)), float(np.nanmax(relative))
    )
