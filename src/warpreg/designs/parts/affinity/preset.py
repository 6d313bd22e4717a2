"""Alignments that follow from the register number, so that no metadata is needed (thesis §2.5.1, §2.8).

Even registers are right-aligned, odd ones left-aligned, and the compiler numbers registers accordingly.  The words of
64-bit operands and of vectors have to be adjacent, so they keep their numbers and with them their sides; the other
registers are coloured around them and exchange their numbers.  If more of them want a side than there are numbers of
it, those whose edges weigh least get the other side; a kernel never needs more registers than before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from warpreg.codegen.machine.operand_rewriting import rename_registers
from warpreg.designs.parts.affinity.alignment import LEFT, RIGHT, alignments
from warpreg.designs.parts.affinity.graph import Edge, Graph
from warpreg.ir.instruction import registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Operand, Register, Vector

_EVEN, _ODD = -2, -1
"""In the graph of `_free_sides`, all registers that keep an even number, and all that keep an odd one."""


def side_of(register: int) -> int:
    """The preset alignment of a register."""
    return LEFT if register & 1 else RIGHT


def adjacent_words(kernel: Kernel) -> frozenset[int]:
    """The registers that cannot be renumbered alone: words of wide operands and of vectors."""
    operands = [operand for instruction in kernel.instructions() for operand in instruction.operands]
    return frozenset(
        word
        for operand in operands
        for register in _registers(operand)
        if isinstance(operand, Vector) or len(register.words) > 1
        for word in register.words
    )


def numbering(graph: Graph, fixed: frozenset[int], registers: int) -> list[int]:
    """The new number of each register: a permutation of ``registers`` numbers that keeps the ``fixed`` ones."""
    sides = _free_sides(graph, fixed)
    weight = dict.fromkeys(range(registers), 0.0)
    for (one, other), edge_weight in graph.items():
        weight[one] += edge_weight
        weight[other] += edge_weight
    movable = [register for register in range(registers) if register not in fixed]
    free = {side: [number for number in movable if side_of(number) == side] for side in (RIGHT, LEFT)}
    numbers = list(range(registers))
    for register in sorted(movable, key=lambda register: (register not in sides, -weight[register], register)):
        side = sides.get(register, side_of(register))
        if not free[side]:
            side = LEFT if side == RIGHT else RIGHT
        at = free[side].index(register) if register in free[side] else 0
        numbers[register] = free[side].pop(at)
    return numbers


def renumbered(kernel: Kernel, numbers: Sequence[int]) -> Kernel:
    """The kernel with its registers renamed; words of wide operands must keep their numbers."""

    def rename(register: Register) -> Register:
        if not register.words or numbers[register.index] == register.index:
            return register
        return replace(register, name=f"R{numbers[register.index]}", index=numbers[register.index])

    blocks = tuple(
        replace(block, instructions=tuple(rename_registers(one, rename) for one in block.instructions))
        for block in kernel.blocks
    )
    return replace(kernel, blocks=blocks, analyses={})


def _free_sides(graph: Graph, fixed: frozenset[int]) -> dict[int, int]:
    """The sides of the other registers, by the heuristic on a graph in which the fixed ones of a side are one node."""
    merged: dict[Edge, float] = {(_EVEN, _ODD): float("inf")}
    for edge, weight in graph.items():
        one, other = (((_ODD if word & 1 else _EVEN) if word in fixed else word) for word in edge)
        if one != other and {one, other} != {_EVEN, _ODD}:
            key = (min(one, other), max(one, other))
            merged[key] = merged.get(key, 0.0) + weight
    return {register: side for register, side in alignments(merged).items() if register >= 0}


def _registers(operand: Operand) -> list[Register]:
    return [register for register in registers_of(operand) if register.words]
