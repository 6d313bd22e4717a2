"""Check each instruction against the rows of its opcode in the table, operand by operand.

The parser accepts any opcode with any operands.  After this check, passes and the executor rely on their number, kind
and width.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import flattened, is_known, resolve
from warpreg.ir.operands import Address, Immediate, Label, Not, Operand, Part, Register, Sink, Symbol
from warpreg.ir.types import PRED, Type

_ADDRESS_BITS = (32, 64)
_BARRIERS = 16


def check_forms(instructions: Iterable[Instruction]) -> None:
    """Raise UnsupportedError, with the place, for the first instruction that no row of the table allows.

    Opcodes without rows and calls pass; they are rejected where they would be executed.
    """
    for instruction in instructions:
        if is_known(instruction.opcode) and not instruction.traits.is_call:
            for problem in _problems(instruction):
                raise UnsupportedError(f"'{instruction}'", instruction.location, problem)


def _problems(instruction: Instruction) -> Iterator[str]:
    row, form = resolve(instruction)
    results, sources = flattened(instruction.results), flattened(instruction.sources)
    wanted = row.types.split().count("address")
    found = sum(isinstance(operand, Address) for operand in sources)
    if found != wanted:
        yield f"has {found} addresses, expected {wanted}"
    for operand, slot in zip(results, form.signature.results, strict=True):
        if not isinstance(operand, (Register, Part, Sink)):
            yield f"cannot write '{operand}'"
        elif not _fits(operand, slot):
            yield f"has '{operand}' where a {slot} is written"
    number = sources[0] if sources and instruction.traits.is_barrier and "warp" not in instruction.modifiers else None
    if isinstance(number, Immediate) and not 0 <= number.value < _BARRIERS:
        yield f"names a barrier beyond {_BARRIERS}"
    labels = row.types.endswith("...")
    for operand, slot in zip(sources, form.signature.sources, strict=True):
        if isinstance(operand, Label) and not labels:
            yield f"has the label '{operand}' as a value"
        elif not _fits(operand, slot):
            yield f"has '{operand}' where a {slot} is read"


def _fits(operand: Operand, slot: Type) -> bool:
    """Whether an operand fits a slot; PTX lets some instructions use wider registers, but never narrower ones."""
    if isinstance(operand, Address):
        base = operand.base
        return not isinstance(base, Register) or base.type.bits in _ADDRESS_BITS
    if isinstance(operand, Not):
        return slot == PRED and operand.operand.is_predicate
    if isinstance(operand, (Immediate, Symbol)):
        return slot != PRED or isinstance(operand, Immediate)
    if isinstance(operand, Part):
        return operand.register.type.bits == slot.bits
    if isinstance(operand, Register):
        return operand.is_predicate == slot.is_predicate and operand.type.bits >= slot.bits
    return True
