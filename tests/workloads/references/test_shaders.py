"""The references of the shaders by hand, and the texture sampler that they share."""

from typing import Any

import numpy as np
import pytest

from warpreg import workloads
from warpreg.workloads import Arrays, Size, shaders
from warpreg.workloads.shaders import (
    Address,
    ambient_occlusion,
    deferred_shading,
    depth_of_field,
    fur_shells,
    normal_mapping,
    shadow_lookup,
    water,
)

ONE_PIXEL = {"height": 1, "width": 1}
WHITE = np.full((2, 2, 4), 255, np.uint8)


def reference(name: str, size: Size, **inputs: Any) -> Arrays:
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
def test_a_linear_filter_mixes_two_texels_in_256ths(x: float, address: Address, expected: float) -> None:
    texels = np.array([10, 20], np.float32)
    found = shaders.sample(texels, np.array([x / 2], np.float32), address=address, filter="linear", normalized=True)
    assert found == pytest.approx([expected], abs=1e-6)


def test_a_point_filter_takes_the_texel_of_each_axis() -> None:
    texels = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    assert shaders.sample(texels, np.array([2.9], np.float32), np.array([1.0], np.float32)).tolist() == [[10, 11]]


def test_lighting_above_a_white_surface() -> None:
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


def test_shadow_lookup_is_soft_at_the_edge_of_a_shadow() -> None:
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


def test_normal_mapping_of_a_flat_white_surface() -> None:
    found = reference(
        "normal-mapping",
        ONE_PIXEL,
        positions=[[[0, 0, 0, 0]]],
        normals=[[[0, 2, 0, 0]]],
        tangents=[[[1, 0, 0, 1]]],
        uv=[[[0.3, 0.7]]],
        colour_map=WHITE,
        normal_map=np.tile(np.array([128, 128, 255, 0], np.uint8), (2, 2, 1)),
        height_map=np.full((2, 2), 0.5),
    )["colours"]
    expected = normal_mapping.SUN[3] * normal_mapping.SUN[1] + normal_mapping.SKY[:3]
    assert found[0, 0, :3] == pytest.approx(expected, abs=0.01)  # 128 is not quite the middle


def test_bloom_of_an_even_picture() -> None:
    # 2 is 1 above the threshold: half of it glows, 0.4 of that is added, and leaves 0.6 of the picture
    found = reference("bloom", {"blurs": 2}, picture=np.full((4, 6, 4), 2))["colours"]
    assert found[..., :3] == pytest.approx(np.full((4, 6, 3), 2 * 0.6 + 0.4))


def test_tone_mapping_of_one_pixel() -> None:
    found = reference("tone-mapping", {}, pictures=np.full((1, 1, 1, 4), 0.2))
    assert found["adapted"] == pytest.approx([0.2 + 0.0001 / 2])
    # Exposed to 0.35 / 0.201 * 0.2 = 0.348; the curve gives 0.2946 / 0.6061 = 0.486, and 255 * 0.486^(1/2.2) = 183.7
    assert found["pictures"][0, 0, 0].tolist() == [184, 184, 184, 255]


@pytest.mark.parametrize("depth", [depth_of_field.FOCUS, 2 * depth_of_field.FOCUS])
def test_depth_of_field_keeps_what_is_even_or_in_focus(depth: float) -> None:
    picture = np.full((20, 20, 4), [0.1, 0.2, 0.3, depth], np.float32)
    picture[10, 10, 0] = 0.9
    found = reference("depth-of-field", {"height": 400}, picture=picture)["colours"]
    assert found[0, 0] == pytest.approx(picture[0, 0])
    assert (found[10, 10, 0] == np.float32(0.9)) == (depth == depth_of_field.FOCUS)


def step_of_particle(place: list[float], velocity: list[float]) -> Arrays:
    rows = np.eye(4, dtype=np.float32)[[0, 1, 2, 2]]
    return reference(
        "particles",
        {"frames": 1},
        places=[place],
        velocities=[velocity],
        wind=np.zeros((2, 2, 2, 4)),
        ramp=np.full((4, 4), 255, np.uint8),
        rows=rows,
    )


