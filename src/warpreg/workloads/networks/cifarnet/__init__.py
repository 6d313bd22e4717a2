"""cifarnet: small colour images told apart by three convolutions, in double precision."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.networks import layers
from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Tolerance, Workload

KERNEL, REACH, CLASSES = 5, 2, 9


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``images``: float64[images, 3, side, side], about 0, and the weights of five layers; there are no biases."""
    side, maps, hidden = size["side"], size["maps"], size["hidden"]
    shades = rng.standard_normal((size["images"], 3, 1, 1))
    last = 2 * maps * (side // 8) ** 2
    return {
        "images": shades + 0.5 * rng.standard_normal((size["images"], 3, side, side)),
        "conv1": layers.weights(rng, maps, 3, KERNEL, KERNEL, dtype=np.float64),
        "conv2": layers.weights(rng, maps, maps, KERNEL, KERNEL, dtype=np.float64),
        "conv3": layers.weights(rng, 2 * maps, maps, KERNEL, KERNEL, dtype=np.float64),
        "hidden": layers.weights(rng, hidden, last, dtype=np.float64),
        "classes": layers.weights(rng, CLASSES, hidden, dtype=np.float64),
    }


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Nine launches, one a layer, a block an image; every layer's output."""
    images, side, maps = size["images"], size["side"], size["maps"]
    threads = side, side
    buffers: dict[str, Buffer] = {}

    def launch(name: str, kernel: str, shape: tuple[int, ...], block: int | tuple[int, int], *args: object) -> Buffer:
        buffers[name] = device.zeros((images, *shape), np.float64)
        weights = [device.upload(inputs[name])] if name in inputs else []
        device.launch(kernel, images, block, args[0], *weights, buffers[name], *args[1:])
        return buffers[name]

    half, quarter, eighth = side // 2, side // 4, side // 8
    x = launch("conv1", "first_layer", (maps, side, side), threads, device.upload(inputs["images"]), maps, side)
    x = launch("pool1", "max_pooling", (maps, half, half), threads, x, maps, side)
    x = launch("conv2", "convolution", (maps, half, half), threads, x, maps, maps, half)
    x = launch("pool2", "average_pooling", (maps, quarter, quarter), threads, x, maps, half)
    x = launch("conv3", "convolution", (2 * maps, quarter, quarter), threads, x, maps, 2 * maps, quarter)
    x = launch("pool3", "average_pooling", (2 * maps, eighth, eighth), threads, x, 2 * maps, quarter)
    x = launch("hidden", "fully_connected", (size["hidden"],), size["hidden"], x, 2 * maps * eighth**2, size["hidden"])
    x = launch("classes", "fully_connected", (CLASSES,), CLASSES, x, size["hidden"], CLASSES)
    launch("probabilities", "softmax", (CLASSES,), CLASSES, x, CLASSES)
    return {name: buffer.download() for name, buffer in buffers.items()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same layers by products of matrices."""
    outputs = {"conv1": layers.convolve(inputs["images"], inputs["conv1"], padding=REACH)}
    outputs["pool1"] = layers.rectify(layers.max_pool(_beyond_edge(outputs["conv1"], -np.inf), 3, 2))
    outputs["conv2"] = layers.rectify(layers.convolve(outputs["pool1"], inputs["conv2"], padding=REACH))
    outputs["pool2"] = mean_of_neighbours(outputs["conv2"])
    outputs["conv3"] = layers.rectify(layers.convolve(outputs["pool2"], inputs["conv3"], padding=REACH))
    outputs["pool3"] = mean_of_neighbours(outputs["conv3"])
    outputs["hidden"] = layers.dense(outputs["pool3"], inputs["hidden"], np.zeros(1))
    outputs["classes"] = layers.dense(outputs["hidden"], inputs["classes"], np.zeros(1))
    outputs["probabilities"] = layers.softmax(outputs["classes"])
    return {name: np.ascontiguousarray(array) for name, array in outputs.items()}


def _beyond_edge(x: Array, value: float) -> Array:
    """One row below and one column to the right of each map."""
    return np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=value)


def mean_of_neighbours(x: Array) -> Array:
    """Means of 3 x 3 windows at distance 2, over the pixels that lie within the map."""
    pixels = layers.average_pool(_beyond_edge(np.ones_like(x), 0.0), 3, 2)
    return layers.average_pool(_beyond_edge(x, 0.0), 3, 2) / pixels


WORKLOAD = Workload(
    name="cifarnet",
    title="CifarNet",
    description=(
        "CifarNet on colour images: three 5 x 5 convolutions to 32, 32 and 64 maps, pooling by maximum and by mean,"
        " 64 hidden neurons and nine classes with softmax, all in double precision. As in Tango a block is one image:"
        " its 32 x 32 threads, x along rows, each compute their pixel of all maps in turn, with a test for the edge"
        " round every tap; in the later layers three quarters and more of the threads are idle, which diverges within"
        " warps, and in pooling every other thread is. Index arithmetic and predicates outweigh the multiply-adds;"
        " sums and addresses of 64 bits live through the loops. A grid of images stands for Tango's single one."
    ),
    suite="networks",
    tags=("float", "compute", "f64", "divergence", "partial-warps", "several-launches"),
    papers=("larf", "bow"),
    source=Path(__file__).with_name("kernel.cu"),
    # A block an image, and 1024 threads a block; 330,000 threads would be 323 images, beyond the size.
    sizes={
        "tiny": {"images": 1, "side": 8, "maps": 3, "hidden": 5},
        "small": {"images": 1, "side": 32, "maps": 32, "hidden": 64},
        "full": {"images": 16, "side": 32, "maps": 32, "hidden": 64},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Outputs are about 1; a sum of k <= 1024 terms strays by less than k 2^-53 of the sum of their magnitudes, 32 at
    # k = 1024: 3.6e-12, and five layers add up.
    tolerance=Tolerance(relative=1e-12, absolute=2e-11),
)
