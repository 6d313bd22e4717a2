"""A folder of PTX files as a benchmark: its kernels, and a launch of each to verify the compiled code.

``launches.toml`` in the folder has a table for each kernel that can be launched::

    [saxpy]
    grid = [4]
    block = [64]
    arguments = [{ f32 = 2.0 }, { type = "f32", shape = [256], low = -1, high = 1 }, { s32 = 256 }]

An argument is a number by its PTX type, or a buffer: its type, its shape and the range [low, high) of its random
elements, zeros without ``high``.  The same seed gives the same inputs.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.workloads.workload import Device

LAUNCHES = "launches.toml"
TYPES: dict[str, type[np.generic]] = {
    "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
"""NumPy type of each PTX type that an argument can have."""
KEYS = frozenset({"grid", "block", "shared_bytes", "arguments"})
BUFFER_KEYS = frozenset({"type", "shape", "low", "high"})


class LaunchFileError(WarpregError):
    """An invalid ``launches.toml``; the message names the file, the kernel and the key."""


@dataclass(frozen=True)
class KernelLaunch:
    """One launch of one kernel; runs on a device like a workload's problem."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[np.generic | NDArray[Any], ...]
    shared_bytes: int = 0

    def run(self, device: Device) -> object:
        """Upload the buffers and launch."""
        arguments = [device.upload(a) if isinstance(a, np.ndarray) else a for a in self.arguments]
        return device.launch(self.kernel, self.grid, self.block, *arguments, shared_bytes=self.shared_bytes)


def ptx_files(folder: Path) -> list[Path]:
    """The PTX files of a folder, sorted by name.  Raises LaunchFileError if there are none."""
    found = sorted(folder.glob("*.ptx"))
    if not found:
        raise LaunchFileError(f"{folder}: expected a folder with .ptx files, found none")
    return found


def read_launches(folder: Path, seed: int = 0) -> dict[str, KernelLaunch]:
    """Kernel name -> launch, from the folder's ``launches.toml``; empty without that file."""
    path = folder / LAUNCHES
    if not path.is_file():
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LaunchFileError(f"{path}: {error}") from error
    return {name: _launch(path, name, table, seed) for name, table in tables.items()}


def _launch(path: Path, name: str, table: Any, seed: int) -> KernelLaunch:
    where = f"{path}: [{name}]"
    if not isinstance(table, dict) or not {"grid", "block", "arguments"} <= table.keys() <= KEYS:
        raise LaunchFileError(f"{where}: expected the keys {', '.join(sorted(KEYS))}")
    generator = np.random.default_rng(seed)
    return KernelLaunch(
        kernel=name,
        grid=_extent(where, "grid", table["grid"]),
        block=_extent(where, "block", table["block"]),
        arguments=tuple(_argument(f"{where}: argument {i}", a, generator) for i, a in enumerate(table["arguments"])),
        shared_bytes=int(table.get("shared_bytes", 0)),
    )


def _extent(where: str, key: str, value: Any) -> tuple[int, ...]:
    if isinstance(value, list) and value and all(isinstance(v, int) and v > 0 for v in value):
        return tuple(value)
    raise LaunchFileError(f"{where}: {key} should be a list of positive integers, found {value!r}")


def _argument(where: str, table: Any, generator: np.random.Generator) -> np.generic | NDArray[Any]:
    if isinstance(table, dict) and "type" in table and "shape" in table and table.keys() <= BUFFER_KEYS:
        return _buffer(where, table, generator)
    if not isinstance(table, dict) or len(table) != 1:
        raise LaunchFileError(f'{where}: expected {{ s32 = 4 }} or {{ type = "f32", shape = [256] }}, found {table!r}')
    ((kind, value),) = table.items()
    number: np.generic = _type(where, kind)(value)
    return number


def _buffer(where: str, table: Mapping[str, Any], generator: np.random.Generator) -> NDArray[Any]:
    kind, shape = _type(where, table["type"]), _extent(where, "shape", table["shape"])
    low, high = table.get("low", 0), table.get("high")
    if high is None:
        return np.zeros(shape, kind)
    if np.issubdtype(kind, np.floating):
        return generator.uniform(low, high, shape).astype(kind)
    return generator.integers(low, high, shape, dtype=np.int64).astype(kind)


def _type(where: str, name: str) -> type[np.generic]:
    if name not in TYPES:
        raise LaunchFileError(f"{where}: {UnknownNameError('type', name, TYPES)}")
    return TYPES[name]
