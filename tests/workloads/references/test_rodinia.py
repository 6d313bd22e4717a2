"""The references of some Rodinia workloads by hand."""

from typing import Any

import numpy as np
import pytest

from warpreg import workloads
from warpreg.workloads import Arrays, Size
from warpreg.workloads.rodinia import backprop, hotspot3d


def reference(name: str, size: Size, **inputs: Any) -> Arrays:
    return workloads.find(name).reference(size, inputs)


def test_gaussian_solves() -> None:
    # 2x + y = 5, x + 3y = 10
    matrix, right = np.array([[2, 1], [1, 3]], np.float32), np.array([5, 10], np.float32)
    assert reference("gaussian", {}, matrix=matrix, right=right)["solution"] == pytest.approx([1, 3])


def test_nn_measures_from_its_place() -> None:
    found = reference("nn", {}, places=np.array([[33, 94], [30, 91], [30, 90]], np.float32))
    assert found["distances"].tolist() == [5, 1, 0]
    assert found["nearest"].tolist() == [0, 1, 5]


def test_pathfinder_takes_the_least_of_three_neighbours() -> None:
    costs = np.array([[5, 1, 9], [2, 7, 3], [1, 1, 4]], np.int32)
    # 2 + min(5, 1), 7 + min(5, 1, 9), 3 + min(1, 9) = 3, 8, 4; then 1 + 3, 1 + 3, 4 + 4
    assert reference("pathfinder", {}, costs=costs)["least"].tolist() == [4, 4, 8]


def test_backprop_of_a_zero_network() -> None:
    # All weights are zero: every unit is squashed(0) = 1/2; the output is 1/2 and its error (1/4)(0.1 - 1/2) = -0.1.
    # A hidden unit's error is (1/4)(-0.1) w = -0.025 w; its correction for an input of 1 is 0.3 of that.
    count = backprop.HIDDEN + 1
    zero = np.zeros((2, count), np.float32)
    output_weights = np.zeros(count, np.float32)
    output_weights[3], output_weights[4] = 1, -1
    found = reference(
        "backprop",
        {},
        inputs=np.ones(2, np.float32),
        weights=zero,
        changes=zero,
        output_weights=output_weights,
        target=np.array([0.1], np.float32),
    )
    assert found["hidden"].tolist() == [0.5] * backprop.HIDDEN
    assert found["weights"][1, [2, 3, 4]] == pytest.approx([0, -0.0075, 0.0075])


def test_hotspot3d_leaves_a_flat_field_but_for_power_and_the_ambient() -> None:
    size = {"layers": 3, "rows": 4, "cols": 5, "steps": 1}
    flat = np.full((3, 4, 5), 90, np.float32)
    workload = workloads.find("hotspot3d")
    over_capacity, *_, ct, _, _ = (float(x) for x in hotspot3d.coefficients(size))
    power = np.zeros_like(flat)
    power[1, 2, 3] = 1e-3
    found = workload.reference(size, {"temperature": flat, "power": power})["temperature"]
    assert found[0, 0, 0] == pytest.approx(90 - 10 * ct, abs=1e-4)
    assert found[1, 2, 3] - found[1, 2, 2] == pytest.approx(over_capacity * 1e-3, abs=1e-4)
