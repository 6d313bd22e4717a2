"""Stochastic rounding, powers of two and packed integers on numbers worked out by hand."""

from __future__ import annotations

import pytest
from tests.opcodes.bench import LANES, Case, run

from warpreg.ir.operands import Immediate

ONE, TWO, INFINITY, NAN = 0x3F800000, 0x40000000, 0x7F800000, 0x7FC00000


def result(opcode: str, *sources: int) -> int:
    case = Case(opcode, [[value] * LANES for value in sources])
    run([case])
    return case.outcome[0][0]


@pytest.mark.parametrize(
    ("opcode", "sources", "expected"),
    [
        # 0x3F808001 lies 0x8001 of 0x10000 between 0x3F80 and 0x3F81: 0x7FFF more make a whole step.
        ("cvt.rs.bf16x2.f32", (0x3F808001, 0x3F808001, 0x7FFE7FFF), 0x3F803F81),
        ("cvt.rs.satfinite.bf16x2.f32", (INFINITY, 0xFF800000, 0), 0x7F7FFF7F),
        ("cvt.rs.bf16x2.f32", (INFINITY, 0x7F7FFFFF, 0xFFFF), 0x7F807F80),
        ("cvt.rs.relu.bf16x2.f32", (0xBF800000, NAN, 0), 0x00007FFF),
        # One more than 1 by 2**-11, half of f16's step: 13 random bits decide, the three above them do not count.
        ("cvt.rs.f16x2.f32", (0x3F801000, 0x3F801000, 0xEFFF1000), 0x3C003C01),
        # 1.0625 is half a step of e4m3 above 1; the first takes 0x8000 reversed, which is 1 and too little.
        ("cvt.rs.satfinite.e4m3x4.f32", (0x3F880000, 0x3F880000, ONE, ONE, 0x80008000), 0x38393838),
        ("cvt.rs.satfinite.e4m3x4.f32", (0x3F880000, 0x3F880000, ONE, ONE, 0x00010001), 0x39383838),
        # 5 is half way from 4 to 6 of e2m1; chunks are the upper bytes 0x80, 0x00 and the lower 0x00, 0x01.
        ("cvt.rs.satfinite.e2m1x4.f32", (0x40A00000,) * 4 + (0x80000001,), 0x6776),
        ("cvt.rn.satfinite.e2m1x2.f32", (0x40A00000, 0xC0A00000), 0x6E),
        ("cvt.rn.satfinite.e2m1x2.f32", (NAN, 0xFFC00000), 0x77),
        ("cvt.rn.satfinite.e2m3x2.f32", (0x41000000, 0xBE000000), 0x1F21),
        ("cvt.rn.satfinite.e3m2x2.f32", (0x41E00000, ONE), 0x1F0C),
        ("cvt.rn.f16x2.e2m1x2", (0xF1,), 0xC6003800),
        ("cvt.rz.ue8m0x2.f32", (0x3F800001, INFINITY), 0x7FFF),
        ("cvt.rp.satfinite.ue8m0x2.f32", (0xBF800001, 0x7F7FFFFF), 0x80FE),
        ("cvt.rp.satfinite.ue8m0x2.f32", (NAN, 0x00400001), 0xFF01),
        ("cvt.rn.bf16x2.ue8m0x2", (0xFF00,), 0x7FFF0040),
        ("cvt.pack.sat.s16.s32", (0x00012345, 0xFFFFFFFE), 0x7FFFFFFE),
        ("cvt.pack.sat.u8.s32.b32", (300, 0xFFFFFFFF, 0x1234ABCD), 0xABCDFF00),
        ("cvt.pack.sat.s2.s32.b32", (1, 0xFFFFFFF0, 0x5), 0x56),
    ],
)
def test_by_hand(opcode: str, sources: tuple[int, ...], expected: int) -> None:
    assert hex(result(opcode, *sources)) == hex(expected)


OUTSIDE = 0x7FF7


@pytest.mark.parametrize(
    ("opcode", "sources", "expected"),
    [
        ("fma.rn.oob.f16", (OUTSIDE, 0x3C00, 0x4000), 0),
        ("fma.rn.oob.f16", (0x3C00, OUTSIDE, 0x7E00), 0),
        ("fma.rn.oob.f16", (0x3C00, 0x3C00, OUTSIDE), 0x7FFF),
        ("fma.rn.oob.f16", (0x7E00, 0x3C00, 0x4000), 0x7FFF),
        ("fma.rn.oob.bf16", (0x3F80, 0x4000, 0x3F80), 0x4040),
        ("fma.rn.oob.relu.bf16x2", (0x7FF7_3F80, 0xBF80_BF80, 0x3F80_0000), 0),
        # 1 + 2**-9 lies below the middle to the next bf16, 1 + 3 * 2**-9 above it: truncation takes 1 both times.
        ("fma.rz.bf16", (0x3F80, 0x3F80, 0x3B00), 0x3F80),
        ("fma.rz.bf16", (0x3F80, 0x3F80, 0x3BC0), 0x3F80),
        ("fma.rn.bf16", (0x3F80, 0x3F80, 0x3BC0), 0x3F81),
        ("fma.rz.bf16", (0x7F7F, 0x4000, 0x0000), 0x7F7F),
        ("fma.rz.relu.bf16x2", (0xBF80_3F80, 0x3F80_3F80, 0x0000_BBC0), 0x0000_3F7E),
    ],
)
def test_fma_that_knows_what_is_outside_and_truncating_fma(
    opcode: str, sources: tuple[int, ...], expected: int
) -> None:
    assert hex(result(opcode, *sources)) == hex(expected)


def test_carries_of_16_bits_are_read_at_their_width() -> None:
    case = Case("addc.u16", [[0xFFFF] * LANES, Immediate(0)], carry=[lane & 1 for lane in range(LANES)])
    run([case])
    assert case.outcome[0][:2] == [0xFFFF, 0]
