"""Listed operands in the order and number of the opcode's pattern: one destination, then every source slot."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from warpreg.ir.opcodes.sass.pattern import OperandPattern, OperandSlot
from warpreg.ir.operands import (
    Address,
    ConstantBank,
    Immediate,
    ModifiedOperand,
    Not,
    Operand,
    Register,
    Sink,
    Special,
    Vector,
)
from warpreg.ir.types import TYPES, Type
from warpreg.machine_code.operands import ZERO, Nan, Parsed, Text

TRUTH = {"PT": Immediate(1), "!PT": Immediate(0)}
UNTYPED = {bits: TYPES[f"b{bits}"] for bits in (32, 64, 128)}
TRUE, NOWHERE = Text("PT"), Sink()
HALVES = ("f16x2", "bf16x2")
SIGN_BITS = {"f16x2": 0x80008000, "bf16x2": 0x80008000, "f32": 1 << 31, "f64": 1 << 63}
Taken = list[tuple[Parsed, OperandSlot]]


def canonical(
    pattern: OperandPattern, listed: Sequence[Parsed], reused: Sequence[int] = ()
) -> tuple[tuple[Operand, ...], tuple[int, ...]]:
    """The destination (a sink without one, a vector of several), then the sources; and which sources, by position among
    them, are those at the ``reused`` positions of the listing.

    Raises ValueError if the operands do not fit the pattern.
    """
    kept = {id(listed[at]) for at in reused}
    results, rest = _taken(pattern.results, list(listed))
    sources, rest = _taken(pattern.sources, _packed(rest, pattern.sources))
    if rest:
        raise ValueError(f"{len(rest)} operands too many")
    destinations = [_result(operand, slot) for operand, slot in results]
    positions = tuple(at for at, (operand, _) in enumerate(sources) if id(operand) in kept)
    return (_destination(destinations), *(_source(operand, slot) for operand, slot in sources)), positions


def wide_addresses(modifiers: Sequence[str], operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """With ``.E``, an address is a pair of registers; some opcodes omit the ``.64`` of it in a listing.  A base beside
    a uniform register says what it is, and the uniform register is a pair."""
    return tuple(_wide_address(o) if isinstance(o, Address) else o for o in operands) if "E" in modifiers else operands


def _wide_address(address: Address) -> Address:
    if address.uniform:
        return replace(address, uniform=replace(address.uniform, type=TYPES["b64"]))
    wide = replace(address.base, type=TYPES["b64"]) if isinstance(address.base, Register) else address.base
    return replace(address, base=wide)


def with_signs(modifiers: Sequence[str], operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """With ``.XORSIGN``, the listing marks sources as absolute values, but their signs make that of the result."""
    if "XORSIGN" not in modifiers:
        return operands
    return tuple(replace(o, absolute=False) if isinstance(o, ModifiedOperand) else o for o in operands)


def _taken(slots: Sequence[OperandSlot], listed: list[Parsed]) -> tuple[Taken, list[Parsed]]:
    """Operands with their slots, and what is left."""
    taken: Taken = []
    for slot in slots:
        if slot.default is not None and not (listed and _is_predicate(listed[0]) == slot.is_predicate):
            taken.append((slot.default, slot))
        elif listed:
            taken.append((listed.pop(0), slot))
        else:
            raise ValueError("too few operands")
    return taken, listed


def _is_predicate(operand: Parsed) -> bool:
    if isinstance(operand, Text):
        return operand.word in TRUTH
    return isinstance(operand, Not) or (isinstance(operand, Register) and operand.is_predicate)


def _packed(listed: list[Parsed], slots: Sequence[OperandSlot]) -> list[Parsed]:
    """Two constants in place of a pair of halves, upper one first, as one."""
    kind = slots[0].kind if slots else None
    halves = isinstance(kind, Type) and kind.name in HALVES
    for place, (one, two) in enumerate(pairwise(listed)):
        if halves and (nan := next((o for o in (one, two) if isinstance(o, Nan)), None)):
            return [*listed[:place], Immediate(nan.bits), *listed[place + 2 :]]
        if halves and _is_number(one) and _is_number(two):
            is_brain = kind == TYPES["bf16x2"]
            upper, lower = (_float_bits(o, "f") >> 16 if is_brain else _float_bits(o, "e") for o in (one, two))
            return [*listed[:place], Immediate(upper << 16 | lower), *listed[place + 2 :]]
    return listed


def _is_number(operand: Parsed) -> bool:
    return isinstance(operand, Immediate) and operand.form == "f64"


def _destination(results: Sequence[Operand]) -> Operand:
    if not results:
        return Sink()
    return results[0] if len(results) == 1 else Vector(tuple(results))


def _result(operand: Parsed, slot: OperandSlot) -> Operand:
    if isinstance(operand, Register) and isinstance(slot.kind, Type):
        return _wide(operand, slot.kind)
    if operand in (ZERO, slot.default, TRUE):
        return NOWHERE
    if operand in (Text("PR"), Text("UPR")):
        return Special(operand.word)
    raise ValueError(f"'{operand}' is no destination")


def _source(operand: Parsed, slot: OperandSlot) -> Operand:
    if isinstance(operand, (Register, ConstantBank)) and isinstance(slot.kind, Type):
        return _wide(operand, slot.kind)
    if isinstance(operand, Text):
        return TRUTH.get(operand.word) or Special(operand.word)
    if isinstance(operand, Nan):
        return _nan(operand, slot.kind)
    if not isinstance(slot.kind, Type):
        return operand
    if isinstance(operand, ModifiedOperand):
        return _modified(operand, slot.kind)
    return _constant(operand, slot.kind) if isinstance(operand, Immediate) else operand


def _wide(operand: Register | ConstantBank, type_: Type) -> Register | ConstantBank:
    """A register or word of a bank in the width of its slot, untyped."""
    untyped = UNTYPED[max(32, type_.bits)]
    if operand.type is untyped:
        return operand
    if isinstance(operand, ConstantBank):
        return replace(operand, type=untyped)
    return operand if operand.is_predicate else Register(operand.name, untyped, operand.index)


def _modified(operand: ModifiedOperand, type_: Type) -> Operand:
    inner = operand.operand
    if not isinstance(inner, Immediate):
        return replace(operand, operand=_wide(inner, type_))
    if type_.name in SIGN_BITS:
        bits = SIGN_BITS[type_.name] if operand.negated else 0
        return Immediate(bits, "int" if type_.lanes > 1 else type_.name)
    return Immediate(-1 if operand.inverted else 0)


def _constant(operand: Immediate, type_: Type) -> Operand:
    """A number with a fraction as the bits of the slot's type, the upper word of a double for a word; an encoded one as
    it is."""
    if operand.form != "f64" or type_.name == "f64":
        return operand
    if type_.name == "b32":
        return Immediate(operand.value >> 32)
    if type_.name == "f32":
        return Immediate(_float_bits(operand, "f"), "f32")
    raise ValueError(f"'{operand.as_float}' where {type_} is expected")


def _nan(operand: Nan, kind: Type | str) -> Immediate:
    """Bits as they are; in double precision they are the upper word."""
    name = kind.name if isinstance(kind, Type) else ""
    if name == "f64":
        return Immediate(operand.bits << 32, name)
    return Immediate(operand.bits, "f32" if name == "f32" else "int")


def _float_bits(operand: Parsed, code: str) -> int:
    """The bits of a constant rounded to a narrower format."""
    assert isinstance(operand, Immediate)
    return int.from_bytes(struct.pack(f"<{code}", operand.as_float), "little")
