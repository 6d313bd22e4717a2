"""What the cores of all machines and designs of the package are compiled for."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from types import FunctionType

from piecewise_numba.natives import Function
from warpreg import designs, gpu
from warpreg.designs.errors import DesignError
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.timing.core.conditions import CoreConfig
from warpreg.timing.launch.explained import walked, with_hooks
from warpreg.timing.launch.variants import given_of_design
from warpreg.timing.sm.cycle import run

COMPOSED = ("bow", "corf")
Core = tuple[CoreConfig, Mapping[str, FunctionType]]


@functools.cache
def cores() -> dict[CoreConfig, Core]:
    """By what it is compiled for, a core of each kind with the hooks of a design, or of the two of `COMPOSED`; those of
    runs that record, ask or measure, and of kernels with control codes, included.
    """
    found: dict[CoreConfig, Core] = {}
    every = [ConfiguredDesign.of(names, {}) for names in (*((name,) for name in designs.names()), COMPOSED)]
    for machine in map(gpu.load, gpu.names()):
        for chosen in every:
            try:
                given = given_of_design(machine, chosen)
            except DesignError:
                continue
            for one in (given, *_of_runs(given)):
                found.setdefault(one, (one, chosen.design.hooks))
    return found


def _of_runs(given: CoreConfig) -> tuple[CoreConfig, ...]:
    kernels = (replace(given, waits_for_all=True), replace(given, has_control_codes=True))
    recorded = (replace(given, recording="events"), replace(given, recording="waits"))
    return (*kernels, *recorded, replace(given, reach=True), replace(given, clocked=True))


def reached(core: Core) -> set[Function]:
    """The functions that a core reaches, ports and what stands for them included."""
    given, hooks = core
    return set(walked(run, with_hooks(given, hooks), set()))


@functools.cache
def reached_by_some() -> set[Function]:
    """The functions that some core reaches."""
    return set().union(*map(reached, cores().values()))
