"""mobilenet-pointwise: the thirteen 1 x 1 convolutions of MobileNet, products of long chains."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.networks import layers
from warpreg.workloads.networks.mobilenet_layers import Block, normalise, norms, table
from warpreg.workloads.workload import Arrays, Device, Size, Tolerance, Workload, blocks

LARGEST_SIDE = 28


def computed(size: Size, layer: Block) -> int:
    """How many maps of a layer are computed."""
    return layer.maps // size["share"]


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """For each layer its input, float32[channels, side, side], and weights and norms of the computed maps."""
    arrays = {}
    for layer in table(size):
        maps = computed(size, layer)
        x = layers.activations(rng, layer.channels, layer.out_side, layer.out_side)
        arrays[layer.name] = np.minimum(x, np.float32(6.0))
        arrays[f"{layer.name}_weights"] = layers.weights(rng, maps, layer.channels)
        arrays[f"{layer.name}_norms"] = norms(rng, maps)
    return arrays


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch a layer; each layer's computed maps."""
    outputs = {}
    for layer in table(size):
        names = layer.name, f"{layer.name}_weights", f"{layer.name}_norms"
        side, maps = layer.out_side, computed(size, layer)
        y = device.zeros((maps, side, side), np.float32)
        block = min(side, LARGEST_SIDE)
        parts = blocks(side, block)
        arrays = [device.upload(inputs[name]) for name in names]
        grid = maps, parts * parts
        device.launch("pointwise", grid, (block, block), *arrays, y, layer.channels, maps, side, parts)
        outputs[layer.name] = y.download()
    return outputs


def reference(size: Size, inputs: Arrays) -> Arrays:
    """Each layer in float64."""
    outputs = {}
    for layer in table(size):
        weights = inputs[f"{layer.name}_weights"].astype(np.float64)
        sums = np.tensordot(weights, inputs[layer.name].astype(np.float64), axes=1)
        outputs[layer.name] = normalise(sums[None], inputs[f"{layer.name}_norms"])[0].astype(np.float32)
    return outputs


WORKLOAD = Workload(
    name="mobilenet-pointwise",
    title="Point-wise convolutions of MobileNet",
    description=(
        "The thirteen 1 x 1 convolutions of MobileNet at their own shapes, 112 x 112 pixels of 32 channels to 7 x 7"
        " of 1024, with batch normalisation and the rectifier that cuts off at six; each layer reads seeded maps. A"
        " block is a square of at most 28 x 28 pixels of one map, and a thread runs through the channels of its pixel:"
        " a load, a weight that all lanes share and a multiply-add, unrolled by the compiler, in one long chain. Two"
        " addresses and the sum live through the loop, all else is read once, right after it is loaded. At the size"
        " small one in ``share`` of the maps of each layer is computed, from all channels."
    ),
    suite="networks",
    tags=("float", "memory", "partial-warps", "several-launches", "sfu"),
    papers=("larf",),
    source=Path(__file__).with_name("kernel.cu"),
    # The largest launch of small has 100,352 threads, that of full 802,816.
    sizes={
        "tiny": {"side": 32, "narrower": 16, "share": 1},
        "small": {"side": 112, "narrower": 1, "share": 8},
        "full": {"side": 112, "narrower": 1, "share": 1},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # A sum of k terms of size 1 / sqrt(k) strays by about 0.4 sqrt(k) 2^-24, 8e-7 at k = 1024; six times that for the
    # worst of 10^6 pixels, and a scale of up to 1.8.
    tolerance=Tolerance(relative=1e-6, absolute=9e-6),
)
