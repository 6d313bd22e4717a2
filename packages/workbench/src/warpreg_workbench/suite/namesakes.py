"""Similarity of a workload to its namesake: registers, static size and features of the compiled kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from warpreg.ir.instruction import Instruction
from warpreg.workloads import Workload
from warpreg.workloads.originals import Original, kernels_of
from warpreg.workloads.vendor import most_registers

FEATURES: Mapping[str, tuple[str, ...]] = {
    "shared memory": ("shared", "dynshared"),
    "constant memory": ("const",),
    "textures": ("tex",),
    "atomics": ("atom",),
    "barriers": ("bar",),
    "f64": ("f64",),
}
"""Each feature with the columns of ``originals.csv`` that count it."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """A workload compared with its namesake.

    ``registers`` and ``instructions`` are pairs, ours and the namesake's: the largest registers per thread of a kernel
    (``ptxas``, sm_75) and static PTX instructions of the largest kernel. ``lacking`` and ``added`` are features.
    """

    workload: str
    registers: tuple[int, int]
    instructions: tuple[int, int]
    lacking: tuple[str, ...]
    added: tuple[str, ...]


def likeness(workload: Workload) -> Likeness | None:
    """The comparison, or None if the namesake's compiled kernels are not available."""
    theirs = [kernel for name in workload.originals for kernel in kernels_of(name)]
    if not theirs:
        return None
    entries = {function.name: list(function.instructions()) for function in workload.module().kernels}
    has = _features([instruction for code in entries.values() for instruction in code])
    had = {name for name, columns in FEATURES.items() if any(one.facts[c] for one in theirs for c in columns)}
    return Likeness(
        workload=workload.name,
        registers=(most_registers(workload.name, entries, "sm_75") or 0, _most(theirs, "regs_sm75")),
        instructions=(max(map(len, entries.values())), _most(theirs, "ptx_insts")),
        lacking=tuple(sorted(had - has)),
        added=tuple(sorted(has - had)),
    )


def _most(kernels: Iterable[Original], column: str) -> int:
    return max(kernel.facts[column] for kernel in kernels)


def _features(code: Iterable[Instruction]) -> set[str]:
    signs: dict[str, Callable[[Instruction], bool]] = {
        "shared memory": lambda i: "shared" in i.modifiers,
        "constant memory": lambda i: "const" in i.modifiers,
        "textures": lambda i: i.traits.fetches_channels,
        "atomics": lambda i: i.traits.is_atomic,
        "barriers": lambda i: i.traits.is_barrier,
        "f64": lambda i: "f64" in i.modifiers,
    }
    code = tuple(code)
    return {feature for feature, has in signs.items() if any(map(has, code))}
