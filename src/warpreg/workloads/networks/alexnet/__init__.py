"""alexnet: photographs told apart by five convolutions and three fully connected layers."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from warpreg.workloads.networks import layers
from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Tolerance, Workload

STRIDE_1 = 4
POOL, POOL_STRIDE = 3, 2
LOCAL_SIZE, ALPHA, BETA = 5, 1e-4, 0.75
LARGEST_BLOCK = 32


class Convolution(NamedTuple):
    """A convolution of stride 1 that keeps the side: its maps are made in groups of their own channels."""

    name: str
    maps: int
    channels: int
    groups: int
    kernel: int
    padding: int


class Shape(NamedTuple):
    """The network at one size; of every layer, one in ``share`` of its maps or neurons is computed."""

    image: int
    maps_1: int
    convolutions: tuple[Convolution, ...]
    hidden: int
    classes: int
    share: int

    @property
    def sides(self) -> tuple[int, int, int, int]:
        """Rows of a map of the first convolution, and after each pooling."""
        side = (self.image - 11) // STRIDE_1 + 1
        pooled = [side := (side - POOL) // POOL_STRIDE + 1 for _ in range(3)]
        return (self.image - 11) // STRIDE_1 + 1, pooled[0], pooled[1], pooled[2]

    @property
    def flat(self) -> int:
        """Inputs of the first fully connected layer."""
        return self.convolutions[-1].maps * self.sides[3] ** 2

    def computed(self, outputs: int) -> int:
        """How many of a layer's, or of a group's, maps or neurons are computed: the first."""
        return max(outputs // self.share, 1)


def shape_of(size: Size) -> Shape:
    """Layers of AlexNet, with ``narrower`` times fewer maps and neurons."""
    c = [count // size["narrower"] for count in (96, 256, 384, 4096, 1000)]
    convolutions = (
        Convolution("conv2", c[1], c[0], 2, 5, 2),
        Convolution("conv3", c[2], c[1], 1, 3, 1),
        Convolution("conv4", c[2], c[2], 2, 3, 1),
        Convolution("conv5", c[1], c[2], 2, 3, 1),
    )
    return Shape(size["image"], c[0], convolutions, c[3], c[4], size["share"])


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: float32[side, side, 3]; weights of what is computed; what layers hold where they are not computed."""
    shape = shape_of(size)
    first, *sides = shape.sides
    arrays: dict[str, Array] = {"image": rng.standard_normal((shape.image, shape.image, 3), dtype=np.float32)}

    def add(name: str, outputs: int, taps: tuple[int, ...], layer: tuple[int, ...]) -> None:
        arrays[name] = layers.weights(rng, outputs, *taps)
        arrays[f"{name}_bias"] = layers.biases(rng, outputs)
        arrays[f"{name}_before"] = layers.activations(rng, *layer)

    add("conv1", shape.computed(shape.maps_1), (3, 11, 11), (shape.maps_1, first, first))
    for layer, side in zip(shape.convolutions, (sides[0], sides[1], sides[1], sides[1]), strict=True):
        computed = layer.groups * shape.computed(layer.maps // layer.groups)
        add(
            layer.name, computed, (layer.channels // layer.groups, layer.kernel, layer.kernel), (layer.maps, side, side)
        )
    for name, inputs, outputs in _dense_layers(shape):
        add(name, shape.computed(outputs), (inputs,), (outputs,))
    return arrays


def _dense_layers(shape: Shape) -> tuple[tuple[str, int, int], ...]:
    """Names, inputs and outputs."""
    return ("fc6", shape.flat, shape.hidden), ("fc7", shape.hidden, shape.hidden), ("fc8", shape.hidden, shape.classes)


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch a layer, group or quarter of a map, in order; the outputs of the layers with weights."""
    shape = shape_of(size)
    first, side_2, side_3, _ = shape.sides
    buffers: dict[str, Buffer] = {}

    def start(name: str) -> tuple[Buffer, Buffer]:
        buffers[name] = device.upload(inputs[f"{name}_before"])
        return device.upload(inputs[f"{name}_bias"]), device.upload(inputs[name])

    def normalised(x: Buffer, maps: int, side: int) -> Buffer:
        y = device.zeros((maps, side, side), np.float32)
        for row, col, block in _parts(side):
            device.launch("local_response", maps, block, x, y, maps, side, row, col)
        return y

    def pooled(x: Buffer, maps: int, side: int) -> Buffer:
        out = (side - POOL) // POOL_STRIDE + 1
        y = device.zeros((maps, out, out), np.float32)
        device.launch("max_pooling", maps, (out, out), x, y, side, out, POOL, POOL_STRIDE)
        return y

    def convolved(layer: Convolution, x: Buffer, side: int) -> Buffer:
        bias, weights = start(layer.name)
        maps, channels = layer.maps // layer.groups, layer.channels // layer.groups
        grid = shape.computed(maps)
        for group in range(layer.groups):
            places = group * maps, group * grid, group * channels
            numbers = *places, channels, side, layer.kernel, layer.padding
            device.launch("convolution", grid, (side, side), bias, x, weights, buffers[layer.name], *numbers)
        return buffers[layer.name]

    bias, weights = start("conv1")
    image = device.upload(inputs["image"])
    for row, col, block in _parts(first):
        numbers = shape.image, first, STRIDE_1, row, col
        grid = shape.computed(shape.maps_1)
        device.launch("first_layer", grid, block, bias, image, weights, buffers["conv1"], *numbers)
    conv2, conv3, conv4, conv5 = shape.convolutions
    x = pooled(normalised(buffers["conv1"], shape.maps_1, first), shape.maps_1, first)
    x = pooled(normalised(convolved(conv2, x, side_2), conv2.maps, side_2), conv2.maps, side_2)
    x = convolved(conv5, convolved(conv4, convolved(conv3, x, side_3), side_3), side_3)
    x = pooled(x, conv5.maps, side_3)
    for name, count, outputs in _dense_layers(shape):
        bias, weights = start(name)
        device.launch(
            "fully_connected", shape.computed(outputs), 1, bias, x, weights, buffers[name], count, name != "fc8"
        )
        x = buffers[name]
    return {name: buffer.download() for name, buffer in buffers.items()}


def _parts(side: int) -> list[tuple[int, int, tuple[int, int]]]:
    """First row, first column and block of the parts of a map, at most 32 x 32 neurons each."""
    starts = range(0, side, LARGEST_BLOCK)
    return [(r, c, (min(side - r, LARGEST_BLOCK), min(side - c, LARGEST_BLOCK))) for r in starts for c in starts]


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same layers in float64; maps that are not computed hold what they held before."""
    shape = shape_of(size)
    outputs: dict[str, Array] = {}

    def kept(name: str, groups: list[Array]) -> Array:
        result = inputs[f"{name}_before"].astype(np.float64)
        maps = len(result) // len(groups)
        for number, group in enumerate(groups):
            result[number * maps : number * maps + len(group)] = group
        outputs[name] = result
        return result

    def convolved(layer: Convolution, x: Array) -> Array:
        filters = np.split(inputs[layer.name], layer.groups)
        biases = np.split(inputs[f"{layer.name}_bias"], layer.groups)
        parts = zip(np.split(x, layer.groups), filters, biases, strict=True)
        made = [layers.with_bias(layers.convolve(p[None], w, 1, layer.padding), b)[0] for p, w, b in parts]
        return kept(layer.name, [layers.rectify(group) for group in made])

    image = inputs["image"].transpose(2, 0, 1)[None]
    first = layers.with_bias(layers.convolve(image, inputs["conv1"], STRIDE_1), inputs["conv1_bias"])
    x = _pooled(local_response(kept("conv1", [layers.rectify(first)[0]])))
    conv2, conv3, conv4, conv5 = shape.convolutions
    x = _pooled(local_response(convolved(conv2, x)))
    x = _pooled(convolved(conv5, convolved(conv4, convolved(conv3, x))))
    for name, _, _ in _dense_layers(shape):
        sums = layers.dense(x[None], inputs[name], inputs[f"{name}_bias"])[0]
        x = kept(name, [sums if name == "fc8" else layers.rectify(sums)])
    return {name: array.astype(np.float32) for name, array in outputs.items()}


def local_response(x: Array) -> Array:
    """Each neuron of [maps, rows, cols] divided by a power of the squares at its place in five neighbouring maps."""
    reach = LOCAL_SIZE // 2
    sums = np.cumsum(np.pad(x**2, ((reach + 1, reach), (0, 0), (0, 0))), axis=0)
    result: Array = x / (1.0 + ALPHA / LOCAL_SIZE * (sums[LOCAL_SIZE:] - sums[:-LOCAL_SIZE])) ** BETA
    return result


def _pooled(x: Array) -> Array:
    """Overlapping windows of [maps, rows, cols]."""
    result: Array = layers.max_pool(x[None], POOL, POOL_STRIDE)[0]
    return result


WORKLOAD = Workload(
    name="alexnet",
    title="AlexNet",
    description=(
        "AlexNet on one photograph: an 11 x 11 convolution with stride 4, four of 5 x 5 and 3 x 3, three of them in"
        " two groups, local response normalisation, pooling of overlapping windows and three fully connected layers; a"
        " launch for each layer, group, and quarter of a map of 55 x 55. As in Tango one thread computes one neuron, a"
        " block of up to 32 x 32 threads is a map with threads in a row of a warp one row of the map apart, and"
        " windows are cut at the edges by loop bounds that differ within a warp; a fully connected neuron is a block"
        " of one thread. Loops are not unrolled by hand: loads, addresses of two arrays and one sum in a chain. In the"
        " sizes tiny and small one in ``share`` of each layer's maps is computed, the other maps hold seeded values."
    ),
    suite="networks",
    tags=("float", "memory", "several-launches", "divergence", "partial-warps", "sfu"),
    papers=("larf",),
    source=Path(__file__).with_name("kernel.cu"),
    # The largest layer has 290,400 neurons; small computes one in 48 of each layer's maps and neurons.
    sizes={
        "tiny": {"image": 67, "narrower": 16, "share": 2},
        "small": {"image": 227, "narrower": 1, "share": 48},
        "full": {"image": 227, "narrower": 1, "share": 1},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Outputs are about 1. A sum of k terms in a chain strays by about 0.4 sqrt(k) 2^-24 of its size: 2.3e-6 at 9216
    # terms. Six times that for the worst of 10^6 neurons, and eight layers add up to 1.1e-4 at most.
    tolerance=Tolerance(relative=1e-6, absolute=1.1e-4),
)
