"""Texture fetches and surface accesses of the executor against the reference, and bilinear filtering against NumPy."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.reference.device import ReferenceDevice
from tests.reference.memory import ReferenceFault
from tests.simt.texturing import COMPILED, fetch_text, rows

from warpreg.simt import Device, MemoryFault

THREADS = 24
KINDS = {
    "1d": ("1d", 1), "2d": ("2d", 2), "3d": ("3d", 4), "a1d": ("1d-layered", 2), "a2d": ("2d-layered", 4),
    "cube": ("cube", 4), "acube": ("cube-layered", 4),
}  # fmt: skip
DTYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4"]
MODES = ["clamp", "border", "wrap", "mirror"]

coordinates = st.one_of(
    st.floats(-3, 12, width=32),
    st.floats(-1, 2, width=32),
    st.integers(-4, 24).map(lambda n: n / 2),
    st.sampled_from([0.0, -0.0, 1.0, float("inf"), float("-inf"), float("nan"), 1e30, -1e-20]),
)


@lru_cache(maxsize=64)
def device(text: str) -> Device:
    return Device(text, COMPILED)


@lru_cache(maxsize=64)
def reference(text: str) -> ReferenceDevice:
    return ReferenceDevice(text)


def image(kind: str, dtype: str, channels: int, rng: np.random.Generator) -> np.ndarray:
    """Random texels; floats are finite and of moderate size."""
    w, h, d = (int(n) for n in rng.integers(1, 7, 3))
    shape = {
        "1d": (w,), "2d": (h, w), "3d": (d, h, w), "1d-layered": (d, w), "2d-layered": (d, h, w), "cube": (6, w, w),
        "cube-layered": (12, w, w),
    }[kind]  # fmt: skip
    shape = (*shape, channels) if channels > 1 else shape
    if np.dtype(dtype).kind == "f":
        return rng.normal(0, 50, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def both(text: str, array: np.ndarray, kind: Any, table: np.ndarray, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Four words a thread from the executor and from the reference."""
    found = []
    for machine in (device(text), reference(text)):
        out = machine.zeros((len(table), 4), np.uint32)
        texture = machine.texture(array, kind, **options)
        machine.launch("k", 1, len(table), texture, 0, machine.upload(table), out)
        found.append(out.download())
    return found[0], found[1]


