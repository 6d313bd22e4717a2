"""The references of the shaders by hand, and the texture sampler that they share."""

import numpy as np
import pytest

from warpreg import workloads
from warpreg.workloads import shaders
from warpreg.workloads.shaders import depth_of_field, normal_mapping, shadow_lookup

ONE_PIXEL = {"height": 1, "width": 1}
WHITE = np.full((2, 2, 4), 255, np.uint8)


def reference(name, size, **inputs):
    typed = {
        key: value if isinstance(value, np.ndarray) else np.array(value, np.float32) for key, value in inputs.items()
    }
    return workloads.find(name).reference(size, typed)


@pytest.mark.parametrize(
    ("x", "address", "expected"),
    [
        (0.5, "clamp", 10.0),  # the middle of the first texel
        (1.0, "clamp", 15.0),
        (-3.0, "clamp", 10.0),
        (1.999, "clamp", 20.0),  # the fraction 0.499 + 0.5 is nearest to 256/256
        (0.501, "clamp", 10.0),  # and 0.001 to 0/256
        (0.503, "clamp", 10.0 + 10 / 256),
        (0.0, "wrap", 15.0),
        (2.25, "wrap", 12.5),  # 0.25 again, a quarter from the first texel to the last
    ],
)
def test_a_linear_filter_mixes_two_texels_in_256ths(x, address, expected):
    texels = np.float32([10, 20])
    found = shaders.sample(texels, np.float32([x / 2]), address=address, filter="linear", normalized=True)
    assert found == pytest.approx([expected], abs=1e-6)


def test_a_point_filter_takes_the_texel_of_each_axis():
    texels = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    assert shaders.sample(texels, np.float32([2.9]), np.float32([1.0])).tolist() == [[10, 11]]


def test_lighting_above_a_white_surface():
    # The light is 1 above, with a range of 2: (1 - 1/4)^2 of it arrives, once diffuse and once as a highlight
    found = reference(
        "lighting",
        {},
        positions=[[[0, 0, 0, 1], [0, 0, 0, 0]]],
        normals=[[[0, 1, 0, 0]] * 2],
        uv=np.zeros((1, 2, 2)),
        diffuse=WHITE,
        specular=WHITE,
        lights=[[0, 1, 0, 0.25, 1, 0.5, 0, 0]],
    )["colours"]
    assert found[0, 0] == pytest.approx([0.1 + 2 * 0.5625, 0.1 + 0.5625, 0.12, 1])
    assert found[0, 1] == pytest.approx([0.4, 0.6, 0.9, 1])


def test_shadow_lookup_is_soft_at_the_edge_of_a_shadow():
    depths = np.zeros((10, 10), np.float32)
    depths[:, 4:] = 1
    found = reference(
        "shadow-lookup",
        {"texels": 10},
        positions=[[[3, 4, 0.5, 1], [4, 4, 0.5, 1], [5, 4, 0.5, 1], [6, 4, 0.5, 1], [9, 4, 0.5, 1]]],
        normals=np.tile(np.append(shadow_lookup.TO_LIGHT, 0), (1, 5, 1)),
        depths=depths,
        rows=np.eye(3, 4),
    )["shadows"]
    # A square of 2 x 2 on the edge is half lit: of three beside each other 1/2, 1/2 + 1, ..; outside all is lit
    assert found[0] == pytest.approx([0.5 / 3, 1.5 / 3, 2.5 / 3, 1, 1])


def test_normal_mapping_of_a_flat_white_surface():
    found = reference(
        "normal-mapping",
        ONE_PIXEL,
        positions=[[[0, 0, 0, 0]]],
        normals=[[[0, 2, 0, 0]]],
        tangents=[[[1, 0, 0, 1]]],
        uv=[[[0.3, 0.7]]],
        colour_map=WHITE,
        normal_map=np.tile(np.uint8([128, 128, 255, 0]), (2, 2, 1)),
        height_map=np.full((2, 2), 0.5),
    )["colours"]
    expected = normal_mapping.SUN[3] * normal_mapping.SUN[1] + normal_mapping.SKY[:3]
    assert found[0, 0, :3] == pytest.approx(expected, abs=0.01)  # 128 is not quite the middle


def test_bloom_of_an_even_picture():
    # 2 is 1 above the threshold: half of it glows, 0.4 of that is added, and leaves 0.6 of the picture
    found = reference("bloom", {"blurs": 2}, picture=np.full((4, 6, 4), 2))["colours"]
    assert found[..., :3] == pytest.approx(np.full((4, 6, 3), 2 * 0.6 + 0.4))


def test_tone_mapping_of_one_pixel():
    found = reference("tone-mapping", {}, pictures=np.full((1, 1, 1, 4), 0.2))
    assert found["adapted"] == pytest.approx([0.2 + 0.0001 / 2])
    # Exposed to 0.35 / 0.201 * 0.2 = 0.348; the curve gives 0.2946 / 0.6061 = 0.486, and 255 * 0.486^(1/2.2) = 183.7
    assert found["pictures"][0, 0, 0].tolist() == [184, 184, 184, 255]


@pytest.mark.parametrize("depth", [depth_of_field.FOCUS, 2 * depth_of_field.FOCUS])
def test_depth_of_field_keeps_what_is_even_or_in_focus(depth):
    picture = np.full((20, 20, 4), [0.1, 0.2, 0.3, depth], np.float32)
    picture[10, 10, 0] = 0.9
    found = reference("depth-of-field", {"height": 400}, picture=picture)["colours"]
    assert found[0, 0] == pytest.approx(picture[0, 0])
    assert (found[10, 10, 0] == np.float32(0.9)) == (depth == depth_of_field.FOCUS)
