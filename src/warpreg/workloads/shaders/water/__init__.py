"""water: waves are baked into a map, and a pixel shader mixes what the water mirrors and what shines through."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from warpreg.workloads.shaders import dot, floats, in_parts, normalize, padded, sample, sample_cube, saturate, scene
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 16
PERIOD, DEPTH, GROUND_PERIOD = 16.0, 1.5, 8.0
SUN = np.array([*normalize(np.array([0.2, 0.4, 0.9])), 0.5])
FADING = np.array([0.5, 0.2, 0.15])
DRIFT = 0.375
INDEX = 0.75
HORIZON = np.float32(-0.02)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """Six waves that repeat after the period, and the pictures around.

    ``waves``: float32[6, 8] as the kernel has them; ``ripples`` and ``ground``: uint8[texels, texels, 4];
    ``sky``: float32[6, 64, 64, 4].
    """
    texels = size["texels"]
    return {
        "waves": _waves(rng),
        "ripples": scene.bytes_of(scene.noise(rng, texels, texels, 4)),
        "ground": scene.bytes_of(scene.noise(rng, texels, texels, 4)),
        "sky": _sky(rng, 64),
    }


def _waves(rng: np.random.Generator) -> Array:
    turns = np.array([[1, 1], [2, 1], [-1, 2], [3, -1], [2, 4], [-4, 3]])
    number = 2 * np.pi / PERIOD * np.linalg.norm(turns, axis=1)
    direction, amplitude = turns / np.linalg.norm(turns, axis=1, keepdims=True), 0.04 / number
    run = np.column_stack([direction * number[:, None], rng.uniform(0, 2 * np.pi, 6), amplitude])
    return floats(np.hstack([run, np.column_stack([direction, number * amplitude, np.full(6, 0.8)])]))


def _sky(rng: np.random.Generator, texels: int) -> Array:
    """A gradient with soft clouds, smooth over the edges of the faces."""
    at = (np.arange(texels) + 0.5) / texels * 2 - 1
    s, t = np.meshgrid(at, at)
    one = np.ones_like(s)
    faces = (one, -t, -s), (-one, -t, s), (s, one, t), (s, -one, -t), (s, -t, one), (-s, -t, -one)
    direction = normalize(np.stack([np.stack(face, axis=-1) for face in faces]))
    clouds = sum(np.sin(direction @ rng.normal(0, 3, 3) + rng.uniform(0, 6)) for _ in range(4)) / 16 + 0.25
    blue = 0.4 + 0.4 * saturate(direction[..., 1])
    return padded(np.stack([clouds + 0.1, clouds + blue * 0.5, clouds + blue], axis=-1), 1.0)


def constants(size: Size) -> Array:
    """The constants of the pixel shader, for the rays of `scene.rays`: float32[4, 4]."""
    height, width = size["height"], size["width"]
    lens = 1.2 / height, width / 2, height / 2, scene.LEVEL
    return floats([lens, (scene.EYE[1], 1 / PERIOD, DEPTH, 1 / GROUND_PERIOD), tuple(SUN), (*FADING, DRIFT)])


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Two launches; float32 ``wave_map``: [texels, texels, 4], ``colours``: [height, width, 4]."""
    height, width, texels = size["height"], size["width"], size["texels"]
    device.assign("waves", inputs["waves"])
    device.assign("water", constants(size))
    wave_map = device.zeros((texels, texels, 4), np.float32)
    colours = device.zeros((height, width, 4), np.float32)
    device.launch("bake_waves", (blocks(texels, BLOCK),) * 2, (BLOCK, BLOCK), wave_map, texels, PERIOD)
    textures = [device.texture(wave_map, address="wrap", filter="linear", normalized=True)]
    for name in ("ripples", "ground"):
        textures.append(
            device.texture(inputs[name], address="wrap", filter="linear", normalized=True, read="normalized")
        )
    textures.append(device.texture(inputs["sky"], "cube", filter="linear", normalized=True))
    grid = blocks(width, BLOCK), blocks(height, BLOCK)
    device.launch("draw_water", grid, (BLOCK, BLOCK), *textures, colours, width, height)
    return {"wave_map": wave_map.download(), "colours": colours.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The map at once, then some lines of the picture at a time, in float64."""
    wave_map = _baked(inputs["waves"].astype(np.float64), size["texels"])
    rays = scene.rays(size["height"], size["width"])
    return {"wave_map": wave_map, "colours": in_parts(partial(_drawn, inputs, wave_map), rays, at_once=64)}


def _drawn(inputs: Arrays, wave_map: Array, rays: Array) -> Array:
    colours = sample_cube(inputs["sky"], rays)
    wet = rays[..., 1] <= HORIZON
    colours[wet] = padded(_water(rays[wet], wave_map, inputs), 1.0)
    return colours


def _baked(waves: Array, texels: int) -> Array:
    place = (np.arange(texels) + 0.5) * PERIOD / texels
    total = np.tile(np.array([0.0, 1.0, 0.0, 0.0]), (texels, texels, 1))
    for run_x, run_z, phase, amplitude, x, z, slope, steepness in waves:
        angle = run_x * place + run_z * place[:, None] + phase
        sine, cosine = np.sin(angle), np.cos(angle)
        shift = np.stack([-x * slope * cosine, -steepness * slope * sine, -z * slope * cosine, amplitude * sine], -1)
        total += shift
    return floats(total)


def _water(ray: Array, wave_map: Array, inputs: Arrays) -> Array:
    distance = -scene.EYE[1] / ray[:, 1]
    place = distance[:, None] * ray[:, [0, 2]]
    u, v = (place / PERIOD).T
    wave = _fetch(wave_map, u, v)
    first = _fetch(scene.unit(inputs["ripples"]), 3 * u + DRIFT, 3 * v)
    second = _fetch(scene.unit(inputs["ripples"]), 5 * v, 5 * u - DRIFT)
    strength = 2 / (4 + distance)[:, None]
    normal = wave[:, :3].copy()
    normal[:, [0, 2]] += strength * (first[:, :2] + second[:, 1::-1] - 1)
    normal, view = normalize(normal), normalize(ray)
    facing = saturate(-dot(view, normal))[:, None]
    mirrored = view + 2 * facing * normal
    mirrored[:, 1] = np.abs(mirrored[:, 1])
    light = sample_cube(inputs["sky"], mirrored)[:, :3]
    glint = SUN[3] * saturate(mirrored @ SUN[:3]) ** 32
    bent = INDEX * view + (INDEX * facing - np.sqrt(1 - INDEX**2 * (1 - facing**2))) * normal
    way = (DEPTH + wave[:, 3:]) / np.maximum(-bent[:, 1:2], 0.2)
    floor_u, floor_v = ((place + way * bent[:, [0, 2]]) / GROUND_PERIOD).T
    through = np.exp(-way * FADING) * _fetch(scene.unit(inputs["ground"]), floor_u, floor_v)[:, :3]
    colour: Array = through + (0.02 + 0.98 * (1 - facing) ** 5) * (light - through) + glint[:, None]
    return colour


def _fetch(texels: Array, u: Array, v: Array) -> Array:
    return sample(texels, u, v, address="wrap", filter="linear", normalized=True).astype(np.float64)


WORKLOAD = Workload(
    name="water",
    title="Water",
    description=(
        "The surface of water. A compute shader adds up six Gerstner waves, unrolled, with a sine and a cosine each,"
        " into a periodic map of normals and heights; then a pixel shader in blocks of 16 x 16 follows its ray to the"
        " surface, fetches the wave and two layers of ripples, mirrors the ray into a cube map of the sky, refracts it"
        " to a texture of the ground, lets that fade exponentially, and mixes both by the angle. Five dependent"
        " fetches of four floats, divisions, powers and exponentials; view, normal and a handful of weights live"
        " across the fetches, components die one by one. Warps above the horizon leave early."
    ),
    suite="shaders",
    tags=("float", "compute", "texture", "sfu", "constant-memory", "several-launches", "divergence"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 45, "height": 37, "texels": 32},
        "small": {"width": 1024, "height": 576, "texels": 256},
        "full": {"width": 2560, "height": 1440, "texels": 512},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    tolerance={
        # An angle of up to 60 is right to 2^-18, the slopes and heights that it gives are at most 0.1.
        "wave_map": Tolerance(relative=2e-7, absolute=1e-6),
        # Where coordinates differ in their last bits a filter's fraction is 1/256 off: a ripple, which changes by up to
        # 0.03 from texel to texel, then turns the mirrored ray by 1.2e-4, and a glint changes by at most sqrt(32 / e)
        # times half of that, 2e-4; tiny pictures have ripples five times as steep.
        "colours": Tolerance(absolute=1e-3),
    },
)
