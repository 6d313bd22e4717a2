"""Registers of warps that stall are put to sleep: they keep their values and leak little (hybrid CMOS-TFET, §4.2).

The plain CMOS register file.  When a warp begins to wait, for memory, a barrier, a fence or a token, its registers
enter a state of low leakage, as lines of a drowsy cache do; before it goes on, waking them takes some cycles.
Registers that no warp claims are gated, as in ``power-gated``.

Where the text is silent: switching costs no energy, and results that arrive for a warp that sleeps are written without
waking its other registers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    GO,
    Declaration,
    Plan,
    Program,
    Residency,
    Structure,
    after,
    hook,
    level,
    now,
    parameter,
    per_sm,
    per_warp,
)
from warpreg.designs.parts.hybrid.parts import VECTOR_BYTES, checked_residency, vectors_parameter
from warpreg.gpu.machine import Machine

DESIGN = Declaration(
    slot="mapping",
    source="tfet §4.2",
    order="sm",
    levels=("MRF", "DROWSY"),
    main=("MRF", "DROWSY"),
    resources=("awake registers", "drowsy registers"),
)
AWAKE, ASLEEP = range(2)
NOW, MOST, SLEEPING = range(3)


@dataclass(frozen=True)
class Parameters:
    """Time to wake up."""

    enabled: bool = parameter(True, off=False, source="assumed: off, registers of warps that stall stay awake")
    vectors: int = vectors_parameter()
    wake: int = parameter(2, unit="cycles", low=0, high=1024, source="tfet §4.2: a couple of cycles")


class State(NamedTuple):
    """Registers by warp and SM."""

    enabled: bool
    wake: int
    resident: NDArray[np.int64]  # [sm, NOW, MOST or SLEEPING] registers of resident warps
    asleep: NDArray[np.int64]  # [warp, 0] whether its registers sleep
    awake: NDArray[np.int64]  # [warp, 0] the cycle from which on it may issue


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file."""
    return checked_residency("drowsy", parameters, program, machine)


def init(parameters: Parameters, program: Program) -> State:
    """An SM without warps."""
    of_warp = np.zeros(1, np.int64)
    return State(
        parameters.enabled, parameters.wake, per_sm(np.zeros(3, np.int64)), per_warp(of_warp), per_warp(of_warp)
    )


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """The register file, awake and asleep; the plain one if disabled."""
    if not parameters.enabled:
        return Structure("MRF"), Structure("DROWSY", registers=0)
    return (
        Structure("MRF", powered=DESIGN.resources[AWAKE]),
        Structure(
            "DROWSY",
            registers=parameters.vectors,
            powered=DESIGN.resources[ASLEEP],
            replaces_bytes=parameters.vectors * VECTOR_BYTES,
        ),
    )


@hook
def warp_start(state: State, program: Program, warp: int, plan: Plan) -> None:
    resident = state.resident[plan.sm]
    resident[NOW] += program.register_count
    resident[MOST] = max(resident[MOST], resident[NOW])
    report(state, plan)


@hook
def admit(state: State, program: Program, warp: int, pc: int, plan: Plan) -> int:
    early = state.awake[warp, 0] - now(plan)
    if early > 0:
        return after(plan, early)
    return GO


@hook
def stalled(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if state.enabled and state.asleep[warp, 0] == 0:
        state.asleep[warp, 0] = 1
        state.resident[plan.sm, SLEEPING] += program.register_count
        report(state, plan)


@hook
def resumed(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    if state.asleep[warp, 0]:
        state.awake[warp, 0] = now(plan) + state.wake
        wake_up(state, program, warp, plan)


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    if state.asleep[warp, 0]:
        wake_up(state, program, warp, plan)
    state.resident[plan.sm, NOW] -= program.register_count


def wake_up(state: State, program: Program, warp: int, plan: Plan) -> None:
    """The registers of a warp are awake."""
    state.asleep[warp, 0] = 0
    state.resident[plan.sm, SLEEPING] -= program.register_count
    report(state, plan)


def report(state: State, plan: Plan) -> None:
    """The registers that are on: awake or asleep."""
    asleep = state.resident[plan.sm, SLEEPING]
    level(plan, AWAKE, state.resident[plan.sm, MOST] - asleep)
    level(plan, ASLEEP, asleep)
