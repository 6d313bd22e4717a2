"""Forms multiply-adds: integer ones always, floating-point ones where PTX allows contraction.

PTX allows ``mul`` and ``add`` without a rounding modifier to be contracted to ``fma.rn`` (PTX ISA, "Floating Point
Instructions: add, mul"), but not with an explicit ``.rn``.  A shift by a constant that feeds an addition is a
multiply-add too (LEA on the machine); a widened, shifted index is a wide multiplication.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from warpreg.analysis.definitions import single_definitions
from warpreg.analysis.loops import loops
from warpreg.codegen.passes.base import Definition, Tracker, rewrite
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Operand, Register

INTEGER_ADDS = frozenset({("s32",), ("u32",), ("s64",), ("u64",)})
FLOAT_MODIFIERS = frozenset({("f32",), ("ftz", "f32"), ("f64",)})
WIDENINGS: dict[tuple[str, ...], tuple[str, str]] = {("s64", "s32"): ("wide", "s32"), ("u64", "u32"): ("wide", "u32")}


@dataclass(frozen=True)
class FuseMultiplyAdd:
    """Merge a product into an addition of the same loop, its only reader; ``contract``: floating-point too.

    A wide product that several additions read, such as an index into several arrays, is merged into each of them.
    """

    contract: bool = True

    def run(self, kernel: Kernel) -> Kernel:
        return rewrite(kernel, _Fusion(kernel, self.contract))


class _Fusion:
    def __init__(self, kernel: Kernel, contract: bool) -> None:
        self.tracker = Tracker(single_definitions(kernel))
        self.contract = contract
        self.added = Counter(r.name for i in kernel.instructions() if _is_wide_add(i) for r in i.used)
        self.loop_of = loops(kernel).innermost
        self.block = 0

    def enter(self, block: int) -> None:
        self.block = block
        self.tracker.enter(block)

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        if instruction.opcode == "add" and instruction.guard is None:
            instruction = self._fused(instruction)
        elif instruction.opcode == "shl" and instruction.guard is None:
            instruction = self._widened(instruction)
        self.tracker.add(instruction)
        return (instruction,)

    def _fused(self, add: Instruction) -> Instruction:
        target, *terms = add.operands
        for product, addend in (terms, terms[::-1]):
            definition = self._absorbed(product)
            if definition is None or isinstance(addend, Immediate):
                continue
            form = self._multiply_add(definition.instruction, add.modifiers)
            if form and all(self.tracker.holds(o, definition) for o in form[1]):
                return replace(add, opcode=form[0][0], modifiers=form[0][1:], operands=(target, *form[1], addend))
        return add

    def _absorbed(self, product: Operand) -> Definition | None:
        """The definition of a product without other readers, in the same loop as the addition."""
        definition = self.tracker.definition(product)
        if definition is None or not isinstance(product, Register):
            return None
        if self.loop_of[definition.block] != self.loop_of[self.block]:
            return None
        is_wide = definition.instruction.opcode == "mul" and "wide" in definition.instruction.modifiers
        readers = self.added[product.name] if is_wide else 1
        return definition if self.tracker.single.reads[product.name] == readers else None

    def _multiply_add(
        self, product: Instruction, add: tuple[str, ...]
    ) -> tuple[tuple[str, ...], tuple[Operand, ...]] | None:
        """Opcode with modifiers, and factors, of the multiply-add of ``product`` and an addition of type ``add``."""
        if product.opcode == "mul" and product.modifiers == add and add in FLOAT_MODIFIERS and self.contract:
            return ("fma", "rn", *add), product.sources
        if add not in INTEGER_ADDS or not product.types:
            return None
        width, kind = int(add[-1][1:]), product.types[-1]
        if product.opcode == "mul" and product.modifiers[0] == "lo" and kind.bits == width:
            return ("mad", *product.modifiers), product.sources
        if product.opcode == "mul" and product.modifiers[0] == "wide" and 2 * kind.bits == width == 64:
            return ("mad", *product.modifiers), product.sources
        if product.opcode == "shl" and kind.bits == width:
            factor = _power(product.sources[1])
            return (("mad", "lo", f"s{width}"), (product.sources[0], factor)) if factor else None
        return None

    def _widened(self, shift: Instruction) -> Instruction:
        factor = _power(shift.operands[2])
        definition = self.tracker.definition(shift.operands[1])
        if factor is None or definition is None or shift.modifiers != ("b64",):
            return shift
        convert = definition.instruction
        modifiers = WIDENINGS.get(convert.modifiers) if convert.opcode == "cvt" else None
        if modifiers is None or not self.tracker.holds(convert.operands[1], definition):
            return shift
        narrow = convert.operands[1]
        if not isinstance(narrow, Register) or narrow.type.bits != 32:
            return shift
        return replace(shift, opcode="mul", modifiers=modifiers, operands=(shift.operands[0], narrow, factor))


def _is_wide_add(instruction: Instruction) -> bool:
    return instruction.opcode == "add" and instruction.modifiers in (("s64",), ("u64",)) and instruction.guard is None


def _power(count: Operand) -> Immediate | None:
    """Two to the power of a constant shift count below 31."""
    if isinstance(count, Immediate) and count.form == "int" and 0 <= count.value < 31:
        return Immediate(1 << count.value)
    return None
