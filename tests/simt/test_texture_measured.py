"""Texture fetches as an H100 did them (sm_90, driver for CUDA 13): texels, coordinates and the GPU's results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.simt.texturing import Fetcher

LINEAR = {"filter": "linear"}
READ = {"read": "normalized"}
UNIT = {"normalized": True}


def fetched(form: str, kind: str, texels: Any, dtype: str, point: tuple[float | int, ...], **options: Any) -> Any:
    """The first results of a fetch; ``point`` has as many coordinates as the kind of texture."""
    count = 4 if form.split(".")[1] in ("a2d", "cube", "3d") else len(point)
    is_float = dtype[0] == "f" or options.get("read") == "normalized"
    padded = (*point, *[0.0] * (count - len(point)))
    return Fetcher(form, count)(np.array(texels, dtype), kind, [padded], np.float32 if is_float else "u4", **options)[0]


@pytest.mark.parametrize(
    ("texels", "dtype", "options", "expected"),
    [
        ([[205, 24], [236, 8], [246, 164], [231, 36]], "u1", {"address": "mirror"}, [236, 8, 0, 0]),
        ([-1418922961, 2006897514, 112952827, -1133638733], "i4", {"address": "wrap"}, [3161328563, 0, 0, 0]),
        ([-2268, -2292, 21275, -30840, 3297, 12839], "i2", {"address": "wrap", **READ}, [-0.06921598, 0, 0, 0]),
    ],
)
def test_missing_channels_read_0(texels: Any, dtype: str, options: Any, expected: list[float]) -> None:
    at = {"u1": 2.25, "i4": 2.875, "i2": -0.875}[dtype]
    found = fetched("tex.1d.v4.f32.f32", "1d", texels, dtype, (at,), normalized=True, **options)
    assert found.tolist() == [np.float32(x) if dtype == "i2" else x for x in expected]


@pytest.mark.parametrize(
    ("kind", "texels", "dtype", "point", "options", "expected"),
    [
        # f16: 51.96875 * 224/256 is 45.47265625, the nearest half is 45.46875; 96.90625 lies midway, and goes up
        (
            "1d",
            [[51.96875, 17.015625, 110.75, 11.46875]],
            "f2",
            (0.375,),
            {"address": "border", **UNIT},
            [45.46875, 14.890625, 96.9375, 10.0390625],
        ),
        # f32: 84.85252 / 2
        ("1d", [55.44876480102539, 20.20798683166504], "f4", (0.0,), {"address": "border"}, [27.724382, 0, 0, 0]),
        # 16 bits: (44555 + 25148) / 2 = 34851.5, which is 34852 / 65535
        (
            "1d",
            [[44555, 25525, 21900, 8809], [25148, 54830, 8196, 48466]],
            "u2",
            (1.0,),
            READ,
            [0.5318074, 0.613077, 0.22961776, 0.43698788],
        ),
        # 8 bits as 16: 78/127 is 20125/32767
        (
            "1d",
            [[78, 23], [-51, -119], [-15, -3]],
            "i1",
            (-0.75,),
            {"address": ("clamp", "wrap", "border"), **UNIT, **READ},
            [0.614185, 0.18109684, 0, 0],
        ),
        (
            "2d",
            [[[8, 61]], [[-71, -35]]],
            "i1",
            (4.0, 1.0),
            {"address": ("clamp", "border"), **READ},
            [-0.24802393, 0.10235908, 0, 0],
        ),
        (
            "2d",
            [[[57222, 39311, 8744, 3055]], [[15504, 1808, 61969, 63851]]],
            "u2",
            (1.375, 2.375),
            {"address": ("border", "clamp"), **UNIT, **READ},
            [1938 / 65535, 226 / 65535, 7746 / 65535, 7981 / 65535],
        ),
    ],
)
def test_means_have_the_precision_of_the_format(
    kind: str, texels: Any, dtype: str, point: Any, options: Any, expected: list[float]
) -> None:
    found = fetched(f"tex.{kind}.v4.f32.f32", kind, texels, dtype, point, filter="linear", **options)
    assert found.tolist() == np.array(expected, np.float32).tolist()


FOUR = [
    [
        [-25.37926483154297, 68.16754150390625, 31.202701568603516, -31.927038192749023],
        [26.476682662963867, -78.68565368652344, 71.68644714355469, -25.475679397583008],
    ],
    [
        [-11.1690034866333, 87.95564270019531, 14.674251556396484, -16.877471923828125],
        [-7.072810649871826, -22.193103790283203, 36.44570541381836, -96.03028869628906],
    ],
]
"""Texels of which a fetch from a cube took the mean; the fractions were 134 and 121."""


def test_products_of_weights_are_whole_256ths() -> None:
    """(256 - 134)(256 - 121)/256 = 64.34, and 70.66, 57.66 and 63.34: the weights are 64, 71, 58 and 63."""
    at = (0.5 + 134 / 256, 0.5 + 121 / 256)
    found = fetched("tex.2d.v4.f32.f32", "2d", FOUR, "f4", at, **LINEAR)
    assert found.tolist() == np.array([-3.2727256, 9.684777, 39.97616, -42.503536], np.float32).tolist()


def test_coordinates_are_rounded_to_256ths_before_they_are_split() -> None:
    """0.49928 is 128/256, and lies on the border between two texels, not just before it."""
    row = np.full((9, 3), 1.0, np.float16)
    row[:, 0], row[:, 1] = 44.8125, -48.9375
    found = fetched("tld4.r.2d.v4.f32.f32", "2d", row, "f2", (0.4992840886116028, 8.432001113891602))
    assert found.tolist() == [44.8125, -48.9375, -48.9375, 44.8125]


def test_a_gathered_signed_byte_has_16_bits() -> None:
    """-64/127 is -16512/32767; a fetch without a filter returns -0.503937."""
    found = fetched("tld4.r.2d.v4.f32.f32", "2d", [[-64]], "i1", (-0.5, -3.0), address=("border", "clamp"), **READ)
    assert found.tolist() == np.array([0, -0.5039216, -0.5039216, 0], np.float32).tolist()
    plain = fetched("tex.2d.v4.f32.f32", "2d", [[-64]], "i1", (0.5, 4.5), address=("border", "clamp"), **READ)
    assert plain.tolist() == [np.float32(-0.503937), 0, 0, 0]


def test_mirror_acts_on_the_indices_of_texels() -> None:
    """Texel -4 of 4 stands for texel 3, and -3 for 2: the order of a gather turns."""
    square = np.array([[[69, 154], [95, 73]], [[237, 191], [7, 232]]], np.uint8)
    row = np.zeros((4, 4, 2), np.uint8)
    row[0, 2], row[0, 3], row[1, 2], row[1, 3] = square[1, 0], square[1, 1], square[0, 0], square[0, 1]
    table = Fetcher("tld4.r.2d.v4.f32.f32", 2)
    options: dict[str, Any] = {"address": ("border", "mirror", "wrap"), "normalized": True}
    found = table(row, "2d", [(0.75, -0.25)], "u4", **options)
    assert found[0].tolist() == [237, 7, 95, 69]


@pytest.mark.parametrize("address", ["clamp", "border"])
def test_integer_coordinates_outside_read_nothing(address: str) -> None:
    texels = [[30075, 10882], [56794, 47670]]
    one = fetched("tex.2d.v4.s32.s32", "2d", texels, "u2", (0, 1), address=address, **READ)
    assert one.tolist() == [np.float32(0.8666209), 0, 0, 0]
    other = fetched("tex.2d.v4.s32.s32", "2d", texels, "u2", (0, 2), address=address, **READ)
    assert other.tolist() == [0, 0, 0, 0]
    layers = np.arange(12, dtype=np.uint32).reshape(3, 2, 2) + 1
    fetch = Fetcher("tex.a2d.v4.s32.s32", 4)
    assert fetch(layers, "2d-layered", [(2, 0, 0, 0), (3, 0, 0, 0)], "u4")[:, 0].tolist() == [9, 0]
