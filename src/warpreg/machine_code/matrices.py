"""Matrix instructions of machine code as ``mma`` and ``movmatrix`` of PTX, whose fragments lie in the same registers.

Found with PTX of known meaning: ``mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`` is one
``HMMA.16816.F32 R12, R4, R8, R12``, where D, A, B and C begin at these registers, in the order of PTX.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpreg.ir.operands import Immediate, ModifiedOperand, Operand, Register, Sink, Vector
from warpreg.ir.tensor import product_of
from warpreg.ir.types import B32, B64, Type
from warpreg.machine_code.operands import ZERO, Parsed

OPCODES = frozenset({"HMMA", "IMMA", "BMMA", "DMMA", "MOVM"})
TRANSPOSED = ("16", "MT88")
SHAPES = {
    "884": "m8n8k4", "8x8x4": "m8n8k4", "16x8x4": "m16n8k4", "16x8x8": "m16n8k8", "16x8x16": "m16n8k16",
    "1684": "m16n8k4", "1688": "m16n8k8", "16816": "m16n8k16", "16832": "m16n8k32", "16864": "m16n8k64",
    "8816": "m8n8k16", "8832": "m8n8k32", "88128": "m8n8k128", "168128": "m16n8k128", "168256": "m16n8k256",
}  # fmt: skip
WIDE = B64, 2
NARROW = B32, 1
"""The type of a register, and words from one to the next."""


def as_ptx(
    opcode: str, modifiers: Sequence[str], listed: Sequence[Parsed]
) -> tuple[str, tuple[str, ...], tuple[Operand, ...]]:
    """Opcode, modifiers and operands in PTX.  Raises ValueError for a form that is not known."""
    if opcode == "MOVM":
        if (*modifiers,) != TRANSPOSED or len(listed) != 2:
            raise ValueError("no known matrix instruction")
        registers = (_register(one, 0, B32, place == 0) for place, one in enumerate(listed))
        return "movmatrix", ("sync", "aligned", "m8n8", "trans", "b16"), tuple(registers)
    shape, *rest = modifiers or ("",)
    if shape not in SHAPES or len(listed) != 4:
        raise ValueError("no known matrix instruction")
    types, more, after = _types(opcode, rest)
    form = ("sync", "aligned", SHAPES[shape], "row", "col", *more, *types, *after)
    product = product_of("mma", form)
    type_, step = WIDE if opcode == "DMMA" else NARROW
    vectors = [
        Vector(tuple(_register(one, step * n, type_, matrix == "d") for n in range(product.fragment(matrix).registers)))
        for one, matrix in zip(listed, "dabc", strict=True)
    ]
    return "mma", form, tuple(vectors)


def _types(opcode: str, rest: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Types of D, A, B and C, what stands before them, and what after.  Raises ValueError."""
    words = [one.lower() for one in rest]
    if opcode == "DMMA" and set(words) <= {"rm", "rp", "rz"}:
        return ("f64",) * 4, tuple(words), ()
    if opcode == "HMMA" and words[:1] in (["f16"], ["f32"]) and words[1:] in ([], ["bf16"], ["tf32"]):
        factor = words[1] if words[1:] else "f16"
        return (words[0], factor, factor, words[0]), (), ()
    if opcode == "BMMA" and words[1:] == ["popc"]:
        return ("s32", "b1", "b1", "s32"), (), (words[0], "popc")
    if opcode == "IMMA" and len(words) >= 2 and words[2:] in ([], ["sat"]):
        return ("s32", words[0], words[1], "s32"), ("satfinite",) if words[2:] else (), ()
    raise ValueError(f"no known matrix instruction ({'.'.join(rest)})")


def _register(operand: Parsed, further: int, type_: Type, is_result: bool) -> Operand:
    """The register that many words after the first one; ``R0.ROW`` says again what ``mma`` says."""
    inner = operand.operand if isinstance(operand, ModifiedOperand) and operand.part in ("ROW", "COL") else operand
    if isinstance(inner, Register):
        index = inner.index + further
        return Register(f"R{index}", type_, index)
    if inner == ZERO:
        return Sink() if is_result else Immediate(0)
    raise ValueError(f"'{operand}' is no register")
