"""Results of an H100 that differ from the executor's, and why (driver 580.159.04, its compiler of CUDA 13.0).

Some are NaNs, whose bits PTX leaves open or which the executor makes canonical.  Others contradict the manual or lie
outside of it: the compiler of the driver replaces scalar video instructions and some 16-bit ones by others.  The
executor keeps to the manual.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.reference.matrix import Instruction
from tests.reference.number import FORMATS, mask

MOVES = frozenset("mov selp slct copysign shfl prmt".split())
"""They keep the bits of a NaN."""


def differ_in_nan_only(opcode: str, name: str, x: int, y: int) -> bool:
    """Whether two results of the type ``name`` are the same but for the bits of NaNs, which are arithmetic's."""
    if opcode in MOVES:
        return False
    element = name.removesuffix("x2")
    kind = FORMATS.get("f32" if element == "tf32" else element)
    if kind is None:
        return False
    width = kind.bits if name.endswith("x2") else 64
    for at in range(0, 64, width):
        a, b = x >> at & mask(width), y >> at & mask(width)
        if a != b and not (kind.is_nan(a) and kind.is_nan(b)):
            return False
    return True


@dataclass(frozen=True)
class Deviation:
    """Forms that an H100 computes otherwise, on operands for which the condition holds."""

    pattern: str
    reason: str
    condition: Callable[[Sequence[int]], bool] = lambda operands: True

    def explains(self, form: Instruction, operands: Sequence[int]) -> bool:
        return bool(re.fullmatch(self.pattern, str(form))) and self.condition(operands)


_SCALAR = r"v(add|sub|absdiff|min|max|shl|shr|set)\.\S*"
DEVIATIONS = (
    Deviation(
        rf"{_SCALAR}\.(min|max) .*", "a video minimum or maximum takes 32 bits of the result, and c as signed"
    ),
    Deviation(rf"{_SCALAR} 3 h1 .*", "a video result for the upper half is not shifted there"),
    Deviation(
        r"v(add|sub|absdiff|min|max|shr)\.\S*\.sat\S* .*",
        "a saturated video result has 32 bits, or is clamped to a byte or half in another way",
    ),
    Deviation(r"vshl\.\S*\.sat\S* 3 b\d .*", "a saturated video shift is clamped to a byte in another way"),
    Deviation(r"vmad\.\S*\.(sat|shr\d+)\S* .*", "the product of vmad is signed if the result saturates or is shifted"),
    Deviation(
        r"(bfe\.[us]64|bfi\.b64) .*",
        "positions and lengths over 255, which PTX excludes, are not cut to 8 bits",
        lambda operands: max(operands[-2:]) > 255,
    ),
    Deviation(
        r"rem\.[us](16|32|64) 2",
        "the remainder by zero, which PTX leaves open, is all ones, not the dividend",
        lambda operands: operands[-1] == 0,
    ),
    Deviation(r"madc\.hi\.[us]16 3", "not in the manual: the high half is that of 64 bits, not of 32"),
    Deviation(r"fma\.rz\S*\.bf16(x2)? 3", "not in the manual: does not round toward zero"),
    Deviation(r"mul\S*\.ftz\S*\.f16(x2)? 2", "a product that is subnormal before rounding is flushed, but not in fma"),
    Deviation(r"cvt\.r[mp]\.ftz\S*\.f16\.f32 1", "a subnormal f32 is not flushed before rounding away from zero"),
)  # fmt: skip


def reason(form: Instruction, operands: Sequence[int]) -> str:
    """Why an H100 has another result; empty if that is not known."""
    return next((one.reason for one in DEVIATIONS if one.explains(form, operands)), "")
