"""ray: ray tracing of spheres above a plane, with shadows and reflections."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

BLOCK = (16, 8)
DEPTH = 5
FAR, NEAR = 1.0e4, float(np.float32(1.0e-3))
NOTHING, PLANE = -2, -1
FIELD_OF_VIEW = 1.2
EYE, TILT = (0.0, 2.5, -7.0), 0.25


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``spheres``: float32[spheres, 8], centre, radius, colour and how much each reflects; ``light``: float32[3]."""
    count = size["spheres"]
    radius = rng.uniform(0.5, 1.2, count)
    places = np.column_stack(
        [rng.uniform(-4, 4, count), radius + rng.uniform(0, 1.5, count), rng.uniform(-1, 6, count)]
    )
    looks = np.column_stack([rng.uniform(0.2, 1, (count, 3)), rng.uniform(0.2, 0.7, count)])
    spheres = np.column_stack([places, radius, looks]).astype(np.float32)
    return {"spheres": spheres, "light": np.array([5, 9, -6], np.float32)}


def view() -> Array:
    """float32[3, 4]: the camera's rotation, and where it is."""
    cosine, sine = np.cos(TILT), np.sin(TILT)
    turn = np.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]])
    return np.column_stack([turn, EYE]).astype(np.float32)


def _pixel(size: Size) -> np.float32:
    return np.float32(FIELD_OF_VIEW / size["width"])


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch; ``image``: uint8[height, width, 4], red, green, blue and opacity."""
    width, height = size["width"], size["height"]
    device.assign("spheres", inputs["spheres"])
    device.assign("sphere_count", np.array([size["spheres"]], np.int32))
    device.assign("view", view())
    device.assign("light", inputs["light"])
    image = device.zeros((height, width), np.uint32)
    grid = blocks(width, BLOCK[0]), blocks(height, BLOCK[1])
    device.launch("render", grid, BLOCK, image, width, height, _pixel(size))
    return {"image": image.download().view(np.uint8).reshape(height, width, 4)}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """All rays at once, bounce by bounce, in float64."""
    width, height = size["width"], size["height"]
    across = (np.arange(width) + 0.5 - width / 2) * float(_pixel(size))
    up = (height / 2 - 0.5 - np.arange(height)) * float(_pixel(size))
    screen = np.stack([*np.meshgrid(across, up), np.ones((height, width))], axis=-1).reshape(-1, 3)
    camera, spheres = view().astype(np.float64), inputs["spheres"].astype(np.float64)
    direction = _normalized(screen @ camera[:, :3].T)
    start = np.broadcast_to(camera[:, 3], direction.shape)
    colour, strength = np.zeros_like(direction), np.ones(len(direction))
    alive = np.arange(len(direction))
    for _ in range(DEPTH):
        alive = alive[strength[alive] > 0.01]
        hit, distance = _nearest(spheres, start[alive], direction[alive])
        lost = alive[hit == NOTHING]
        sky = strength[lost] * (0.5 + 0.5 * direction[lost, 1])
        colour[lost] += sky[:, None] * (0.5, 0.7, 1.0)
        alive, distance, hit = alive[hit != NOTHING], distance[hit != NOTHING], hit[hit != NOTHING]
        point = start[alive] + distance[:, None] * direction[alive]
        normal, own, reflection = _surface(spheres, hit, point)
        shade, mirrored = _lit(spheres, inputs["light"], point, normal, direction[alive], own)
        colour[alive] += (strength[alive] * (1 - reflection))[:, None] * shade
        strength[alive] *= reflection
        start, direction = start.copy(), direction.copy()
        start[alive], direction[alive] = point + NEAR * normal, mirrored
    image = np.full((height, width, 4), 255, np.uint8)
    image[..., :3] = np.floor(255 * np.clip(colour, 0, 1) + 0.5).reshape(height, width, 3)
    return {"image": image}


def _normalized(vectors: Array) -> Array:
    lengths: Array = np.sqrt((vectors**2).sum(axis=-1, keepdims=True))
    return vectors / lengths


def _sphere_distance(sphere: Array, start: Array, direction: Array) -> Array:
    to_centre = sphere[:3] - start
    middle = (to_centre * direction).sum(axis=1)
    discriminant = middle**2 - (to_centre**2).sum(axis=1) + sphere[3] ** 2
    half = np.sqrt(np.maximum(discriminant, 0))
    later = np.where(middle + half > NEAR, middle + half, FAR)
    return np.where(discriminant <= 0, FAR, np.where(middle - half > NEAR, middle - half, later))


def _nearest(spheres: Array, start: Array, direction: Array) -> tuple[Array, Array]:
    """What each ray meets first, and how far off."""
    down = np.minimum(direction[:, 1], -1e-9)
    to_plane = -start[:, 1] / down
    meets = (direction[:, 1] < -1e-4) & (to_plane > NEAR) & (to_plane < FAR)
    distance = np.where(meets, to_plane, FAR)
    hit = np.where(meets, PLANE, NOTHING)
    for i, sphere in enumerate(spheres):
        found = _sphere_distance(sphere, start, direction)
        hit = np.where(found < distance, i, hit)
        distance = np.minimum(distance, found)
    return hit, distance


def _surface(spheres: Array, hit: Array, point: Array) -> tuple[Array, Array, Array]:
    """Normal, colour and reflection at each point."""
    white = (np.floor(point[:, 0]) + np.floor(point[:, 2])) % 2 == 1
    sphere = spheres[np.maximum(hit, 0)]
    plane = (hit == PLANE)[:, None]
    normal = np.where(plane, (0.0, 1.0, 0.0), _normalized(point - sphere[:, :3]))
    chequered = np.where(white[:, None], (0.9, 0.9, 0.9), (0.2, 0.2, 0.25))
    return normal, np.where(plane, chequered, sphere[:, 4:7]), np.where(plane[:, 0], 0.2, sphere[:, 7])


def _lit(
    spheres: Array, light: Array, point: Array, normal: Array, direction: Array, colour: Array
) -> tuple[Array, Array]:
    """The colour that each point sends along its ray by itself, and the mirrored direction."""
    to_light = light - point
    reach = np.sqrt((to_light**2).sum(axis=1))
    to_light = to_light / reach[:, None]
    facing = (normal * to_light).sum(axis=1)
    mirrored = direction - 2 * (normal * direction).sum(axis=1, keepdims=True) * normal
    bright = facing > 0
    for sphere in spheres:
        bright &= ~(_sphere_distance(sphere, point, to_light) < reach)
    diffuse = 0.15 + np.where(bright, 0.85 * facing, 0)
    highlight = np.where(bright, 0.5 * np.maximum((mirrored * to_light).sum(axis=1), 0) ** 20, 0)
    return colour * diffuse[:, None] + highlight[:, None], mirrored


WORKLOAD = Workload(
    name="ray",
    title="Ray tracing",
    description=(
        "An image of reflecting spheres above a chequered plane under one light, after the GPGPU-Sim benchmark:"
        " camera and objects in constant memory, a pixel a thread, blocks of 16 x 8. A loop follows a ray through up"
        " to five reflections; each time a loop over the objects finds the nearest, a second one looks for a shadow,"
        " and the light is added up. Start, direction, colour and strength live through it all, a dozen registers, and"
        " vectors of three come and go. Threads leave the loops at different times, so that warps diverge at edges and"
        " in reflections."
    ),
    suite="ispass",
    tags=("float", "compute", "divergence", "constant-memory", "sfu", "iterative"),
    papers=("tfet",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"width": 45, "height": 29, "spheres": 4},
        "small": {"width": 704, "height": 480, "spheres": 4},
        "full": {"width": 1024, "height": 1024, "spheres": 6},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # A colour may be rounded to the neighbour. Directions are right to some 2^-22, five times or so less well after
    # each reflection, so that a few pixels at edges of spheres, shadows and squares fall on the other side.
    tolerance=Tolerance(absolute=1, fraction=5e-4),
)
