"""particlefilter: a disk that moves through a noisy video is followed by many weighted guesses of where it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

THREADS = 512
NAIVE_THREADS = 128
WARP = 32
RADIUS = 5
BACKGROUND, FOREGROUND, NOISE = 100, 228, 5
MODULUS, MULTIPLIER, INCREMENT = 2**31 - 1, 1103515245, 12345


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``video``: uint8[rows, cols, frames], a bright disk that moves one row down and two columns left each frame.

    ``seed``: int32[particles], the state of the random numbers of each particle.
    """
    rows, cols, frames = size["rows"], size["cols"], size["frames"]
    row, col, frame = np.ogrid[:rows, :cols, :frames]
    inside = np.hypot(row - (rows // 2 + frame - 1), col - (cols // 2 - 2 * (frame - 1))) < RADIUS
    video = np.where(inside, FOREGROUND, BACKGROUND) + NOISE * rng.standard_normal(inside.shape)
    seed = rng.integers(1, MODULUS, size["particles"], dtype=np.int32)
    return {"video": video.clip(0, 255).astype(np.uint8), "seed": seed}


def disk() -> Array:
    """The pixels of the disk from its middle, each as column and row: int32[69, 2]."""
    down, right = np.mgrid[1 - RADIUS : RADIUS, 1 - RADIUS : RADIUS]
    inside = np.hypot(down, right) < RADIUS
    return np.stack([right[inside], down[inside]], axis=1).astype(np.int32)


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """The filter with all its steps on the device, then the one that only searches there.

    ``x``, ``y``, ``weights``: float64[particles] after the last frame; ``track``: float64[2], the weighted mean place;
    ``naive_track``: float64[frames - 1, 2], that of each frame.
    """
    return _run_on_device(device, size, inputs) | {"naive_track": _run_naively(device, size, inputs)}


def _run_on_device(device: Device, size: Size, inputs: Arrays) -> dict[str, Array]:
    particles, frames, cols = size["particles"], size["frames"], size["cols"]
    grid = blocks(particles, THREADS)
    places = disk()
    count = len(places)
    x, y, likelihoods, weights, normalized, cumulated, positions = (
        device.zeros(particles, np.float64) for _ in range(7)
    )
    drawn_x, drawn_y = (device.upload(np.full(particles, n // 2, np.float64)) for n in (size["rows"], cols))
    pixels, sums = device.zeros(particles * count, np.int32), device.zeros(grid, np.float64)
    offsets, video, seed = device.upload(places), device.upload(inputs["video"]), device.upload(inputs["seed"])
    for frame in range(1, frames):
        device.launch(
            "likelihood",
            grid,
            THREADS,
            *(x, y, drawn_x, drawn_y, pixels, offsets, likelihoods, video, weights),
            *(particles, count, inputs["video"].size, frame, cols, frames, seed, sums),
        )
        device.launch("sum_weights", 1, WARP, sums, grid)
        device.launch(
            "normalize_weights", grid, THREADS, weights, normalized, particles, sums, cumulated, positions, seed
        )
        device.launch("find_index", grid, THREADS, x, y, cumulated, positions, drawn_x, drawn_y, seed, particles)
    found = {"x": x.download(), "y": y.download(), "weights": normalized.download()}
    return found | {"track": np.array([found["x"] @ found["weights"], found["y"] @ found["weights"]])}


def _run_naively(device: Device, size: Size, inputs: Arrays) -> Array:
    particles = size["particles"]
    x, y, cumulated, positions, drawn_x, drawn_y = (device.zeros(particles, np.float64) for _ in range(6))

    def draw(state: Array, cumulative: Array, places: Array) -> Array:
        for buffer, content in zip((x, y, cumulated, positions), (*state, cumulative, places), strict=True):
            buffer.write(content)
        grid = blocks(particles, NAIVE_THREADS)
        device.launch("find_index_naive", grid, NAIVE_THREADS, x, y, cumulated, positions, drawn_x, drawn_y, particles)
        return np.stack([drawn_x.download(), drawn_y.download()])

    track: list[Array] = []
    state, seed = _start(size), inputs["seed"]
    for frame in range(1, size["frames"]):
        state, seed = moved(state, seed)
        weights = weighed(inputs["video"], frame, state)
        track.append(state @ weights)
        positions_now, seed = _positions(seed)
        state = draw(state, np.cumsum(weights), positions_now)
    return np.array(track)


def reference(size: Size, inputs: Arrays) -> Arrays:
    """All steps in NumPy; the search is a binary one."""
    state, seed = _start(size), inputs["seed"]
    track: list[Array] = []
    for frame in range(1, size["frames"]):
        state, seed = moved(state, seed)
        weights = weighed(inputs["video"], frame, state)
        track.append(state @ weights)
        positions, seed = _positions(seed)
        before, drawn = state, np.searchsorted(np.cumsum(weights), positions)
        state = state[:, np.minimum(drawn, size["particles"] - 1)]
    x, y = before
    return {"x": x, "y": y, "weights": weights, "track": track[-1], "naive_track": np.array(track)}


def _start(size: Size) -> Array:
    """All particles in the middle of the video: float64[2, particles]."""
    middle = np.array([[size["rows"] // 2], [size["cols"] // 2]], np.float64)
    return np.repeat(middle, size["particles"], axis=1)


def uniform(seed: Array) -> tuple[Array, Array]:
    """The next numbers of some generators, from 0 to 1, and their new states: int32, products wrap at 32 bits."""
    wrapped = (MULTIPLIER * seed.astype(np.int64) + INCREMENT).astype(np.int32)
    seed = np.fmod(wrapped, np.int32(MODULUS))
    return np.abs(seed / MODULUS), seed


def _normal(seed: Array) -> tuple[Array, Array]:
    u, seed = uniform(seed)
    v, seed = uniform(seed)
    return np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v), seed


def moved(state: Array, seed: Array) -> tuple[Array, Array]:
    """The particles after the expected motion of a frame and random steps, and the generators' new states."""
    right, seed = _normal(seed)
    down, seed = _normal(seed)
    return np.stack([state[0] + 1 + 5 * right, state[1] - 2 + 2 * down]), seed


def weighed(video: Array, frame: int, state: Array) -> Array:
    """Weights that add up to 1, from how far the pixels around a particle are like the disk, not the rest."""
    _, cols, frames = video.shape
    offsets = disk()
    x, y = state.astype(np.int64)
    pixels = np.abs((x[:, None] + offsets[:, 1]) * cols * frames + (y[:, None] + offsets[:, 0]) * frames + frame)
    pixels[pixels >= video.size] = 0
    brightness = video.reshape(-1)[pixels].astype(np.float64)
    ratio = ((brightness - BACKGROUND) ** 2 - (brightness - FOREGROUND) ** 2) / 50
    weights: Array = np.exp(ratio.mean(axis=1)) / len(x)
    weights /= weights.sum()
    return weights


def _positions(seed: Array) -> tuple[Array, Array]:
    """Evenly spaced places between 0 and 1 to draw at, the first by the first particle's generator."""
    seed = seed.copy()
    first, seed[:1] = uniform(seed[:1])
    return first / len(seed) + np.arange(len(seed)) / len(seed), seed


WORKLOAD = Workload(
    name="particlefilter",
    title="Particle filter that follows a disk in a video",
    description=(
        "Many guesses of where a disk is move at random, are weighed by the pixels around them, and are drawn again"
        " in proportion to their weights, once a frame. All arithmetic is double precision. The first of four kernels"
        " holds most of the code: two pairs of normal random numbers from an integer generator with logarithm and"
        " cosine, then a loop over the 69 pixels of the disk through arrays in global memory, with general powers for"
        " squares, and a tree reduction in shared memory. The second kernel is one warp, and most of the third one"
        " thread. In the last each thread searches the cumulated weights from their start, so that the threads of a"
        " warp run equally long only where particles are drawn many times. A second filter launches this search alone"
        " and does the rest on the host. Long polynomials on register pairs, few values alive in the loops."
    ),
    suite="rodinia",
    tags=("float", "compute", "f64", "divergence", "shared-memory", "barriers", "several-launches"),
    papers=("regmutex",),
    originals=("rodinia/particlefilter",),
    differences=(
        "The originals of the third and the last kernel race: one thread reads weights and a random number that other"
        " blocks may not have written. Here it reads the weights of the kernel before, and a seed that moves on in the"
        " kernel after."
    ),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        # The work of a search grows with the square of the particles: far fewer than 330,000 make a long launch.
        "tiny": {"particles": 133, "rows": 48, "cols": 40, "frames": 3},
        "small": {"particles": 2000, "rows": 128, "cols": 128, "frames": 4},
        "full": {"particles": 10000, "rows": 128, "cols": 128, "frames": 10},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Logarithm, cosine and exponential are within 2 units of 2^-53; an exponent of up to 330 magnifies its own error of
    # some 2^-53 * 70 to 3e-12 of a weight. A weight that is nothing beside the largest may be anything small.
    tolerance={
        "x": Tolerance(relative=1e-12, absolute=1e-12),
        "y": Tolerance(relative=1e-12, absolute=1e-12),
        "weights": Tolerance(relative=1e-11),
        "track": Tolerance(relative=1e-11),
        "naive_track": Tolerance(relative=1e-11),
    },
)
