"""Launches that a machine cannot tell apart: the same code, thread blocks and path, and addresses that take as long.

An iterative program often launches a kernel again and again on other data.  Where memory keeps nothing between
launches, and a design begins each with its initial state, equal launches have equal results, so one of them is timed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from types import FunctionType

from piecewise_numba.dependencies import named_values, names_in
from warpreg.counting.capacity import RecordedLaunch
from warpreg.designs.interface.hooks import HOOKS, authors_of_hook
from warpreg.designs.loading.design import Design
from warpreg.gpu import Machine
from warpreg.timing.feed.digest import Read, digest
from warpreg.timing.feed.feed import ALL_BLOCKS
from warpreg.timing.feed.kept import SplitOptions
from warpreg.timing.launch.sampling import Window
from warpreg.trace.file import Trace

ADDRESSES = frozenset({"base", "stride"})
"""Parameters of hooks, and fields of a plan, that hold addresses."""


def first_equals(
    launches: Sequence[RecordedLaunch], machine: Machine, design: Design, window: Window | None = None
) -> Sequence[int]:
    """For each launch, the number of the first one that is equal to it for a run on this machine under this design.

    Every launch is different from all others if its recording is not a trace file.
    """
    shapes = [_shape(launch) for launch in launches]
    common = Counter(shapes)
    needed = None
    by_key: dict[Hashable, int] = {}
    firsts = []
    for number, (launch, shape) in enumerate(zip(launches, shapes, strict=True)):
        key: Hashable = shape
        if common[shape] > 1:
            needed = needed or _read(machine, design, window)
            key = shape, digest(launch.trace, launch.kernel, needed)
        firsts.append(by_key.setdefault(key, number))
    return firsts


def _shape(launch: RecordedLaunch) -> Hashable:
    """What equal launches have in common, as far as it is known without reading addresses."""
    trace = launch.trace
    if not isinstance(trace, Trace):
        return id(launch)
    shape = launch.grid, launch.block, launch.shared_bytes, launch.warp_instructions
    return id(launch.kernel), shape, trace.path_digest


def _read(machine: Machine, design: Design, window: Window | None) -> Read:
    """What a run on this machine reads of a recording."""
    declared = design.declaration
    end = ALL_BLOCKS if window is None else window.end
    split = SplitOptions.of(machine.shared_memory, end, declared.lanes)
    addresses = machine.memory.memory.model != "fixed" or declared.lanes or sees_addresses(design)
    return Read(split, addresses, declared.reads_values)


def sees_addresses(design: Design) -> bool:
    """Whether a hook, or a function that it reaches, has a parameter or reads a field that holds addresses."""
    if any(not ADDRESSES.isdisjoint(HOOKS[name].parameters) for name in design.hooks):
        return True
    return any(not ADDRESSES.isdisjoint(names_in(function.__code__)) for function in _reached(design))


def _reached(design: Design) -> Iterator[FunctionType]:
    """The hooks as their authors wrote them, and all functions that they name."""
    waiting = [author for hook in design.hooks.values() for author in authors_of_hook(hook)]
    seen = set(waiting)
    while waiting:
        function = waiting.pop()
        yield function
        for _, value in named_values(function):
            if isinstance(value, FunctionType) and value not in seen:
                seen.add(value)
                waiting.append(value)
