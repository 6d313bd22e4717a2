"""The constant parts of the lines of instructions in an exported trace.

An instruction is 16 bytes long.  A line names the first register of an operand; if a reader would infer other widths
from opcode and modifiers, a modifier ``W`` gives them (`warpreg.sass.isa.widths`).  Accel-Sim accepts one destination
and four sources: further ones, of vectors whose registers are not consecutive, are omitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.operands import Address, Operand
from warpreg.sass.export.mnemonics import mnemonic
from warpreg.sass.export.vendor_lines import vendor_line
from warpreg.sass.isa.opcodes import find
from warpreg.sass.isa.widths import Shape, Widths, access_bytes, widths
from warpreg.sass.parse.line import MAX_OPERANDS, ZERO_REGISTER

PC_BYTES = 16
BINARY_VERSION = 70
MAX_RESULTS, MAX_SOURCES = 1, 4
MASK = "#"
"""Placeholder for the lanes of a visit."""

UnitOf = Callable[[Instruction], int]
"""Unit in bytes of the steps in the address records of an instruction, 0 if it has none."""

Run = tuple[int, int]
"""First register and number of consecutive registers."""


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction: ``head`` is the text before the mask, ``body`` after it up to the ``width`` of the access, 0 if
    no addresses follow; ``unit`` is 0 if none are recorded; the ``immediate`` stands at the end."""

    pc: int
    head: str
    body: str
    width: int
    unit: int
    guarded: bool
    immediate: int = 0


@dataclass(frozen=True, slots=True)
class BlockLines:
    """A basic block: text between the instructions with records, with `MASK` for the lanes, and those instructions;
    ``end`` is the guarded branch or exit at its end, which has its own mask."""

    block: Block
    pieces: tuple[str, ...]
    accesses: tuple[Line, ...]
    end: Line | None
    count: int

    def text(self, mask: int, accesses: Sequence[str], left: int) -> str:
        """The lines of one visit; ``accesses`` are those of instructions with records, ``left`` the lanes that took the
        branch or exit at its end."""
        lanes = f"{mask:08x}"
        parts = [self.pieces[0].replace(MASK, lanes)]
        for access, piece in zip(accesses, self.pieces[1:], strict=True):
            parts += (access, piece.replace(MASK, lanes))
        if self.end:
            parts.append(f"{self.end.head}{left:08x} {self.end.body}0 0 \n")
        return "".join(parts)


def block_lines(kernel: Kernel, unit_of: UnitOf) -> list[BlockLines]:
    """The lines of each block of a kernel with architected registers."""
    version = binary_version(kernel)
    starts = [address // PC_BYTES for address in kernel.block_addresses] or kernel.first_pcs()
    blocks = []
    for block, start in zip(kernel.blocks, starts, strict=False):
        numbered = enumerate(block.instructions, start)
        if kernel.machine_code:
            lines = [_vendor_line(instruction, pc, unit_of(instruction), version) for pc, instruction in numbered]
        else:
            lines = [_line(instruction, pc, unit_of(instruction)) for pc, instruction in numbered]
        blocks.append(_block(block, lines))
    return blocks


def binary_version(kernel: Kernel) -> int:
    """That of the vendor's machine code; 70 for other code, whose opcodes are those of sm_70."""
    return int(kernel.machine_code.removeprefix("sm_")) if kernel.machine_code else BINARY_VERSION


def leaves(block: Block) -> Instruction | None:
    """The branch or exit at the end of a block that some of its lanes may not take; None without one."""
    last = block.instructions[-1] if block.instructions else None
    if last is None or last.guard is None:
        return None
    leaves_own = last.traits.is_branch or last.traits.is_exit
    return last if leaves_own or find(last.opcode).flow in ("branch", "exit") else None


def _block(block: Block, lines: Sequence[Line]) -> BlockLines:
    is_own = leaves(block) is not None
    pieces, accesses, text = [], [], ""
    for line in lines[: len(lines) - is_own]:
        if line.unit:
            pieces.append(text)
            accesses.append(line)
            text = ""
        else:
            text += f"{line.head}{MASK} {line.body}0 {line.immediate} \n"
    return BlockLines(block, (*pieces, text), tuple(accesses), lines[-1] if is_own else None, len(lines))


def _vendor_line(instruction: Instruction, pc: int, unit: int, version: int) -> Line:
    """The line of machine code as a tracer writes it, if a reader finds its registers in that."""
    line = vendor_line(instruction, version)
    if line is None:
        return _line(instruction, pc, unit, instruction.full_opcode)
    width = access_bytes(line.opcode, line.modifiers) if unit > 0 and find(line.opcode).has_addresses else 0
    body = _body(instruction.full_opcode, line.results, line.sources)
    return Line(pc, f"{PC_BYTES * pc:04x} ", body, width, unit, instruction.guard is not None, line.immediate)


def _body(opcode: str, results: Sequence[int], sources: Sequence[int]) -> str:
    named = "".join(f"R{first} " for first in results), "".join(f"R{first} " for first in sources)
    return f"{len(results)} {named[0]}{opcode} {len(sources)} {named[1]}"


def _line(instruction: Instruction, pc: int, unit: int, own: str = "") -> Line:
    """The line of an instruction with the opcode of its unit, or with its ``own`` and explicit widths."""
    text = own or mnemonic(instruction, unit > 0)
    opcode, *modifiers = text.split(".")
    accesses = unit > 0 and find(opcode).has_addresses
    results = list(islice(runs(instruction.results), MAX_RESULTS))
    sources = list(islice(runs(instruction.sources), MAX_SOURCES))
    if find(opcode).has_addresses and not _begins_with_register(instruction):
        sources = [(ZERO_REGISTER, 1), *sources][:MAX_SOURCES]
    if opcode == "ATOMS" and not results:
        results = [(ZERO_REGISTER, 1)]
    shape = Shape(opcode, tuple(modifiers), len(results), len(sources))
    actual = Widths(results[0][1] if results else 1, tuple(words for _, words in sources))
    if own or find(opcode).two_results or not _as_expected(widths(shape), actual, results, sources):
        text += f".W{actual.result}{''.join(map(str, actual.sources))}"
    body = _body(text, [first for first, _ in results], [first for first, _ in sources])
    width = access_bytes(opcode, tuple(modifiers)) if accesses else 0
    return Line(pc, f"{PC_BYTES * pc:04x} ", body, width, unit, instruction.guard is not None)


def _begins_with_register(instruction: Instruction) -> bool:
    """Whether the address of a memory instruction, its first source, is in a register."""
    first = instruction.sources[0] if instruction.sources else None
    return isinstance(first, Address) and any(r.words for r in registers_of(first))


def _as_expected(expected: Widths, actual: Widths, results: Sequence[Run], sources: Sequence[Run]) -> bool:
    same = all(
        a == e
        for a, e, (first, _) in zip(actual.sources, expected.sources, sources, strict=True)
        if first != ZERO_REGISTER
    )
    return same and (not results or results[0][0] == ZERO_REGISTER or actual.result == expected.result)


def runs(operands: Iterable[Operand]) -> Iterable[Run]:
    """The registers that operands name; consecutive registers of one operand form one run."""
    for operand in operands:
        joined: list[Run] = []
        for register in registers_of(operand):
            if not register.words:
                continue
            first, words = register.words[0], len(register.words)
            if joined and sum(joined[-1]) == first and joined[-1][1] + words <= MAX_OPERANDS:
                joined[-1] = (joined[-1][0], joined[-1][1] + words)
            else:
                joined.append((first, words))
        yield from joined
