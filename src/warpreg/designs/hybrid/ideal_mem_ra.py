"""MEM_RA with as many CMOS registers as it uses: the ideal size for each kernel (hybrid CMOS-TFET, section 4.2).

The register file has as many vectors of either technology as the plain one, so that a destination always gets the kind
that MEM_RA wants.  CMOS vectors are paid for as many as were in use at a time so far, the rest of the register file is
TFET.  A file with exactly that many CMOS vectors would behave alike; it only comes to be known while the kernel runs.
Everything else is as in ``mem-ra``, also where the text is silent.

Limits: an ideal, not an organisation that could be built.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.designs.interface import Program, Residency, Structure
from warpreg.designs.parts.hints.partial_results import compile
from warpreg.designs.parts.hybrid.hooks import (
    admit,
    block_start,
    collected,
    memory_issued,
    memory_returned,
    plan_reads,
    plan_write,
    produced,
    warp_end,
    warp_start,
)
from warpreg.designs.parts.hybrid.hybrid_declaration import declaration
from warpreg.designs.parts.hybrid.hybrid_declaration import predicting_hardware as hardware
from warpreg.designs.parts.hybrid.parts import (
    checked_residency,
    storage,
)
from warpreg.designs.parts.hybrid.renaming import Predicting, hints
from warpreg.designs.parts.hybrid.state import State, hybrid
from warpreg.designs.parts.hybrid.vectors import UNLIMITED
from warpreg.gpu.machine import Machine

__all__ = [
    "admit", "block_start", "collected", "compile", "hardware", "hints", "memory_issued", "memory_returned",
    "plan_reads", "plan_write", "produced", "warp_end", "warp_start",
]  # fmt: skip

DESIGN = declaration("tfet §4.2")


@dataclass(frozen=True)
class Parameters(Predicting):
    """Those of all designs that predict stalls."""


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file.  Raises DesignError for a reference that is no power of two."""
    return checked_residency("ideal-mem-ra", parameters, program, machine, 0)


def init(parameters: Parameters, program: Program) -> State:
    """An SM without warps."""
    return hybrid(program, parameters, tfet=parameters.vectors, gating=UNLIMITED)


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """CMOS vectors as many as are used, and TFET vectors."""
    vectors = parameters.vectors
    return storage(vectors, vectors, shared=vectors, enabled=parameters.enabled)
