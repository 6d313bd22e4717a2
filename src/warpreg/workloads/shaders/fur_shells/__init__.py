"""fur-shells: a pixel shader that goes down through the shells of a fur."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from warpreg.workloads.shaders import dot, floats, in_parts, normalize, padded, sample, saturate, scene
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 16
SHELLS = 8
LENGTH, HAIRS, BEND, LEAST = 0.06, 4.0, 1.0, 0.001
SUN = np.array([*normalize(np.array([0.4, 0.8, -0.45])), 0.6])
BACKGROUND = floats([0.4, 0.6, 0.9, 1])
VARYINGS = "positions", "normals", "tangents", "uv"
MAPS = "hairs", "colour_map", "comb"


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """A view of spheres on a floor, all of fur.

    ``positions``, ``normals`` and ``tangents``: float32[height, width, 4], the fourth of a position 1 where something
    is drawn; ``uv``: float32[height, width, 2]; ``hairs``: float32[texels, texels], how long a hair is, from 0 to 1;
    ``colour_map``: float32[texels, texels, 4]; ``comb``: float32[texels, texels, 2].
    """
    view = scene.view(rng, size["height"], size["width"])
    texels = size["texels"]
    tangent = view.normal[..., [1, 0, 2]] * floats([1, -1, 0]) + floats([1e-3, 0, 0])
    return {
        "positions": padded(view.position, view.covered),
        "normals": padded(view.normal),
        "tangents": padded(tangent),
        "uv": view.uv,
        "hairs": scene.noise(rng, texels, texels, 1, cells=texels // 8, octaves=1)[..., 0],
        "colour_map": scene.noise(rng, texels, texels, 4),
        "comb": scene.noise(rng, texels, texels, 2),
    }


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``colours``: float32[height, width, 4]."""
    height, width = size["height"], size["width"]
    maps = [device.texture(inputs[name], address="wrap", filter="linear", normalized=True) for name in MAPS]
    varyings = [device.upload(inputs[name]) for name in VARYINGS]
    device.assign("fur", floats([(*scene.EYE, 0), tuple(SUN), (LENGTH, HAIRS, BEND, LEAST), tuple(BACKGROUND)]))
    colours = device.zeros((height, width, 4), np.float32)
    grid = blocks(width, BLOCK), blocks(height, BLOCK)
    device.launch("draw_fur", grid, (BLOCK, BLOCK), *maps, *varyings, colours, width, height)
    return {"colours": colours.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Shell by shell over the pixels that are drawn and still see light, in float64."""
    drawn = inputs["positions"][..., 3] != 0
    colours = np.tile(BACKGROUND, (*drawn.shape, 1))
    varyings = (inputs[name][drawn] for name in VARYINGS)
    colours[drawn] = in_parts(partial(_fur, inputs), *varyings, at_once=1 << 16)
    return {"colours": colours}


def _fur(inputs: Arrays, *varyings: Array) -> Array:
    """The colours of some pixels, float32[pixels, 4]."""
    position, normal, along, uv = (array.astype(np.float64) for array in varyings)
    normal, along = normalize(normal[:, :3]), along[:, :3]
    tangent = normalize(along - dot(normal, along)[:, None] * normal)
    bitangent = np.cross(normal, tangent)
    comb = BEND * (_fetch(inputs["comb"], uv) - 0.5)
    view = normalize(scene.EYE - position[:, :3])
    hair = normalize(normal + comb[:, :1] * tangent + comb[:, 1:] * bitangent)
    diffuse = 0.3 + SUN[3] * _sine_of(hair @ SUN[:3])
    shine = 0.3 * _sine_of(dot(hair, normalize(SUN[:3] + view))) ** 20
    slant = np.stack([dot(view, tangent), dot(view, bitangent)], -1) * LENGTH / (dot(view, normal) + 0.3)[:, None]

    colour, left, seen = np.zeros_like(normal), np.ones(len(uv)), np.arange(len(uv))
    for shell in range(SHELLS, 0, -1):
        level = shell / SHELLS
        at = uv[seen] + level * slant[seen] - level**2 * LENGTH * comb[seen]
        part = left[seen] * saturate(4 * (_fetch(inputs["hairs"], at * HAIRS) - level))
        light = (diffuse[seen] * (0.25 + 0.75 * level))[:, None] * _fetch(inputs["colour_map"], at)[:, :3]
        colour[seen] += part[:, None] * (light + (level * shine[seen])[:, None])
        left[seen] -= part
        seen = seen[left[seen] >= LEAST]
    skin: Array = 0.1 * left[:, None] * _fetch(inputs["colour_map"], uv)[:, :3]
    return padded(colour + skin, 1.0)


def _sine_of(cosine: Array) -> Array:
    sine: Array = np.sqrt(np.maximum(1 - cosine**2, 0))
    return sine


def _fetch(texels: Array, uv: Array) -> Array:
    return sample(texels, uv[:, 0], uv[:, 1], address="wrap", filter="linear", normalized=True).astype(np.float64)


WORKLOAD = Workload(
    name="fur-shells",
    title="Fur by shells",
    description=(
        "A pixel shader: spheres and a floor covered with fur, as eight shells one above the other. A thread in a"
        " block of 16 x 16 makes a tangent frame and the light of its hairs, then goes down through the shells: a"
        " bilinear wrapped fetch says how long the hair is there, and only where the shell cuts one is a colour"
        " fetched and blended under those above; the loop ends when hardly any light is left. Twenty values, slants,"
        " light, sums, live through the loop, few are used in every round. Lanes of a warp take the inner branch at"
        " different shells and leave the loop at different ones."
    ),
    suite="shaders",
    tags=("float", "memory", "texture", "divergence", "iterative", "sfu", "constant-memory", "vector-loads"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 45, "height": 29, "texels": 64},
        "small": {"width": 768, "height": 432, "texels": 256},
        "full": {"width": 1920, "height": 1080, "texels": 512},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Where coordinates differ in their last bits a filter's fraction is 1/256 off, and the length of a hair, which
    # changes by up to 1/8 from texel to texel, by 5e-4: four times that of what a shell covers. A loop that ends a
    # shell earlier leaves out a thousandth of the light.
    tolerance=Tolerance(absolute=3e-3),
)
