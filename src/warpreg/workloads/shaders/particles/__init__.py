"""particles: compute shaders that move particles in a wind and expand them into squares."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.shaders import dot, floats, padded, sample, saturate, scene
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = 256
BALL = floats([0, 3, 8, 1.5])
EMITTER = floats([0, 0.5, 8, 1])
STEP, DRAG, GRAVITY, INVERSE_PERIOD = AIR = floats([1 / 60, 2, 0.5, 1 / 8])
SIZES = floats([0.9, 1.6, 0.05, 0.4])
NEAREST = 0.1


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """A cloud of particles of all ages around the ball, a periodic wind, a ramp of colours and a camera.

    ``places``: float32[particles, 4], the age last; ``velocities``: float32[particles, 4], the time of life last;
    ``wind``: float32[32, 32, 32, 4]; ``ramp``: uint8[64, 4]; ``rows``: float32[4, 4], position to clip space.
    """
    count = size["particles"]
    life = rng.uniform(1, 3, count)
    rows = np.hstack([np.diag([0.9, 1.6, 1.0]), -(np.array([0.9, 1.6, 1.0]) * scene.EYE)[:, None]])
    return {
        "places": padded(rng.normal((0, 3, 8), 2, (count, 3)), life * rng.random(count)),
        "velocities": padded(rng.normal(0, 1, (count, 3)), life),
        "wind": padded(_curls(rng)),
        "ramp": scene.bytes_of(rng.random((64, 4)) * np.linspace(1, 0.1, 64)[:, None]),
        "rows": floats([*rows, [0, 0, 1, 0]]),
    }


def _curls(rng: np.random.Generator) -> Array:
    """A wind without divergence: waves, each across the direction in which it runs; float64[32, 32, 32, 3]."""
    cells = (np.arange(32) + 0.5) / 32
    z, y, x = np.meshgrid(cells, cells, cells, indexing="ij")
    wind = np.zeros((32, 32, 32, 3))
    for _ in range(6):
        frequency = rng.integers(-2, 3, 3)
        across = np.cross(rng.normal(size=3), frequency)
        phase = 2 * np.pi * (x * frequency[0] + y * frequency[1] + z * frequency[2] + rng.random())
        wind += np.cos(phase)[..., None] * across / 2
    return wind


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """``frames`` steps, then the squares; float32 ``places``, ``velocities`` and ``colours``: [particles, 4],
    ``corners``: [particles, 4, 4]."""
    count = size["particles"]
    wind = device.texture(inputs["wind"], "3d", address="wrap", filter="linear", normalized=True)
    ramp = device.texture(inputs["ramp"], "1d", filter="linear", normalized=True, read="normalized")
    places, velocities = (device.upload(inputs[name]) for name in ("places", "velocities"))
    device.assign("air", floats([BALL, EMITTER, AIR]))
    device.assign("camera", floats([*inputs["rows"], SIZES]))
    corners, colours = (device.zeros(shape, np.float32) for shape in ((count, 4, 4), (count, 4)))
    grid = blocks(count, BLOCK)
    for frame in range(size["frames"]):
        device.launch("move_particles", grid, BLOCK, wind, places, velocities, count, frame)
    device.launch("expand_particles", grid, BLOCK, ramp, places, velocities, corners, colours, count)
    outputs = {"places": places, "velocities": velocities, "corners": corners, "colours": colours}
    return {name: buffer.download() for name, buffer in outputs.items()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same in float64, all particles at once; ages are float32, as they decide who is born again."""
    place, velocity = (inputs[name][:, :3].astype(np.float64) for name in ("places", "velocities"))
    age, life = inputs["places"][:, 3].copy(), inputs["velocities"][:, 3].copy()
    for frame in range(size["frames"]):
        age += STEP
        _move(place, velocity, inputs["wind"])
        _emit(np.flatnonzero(age >= life), frame, place, velocity, age, life)
    corners, colours = _squares(place, age / life.astype(np.float64), inputs)
    return {
        "places": padded(place, age),
        "velocities": padded(velocity, life),
        "corners": corners,
        "colours": colours,
    }


