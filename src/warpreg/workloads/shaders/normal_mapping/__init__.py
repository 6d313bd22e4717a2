"""normal-mapping: a pixel shader with tangent-space normals and a parallax offset."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from warpreg.workloads.shaders import dot, floats, in_parts, normalize, padded, sample, saturate, scene
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 16
DEPTH = 0.03
"""How far a texture coordinate may shift, in textures."""
SUN = np.array([*normalize(np.array([0.4, 0.8, -0.45])), 0.9])
SKY = np.array([0.25, 0.3, 0.4, 0.0])
MAPS = "colour_map", "normal_map", "height_map"
VARYINGS = "positions", "normals", "tangents", "uv"


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """A view of spheres on a floor, and the maps of a rough material.

    ``positions``, ``normals`` and ``tangents``: float32[height, width, 4]; ``uv``: float32[height, width, 2];
    ``colour_map`` and ``normal_map``: uint8[texels, texels, 4], the fourth of a normal its gloss;
    ``height_map``: float32[texels, texels], from 0 to 1, of which the normals are the slopes.
    """
    view = scene.view(rng, size["height"], size["width"])
    texels = size["texels"]
    heights = scene.noise(rng, texels, texels, 1)[..., 0]
    slopes = [np.roll(heights, 1, axis) - np.roll(heights, -1, axis) for axis in (1, 0)]
    normals = normalize(np.stack([*(slope * texels / 40 for slope in slopes), np.ones_like(heights)], axis=-1))
    gloss = scene.noise(rng, texels, texels, 1)
    return {
        "positions": padded(view.position),
        "normals": padded(view.normal),
        "tangents": padded(view.normal[..., [1, 0, 2]] * floats([1, -1, 0]) + floats([1e-3, 0, 0]), 1.0),
        "uv": view.uv,
        "colour_map": scene.bytes_of(scene.noise(rng, texels, texels, 4)),
        "normal_map": scene.bytes_of(np.concatenate([normals * 0.5 + 0.5, gloss], axis=-1)),
        "height_map": heights,
    }


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``colours``: float32[height, width, 4]."""
    height, width = size["height"], size["width"]
    colour, normal = (
        device.texture(inputs[name], address="wrap", filter="linear", normalized=True, read="normalized")
        for name in MAPS[:2]
    )
    heights = device.texture(inputs["height_map"], address="wrap", filter="linear", normalized=True)
    varyings = [device.upload(inputs[name]) for name in VARYINGS]
    device.assign("frame", np.array([[*scene.EYE, 0], SUN, SKY], np.float32))
    colours = device.zeros((height, width, 4), np.float32)
    grid = blocks(width, BLOCK), blocks(height, BLOCK)
    arguments = colour, normal, heights, *varyings, colours, width, height, DEPTH
    device.launch("bump_pixels", grid, (BLOCK, BLOCK), *arguments)
    return {"colours": colours.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Some lines of the picture at a time, vectors in float64."""
    varyings = (inputs[name] for name in VARYINGS)
    return {"colours": in_parts(partial(_shaded, inputs), *varyings, at_once=64)}


def _shaded(inputs: Arrays, *varyings: Array) -> Array:
    position, normal, along, start = (array.astype(np.float64) for array in varyings)
    normal, handedness = normalize(normal[..., :3]), along[..., 3:]
    tangent = normalize(along[..., :3] - dot(normal, along[..., :3])[..., None] * normal)
    bitangent = handedness * np.cross(normal, tangent)
    view = normalize(scene.EYE - position[..., :3])
    shift = np.stack([dot(view, tangent), dot(view, bitangent)], axis=-1) * DEPTH / (dot(view, normal) + 0.4)[..., None]
    uv = start
    for _ in range(2):
        uv = start + (_fetch(inputs["height_map"], uv)[..., None] - 0.5) * shift
    bump = _fetch(scene.unit(inputs["normal_map"]), uv).astype(np.float64)
    x, y, z = ((2 * bump[..., i : i + 1] - 1) * axis for i, axis in enumerate((tangent, bitangent, normal)))
    fine = normalize(x + y + z)
    gloss = saturate(dot(fine, normalize(SUN[:3] + view))) ** 24 * bump[..., 3]
    light = SUN[3] * saturate(dot(fine, SUN[:3]))[..., None] + (0.5 + 0.5 * fine[..., 1:2]) * SKY[:3]
    colour = _fetch(scene.unit(inputs["colour_map"]), uv)
    return padded(colour[..., :3] * light + gloss[..., None], colour[..., 3])


def _fetch(texels: Array, uv: Array) -> Array:
    return sample(texels, uv[..., 0], uv[..., 1], address="wrap", filter="linear", normalized=True)


WORKLOAD = Workload(
    name="normal-mapping",
    title="Normal mapping with parallax",
    description=(
        "A pixel shader: a rough material on spheres and a floor. A thread in a block of 16 x 16 makes a tangent"
        " frame of three unit vectors, takes the view direction to it, and lets a height map shift its texture"
        " coordinate, twice, before a normal and a colour are fetched there: four bilinear wrapped fetches of which"
        " three wait for the one before. The normal goes back to world space, where sun, sky and a highlight are"
        " added. Straight-line code of dot products and normalisations: the frame's nine components live across the"
        " fetches, nearly all else is read once or twice."
    ),
    suite="shaders",
    tags=("float", "compute", "texture", "sfu", "constant-memory", "vector-loads"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 45, "height": 29, "texels": 64},
        "small": {"width": 1024, "height": 576, "texels": 256},
        "full": {"width": 2560, "height": 1440, "texels": 512},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Coordinates are right to 2^-21, so in 2^-21 * 512 * 256, one pixel of sixteen, a filter's fraction is 1/256 off in
    # x or y. Textures change by at most 0.03 between texels: 2 * 0.03 / 256 of a colour. Normals turn by more at the
    # kinks of the height map, one line of texels in 16, and a highlight, in one pixel of 50, by 24 times that.
    tolerance=Tolerance(absolute=2.4e-4, fraction=1 / 16 / 16 / 50),
)
