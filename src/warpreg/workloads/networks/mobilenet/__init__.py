"""mobilenet: MobileNet from image to classes, layer after layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.networks import layers
from warpreg.workloads.networks.mobilenet_layers import depthwise, normalise, norms, table
from warpreg.workloads.workload import Arrays, Buffer, Device, Size, Tolerance, Workload, blocks

CHANNELS = 3
LARGEST_SIDE = 28
NEURONS_OF_A_BLOCK = 128


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image`` float32[3, 2 side, 2 side]; 3 x 3 weights, norms, point-wise weights of each layer; the classifier."""
    pairs = table(size)
    first, last = pairs[0].channels, pairs[-1].maps
    arrays = {
        "image": rng.standard_normal((CHANNELS, 2 * size["side"], 2 * size["side"]), dtype=np.float32),
        "first_weights": layers.weights(rng, first, CHANNELS, 3, 3),
        "first_norms": norms(rng, first),
        "classes_weights": layers.weights(rng, size["classes"], last),
        "classes_biases": layers.biases(rng, size["classes"]),
    }
    for pair in pairs:
        arrays[f"{pair.name}_depthwise_weights"] = layers.weights(rng, pair.channels, 3, 3)
        arrays[f"{pair.name}_depthwise_norms"] = norms(rng, pair.channels)
        arrays[f"{pair.name}_pointwise_weights"] = layers.weights(rng, pair.maps, pair.channels)
        arrays[f"{pair.name}_pointwise_norms"] = norms(rng, pair.maps)
    return arrays


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch a layer, each on the output of the one before: the means of the last maps, and the classes."""
    pairs, uploaded = table(size), {name: device.upload(array) for name, array in inputs.items()}
    x = _convolution(
        device, "first_convolution", uploaded["image"], "first", uploaded, pairs[0].channels, size["side"],
        CHANNELS, 2 * size["side"],
    )  # fmt: skip
    for pair in pairs:
        out = pair.out_side
        name = f"{pair.name}_depthwise"
        x = _convolution(device, "depthwise", x, name, uploaded, pair.channels, out, pair.side, out, pair.stride)
        x = _convolution(device, "pointwise", x, f"{pair.name}_pointwise", uploaded, pair.maps, out, pair.channels, out)
    maps, pixels, classes = pairs[-1].maps, pairs[-1].out_side ** 2, size["classes"]
    means, scores = device.zeros(maps, np.float32), device.zeros(classes, np.float32)
    device.launch("mean_pooling", blocks(maps, NEURONS_OF_A_BLOCK), NEURONS_OF_A_BLOCK, x, means, maps, pixels)
    grid = blocks(classes, NEURONS_OF_A_BLOCK)
    weights, biases = uploaded["classes_weights"], uploaded["classes_biases"]
    device.launch("fully_connected", grid, NEURONS_OF_A_BLOCK, means, weights, biases, scores, maps, classes)
    return {"means": means.download(), "classes": scores.download()}


def _convolution(
    device: Device, kernel: str, x: Buffer, layer: str, uploaded: dict[str, Buffer], maps: int, side: int, *numbers: int
) -> Buffer:
    """Launch a convolution to ``maps`` maps of ``side`` pixels squared; returns its output."""
    y = device.zeros((maps, side, side), np.float32)
    block = min(side, LARGEST_SIDE)
    parts = blocks(side, block)
    arrays = x, uploaded[f"{layer}_weights"], uploaded[f"{layer}_norms"], y
    device.launch(kernel, (maps, parts * parts), (block, block), *arrays, *numbers, parts)
    return y


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The chain of layers in float64."""
    image = np.pad(inputs["image"].astype(np.float64)[None], ((0, 0), (0, 0), (0, 1), (0, 1)))
    x = normalise(layers.convolve(image, inputs["first_weights"], stride=2), inputs["first_norms"])
    for pair in table(size):
        name = f"{pair.name}_depthwise"
        x = normalise(depthwise(x, inputs[f"{name}_weights"], pair.stride), inputs[f"{name}_norms"])
        name = f"{pair.name}_pointwise"
        sums = np.tensordot(inputs[f"{name}_weights"].astype(np.float64), x[0], axes=1)
        x = normalise(sums[None], inputs[f"{name}_norms"])
    means = x[0].mean(axis=(1, 2))
    classes = layers.dense(means[None], inputs["classes_weights"], inputs["classes_biases"])[0]
    return {"means": means.astype(np.float32), "classes": classes.astype(np.float32)}


WORKLOAD = Workload(
    name="mobilenet",
    title="MobileNet",
    description=(
        "MobileNet on one image: a 3 x 3 convolution of three channels with stride two, then thirteen pairs of a"
        " depth-wise 3 x 3 and a point-wise convolution, each with batch normalisation and the rectifier that cuts off"
        " at six, the mean of each map and a fully connected layer, launch after launch. A block is a square of at most"
        " 28 x 28 pixels of one map. Warps of neighbouring maps read the same pixels in the point-wise layers, those of"
        " one map neighbouring rows in the depth-wise ones; weights are shared by all lanes. The size small is the"
        " variant of half the maps for images of 128 x 128 pixels, full the whole network."
    ),
    suite="networks",
    tags=("float", "memory", "stencil", "partial-warps", "several-launches", "sfu"),
    papers=("larf",),
    source=Path(__file__).with_name("kernel.cu"),
    # The largest launches have 131,072 and 802,816 threads.
    sizes={
        "tiny": {"side": 32, "narrower": 16, "classes": 10},
        "small": {"side": 64, "narrower": 2, "classes": 1000},
        "full": {"side": 112, "narrower": 1, "classes": 1000},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Each of 28 layers strays by about 1e-6 of numbers near 1 and keeps the size of what came before; the roundings are
    # independent, so that they add up to some 5e-6 in a pixel; six times that for the worst of a thousand.
    tolerance=Tolerance(relative=1e-5, absolute=3e-5),
)
