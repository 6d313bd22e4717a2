"""lighting: a pixel shader of Blinn-Phong lighting by several point lights."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.shaders import dot, floats, normalize, padded, sample, saturate, scene
from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 16
AMBIENT = (0.1, 0.1, 0.12)
BACKGROUND = (0.4, 0.6, 0.9)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """A view of spheres on a floor, two maps and lights.

    ``positions`` and ``normals``: float32[height, width, 4], the fourth of a position 1 where something is drawn;
    ``uv``: float32[height, width, 2]; ``diffuse`` and ``specular``: uint8[texels, texels, 4];
    ``lights``: float32[lights, 8]: place, inverse square of the range, colour.
    """
    view = scene.view(rng, size["height"], size["width"])
    texels, count = size["texels"], size["lights"]
    places = rng.uniform((-6, 0.5, 2), (6, 5, 16), (count, 3))
    ranges = rng.uniform(3, 9, count)
    return {
        "positions": padded(view.position, view.covered),
        "normals": padded(view.normal),
        "uv": view.uv,
        "diffuse": scene.bytes_of(scene.noise(rng, texels, texels, 4)),
        "specular": scene.bytes_of(scene.noise(rng, texels, texels, 4)),
        "lights": np.hstack([padded(places, ranges**-2.0), padded(rng.random((count, 3)))]),
    }


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``colours``: float32[height, width, 4]."""
    height, width = size["height"], size["width"]
    maps = [
        device.texture(inputs[name], address="wrap", filter="linear", normalized=True, read="normalized")
        for name in ("diffuse", "specular")
    ]
    varyings = [device.upload(inputs[name]) for name in ("positions", "normals", "uv")]
    device.assign("lights", inputs["lights"])
    device.assign("frame", padded(np.array([scene.EYE, AMBIENT, BACKGROUND]), 1.0))
    colours = device.zeros((height, width, 4), np.float32)
    grid = blocks(width, BLOCK), blocks(height, BLOCK)
    device.launch("light_pixels", grid, (BLOCK, BLOCK), *maps, *varyings, colours, width, height, size["lights"])
    return {"colours": colours.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same formula in float64, light by light over the pixels that each reaches."""
    drawn = inputs["positions"][..., 3] != 0
    position = inputs["positions"][drawn][:, :3].astype(np.float64)
    normal = normalize(inputs["normals"][drawn][:, :3].astype(np.float64))
    u, v = inputs["uv"][drawn].T
    albedo, specular = (
        sample(scene.unit(inputs[name]), u, v, address="wrap", filter="linear", normalized=True)
        for name in ("diffuse", "specular")
    )
    to_eye = normalize(scene.EYE - position)
    diffuse, highlight = np.tile(AMBIENT, (len(position), 1)), np.zeros_like(position)
    for light in inputs["lights"].astype(np.float64):
        to_light = light[:3] - position
        reach = saturate(1 - dot(to_light, to_light) * light[3])
        lit = np.flatnonzero((reach > 0) & (dot(normal, to_light) > 0))
        direction = normalize(to_light[lit])
        strength = reach[lit, None] ** 2 * light[4:7]
        gloss = saturate(dot(normal[lit], normalize(direction + to_eye[lit]))) ** (4.0 + 60.0 * specular[lit, 3])
        diffuse[lit] += dot(normal[lit], direction)[:, None] * strength
        highlight[lit] += gloss[:, None] * strength
    colours = np.tile(floats([*BACKGROUND, 1]), (*drawn.shape, 1))
    colours[drawn] = padded(albedo[:, :3] * diffuse + specular[:, :3] * highlight, 1.0)
    return {"colours": colours}


WORKLOAD = Workload(
    name="lighting",
    title="Blinn-Phong lighting",
    description=(
        "A pixel shader: spheres on a floor, lit by point lights with the model of Blinn and Phong. A thread in a"
        " block of 16 x 16 reads the interpolated position, normal and texture coordinate of its pixel, fetches a"
        " diffuse and a specular colour through bilinear wrapped textures, and loops over the lights in constant"
        " memory: a normalisation, a facing test, and for lights in front and in reach a half-way vector and a power."
        " Colours, normal, view direction and two sums live through the loop; vectors die component by component."
        " Warps diverge at outlines, at the sky and where a light's reach ends."
    ),
    suite="shaders",
    tags=("float", "compute", "texture", "sfu", "constant-memory", "divergence", "vector-loads"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 45, "height": 29, "texels": 32, "lights": 3},
        "small": {"width": 768, "height": 432, "texels": 256, "lights": 8},
        "full": {"width": 1920, "height": 1080, "texels": 512, "lights": 16},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Cosines are right to 2^-21 and a logarithm to 2^-22: an exponent of 64 makes that 64 * 2^-20.5 = 4e-5 of a
    # highlight, of which up to 16 lights of brightness 1 add up in part: 1e-4. Texture coordinates are exact.
    tolerance=Tolerance(relative=1e-5, absolute=1e-4),
)
