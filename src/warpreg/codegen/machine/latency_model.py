"""The scheduler's latency model: cycles until a result can be used, and until a unit accepts the next instruction.

Only the relative order matters to the compiler, so the model is in whole cycles of a warp that runs alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from warpreg.gpu.machine import Machine
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import Latency, Unit, classify

DEFAULT_LATENCY = {
    Latency.ALU: 4,
    Latency.SFU: 16,
    Latency.DP: 16,
    Latency.SHARED: 24,
    Latency.CONSTANT: 24,
    Latency.GLOBAL: 100,
    Latency.TEXTURE: 100,
    Latency.TENSOR: 24,
    Latency.STORE: 1,
    Latency.CONTROL: 1,
}
"""Cycles until a result can be used; assumed, and only their order matters."""

PORTS = {Unit.MEM: "memory", Unit.TEX: "memory", Unit.SFU: "special", Unit.DP: "double", Unit.TENSOR: "tensor"}
"""Instructions that compete for the same unit; all others issue one per cycle."""
ISSUE = "issue"


@dataclass(frozen=True)
class Cycles:
    """``latency`` by class; ``interval`` by port: cycles until it accepts another instruction, default 1."""

    latency: dict[Latency, int] = field(default_factory=lambda: dict(DEFAULT_LATENCY))
    interval: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def of(machine: Machine) -> Cycles:
        """The latencies of a machine file; a global load is assumed to miss every cache."""
        given = machine.latency
        latency = DEFAULT_LATENCY | {
            Latency.ALU: machine.cycles("int"),
            Latency.SFU: machine.cycles("sfu"),
            Latency.DP: machine.cycles("dp"),
            Latency.SHARED: given.shared,
            Latency.CONSTANT: given.constant,
            Latency.GLOBAL: given.dram,
            Latency.TEXTURE: given.texture,
        }
        return Cycles(latency)

    def until_result(self, instruction: Instruction) -> int:
        """Cycles from the issue of an instruction to the issue of one that reads its result."""
        return self.latency[classify(instruction)[1]]

    def port(self, instruction: Instruction) -> str:
        """The port that an instruction goes through."""
        return PORTS.get(classify(instruction)[0], ISSUE)


DEFAULT = Cycles()
"""For kernels that are not compiled for a particular machine."""
