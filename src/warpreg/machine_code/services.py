"""Calls of functions that the host provides (``vprintf``, ``malloc``, ``free``, ``__assertfail``), as those of PTX.

Found with CUDA of known meaning: such a call loads the address of the function from constant bank 4, at an index that
a move has put into a register, and the address to return to, which is that of the next instruction, into R20 and R21:

    MOV R0, 0x38 ;  LDC.64 R2, c[0x4][R0] ;  LEPC R20, `(.L_x_9) ;  CALL.ABS.NOINC R2 ;  .L_x_9:

Arguments begin at R4, each aligned to its size; the result is in R4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from warpreg.analysis.values import values
from warpreg.codegen.lower.services import SERVICES
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import ConstantBank, Immediate, Operand, Register
from warpreg.ir.types import TYPES, Type
from warpreg.machine_code.elf import Relocation

ADDRESSES = 4
"""The constant bank of addresses."""
FIRST_ARGUMENT = 4
MAX_MOVES = 4
"""Moves that a constant passes through, at most."""
SIGNS = 0x80008000
"""Of two halves."""


def is_call(instruction: Instruction) -> bool:
    """Whether an instruction calls an address in a register."""
    return instruction.opcode == "CALL" and "ABS" in instruction.modifiers


def is_indexed_address(operand: Operand) -> bool:
    """Whether an operand is an address that lies where a register says."""
    return isinstance(operand, ConstantBank) and operand.bank == ADDRESSES and operand.index is not None


def with_services(kernel: Kernel, addresses: Mapping[int, Relocation]) -> Kernel:
    """The kernel with services in place of calls, and 0 in place of the addresses that are called; ``addresses`` are
    those in bank 4, by byte.

    Raises UnsupportedError for a call of another function, or of one that is not told, and for other loads of
    addresses at an index.
    """
    replacements: dict[int, Instruction] = {}
    instructions = list(kernel.instructions())
    for pc, call in enumerate(instructions):
        if is_call(call):
            load = _load_of(kernel, instructions, pc)
            name = _name(kernel, instructions, load, addresses)
            if name not in SERVICES or call.guard:
                raise _unsupported(call, name)
            replacements[pc] = _service(call, name)
            replacements[load] = replace(instructions[load], operands=(instructions[load].operands[0], Immediate(0)))
    changed = [replacements.get(pc, one) for pc, one in enumerate(instructions)]
    for one in changed:
        if any(is_indexed_address(operand) for operand in one.operands):
            raise UnsupportedError(one.full_opcode, one.location, "loads an address that no call takes")
    following = iter(changed)
    blocks = tuple(replace(b, instructions=tuple(next(following) for _ in b.instructions)) for b in kernel.blocks)
    return replace(kernel, blocks=blocks, analyses={})


def _definitions(kernel: Kernel, pc: int) -> set[int]:
    """The pcs of the writes that reach the reads of an instruction; -1 for none."""
    webs = values(kernel)
    reached = [webs.values[number] for number in webs.read[pc]]
    return {at for one in reached for at in one.definitions} | {-1 for one in reached if one.undefined}


def _load_of(kernel: Kernel, instructions: list[Instruction], call: int) -> int:
    """The pc of the load of the address that is called; -1 if there is no single one."""
    found = _definitions(kernel, call)
    (pc,) = found if len(found) == 1 else (-1,)
    return pc if pc >= 0 and instructions[pc].opcode == "LDC" else -1


def _name(kernel: Kernel, instructions: list[Instruction], load: int, addresses: Mapping[int, Relocation]) -> str:
    """The function whose address is loaded; empty if it is not told."""
    if load < 0:
        return ""
    (word,) = instructions[load].sources
    if not isinstance(word, ConstantBank) or not is_indexed_address(word):
        return ""
    index = _constant(kernel, instructions, load)
    held = addresses.get(word.offset + index) if index is not None else None
    return held.symbol if held else ""


def _constant(kernel: Kernel, instructions: list[Instruction], reader: int, moves: int = 0) -> int | None:
    """The number in the one register that an instruction reads, if moves put it there."""
    found = _definitions(kernel, reader)
    if len(found) != 1 or -1 in found or moves == MAX_MOVES:
        return None
    (pc,) = found
    moved = _moved(instructions[pc])
    if isinstance(moved, Immediate):
        return moved.value
    return _constant(kernel, instructions, pc, moves + 1) if isinstance(moved, Register) else None


def _moved(instruction: Instruction) -> Operand | None:
    """What a move moves, also one that is a product of zeros (``IMAD.MOV.U32``, ``HFMA2``); None for another one."""
    first, *rest = instruction.sources
    if instruction.guard:
        return None
    if instruction.opcode in ("MOV", "UMOV"):
        return first
    is_product = instruction.opcode in ("IMAD", "HFMA2") and _is_zero(first) and _is_zero(rest[0])
    return rest[1] if is_product else None


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Immediate) and operand.value & ~SIGNS == 0


def _service(call: Instruction, name: str) -> Instruction:
    opcode, arguments, result = SERVICES[name]
    opcode, *modifiers = opcode.split(".")
    operands = (*([_register(FIRST_ARGUMENT, TYPES[result])] if result else []), *_arguments(arguments))
    return replace(call, opcode=opcode, modifiers=tuple(modifiers), operands=operands)


def _arguments(kinds: tuple[str, ...]) -> Iterator[Register]:
    at = FIRST_ARGUMENT
    for kind in kinds:
        type_ = TYPES[kind]
        at += at % type_.words
        yield _register(at, type_)
        at += type_.words


def _register(index: int, type_: Type) -> Register:
    return Register(f"R{index}", type_, index)


def _unsupported(call: Instruction, name: str) -> UnsupportedError:
    what, known = f"'{name}'" if name else "an address", ", ".join(sorted(SERVICES))
    reason = f"calls {what} outside of the kernel, which is not supported; only {known} are"
    return UnsupportedError(call.full_opcode, call.location, reason)
