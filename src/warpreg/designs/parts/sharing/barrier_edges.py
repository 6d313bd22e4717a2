"""Room behind barriers, for acquires on the edge to the next block.

A barrier ends its block.  So what a warp acquires behind it, it acquires in the next block; but if that one also
follows others that hold a section, such as the end of a loop, only on the edge.  The compiler works on a kernel with a
place holder on each such edge; those that stay alone are left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from warpreg.codegen.passes.base import with_blocks
from warpreg.designs.parts.sharing.instructions import ends_block, waiting_points
from warpreg.designs.parts.window.warp_flow import warp_successors
from warpreg.ir.edges import edge_of, on_edges
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate

PLACE_HOLDER = Instruction("pmevent", (), (Immediate(0),))


def with_place_holders(kernel: Kernel) -> Kernel:
    """The kernel with place holders on the edges behind barriers to blocks that may follow others, too."""
    earlier = [0] * len(kernel.blocks)
    for successors in warp_successors(kernel):
        for block in successors:
            earlier[block] += 1
    return on_edges(
        kernel,
        {
            (block, successor): [PLACE_HOLDER]
            for block in waiting_ends(kernel)
            for successor in kernel.blocks[block].successors
            if earlier[successor] > 1 or not kernel.blocks[successor].instructions
        },
    )


def waiting_ends(kernel: Kernel) -> list[int]:
    """The blocks that end with an instruction at which a warp may wait, and behind which nothing can be inserted."""
    waits, ends = waiting_points(kernel), kernel.first_pcs()[1:]
    return [block.index for block in kernel.blocks if ends_block(block) and ends[block.index] - 1 in waits]


def place_holders(kernel: Kernel) -> frozenset[int]:
    """The pcs of place holders; a warp holds no section there."""
    return frozenset(pc for pc, instruction in enumerate(kernel.instructions()) if instruction is PLACE_HOLDER)


def without_place_holders(kernel: Kernel, compiled: Kernel, original: Sequence[int]) -> tuple[Kernel, tuple[int, ...]]:
    """The code that has been compiled from a kernel with place holders, without them, and by pc the pc in ``kernel``.

    ``original``: by pc of ``compiled``, the pc in the kernel with place holders.
    """
    rows = list(zip(compiled.instructions(), original, strict=True))
    code = [
        [row for row in rows[first:end] if row[1] < kernel.instruction_count]
        for first, end in itertools.pairwise(compiled.first_pcs())
    ]
    bodies = [[instruction for instruction, _ in own] for own in code]
    old = len(kernel.blocks)
    plain = with_blocks(replace(kernel, register_count=compiled.register_count), dict(enumerate(bodies[:old])))
    edges = {edge_of(compiled, block): bodies[block] for block in range(old, len(bodies))}
    return on_edges(plain, edges), tuple(pc for own in code for _, pc in own)
