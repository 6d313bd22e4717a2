"""What a kernel says of its memory instructions: which loads may share registers, what stores change, what orders."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import Program
from warpreg.designs.parts.renaming.hints import renaming_hints
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import traits_of
from warpreg.sass.isa import opcodes as sass
from warpreg.sass.rebuild.program import record_unit
from warpreg.simt.memory.memory_instructions import elements

WORD_BYTES = 4
EVERYTHING = -1
"""Bytes of a store whose lanes are not followed."""
NO_ORDER, FENCE, SYNCHRONISES = range(3)
"""An instruction orders nothing; memory before it and after it; what follows, after the value that it has read."""
_PRIVATE = frozenset({"shared", "shared::cta", "shared::cluster", "local", "param", "const", "constant"})
_STRONG = frozenset({"volatile", "relaxed", "acquire", "mmio", "cv", "STRONG"})


class LoadHints(NamedTuple):
    """By pc: ``words`` (32-bit registers that a load may share, 0 for other instructions), ``stored`` (bytes of a lane
    that an instruction changes in memory; EVERYTHING) and ``orders``.  The others as in `RenamingHints`.
    """

    words: NDArray[np.uint8]
    stored: NDArray[np.int16]
    orders: NDArray[np.uint8]
    first: NDArray[np.uint8]
    entered: NDArray[np.int32]
    released: NDArray[np.int64]
    dead: NDArray[np.uint8]


def load_hints(program: Program, analysis: Analysis) -> LoadHints:
    """The hints of a kernel, computed once."""
    known = _known_hints(analysis.kernel)
    if not known:
        known.append(_load_hints(program, analysis))
    return known[0]


@cached_analysis
def _known_hints(kernel: Kernel) -> list[LoadHints]:
    """Place for the hints of a kernel."""
    return []


def _load_hints(program: Program, analysis: Analysis) -> LoadHints:
    renamed = renaming_hints(program, analysis, frees=True)
    instructions = list(analysis.kernel.instructions())
    return LoadHints(
        words=words_by_pc(program, analysis),
        stored=np.array([stored_bytes(one) for one in instructions], np.int16),
        orders=np.array([order_of(one) for one in instructions], np.uint8),
        first=renamed.first,
        entered=renamed.entered,
        released=renamed.released,
        dead=renamed.dead,
    )


def words_by_pc(program: Program, analysis: Analysis) -> NDArray[np.uint8]:
    """By pc: `shared_words`."""
    results = np.diff(program.result_start).tolist()
    found = [shared_words(*one) for one in zip(analysis.kernel.instructions(), results, strict=True)]
    return np.array(found, np.uint8)


def shared_words(instruction: Instruction, results: int) -> int:
    """The registers that a plain load fills with whole words of memory; 0 for other loads and instructions."""
    if sass.is_sass(instruction):
        row = sass.find(instruction.opcode)
        loads, size = row.action == "load" and row.space in ("", "global", "generic"), record_unit(instruction)
    else:
        if not instruction.traits.loads:
            return 0
        loads, size = True, _bytes(instruction)
    if not loads or not _PRIVATE.isdisjoint(instruction.modifiers) or order_of(instruction) != NO_ORDER:
        return 0
    return results if size == results * WORD_BYTES else 0


def stored_bytes(instruction: Instruction) -> int:
    """The bytes of global memory that a lane changes, EVERYTHING if they are not followed, else 0."""
    if sass.is_sass(instruction):
        row = sass.find(instruction.opcode)
        changes = row.action in ("store", "reduction", "atomic") and row.space not in ("shared", "local")
        return record_unit(instruction) if changes else 0
    traits = instruction.traits
    if not _PRIVATE.isdisjoint((*instruction.modifiers, traits.space)):
        return 0
    if traits.stores:
        return _bytes(instruction)
    return EVERYTHING if traits.writes_memory else 0


def order_of(instruction: Instruction) -> int:
    """How an instruction orders accesses of several thread blocks."""
    return _order_of(instruction.opcode, instruction.modifiers)


@functools.lru_cache(maxsize=4096)
def _order_of(opcode: str, of_opcode: tuple[str, ...]) -> int:
    modifiers = frozenset(part for modifier in of_opcode for part in modifier.split("."))
    traits = traits_of(opcode, of_opcode)
    if traits.is_fence:
        return NO_ORDER if modifiers & {"cta", "CTA"} else FENCE
    if "bulk" in modifiers:
        return FENCE
    atomic = traits.returns_old and traits.space != "shared"
    loads = traits.loads or sass.find(opcode).action == "load"
    if not _PRIVATE.isdisjoint(modifiers):
        return NO_ORDER
    return SYNCHRONISES if atomic or (loads and not _STRONG.isdisjoint(modifiers)) else NO_ORDER


def _bytes(instruction: Instruction) -> int:
    return instruction.types[-1].bytes * elements(instruction) if instruction.types else 0
