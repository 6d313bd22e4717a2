"""PTX virtual registers -> architected registers: build, simplify, schedule, allocate, verify.

The options are here at once; the compiler itself is imported when it is first used, since most runs find their kernels
in the disk cache.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from warpreg.codegen.machine.latency_model import Cycles
from warpreg.codegen.machine.targets import PLAIN, TARGETS, Target, target
from warpreg.codegen.options import ALLOCATED_PTX, LEVELS, MACHINE, CompileOptions

if TYPE_CHECKING:
    from warpreg.codegen.lower.build import build_kernel
    from warpreg.codegen.pipeline import compile, passes_of, translate

__all__ = [
    "ALLOCATED_PTX",
    "LEVELS",
    "MACHINE",
    "PLAIN",
    "TARGETS",
    "CompileOptions",
    "Cycles",
    "Target",
    "build_kernel",
    "compile",
    "passes_of",
    "target",
    "translate",
]

_COMPILER = {
    "build_kernel": "warpreg.codegen.lower.build",
    "compile": "warpreg.codegen.pipeline",
    "passes_of": "warpreg.codegen.pipeline",
    "translate": "warpreg.codegen.pipeline",
}


def __getattr__(name: str) -> Any:
    if name not in _COMPILER:
        raise AttributeError(f"module 'warpreg.codegen' has no attribute '{name}'")
    return getattr(import_module(_COMPILER[name]), name)
