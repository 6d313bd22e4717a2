"""Lowers the barrier of a cluster of one block to the block's barrier (PTX ISA, section 9.7.13, barrier.cluster)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from warpreg.codegen.lower.flatten import Flat
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Immediate

BARRIER = 15
"""The block's barrier that implements the cluster's."""


def single_block(items: Iterable[Flat]) -> Iterator[Flat]:
    """Replace ``barrier.cluster.wait`` by ``bar.sync`` and remove ``arrive``, which every thread executes before."""
    for item in items:
        if not (isinstance(item, Instruction) and item.traits.is_barrier and item.modifiers[:1] == ("cluster",)):
            yield item
        elif item.modifiers[1:2] == ("wait",):
            yield replace(item, opcode="bar", modifiers=("sync",), operands=(Immediate(BARRIER),))
