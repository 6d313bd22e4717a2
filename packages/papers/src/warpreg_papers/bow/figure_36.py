"""The code of Figure 3.6, and how often the main register file is written for each register (Table 3.1).

The figure is in 32-bit PTXPlus; half-words of a register are read as the register, and s[0x0018] is no register.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from warpreg.evaluation.runs.scheduled import Variant
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.module import Module
from warpreg.ir.operands import Address, Immediate, Operand, Register
from warpreg.ir.types import B32, PRED
from warpreg.replay import replay
from warpreg.trace.path import PathWord

WINDOW = 3
VERSIONS: Mapping[str, Variant] = {
    "wt": Variant.of("bow", window=WINDOW),
    "wb": Variant.of("bow-wr", window=WINDOW, hints=False),
    "opt": Variant.of("bow-wr", window=WINDOW),
}
"""The columns of Table 3.1: write-through, write-back, and write-back with the compiler's hints."""
REGISTERS = (0, 1, 2, 3)
MAX_SOURCES = 3
NOWHERE = Register("P1", PRED, 1)


def _r(index: int) -> Register:
    return Register(f"R{index}", B32, index)


def _op(opcode: str, *operands: Operand | int) -> Instruction:
    base, *modifiers = opcode.split(".")
    named = tuple(Immediate(one) if isinstance(one, int) else one for one in operands)
    return Instruction(base, tuple(modifiers), named)


CODE = (
    _op("ld.global.u32", _r(3), Address(_r(8), 0)),
    _op("mov.b32", _r(2), 0xFF4),
    _op("mul.lo.u32", _r(1), _r(0), _r(2)),
    _op("mad.lo.u32", _r(1), _r(0), _r(2), _r(1)),
    _op("shl.b32", _r(1), _r(1), 16),
    _op("mad.lo.u32", _r(0), _r(0), _r(2), _r(1)),
    _op("add.u32", _r(0), _r(0), 0x18),
    _op("add.u32", _r(0), _r(9), _r(0)),
    _op("add.u32", _r(1), _r(0), 0x7F8),
    _op("ld.global.u32", _r(2), Address(_r(1), 0)),
    _op("shl.b32", _r(2), _r(2), 16),
    _op("add.u32", _r(4), _r(2), 0x8F),
    _op("setp.ne.s32", Register("P0", PRED, 0), _r(3), _r(1)),
)
"""Lines 2 to 14."""


class OneVisit:
    """The path of one warp that runs the code once."""

    def path_chunks(self) -> Iterator[NDArray[np.uint32]]:
        """The words of the path."""
        yield np.array([PathWord.THREAD_BLOCK, 0, PathWord.WARP, PathWord.VISIT_MASK, 0xFFFFFFFF], np.uint32)


def writes(variant: Variant, code: tuple[Instruction, ...] = CODE) -> int:
    """Writes of the main register file by the code; what is in the collector at its end is not written."""
    values: dict[str, Any] = dict(variant.values)
    return replay(OneVisit(), _kernel(code), variant.design, mode="interpreted", **values).writes("MRF", moves=True)


def writes_for(variant: Variant, register: int) -> int:
    """Writes for one register: those that are missing if nothing writes it.

    The collector is large enough for all, so what happens to one register does not depend on another.
    """
    return writes(variant) - writes(variant, tuple(_without_result(one, register) for one in CODE))


def three_sources() -> int:
    """Instructions of the code that read three registers (lines 5 and 7)."""
    return sum(len({one for one in line.operands[1:] if isinstance(one, Register)}) == MAX_SOURCES for line in CODE)


def table_31() -> pd.DataFrame:
    """Table 3.1: writes of the main register file by register and version."""
    rows = [
        {"register": f"r{register}", "version": label, "writes": writes_for(variant, register)}
        for register in REGISTERS
        for label, variant in VERSIONS.items()
    ]
    return pd.DataFrame(rows)


def _without_result(instruction: Instruction, register: int) -> Instruction:
    """The instruction, with a predicate in place of this result."""
    first, *others = instruction.operands
    if first != _r(register):
        return instruction
    return dataclasses.replace(instruction, operands=(NOWHERE, *others))


def _kernel(code: tuple[Instruction, ...]) -> Kernel:
    module = Module("8.0", ("sm_80",), 64, ())
    return Kernel("figure_36", (), (Block(0, "code", code, ()),), module, register_count=10, predicate_count=2)
