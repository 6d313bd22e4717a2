"""Function units and groups of collectors of an SM, and their assignment to schedulers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warpreg.gpu import Machine
from warpreg.gpu.pipes import PIPES, UNTIMED
from warpreg.timing.core.columns import function_units, groups
from warpreg.timing.core.typed import NONE, Array
from warpreg.timing.launch.machine_words import copies


class Shares(NamedTuple):
    """Rows of components that schedulers share or own.  Scheduler ``s`` uses row ``first[pipe] + s * apart[pipe]`` for
    a pipe.
    """

    rows: Array
    first: Array
    apart: Array


def shared_units(gpu: Machine) -> Shares:
    """The function units of an SM."""
    rows: list[list[int]] = []
    first, apart = np.zeros((2, len(PIPES)), np.int64)
    unit = 0
    for name, pipe in gpu.pipes.items():
        index = PIPES.index(name)
        first[index], apart[index] = len(rows), pipe.private
        for _ in range(copies(gpu, pipe.private)):
            row = [0] * function_units.COUNT
            row[function_units.FIRST], row[function_units.SIZE] = unit, pipe.units
            row[function_units.FEEDS_QUEUE] = name in UNTIMED
            row[function_units.OWN] = 1 << len(rows)
            rows.append(row)
            unit += pipe.units
    return Shares(np.array(rows, np.int64), first, apart)


def shared_groups(gpu: Machine) -> Shares:
    """The groups of collectors of an SM."""
    rows: list[list[int]] = []
    first, apart = np.zeros((2, len(PIPES)), np.int64)
    collector = 0
    for one in gpu.collectors.values():
        for name in one.pipes:
            pipe = PIPES.index(name)
            first[pipe], apart[pipe] = len(rows), one.private
        for _ in range(copies(gpu, one.private)):
            own = ((1 << one.collectors) - 1) << collector
            row = [0] * groups.COUNT
            row[groups.FREE] = row[groups.ALL] = own - (1 << 64) if own >> 63 else own
            row[groups.LATCHED] = row[groups.LATCHED_END] = row[groups.EARLIEST] = NONE
            row[groups.IN_PORTS] = one.in_ports
            row[groups.OWN] = 1 << len(rows)
            rows.append(row)
            collector += one.collectors
    return Shares(np.array(rows, np.int64).reshape(-1, groups.COUNT), first, apart)