FORMS = [
    *(f"tex.{geometry}.v4.f32.f32" for geometry in KINDS),
    *(f"tex.{geometry}.v4.s32.s32" for geometry in ("1d", "2d", "a2d")),
    "tld4.g.2d.v4.f32.f32", "tld4.r.a2d.v4.f32.f32", "tex.2d.v4.f32.f32|, {%e6, %e7}", "tex.1d.v2.f16x2.f32",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_fetches(form: str, data: st.DataObject) -> None:
    geometry = next(m for m in form.split("|")[0].split(".") if m in KINDS)
    kind, count = KINDS[geometry]
    array = image(
        kind,
        data.draw(st.sampled_from(DTYPES)),
        data.draw(st.sampled_from([1, 1, 2, 4])),
        np.random.default_rng(data.draw(st.integers(0, 2**32))),
    )
    may_normalize = array.dtype.kind != "f" and array.dtype.itemsize < 4
    read = data.draw(st.sampled_from(["element", "normalized"])) if may_normalize else "element"
    is_float = read == "normalized" or array.dtype.kind == "f"
    options = {
        "address": tuple(data.draw(st.sampled_from(MODES)) for _ in range(3)),
        "filter": data.draw(st.sampled_from(["point", "linear"])) if is_float else "point",
        "normalized": data.draw(st.booleans()),
        "read": read,
    }
    points = data.draw(st.lists(st.tuples(*[coordinates] * 4), min_size=THREADS, max_size=THREADS))
    table = rows([tuple(map(float, p)) for p in points])
    if form.endswith("s32.s32"):
        table[:, :4] = np.array([[int(min(max(x, -99), 99)) if x == x else 0 for x in p] for p in points]).astype(
            np.uint32
        )
    if geometry.startswith("a"):
        table[:, 0] = np.arange(THREADS) % 5
    table[:, 6:] = np.arange(2 * THREADS).reshape(-1, 2) % 16 - 8
    got, wanted = both(fetch_text(form, count), array, kind, table, **options)
    assert np.array_equal(got, wanted), f"{array.dtype}{array.shape} {options}"


def test_bilinear_filtering_against_numpy() -> None:
    """The mean of four texels by weights in whole 256ths, rounded half away from zero, written out in NumPy."""
    rng = np.random.default_rng(1)
    picture = rng.random((40, 30), dtype=np.float32)
    points = (rng.random((512, 2)) * [32, 42] - 1).astype(np.float32)
    machine = device(fetch_text("tex.2d.v4.f32.f32", 2))
    out = machine.zeros((512, 4), np.float32)
    texture = machine.texture(picture, "2d", filter="linear")
    table = np.zeros((512, 8), np.uint32)
    table[:, :2] = points.view(np.uint32)
    machine.launch("k", 1, 512, texture, 0, machine.upload(table), out)
    size = np.array([30, 40], np.float32)
    rounded = np.rint(points.astype(np.float64) * 256) / 256
    centred = np.clip(rounded, 0.5, size - 0.5) - 0.5
    low = np.floor(centred)
    a, b = (256 * (centred - low)).T
    (x0, y0), (x1, y1) = (np.clip(low + side, 0, size - 1).astype(int).T for side in (0, 1))
    right_below, left_below = np.rint(a * b / 256), np.rint((256 - a) * b / 256)
    total = (256 - a - left_below) * picture[y0, x0] + (a - right_below) * picture[y0, x1]
    total = total + left_below * picture[y1, x0]
    total = total + right_below * picture[y1, x1]
    kept = ((total / 256).view(np.int64) + (1 << 28) >> 29 << 29).view(np.float64)
    assert np.array_equal(out.download()[:, 0], kept.astype(np.float32))


SURFACE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 srf, .param .u64 in, .param .u64 out)
{
    .reg .b64 %srf, %in, %out, %l<4>; .reg .b32 %t, %r<4>, %e<8>; .reg .b16 %h<4>;
    ld.param.u64 %srf, [srf]; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x; mad.wide.u32 %in, %t, 32, %in; mad.wide.u32 %out, %t, 16, %out;
    LOADS
    BODY
    ret;
}
"""
LOADS = "".join(f"ld.global.b32 %e{i}, [%in+{4 * i}];" for i in range(8))
LOAD_16 = "suld.b.{g}.v2.b16.{c} {{%h0, %h1}}, [%srf, {{{p}}}]; mov.b32 %r0, {{%h0, %h1}}; st.global.b32 [%out], %r0;"
ACCESSES = [
    "suld.b.{g}.b32.{c} %r0, [%srf, {{{p}}}]; st.global.b32 [%out], %r0;",
    LOAD_16,
    "sust.b.{g}.b32.{c} [%srf, {{{p}}}], %e4;",
    "mov.b64 %l0, {{%e4, %e5}}; sust.b.{g}.b64.{c} [%srf, {{{p}}}], %l0;",
    "sust.p.{g}.v4.b32.{c} [%srf, {{{p}}}], {{%e4, %e5, %e6, %e7}};",
    "sured.b.add.{g}.u32.{c} [%srf, {{{p}}}], %e4;",
    "sured.p.max.{g}.b32.{c} [%srf, {{{p}}}], %e4;",
]


@pytest.mark.slow
@pytest.mark.parametrize("access", ACCESSES)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_surfaces(access: str, data: st.DataObject) -> None:
    geometry = data.draw(
        st.sampled_from(["1d", "2d", "3d"] if "sured" in access or ".p." in access else list(KINDS)[:5])
    )
    kind, count = KINDS[geometry]
    clamp = data.draw(st.sampled_from(["clamp", "zero"]))
    names = ", ".join(f"%e{i}" for i in range(count))
    text = SURFACE.replace("LOADS", LOADS).replace("BODY", access.format(g=geometry, c=clamp, p=names))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    dtype = data.draw(st.sampled_from(["u4", "i4", "u1", "i2", "f2"]))
    channels = 4 if np.dtype(dtype).itemsize < 4 else data.draw(st.sampled_from([1, 2, 4]))
    array = image(kind, dtype, channels, rng)
    table = rng.integers(-3, 9, (THREADS, 8)).astype(np.uint32)
    lowest = 1 if geometry.startswith("a") else 0
    if ".p." not in access:
        table[:, lowest] *= 8 if "b64" in access else 4
    table[:, 4:] = rng.integers(-300, 300, (THREADS, 4)).astype(np.uint32)
    contents, refused = [], []
    for machine in (device(text), reference(text)):
        surface, out = machine.surface(array, kind), machine.zeros((THREADS, 4), np.uint32)  # type: ignore[arg-type]
        try:
            machine.launch("k", 1, THREADS, surface, machine.upload(table), out)
        except (MemoryFault, ReferenceFault) as error:
            refused.append(str(error))
            continue
        contents.append((surface.download(), out.download()))
    assert len(refused) in (0, 2), refused
    for got, wanted in zip(*contents, strict=True) if len(contents) == 2 else ():
        assert got.tobytes() == wanted.tobytes(), f"{array.dtype}{array.shape}"