def test_particles_are_slowed_down_by_still_air_and_fall() -> None:
    found = step_of_particle([10, 0, 4, 0.5], [6, 0, 0, 2])
    # Drag takes 2/60 of the velocity, gravity adds -0.5/60
    velocity = [6 * 58 / 60, -0.5 / 60, 0]
    assert found["velocities"][0] == pytest.approx([*velocity, 2])
    assert found["places"][0] == pytest.approx([10 + velocity[0] / 60, velocity[1] / 60, 4, 0.5 + 1 / 60])
    assert found["corners"][0].mean(axis=0) == pytest.approx([10 + velocity[0] / 60, velocity[1] / 60, 4, 4], abs=1e-5)
    assert found["colours"][0] == pytest.approx([1, 1, 1, 1])


def test_particles_leave_the_ball_and_are_born_again() -> None:
    assert step_of_particle([0, 3, 7.9, 0.5], [0, 0, 0, 2])["places"][0, :3] == pytest.approx([0, 3, 6.5], abs=0.02)
    born = step_of_particle([0, 3, 7.9, 1.99], [0, 0, 0, 2])
    assert born["places"][0, 1] == 0.5
    assert np.hypot(born["places"][0, 0], born["places"][0, 2] - 8) <= 1
    assert born["places"][0, 3] == 0
    assert 1 <= born["velocities"][0, 3] <= 3


def test_skinning_blends_matrices() -> None:
    bones = np.zeros((1, 2, 3, 4))
    bones[0, :] = np.eye(3, 4)
    bones[0, :, :, 3] = [1, 0, 0], [0, 0, 3]
    found = reference(
        "skinning",
        {"vertices": 1},
        positions=[[0, 0, 0, 1]],
        normals=[[0, 0, 2, 0]],
        weights=[[0.75, 0.25, 0, 0]],
        indices=np.array([[0, 1, 0, 0]], np.uint8),
        bones=bones,
    )
    # Three quarters of (1, 0, 0) and a quarter of (0, 0, 3); x is scaled by 0.9, the eye stands 2.5 high
    assert found["projected"][0, 0] == pytest.approx([0.675, -1.6 * 2.5, 0.65, 0.75])
    assert found["turned"][0, 0].tolist() == [0, 0, 1, 0]
    second = 0.8 / np.sqrt(0.36 + 0.01 + 0.64)  # the first light comes from the other side
    assert found["colours"][0, 0, :3] == pytest.approx(0.1 + second * np.array([0.2, 0.3, 0.5]))


@pytest.mark.parametrize("towards_the_eye", [True, False])
def test_ambient_occlusion_of_a_wall(towards_the_eye: bool) -> None:
    direction = [128, 128, 0 if towards_the_eye else 255, 0]
    normals = np.tile(np.array(direction, np.uint8), (41, 41, 1))
    found = reference("ambient-occlusion", {"height": 41, "width": 41}, depths=np.full((41, 41), 5.0), normals=normals)
    # In front of the wall nothing hides a probe; behind it each is hidden by what it is deeper
    depth = ambient_occlusion.RADIUS * ambient_occlusion.probes()[:, 2] - ambient_occlusion.BIAS
    hidden = 0 if towards_the_eye else np.clip(20 * depth, 0, 1).mean()
    expected = max(0, 1 - ambient_occlusion.STRENGTH * hidden) ** 2
    assert found["open"][20, 20] == pytest.approx(expected, abs=0.01)  # 128 is not quite the middle
    assert found["smooth"][20, 20] == pytest.approx(expected, abs=0.01)


def test_deferred_shading_of_a_surface_that_faces_the_eye() -> None:
    found = reference(
        "deferred-shading",
        ONE_PIXEL,
        albedos=np.array([[[255, 255, 255, 0]]], np.uint8),
        normals=np.array([[[32767, 32767]]], np.int16),  # a corner of the square: (0, 0, -1)
        depths=[[2]],
        places=[[0, -0.4, 1, 2]],  # 1 before the surface, and it reaches 2
        colours=[[1, 0.5, 0, 0]],
    )["colours"]
    assert found[0, 0] == pytest.approx([0.1 + 0.5625, 0.1 + 0.5625 / 2, 0.12, 1])


