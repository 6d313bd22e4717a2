"""The state of the designs that rename, and the switches that tell them apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import Program, per_sm, per_warp
from warpreg.designs.parts.renaming.free_map import all_free, fitting_ends, fitting_sizes
from warpreg.designs.parts.renaming.slices import lowest_slices, shrunk, slice_table
from warpreg.designs.parts.renaming.table import empty_table, no_places

FIRST_FIT, BESIDE_BUDDY, TO_ITS_SIDE = range(3)
"""Policies of `warpreg.designs.parts.renaming.policies`."""


class State(NamedTuple):
    """The fields of `free_map`, `table` and `policies`, and these."""

    enabled: bool
    """Else this is the plain register file."""
    packs: bool
    """A value takes as many slices as it has bytes, else all."""
    frees: bool
    """Registers are released when they are dead."""
    coalesces: bool
    """Two sources share a read if they are in one physical register, or, with ``dual``, in one bank."""
    dual: bool
    reserves: bool
    """Slices beside a register of a pair wait for its buddy."""
    surveys: bool
    """Operands are counted by width."""
    carries: bool
    """If a result moves, the old bytes of lanes that it leaves alone are read."""
    warp_banks: bool
    """All registers of a warp are in one of the ``banks``, and positions count the ``rows`` of one bank after the
    other; else they go round the banks.
    """
    own_first: bool
    policy: int
    banks: int
    rows: int
    bank: NDArray[np.int32]
    """By position: where a physical register is."""
    row: NDArray[np.int32]
    """By position: where in its bank."""
    numbered: NDArray[np.int64]
    """By slot: a number of a warp whose remainder by ``banks`` is its bank."""
    resident: NDArray[np.int64]
    """By SM [2]: registers of the warps that run, and how many of these have been reported."""
    lowest: NDArray[np.uint8]
    kept_left: NDArray[np.uint8]
    kept_right: NDArray[np.uint8]
    fitting: NDArray[np.int64]
    fitting_sides: NDArray[np.int64]
    has_sides: bool
    free: NDArray[np.uint8]
    fits: NDArray[np.int64]
    sides: NDArray[np.int64]
    some: NDArray[np.int64]
    in_use: NDArray[np.int64]
    next_place: NDArray[np.int32]
    place_mask: NDArray[np.uint8]
    places: NDArray[np.int64]
    table: NDArray[np.uint32]
    pending: NDArray[np.int32]
    dying: NDArray[np.uint8]
    superseded: NDArray[np.int32]
    marks: NDArray[np.uint8]


def renaming(
    program: Program,
    physical: int,
    banks: int,
    *,
    enabled: bool,
    packs: bool,
    frees: bool,
    coalesces: bool = False,
    dual: bool = False,
    adjacent: bool = True,
    reserves: bool = True,
    surveys: bool = False,
    carries: bool = True,
    warp_banks: bool = False,
    bank_stride: int = 1,
    own_first: bool = False,
    policy: int = FIRST_FIT,
) -> State:
    """An SM of ``physical`` free warp-registers in so many banks; with ``adjacent`` the slices of a value are."""
    of_sm: dict[str, Any] = {name: per_sm(row) for name, row in (all_free(physical) | no_places(physical)).items()}
    of_warp: dict[str, Any] = {name: per_warp(row) for name, row in empty_table(program.register_count).items()}
    positions, rows = np.arange(physical), physical // banks
    return State(
        enabled=enabled,
        packs=packs,
        frees=frees,
        coalesces=coalesces,
        dual=dual,
        reserves=reserves,
        surveys=surveys,
        carries=carries,
        warp_banks=warp_banks,
        own_first=own_first,
        policy=policy,
        banks=banks,
        rows=rows,
        bank=(positions // rows if warp_banks else positions % banks).astype(np.int32),
        row=(positions % rows if warp_banks else positions // banks).astype(np.int32),
        numbered=numbered_slots(program.slots, banks, bank_stride),
        resident=per_sm(np.zeros(2, np.int64)),
        lowest=slice_table(lowest_slices, adjacent),
        kept_left=slice_table(shrunk, True),
        kept_right=slice_table(shrunk, False),
        fitting=fitting_sizes(adjacent),
        fitting_sides=fitting_ends(),
        has_sides=policy == TO_ITS_SIDE,
        **of_sm,
        **of_warp,
    )


def numbered_slots(slots: int, banks: int, stride: int) -> NDArray[np.int64]:
    """Warp slots in another order: ``stride`` neighbours have the same remainder by ``banks``, that of their bank."""
    slot = np.arange(max(1, slots))
    place = slot % (banks * stride)
    return (slot - place + place // stride + place % stride * banks).astype(np.int64)
