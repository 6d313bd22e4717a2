"""Errors of an array, an option, a handle or a binding: one message with its place."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tests.simt.programs import COMPILED, VIRTUAL
from tests.simt.test_surfaces import HEAD
from tests.simt.texturing import fetch_text, rows

from warpreg.ir.errors import UnsupportedError
from warpreg.simt import Device, LaunchError, TextureError, TextureFault

LINE = np.zeros(4, np.float32)
TEXT = fetch_text("tex.1d.v4.f32.f32", 1, before=".global .texref image; .global .surfref canvas;")


@pytest.fixture(params=[VIRTUAL, COMPILED], ids=["virtual", "compiled"])
def options(request: pytest.FixtureRequest) -> Any:
    return request.param


def launch(device: Device, texture: Any, sampler: Any = 0) -> None:
    device.launch("k", 1, 1, texture, sampler, device.upload(rows([(0.0,)])), device.zeros((1, 4), np.uint32))


@pytest.mark.parametrize(
    ("shape", "dtype", "kind", "said"),
    [
        ((3, 4), "f4", "4d", "texture kind '4d': expected one of 1d, 2d, 3d"),
        ((4,), "f4", "2d", r"a 2d texture: expected axes \(y, x\) and 1, 2 or 4 channels, found \[4\]"),
        ((4, 4, 3), "f4", "2d", r"1, 2 or 4 channels, found \[4, 4, 3\]"),
        ((0, 4), "f4", "2d", r"expected a texel at least, found \[0, 4\]"),
        ((4, 4), "f8", "2d", "a texture of float64: expected elements of uint8"),
        ((4, 4), ">f4", "2d", "a texture of >f4: expected elements of uint8"),
        ((6, 2, 3), "f4", "cube", r"expected 6 square faces, found \[6, 2, 3\]"),
        ((8, 2, 2), "f4", "cube-layered", "expected a multiple of 6 square faces"),
    ],
)
def test_arrays_that_make_no_texture(shape: tuple[int, ...], dtype: str, kind: Any, said: str) -> None:
    device = Device(TEXT)
    for make in (device.texture, device.surface):
        with pytest.raises(TextureError, match=said):
            make(np.zeros(shape, dtype), kind)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"address": "repeat"}, "texture address 'repeat': expected one of wrap, mirror, clamp, border"),
        ({"address": ()}, "expected one to three modes"),
        ({"filter": "cubic"}, "texture filter 'cubic': expected one of point, linear"),
        ({"read": "float"}, "texture read 'float': expected element or normalized"),
        ({"read": "normalized"}, "only integers of 8 and 16 bits are read as normalized numbers"),
    ],
)
def test_options_that_do_not_exist(given: dict[str, Any], said: str) -> None:
    with pytest.raises(TextureError, match=said):
        Device(TEXT).texture(LINE, "1d", **given)


def test_a_linear_filter_cannot_mix_integers() -> None:
    with pytest.raises(TextureError, match="a linear filter needs floating-point elements or normalized reads"):
        Device(TEXT).texture(np.zeros(4, np.uint8), "1d", filter="linear")


def test_faults_name_kernel_thread_instruction_and_what_was_found(options: Any) -> None:
    device = Device(TEXT, options)
    place = (
        r"kernel 'k', block \(0,0,0\), thread \(0,0,0\), instruction 'tex\.1d.* at <ptx>:\d+:\d+: expected a 1d texture"
    )
    flat = device.texture(np.zeros((2, 2), np.float32))
    for texture, found in (
        (77, "0x4d, which is no handle"),
        (flat.handle + 4, "0x[0-9a-f]+, which is no handle"),
        (flat, "2d texture 'buffer"),
        (device.surface(LINE, "1d"), "1d surface 'buffer"),
        (device.sampler(), "sampler 'a sampler'"),
    ):
        with pytest.raises(TextureFault, match=f"{place}, found {found}"):
            launch(device, texture)


def test_a_reference_with_nothing_bound(options: Any) -> None:
    device = Device(fetch_text("tex.1d.v4.f32.f32", 1, before=".global .texref image;", texture="image"), options)
    with pytest.raises(TextureFault, match="found texture reference 'image' with nothing bound to it"):
        launch(device, 0)
    device.bind("image", device.texture(np.zeros((2, 2), np.float32)))
    with pytest.raises(TextureFault, match="expected a 1d texture, found 2d texture 'image'"):
        launch(device, 0)


def test_surface_instructions_want_surfaces(options: Any) -> None:
    text = f"{HEAD}suld.b.1d.b32.trap %r0, [%srf, {{%t}}]; st.global.b32 [%out], %r0; ret; }}"
    device = Device(text, options)
    out = device.zeros(4, np.uint32)
    with pytest.raises(TextureFault, match="expected a 1d surface, found 1d texture"):
        device.launch("k", 1, 1, device.texture(LINE, "1d"), out, out)
    with pytest.raises(TextureFault, match="expected a 1d surface, found 2d surface"):
        device.launch("k", 1, 1, device.surface(np.zeros((2, 2), np.uint32)), out, out)


def test_a_query_of_no_texture(options: Any) -> None:
    text = f"{HEAD}txq.width.b32 %r0, [%srf]; st.global.b32 [%out], %r0; ret; }}"
    device = Device(text, options)
    with pytest.raises(TextureFault, match=r"txq.* expected a texture, found 0x5, which is no handle"):
        device.launch("k", 1, 1, 5, 0, device.zeros(4, np.uint32))


def test_bindings() -> None:
    device, other = Device(TEXT), Device(TEXT)
    with pytest.raises(
        TextureError, match="no texture, sampler or surface reference 'picture'; there are: image, canvas"
    ):
        device.bind("picture", device.texture(LINE, "1d"))
    with pytest.raises(TextureError, match="reference 'canvas': expected a surface, found a texture"):
        device.bind("canvas", device.texture(LINE, "1d"))
    with pytest.raises(TextureError, match="reference 'image': what is bound to it belongs to another device"):
        device.bind("image", other.texture(LINE, "1d"))
    with pytest.raises(LaunchError, match="parameter 'tex': the texture belongs to another device"):
        launch(device, other.texture(LINE, "1d"))
    with pytest.raises(LaunchError, match="belongs to another device"):
        device.texture(other.upload(LINE), "1d")


def test_a_texture_is_no_number() -> None:
    text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n) { ret; }"
    device = Device(text)
    with pytest.raises(LaunchError, match="parameter 'n': expected u32, found a texture"):
        device.launch("k", 1, 1, device.texture(LINE, "1d"))


@pytest.mark.parametrize(
    ("opcode", "coordinates"),
    [
        ("tex.1d.v4.f32.f32|, %x2", 1),
        ("tex.2d.v4.f32.f32|, %x2", 2),
        ("tex.2d.v4.f32.f32|, {%e2, %e3}, %x4", 2),
        ("tex.level.2d.v4.f32.f32|, %x5, %x4", 2),
        ("tex.grad.2d.v4.f32.f32|, {%x2, %x3}, {%x4, %x5}, {%e6, %e7}, %x4", 2),
        ("tex.a2d.v4.f32.f32|, %x2", 4),
        ("tex.cube.v4.f32.f32|, %x4", 4),
        ("tex.acube.v4.f32.f32|, %x4", 4),
        ("tld4.r.2d.v4.f32.f32|, {%e2, %e3}, %x4", 2),
        ("tld4.r.a2d.v4.f32.f32|, %x4", 4),
        ("tld4.r.cube.v4.f32.f32|, %x4", 4),
        ("tld4.r.acube.v4.f32.f32|, %x4", 4),
    ],
)
def test_comparing_depths_is_one_error_that_names_its_place(opcode: str, coordinates: int) -> None:
    name = re.escape(opcode.partition("|")[0])
    with pytest.raises(UnsupportedError, match=rf"<ptx>:\d+:\d+: {name} compares depths, which is not supported"):
        Device(fetch_text(opcode, coordinates)).kernel("k")


@pytest.mark.parametrize("mode", ["", ".base", ".level"])
@pytest.mark.parametrize("geometry", ["2dms", "a2dms"])
@pytest.mark.parametrize("types", ["v4.f32.s32", "v4.u32.s32", "v2.f16x2.s32"])
def test_one_of_several_samples_is_one_error_that_names_its_place(mode: str, geometry: str, types: str) -> None:
    opcode = f"tex{mode}.{geometry}.{types}"
    said = rf"<ptx>:\d+:\d+: {re.escape(opcode)} is not supported: it fetches one of several samples"
    with pytest.raises(UnsupportedError, match=said):
        Device(fetch_text(opcode, 4)).kernel("k")


@pytest.mark.parametrize(
    "code",
    [
        "tex.1d.v4.f32.f32 {%r0}, [%srf, {%e0}];",
        "tex.1d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%srf, %srf, %srf, {%e0}];",
        "tex.3d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%srf, {%e0, %e1}];",
        "tex.level.1d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%srf, {%e0}];",
        "tex.2d.v4.s32.s32 {%r0, %r1, %r2, %r3}, [%srf, {%e0, %e1}], {%e2};",
        "tex.2d.v4.s32.s32 {%r0, %r1, %r2, %r3}, [%srf, {%e0, %e1}], {%e2, %e2, %e2}, {%e2, %e2};",
        "tex.cube.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%srf, {%e0, %e1, %e2, %e3}], {%e2, %e3};",
        "tex.level.1d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%srf, {%e0}], {%e1, %e2};",
        "tex.grad.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%srf, {%e0, %e1}], {%e1}, {%e2};",
        "tex.grad.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%srf, {%e0, %e1}], {%e1}, {%e2, %e3, %e0};",
        "tex.grad.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%srf, {%e0, %e1}], {%e1, %e2};",
        "suld.b.1d.v2.b16.clamp {%h0}, [%srf, {%e0}];",
        "sust.b.1d.v2.b32.clamp [%srf, {%e0}], {%e1};",
        "sured.b.add.1d.u32.clamp {%srf, %srf}, [%srf, {%e0}];",
    ],
)
def test_operands_that_do_not_go_together(code: str) -> None:
    text = f"{HEAD}\n{code}\nret; }}"
    with pytest.raises(UnsupportedError) as caught:
        Device(text).kernel("k")
    assert caught.value.location is not None
    assert text.splitlines()[caught.value.location.line - 1] == code
