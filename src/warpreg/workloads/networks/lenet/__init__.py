"""lenet: handwritten digits told apart by two convolutions and two fully connected layers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.networks import layers
from warpreg.workloads.workload import Arrays, Buffer, Device, Size, Tolerance, Workload, blocks

SIDE, KERNEL, MAPS_1, MAPS_2, HIDDEN, CLASSES = 28, 5, 20, 50, 500, 10
CONV_1 = SIDE - KERNEL + 1
POOL_1 = CONV_1 // 2
CONV_2 = POOL_1 - KERNEL + 1
POOL_2 = CONV_2 // 2
NEURONS_PER_BLOCK = 128


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``images``: float32[images, 1, 28, 28], four strokes each, and weights and biases of the four layers."""
    rows, cols = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    centres = rng.uniform(6.0, 22.0, (size["images"], 4, 2, 1, 1))
    widths = rng.uniform(1.5, 5.0, (size["images"], 4, 2, 1, 1))
    distances = ((rows - centres[:, :, 0]) / widths[:, :, 0]) ** 2 + ((cols - centres[:, :, 1]) / widths[:, :, 1]) ** 2
    return {
        "images": np.exp(-distances).max(axis=1, keepdims=True).astype(np.float32),
        "conv1": layers.weights(rng, MAPS_1, 1, KERNEL, KERNEL),
        "conv1_bias": layers.biases(rng, MAPS_1),
        "conv2": layers.weights(rng, MAPS_2, MAPS_1, KERNEL, KERNEL),
        "conv2_bias": layers.biases(rng, MAPS_2),
        "hidden": layers.weights(rng, HIDDEN, MAPS_2 * POOL_2 * POOL_2),
        "hidden_bias": layers.biases(rng, HIDDEN),
        "classes": layers.weights(rng, CLASSES, HIDDEN),
        "classes_bias": layers.biases(rng, CLASSES),
    }


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Seven launches, one a layer; the outputs of all layers with weights, and the probabilities."""
    images = size["images"]

    def convolution(layer: str, x: Buffer, channels: int, side: int, maps: int) -> Buffer:
        out = side - KERNEL + 1
        y = device.zeros((images, maps, out, out), np.float32)
        weights, bias = device.upload(inputs[layer]), device.upload(inputs[f"{layer}_bias"])
        device.launch("convolution", (maps, images), (out, out), x, weights, bias, y, channels, side)
        return y

    def pooling(x: Buffer, maps: int, side: int) -> Buffer:
        y = device.zeros((images, maps, side // 2, side // 2), np.float32)
        device.launch("max_pooling", (maps, images), (side // 2, side // 2), x, y, side)
        return y

    def connected(layer: str, x: Buffer, rectified: int) -> Buffer:
        outputs, count = inputs[layer].shape
        y = device.zeros((images, outputs), np.float32)
        weights, bias = device.upload(inputs[layer]), device.upload(inputs[f"{layer}_bias"])
        grid = blocks(outputs, NEURONS_PER_BLOCK), images
        device.launch("fully_connected", grid, NEURONS_PER_BLOCK, x, weights, bias, y, count, outputs, rectified)
        return y

    conv1 = convolution("conv1", device.upload(inputs["images"]), 1, SIDE, MAPS_1)
    conv2 = convolution("conv2", pooling(conv1, MAPS_1, CONV_1), MAPS_1, POOL_1, MAPS_2)
    hidden = connected("hidden", pooling(conv2, MAPS_2, CONV_2), 1)
    classes = connected("classes", hidden, 0)
    probabilities = device.zeros((images, CLASSES), np.float32)
    device.launch("softmax", images, 32, classes, probabilities, CLASSES)
    found = {"conv1": conv1, "conv2": conv2, "hidden": hidden, "classes": classes, "probabilities": probabilities}
    return {name: buffer.download() for name, buffer in found.items()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same layers in float64."""
    conv1 = layers.with_bias(layers.convolve(inputs["images"], inputs["conv1"]), inputs["conv1_bias"])
    conv2 = layers.with_bias(layers.convolve(layers.max_pool(conv1, 2, 2), inputs["conv2"]), inputs["conv2_bias"])
    hidden = layers.rectify(layers.dense(layers.max_pool(conv2, 2, 2), inputs["hidden"], inputs["hidden_bias"]))
    classes = layers.dense(hidden, inputs["classes"], inputs["classes_bias"])
    found = {"conv1": conv1, "conv2": conv2, "hidden": hidden, "classes": classes}
    found["probabilities"] = layers.softmax(classes)
    return {name: array.astype(np.float32) for name, array in found.items()}


WORKLOAD = Workload(
    name="lenet",
    title="LeNet",
    description=(
        "LeNet on a batch of grey 28 x 28 images: a 5 x 5 convolution to 20 maps, pooling, another to 50 maps,"
        " pooling, 500 hidden neurons and ten classes with softmax, one launch a layer and one thread a neuron. A"
        " block of a convolution is one map of one image, 24 x 24 or 8 x 8 threads; it keeps the map's filters in"
        " shared memory and runs 25 unrolled multiply-adds for each input map, loads of which share one address"
        " register. A fully connected block of 128 neurons has the image's values in shared memory; softmax is one"
        " warp of shuffles. Loaded values and partial sums are read once; a pointer and a sum live through the loops."
        " Layer shapes are those of the network that cuDNN's sample runs, convolutions here are direct."
    ),
    suite="networks",
    tags=("float", "compute", "shared-memory", "barriers", "several-launches", "partial-warps", "shuffle"),
    papers=("larf",),
    source=Path(__file__).with_name("kernel.cu"),
    # The first convolution has 11,520 neurons an image, so 29 images make 334,080 threads.
    sizes={"tiny": {"images": 1}, "small": {"images": 29}, "full": {"images": 256}},
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Outputs of a layer are about 1. A sum of k terms in a chain strays by about 0.4 sqrt(k) 2^-24 of its size: 7e-7 at
    # the longest, 800 terms. Six times that for the worst of 10^6 neurons, and four layers: 1.7e-5.
    tolerance=Tolerance(relative=1e-6, absolute=1.7e-5),
)
