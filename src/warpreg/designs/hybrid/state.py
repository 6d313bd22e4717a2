"""The state of the renaming designs with two technologies, and the switches that tell them apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.hybrid.columns import WARP_COLUMNS
from warpreg.designs.hybrid.prediction import OF_WARP, SAMPLE_WORDS
from warpreg.designs.hybrid.table import empty_table
from warpreg.designs.hybrid.vectors import UNLIMITED, empty_lists
from warpreg.designs.interface import Program, per_sm, per_warp


class State(NamedTuple):
    """The arrays that `columns`, `vectors` and `prediction` explain, and these fields.

    ``enabled``: else this is the plain register file.  ``predicts``: warps that will stall get TFET vectors.
    ``frees``: registers are released when they are dead, else when they are written again.  ``gates_free``: CMOS
    vectors are on only while they are in use.  ``cycles`` of an access
    to a TFET vector.  ``refill`` and ``stage``: cycles from a control instruction to the next one, without the renaming
    stage and in it.  Vectors go round the ``banks``.
    """

    enabled: bool
    predicts: bool
    frees: bool
    gates_free: bool
    cycles: int
    stage: int
    refill: int
    banks: int
    vectors: int
    cmos: int
    tfet: int
    gating: int
    threshold: int
    shift: int
    period: int
    scope: int
    free: NDArray[np.int32]
    own: NDArray[np.int32]
    sample: NDArray[np.int64]
    registers: NDArray[np.int32]
    warps: NDArray[np.int64]


def hybrid(
    program: Program,
    *,
    enabled: bool,
    banks: int,
    vectors: int,
    tfet: int,
    gating: int,
    cycles: int,
    stage: int,
    refill: int,
    frees: bool,
    gates_free: bool = False,
    predicts: bool = False,
    threshold: int = 0,
    shift: int = 0,
    period: int = 1,
    scope: int = 0,
) -> State:
    """An SM whose vectors are all free; UNLIMITED ``gating`` gives it as many of each kind as ``vectors``."""
    cmos = vectors - tfet
    if gating == UNLIMITED:
        cmos = tfet = vectors
    of_sm: dict[str, Any] = {name: per_sm(row) for name, row in empty_lists(cmos, tfet).items()}
    of_warp: dict[str, Any] = {name: per_warp(row) for name, row in empty_table(program.register_count).items()}
    sample = np.zeros(SAMPLE_WORDS, np.int64)
    return State(
        enabled=enabled,
        predicts=predicts,
        frees=frees,
        gates_free=gates_free,
        cycles=cycles,
        stage=stage,
        refill=refill,
        banks=banks,
        vectors=vectors,
        cmos=cmos,
        tfet=tfet,
        gating=gating,
        threshold=threshold,
        shift=shift,
        period=period,
        scope=scope,
        sample=per_warp(sample) if scope == OF_WARP else per_sm(sample),
        warps=per_warp(np.zeros(WARP_COLUMNS, np.int64)),
        **of_sm,
        **of_warp,
    )
