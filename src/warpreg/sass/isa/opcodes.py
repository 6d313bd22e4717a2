"""Properties of SASS opcodes: pipe, unit, latency class, and effect on the path of a warp.

The table is data, ``opcodes.toml``.  SASS opcodes are in upper case and PTX opcodes in lower case, which determines the
table of an instruction.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import Latency, Unit
from warpreg.ir.opcodes.form import UNIT_LATENCY

Pipe = Literal["int", "fp", "sfu", "dp", "tensor", "mem", "tex", "ctrl", "uniform"]
Flow = Literal["", "branch", "exit", "sync", "barrier"]
UnknownOpcodes = Literal["error", "alu"]
"""Treatment of opcodes that are in no table."""

UNITS: dict[str, Unit] = {
    "int": Unit.ALU,
    "fp": Unit.ALU,
    "uniform": Unit.ALU,
    "sfu": Unit.SFU,
    "dp": Unit.DP,
    "tensor": Unit.TENSOR,
    "mem": Unit.MEM,
    "tex": Unit.TEX,
    "ctrl": Unit.CTRL,
}
"""The unit of each pipe."""


@dataclass(frozen=True, slots=True)
class SassOpcode:
    """One row.  ``space`` and ``action`` are empty except for memory instructions.

    ``predicate_first``: the result may follow a predicate, and is then among the sources of a trace.  ``two_results``:
    the second result is among the sources of a trace.  ``reads_all``: the result in a trace is a source.
    ``widths``: the rule of its operand widths, where its pipe has another one.
    """

    name: str
    pipe: Pipe
    latency: Latency
    flow: Flow = ""
    space: str = ""
    action: str = ""
    predicate_first: bool = False
    two_results: bool = False
    reads_all: bool = False
    widths: str = ""

    @property
    def unit(self) -> Unit:
        return UNITS[self.pipe]

    @property
    def has_addresses(self) -> bool:
        """Whether its addresses are recorded, if the trace contains them."""
        return self.pipe == "mem" and self.space not in ("", "constant")


@functools.cache
def table() -> dict[str, SassOpcode]:
    """Every row, by opcode without modifiers."""
    text = resources.files("warpreg.sass.isa").joinpath("opcodes.toml").read_text(encoding="utf-8")
    rows: dict[str, SassOpcode] = {}
    for group in tomllib.loads(text)["group"]:
        for name in group["opcodes"].split():
            assert name not in rows, f"opcodes.toml names {name} twice"
            rows[name] = _row(name, group)
    return rows


def _row(name: str, group: dict[str, Any]) -> SassOpcode:
    pipe: Pipe = group["pipe"]
    usual = Latency.TEXTURE if pipe == "tex" else UNIT_LATENCY.get(UNITS[pipe], Latency.ALU)
    return SassOpcode(
        name=name,
        pipe=pipe,
        latency=Latency(group["latency"]) if "latency" in group else usual,
        flow=group.get("flow", ""),
        space=group.get("space", ""),
        action=group.get("action", ""),
        predicate_first=group.get("predicate_first", False),
        two_results=group.get("two_results", False),
        reads_all=group.get("reads_all", False),
        widths=next((rule for rule, some in group.get("widths", {}).items() if name in some.split()), ""),
    )


def is_sass(instruction: Instruction) -> bool:
    """Whether an instruction is SASS, not PTX."""
    return instruction.opcode[:1].isupper()


def find(opcode: str) -> SassOpcode:
    """The row of an opcode without modifiers; an opcode that is in no row counts as integer arithmetic."""
    return table().get(opcode) or SassOpcode(opcode, "int", Latency.ALU)


def is_known(opcode: str) -> bool:
    """Whether an opcode without modifiers is in the table."""
    return opcode in table()


def classify(instruction: Instruction) -> tuple[Unit, Latency]:
    """Unit and latency class of a SASS instruction."""
    row = find(instruction.opcode)
    return row.unit, row.latency
