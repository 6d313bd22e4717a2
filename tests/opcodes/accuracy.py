"""Errors of the approximate instructions: ``python -m tests.opcodes.accuracy [COUNT]``.

Prints the table of ``docs/reference/accuracy.md``.  Every instruction runs natively on COUNT arguments from the range
for which PTX bounds its error (all 65,536 for 16-bit formats), and is compared with NumPy's function in double
precision, whose own error of 2**-52 is neglected.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.simt import Device

Doubles = NDArray[np.float64]
TWO_PI, HUNDRED_PI = 2 * np.pi, 100 * np.pi
HALF_COUNT = 1 << 16


@dataclass(frozen=True)
class Approximation:
    """``error`` is relative, absolute or ulp (units in the last place of the result); ``bound`` is PTX's, or None."""

    opcode: str
    domain: str
    error: str
    bound: str | None
    draw: Callable[[np.random.Generator, int], Sequence[Doubles]]
    function: Callable[..., Doubles]

    @property
    def type(self) -> str:
        return self.opcode.rsplit(".", 1)[1]

    @property
    def limit(self) -> float:
        """The bound as a number."""
        text = self.bound or "inf"
        return 2.0 ** float(text[2:]) if text.startswith("2^") else float(text)


def uniform(low: float, high: float) -> Callable[[np.random.Generator, int], Sequence[Doubles]]:
    return lambda source, count: [source.uniform(low, high, count)]


def powers(low: float, high: float, operands: int = 1) -> Callable[[np.random.Generator, int], Sequence[Doubles]]:
    """Positive numbers of all magnitudes."""
    return lambda source, count: [np.exp2(source.uniform(low, high, count)) for _ in range(operands)]


def around(low: float, high: float) -> Callable[[np.random.Generator, int], Sequence[Doubles]]:
    """Numbers of both signs and all magnitudes."""
    return lambda source, count: [np.exp2(source.uniform(low, high, count)) * source.choice((-1.0, 1.0), count)]


def outside(low: float, high: float) -> Callable[[np.random.Generator, int], Sequence[Doubles]]:
    """Positive numbers of all magnitudes that are not between the two."""

    def draw(source: np.random.Generator, count: int) -> Sequence[Doubles]:
        values = np.exp2(source.uniform(-149, 127.9, count))
        return [np.where((values > low) & (values < high), values * high / low, values)]

    return draw


def every_half(source: np.random.Generator, count: int) -> Sequence[Doubles]:
    return [np.arange(count, dtype=np.float64)]


def precise_root(x: Doubles) -> Any:
    """More digits than a double's, where the host has them."""
    return 1 / np.sqrt(x.astype(np.longdouble))


TABLE = (
    Approximation("div.approx.f32", "both from 2^-60 to 2^60", "ulp", "2", powers(-60, 60, 2), np.divide),
    Approximation("div.full.f32", "both from 2^-60 to 2^60", "ulp", "2", powers(-60, 60, 2), np.divide),
    Approximation("rcp.approx.f32", "normal, with normal result", "ulp", "1", around(-126, 126), np.reciprocal),
    Approximation("sqrt.approx.f32", "positive", "relative", "2^-23", powers(-149, 127.9), np.sqrt),
    Approximation("rsqrt.approx.f32", "positive", "relative", "2^-22.9", powers(-149, 127.9), lambda x: 1 / np.sqrt(x)),
    Approximation("ex2.approx.f32", "with normal result", "ulp", "2", uniform(-125.9, 127.9), np.exp2),
    Approximation("ex2.approx.ftz.f32", "with normal result", "ulp", "2", uniform(-125.9, 127.9), np.exp2),
    Approximation("lg2.approx.f32", "from 0.5 to 2", "absolute", "2^-22", uniform(0.5, 2), np.log2),
    Approximation("lg2.approx.f32", "below 0.5, above 2", "relative", "2^-22", outside(0.5, 2), np.log2),
    Approximation("sin.approx.f32", "±2π", "absolute", "2^-20.5", uniform(-TWO_PI, TWO_PI), np.sin),
    Approximation("sin.approx.f32", "±100π", "absolute", "2^-14.7", uniform(-HUNDRED_PI, HUNDRED_PI), np.sin),
    Approximation("cos.approx.f32", "±2π", "absolute", "2^-20.5", uniform(-TWO_PI, TWO_PI), np.cos),
    Approximation("cos.approx.f32", "±100π", "absolute", "2^-14.7", uniform(-HUNDRED_PI, HUNDRED_PI), np.cos),
    Approximation("tanh.approx.f32", "from 2^-120 to 64", "relative", "2^-11", around(-120, 6), np.tanh),
    Approximation("ex2.approx.f16", "with normal result", "relative", "2^-9.9", every_half, np.exp2),
    Approximation("ex2.approx.ftz.bf16", "with normal result", "relative", "2^-7", every_half, np.exp2),
    Approximation("tanh.approx.f16", "all values", "absolute", "2^-10.987", every_half, np.tanh),
    Approximation("tanh.approx.bf16", "all values", "absolute", "2^-8", every_half, np.tanh),
    Approximation("rcp.approx.ftz.f64", "normal results", "relative", None, around(-1000, 1000), np.reciprocal),
    Approximation("rsqrt.approx.ftz.f64", "normal", "relative", None, powers(-1000, 1000), lambda x: 1 / np.sqrt(x)),
    Approximation("rsqrt.approx.f64", "normal", "relative", None, powers(-1000, 1000), precise_root),
)
LETTERS = {"f32": "u32", "f64": "u64", "f16": "u16", "bf16": "u16"}


