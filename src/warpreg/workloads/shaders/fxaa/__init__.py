"""fxaa: a pixel shader that smooths the staircases of a finished picture by walking along its edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.shaders import floats, padded, sample, saturate, scene
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 16
STEPS = 10
THRESHOLD, DARKEST = np.float32(0.125), np.float32(0.03)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``picture``: float32[height, width, 4], a view of spheres on a chequered floor with hard edges; the fourth
    channel is the luminance."""
    view = scene.view(rng, size["height"], size["width"])
    squares = np.floor(view.uv * 4).sum(axis=-1) % 2
    light = 0.2 + 0.8 * saturate(view.normal @ floats([0.36, 0.8, -0.48]))
    shade = np.where(view.covered, light * (0.3 + 0.7 * squares), 0.9)
    colours = shade[..., None] * (0.6 + 0.4 * scene.noise(rng, size["height"], size["width"], 3))
    return {"picture": padded(colours, colours @ [0.299, 0.587, 0.114])}


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``colours``: float32[height, width, 4]."""
    height, width = size["height"], size["width"]
    picture = device.texture(inputs["picture"], filter="linear")
    colours = device.zeros((height, width, 4), np.float32)
    grid = blocks(width, BLOCK), blocks(height, BLOCK)
    device.launch("smooth_edges", grid, (BLOCK, BLOCK), picture, colours, width, height, THRESHOLD, DARKEST)
    return {"colours": colours.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The pixels of high contrast at once, in float32 as decisions depend on it."""
    picture = inputs["picture"]
    padded_ = np.pad(picture[..., 3], 1, mode="edge")
    height, width = picture.shape[:2]
    around = [[padded_[j : j + height, i : i + width] for i in range(3)] for j in range(3)]
    cross = np.array([around[1][1], around[0][1], around[2][1], around[1][0], around[1][2]])
    brightest = cross.max(axis=0)
    contrast = brightest - cross.min(axis=0)
    edges = contrast >= np.maximum(DARKEST, brightest * THRESHOLD)
    rows, columns = np.nonzero(edges)
    shift_u, shift_v = _shifts(picture[..., 3], rows, columns, np.array(around)[:, :, edges], contrast[edges])
    colours = picture.copy()
    colours[edges] = sample(picture, columns + 0.5 + shift_u, rows + 0.5 + shift_v, filter="linear")
    return {"colours": colours}


def _shifts(luminance: Array, rows: Array, columns: Array, around: Array, contrast: Array) -> tuple[Array, Array]:
    """How far each of some pixels moves; ``around`` holds the 3 x 3 luminances, float32[3, 3, pixels]."""
    here = around[1, 1]
    across = _bend(around) >= _bend(around.swapaxes(0, 1))
    before, after = (np.where(across, around[i, 1], around[1, i]) for i in (0, 2))
    on_before = np.abs(before - here) >= np.abs(after - here)
    side = np.where(on_before, np.float32(-1), np.float32(1))
    other = np.where(on_before, before, after)
    middle, steep = np.float32(0.5) * (here + other), np.float32(0.25) * np.abs(other - here)
    u, v = columns + 0.5 + np.where(across, 0, 0.5 * side), rows + 0.5 + np.where(across, 0.5 * side, 0)
    (back, end_back), (forth, end_forth) = (
        _walk(luminance, u, v, np.where(across, way, 0), np.where(across, 0, way), middle, steep) for way in (-1, 1)
    )
    end_below = np.where(back < forth, end_back, end_forth) < 0
    along = np.where(end_below == (here < middle), 0, 0.5 - np.minimum(back, forth) / (back + forth))
    mean = (around.sum(axis=(0, 1)) + around[1].sum(axis=0) + around[:, 1].sum(axis=0) - 3 * here) / 12
    lone = saturate(np.abs(mean - here) / contrast)
    shift = side * np.maximum(along, 0.75 * (lone * lone * (3 - 2 * lone)) ** 2)
    return np.where(across, 0, shift), np.where(across, shift, 0)


def _bend(around: Array) -> Array:
    """Second differences along the first axis, the middle one twice."""
    west, middle, east = (np.abs((around[0, i] + around[2, i]) - 2 * around[1, i]) for i in range(3))
    total: Array = west + 2 * middle + east
    return total


def _walk(
    luminance: Array, u: Array, v: Array, du: Array, dv: Array, middle: Array, steep: Array
) -> tuple[Array, Array]:
    """How far it is to the end of the edge, and how much brighter it is there."""
    walked, end = np.zeros(len(u)), np.zeros(len(u), np.float32)
    walking = np.arange(len(u))
    for step in range(STEPS):
        walked[walking] += 1 if step < 4 else 2
        at = walked[walking]
        there = sample(luminance, u[walking] + at * du[walking], v[walking] + at * dv[walking], filter="linear")
        end[walking] = there - middle[walking]
        walking = walking[np.abs(end[walking]) < steep[walking]]
    return walked, end


WORKLOAD = Workload(
    name="fxaa",
    title="Edge-directed antialiasing",
    description=(
        "A pixel shader that smooths the staircases of a finished picture, here spheres on a chequered floor. A"
        " thread in a block of 16 x 16 fetches the luminance of its pixel and four neighbours and leaves if they are"
        " alike; otherwise it fetches the four corners, selects the direction of the edge and its steeper side, and"
        " walks along the edge both ways, up to ten bilinear fetches each, until the luminance changes; one more"
        " fetch, shifted, gives the colour. Comparisons and selects instead of branches; in the loop, lanes of a warp"
        " stop at different lengths, and beside an edge most of a warp has left already."
    ),
    suite="shaders",
    tags=("float", "memory", "texture", "divergence", "iterative"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 45, "height": 37},
        "small": {"width": 1024, "height": 576},
        "full": {"width": 2560, "height": 1600},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Decisions are the same to the bit; the last fetch is moved by as much but for the last bits, so a filter's
    # fraction may be 1/256 off between a dark pixel and a bright one.
    tolerance=Tolerance(absolute=1 / 256),
)
