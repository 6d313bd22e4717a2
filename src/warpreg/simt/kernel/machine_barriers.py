"""Bulk copies and mbarriers of machine code, with the native operations of those of PTX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpreg.ir.instruction import Instruction
from warpreg.ir.memory_access import ATOMICS, UNTYPED
from warpreg.ir.opcodes import mbarrier
from warpreg.ir.types import B32, B64, U32
from warpreg.simt.kernel.machine_operands import sources, targets, value, write
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, Value, lanes_of
from warpreg.simt.memory.bulk_copy import Transfer
from warpreg.simt.memory.machine_access import addresses
from warpreg.simt.tensor.async_copy import BULK_ALIGNMENT, AsynchronousInstruction

if TYPE_CHECKING:
    from warpreg.simt.kernel.block_compiler import Body

SPACES = {"S": "shared", "G": "global"}
TYPES = {"S32": "s32", "S64": "s64", "U64": "u64", "F32": "f32", "F64": "f64", "F16": "f16", "BF16": "bf16"}
UNITS = 0xFFFF
"""The bits of a size that count units of 16 bytes; those above name the blocks of a multicast."""


def _access(body: Body, instruction: Instruction, pc: int) -> AsynchronousInstruction:
    access = AsynchronousInstruction(body.values, body.compiler.sites, instruction, pc)
    access.space = "shared"
    return access


def object_operation(body: Body, instruction: Instruction, pc: int) -> None:
    """SYNCS: change an mbarrier, or ask whether a phase is complete."""
    where, given = sources(body, instruction, pc)
    access, lanes = _access(body, instruction, pc), body.lanes_of_guard(instruction, pc)
    at, action = addresses(body.values, where, "shared", instruction), instruction.modifiers[0]
    if action == "EXCH":
        before = access.exchanged(at, lanes, value(body, given, B64, instruction))
    elif action == "PHASECHK":
        parity = value(body, given, U32, instruction) >> 31
        before = access.is_complete(at, lanes, parity)
    else:
        before = _arrival(access, instruction, at, lanes, value(body, given, U32, instruction))
    for target in targets(body, instruction, pc):
        write(body, target, [before], body.guard(instruction, pc))


def _arrival(access: AsynchronousInstruction, instruction: Instruction, at: Value, lanes: Value, given: Value) -> Value:
    """``A1``, ``AR``, ``A0``: arrivals, one without a name; ``T0``, ``TR``, ``T1``, ``TX``: expected bytes, those of
    the register without a name, ``TX``: bytes that are complete."""
    code, modifiers = access.code, instruction.modifiers
    kind = next((m for m in modifiers if m[0] == "A" and m[2:3] == "T"), "A1TR")
    wide, none = given.zext(lanes_of(I64)), code.const(lanes_of(I64), 0)
    numbers = {"0": none, "1": code.const(lanes_of(I64), 1), "R": wide, "X": none - wide}
    arrivals, bytes_ = numbers[kind[1]], numbers[kind[3]]
    if "OPTOUT" in modifiers:
        arrivals = arrivals | (arrivals << mbarrier.DROPPED_SHIFT)
    return access.update(at, access.new_site(), lanes, arrivals, bytes_)


def copies_arrived(body: Body, instruction: Instruction, pc: int) -> None:
    """ARRIVES: the copies of each lane are complete: one byte that it expected, or an arrival."""
    (where,) = sources(body, instruction, pc)
    access, lanes = _access(body, instruction, pc), body.lanes_of_guard(instruction, pc)
    at, one = addresses(body.values, where, "shared", instruction), body.code.const(lanes_of(I64), 1)
    if "ARVCNT" in instruction.modifiers:
        access.update(at, access.new_site(), lanes, arrivals=one)
    else:
        access.update(at, access.new_site(), lanes, bytes_=body.code.const(lanes_of(I64), 0) - one)


def block_copy(body: Body, instruction: Instruction, pc: int) -> None:
    """UBLKCP, UBLKRED: copy or combine bytes, once for the lanes of the warp."""
    to, from_, size, _ = sources(body, instruction, pc)
    target, source = (SPACES[one] for one in instruction.modifiers[:2])
    lanes = body.lanes_of_guard(instruction, pc)
    first = lanes & (body.code.const(I32, 0) - lanes)
    words = lanes_of(I32)
    whole = value(body, to, B64, instruction)
    origin = value(body, from_, B64 if source == "global" else B32, instruction)
    count = (value(body, size, U32, instruction) & UNITS) << 4
    access = _access(body, instruction, pc)
    site = access.new_site()
    place = whole if target == "global" else whole.trunc(words)
    transfer = Transfer(target, source, BULK_ALIGNMENT, action=_action(instruction))
    access.call_native(transfer, ir.VoidType(), [body.launch, site, first, place, origin, count])
    if target == "shared":
        counted = body.code.const(lanes_of(I64), 0) - count.zext(lanes_of(I64))
        access.update((whole >> 32).trunc(words), site, first, bytes_=counted)


def _action(instruction: Instruction) -> str:
    """The operation of a reduction with its type, as PTX names it; none for a copy."""
    operation = next((one.lower() for one in instruction.modifiers if one.lower() in ATOMICS), "")
    type_ = next((TYPES[one] for one in instruction.modifiers if one in TYPES), "u32")
    named = type_.replace("u", "b") if operation in UNTYPED else type_
    return f"{operation}.{named}" if operation else ""
