"""backprop: one training step of a neural network with a wide input layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload, blocks

HIDDEN = 16
ROWS = 16
THREADS = 256
ETA, MOMENTUM = 0.3, 0.3


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """Layers with a leading 1 for the bias, float32: ``inputs`` [in + 1], ``weights`` and ``changes`` [in + 1, 17]
    from inputs to hidden units, ``output_weights`` [17] from there to the one output, ``target`` [1]."""
    rows = size["inputs"] + 1
    inputs = rng.random(rows, dtype=np.float32)
    inputs[0] = 1
    return {
        "inputs": inputs,
        "weights": (rng.normal(size=(rows, HIDDEN + 1)) / np.sqrt(rows)).astype(np.float32),
        "changes": (rng.normal(size=(rows, HIDDEN + 1)) / 100).astype(np.float32),
        "output_weights": rng.normal(size=HIDDEN + 1).astype(np.float32),
        "target": np.array([0.1], np.float32),
    }


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Two launches; ``hidden``: float32[16], ``weights`` and ``changes``: float32[in + 1, 17]."""
    layer, weights = device.upload(inputs["inputs"]), device.upload(inputs["weights"])
    grid = size["inputs"] // ROWS
    partial = device.zeros((grid, HIDDEN), np.float32)
    device.launch("layer_forward", grid, THREADS, layer, weights, partial)
    units = squashed(partial.download().astype(np.float64).sum(axis=0) + inputs["weights"][0, 1:])

    delta, changes = device.upload(_hidden_delta(units, inputs)), device.upload(inputs["changes"])
    count = inputs["weights"].size
    device.launch("adjust_weights", blocks(count, 2 * THREADS), THREADS, count, layer, delta, weights, changes)
    return {"hidden": units.astype(np.float32), "weights": weights.download(), "changes": changes.download()}


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The step in float64."""
    layer, weights, changes = (inputs[name].astype(np.float64) for name in ("inputs", "weights", "changes"))
    units = squashed(layer @ weights[:, 1:])
    delta = _hidden_delta(units, inputs).astype(np.float64)
    changes[:, 1:] = ETA * layer[:, None] * delta[None, 1:] + MOMENTUM * changes[:, 1:]
    weights[:, 1:] += changes[:, 1:]
    results = {"hidden": units, "weights": weights, "changes": changes}
    return {name: array.astype(np.float32) for name, array in results.items()}


def squashed(values: Array) -> Array:
    """The logistic function."""
    return 1 / (1 + np.exp(-values))


def _hidden_delta(units: Array, inputs: Arrays) -> Array:
    """float32[17]: the error of the output, carried back to the hidden units."""
    weights, target = inputs["output_weights"].astype(np.float64), float(inputs["target"][0])
    output = float(squashed(units @ weights[1:] + weights[0]))
    output_delta = output * (1 - output) * (target - output)
    return np.append(0, units * (1 - units) * output_delta * weights[1:]).astype(np.float32)


WORKLOAD = Workload(
    name="backprop",
    title="Back propagation",
    description=(
        "A training step of a network with many inputs, 16 hidden units and one output. A block of the forward kernel"
        " copies 16 rows of weights to shared memory as one run of 272 numbers, multiplies them by 16 inputs, and folds"
        " the products in halves over the rows, with two barriers a level; the host finishes the layer. In the second"
        " kernel a thread loads two neighbours of the flat table as a vector, finds their rows by divisions by 17, and"
        " corrects them with momentum in double precision. Index arithmetic dominates; rows of 17 leave accesses"
        " unaligned."
    ),
    suite="rodinia",
    tags=("float", "memory", "shared-memory", "f64", "barriers", "vector-loads", "divergence", "several-launches"),
    papers=("orf-lrf", "bow", "tfet", "rc-rsp"),
    originals=("rodinia/backprop",),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={"tiny": {"inputs": 208}, "small": {"inputs": 40_000}, "full": {"inputs": 262_144}},
    inputs=make_inputs,
    run=run,
    reference=reference,
    tolerance={
        # 16 inputs are summed in float32, the rest in float64: 6 * 2^-24 of sums below 1.
        "hidden": Tolerance(absolute=4e-7),
        # The kernel's deltas come from its own hidden units; corrections are below 0.02, rounded once.
        "weights": Tolerance(absolute=3e-7),
        "changes": Tolerance(absolute=1e-8),
    },
)
