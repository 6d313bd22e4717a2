"""The pass that replaces every division of a kernel by a sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from warpreg.codegen.passes.base import with_blocks
from warpreg.codegen.passes.divide import floating, integer
from warpreg.codegen.passes.divide.sequence import Sequence
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register
from warpreg.ir.types import TYPES

FORMS = {"f32": floating.SINGLE, "f64": floating.DOUBLE}
ROUNDED = frozenset({("rn", "f32"), ("rn", "ftz", "f32"), ("rn", "f64")})
INTEGERS = frozenset({("u32",), ("s32",), ("u64",), ("s64",)})


@dataclass(frozen=True)
class ExpandDivision:
    """Expand ``div``, ``rem``, ``rcp.rn``, ``sqrt.rn`` of 32 and 64 bits; other widths and roundings are kept."""

    def run(self, kernel: Kernel) -> Kernel:
        count = 0
        bodies: dict[int, list[Instruction]] = {}
        for block in kernel.blocks:
            if not any(_is_expanded(i) for i in block.instructions):
                continue
            body = bodies[block.index] = []
            for instruction in block.instructions:
                if _is_expanded(instruction):
                    body.extend(expanded(instruction, f"%divide{count}$"))
                    count += 1
                else:
                    body.append(instruction)
        return with_blocks(kernel, bodies) if bodies else kernel


def _is_expanded(instruction: Instruction) -> bool:
    if instruction.opcode in ("div", "rem") and instruction.modifiers in INTEGERS:
        return True
    return instruction.opcode in ("div", "rcp", "sqrt") and instruction.modifiers in ROUNDED


def expanded(instruction: Instruction, prefix: str) -> Iterable[Instruction]:
    """The sequence of one instruction; new registers' names begin with ``prefix``."""
    seq = Sequence(replace(instruction, guard=None), prefix)
    target = instruction.operands[0]
    kind = instruction.types[-1]
    if kind.is_float:
        form = FORMS[kind.name]
        operands = tuple(seq.in_register(o, kind) for o in instruction.sources)
        result, slow = _floating(seq, instruction, form, operands)
        seq.add(instruction.full_opcode, result, *operands, guard=Guard(slow))
    else:
        a, b = (seq.in_register(o, TYPES[f"b{kind.bits}"]) for o in instruction.sources)
        remainder = instruction.opcode == "rem"
        result = integer.divide(seq, a, b, kind.bits, signed=kind.is_signed, remainder=remainder)
    seq.add(f"mov.b{kind.bits}", target, result, guard=instruction.guard)
    return seq.instructions


def _floating(
    seq: Sequence, instruction: Instruction, form: floating.Format, operands: tuple[Register, ...]
) -> tuple[Register, Register]:
    if instruction.opcode == "div":
        known = floating.is_in_range(form, instruction.sources[0])
        return floating.divide(seq, form, operands[0], operands[1], known)
    sequence: Callable[..., tuple[Register, Register]]
    sequence = floating.reciprocal if instruction.opcode == "rcp" else floating.square_root
    return sequence(seq, form, operands[0])
