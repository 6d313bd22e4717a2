"""Processors that machine code is compiled for: that of the host, or a level of x86-64 that many hosts have.

numba's own variables choose another one than the host's: ``NUMBA_CPU_NAME`` and ``NUMBA_CPU_FEATURES``.
"""

from __future__ import annotations

import functools
import os
from typing import NamedTuple

NAME, FEATURES = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"
ADDED = (
    ("x86-64-v2", ("cx16", "popcnt", "sahf", "sse3", "ssse3", "sse4.1", "sse4.2")),
    ("x86-64-v3", ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")),
    ("x86-64-v4", ("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")),
)
"""Levels of x86-64, each with the features that it adds to the one before, by LLVM's names (x86-64 psABI, 3.1.1)."""
LEVELS = tuple(name for name, _ in ADDED)


class Processor(NamedTuple):
    """A processor in LLVM's words: the name of its model, and features beside those of the model."""

    name: str
    features: str

    @property
    def variables(self) -> dict[str, str]:
        """The variables of the environment that choose it."""
        return {NAME: self.name, FEATURES: self.features}


def level(name: str) -> Processor:
    """The processor that has what a level of x86-64 has, and no more."""
    return Processor(name, "")


@functools.cache
def chosen() -> Processor:
    """The processor that this process compiles for."""
    from llvmlite import binding

    name = os.environ.get(NAME)
    has_no_others = str(name).lower() == "generic"  # as numba has it
    features = os.environ.get(FEATURES, "" if has_no_others else None)
    host = binding.get_host_cpu_features().flatten() if features is None else features
    return Processor(binding.get_host_cpu_name() if name is None else name, host)


def included() -> tuple[Processor, ...]:
    """Other processors whose code does as well as that of the chosen one: if that is the host, its levels."""
    return () if {NAME, FEATURES} & os.environ.keys() else levels()


@functools.cache
def levels() -> tuple[Processor, ...]:
    """The levels of x86-64 whose code runs on this host, the highest first; none on other hosts."""
    from llvmlite import binding

    has = binding.get_host_cpu_features()
    found: list[Processor] = []
    for name, added in ADDED:
        if not all(has.get(feature, False) for feature in added):
            break
        found.insert(0, level(name))
    return tuple(found)
