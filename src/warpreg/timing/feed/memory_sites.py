"""Memory sites: the instructions of a kernel that have an access record per execution, as columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.cached import cached_analysis
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Special
from warpreg.ir.tensor.matrix_memory import matrix_in_memory
from warpreg.sass.isa import opcodes as sass
from warpreg.sass.rebuild.program import record_unit
from warpreg.simt.memory.memory_instructions import elements
from warpreg.timing.core import access_record as record

SPACES = {
    "global": record.GLOBAL,
    "shared": record.SHARED,
    "local": record.LOCAL,
    "const": record.CONSTANT,
    "param": record.CONSTANT,
}
MATRICES = {"x1": 1, "x2": 2, "x4": 4}
SASS_KINDS = {
    "load": record.LOAD,
    "copy": record.LOAD,
    "store": record.STORE,
    "reduction": record.STORE,
    "atomic": record.ATOMIC,
}


READ_ONLY = frozenset({"nc", "CONSTANT", "CI"})
"""Modifiers of loads from global memory through the read-only path, of PTX and of SASS."""
BEYOND_THE_SM = frozenset({"cluster", "gpu", "sys", "GPU", "SYS"})
"""Scopes that other SMs belong to."""


class Sites(NamedTuple):
    """One row per memory instruction with a record, in order of pc.

    ``first`` int32[blocks + 1] is the first row of each block.  The other columns are int64: ``pc``; ``unit``, bytes of
    one recorded step; ``size``, bytes per lane; ``guarded`` flag; ``space`` (GENERIC if the address decides);
    ``repeat``, factor on the conflict degree in shared memory (matrices per instruction); ``atomic`` flag: accesses to
    one word are serialised.
    """

    first: NDArray[np.int32]
    pc: NDArray[np.int64]
    unit: NDArray[np.int64]
    size: NDArray[np.int64]
    guarded: NDArray[np.int64]
    space: NDArray[np.int64]
    repeat: NDArray[np.int64]
    atomic: NDArray[np.int64]


@cached_analysis
def memory_sites(kernel: Kernel) -> Sites:
    """The sites of a kernel, computed once per kernel."""
    first, rows = [0], []
    pc = 0
    for block in kernel.blocks:
        for instruction in block.instructions:
            step = step_bytes(instruction)
            if step:
                rows.append((pc, step, *_shape(instruction, step)))
            pc += 1
        first.append(len(rows))
    columns = np.array(rows, np.int64).reshape(-1, 7).T
    return Sites(np.array(first, np.int32), *(np.ascontiguousarray(column) for column in columns))


@cached_analysis
def access_kinds(kernel: Kernel) -> NDArray[np.uint8]:
    """By pc: NO_ACCESS without a record, LOAD, READ_ONLY_LOAD, ORDERED_LOAD, STORE (reductions included), or ATOMIC
    with a result.
    """
    return np.array([_kind(i) if step_bytes(i) else record.NO_ACCESS for i in kernel.instructions()], np.uint8)


def step_bytes(instruction: Instruction) -> int:
    """Bytes of one step in the records of an instruction (see `warpreg.trace.addresses`); 0 if it has none."""
    if sass.is_sass(instruction):
        return 1 if is_lifted_fetch(instruction) else record_unit(instruction)
    traits, modifiers = instruction.traits, instruction.modifiers
    if traits.accesses_elements:
        return 0 if "param" in _spaces(modifiers) else instruction.types[-1].bytes
    if traits.is_matrix and traits.accesses_memory:
        if _is_whole(modifiers):
            return next(matrix_in_memory(modifiers).pieces(0)).size
        return 2 if "trans" in modifiers else 4
    if traits.is_copy:
        return int(getattr(instruction.sources[2], "value", 0))
    if traits.is_asynchronous:
        return 8 if modifiers[0] in ("init", "test_wait", "try_wait") else 0
    return int(traits.is_texture and traits.accesses_memory)


def _is_whole(modifiers: tuple[str, ...]) -> bool:
    """Whether an instruction loads or stores a matrix in one, not small ones of 8 x 8 elements."""
    return modifiers[0] in ("load", "store")


def is_lifted_fetch(instruction: Instruction) -> bool:
    """Whether it accesses a texture or surface in machine code that was executed here; one of a hardware trace has no
    record."""
    traits = instruction.traits
    is_fetch = sass.is_sass(instruction) and traits.is_texture and traits.accesses_memory
    return is_fetch and any(isinstance(operand, Special) for operand in instruction.operands)


def _shape(instruction: Instruction, step: int) -> tuple[int, int, int, int, int]:
    """Size, guarded, space, repeat, atomic."""
    if is_lifted_fetch(instruction):
        space = record.TEXTURE if instruction.traits.fetches_channels else record.GLOBAL
        return step, int(instruction.guard is not None), space, 1, 0
    if sass.is_sass(instruction):
        row = sass.find(instruction.opcode)
        atomic = row.action in ("atomic", "reduction")
        return step, int(instruction.guard is not None), SPACES.get(row.space, record.GENERIC), 1, int(atomic)
    traits, modifiers = instruction.traits, instruction.modifiers
    size = step * elements(instruction) if traits.accesses_elements else step
    space = next((SPACES[s] for s in _spaces(modifiers) if s in SPACES), record.GENERIC)
    if traits.is_copy:
        space = record.GLOBAL
    if traits.is_texture:
        space = record.TEXTURE if traits.fetches_channels else record.GLOBAL
    repeat = 1
    if traits.is_matrix:
        small = next((MATRICES[m] for m in modifiers if m in MATRICES), 1)
        repeat = matrix_in_memory(modifiers).fragment.distinct if _is_whole(modifiers) else small
    return size, int(instruction.guard is not None), space, repeat, int(traits.is_atomic)


def _kind(instruction: Instruction) -> int:
    if _is_read_only(instruction):
        return record.READ_ONLY_LOAD
    if _is_ordered(instruction):
        return record.ORDERED_LOAD
    if is_lifted_fetch(instruction):
        return record.STORE if instruction.traits.writes_memory else record.LOAD
    if sass.is_sass(instruction):
        return SASS_KINDS[sass.find(instruction.opcode).action]
    if instruction.traits.returns_old:
        return record.ATOMIC
    return record.LOAD if instruction.has_result or instruction.traits.is_copy else record.STORE


def _is_read_only(instruction: Instruction) -> bool:
    is_global = instruction.traits.loads and instruction.traits.space in ("", "global")
    return is_global and not READ_ONLY.isdisjoint(instruction.modifiers)


def _is_ordered(instruction: Instruction) -> bool:
    """Whether a load must see what other SMs have written: it is volatile, relaxed or acquiring beyond the SM, or names
    a cache operator that bypasses the first level (PTX ISA, "Memory Consistency Model" and "Cache Operators").
    """
    traits, modifiers = instruction.traits, set(instruction.modifiers)
    is_global = traits.loads and traits.space in ("", "generic", "global")
    if not is_global or modifiers & {"shared", "local", "const", "param"}:
        return False
    is_strong = bool(modifiers & {"relaxed", "acquire", "STRONG"}) and not modifiers.isdisjoint(BEYOND_THE_SM)
    return is_strong or not modifiers.isdisjoint({"volatile", "mmio", "cg", "cv"})


def _spaces(modifiers: tuple[str, ...]) -> list[str]:
    return [modifier.split("::")[0] for modifier in modifiers]
