"""``select`` between vectors, with a workaround for a defect of LLVM on AVX-512.

LLVM up to 22 (llvm-project issue 157929, fixed by pull request 209782) may fold a select between a bitwise operation
and one of its operands into a masked ``vpternlog`` with a wrong truth table.  An arithmetic fence, which costs no
instruction, prevents the folding.
"""

from __future__ import annotations

from typing import Any

from warpreg.simt.llvm import text as ir

BITWISE = ("and", "or", "xor")
FLOATS = {32: ir.FloatType(), 64: ir.DoubleType()}


def select(builder: Any, condition: Any, first: Any, second: Any) -> Any:
    """``builder.select``, safe for vectors of any width."""
    return builder.select(condition, _safe(builder, first), _safe(builder, second))


def _safe(builder: Any, value: Any) -> Any:
    is_bitwise = isinstance(value, ir.Instruction) and value.opname in BITWISE
    return fenced(builder, value) if is_bitwise and isinstance(value.type, ir.VectorType) else value


def fenced(builder: Any, value: Any) -> Any:
    """A vector of 32-bit or 64-bit integers behind an arithmetic fence; any other as it is."""
    width = getattr(value.type.element, "width", 0)
    if width not in FLOATS:
        return value
    numbers = ir.VectorType(FLOATS[width], value.type.count)
    name = f"llvm.arithmetic.fence.v{value.type.count}f{width}"
    known = builder.module.globals.get(name)
    fence = known or ir.Function(builder.module, ir.FunctionType(numbers, [numbers]), name)
    return builder.bitcast(builder.call(fence, [builder.bitcast(value, numbers)]), value.type)
