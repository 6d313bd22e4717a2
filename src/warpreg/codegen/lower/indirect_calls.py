"""Indirect calls: a branch table over the possible targets, each of which is called directly."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from warpreg.codegen.lower.calls import Call
from warpreg.codegen.lower.stack import emit
from warpreg.ir.address_space import FUNCTION_STRIDE
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Immediate, Label, Operand, Register

SHIFT = FUNCTION_STRIDE.bit_length() - 1


def dispatch(
    instruction: Instruction,
    call: Call,
    addresses: Sequence[int],
    labels: Sequence[str],
    otherwise: str,
    table: str,
    fresh: Callable[[str, str], Register],
) -> tuple[list[Instruction], tuple[str, ...]]:
    """Code that branches to ``labels[i]`` if the call's target is ``addresses[i]`` (ascending), else to ``otherwise``;
    and the targets of its branch ``table``.

    The table covers the addresses from the first to the last.  It is indexed by the distance from the first, rotated so
    that an address between two functions is out of range.
    """
    first, last = addresses[0], addresses[-1]
    places = dict(zip(addresses, labels, strict=True))
    targets = [places.get(address, otherwise) for address in range(first, last + 1, FUNCTION_STRIDE)]
    assert isinstance(call.target, (Register, Immediate))
    distance, low, high = (fresh(name, "b64") for name in ("%distance", "%low", "%high"))
    index = fresh("%index", "b32")
    code = [
        widened(instruction, call.target, distance),
        emit(instruction, "sub.s64", distance, distance, Immediate(first)),
        emit(instruction, "shr.u64", low, distance, Immediate(SHIFT)),
        emit(instruction, "shl.b64", high, distance, Immediate(64 - SHIFT)),
        emit(instruction, "or.b64", low, low, high),
        emit(instruction, "min.u64", low, low, Immediate(len(targets))),
        emit(instruction, "cvt.u32.u64", index, low),
        emit(instruction, "brx.idx", index, Label(table)),
    ]
    return code, (*targets, otherwise)


def widened(instruction: Instruction, target: Operand, into: Register) -> Instruction:
    """The called address as 64 bits."""
    narrow = isinstance(target, Register) and target.type.bits == 32
    return emit(instruction, "cvt.u64.u32" if narrow else "mov.b64", into, target)


def trap_invalid_target(instruction: Instruction, target: Operand, address: Register) -> list[Instruction]:
    """Instructions that abort the launch because ``target`` is not a possible callee; ``address`` is a new register."""
    return [widened(instruction, target, address), emit(instruction, "badcall.u64", address)]
