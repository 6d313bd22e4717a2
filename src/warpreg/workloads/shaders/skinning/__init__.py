"""skinning: a vertex shader that blends up to four bone matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.shaders import dot, floats, normalize, padded, saturate, scene
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 128
DIRECTIONS = padded(normalize(np.array([[0.5, 0.7, -0.5], [-0.6, 0.1, 0.8]])))
COLOURS = floats([[0.9, 0.8, 0.6, 0], [0.2, 0.3, 0.5, 0], [0.1, 0.1, 0.1, 1]])
PROJECTION = floats([[0.9, 0, 0, 0], [0, 1.6, 0, -1.6 * scene.EYE[1]], [0, 0, 1, -0.1], [0, 0, 1, 0]])
AT_ONCE = 1 << 16
VERTICES = "positions", "normals", "weights", "indices"


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """A skin around a chain of bones, and the chain's matrices in every frame.

    ``positions`` and ``normals``: float32[vertices, 4]; ``weights``: float32[vertices, 4], the largest first, one to
    four above zero; ``indices``: uint8[vertices, 4]; ``bones``: float32[frames, bones, 3, 4], rotations and shifts.
    """
    count, bones = size["vertices"], size["bones"]
    along = np.sort(rng.random(count)) * (bones - 1)
    first = np.rint(along).astype(np.int64)
    indices = (first[:, None] + [0, 1, -1, 2]).clip(0, bones - 1)
    nearness = np.maximum(1.6 - np.abs(along[:, None] - (first[:, None] + [0, 1, -1, 2])), 0)
    nearness[rng.random(count) < 0.3, 1:] = 0
    order = np.argsort(-nearness, axis=1, kind="stable")
    nearness, indices = (np.take_along_axis(array, order, axis=1) for array in (nearness, indices))
    normal = normalize(rng.normal(size=(count, 3)))
    spine = np.stack([along / bones * 4 - 2, np.full(count, 2.0), np.full(count, 6.0)], axis=-1)
    return {
        "positions": padded(spine + 0.4 * normal, 1.0),
        "normals": padded(normal),
        "weights": floats(nearness / nearness.sum(axis=1, keepdims=True)),
        "indices": indices.astype(np.uint8),
        "bones": np.array([_pose(rng, bones) for _ in range(size["frames"])]),
    }


def _pose(rng: np.random.Generator, bones: int) -> Array:
    """Small turns about random axes, and small shifts: float32[bones, 3, 4]."""
    axis, angle = normalize(rng.normal(size=(bones, 3))), rng.uniform(-0.6, 0.6, (bones, 1, 1))
    zero = np.zeros(bones)
    x, y, z = axis.T
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(bones, 3, 3)
    turns = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return floats(np.concatenate([turns, rng.normal(0, 0.2, (bones, 3, 1))], axis=2))


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """A launch a frame; float32[frames, vertices, 4] ``projected``, ``turned`` and ``colours``."""
    count = size["vertices"]
    vertices = [device.upload(inputs[name]) for name in VERTICES]
    outputs = {name: device.zeros((count, 4), np.float32) for name in ("projected", "turned", "colours")}
    device.assign("scene", np.vstack([PROJECTION, DIRECTIONS, COLOURS]))
    frames = []
    for pose in inputs["bones"]:
        bones = device.texture(pose.reshape(-1, 4), "1d")
        device.launch("skin_vertices", blocks(count, BLOCK), BLOCK, bones, *vertices, *outputs.values(), count)
        frames.append([buffer.download() for buffer in outputs.values()])
    return {name: np.array(found) for name, found in zip(outputs, zip(*frames, strict=True), strict=True)}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The blended matrices in float64, some vertices at a time."""
    frames: list[list[Array]] = []
    for pose in inputs["bones"].astype(np.float64):
        parts = [
            _skinned(pose, *(inputs[name][first : first + AT_ONCE] for name in VERTICES))
            for first in range(0, size["vertices"], AT_ONCE)
        ]
        frames.append([np.concatenate(part) for part in zip(*parts, strict=True)])
    names = "projected", "turned", "colours"
    return {name: np.array(found) for name, found in zip(names, zip(*frames, strict=True), strict=True)}


def _skinned(pose: Array, positions: Array, normals: Array, weights: Array, indices: Array) -> list[Array]:
    rows = sum(weights[:, i, None, None] * pose[indices[:, i]] for i in range(4))
    position = np.einsum("vij,vj->vi", rows, positions.astype(np.float64))
    turned = normalize(np.einsum("vij,vj->vi", rows, normals.astype(np.float64))[:, :3])
    light = COLOURS[2] + sum(
        saturate(dot(turned, DIRECTIONS[i, :3].astype(np.float64)))[:, None] * COLOURS[i] for i in range(2)
    )
    return [floats(position @ PROJECTION[:, :3].T + PROJECTION[:, 3]), padded(turned), floats(light)]


WORKLOAD = Workload(
    name="skinning",
    title="Vertex skinning",
    description=(
        "A vertex shader: a skin that follows its bones. One thread a vertex in blocks of 128 loads position, normal,"
        " weights and bone numbers as vectors, blends up to four matrices of three rows, fetched as float4 from a"
        " linear texture, until a weight is zero, transforms position and normal, projects the position by four rows"
        " in constant memory and adds two lights. The twelve sums of the blended matrix live across the fetches, all"
        " else is a stream of fused multiply-adds whose results are read once. Vertices have one to four bones, so"
        " warps diverge a little."
    ),
    suite="shaders",
    tags=("float", "memory", "texture", "vector-loads", "constant-memory", "divergence"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"vertices": 1000, "bones": 8, "frames": 2},
        "small": {"vertices": 400_000, "bones": 60, "frames": 2},
        "full": {"vertices": 500_000, "bones": 120, "frames": 5},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Sums of some 16 products, of numbers up to 8, in float32: 16 * 8 * 2^-24.
    tolerance=Tolerance(relative=1e-6, absolute=8e-6),
)