def kernel() -> str:
    """One entry for each row of the table: ``out[i] = op(a[i], b[i])``."""
    text = ".version 8.6\n.target sm_90\n.address_size 64\n"
    for row, entry in enumerate(TABLE):
        bits = LETTERS[entry.type][1:]
        second = ", %b" if entry.opcode.startswith("div") else ""
        text += f"""
.visible .entry row{row}(.param .u64 x, .param .u64 y, .param .u64 z)
{{
    .reg .b{bits} %a, %b, %d;
    .reg .u64 %rd<5>;
    .reg .u32 %r<4>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [z];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r1, 256, %r2;
    mul.wide.u32 %rd4, %r3, {int(bits) // 8};
    add.u64 %rd1, %rd1, %rd4; add.u64 %rd2, %rd2, %rd4; add.u64 %rd3, %rd3, %rd4;
    ld.global.b{bits} %a, [%rd1]; ld.global.b{bits} %b, [%rd2];
    {entry.opcode} %d, %a{second};
    st.global.b{bits} [%rd3], %d;
    ret;
}}
"""
    return text


def encoded(values: Doubles, type_: str) -> NDArray[Any]:
    """The patterns of numbers in a format; 16-bit numbers are given as patterns."""
    if type_ in ("f16", "bf16"):
        return values.astype(np.uint16)
    return values.astype(np.float32 if type_ == "f32" else np.float64).view(np.uint32 if type_ == "f32" else np.uint64)


def decoded(patterns: NDArray[Any], type_: str) -> Doubles:
    if type_ == "bf16":
        patterns, type_ = patterns.astype(np.uint32) << 16, "f32"
    with np.errstate(invalid="ignore"):
        return patterns.view({"f16": np.float16, "f32": np.float32, "f64": np.float64}[type_]).astype(np.float64)


def worst(device: Device, row: int, count: int) -> tuple[float, float]:
    """The largest error over ``count`` arguments (a multiple of 256), and the first operand at which it occurs."""
    entry = TABLE[row]
    count = HALF_COUNT if entry.type in ("f16", "bf16") else count
    columns = [encoded(c, entry.type) for c in entry.draw(np.random.default_rng(row), count)]
    out = device.zeros(count, columns[0].dtype)
    device.launch(f"row{row}", count // 256, 256, device.upload(columns[0]), device.upload(columns[-1]), out)
    operands = [decoded(c, entry.type) for c in columns]
    with np.errstate(all="ignore"):
        exact, found = entry.function(*operands), decoded(out.download(), entry.type)
        error = np.abs(found - exact)
        smallest = {"f16": 2.0**-14, "bf16": 2.0**-126}.get(entry.type, 0.0)
        largest = {"f16": 65504.0, "bf16": 3.38e38}.get(entry.type, np.inf)
        counts = np.isfinite(exact) & (np.abs(exact) <= largest)
        if entry.error == "relative":
            counts &= (np.abs(exact) >= smallest) & (exact != 0)
            error = error / np.abs(exact)
        elif entry.error == "ulp":
            error = error / np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    error = np.where(counts, error, 0.0)
    at = int(np.argmax(error))
    return float(error[at]), float(operands[0][at])


def shown(error: float, kind: str) -> str:
    return f"{error:.3f}" if kind == "ulp" else f"2^{np.log2(error):.2f}"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 20
    device = Device(kernel())
    print("| instruction | arguments | error | PTX's bound | measured | at |\n|---|---|---|---|---|---|")
    for row, entry in enumerate(TABLE):
        error, at = worst(device, row, count)
        found = shown(error, entry.error)
        print(f"| `{entry.opcode}` | {entry.domain} | {entry.error} | {entry.bound or 'none'} | {found} | {at:.9g} |")


if __name__ == "__main__":
    main()
