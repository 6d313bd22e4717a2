"""Warpreg: a laboratory for GPU register files.

    k = warpreg.compile("saxpy.cu")["saxpy"]
    run = k[grid, block](2.0, x, y, n)
    warpreg.compare(run, designs=["mrf", "rfc"])

The functions of `warpreg.api` are here too; they are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from warpreg.cache.compiled_code import keep_compiled_code

if TYPE_CHECKING:
    from warpreg.api import BoundKernel as BoundKernel
    from warpreg.api import Program as Program
    from warpreg.api import Run as Run
    from warpreg.api import compare as compare
    from warpreg.api import compare_workloads as compare_workloads
    from warpreg.api import compile as compile
    from warpreg.api import read_trace as read_trace
    from warpreg.api import run as run
    from warpreg.api import struct as struct
    from warpreg.api import surface as surface
    from warpreg.api import sweep as sweep
    from warpreg.api import texture as texture
    from warpreg.api import write_trace as write_trace

__version__ = "0.1.0"

keep_compiled_code()

_API = (
    "BoundKernel", "Program", "Run", "compare", "compare_workloads", "compile", "read_trace", "run", "struct",
    "surface", "sweep", "texture", "write_trace",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _API:
        return getattr(import_module("warpreg.api"), name)
    raise AttributeError(f"module 'warpreg' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *_API])
