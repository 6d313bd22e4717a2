"""What the designs that rename registers of two technologies declare alike."""

from __future__ import annotations

from typing import Protocol

from warpreg.designs.interface import Declaration, Logic, Program, Structure, Table
from warpreg.designs.parts.hybrid.events import EVENTS, RESOURCES
from warpreg.designs.parts.hybrid.parts import LEVELS, prediction_unit, renaming_stage, storage
from warpreg.designs.parts.hybrid.renaming import Predicting, Renaming
from warpreg.designs.parts.hybrid.state import State, hybrid
from warpreg.designs.parts.hybrid.vectors import SCALED


class HybridParameters(Protocol):
    """Parameters of a file of which ``tfet`` of the ``vectors`` are in TFETs."""

    @property
    def enabled(self) -> bool: ...
    @property
    def vectors(self) -> int: ...
    @property
    def tfet(self) -> int: ...


def declaration(source: str) -> Declaration:
    """The declaration of such a design."""
    return Declaration(
        slot="mapping", source=source, order="sm", levels=LEVELS, main=LEVELS, events=EVENTS, resources=RESOURCES
    )


def divided(program: Program, parameters: Renaming, tfet: int) -> State:
    """An SM without warps; ``tfet`` vectors at most are in TFETs."""
    return hybrid(program, parameters, tfet=min(tfet, parameters.vectors), gating=SCALED)


def structures(parameters: HybridParameters) -> tuple[Structure, ...]:
    """CMOS and TFET vectors, gated."""
    tfet = min(parameters.tfet, parameters.vectors)
    return storage(parameters.vectors - tfet, tfet, enabled=parameters.enabled)


def renaming_hardware(parameters: Renaming) -> tuple[Table | Logic, ...]:
    """Renaming stage."""
    return renaming_stage(parameters.vectors, parameters.table_banks) if parameters.enabled else ()


def predicting_hardware(parameters: Predicting) -> tuple[Table | Logic, ...]:
    """Renaming stage, counters and prediction."""
    return (*renaming_hardware(parameters), prediction_unit()) if parameters.enabled else ()
