"""Kernels of a few machine instructions with control codes, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from warpreg.ir.control_code import ControlCode
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.module import Module
from warpreg.ir.operands import Address, Immediate, Operand, Register, Sink, Special
from warpreg.ir.types import B32, B64, PRED


def r(index: int) -> Register:
    return Register(f"R{index}", B32, index)


def wide(index: int) -> Register:
    return Register(f"R{index}", B64, index)


def p(index: int) -> Register:
    return Register(f"P{index}", PRED, index)


def at(index: int) -> Address:
    return Address(r(index))


def one(
    opcode: str,
    result: Operand | None,
    *sources: Operand,
    guard: Guard | None = None,
    stall: int = 1,
    waits: Sequence[int] = (),
    write: int | None = None,
    read: int | None = None,
) -> Instruction:
    """An instruction; opcode with modifiers, result None for none."""
    name, *modifiers = opcode.split(".")
    mask = sum(1 << counter for counter in waits)
    control = ControlCode(stall, stall > 11, write, read, mask)
    return Instruction(name, tuple(modifiers), (result or Sink(), *sources), guard, control=control)


def add(result: int, *sources: int, **control: object) -> Instruction:
    """``FADD``: 4 cycles to another one."""
    return one("FADD", r(result), *(r(source) for source in sources), **control)  # type: ignore[arg-type]


def depbar(counter: int, count: int, stall: int = 4) -> Instruction:
    return one("DEPBAR.LE", None, Special(f"SB{counter}"), Immediate(count), Immediate(0), stall=stall)


def kernel(*blocks: Sequence[Instruction], edges: Sequence[Sequence[int]] = ((),), code: str = "sm_90") -> Kernel:
    """Blocks with their successors."""
    made = tuple(Block(number, f"L{number}", tuple(block), tuple(edges[number])) for number, block in enumerate(blocks))
    module = Module.__new__(Module)
    return Kernel("k", (), made, module, register_count=64, predicate_count=7, machine_code=code)


def changed(code: Kernel, pc: int, **control: object) -> Kernel:
    """The kernel with another control code at a pc."""
    first = code.first_pcs()
    blocks = []
    for block in code.blocks:
        body = list(block.instructions)
        place = pc - first[block.index]
        if 0 <= place < len(body):
            old = body[place].control
            assert old is not None
            body[place] = replace(body[place], control=replace(old, **control))  # type: ignore[arg-type]
        blocks.append(replace(block, instructions=tuple(body)))
    return replace(code, blocks=tuple(blocks), analyses={})
