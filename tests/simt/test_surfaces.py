"""Surface loads, stores and reductions by hand-derived values (PTX ISA, "Surface Instructions")."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.simt.programs import COMPILED, VIRTUAL, words

from warpreg.simt import Device, MemoryFault

HEAD = """.version 8.1
.target sm_80
.address_size 64
.visible .entry k(.param .u64 srf, .param .u64 in, .param .u64 out)
{
    .reg .b64 %srf, %in, %out, %l<4>; .reg .b32 %t, %r<8>, %e<8>; .reg .b16 %h<4>;
    ld.param.u64 %srf, [srf]; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x; mad.wide.u32 %in, %t, 32, %in; mad.wide.u32 %out, %t, 16, %out;
"""
READ = "".join(f"    ld.global.b32 %e{i}, [%in+{4 * i}];\n" for i in range(8))


def run(options: Any, array: np.ndarray, kind: str, body: str, *rows: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The surface and the words that ``out`` holds (four a thread), after a thread for each row of %e0, %e1, ..."""
    device = Device(f"{HEAD}{READ}{body}\nret;\n}}\n", options)
    table = np.stack([np.pad(words(*row), (0, 8 - len(row))) for row in rows])
    surface, out = device.surface(array, kind), device.zeros((len(rows), 4), np.uint32)  # type: ignore[arg-type]
    device.launch("k", 1, len(rows), surface, device.upload(table), out)
    return surface.download(), out.download()


@pytest.fixture(params=[VIRTUAL, COMPILED], ids=["virtual", "compiled"])
def options(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_the_first_coordinate_counts_bytes(options: Any) -> None:
    grid = np.arange(12, dtype=np.uint32).reshape(3, 4)
    load = "suld.b.2d.b32.trap %r0, [%srf, {%e0, %e1}]; st.global.b32 [%out], %r0;"
    _, out = run(options, grid, "2d", load, (0, 0), (4, 0), (12, 2))
    assert out[:, 0].tolist() == [0, 1, 11]
    narrow = "suld.b.1d.b8.trap %h0, [%srf, {%e0}]; cvt.u32.u16 %r0, %h0; st.global.b32 [%out], %r0;"
    _, out = run(options, np.array([0x01020304], np.uint32), "1d", narrow, (0,), (3,))
    assert out[:, 0].tolist() == [4, 1]


def test_vectors(options: Any) -> None:
    pixels = np.arange(32, dtype=np.uint8).reshape(2, 4, 4)
    load = (
        "suld.b.2d.v4.b8.trap {%h0, %h1, %h2, %h3}, [%srf, {%e0, %e1}];"
        "sust.b.2d.v4.b8.trap [%srf, {%e2, %e3}], {%h3, %h2, %h1, %h0};"
    )
    after, _ = run(options, pixels, "2d", load, (4, 1, 0, 0))
    assert after[0, 0].tolist() == [23, 22, 21, 20]
    assert np.array_equal(after[0, 1:], pixels[0, 1:])
    wide = (
        "suld.b.1d.v2.b64.trap {%l0, %l1}, [%srf, {%e0}]; add.u64 %l0, %l0, 1;"
        "sust.b.1d.v2.b64.trap [%srf, {%e1}], {%l1, %l0};"
    )
    after, _ = run(options, np.arange(8, dtype=np.uint32), "1d", wide, (0, 16))
    assert after.tolist() == [0, 1, 2, 3, 2, 3, 1, 1]


@pytest.mark.parametrize(
    ("clamp", "loaded", "stored"),
    [("clamp", [10, 13, 22], [1, 11, 12, 2, 20, 21, 3, 23]), ("zero", [0, 0, 0], [10, 11, 12, 13, 20, 21, 22, 23])],
)
def test_outside(options: Any, clamp: str, loaded: list[int], stored: list[int]) -> None:
    grid = np.array([[10, 11, 12, 13], [20, 21, 22, 23]], np.uint32)
    outside = [(-4, 0, 1), (16, -1, 2), (8, 5, 3)]
    load = f"suld.b.2d.b32.{clamp} %r0, [%srf, {{%e0, %e1}}]; st.global.b32 [%out], %r0;"
    assert run(options, grid, "2d", load, *outside)[1][:, 0].tolist() == loaded
    store = f"sust.b.2d.b32.{clamp} [%srf, {{%e0, %e1}}], %e2;"
    assert run(options, grid, "2d", store, *outside)[0].reshape(-1).tolist() == stored


def test_outside_traps_unless_said_otherwise(options: Any) -> None:
    line = np.zeros(4, np.uint32)
    with pytest.raises(MemoryFault, match=r"thread \(1,0,0\), instruction 'sust.*outside 1d surface"):
        run(options, line, "1d", "sust.b.1d.b32 [%srf, {%e0}], %e1;", (12, 1), (16, 1))
    wide = "suld.b.1d.v4.b32.clamp {%r0, %r1, %r2, %r3}, [%srf, {%e0}]; st.global.b32 [%out], %r0;"
    with pytest.raises(MemoryFault, match="outside 1d surface"):
        run(options, line[:2], "1d", wide, (0,))
    _, out = run(options, line[:2] + np.uint32(1), "1d", wide.replace("clamp", "zero"), (0,))
    assert out[0, 0] == 0


def test_a_layer_has_no_sign(options: Any) -> None:
    """Layer -3 is beyond the last one, to which it is clamped (measured on an H100)."""
    layers = np.arange(8, dtype=np.uint32).reshape(4, 2)
    load = "suld.b.a1d.b32.clamp %r0, [%srf, {%e0, %e1}]; st.global.b32 [%out], %r0;"
    _, out = run(options, layers, "1d-layered", load, (-3 % 2**32, 4), (2, -8 % 2**32))
    assert out[:2, 0].tolist() == [7, 4]


def test_misaligned(options: Any) -> None:
    with pytest.raises(MemoryFault, match="address 0x2 is not a multiple of 4 bytes"):
        run(options, np.zeros(4, np.uint32), "1d", "sust.b.1d.b32.trap [%srf, {%e0}], %e1;", (2, 1))


def test_layers_faces_and_slices(options: Any) -> None:
    load = "suld.b.{}.b32.trap %r0, [%srf, {{{}}}]; st.global.b32 [%out], %r0;"
    volume = np.arange(24, dtype=np.uint32).reshape(2, 3, 4)
    _, out = run(options, volume, "3d", load.format("3d", "%e0, %e1, %e2, %e3"), (4, 2, 1, 99))
    assert out[0, 0] == 12 + 2 * 4 + 1
    _, out = run(options, volume, "2d-layered", load.format("a2d", "%e0, %e1, %e2, %e3"), (1, 4, 2, 99))
    assert out[0, 0] == 12 + 2 * 4 + 1
    _, out = run(options, volume[0], "1d-layered", load.format("a1d", "%e0, %e1"), (2, 4))
    assert out[0, 0] == 9
    faces = np.arange(24, dtype=np.uint32).reshape(6, 2, 2)
    _, out = run(options, faces, "cube", load.format("a2d", "%e0, %e1, %e2, %e3"), (5, 4, 1, 0))
    assert out[0, 0] == 23


def test_reductions_go_lane_after_lane(options: Any) -> None:
    line = np.array([5, 2**32 - 3, 0xF0], np.uint32)
    add = "sured.b.add.1d.u32.trap [%srf, {%e0}], %e1;"
    assert run(options, line, "1d", add, (0, 1), (0, 2), (4, 4))[0].tolist() == [8, 1, 0xF0]
    assert run(options, line, "1d", add.replace("add", "min"), (0, 7), (4, 2))[0].tolist() == [5, 2, 0xF0]
    signed = add.replace("add", "max").replace("u32", "s32")
    assert run(options, line, "1d", signed, (0, -1), (4, 2))[0].tolist() == [5, 2, 0xF0]
    both = add.replace("add", "and").replace("u32", "b32")
    assert run(options, line, "1d", both, (8, 0x3C))[0].tolist() == [5, 2**32 - 3, 0x30]


def test_reductions_by_sample_compare_as_the_surface_does(options: Any) -> None:
    least = "sured.p.min.1d.b32.trap [%srf, {%e0}], %e1;"
    assert run(options, np.array([5, 5], np.uint32), "1d", least, (1, -1))[0].tolist() == [5, 5]
    assert run(options, np.array([5, 5], np.int32), "1d", least, (1, -1))[0].tolist() == [5, -1]
    wide = "cvt.s64.s32 %l0, %e1; sured.p.min.1d.b64.trap [%srf, {%e0}], %l0;"
    after, _ = run(options, np.array([[5, 0], [9, 9]], np.int32), "1d", wide, (0, -2))
    assert after[0].tolist() == [-2, -1]


def test_formatted_stores_convert(options: Any) -> None:
    store = "sust.p.1d.v4.b32.trap [%srf, {%e0}], {%e1, %e2, %e3, %e4};"
    pixels = np.zeros((2, 4), np.uint8)
    assert run(options, pixels, "1d", store, (1, 1, 255, 256, 2**31))[0].tolist() == [[0] * 4, [1, 255, 255, 255]]
    assert run(options, pixels.view(np.int8), "1d", store, (1, -1, 127, 128, -129))[0][1].tolist() == [
        -1,
        127,
        127,
        -128,
    ]
    half, single = (int(np.float32(x).view(np.uint32)) for x in (0.5, -2.0))
    one = "sust.p.2d.v2.b32.trap [%srf, {%e0, %e1}], {%e2, %e3};"
    halves, _ = run(options, np.ones((2, 2), np.float16), "2d", one, (0, 1, half, single))
    assert halves.tolist() == [[1, 1], [0.5, 1]]
    floats, _ = run(options, np.ones((2, 2), np.float32), "2d", one, (1, 0, single, half))
    assert floats.tolist() == [[1, -2], [1, 1]]


def test_a_surface_over_a_buffer_shows_what_kernels_store() -> None:
    device = Device(f"{HEAD}{READ}sust.b.1d.b32.trap [%srf, {{%e0}}], %e1;\nret;\n}}\n")
    buffer = device.upload(np.zeros(3, np.uint32))
    device.launch("k", 1, 1, device.surface(buffer, "1d"), device.upload(words(4, 7, 0, 0, 0, 0, 0, 0)), 0)
    assert buffer.download().tolist() == [0, 7, 0]
