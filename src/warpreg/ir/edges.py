"""Code on control-flow edges, for rewrites of compiled kernels.

Each edge with code gets a block of its own behind all others, so blocks keep their numbers.  Critical edges and exits
of loops need one; the code of any other edge can stand at the end of its first block or at the start of its second one.

A block on an edge that falls through lies between the two blocks and costs its instructions only.  That on a taken edge
lies out of line: it ends with a branch to its successor, which is issued like any other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from warpreg.ir import opcodes
from warpreg.ir.errors import WarpregError
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.opcodes import Unit
from warpreg.ir.operands import Label

Edge = tuple[int, int]
"""A block and one of its successors."""


class EdgeError(WarpregError):
    """Code that cannot be put on an edge."""


def on_edges(kernel: Kernel, code: Mapping[Edge, Sequence[Instruction]]) -> Kernel:
    """The kernel with these instructions on its edges; edges without instructions are left alone.

    The instructions execute for the lanes that follow the edge.  Lanes that diverge meet where they do without them, or
    in the new block if all of them pass it.  Raises EdgeError for an edge that the kernel does not have, and for
    instructions that branch, stop a warp or access memory, which the recorded run knows nothing of.
    """
    edges = {edge: tuple(instructions) for edge, instructions in code.items() if instructions}
    for edge, instructions in edges.items():
        _check(kernel, edge, instructions)
    numbers = {edge: len(kernel.blocks) + position for position, edge in enumerate(sorted(edges))}
    added = [_on_edge(kernel, edge, numbers[edge], edges[edge]) for edge in numbers]
    blocks = [_redirected(block, numbers) for block in kernel.blocks]
    return dataclasses.replace(kernel, blocks=(*blocks, *added), analyses={}) if added else kernel


def edge_of(kernel: Kernel, block: int) -> Edge:
    """The edge on which a block was put."""
    (source,) = (one.index for one in kernel.blocks if block in one.successors)
    return source, kernel.blocks[block].successors[0]


def visits_of(kernel: Kernel, visits: Sequence[int]) -> list[int]:
    """By block, how often it was executed, from those visits of the old blocks; 0 for a new one behind a branch."""
    found = list(visits)
    for block in range(len(visits), len(kernel.blocks)):
        source = edge_of(kernel, block)[0]
        found.append(found[source] if len(kernel.blocks[source].successors) == 1 else 0)
    return found


def with_blocks_of(before: Kernel, after: Kernel) -> Kernel:
    """The code ``before`` a rewrite with its new blocks: it accesses memory where the recorded run did."""
    if len(before.blocks) == len(after.blocks):
        return before
    return dataclasses.replace(before, blocks=(*before.blocks, *after.blocks[len(before.blocks) :]), analyses={})


def check_added(before: Kernel, after: Kernel) -> None:
    """Raises EdgeError unless ``after`` has the blocks of ``before``, and behind them blocks on their edges."""
    if after is before:
        return
    old = len(before.blocks)
    if len(after.blocks) < old:
        raise EdgeError(f"kernel {before.name}: {len(after.blocks)} of {old} blocks are left")
    for block in after.blocks[old:]:
        sources = sum(block.index in one.successors for one in after.blocks)
        if not block.is_edge or len(block.successors) != 1 or sources != 1:
            raise EdgeError(f"kernel {before.name}: block {block.index} is new and on no edge")
    for one, other in zip(before.blocks, after.blocks, strict=False):
        if tuple(old_block(after, target, old) for target in other.successors) != one.successors:
            raise EdgeError(f"kernel {before.name}: block {one.index} has other successors than before")


def old_block(kernel: Kernel, block: int, old: int) -> int:
    """The block below ``old`` to which a way through new blocks leads; -1 for a circle of them."""
    for _ in kernel.blocks:
        if block < old:
            return block
        block = kernel.blocks[block].successors[0]
    return -1


def _check(kernel: Kernel, edge: Edge, instructions: Sequence[Instruction]) -> None:
    block, successor = edge
    if not 0 <= block < len(kernel.blocks) or successor not in kernel.blocks[block].successors:
        raise EdgeError(f"kernel {kernel.name}: no edge leads from block {block} to block {successor}")
    for instruction in instructions:
        if instruction.traits.ends_block:
            raise EdgeError(f"kernel {kernel.name}: '{instruction}' cannot be on an edge: it ends a block")
        if opcodes.classify(instruction)[0] in (Unit.MEM, Unit.TEX):
            raise EdgeError(f"kernel {kernel.name}: '{instruction}' cannot be on an edge: it accesses memory")


def _on_edge(kernel: Kernel, edge: Edge, index: int, instructions: tuple[Instruction, ...]) -> Block:
    block, successor = (kernel.blocks[one] for one in edge)
    if not _falls_through(block, successor.index):
        instructions = (*instructions, _branch(block, successor.label))
    return Block(index, _label(edge), instructions, (successor.index,), is_edge=True)


def _label(edge: Edge) -> str:
    block, successor = edge
    return f"EDGE_{block}_{successor}"


def _falls_through(block: Block, successor: int) -> bool:
    """Whether an edge needs no branch; several edges between the same blocks are one."""
    last = block.instructions[-1] if block.instructions else None
    if last is not None and last.traits.jumps and (last.traits.is_indirect or last.guard is None):
        return False
    return block.successors[-1] == successor and successor not in block.successors[:-1]


def _branch(block: Block, label: str) -> Instruction:
    """A branch in the language of the block."""
    last = block.instructions[-1] if block.instructions else None
    is_sass = last is not None and last.opcode[:1].isupper()
    return Instruction("BRA", (), ()) if is_sass else Instruction("bra", (), (Label(label),))


def _redirected(block: Block, numbers: Mapping[Edge, int]) -> Block:
    """The block with its edges to the new blocks."""
    edges = [(block.index, successor) for successor in block.successors]
    if not any(edge in numbers for edge in edges):
        return block
    successors = tuple(numbers.get(edge, edge[1]) for edge in edges)
    instructions, last = block.instructions, block.terminator
    if last is not None and last.traits.is_direct and edges[0] in numbers:
        instructions = (*instructions[:-1], dataclasses.replace(last, operands=(Label(_label(edges[0])),)))
    return dataclasses.replace(block, instructions=instructions, successors=successors)
