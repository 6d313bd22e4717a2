"""Constant folding: substitute known values, replace computations by moves, remove identities."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from warpreg.analysis.definitions import SingleDefinitions, single_definitions
from warpreg.codegen.lower.address_layout import VARIABLE_BANK
from warpreg.codegen.machine.legality import (
    charged,
    fits,
    is_charged,
    is_constant,
    is_free,
    source_types,
)
from warpreg.codegen.machine.textures import with_handles
from warpreg.codegen.passes.base import rewrite
from warpreg.codegen.passes.copy_propagation import as_move
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import ConstantBank, Immediate, Operand, Register
from warpreg.ir.types import TYPES, U32, Type

INTEGER_MODIFIERS = frozenset({"lo", "wide", *(t for t in TYPES if TYPES[t].is_integer and TYPES[t].lanes == 1)})


@dataclass(frozen=True)
class FoldConstants:
    """Immediates, bank words and launch dimensions become source operands, at most one per instruction.

    If an instruction could take several, those with the fewest readers are first, because their move may become dead.
    """

    def run(self, kernel: Kernel) -> Kernel:
        return rewrite(kernel, _Constants(single_definitions(kernel)))


class _Constants:
    def __init__(self, single: SingleDefinitions) -> None:
        self.single = single
        self.known: dict[str, Operand] = {}

    def enter(self, block: int) -> None:
        del block

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        instruction = as_move(instruction)
        if instruction.opcode == "mov":
            result = self._substitute_move(instruction)
        elif instruction.traits.takes_constant:
            result = self._fold(instruction)
        elif instruction.opcode == "shfl":
            return (self._substitute_lanes(instruction),)
        elif instruction.traits.stores:
            result = self._substitute_zero(instruction)
        elif instruction.traits.is_texture:
            return (with_handles(instruction, self._value),)
        else:
            return (instruction,)
        self._note(result)
        return _apart(result)

    def _value(self, operand: Operand) -> Operand:
        return self.known.get(operand.name, operand) if isinstance(operand, Register) else operand

    def _substitute_move(self, instruction: Instruction) -> Instruction:
        if len(instruction.operands) != 2 or not isinstance(instruction.operands[0], Register):
            return instruction
        value = self._value(instruction.operands[1])
        if value is instruction.operands[1]:
            return instruction
        return _with_sources(instruction, (_written(value, instruction.types[-1]),))

    def _substitute_zero(self, instruction: Instruction) -> Instruction:
        sources = tuple(v if is_free(v := self._value(o)) else o for o in instruction.sources)
        return _with_sources(instruction, sources) if sources != instruction.sources else instruction

    def _substitute_lanes(self, shuffle: Instruction) -> Instruction:
        """Make lane, clamp and member mask of a shuffle immediates."""
        value, *others = shuffle.sources
        known = (v if isinstance(v := self._value(o), Immediate) else o for o in others)
        return _with_sources(shuffle, (value, *known))

    def _fold(self, instruction: Instruction) -> Instruction:
        values = tuple(map(self._value, instruction.sources))
        folded = _evaluated(instruction, values) or _simplified(instruction, values)
        if folded:
            return folded if folded.opcode == "mov" else self._fold(folded)
        changed = [i for i, (a, b) in enumerate(zip(values, instruction.sources, strict=True)) if a is not b]
        if changed:
            instruction = self._substituted(instruction, values, changed)
        return _constants_last(instruction)

    def _substituted(self, instruction: Instruction, values: tuple[Operand, ...], changed: list[int]) -> Instruction:
        types = source_types(instruction)
        if types is None:
            return instruction
        values = tuple(map(_written, values, types))
        sources = list(instruction.sources)
        budget = 1 - charged(instruction)
        for i in sorted(changed, key=lambda i: (not is_free(values[i]), self._readers(instruction.sources[i]))):
            cost = 1 if is_charged(values[i]) and values[i] not in sources else 0
            if fits(values[i], types[i]) and cost <= budget:
                sources[i] = values[i]
                budget -= cost
        return _with_sources(instruction, tuple(sources))

    def _readers(self, operand: Operand) -> int:
        return self.single.reads.get(operand.name, 0) if isinstance(operand, Register) else 0

    def _note(self, instruction: Instruction) -> None:
        if instruction.opcode != "mov" or len(instruction.operands) != 2:
            return
        target, value = instruction.operands
        if isinstance(target, Register) and target.name in self.single and is_constant(value):
            self.known[target.name] = value


def _written(value: Operand, slot: Type) -> Operand:
    """A known value in the type of a slot: in a floating-point slot, the bits of an integer constant."""
    if isinstance(value, Immediate) and value.form == "int" and value.value and slot.is_float:
        return Immediate(value.value & (1 << slot.bits) - 1, f"f{slot.bits}")
    return value


def _with_sources(instruction: Instruction, sources: tuple[Operand, ...]) -> Instruction:
    return replace(instruction, operands=(*instruction.results, *sources))


def _constants_last(instruction: Instruction) -> Instruction:
    if instruction.traits.commutes and len(instruction.sources) >= 2:
        first, second, *rest = instruction.sources
        if is_constant(first) and not is_constant(second):
            return _with_sources(instruction, (second, first, *rest))
    return instruction


def _apart(instruction: Instruction) -> Iterable[Instruction]:
    """Split ``mad.lo d, a, 68, 16``, which has two immediates, into a multiplication and an addition that an address
    may absorb.
    """
    if instruction.opcode != "mad" or "lo" not in instruction.modifiers or not _is_plain(instruction):
        return (instruction,)
    target, a, b, c = instruction.operands
    if not (isinstance(b, Immediate) and isinstance(c, Immediate) and isinstance(target, Register)):
        return (instruction,)
    product = replace(target, name=f"{target.name}.product")
    add = replace(instruction, opcode="add", modifiers=instruction.modifiers[1:], operands=(target, product, c))
    return (replace(instruction, opcode="mul", operands=(product, a, b), guard=None), add)


def _is_plain(instruction: Instruction) -> bool:
    """Whether it is integer arithmetic without carry or saturation."""
    return INTEGER_MODIFIERS.issuperset(instruction.modifiers)


def _moved(instruction: Instruction, value: Operand, kind: Type) -> Instruction:
    modifiers = (f"b{kind.bits}",)
    return replace(instruction, opcode="mov", modifiers=modifiers, operands=(*instruction.results, value))


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


EVALUATE: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "mad": lambda a, b, c: a * b + c,
    "shl": lambda a, b: a << b if 0 <= b < 64 else 0,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: ~a,
    "neg": lambda a: -a,
}


def _evaluated(instruction: Instruction, values: tuple[Operand, ...]) -> Instruction | None:
    """A move of the result if all sources are integers and the opcode is exact modulo its width."""
    operation = EVALUATE.get(instruction.opcode)
    numbers = [v.value for v in values if isinstance(v, Immediate) and v.form == "int"]
    if operation is None or len(numbers) != len(values) or not _is_plain(instruction) or not instruction.types:
        return _narrowed(instruction, values)
    kind = instruction.types[-1]
    if "wide" in instruction.modifiers:
        if kind.bits > 32:
            return None
        numbers[:2] = [_signed(n, kind.bits) if kind.is_signed else n & ((1 << kind.bits) - 1) for n in numbers[:2]]
        kind = TYPES[f"b{2 * kind.bits}"]
    return _moved(instruction, Immediate(_signed(operation(*numbers), kind.bits)), kind)


def _narrowed(instruction: Instruction, values: tuple[Operand, ...]) -> Instruction | None:
    """``cvt.u32.u64`` of a 64-bit bank word reads its low half; the conversion of an integer is a move."""
    if instruction.opcode != "cvt" or len(instruction.modifiers) != 2 or len(instruction.types) != 2:
        return None
    to, kind = instruction.types
    target = instruction.operands[0]
    if not (to.is_integer and kind.is_integer and isinstance(target, Register) and target.type.bits == to.bits):
        return None
    value = values[0]
    if (
        isinstance(value, ConstantBank)
        and value.bank != VARIABLE_BANK
        and value.type.bits == kind.bits == 64
        and to.bits == 32
    ):
        return _moved(instruction, replace(value, type=U32), to)
    if isinstance(value, Immediate) and value.form == "int":
        number = _signed(value.value, kind.bits) if kind.is_signed else value.value & ((1 << kind.bits) - 1)
        return _moved(instruction, Immediate(_signed(number, to.bits)), to)
    return None


def _simplified(instruction: Instruction, values: tuple[Operand, ...]) -> Instruction | None:
    """Identities (``x + 0``, ``x * 1``, ``x << 0``) as moves, ``x - 4`` as ``x + -4``, ``x * y + 0`` as ``x * y``."""
    if not _is_plain(instruction) or not instruction.types or len(values) < 2:
        return None
    opcode, sources, kind = instruction.opcode, instruction.sources, instruction.types[-1]
    last = values[-1]
    number = last.value if isinstance(last, Immediate) and last.form == "int" else None
    if opcode in ("add", "or", "xor", "sub", "shl", "shr") and number == 0:
        return _moved(instruction, sources[0], kind)
    if opcode in ("add", "or", "xor") and is_free(values[0]):
        return _moved(instruction, sources[1], kind)
    if opcode == "mul" and "lo" in instruction.modifiers and number == 1:
        return _moved(instruction, sources[0], kind)
    if opcode == "sub" and number is not None and kind.bits >= 32:
        return _with_sources(replace(instruction, opcode="add"), (sources[0], Immediate(_signed(-number, kind.bits))))
    if opcode == "mad" and number == 0:
        return _with_sources(replace(instruction, opcode="mul"), sources[:2])
    return None
