"""The references of CUDA SDK workloads on images, sorting and eigenvalues, by hand or by a textbook loop."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.fft import dctn
from scipy.ndimage import convolve1d, uniform_filter1d

from warpreg import workloads
from warpreg.workloads import Arrays, Size
from warpreg.workloads.cuda_sdk import (
    bicubic_texture,
    box_filter,
    dct8x8,
    dxtc,
    eigenvalues,
    image_denoising,
    pictures,
    recursive_gaussian,
    volume_render,
)


def reference(name: str, size: Size, **inputs: Any) -> Arrays:
    return workloads.find(name).reference(size, inputs)


def test_a_linear_fetch_mixes_four_texels_in_256ths() -> None:
    image = np.array([[0, 100], [200, 60]], np.uint8)
    # Three quarters of the way from column 0 to 1, half of the way from row 0 to 1: (75 + (200 + 3 * 60) / 4) / 2
    assert pictures.linear(image, np.array([1.25]), np.array([1.0])).tolist() == [85.0]
    # 0.001 is less than half of a 256th
    assert pictures.linear(image, np.array([0.501]), np.array([0.5])).tolist() == [0.0]
    assert pictures.linear(image, np.array([-3.0]), np.array([9.0])).tolist() == [200.0]


def test_a_photograph_has_the_channels_asked_for() -> None:
    assert pictures.photograph(9, 13, np.random.default_rng(0)).shape == (9, 13)
    coloured = pictures.photograph(9, 13, np.random.default_rng(0), channels=4)
    assert (coloured.shape, coloured.dtype) == ((9, 13, 4), np.uint8)


def test_bicubic_views_of_a_constant_are_that_constant_and_of_a_ramp_a_ramp() -> None:
    size = {"width": 8, "height": 4}
    flat = reference("bicubic-texture", size, image=np.full((40, 40), 77, np.uint8))
    assert all(set(view[..., :3].ravel()) <= {76, 77} for view in flat.values())
    ramp = np.tile(np.arange(0, 200, 5, dtype=np.uint8), (40, 1))
    views = reference("bicubic-texture", size, image=ramp)
    # u = (x - 4) * 0.3125 + 13.125; texel i is 5 i with its centre at i + 0.5; a ramp passes through all filters
    expected = [int(5 * ((x - 4) * 0.3125 + 12.625)) for x in range(8)]
    for name in ("bilinear", "bicubic", "catmull_rom"):
        assert views[name][0, :, 0].tolist() == expected, name


@pytest.mark.parametrize("weights", [bicubic_texture.spline, bicubic_texture.catmull_rom])
def test_cubic_weights_sum_to_one_and_a_pair_of_pairs_replaces_them(weights: Callable[[NDArray[Any]], Any]) -> None:
    t = np.linspace(0, 1, 9)
    assert sum(weights(t)) == pytest.approx(np.ones(9))
    # The first moment of weights at -1, 0, 1, 2 is the place itself
    assert sum(w * place for w, place in zip(weights(t), (-1, 0, 1, 2), strict=True)) == pytest.approx(t)


def test_a_catmull_rom_spline_interpolates_and_a_b_spline_smooths() -> None:
    assert [float(w) for w in bicubic_texture.catmull_rom(np.array(0.0))] == [0, 1, 0, 0]
    assert [float(w) for w in bicubic_texture.spline(np.array(0.0))] == pytest.approx([1 / 6, 4 / 6, 1 / 6, 0])


def test_box_filter_is_scipys_uniform_filter() -> None:
    image = np.random.default_rng(2).random((20, 9)).astype(np.float32)
    for axis in (0, 1):
        expected = uniform_filter1d(image.astype(float), 7, axis=axis, mode="nearest")
        assert box_filter.running_mean(image, 3, axis) == pytest.approx(expected, abs=1e-5)


def test_convolution_texture_is_scipys_convolution_with_repeated_borders() -> None:
    rng = np.random.default_rng(3)
    image, weights = rng.integers(0, 16, (20, 30)).astype(np.float32), np.arange(17, dtype=np.float32)
    rows = convolve1d(image.astype(float), weights, axis=1, mode="nearest")
    expected = convolve1d(rows, weights, axis=0, mode="nearest")
    assert reference("convolution-texture", {}, image=image, weights=weights)["image"] == pytest.approx(expected)


def test_sobel_filter_of_an_edge() -> None:
    image = np.zeros((5, 8), np.uint8)
    image[:, 4:] = 40
    found = reference("sobel-filter", {}, image=image)
    # Beside the edge: 40 + 2 * 40 + 40 = 160 across, nothing down; times 0.75
    assert found["texture"][2].tolist() == [0, 0, 0, 120, 120, 0, 0, 0]
    assert found["copy"][0, 7] == 50


def test_recursive_gaussian_keeps_constants_and_spreads_a_line_like_a_gaussian() -> None:
    c = recursive_gaussian.coefficients(3.0)
    # Both ways together a constant passes
    assert c.down_gain + c.up_gain == pytest.approx(1)
    line = np.zeros((61, 1), np.uint8)
    line[30] = 255
    found = recursive_gaussian.smoothed(line, c)[:, 0].astype(float)
    places = np.arange(61) - 30
    assert found[30] == pytest.approx(255 / (3.0 * np.sqrt(2 * np.pi)), rel=0.2)
    assert np.sqrt((found * places**2).sum() / found.sum()) == pytest.approx(3.0, rel=0.2)
    assert recursive_gaussian.smoothed_first_order(np.full((9, 2), 200, np.uint8), 0.5).tolist() == [[200, 200]] * 9


def test_dct8x8_is_scipys_transform_and_fixed_point_is_near_it() -> None:
    rng = np.random.default_rng(4)
    image = rng.integers(-128, 128, (8, 16))
    found = reference("dct8x8", {}, image=image.astype(np.float32), short_image=image.astype(np.int16))
    expected = np.hstack([dctn(block, norm="ortho") for block in (image[:, :8], image[:, 8:])])
    assert found["matrix_coefficients"] == pytest.approx(expected, abs=1e-3)
    assert np.all(found["short_coefficients"] % np.hstack([dct8x8.quanta()] * 2) == 0)
    fixed = dct8x8.both_ways(image[:, :8], dct8x8.forward_eight)
    assert np.abs(fixed - expected[:, :8]).max() <= 2
    assert np.abs(dct8x8.both_ways(fixed, dct8x8.inverse_eight) - image[:, :8]).max() <= 3


@pytest.mark.parametrize("name", ["merge-sort", "radix-sort"])
def test_sorts_keep_equal_keys_in_their_order(name: str) -> None:
    keys = np.array([3, 1, 3, 0, 1], np.uint32)
    found = reference(name, {}, keys=keys, values=np.arange(5, dtype=np.uint32))
    assert found["keys"].tolist() == [0, 1, 1, 3, 3]
    assert found["values"].tolist() == [3, 1, 4, 0, 2]


def test_dxtc_partitions_are_all_cuts_of_sixteen_colours() -> None:
    table = dxtc.partitions()
    assert len(table) == 992
    # Cuts of 16 into three runs in order: C(18, 2); into four: C(19, 3)
    assert (len(set(table[:160].tolist())), len(set(table.tolist()))) == (153, 969)
    assert dxtc.weights(dxtc.ALPHA_OF_4).tolist() == [[3, 9, 0, 0], [0, 0, 9, 0], [2, 4, 1, 2], [1, 1, 4, 2]]


def test_dxtc_gives_two_colours_back_as_they_were() -> None:
    block = np.zeros((1, 16, 4), np.uint8)
    block[0, :5, 0] = 255
    block[0, 5:, 1:3] = 255
    found = reference("dxtc", {}, blocks=block)
    # Red is 31 << 11, the other the rest of the bits; a palette of four has the larger first.
    assert found["compressed"][0, 0] == 0xF800 + (0x07FF << 16)
    assert found["compressed"][0, 1] == sum(1 << (2 * place) for place in range(5, 16))
    assert found["error"].tolist() == [0.0]


def test_denoising_keeps_a_flat_picture_and_weighs_the_likeness() -> None:
    flat = np.full((10, 11, 4), 100, np.uint8)
    found = reference("image-denoising", {}, image=flat)
    for name in ("copy", "knn", "nlm", "nlm_quick"):
        assert set(found[name][..., :3].ravel()) <= {99, 100}, name
    # Far neighbours weigh exp(-18 / 49) = 0.69, over both thresholds: all is smooth, which is shown red
    assert found["knn_regions"][5, 5].tolist() == found["nlm_regions"][5, 5].tolist() == [255, 0, 0, 0]
    image = np.zeros((9, 9, 3))
    image[4, 5] = 0.5
    weights = image_denoising.knn_weights(image)
    # One to the right differs by 3 * 0.25, over 0.32^2; the distance counts 1 / 49
    assert weights[0, 1][4, 4] == pytest.approx(np.exp(-0.75 / 0.1024 - 1 / 49))
    # The windows around both have the bright pixel at two places: 2 * 0.75
    assert image_denoising.nlm_weights(image)[0, 1][4, 4] == pytest.approx(np.exp(-1.5 / 1.45**2 - 1 / 49))


def test_quick_weights_are_those_of_the_middle_of_a_block() -> None:
    image = np.random.default_rng(5).random((8, 8, 3))
    quick, slow = image_denoising.quick_weights(image), image_denoising.nlm_weights(image)
    assert quick[1, -2][0, 0] == pytest.approx(slow[1, -2][3, 3])
    assert quick[4, 4][7, 7] == quick[4, 4][0, 0]


def test_rays_cross_the_cube_where_it_is() -> None:
    origin = np.array([0.0, 0.0, 4.0])
    near, far = volume_render.crossing(origin, np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]))
    assert (near[0], far[0]) == (3.0, 5.0)
    assert near[1] >= far[1]


def test_a_volume_of_one_density_is_as_opaque_as_the_way_is_long() -> None:
    workload = workloads.find("volume-render")
    inputs = dict(workload.problem("tiny").inputs)
    inputs["volume"] = np.full((32, 32, 32), 255, np.uint8)
    transfer = np.zeros((9, 4), np.float32)
    transfer[:, [0, 3]] = 0.5, 0.04
    found = workload.reference({"width": 2, "height": 2, "step": 100}, inputs | {"transfer": transfer})
    red, green, _, opacity = found["picture"][1, 1].astype(float)
    steps = np.log(1 - opacity / 255) / np.log(1 - 0.04 * volume_render.DENSITY)
    # The way through the cube is between 2 and 2 sqrt(3) long in the middle; the cut to levels is worth half a step
    assert 2 / 0.1 - 1 < steps < 2 * 3**0.5 / 0.1 + 1
    assert (red, green) == (pytest.approx(opacity / 2, abs=1), 0)


def test_eigenvalues_of_a_path_are_cosines() -> None:
    n = 12
    beside = np.full(n, 0.5, np.float32)
    beside[0] = 0
    matrix = {
        f"{name}_{part}": array
        for name in ("small", "large")
        for part, array in (("diagonal", 0 * beside), ("beside", beside))
    }
    found = reference("eigenvalues", {}, **matrix)
    assert found["large"] == pytest.approx(np.sort(np.cos(np.pi * np.arange(1, n + 1) / (n + 1))), abs=1e-6)
    lowest, highest = eigenvalues.bounds(0 * beside, beside)
    assert lowest < found["large"][0] < found["large"][-1] < highest
    assert (lowest, highest) == pytest.approx((-1, 1), abs=1e-5)
