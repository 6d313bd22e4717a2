"""Pieces of basic blocks: the least parts of a kernel that intervals are made of.

A block is one piece if its registers fit the partition of a warp in the cache.  Another one is cut where the next
instruction would name a register too many.  An instruction that names more registers than fit is a piece of its own
with an empty working set: it accesses the main register file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warpreg.analysis.cfg import control_flow
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel

Registers = frozenset[int]


@dataclass(frozen=True, slots=True)
class Piece:
    """Instructions ``first`` to ``end`` - 1 of a ``block``, and the ``registers`` that they access in the cache;
    ``bypasses``: they access none there.
    """

    block: int
    first: int
    end: int
    registers: Registers
    bypasses: bool = False


@dataclass(frozen=True)
class PieceGraph:
    """The pieces of a kernel in order of their code, and by piece those that may follow."""

    pieces: tuple[Piece, ...]
    successors: tuple[tuple[int, ...], ...]


def registers_of(instruction: Instruction) -> Registers:
    """The warp-registers that an instruction reads or writes."""
    return frozenset(word for one in (*instruction.used, *instruction.defined) for word in one.words)


def piece_graph(kernel: Kernel, bound: int) -> PieceGraph:
    """The pieces of a kernel with at most ``bound`` registers each."""
    pieces: list[Piece] = []
    first_of: list[int] = []
    firsts, instructions = kernel.first_pcs(), tuple(kernel.instructions())
    for block in kernel.blocks:
        first_of.append(len(pieces))
        start = firsts[block.index]
        pieces += _cut(block.index, start, instructions[start : firsts[block.index + 1]], bound)
    first_of.append(len(pieces))
    following = control_flow(kernel).successors
    successors = [
        (number + 1,)
        if number + 1 < first_of[piece.block + 1]
        else tuple(first_of[block] for block in following[piece.block])
        for number, piece in enumerate(pieces)
    ]
    return PieceGraph(tuple(pieces), tuple(successors))


def _cut(block: int, start: int, instructions: Sequence[Instruction], bound: int) -> Iterator[Piece]:
    """The pieces of a block, one at least."""
    first, named = start, Registers()
    for pc, instruction in enumerate(instructions, start):
        own = registers_of(instruction)
        if len(own) > bound or len(named | own) > bound:
            if pc > first:
                yield Piece(block, first, pc, named)
            first, named = pc, own
        if len(own) > bound:
            yield Piece(block, pc, pc + 1, Registers(), bypasses=True)
            first, named = pc + 1, Registers()
        named |= own if len(own) <= bound else Registers()
    end = start + len(instructions)
    if end > first or not instructions:
        yield Piece(block, first, end, named)
