"""Forms of texture instructions besides the plain fetch: offsets, levels, gathers, half precision, residence, handles
that differ between lanes, samplers, references, parameters, queries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.simt.programs import COMPILED, VIRTUAL
from tests.simt.texturing import Fetcher, fetch_text, rows

from warpreg.simt import Device, Surface, Texture
from warpreg.simt.texture.arrays import Address

LINE = np.array([10, 20, 30, 40], np.float32)
GRID = np.arange(12, dtype=np.float32).reshape(3, 4)


def first(found: np.ndarray) -> list[float]:
    return [float(row[0]) for row in found]


def test_offsets_are_added_to_the_coordinates() -> None:
    fetch = Fetcher("tex.1d.v4.f32.f32|, {%e1}", 1)
    assert first(fetch(LINE, "1d", [(1.5, 2), (1.5, -1), (1.5, -3)])) == [40, 10, 10]
    assert first(fetch(LINE, "1d", [(0.125, 1), (0.125, -1)], address="wrap", normalized=True)) == [20, 40]
    flat = Fetcher("tex.2d.v4.f32.s32|, {%e2, %e3}", 2)
    assert first(flat(GRID, "2d", [(0, 0, 3, 1), (3, 2, -1, -1)])) == [7, 6]


def test_levels_of_detail_all_read_the_one_level() -> None:
    level = Fetcher("tex.level.1d.v4.f32.f32|, %x1", 1)
    assert first(level(LINE, "1d", [(1.5, 0.0), (1.5, 7.5)])) == [20, 20]
    gradient = Fetcher("tex.grad.2d.v4.f32.f32|, {%x2, %x3}, {%x4, %x5}", 2)
    assert first(gradient(GRID, "2d", [(1.5, 2.5, 9.0, 9.0, 9.0, 9.0)])) == [9]
    both = Fetcher("tex.level.1d.v4.f32.f32|, %x1, {%e2}", 1)
    assert first(both(LINE, "1d", [(1.5, 3.0, 1)])) == [30]
    assert first(Fetcher("tex.base.1d.v4.f32.f32", 1)(LINE, "1d", [(1.5,)])) == [20]


def test_gathers_go_round_from_the_lower_left() -> None:
    """Around (2, 1) lie texels (1, 0), (2, 0), (1, 1), (2, 1), which hold 1, 2, 5, 6."""
    assert Fetcher("tld4.r.2d.v4.f32.f32", 2)(GRID, "2d", [(2.0, 1.0)]).tolist() == [[5, 6, 2, 1]]
    pairs = np.stack([GRID, GRID + 100], axis=-1)
    assert Fetcher("tld4.g.2d.v4.f32.f32", 2)(pairs, "2d", [(2.0, 1.0)]).tolist() == [[105, 106, 102, 101]]
    assert Fetcher("tld4.a.2d.v4.f32.f32", 2)(pairs, "2d", [(2.0, 1.0)]).tolist() == [[0, 0, 0, 0]]
    moved = Fetcher("tld4.r.2d.v4.f32.f32|, {%e2, %e3}", 2)
    assert moved(GRID, "2d", [(2.0, 1.0, 1, 1)]).tolist() == [[10, 11, 7, 6]]


def test_half_precision_results() -> None:
    pairs = np.array([[0.5, -2.0, 1.0, 65520.0]], np.float32)
    packed = Fetcher("tex.1d.v2.f16x2.f32", 1)(pairs, "1d", [(0.5,)], dtype=np.float16)
    assert packed[0, :4].tolist() == [0.5, -2.0, 1.0, float("inf")]
    single = Fetcher("tex.1d.v4.f16.f32", 1)(pairs, "1d", [(0.5,)], dtype=np.float16)
    assert single[0, ::2].tolist() == [0.5, -2.0, 1.0, float("inf")]


def test_everything_is_resident() -> None:
    text = fetch_text("tex.1d.v4.f32.f32", 1).replace("%r3}, [", "%r3}|%p, [")
    text = text.replace("st.global.b32 [%out+12], %r3;", "selp.b32 %r3, 7, 8, %p; st.global.b32 [%out+12], %r3;")
    for options in (VIRTUAL, COMPILED):
        device = Device(text, options)
        out = device.zeros((1, 4), np.uint32)
        device.launch("k", 1, 1, device.texture(LINE, "1d"), 0, device.upload(rows([(0.5,)])), out)
        assert out.download()[0, 3] == 7


def test_coordinates_may_be_padded_and_stand_without_brackets() -> None:
    padded = Fetcher("tex.1d.v4.f32.f32", 4)
    assert first(padded(LINE, "1d", [(1.5, 9.0, 9.0, 9.0)])) == [20]
    text = fetch_text("tex.1d.v4.f32.f32", 4).replace("[%tex, {%x0, %x1, %x2, %x3}]", "%tex, {%x0, %x1, %x2, %x3}")
    device = Device(text)
    out = device.zeros((1, 4), np.float32)
    device.launch("k", 1, 1, device.texture(LINE, "1d"), 0, device.upload(rows([(2.5,)])), out)
    assert out.download()[0, 0] == 30


@pytest.mark.parametrize("options", [VIRTUAL, COMPILED], ids=["virtual", "compiled"])
def test_each_lane_may_bring_a_handle_of_its_own(options: Any) -> None:
    text = fetch_text("tex.1d.v4.f32.f32", 1).replace(
        "mov.b32 %r0, 0;", "ld.global.b64 %tex, [%in+24]; mov.b32 %r0, 0;"
    )
    device = Device(text, options)
    textures = [device.texture(LINE + 100 * i, "1d") for i in range(3)]
    table = rows([(1.5,)] * 32)
    table.view(np.uint64)[:, 3] = [textures[i % 3].handle for i in range(32)]
    out = device.zeros((32, 4), np.float32)
    device.launch("k", 1, 32, 0, 0, device.upload(table), out)
    assert out.download()[:, 0].tolist() == [20 + 100 * (i % 3) for i in range(32)]


def test_a_sampler_overrides_filter_and_address_mode() -> None:
    fetch = Fetcher("tex.1d.v4.f32.f32", 1, sampled=True)
    at = [(1.0,), (-1.0,)]
    assert first(fetch(LINE, "1d", at, sampler={"filter": "linear", "address": "border"})) == [15, 0]
    half = [(0.5,)]
    assert first(fetch(LINE, "1d", half, normalized=True, sampler={})) == [30]
    assert first(fetch(LINE, "1d", half, normalized=True, sampler={"normalized": False})) == [10]


@pytest.mark.parametrize("options", [VIRTUAL, COMPILED], ids=["virtual", "compiled"])
def test_references_are_bound_by_name(options: Any) -> None:
    before = (
        ".global .texref image; .global .samplerref soft = { addr_mode_0 = clamp_to_border, filter_mode = linear };"
        ".tex .u64 old;"
    )
    text = fetch_text("tex.1d.v4.f32.f32", 1, sampled=True, before=before, texture="image")
    for name in ("image", "old"):
        device = Device(text.replace("%smp, {", "soft, {").replace("[image", f"[{name}"), options)
        device.bind(name, device.texture(LINE, "1d"))
        out = device.zeros((2, 4), np.float32)
        device.launch("k", 1, 2, 0, 0, device.upload(rows([(1.0,), (-3.0,)])), out)
        assert out.download()[:, 0].tolist() == [15, 0]


@pytest.mark.parametrize("options", [VIRTUAL, COMPILED], ids=["virtual", "compiled"])
def test_the_address_of_a_reference_is_its_handle(options: Any) -> None:
    text = fetch_text("tex.1d.v4.f32.f32", 1, before=".global .texref image;")
    device = Device(text.replace("mov.b32 %r0, 0;", "mov.u64 %tex, image; mov.b32 %r0, 0;"), options)
    device.bind("image", device.texture(LINE, "1d"))
    out = device.zeros((1, 4), np.float32)
    device.launch("k", 1, 1, 0, 0, device.upload(rows([(3.5,)])), out)
    assert out.download()[0, 0] == 40


def test_parameters_may_be_references() -> None:
    text = fetch_text("tex.1d.v4.f32.f32", 1, texture="tex").replace(".param .u64 tex", ".param .texref tex")
    text = text.replace("ld.param.u64 %tex, [tex];", "")
    for options in (VIRTUAL, COMPILED):
        device = Device(text, options)
        out = device.zeros((1, 4), np.float32)
        device.launch("k", 1, 1, device.texture(LINE, "1d"), 0, device.upload(rows([(3.5,)])), out)
        assert out.download()[0, 0] == 40


def test_a_buffer_as_a_texture_shows_what_a_kernel_writes() -> None:
    device = Device(fetch_text("tex.1d.v4.f32.f32", 1))
    buffer = device.upload(LINE)
    texture, out = device.texture(buffer, "1d"), device.zeros((1, 4), np.float32)
    buffer.write(LINE + 1)
    device.launch("k", 1, 1, texture, 0, device.upload(rows([(3.5,)])), out)
    assert out.download()[0, 0] == 41


def ask(make: Any, *queries: str, before: str = "") -> list[int]:
    """The answers to queries of a handle that ``make`` gives on a device; each ends in ``[%tex]`` or ``%tex``."""
    body = "".join(f"{query} st.global.b32 [%out+{4 * i}], %r0;" for i, query in enumerate(queries))
    answers = []
    for options in (VIRTUAL, COMPILED):
        device = Device(
            f""".version 8.0
            .target sm_80
            .address_size 64
            {before}
            .visible .entry k(.param .u64 tex, .param .u64 out)
            {{
                .reg .b64 %tex, %out; .reg .b32 %r<2>; .reg .pred %p;
                ld.param.u64 %tex, [tex]; ld.param.u64 %out, [out]; mov.b32 %r1, 0;
                {body}
                ret;
            }}""",
            options,
        )
        made = make(device)
        out = device.zeros(len(queries), np.uint32)
        device.launch("k", 1, 1, made, out)
        answers.append(out.download().tolist())
    assert answers[0] == answers[1]
    return answers[0]


def test_queries_give_the_numbers_that_ptx_defines() -> None:
    def make(device: Device) -> Texture:
        bytes_ = np.zeros((5, 3, 4, 2), np.uint8)
        address: tuple[Address, ...] = ("wrap", "mirror", "border")
        return device.texture(
            bytes_, "2d-layered", address=address, filter="linear", normalized=True, read="normalized"
        )

    asked = [
        "width", "height", "depth", "array_size", "channel_data_type", "channel_order", "normalized_coords",
        "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2", "num_mipmap_levels", "num_samples",
    ]  # fmt: skip
    found = ask(make, *(f"txq.{name}.b32 %r0, [%tex];" for name in asked), "txq.level.width.b32 %r0, [%tex], %r1;")
    assert found == [4, 3, 1, 5, 0x10D2, 0x10B2, 1, 1, 0, 1, 4, 0, 0, 4]
    clamped = ask(
        lambda d: d.texture(LINE, "1d"), "txq.addr_mode_0.b32 %r0, [%tex];", "txq.filter_mode.b32 %r0, [%tex];"
    )
    assert clamped == [3, 0]


def test_queries_of_surfaces_and_kinds_of_handles() -> None:
    def make(device: Device) -> Surface:
        return device.surface(np.zeros((2, 3, 4), np.int16), "3d")

    asked = ["width", "height", "depth", "channel_data_type", "channel_order", "array_size", "memory_layout"]
    found = ask(make, *(f"suq.{name}.b32 %r0, [%tex];" for name in asked))
    assert found == [4, 3, 2, 0x10D8, 0x10B0, 0, 0]
    tests = [f"istypep.{name} %p, %tex; selp.b32 %r0, 1, 0, %p;" for name in ("texref", "samplerref", "surfref")]
    assert ask(make, *tests) == [0, 0, 1]
    assert ask(lambda d: d.texture(LINE, "1d"), *tests) == [1, 0, 0]
    assert ask(lambda d: d.sampler(), *tests) == [0, 1, 0]
    assert ask(lambda d: 1234, *tests) == [0, 0, 0]
