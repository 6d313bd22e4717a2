"""A block that branches to itself as a loop: what lanes take from one round to the next stays in machine registers.

The loop goes on while all lanes that run do, and nothing else has to be done between two visits.  It is limited to
blocks of arithmetic: around the call of a memory operation, all vectors are in memory anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import Flow
from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.register_storage import Cell
from warpreg.simt.block.running import RunningWarp
from warpreg.simt.kernel.block_ends import Ends
from warpreg.simt.lanes import nans
from warpreg.simt.llvm.emitter import I32, MASK, Code, Value


def is_arithmetic(instructions: Sequence[Instruction]) -> bool:
    """Whether instructions only compute, without carry flags."""
    return all(map(_only_computes, instructions))


def _only_computes(instruction: Instruction) -> bool:
    traits = instruction.traits
    if traits.is_barrier:
        return False
    if traits.has_effect:
        return traits.is_idle or traits.is_branch or (traits.flow is Flow.BRANCH and not traits.is_call)
    return not traits.reads_carry and not traits.writes_carry


class BlockLoop:
    """The loop of one block during its compilation; ``exposed``: the cells that it reads before it writes them."""

    def __init__(self, values: BlockValues, ends: Ends, block: int, exposed: list[Cell], written: set[Cell]) -> None:
        self.values, self.ends, self.block = values, ends, block
        code: Code = values.code
        loaded = {cell: values.get(cell) for cell in exposed}
        first = {cell: _carried(loaded[cell]) for cell in exposed if cell in written}
        before = code.builder.block
        self.head = code.builder.append_basic_block("repeat")
        code.builder.branch(self.head)
        code.builder.position_at_end(self.head)
        given = RunningWarp.of(code)
        self._phis: dict[Cell, Any] = {}
        self._path, self._executed = (_phi(code, value, before) for value in (given.path, given.executed))
        self.state = replace(given, path=Value(code, self._path), executed=Value(code, self._executed))
        """The state in each round."""
        for cell, value in first.items():
            self._phis[cell] = _phi(code, value, before)
        for cell, phi in self._phis.items():
            value = Value(code, phi)
            values.assume(cell, value.bitcast(MASK) if cell.bits == 1 else value)

    def close(self, taken: Value) -> None:
        """Go back to the begin, or go on behind the loop; ``taken`` are the lanes that take the branch."""
        code, ends = self.values.code, self.ends
        onward = code.builder.append_basic_block("onward")
        ends.unless(code, [taken != self.state.mask, *ends.obstacles(code, self.state, self.block)], onward)
        after = ends.visited(code, self.state, self.block)
        last = {cell: _carried(self._bare(cell)) for cell in self._phis}
        here = code.builder.block
        self._path.add_incoming(after.path.llvm, here)
        self._executed.add_incoming(after.executed.llvm, here)
        for cell, phi in self._phis.items():
            phi.add_incoming(last[cell].llvm, here)
        code.builder.branch(self.head)
        code.builder.position_at_end(onward)

    def _bare(self, cell: Cell) -> Value:
        value = self.values.get(cell)
        return Value(value.code, nans.bare(value.llvm)) if cell in self.values.blind else value


def _carried(value: Value) -> Value:
    """A value as it is carried: a predicate as a number."""
    return value.bitcast(I32) if value.type == MASK else value


def _phi(code: Code, value: Value, before: Any) -> Any:
    phi = code.builder.phi(value.type)
    phi.add_incoming(value.llvm, before)
    return phi
