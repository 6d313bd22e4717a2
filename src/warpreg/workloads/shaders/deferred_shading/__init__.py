"""deferred-shading: a compute shader that lights a G-buffer tile by tile, with lists of lights in shared memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.shaders import dot, floats, normalize, padded, saturate, scene
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

TILE = 16
BACKGROUND = floats([0.4, 0.6, 0.9, 1])
AMBIENT = floats([0.1, 0.1, 0.12, 0])


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """The G-buffer of spheres on a floor, and small coloured lights above it.

    ``albedos``: uint8[height, width, 4], the fourth gloss; ``normals``: int16[height, width, 2], on an octahedron;
    ``depths``: float32[height, width], 0 where nothing is drawn; ``places``: float32[lights, 4], seen from the eye,
    the reach last; ``colours``: float32[lights, 4].
    """
    height, width, count = size["height"], size["width"], size["lights"]
    view = scene.view(rng, height, width)
    places = rng.uniform((-8, 0.2, 3), (8, 3, 20), (count, 3)) - scene.EYE
    return {
        "albedos": scene.bytes_of(scene.noise(rng, height, width, 4, cells=8)),
        "normals": np.rint(folded(view.normal) * 32767).astype(np.int16),
        "depths": np.where(view.covered, view.depth, np.float32(0)),
        "places": padded(places, rng.uniform(1, 3, count)),
        "colours": padded(rng.random((count, 3))),
    }


def folded(normal: Array) -> Array:
    """Unit vectors on the square of the octahedron, -1 to 1; what lies below is folded out over the corners."""
    flat = normal[..., :2] / np.abs(normal).sum(axis=-1, keepdims=True)
    turned: Array = (1 - np.abs(flat[..., ::-1])) * np.copysign(1, flat)
    return np.where(normal[..., 2:] < 0, turned, flat)


def unfolded(square: Array) -> Array:
    """The unit vectors of places on the octahedron."""
    height = 1 - np.abs(square).sum(axis=-1, keepdims=True)
    across = square - np.copysign(np.maximum(-height, 0), square)
    return normalize(np.concatenate([across, height], axis=-1))


def constants(size: Size) -> Array:
    """The constants of the shader, for the rays of `scene.rays`: float32[3, 4]."""
    height, width = size["height"], size["width"]
    return np.vstack([floats([1.2 / height, width / 2, height / 2, scene.LEVEL]), BACKGROUND, AMBIENT])


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``colours``: float32[height, width, 4]."""
    height, width = size["height"], size["width"]
    buffers = (
        device.texture(inputs["albedos"], read="normalized"),
        device.texture(inputs["normals"], read="normalized"),
        device.texture(inputs["depths"]),
    )
    lights = [device.upload(inputs[name]) for name in ("places", "colours")]
    device.assign("screen", constants(size))
    colours = device.zeros((height, width, 4), np.float32)
    grid = blocks(width, TILE), blocks(height, TILE)
    device.launch("shade_tiles", grid, (TILE, TILE), *buffers, *lights, colours, width, height, size["lights"])
    return {"colours": colours.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Light by light over all the pixels in its reach, in float64, without tiles."""
    (slope, middle, centre, level), *_ = constants(size).astype(np.float64)
    drawn = inputs["depths"] > 0
    rows, columns = np.nonzero(drawn)
    depth = inputs["depths"][drawn].astype(np.float64)
    x, y = (columns + 0.5 - middle) * slope, level - (rows + 0.5 - centre) * slope
    position = np.stack([x * depth, y * depth, depth], axis=-1)
    normal = unfolded(inputs["normals"][drawn] / 32767)
    albedo = scene.unit(inputs["albedos"][drawn]).astype(np.float64)
    to_eye = -normalize(position)
    diffuse, highlight = np.tile(AMBIENT[:3].astype(np.float64), (len(depth), 1)), np.zeros_like(position)
    for place, colour in zip(inputs["places"].astype(np.float64), inputs["colours"].astype(np.float64), strict=True):
        near = np.flatnonzero(np.abs(depth - place[2]) < place[3])
        to_light = place[:3] - position[near]
        squared = dot(to_light, to_light)
        reached = (squared < place[3] ** 2) & (dot(normal[near], to_light) > 0)
        lit, direction = near[reached], normalize(to_light[reached])
        arriving = ((1 - squared[reached] / place[3] ** 2) ** 2)[:, None] * colour[:3]
        cosine = saturate(dot(normal[lit], normalize(direction + to_eye[lit])))
        diffuse[lit] += dot(normal[lit], direction)[:, None] * arriving
        highlight[lit] += (cosine ** (4 + 60 * albedo[lit, 3]) * albedo[lit, 3])[:, None] * arriving
    colours = np.tile(BACKGROUND, (*drawn.shape, 1))
    colours[drawn] = padded(albedo[:, :3] * diffuse + highlight, 1.0)
    return {"colours": colours}


WORKLOAD = Workload(
    name="deferred-shading",
    title="Tiled deferred shading",
    description=(
        "A compute shader that lights a G-buffer of spheres on a floor. A block is a tile of 16 x 16 pixels: its"
        " threads find the nearest and farthest depth with atomics in shared memory, share out the lights, test each"
        " against the six sides of the tile's frustum and append those that meet it to a list in shared memory,"
        " barriers in between. Then each pixel fetches albedo, gloss and an octahedral normal through textures and"
        " loops over the list, with the model of Blinn and Phong: normalisations, a power, two sums of three."
        " Position, normal, view direction, colours and sums, some twenty values, live through the loop; warps diverge"
        " at each light's reach."
    ),
    suite="shaders",
    tags=("float", "compute", "texture", "shared-memory", "barriers", "atomics", "divergence", "sfu"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 45, "height": 37, "lights": 24},
        "small": {"width": 768, "height": 432, "lights": 96},
        "full": {"width": 1920, "height": 1080, "lights": 128},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Cosines are right to 2^-21 and a logarithm to 2^-22: an exponent of 64 makes that 64 * 2^-20.5 = 4e-5 of a
    # highlight, of which some three overlap.
    tolerance=Tolerance(relative=1e-5, absolute=1e-4),
)
