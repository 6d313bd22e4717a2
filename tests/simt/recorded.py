"""A slow decoder of traces, instruction by instruction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tests.trace.address_decoder import AddressDecoder

from warpreg.ir.instruction import Instruction
from warpreg.simt import Launch
from warpreg.trace import Visit, visits

TEXTURED = frozenset({"tex", "tld4", "suld", "sust", "sured"})


@dataclass(frozen=True)
class Access:
    """One executed memory instruction: its visit, the lanes that executed it and their addresses."""

    visit: Visit
    instruction: Instruction
    mask: int
    addresses: NDArray[np.uint64]

    def by_thread(self, launch: Launch) -> dict[int, int]:
        """Address by linear thread of the grid."""
        x, y, z = launch.block
        first = self.visit.thread_block * x * y * z + 32 * self.visit.warp
        return {first + lane: int(self.addresses[lane]) for lane in range(32) if self.mask >> lane & 1}


def path_of(launch: Launch) -> list[Visit]:
    """The recorded path."""
    assert launch.trace is not None
    return list(visits(launch.trace.path_chunks()))


def accesses_of(launch: Launch) -> Iterator[Access]:
    """Every executed memory instruction, in order; the recorded words must be used up exactly."""
    assert launch.trace is not None
    words = [np.zeros(0, np.uint32), *launch.trace.address_chunks()]
    decoder = AddressDecoder(np.concatenate(words))
    first = launch.kernel.first_pcs()
    for visit in path_of(launch):
        for offset, instruction in enumerate(launch.kernel.blocks[visit.block].instructions):
            textured = instruction.opcode in TEXTURED
            if textured or (instruction.traits.accesses_elements and "param" not in instruction.modifiers):
                size = 1 if textured else instruction.types[-1].bytes
                guarded = instruction.guard is not None
                yield Access(visit, instruction, *decoder.next(first[visit.block] + offset, visit.mask, size, guarded))
    assert decoder.at == len(decoder.words)


def widths_of(launch: Launch) -> Iterator[tuple[Instruction, list[int]]]:
    """Every executed instruction that writes registers, with the widths of the words it wrote."""
    assert launch.trace is not None
    recorded = [width for chunk in launch.trace.width_chunks() for width in chunk.tolist()]
    at = 0
    for visit in path_of(launch):
        for instruction in launch.kernel.blocks[visit.block].instructions:
            words = sum(register.type.words for register in instruction.defined)
            if words and instruction.opcode not in ("bar", "barrier"):
                yield instruction, recorded[at : at + words]
                at += words
    assert at == len(recorded)
