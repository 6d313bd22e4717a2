"""The benchmark kernels: CUDA source, checked-in PTX, seeded inputs and NumPy references, one folder each.

Each suite is a folder with one folder per workload. Folders with a ``kernel.cu`` and a ``WORKLOAD`` are found by
scanning; there is no list to maintain.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.workloads.dimensions import SEPARATOR, DimensionError, with_dimensions
from warpreg.workloads.workload import (
    Arrays,
    Buffer,
    CheckError,
    Device,
    Problem,
    Size,
    Tolerance,
    Workload,
    blocks,
)

__all__ = [
    "Arrays",
    "Buffer",
    "CheckError",
    "Device",
    "DimensionError",
    "Problem",
    "Size",
    "Tolerance",
    "Workload",
    "WorkloadFileError",
    "blocks",
    "find",
    "load",
    "names",
]


class WorkloadFileError(WarpregError):
    """A file that was named as a workload but does not define one."""


def names() -> list[str]:
    """The names of the built-in workloads, in alphabetical order."""
    return sorted(_modules())


def find(name: str) -> Workload:
    """The built-in workload ``name``, or ``NAME:DIMENSION=NUMBER`` with dimensions of its own; raises
    `UnknownNameError`, which suggests the nearest name, and `DimensionError`.
    """
    known, separator, dimensions = name.partition(SEPARATOR)
    module = _modules().get(known)
    if module is None:
        raise UnknownNameError("workload", known, names())
    workload = importlib.import_module(module).WORKLOAD
    assert isinstance(workload, Workload)
    return with_dimensions(workload, dimensions) if separator else workload


def load(path: Path | str) -> Workload:
    """The workload of a user's Python file, which defines ``WORKLOAD``, and can import modules of its folder.

    Raises `WorkloadFileError`.
    """
    path = Path(path)
    if not path.is_file():
        raise WorkloadFileError(f"{path}: expected a Python file that defines WORKLOAD, found none")
    module = ModuleType(f"warpreg_workload_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        # not by an import, whose bytecode would outlive an edit in the same second that keeps the size
        exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
    except Exception as error:
        raise WorkloadFileError(f"{path}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
    workload = getattr(module, "WORKLOAD", None)
    if not isinstance(workload, Workload):
        raise WorkloadFileError(f"{path}: expected WORKLOAD to be a warpreg.workloads.Workload, found {workload!r}")
    return workload


@cache
def _modules() -> dict[str, str]:
    """Workload name -> module, for each folder with a kernel; ``_2mm`` is the folder of ``2mm``."""
    folders = (path.parent for path in Path(__file__).parent.glob("*/*/kernel.cu"))
    return {
        folder.name.lstrip("_").replace("_", "-"): f"{__name__}.{folder.parent.name}.{folder.name}"
        for folder in folders
    }
