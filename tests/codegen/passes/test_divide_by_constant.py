"""Division by constants: the exact quotient and remainder for every divisor, and the number of instructions."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.codegen.texts import after

from warpreg import ptx
from warpreg.codegen import build_kernel
from warpreg.codegen.passes.divide_by_constant import DivideByConstants
from warpreg.simt import Device

EDGES = (0, 1, 2, 3, 6, 7, 9, 10, 0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF)
SOURCE = random.Random(7)
VALUES = (*EDGES, *(SOURCE.getrandbits(32) for _ in range(64 - len(EDGES))))
DIVISORS = (
    *EDGES[1:],
    5,
    12,
    641,
    65535,
    65537,
    1000000007,
    *(SOURCE.getrandbits(SOURCE.randint(2, 32)) | 1 for _ in range(9)),
)


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def expected(opcode: str, kind: str, value: int, divisor: int) -> int:
    """PTX's quotient, toward zero, or remainder, with the dividend's sign."""
    if kind == "s32":
        value, divisor = signed(value), signed(divisor)
    quotient = abs(value) // abs(divisor) * (-1 if (value < 0) != (divisor < 0) else 1)
    return (quotient if opcode == "div" else value - quotient * divisor) & 0xFFFFFFFF


@pytest.mark.parametrize("kind", ["u32", "s32"])
def test_every_quotient_and_remainder_is_exact(kind: str) -> None:
    lines = []
    for place, (opcode, divisor) in enumerate((o, d) for o in ("div", "rem") for d in DIVISORS):
        lines.append(f"{opcode}.{kind} %r2, %r1, {signed(divisor)}; st.global.u32 [%rd3+{256 * place}], %r2;")
    text = f""".version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .b32 %r<3>; .reg .b64 %rd<5>;
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
mad.wide.u32 %rd3, %r1, 4, %rd2; mad.wide.u32 %rd4, %r1, 4, %rd1; ld.global.u32 %r1, [%rd4];
{chr(10).join(lines)} ret; }}
"""
    module = ptx.parse(text)
    program = DivideByConstants().run(build_kernel(module, "k"))
    assert not any(i.opcode in ("div", "rem") for i in program.instructions())
    device = Device(module, None)
    device.install(program)
    out = device.zeros((2, len(DIVISORS), 64), np.uint32)
    device.launch("k", 1, 64, device.upload(np.array(VALUES, np.uint32)), out)
    wanted = [[[expected(o, kind, v, d) for v in VALUES] for d in DIVISORS] for o in ("div", "rem")]
    assert out.download().tolist() == wanted


@pytest.mark.parametrize(
    ("division", "steps"),
    [
        ("div.u32 %r1, %r2, 16;", ["shr.u32 %r1, %r2, 4"]),
        ("rem.u32 %r1, %r2, 16;", ["and.b32 %r1, %r2, 15"]),
        ("div.s32 %r1, %r2, 4;", ["shr.s32", "shr.u32", "add.s32", "shr.s32 %r1"]),
        # 2^32 (2^3 - 7) / 7 + 1 = 613566757, -3 bits to shift back
        (
            "div.u32 %r1, %r2, 7;",
            ["mul.hi.u32 %div1.0, %r2, 613566757", "sub.u32", "shr.u32", "add.u32", "shr.u32 %r1"],
        ),
        ("rem.s32 %r1, %r2, 10;", ["shr.s32", "mul.hi.s32", "add.s32", "shr.s32", "sub.s32", "mad.lo.s32 %r1"]),
    ],
)
def test_the_steps(division: str, steps: list[str]) -> None:
    found = after(DivideByConstants(), division + "st.shared.u32 [%r7], %r1; ret;").splitlines()[:-2]
    assert len(found) == len(steps)
    assert all(line.startswith(step) for line, step in zip(found, steps, strict=True))


@pytest.mark.parametrize(
    "kept", ["div.u32 %r1, %r2, 0;", "div.u64 %rd1, %rd2, 3;", "@%p1 rem.s32 %r1, %r2, 3;", "div.s32 %r1, %r2, %r3;"]
)
def test_what_stays_a_division(kept: str) -> None:
    assert after(DivideByConstants(), kept + "ret;").splitlines()[0] == kept.rstrip(";")
