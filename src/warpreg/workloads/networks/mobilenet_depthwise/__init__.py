"""mobilenet-depthwise: the thirteen depth-wise convolutions of MobileNet, bound by memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.networks import layers
from warpreg.workloads.networks.mobilenet_layers import depthwise, normalise, norms, table
from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks

LARGEST_SIDE = 28


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """For each layer its input, float32[images, channels, side, side], 3 x 3 weights and float32[4, channels] norms."""
    arrays = {}
    for layer in table(size):
        shape = size["images"], layer.channels, layer.side, layer.side
        arrays[layer.name] = np.minimum(layers.activations(rng, *shape), np.float32(6.0))
        arrays[f"{layer.name}_weights"] = layers.weights(rng, layer.channels, 3, 3)
        arrays[f"{layer.name}_norms"] = norms(rng, layer.channels)
    return arrays


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch a layer; each layer's output."""
    outputs = {}
    for layer in table(size):
        names = layer.name, f"{layer.name}_weights", f"{layer.name}_norms"
        out = layer.out_side
        y = device.zeros((size["images"], layer.channels, out, out), np.float32)
        block = min(out, LARGEST_SIDE)
        parts = blocks(out, block)
        grid = layer.channels, parts * parts, size["images"]
        arrays = [device.upload(inputs[name]) for name in names]
        numbers = layer.channels, layer.side, out, layer.stride, parts
        device.launch("depthwise", grid, (block, block), *arrays, y, *numbers)
        outputs[layer.name] = y.download()
    return outputs


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Each layer in float64."""
    found = {}
    for layer in table(size):
        sums = depthwise(inputs[layer.name], inputs[f"{layer.name}_weights"], layer.stride)
        found[layer.name] = normalise(sums, inputs[f"{layer.name}_norms"]).astype(np.float32)
    return found


WORKLOAD = Workload(
    name="mobilenet-depthwise",
    title="Depth-wise convolutions of MobileNet",
    description=(
        "The thirteen 3 x 3 depth-wise convolutions of MobileNet at their own shapes, 112 x 112 to 7 x 7 pixels of 32"
        " to 1024 maps, with batch normalisation and the rectifier that cuts off at six; each layer reads seeded maps."
        " A block is a square of at most 28 x 28 pixels of one map, so that its last warp is partial and a layer of 7"
        " x 7 leaves 15 lanes idle; a thread computes one pixel from nine guarded loads and nine weights that all"
        " lanes share, then divides by a square root. Every loaded value is read once; nine predicates and one base"
        " address live through the window. Little arithmetic for each byte."
    ),
    suite="networks",
    tags=("float", "memory", "stencil", "partial-warps", "several-launches", "sfu"),
    papers=("larf",),
    source=Path(__file__).with_name("kernel.cu"),
    # The first layer has 401,408 pixels.
    sizes={
        "tiny": {"images": 1, "side": 32, "narrower": 16},
        "small": {"images": 1, "side": 112, "narrower": 1},
        "full": {"images": 8, "side": 112, "narrower": 1},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Nine terms, a shift and a scale: twelve roundings of numbers below 20 before the cut at six.
    tolerance=Tolerance(absolute=12 * 20 * 2.0**-24),
)
