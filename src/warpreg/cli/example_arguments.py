"""An example of each argument of a kernel, as the command line takes it: what its instructions make of the bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from warpreg.ir.instruction import Instruction
from warpreg.ir.module import Function, Variable
from warpreg.ir.operands import Address, Operand, Register, Symbol, Vector
from warpreg.ir.types import Type
from warpreg.simt.launch.structures import NUMPY_TYPES

THREADS = 1024
"""Of the launch in the example."""

SAME_ADDRESS = frozenset({"add", "sub", "mov", "cvta"})
"""Opcodes whose result is an address if an operand is."""
VECTORS = {"v2": 2, "v4": 4, "v8": 8}

Word = tuple[str, int]
"""A parameter and a byte offset in it."""


@dataclass(frozen=True, slots=True)
class _Load:
    """A load of a parameter: its bytes and the registers that get them."""

    word: Word
    type: Type
    target: str


def example_argument(function: Function, parameter: Variable) -> str:
    """A value that the kernel can be launched with on four thread blocks of 256 threads, as far as the loads of
    parameters tell: pointers are buffers, other bytes are zeros.  Machine code has no types: words of 64 bits are taken
    for pointers.
    """
    loads = list(_loads(function))
    pointers = _pointers(function, loads)
    own = {one.word[1]: one.type for one in loads if one.word[0] == parameter.name}
    buffer = f"buffer:f32:{THREADS * max(4, _widest(function)) // 4}"
    if parameter.dimensions and not own:
        return _zeros(parameter.bytes)
    if parameter.dimensions:
        return "struct:" + ",".join(_fields(parameter, own, pointers, buffer))
    is_word = not function.body and parameter.type.bits == 64
    is_pointer = is_word or (parameter.name, 0) in pointers or "ptr" in {q.lstrip(".") for q in parameter.qualifiers}
    return buffer if is_pointer else _number(parameter.type)


def _fields(parameter: Variable, loaded: Mapping[int, Type], pointers: set[Word], buffer: str) -> list[str]:
    """Fields whose layout by the rules of C has the loaded bytes at their offsets; bytes between them are zeros."""
    fields: list[str] = []
    end, last = 0, ""
    for offset, kind in sorted(loaded.items()):
        if offset < end or offset + kind.bytes > parameter.bytes:
            continue
        is_pointer = (parameter.name, offset) in pointers
        is_aligned = offset == -(-end // kind.bytes) * kind.bytes
        if is_aligned and not is_pointer and kind.name == last:
            fields[-1] += ",1"
        else:
            fields += [] if is_aligned else [_zeros(offset - end)]
            fields.append(buffer if is_pointer else _number(kind))
        end, last = offset + kind.bytes, "" if is_pointer else kind.name
    if -(-end // parameter.natural_alignment) * parameter.natural_alignment != parameter.bytes:
        fields.append(_zeros(parameter.bytes - end))
    return fields


def _number(kind: Type) -> str:
    known = kind.name in NUMPY_TYPES or kind.name == "b128"
    return f"{kind.name if known else f'b{kind.bits}'}:1"


def _zeros(count: int) -> str:
    return f"u8:{count}:zeros"


def _loads(function: Function) -> Iterator[_Load]:
    """Every load of a parameter at a fixed offset, vectors by element."""
    for instruction in function.instructions():
        if not instruction.traits.loads or not {"param", "param::entry"} & {*instruction.modifiers}:
            continue
        target, address = instruction.operands[0], instruction.operands[1]
        if not isinstance(address, Address) or not isinstance(address.base, Symbol):
            continue
        kind = instruction.types[-1]
        elements = target.elements if isinstance(target, Vector) else (target,)
        for place, one in enumerate(elements):
            offset = address.base.offset + address.offset + place * kind.bytes
            name = one.name if isinstance(one, Register) else ""
            yield _Load((address.base.name, offset), kind, name)


def _pointers(function: Function, loads: list[_Load]) -> set[Word]:
    """Words of 64 bits whose value becomes an address of memory, possibly after sums."""
    origins: dict[str, set[Word]] = {}
    for load in loads:
        if load.type.bits == 64 and load.target:
            origins.setdefault(load.target, set()).add(load.word)
    pointers: set[Word] = set()
    instructions = list(function.instructions())
    for _ in range(2):  # a loop brings sums back to its start
        for instruction in instructions:
            for name in _bases(instruction):
                pointers |= origins.get(name, set())
            if instruction.opcode in SAME_ADDRESS or instruction.opcode == "mad":
                summed = instruction.operands[-1:] if instruction.opcode == "mad" else instruction.operands[1:]
                target = instruction.operands[0]
                reached = set().union(*(origins.get(name, set()) for name in _names(summed)))
                if isinstance(target, Register) and reached:
                    origins.setdefault(target.name, set()).update(reached)
    return pointers


def _bases(instruction: Instruction) -> Iterator[str]:
    """The registers that an instruction takes as addresses."""
    if instruction.opcode == "cvta":
        yield from _names(instruction.operands[1:])
    for operand in instruction.operands:
        if isinstance(operand, Address) and isinstance(operand.base, Register):
            yield operand.base.name


def _names(operands: tuple[Operand, ...]) -> Iterator[str]:
    return (one.name for one in operands if isinstance(one, Register))


def _widest(function: Function) -> int:
    """The most bytes that a thread accesses with one instruction."""
    widths = [
        one.types[-1].bytes * max((VECTORS.get(m, 1) for m in one.modifiers), default=1)
        for one in function.instructions()
        if one.traits.accesses_elements and one.types and "param" not in one.modifiers
    ]
    return max(widths, default=4)
