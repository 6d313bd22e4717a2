"""A kernel with one texture instruction: a row of coordinates per thread in, its results out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.codegen import CompileOptions
from warpreg.simt import Device

COMPILED = CompileOptions()
REGISTERS = {"f32": "%f", "s32": "%r", "u32": "%r", "f16": "%h", "b32": "%r"}


def fetch_text(opcode: str, count: int, *, sampled: bool = False, before: str = "", texture: str = "%tex") -> str:
    """PTX of a kernel ``k(tex, smp, in, out)`` that applies ``opcode`` to ``count`` coordinate words a thread.

    Coordinates stand eight words a thread in ``in``; those behind the coordinates are ``%e0`` (and as floats
    ``%x0``), ..., for what follows the brackets in ``opcode``, written after a ``|``.
    """
    name, _, extra = opcode.partition("|")
    floating = name.endswith("f32") and not name.startswith("su")
    layered = any(m in name.split(".") for m in ("a1d", "a2d", "acube"))
    words = [f"%x{i}" if floating and not (layered and i == 0) else f"%e{i}" for i in range(count)]
    place = ", ".join([texture, *(["%smp"] if sampled else []), "{" + ", ".join(words) + "}"])
    results = "%h0, %h1, %h2, %h3" if ".f16." in name else "%r0, %r1" if ".v2." in name else "%r0, %r1, %r2, %r3"
    stores = "".join(f"st.global.b32 [%out+{4 * i}], %r{i};" for i in range(4))
    if ".f16." in name:
        stores = "".join(f"st.global.b16 [%out+{4 * i}], %h{i};" for i in range(4))
    return f""".version 8.0
.target sm_80{", texmode_independent" if sampled else ""}
.address_size 64
{before}
.visible .entry k(.param .u64 tex, .param .u64 smp, .param .u64 in, .param .u64 out)
{{
    .reg .b64 %tex, %smp, %in, %out; .reg .b32 %t, %r<4>, %e<8>; .reg .f32 %x<8>; .reg .b16 %h<4>; .reg .pred %p;
    ld.param.u64 %tex, [tex]; ld.param.u64 %smp, [smp]; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x; mad.wide.u32 %in, %t, 32, %in; mad.wide.u32 %out, %t, 16, %out;
    {"".join(f"ld.global.b32 %e{i}, [%in+{4 * i}]; mov.b32 %x{i}, %e{i};" for i in range(8))}
    {"".join(f"mov.b32 %r{i}, 0;" for i in range(4))}
    {name} {{{results}}}, [{place}]{extra};
    {stores}
    ret;
}}
"""


def rows(coordinates: Sequence[Sequence[float | int]]) -> NDArray[np.uint32]:
    """Eight words a thread: floats as single precision, integers as they are."""
    table = np.zeros((len(coordinates), 8), np.uint32)
    for row, numbers in zip(table, coordinates, strict=True):
        for place, number in enumerate(numbers):
            bits = np.float32(number).view(np.uint32) if isinstance(number, float) else np.uint32(number % (1 << 32))
            row[place] = bits
    return table


class Fetcher:
    """Runs one texture instruction on virtual registers and compiled, which must agree bit for bit."""

    def __init__(self, opcode: str, count: int, **options: Any) -> None:
        text = fetch_text(opcode, count, **options)
        self.devices = [Device(text, None), Device(text, COMPILED)]

    def __call__(
        self,
        array: NDArray[Any] | Sequence[NDArray[Any]],
        kind: str,
        coordinates: Sequence[Sequence[float | int]],
        dtype: Any = np.float32,
        **options: Any,
    ) -> NDArray[Any]:
        """Four results a row of coordinates, read as ``dtype``; ``options`` are those of `Device.texture`."""
        sampling = options.pop("sampler", None)
        found = []
        for device in self.devices:
            texture = device.texture(array, kind, **options)  # type: ignore[arg-type]
            sampler = 0 if sampling is None else device.sampler(**sampling)
            out = device.zeros((len(coordinates), 4), np.uint32)
            device.launch("k", 1, len(coordinates), texture, sampler, device.upload(rows(coordinates)), out)
            found.append(out.download())
        assert np.array_equal(found[0], found[1])
        return found[0].view(dtype)
