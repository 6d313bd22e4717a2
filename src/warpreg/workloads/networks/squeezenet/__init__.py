"""squeezenet: photographs told apart by fire modules, which squeeze maps and expand them, in double precision."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.networks import layers
from warpreg.workloads.workload import Array, Arrays, Buffer, Device, Size, Tolerance, Workload, blocks

FIRST_MAPS, CLASSES = 96, 1000
FIRES = {2: (16, 64), 3: (16, 64), 4: (32, 128), 5: (32, 128), 6: (48, 192), 7: (48, 192), 8: (64, 256), 9: (64, 256)}
"""Maps after the squeeze and after each of the two expanding convolutions, by the module's number."""
POOLED_AFTER = (4, 8)
CLASSES_PER_BLOCK = 128


def layer_table(size: Size) -> list[tuple[str, int, int, int, int]]:
    """Name, channels, maps, kernel and side of every convolution, in order."""
    narrower = size["narrower"]
    side = (size["image"] - 7) // 2 + 1
    table = [("conv1", 3, FIRST_MAPS // narrower, 7, side)]
    side, channels = side // 2, FIRST_MAPS // narrower
    for number, fire in FIRES.items():
        squeezed, expanded = (maps // narrower for maps in fire)
        table.append((f"fire{number}_squeeze", channels, squeezed, 1, side))
        table.append((f"fire{number}_expand1", squeezed, expanded, 1, side))
        table.append((f"fire{number}_expand3", squeezed, expanded, 3, side))
        channels = 2 * expanded
        if number in POOLED_AFTER:
            side //= 2
    return [*table, ("conv10", channels, CLASSES // narrower, 1, side)]


def computed(size: Size, maps: int) -> int:
    """How many of a layer's maps are computed: the first."""
    return max(maps // size["share"], 1)


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """``image``: float64[3, side, side]; weights of what is computed; what maps hold that are not computed."""
    side = size["image"]
    arrays: dict[str, Array] = {"image": rng.standard_normal((3, side, side))}
    for name, channels, maps, kernel, out_side in layer_table(size):
        arrays[name] = layers.weights(rng, computed(size, maps), channels, kernel, kernel, dtype=np.float64)
        arrays[f"{name}_before"] = layers.activations(rng, maps, out_side, out_side, dtype=np.float64)
    return arrays


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """One launch a layer; the joined maps of the fire modules, the first and the last maps, and the classes' scores."""
    table = {name: rest for name, *rest in layer_table(size)}
    buffers: dict[str, Buffer] = {}

    def weights(name: str) -> tuple[Buffer, int]:
        return device.upload(inputs[name]), computed(size, table[name][1])

    def pooled(x: Buffer, maps: int, side: int) -> Buffer:
        y = device.zeros((maps, side // 2, side // 2), np.float64)
        device.launch("max_pooling", side, side, x, y, maps, side)
        return y

    def pointwise(name: str, x: Buffer, y: Buffer) -> None:
        channels, _, _, side = table[name]
        filters, maps = weights(name)
        device.launch("pointwise", side, side, x, filters, y, channels, maps, side)

    def fire(name: str, x: Buffer) -> Buffer:
        squeezed, joined = device.upload(inputs[f"{name}_squeeze_before"]), device.upload(_joined(name, inputs))
        pointwise(f"{name}_squeeze", x, squeezed)
        pointwise(f"{name}_expand1", squeezed, joined)
        channels, first, _, side = table[f"{name}_expand3"]
        filters, maps = weights(f"{name}_expand3")
        device.launch("expand_3x3", side, side, squeezed, filters, joined, channels, maps, first, side)
        buffers[name] = joined
        return joined

    _, maps, _, side = table["conv1"]
    filters, count = weights("conv1")
    buffers["conv1"] = x = device.upload(inputs["conv1_before"])
    device.launch("first_layer", side, side, device.upload(inputs["image"]), filters, x, count, size["image"], side)
    x = pooled(x, maps, side)
    for number in FIRES:
        x = fire(f"fire{number}", x)
        if number in POOLED_AFTER:
            _, maps, _, side = table[f"fire{number}_expand3"]
            x = pooled(x, 2 * maps, side)
    _, classes, _, side = table["conv10"]
    buffers["conv10"] = device.upload(inputs["conv10_before"])
    pointwise("conv10", x, buffers["conv10"])
    buffers["scores"] = device.zeros(classes, np.float64)
    grid = blocks(classes, CLASSES_PER_BLOCK)
    device.launch("global_average", grid, CLASSES_PER_BLOCK, buffers["conv10"], buffers["scores"], classes, side)
    return {name: buffer.download() for name, buffer in buffers.items()}


def _joined(fire: str, inputs: Arrays) -> Array:
    """What a module's output holds before it is computed."""
    return np.concatenate([inputs[f"{fire}_expand1_before"], inputs[f"{fire}_expand3_before"]])


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The same layers by products of matrices."""
    outputs: dict[str, Array] = {}

    def convolved(name: str, x: Array, stride: int = 1, padding: int = 0) -> Array:
        result = inputs[f"{name}_before"].copy()
        result[: len(inputs[name])] = layers.rectify(layers.convolve(x[None], inputs[name], stride, padding)[0])
        return result

    def pooled(x: Array) -> Array:
        result: Array = layers.max_pool(x[None], 3, 2)[0]
        return result

    outputs["conv1"] = convolved("conv1", inputs["image"], 2)
    x = pooled(outputs["conv1"])
    for number in FIRES:
        fire = f"fire{number}"
        squeezed = convolved(f"{fire}_squeeze", x)
        parts = convolved(f"{fire}_expand1", squeezed), convolved(f"{fire}_expand3", squeezed, padding=1)
        outputs[fire] = x = np.concatenate(parts)
        if number in POOLED_AFTER:
            x = pooled(x)
    outputs["conv10"] = convolved("conv10", x)
    outputs["scores"] = outputs["conv10"].mean(axis=(1, 2))
    return outputs


WORKLOAD = Workload(
    name="squeezenet",
    title="SqueezeNet",
    description=(
        "SqueezeNet on one photograph: a 7 x 7 convolution to 96 maps of 111 x 111, eight fire modules of a squeezing"
        " 1 x 1 and two expanding 1 x 1 and 3 x 3 convolutions, three poolings, one map for each of 1000 classes and"
        " its mean, all in double precision, one launch a layer. As in Tango a block is a column of the image, 111,"
        " 55, 27 or 13 threads, and a thread computes its pixel of all maps in turn: partial warps whose lanes read"
        " one row apart, tests for the edge round each of nine taps, half of pooling's threads idle. The pointwise"
        " kernel is a chain of two loads and a multiply-add, unrolled by the compiler. At the size small one in"
        " ``share`` of each layer's maps is computed, the other maps hold seeded values."
    ),
    suite="networks",
    tags=("float", "memory", "f64", "partial-warps", "several-launches", "divergence"),
    papers=("bow",),
    source=Path(__file__).with_name("kernel.cu"),
    # A layer has as many threads as its maps have pixels, 12,321 at most.
    sizes={
        "tiny": {"image": 35, "narrower": 16, "share": 1},
        "small": {"image": 227, "narrower": 1, "share": 32},
        "full": {"image": 227, "narrower": 1, "share": 1},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Outputs are about 1; a sum of k terms strays by less than k 2^-53 of the sum of their magnitudes, about sqrt(k):
    # 1.3e-12 at 512 terms. Eighteen layers in a row add up to 2.3e-11.
    tolerance=Tolerance(relative=1e-12, absolute=2.5e-11),
)
