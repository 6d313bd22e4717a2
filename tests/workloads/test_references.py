"""Each NumPy reference against results derived by hand or by the textbook loop."""

from collections import deque
from typing import Any

import numpy as np
import pytest

from warpreg import workloads
from warpreg.workloads import Arrays, Size
from warpreg.workloads.rodinia import hotspot


def reference(name: str, size: Size, **inputs: Any) -> Arrays:
    return workloads.find(name).reference(size, inputs)


def test_vector_add_is_a_fibonacci_sequence_of_vectors() -> None:
    one = np.ones(2, np.float32)
    # 1, 1 -> 2 -> 3 -> 5
    result = reference("vector-add", {"n": 2, "rounds": 3}, a=one, b=one)["c"]
    assert result.tolist() == [5.0, 5.0]


def test_matrix_mul_multiplies() -> None:
    a = np.array([[1, 2], [3, 4]], np.float32)
    b = np.array([[5, 6], [7, 8]], np.float32)
    assert reference("matrix-mul", {}, a=a, b=b)["c"].tolist() == [[19.0, 22.0], [43.0, 50.0]]


def test_reduction_gives_one_sum_per_round() -> None:
    values = np.arange(1, 101, dtype=np.float32)
    assert reference("reduction", {"rounds": 2}, values=values)["sums"].tolist() == [5050.0, 5050.0]


@pytest.mark.parametrize("data", [[3, 3, 200, 7], [3, 3, 200, 7, 255]], ids=["even", "odd"])
def test_histogram_counts_every_byte_once_per_round(data: list[int]) -> None:
    bins = reference("histogram", {"rounds": 2}, data=np.array(data, np.uint8))["bins"]
    expected = {value: 2 * data.count(value) for value in set(data)}
    assert {int(value): int(bins[value]) for value in np.flatnonzero(bins)} == expected


@pytest.mark.parametrize(
    ("real", "imaginary", "count"),
    [
        (0.0, 0.0, 50),  # stays at 0
        (-2.0, 0.0, 50),  # -2, 2, 2, ..: |z| never exceeds 2
        (2.0, 0.0, 2),  # 2, 6
        (1.0, 0.0, 3),  # 1, 2, 5
        (0.0, 3.0, 1),  # 3i
    ],
)
def test_mandelbrot_counts_iterations_until_escape(real: float, imaginary: float, count: int) -> None:
    view = np.array([real, imaginary, 0.0], np.float32)
    counts = reference("mandelbrot", {"width": 1, "height": 1, "limit": 50}, view=view)["counts"]
    assert counts.tolist() == [[count]]


def test_bfs_agrees_with_a_queue() -> None:
    problem = workloads.find("bfs").problem("tiny", seed=3)
    offsets, columns = problem.inputs["row_offsets"], problem.inputs["columns"]
    level = {0: 0}
    queue = deque([0])
    while queue:
        node = queue.popleft()
        for successor in columns[offsets[node] : offsets[node + 1]].tolist():
            if successor not in level:
                level[successor] = level[node] + 1
                queue.append(successor)
    expected = [level.get(node, -1) for node in range(problem.size["nodes"])]
    assert problem.expected["level"].tolist() == [expected]


def test_bfs_marks_what_it_cannot_reach() -> None:
    # 0 -> 1 -> 0, and 2 -> 0; searched from nodes 0 and 1
    inputs = {"row_offsets": np.array([0, 1, 2, 3], np.int32), "columns": np.array([1, 0, 0], np.int32)}
    assert reference("bfs", {"nodes": 3, "searches": 2}, **inputs)["level"].tolist() == [[0, 1, -1], [1, 0, -1]]


def test_needleman_wunsch_agrees_with_the_textbook_loop() -> None:
    rng = np.random.default_rng(5)
    match = rng.integers(-15, 16, (9, 13), dtype=np.int32)
    expected = np.zeros((10, 14), np.int32)
    expected[0], expected[:, 0] = -10 * np.arange(14), -10 * np.arange(10)
    for i in range(1, 10):
        for j in range(1, 14):
            up, left = expected[i - 1, j] - 10, expected[i, j - 1] - 10
            expected[i, j] = max(expected[i - 1, j - 1] + match[i - 1, j - 1], up, left)
    scores = reference("nw", {"rows": 9, "cols": 13}, similarity=match)["scores"]
    np.testing.assert_array_equal(scores, expected)


def test_hotspot_at_ambient_without_power_stays_there() -> None:
    size = {"rows": 4, "cols": 5, "steps": 10}
    ambient, power = np.full((4, 5), 80.0, np.float32), np.zeros((4, 5), np.float32)
    result = reference("hotspot", size, temperature=ambient, power=power)["temperature"]
    np.testing.assert_array_equal(result, ambient)


def test_hotspot_follows_the_five_point_stencil() -> None:
    size = {"rows": 3, "cols": 3, "steps": 1}
    temperature = np.arange(80, 89, dtype=np.float32).reshape(3, 3)
    power = np.full((3, 3), 0.25, np.float32)
    capacity, rx, ry, rz, step = hotspot.coefficients(size)
    dt = step / capacity
    result = reference("hotspot", size, temperature=temperature, power=power)["temperature"]
    # The centre is 84, its neighbours 83 and 85, 81 and 87: the flows along x and y cancel.
    assert result[1, 1] == pytest.approx(84 + dt * (0.25 + (80 - 84) / rz), rel=1e-7)
    # The corner is 80; only its east neighbour (81) and its south neighbour (83) are there.
    assert result[0, 0] == pytest.approx(80 + dt * (0.25 + 1 / rx + 3 / ry), rel=1e-7)
