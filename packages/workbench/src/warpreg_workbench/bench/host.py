"""The machine that a speed was measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import llvmlite

from warpreg.simt.llvm import object_code

EXTENSIONS = "avx512f", "avx2", "avx", "sse2", "neon"
"""CPU features, those of the widest vectors first."""


def host() -> dict[str, Any]:
    """Processor, vector width of compiled kernels in bits, cores, and the versions that speed depends on."""
    architecture, features = object_code.host()
    return {
        "cpu": _model() or architecture,
        "architecture": architecture,
        "vector_extension": next((name for name in EXTENSIONS if f"+{name}" in features.split(",")), ""),
        "vector_bits": object_code.vector_bits(),
        "cores": os.cpu_count(),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "llvmlite": llvmlite.__version__,
    }


def _model() -> str:
    """The processor's model name, if the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