def test_the_octahedron_holds_every_direction() -> None:
    directions = shaders.normalize(np.random.default_rng(1).normal(size=(100, 3)))
    assert deferred_shading.unfolded(deferred_shading.folded(directions)) == pytest.approx(directions)


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ([2, 0, 0], 0),
        ([-2, 1, 1], 1),
        ([1, 3, -2], 2),
        ([0, -1, 0.5], 3),
        ([0.5, 0.5, 1], 4),
        ([0, 0, -1], 5),
        ([1, 1, 1], 0),  # x goes before y and z
    ],
)
def test_a_direction_hits_one_face_of_a_cube(direction: list[float], expected: int) -> None:
    faces = np.arange(6, dtype=np.float32)[:, None, None, None].repeat(2, 1).repeat(2, 2)
    assert shaders.sample_cube(faces, np.array([direction], np.float32)).tolist() == [[expected]]


def test_the_faces_of_a_cube_are_turned_as_they_join() -> None:
    # The first texel of face +z lies at its upper left: towards -x and +y; that of +x towards +y and +z
    faces = np.zeros((6, 2, 2), np.float32)
    faces[[0, 4], 0, 0] = 1, 2
    found = shaders.sample_cube(
        faces, np.array([[1, 0.5, 0.5], [1, 0.5, -0.5], [-0.5, 0.5, 1], [0.5, 0.5, 1]], np.float32)
    )
    assert found.tolist() == [1, 0, 2, 0]


def test_still_water_mirrors_an_even_sky() -> None:
    inputs = {
        "waves": np.zeros((6, 8)),
        "ripples": np.full((2, 2, 4), 127.5),
        "ground": np.zeros((2, 2, 4), np.uint8),
        "sky": np.ones((6, 2, 2, 4)),
    }
    found = reference("water", {"height": 3, "width": 3, "texels": 4}, **inputs)["colours"]
    assert found[0, :, :3] == pytest.approx(np.ones((3, 3)))  # the rays of the first row go up by 0.2
    # In the last row the middle ray goes down by 0.6 a unit: Schlick's part of the sky, and the glint of the sun
    down, forth = 0.6 / np.hypot(0.6, 1), 1 / np.hypot(0.6, 1)
    glint = 0.5 * max(0, water.SUN[1] * down + water.SUN[2] * forth) ** 32
    assert found[2, 1, 0] == pytest.approx(0.02 + 0.98 * (1 - down) ** 5 + glint, rel=1e-5)


def test_fxaa_hardly_moves_a_straight_edge_and_softens_a_step() -> None:
    straight = np.zeros((9, 24, 4), np.float32)
    straight[5:] = 1
    found = reference("fxaa", {}, picture=straight)["colours"]
    # Beside the edge the weighted mean of the neighbours is 4/12: 3/4 of the square of (1/3)^2 (3 - 2/3)
    assert found[:5, 5, 0] == pytest.approx([0, 0, 0, 0, 0.75 * (7 / 27) ** 2], abs=1 / 512)
    stepped = straight.copy()
    stepped[4, 12:] = 1  # the edge rises by a pixel in the middle
    found = reference("fxaa", {}, picture=stepped)["colours"][..., 0]
    assert found[4, 11] == pytest.approx(0.5, abs=0.1)
    assert 0 < found[4, 9] < found[4, 11]
    assert found[4, 0] < found[4, 9]


def test_fxaa_softens_a_lone_pixel() -> None:
    picture = np.zeros((9, 9, 4), np.float32)
    picture[4, 4] = 1
    found = reference("fxaa", {}, picture=picture)["colours"]
    assert found[4, 4, 0] == pytest.approx(0.25)  # it is moved by 3/4


def test_fur_shells_below_the_eye() -> None:
    found = reference(
        "fur-shells",
        {},
        positions=[[[0, 0, 0, 1], [0, 0, 0, 0]]],
        normals=[[[0, 1, 0, 0]] * 2],
        tangents=[[[1, 0, 0, 0]] * 2],
        uv=np.zeros((1, 2, 2)),
        hairs=np.ones((2, 2)),
        colour_map=np.ones((2, 2, 4)),
        comb=np.full((2, 2, 2), 0.5),
    )["colours"]
    # Hairs of length 1 cover nothing at level 8/8, half at 7/8, all at 6/8: 13/16 on the whole
    up = fur_shells.SUN[1]
    diffuse, shine = 0.3 + 0.6 * np.sqrt(1 - up**2), 0.3 * np.sqrt(1 - (1 + up) / 2) ** 20
    assert found[0, 0, :3] == pytest.approx(diffuse * (0.25 + 0.75 * 13 / 16) + shine * 13 / 16)
    assert found[0, 1] == pytest.approx(fur_shells.BACKGROUND)
