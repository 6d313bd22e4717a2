"""The barrier of a cluster of one thread block is the block's (PTX ISA, section 9.7.13, barrier.cluster)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from warpreg.codegen.build.flatten import Flat
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Immediate

BARRIER = 15
"""The block's barrier that stands in for the cluster's."""


def single_block(items: Iterable[Flat]) -> Iterator[Flat]:
    """``barrier.cluster.wait`` becomes ``bar.sync``; arriving, which every thread does before, needs nothing."""
    for item in items:
        if not (isinstance(item, Instruction) and item.opcode == "barrier" and item.modifiers[:1] == ("cluster",)):
            yield item
        elif item.modifiers[1:2] == ("wait",):
            yield replace(item, opcode="bar", modifiers=("sync",), operands=(Immediate(BARRIER),))
