"""The state of the renaming designs with two technologies, and the switches that tell them apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import Program, per_sm, per_warp
from warpreg.designs.parts.hybrid.columns import WARP_COLUMNS
from warpreg.designs.parts.hybrid.prediction import OF_WARP, SAMPLE_WORDS, SCOPES
from warpreg.designs.parts.hybrid.renaming import Predicting, Renaming
from warpreg.designs.parts.hybrid.table import empty_table
from warpreg.designs.parts.hybrid.vectors import UNLIMITED, empty_lists


class State(NamedTuple):
    """The arrays that `columns`, `vectors` and `prediction` explain, and these fields."""

    enabled: bool
    """Else this is the plain register file."""
    predicts: bool
    """Warps that will stall get TFET vectors."""
    frees: bool
    """Registers are released when they are dead, else when they are written again."""
    cycles: int
    """Of an access to a TFET vector."""
    stage: int
    """Cycles of the renaming stage between a control instruction and the next one."""
    refill: int
    """Cycles from a control instruction to the next one without that stage."""
    banks: int
    """Vectors go round these."""
    vectors: int
    """Vectors of an SM."""
    cmos: int
    """CMOS vectors."""
    tfet: int
    """TFET vectors."""
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


def hybrid(program: Program, parameters: Renaming, *, tfet: int, gating: int) -> State:
    """An SM whose vectors are all free; UNLIMITED ``gating`` gives it as many of each kind as ``vectors``."""
    vectors = parameters.vectors
    predicting = parameters if isinstance(parameters, Predicting) else Predicting()
    scope = SCOPES.index(predicting.scope)
    cmos = vectors - tfet
    if gating == UNLIMITED:
        cmos = tfet = vectors
    of_sm: dict[str, Any] = {name: per_sm(row) for name, row in empty_lists(cmos, tfet).items()}
    of_warp: dict[str, Any] = {name: per_warp(row) for name, row in empty_table(program.register_count).items()}
    sample = np.zeros(SAMPLE_WORDS, np.int64)
    return State(
        enabled=parameters.enabled,
        predicts=parameters.enabled and predicting is parameters,
        frees=parameters.release,
        cycles=parameters.cycles,
        stage=parameters.stage,
        refill=parameters.refill,
        banks=parameters.banks,
        vectors=vectors,
        cmos=cmos,
        tfet=tfet,
        gating=gating,
        threshold=predicting.threshold,
        shift=predicting.reference.bit_length() - 1,
        period=predicting.period,
        scope=scope,
        sample=per_warp(sample) if scope == OF_WARP else per_sm(sample),
        warps=per_warp(np.zeros(WARP_COLUMNS, np.int64)),
        **of_sm,
        **of_warp,
    )
