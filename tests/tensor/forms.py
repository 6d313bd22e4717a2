"""Matrix instructions for the tests: forms, and kernels that load the registers of every lane and store the results."""

from __future__ import annotations

import random

import numpy as np
from tests.reference.interpreter import Reference

from warpreg.codegen import CompileOptions
from warpreg.ir.tensor import MatrixProduct, product_of
from warpreg.simt import Device

HEAD = """.version 8.5
.target sm_90a
.address_size 64
"""
MMA, WMMA = "mma.sync.aligned", "wmma.mma.sync.aligned"

HALF = [
    f"{MMA}.m8n8k4.row.col.f32.f16.f16.f32",
    f"{MMA}.m8n8k4.col.row.f16.f16.f16.f16",
    f"{MMA}.m8n8k4.row.row.f32.f16.f16.f16",
    f"{MMA}.m16n8k8.row.col.f16.f16.f16.f16",
    f"{MMA}.m16n8k16.row.col.f32.f16.f16.f32",
]
OTHERS = [
    f"{MMA}.m16n8k8.row.col.f32.bf16.bf16.f32",
    f"{MMA}.m16n8k4.row.col.f32.tf32.tf32.f32",
    f"{MMA}.m16n8k8.row.col.f32.tf32.tf32.f32",
    f"{MMA}.m16n8k16.row.col.f16.e4m3.e5m2.f16",
    f"{MMA}.m8n8k4.row.col.f64.f64.f64.f64",
    f"{MMA}.m16n8k8.row.col.rp.f64.f64.f64.f64",
    f"{MMA}.m8n8k16.row.col.s32.s8.u8.s32",
    f"{MMA}.m16n8k16.row.col.satfinite.s32.u8.s8.s32",
    f"{MMA}.m8n8k32.row.col.s32.s4.u4.s32",
    f"{MMA}.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
    f"{MMA}.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
]
REST = [
    f"{MMA}.m16n8k8.row.col.f32.f16.f16.f16",
    f"{MMA}.m16n8k16.row.col.f16.f16.f16.f32",
    f"{MMA}.m16n8k16.row.col.f32.bf16.bf16.f32",
    f"{MMA}.m16n8k32.row.col.kind::f8f6f4.f32.e5m2.e4m3.f32",
    f"{MMA}.m16n8k4.row.col.f64.f64.f64.f64",
    f"{MMA}.m16n8k16.row.col.f64.f64.f64.f64",
    f"{MMA}.m16n8k32.row.col.s32.s8.s8.s32",
    f"{MMA}.m16n8k32.row.col.s32.u4.u4.s32",
    f"{MMA}.m16n8k64.row.col.satfinite.s32.s4.s4.s32",
    f"{MMA}.m16n8k128.row.col.s32.b1.b1.s32.xor.popc",
]
ALL = HALF + OTHERS + REST


def product(form: str) -> MatrixProduct:
    opcode, *modifiers = form.split(".")
    return product_of(opcode, tuple(modifiers))


def registers(form: str, matrix: str) -> int:
    return product(form).fragment(matrix).registers


def kernel(forms: list[str]) -> str:
    """PTX of a kernel ``k(in, out)``: for each form a row of registers a lane in, and those of D out."""
    body, at, to = [], 0, 0
    for number, form in enumerate(forms):
        bits = 64 if product(form).d == "f64" else 32
        names = {m: [f"%{m}{number}_{i}" for i in range(registers(form, m))] for m in "dabc"}
        body.append(f".reg .b{bits} {', '.join(n for m in 'dabc' for n in names[m])};")
        for name in (n for m in "abc" for n in names[m]):
            body.append(f"ld.global.b{bits} {name}, [%in+{at}];")
            at += 8
        lists = ", ".join("{" + ", ".join(names[m]) + "}" for m in "dabc")
        body.append(f"{form} {lists};")
        for name in names["d"]:
            body.append(f"st.global.b{bits} [%out+{to}], {name};")
            to += 8
    return (
        f"""{HEAD}
    .visible .entry k(.param .u64 in, .param .u64 out)
    {{
    .reg .b64 %in, %out; .reg .b32 %t;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
    mad.wide.u32 %in, %t, {at}, %in; mad.wide.u32 %out, %t, {to}, %out;
    """
        + "\n".join(body)
        + "\nret;\n}\n"
    )


def given(forms: list[str], seed: int) -> np.ndarray:
    """Registers of 32 lanes: numbers of ordinary size, and now and then any bits at all."""
    rng = random.Random(seed)
    return np.array([[n for form in forms for n in _lane(form, rng)] for _ in range(32)], np.uint64)


def _lane(form: str, rng: random.Random) -> list[int]:
    p = product(form)
    return [_register(p.element_type(m), rng) for m in "abc" for _ in range(registers(form, m))]


FORMATS = {
    "f16": (16, 10, 15),
    "bf16": (16, 7, 127),
    "tf32": (32, 23, 127),
    "f32": (32, 23, 127),
    "f64": (64, 52, 1023),
}


def _register(kind: str, rng: random.Random) -> int:
    if kind not in FORMATS or rng.random() < 0.02:
        return rng.getrandbits(64 if kind == "f64" else 32)
    bits, mantissa, bias = FORMATS[kind]
    parts = [
        rng.getrandbits(1) << bits - 1 | (bias + rng.randint(-8, 8)) << mantissa | rng.getrandbits(mantissa)
        for _ in range(max(1, 32 // bits))
    ]
    return sum(part << bits * i for i, part in enumerate(parts))


def on_reference(text: str, words: np.ndarray, columns: int) -> np.ndarray:
    reference = Reference(text)
    out = reference.buffer(bytes(32 * 8 * columns))
    reference.launch("k", 1, 32, [reference.buffer(words.tobytes()), out])
    return np.frombuffer(bytes(out.data), np.uint64).reshape(32, columns)


def on_device(text: str, words: np.ndarray, columns: int, options: CompileOptions | None) -> np.ndarray:
    device = Device(text, options=options)
    out = device.zeros((32, columns), np.uint64)
    device.launch("k", 1, 32, device.upload(words), out)
    return out.download()
