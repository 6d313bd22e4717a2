"""Small kernels as text: ``add.s32 R1, R0, 3``, ``@P0 ld.global.u32 R2, [R4.64]``, one instruction per line."""

from __future__ import annotations

from collections.abc import Sequence

from tests.designs.kernels import kernel, op, p, pair, r, when
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.reference.instruction import Access

from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Address, Immediate, Operand, Register, Vector


def assemble(text: str) -> Instruction:
    """One instruction."""
    if text.startswith("@"):
        guard, _, rest = text[1:].partition(" ")
        return when(_predicate(guard), assemble(rest))
    opcode, _, operands = text.partition(" ")
    return op(opcode, *_operands(operands)) if operands else op(opcode)


def code(*blocks: str) -> Kernel:
    """A kernel of these blocks of lines."""
    return kernel(*[[assemble(line.strip()) for line in block.strip().splitlines()] for block in blocks])


def one_warp(text: str, *accesses: Access, times: int = 1) -> Launched:
    """A thread block of a single warp that runs a block of lines, ``times`` in a row with as many accesses each."""
    return warps(text, [accesses] * times)


def warps(text: str, *accesses: Sequence[tuple[Access, ...]]) -> Launched:
    """One thread block; each warp runs the lines once for each tuple of accesses that it is given."""
    paths = [WarpPath(((0, FULL),) * len(own), tuple(access for visit in own for access in visit)) for own in accesses]
    return Launched(code(text), (tuple(paths),))


def _operands(text: str) -> list[Operand | int]:
    found: list[Operand | int] = []
    while text:
        if text.startswith("{"):
            inner, _, text = text[1:].partition("}")
            found.append(Vector(tuple(_register(word) for word in inner.split(", "))))
            text = text.removeprefix(", ")
        else:
            word, _, text = text.partition(", ")
            found.append(_operand(word))
    return found


def _operand(word: str) -> Operand | int:
    if word.startswith("["):
        return Address(_register(word[1:-1]), 0)
    if word[0] in "RP":
        return _register(word) if word[0] == "R" else _predicate(word)
    return Immediate(int(word))


def _register(word: str) -> Register:
    return pair(int(word[1:-3])) if word.endswith(".64") else r(int(word[1:]))


def _predicate(word: str) -> Register:
    return p(int(word[1:]))
