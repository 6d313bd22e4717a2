"""Checks the invariants of a kernel after a pass, so that errors are attributed to the pass."""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.analysis.accesses import accesses, members
from warpreg.analysis.liveness import exposed_at_entry
from warpreg.ir.errors import UnsupportedError, WarpregError
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.opcodes import flattened, signature
from warpreg.ir.operands import Label, Not, Operand, Register
from warpreg.ir.types import Type


class VerificationError(WarpregError):
    """A kernel that breaks an invariant of the IR: names the block and the instruction."""


def verify(kernel: Kernel, before: Kernel | None = None, *, stage: str = "") -> None:
    """Raises VerificationError if ``kernel`` is not well formed; the message names the ``stage`` that made it so.

    Checked: block ids, successors and labels; branches only at the end; the width of every register operand;
    alignment and bounds of architected registers; with ``before``, that blocks and successors are the same, and that
    no register is read undefined if none was.
    """
    for problem in _problems(kernel, before):
        raise VerificationError(f"kernel '{kernel.name}'{f' after {stage}' if stage else ''}: {problem}")


def undefined_reads(kernel: Kernel) -> list[str]:
    """Names of cells that some path reads before any definition; guarded definitions count."""
    exposed = exposed_at_entry(kernel)
    return [accesses(kernel).cells.names[c] for c in members(exposed)]


def _problems(kernel: Kernel, before: Kernel | None) -> Iterator[str]:
    for position, block in enumerate(kernel.blocks):
        where = f"block {position} ({block.label})"
        if block.index != position:
            yield f"{where} has index {block.index}"
        yield from (f"{where}: {p}" for p in _flow_problems(kernel, block))
        for instruction in block.instructions:
            yield from (f"{where}: '{instruction}': {p}" for p in _operand_problems(kernel, instruction))
    if before is not None:
        if [b.successors for b in kernel.blocks] != [b.successors for b in before.blocks]:
            yield "blocks or successors changed"
        undefined = undefined_reads(kernel)
        if undefined and not undefined_reads(before):
            yield f"'{undefined[0]}' is read where nothing defines it"


def _flow_problems(kernel: Kernel, block: Block) -> Iterator[str]:
    if any(not 0 <= s < len(kernel.blocks) for s in block.successors):
        yield f"successors {block.successors} go beyond the kernel"
        return
    for instruction in block.instructions[:-1]:
        if instruction.traits.ends_block:
            yield f"'{instruction}' does not end the block"
    last = block.terminator
    count = len(block.successors)
    if last is None or last.traits.stops:
        wanted = count == 1
    elif last.traits.is_exit:
        wanted = count == (1 if last.guard else 0)
    else:
        wanted = last.traits.is_indirect or count == (2 if last.guard else 1)
    if not wanted:
        yield f"has {count} successors after '{last}'"
    elif last is not None and last.traits.is_direct:
        target = kernel.blocks[block.successors[0]].label
        if last.operands != (Label(target),):
            yield f"'{last}' should go to {target}"


def _operand_problems(kernel: Kernel, instruction: Instruction) -> Iterator[str]:
    if kernel.is_allocated:
        for register in (*instruction.defined, *instruction.used):
            yield from _architected_problems(kernel, register)
    if instruction.traits.is_call:
        return
    try:
        types = signature(instruction)
    except UnsupportedError:
        return
    for operands, slots in ((instruction.results, types.results), (instruction.sources, types.sources)):
        flat = flattened(operands)
        if len(flat) == len(slots):
            for operand, slot in zip(flat, slots, strict=True):
                if not _fits(operand, slot):
                    yield f"'{operand}' does not fit a slot of type {slot}"


def _architected_problems(kernel: Kernel, register: Register) -> Iterator[str]:
    if not register.is_architected:
        yield f"'{register}' is not architected"
    elif register.is_predicate:
        if register.index >= kernel.predicate_count:
            yield f"'{register}' is beyond {kernel.predicate_count} predicates"
    elif register.is_uniform:
        if register.index % register.type.words:
            yield f"'{register}' is not an aligned group of {register.type.words} uniform registers"
        if register.index + register.type.words > kernel.uniform_count:
            yield f"'{register}' is beyond {kernel.uniform_count} uniform registers"
    elif register.index % register.type.words:
        yield f"'{register}' is not an aligned group of {register.type.words} registers"
    elif register.index + register.type.words > kernel.register_count:
        yield f"'{register}' is beyond {kernel.register_count} registers"


def _fits(operand: Operand, slot: Type) -> bool:
    """PTX lets loads, stores and conversions use wider registers; nothing uses narrower ones."""
    if isinstance(operand, Not):
        operand = operand.operand
    if not isinstance(operand, Register):
        return True
    return operand.is_predicate == slot.is_predicate and operand.type.bits >= slot.bits
