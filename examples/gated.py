"""Registers that no resident thread block owns are switched off: they do not leak."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w
from warpreg.gpu import Machine

DESIGN = w.Declaration(slot="mapping", order="sm", resources=("registers on",), source="assumed: an example")
ON = 0


class State(NamedTuple):
    block: int  # registers of a thread block
    on: NDArray[np.int64]  # [sm]


def init(parameters: w.NoParameters, program: w.Program, room: w.Room) -> State:
    return State(room.residency.registers * room.warps // room.blocks, w.per_sm(np.int64(0)))


def structures(parameters: w.NoParameters) -> tuple[w.Structure, ...]:
    return (w.Structure("MRF", powered="registers on"),)


def hardware(parameters: w.NoParameters, machine: Machine) -> tuple[w.Table, ...]:
    return (w.Table("switches", entries=machine.warp_registers, bits=1),)


@w.hook
def block_start(state: State, program: w.Program, sm: int, plan: w.Plan) -> None:
    state.on[sm] += state.block
    w.level(plan, ON, state.on[sm])


@w.hook
def block_end(state: State, program: w.Program, sm: int, plan: w.Plan) -> None:
    state.on[sm] -= state.block
    w.level(plan, ON, state.on[sm])