def _move(place: Array, velocity: Array, wind: Array) -> None:
    u, v, w = place.T * float(INVERSE_PERIOD)
    blow = sample(wind, u, v, w, address="wrap", filter="linear", normalized=True)[:, :3]
    velocity += float(STEP) * (float(DRAG) * (blow - velocity) - [0.0, float(GRAVITY), 0.0])
    place += float(STEP) * velocity
    offset = place - BALL[:3]
    hit = np.flatnonzero(dot(offset, offset) < BALL[3] ** 2)
    normal = offset[hit] / np.sqrt(dot(offset[hit], offset[hit]))[:, None]
    velocity[hit] -= np.minimum(dot(velocity[hit], normal), 0)[:, None] * normal
    place[hit] = BALL[:3] + BALL[3] * normal


def _emit(born: Array, frame: int, place: Array, velocity: Array, age: Array, life: Array) -> None:
    state = born.astype(np.uint32) * np.uint32(0x2545F491) + np.uint32(frame)
    numbers = []
    for _ in range(4):
        state = _scrambled(state + np.uint32(0x9E3779B9))
        numbers.append((state >> 8) / 2.0**24)
    angle, radius = 2 * np.pi * numbers[0], EMITTER[3] * np.sqrt(numbers[1])
    cosine, sine, level = np.cos(angle), np.sin(angle), np.zeros(len(born))
    place[born] = EMITTER[:3] + np.stack([radius * cosine, level, radius * sine], axis=-1)
    velocity[born] = np.stack([cosine, 2 + 2 * numbers[2], sine], axis=-1)
    age[born], life[born] = 0, 1 + 2 * numbers[3]


def _scrambled(state: Array) -> Array:
    """The finaliser of a hash, on uint32."""
    state = (state ^ state >> 16) * np.uint32(0x85EBCA6B)
    state = (state ^ state >> 13) * np.uint32(0xC2B2AE35)
    scrambled: Array = state ^ state >> 16
    return scrambled


def _squares(place: Array, age: Array, inputs: Arrays) -> tuple[Array, Array]:
    """The corners, each turned by a right angle from the one before but in the shader's order, and the colours."""
    rows = inputs["rows"].astype(np.float64)
    clip = place @ rows[:, :3].T + rows[:, 3]
    turn = (_scrambled(np.arange(len(place), dtype=np.uint32)) >> 8) * (2 * np.pi / 2**24) + age
    angles = turn[:, None] + np.pi / 4 * np.array([1, -1, -3, 3])
    radius = np.sqrt(2) * (SIZES[2] + age * (SIZES[3] - SIZES[2]))
    square = np.stack([np.cos(angles), np.sin(angles)], axis=-1) * radius[:, None, None]
    corners = np.repeat(clip[:, None], 4, axis=1)
    corners[..., :2] += square * SIZES[:2]
    ramp = sample(scene.unit(inputs["ramp"]), age, filter="linear", normalized=True)
    fade = saturate(8 * age) * saturate(2 - 2 * age) * ramp[:, 3]
    colours = padded(ramp[:, :3] * fade[:, None], fade)
    behind = clip[:, 3] < NEAREST
    corners[behind], colours[behind] = [0, 0, 0, 1], 0
    return floats(corners), colours


WORKLOAD = Workload(
    name="particles",
    title="Particle system",
    description=(
        "Compute shaders of a particle system, one thread a particle. A step fetches the wind from a periodic 3D"
        " texture, drags the particle, pushes it out of a ball with a normalisation where it has got in, and, where"
        " its time is over, has it born again with random numbers from an integer hash, a square root, a sine and a"
        " cosine. After some steps another kernel takes each particle to clip space by four rows in constant memory,"
        " fetches a colour from a ramp over its age, and stores the corners of a rotated square. Vectors of four"
        " floats loaded and stored whole, short lives in between, and rare lanes that go the long way round."
    ),
    suite="shaders",
    tags=("float", "memory", "texture", "divergence", "vector-loads", "sfu", "several-launches", "constant-memory"),
    papers=("rfc",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"particles": 1000, "frames": 3},
        "small": {"particles": 350_000, "frames": 3},
        "full": {"particles": 600_000, "frames": 8},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    tolerance={
        # The wind changes by up to 2 from texel to texel: a fraction of the filter that is 1/256 off changes it by
        # 0.008, a velocity by step * drag = 1/30 of that, twice in eight steps at worst, and a place by eight steps.
        "velocities": Tolerance(relative=1e-5, absolute=6e-4, fraction=1e-4),
        "places": Tolerance(relative=1e-5, absolute=1e-4, fraction=1e-4),
        "corners": Tolerance(relative=1e-5, absolute=2e-4, fraction=1e-4),
        # The ramp changes by up to 1 from texel to texel.
        "colours": Tolerance(absolute=1 / 256),
    },
)
