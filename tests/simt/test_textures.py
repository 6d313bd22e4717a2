"""Texture fetches by hand-derived values (CUDA C++ Programming Guide, "Texture Memory" and "Texture Fetching")."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simt.texturing import Fetcher

LINE = np.array([10, 20, 30, 40], np.float32)
"""Texels whose centres are at 0.5, 1.5, 2.5, 3.5."""

GRID = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
"""Two texels in x, three in y."""


@pytest.fixture(scope="module")
def tex_1d() -> Fetcher:
    return Fetcher("tex.1d.v4.f32.f32", 1)


@pytest.fixture(scope="module")
def tex_2d() -> Fetcher:
    return Fetcher("tex.2d.v4.f32.f32", 2)


def first(found: np.ndarray) -> list[float]:
    return [float(row[0]) for row in found]


def test_point_sampling_takes_the_texel_that_the_coordinate_lies_in(tex_1d: Fetcher) -> None:
    found = tex_1d(LINE, "1d", [(0.0,), (0.99,), (1.0,), (3.999,)])
    assert first(found) == [10, 10, 20, 40]


@pytest.mark.parametrize(
    ("address", "expected"),
    [("clamp", [10, 10, 40, 40, 10]), ("border", [0, 0, 0, 0, 0])],
)
def test_outside_texel_coordinates(tex_1d: Fetcher, address: str, expected: list[float]) -> None:
    outside = [(-0.25,), (-1e30,), (4.0,), (float("inf"),), (float("nan"),)]
    assert first(tex_1d(LINE, "1d", outside, address=address)) == expected


@pytest.mark.parametrize("address", ["wrap", "mirror"])
def test_wrap_and_mirror_clamp_without_normalized_coordinates(tex_1d: Fetcher, address: str) -> None:
    assert first(tex_1d(LINE, "1d", [(-1.0,), (5.0,)], address=address)) == [10, 40]


def test_wrap_repeats_and_mirror_turns_round(tex_1d: Fetcher) -> None:
    at = [(-0.1,), (0.1,), (0.9,), (1.1,), (1.9,), (2.1,)]
    assert first(tex_1d(LINE, "1d", at, address="wrap", normalized=True)) == [40, 10, 40, 10, 40, 10]
    assert first(tex_1d(LINE, "1d", at, address="mirror", normalized=True)) == [10, 10, 40, 40, 10, 10]
    assert first(tex_1d(LINE, "1d", at, address="clamp", normalized=True)) == [10, 10, 40, 40, 40, 40]
    assert first(tex_1d(LINE, "1d", at, address="border", normalized=True)) == [0, 10, 40, 0, 0, 0]


def test_linear_filter_in_256ths(tex_1d: Fetcher) -> None:
    """1.0 is midway between the centres 0.5 and 1.5; 0.5 + 1/512 rounds to a fraction of 0, + 3/512 to 2/256."""
    at = [(0.5,), (1.0,), (1.25,), (0.5 + 1 / 512,), (0.5 + 3 / 512,), (1.4999,)]
    expected = [10, 15, 17.5, 10, 10 + 10 * 2 / 256, 20]
    assert first(tex_1d(LINE, "1d", at, filter="linear")) == expected


def test_linear_filter_at_the_edges(tex_1d: Fetcher) -> None:
    """At 0 half of the weight falls on texel -1, at 4 on texel 4."""
    at = [(0.0,), (4.0,)]
    assert first(tex_1d(LINE, "1d", at, filter="linear")) == [10, 40]
    assert first(tex_1d(LINE, "1d", at, filter="linear", address="border")) == [5, 20]
    ends = [(0.0,), (1.0,)]
    assert first(tex_1d(LINE, "1d", ends, filter="linear", address="wrap", normalized=True)) == [25, 25]
    assert first(tex_1d(LINE, "1d", ends, filter="linear", address="mirror", normalized=True)) == [10, 40]


def test_two_dimensions(tex_2d: Fetcher) -> None:
    assert first(tex_2d(GRID, "2d", [(0.5, 0.5), (1.5, 0.5), (0.5, 2.5), (9.0, 9.0)])) == [1, 2, 5, 6]
    found = tex_2d(GRID, "2d", [(1.0, 1.0), (0.75, 1.5)], filter="linear")
    assert first(found) == [(1 + 2 + 3 + 4) / 4, 3 * 0.75 + 4 * 0.25]


def test_an_address_mode_for_each_dimension(tex_2d: Fetcher) -> None:
    found = tex_2d(GRID, "2d", [(-0.5, 0.5), (0.5, -0.5)], address=("border", "clamp"))
    assert first(found) == [0, 1]


def test_missing_channels_read_0(tex_1d: Fetcher) -> None:
    assert tex_1d(LINE, "1d", [(1.5,)]).tolist() == [[20, 0, 0, 0]]
    pairs = np.array([[1, 2], [3, 4]], np.float32)
    assert tex_1d(pairs, "1d", [(1.5,)]).tolist() == [[3, 4, 0, 0]]
    fours = np.arange(8, dtype=np.float32).reshape(2, 4)
    assert tex_1d(fours, "1d", [(1.5,)]).tolist() == [[4, 5, 6, 7]]
    assert tex_1d(LINE, "1d", [(-1.5,)], address="border").tolist() == [[0, 0, 0, 0]]
    whole = np.array([7, 8], np.int32)
    assert tex_1d(whole, "1d", [(1.5,)], dtype=np.int32).tolist() == [[8, 0, 0, 0]]


@pytest.mark.parametrize(
    ("dtype", "numbers"),
    [
        ("u1", [0, 1, 255]),
        ("i1", [0, -1, -128]),
        ("u2", [0, 1, 65535]),
        ("i2", [0, -1, -32768]),
        ("u4", [0, 1, 2**32 - 1]),
        ("i4", [0, -1, -(2**31)]),
    ],
)
def test_integers_are_widened(dtype: str, numbers: list[int]) -> None:
    fetch = Fetcher("tex.1d.v4.s32.s32", 1)
    found = fetch(np.array(numbers, dtype), "1d", [(0,), (1,), (2,)], dtype=np.dtype("u4" if dtype == "u4" else "i4"))
    assert found[:, 0].tolist() == numbers


@pytest.mark.parametrize(
    ("dtype", "numbers", "expected"),
    [
        ("u1", [0, 51, 255], [0, 0.2, 1]),
        ("i1", [127, -127, -128], [1, -1, -1]),
        ("u2", [0, 13107, 65535], [0, 0.2, 1]),
        ("i2", [32767, -32767, -32768], [1, -1, -1]),
    ],
)
def test_normalized_reads(tex_1d: Fetcher, dtype: str, numbers: list[int], expected: list[float]) -> None:
    found = tex_1d(np.array(numbers, dtype), "1d", [(0.5,), (1.5,), (2.5,)], read="normalized")
    assert first(found) == [float(np.float32(x)) for x in expected]


def test_half_precision_texels_are_widened(tex_1d: Fetcher) -> None:
    numbers = [1.0, -0.5, 6.0e-8, 65504.0, float("inf")]
    array = np.array(numbers, np.float16)
    found = tex_1d(array, "1d", [(i + 0.5,) for i in range(5)])
    assert np.array_equal(found[:, 0], array.astype(np.float32))


def test_integer_coordinates_are_texels_whatever_the_filter() -> None:
    fetch = Fetcher("tex.1d.v4.f32.s32", 1)
    at = [(-1,), (0,), (3,), (4,)]
    assert first(fetch(LINE, "1d", at, filter="linear")) == [0, 10, 40, 0]
    assert first(fetch(LINE, "1d", at, address="border")) == [0, 10, 40, 0]


def test_three_dimensions() -> None:
    cube = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    fetch = Fetcher("tex.3d.v4.f32.f32", 4)
    found = fetch(cube, "3d", [(0.5, 0.5, 1.5, 9.0), (1.5, 0.5, 0.5, 9.0), (9.0, 9.0, 9.0, 9.0)])
    assert first(found) == [4, 1, 7]
    assert first(fetch(cube, "3d", [(1.0, 1.0, 1.0, 0.0)], filter="linear")) == [3.5]


def test_layers_are_chosen_by_number_and_stay_within_the_array() -> None:
    lines = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    found = Fetcher("tex.a1d.v4.f32.f32", 2)(lines, "1d-layered", [(0, 1.5), (1, 0.5), (2, 0.5), (7, 0.5)])
    assert first(found) == [2, 3, 5, 5]
    sheets = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    found = Fetcher("tex.a2d.v4.f32.f32", 4)(sheets, "2d-layered", [(0, 2.5, 1.5, 0.0), (1, 0.5, 0.5, 0.0)])
    assert first(found) == [5, 6]


def test_cube_faces() -> None:
    """The face of the largest coordinate; (s/m + 1)/2 and (t/m + 1)/2 say where on it."""
    faces = np.arange(24, dtype=np.float32).reshape(6, 2, 2)
    fetch = Fetcher("tex.cube.v4.f32.f32", 4)
    straight = [(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]
    found = fetch(faces, "cube", [(*point, 0.0) for point in straight])
    assert [int(x) // 4 for x in first(found)] == [0, 1, 2, 3, 4, 5]
    corner = fetch(faces, "cube", [(2.0, 1.0, 1.0, 0.0), (2.0, -1.0, -1.0, 0.0), (0.5, 0.5, 1.0, 0.0)])
    assert first(corner) == [0, 3, 16 + 1]
    layered = Fetcher("tex.acube.v4.f32.f32", 4)(
        np.concatenate([faces, faces + 100]), "cube-layered", [(1, 0.0, 0.0, -1.0), (0, 0.0, -3.0, 0.0)]
    )
    assert [int(x) // 4 for x in first(layered)] == [(100 + 20 + 3) // 4, 3]
