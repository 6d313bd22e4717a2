"""The references of the scientific workloads by hand."""

from typing import Any

import numpy as np
import pytest

from warpreg import workloads
from warpreg.workloads import Arrays, Size
from warpreg.workloads.hpc import molecular_dynamics, path_finding


def reference(name: str, size: Size, **inputs: Any) -> Arrays:
    return workloads.find(name).reference(size, inputs)


def test_fft_of_a_wave_is_one_line() -> None:
    angle = 2 * np.pi * 3 * np.arange(512) / 512
    wave = np.stack([np.cos(angle), np.sin(angle)], axis=-1).reshape(1, 512, 1, 2)
    found = reference("fft", {"cols": 1, "back": 1}, image=wave)
    expected = np.zeros((1, 512, 1, 2))
    expected[0, 3, 0, 0] = 512
    assert found["spectrum"] == pytest.approx(expected, abs=1e-4)
    assert found["restored"] == pytest.approx(wave)


def test_dgemm_subtracts_the_product() -> None:
    found = reference("dgemm", {}, a=np.array([[1.0, 2.0]]), b=np.array([[3.0], [4.0]]), c=np.array([[20.0]]))["c"]
    assert found.tolist() == [[20 - 11]]


def test_atoms_push_each_other_apart_and_ignore_those_beyond_the_cutoff() -> None:
    positions = np.zeros((3, 4))
    positions[:, 0] = [0, 1, 3]
    neighbours, counts = np.array([[1, 0, 0], [2, 2, 1]]), np.array([2, 2, 2])
    arrays = {"positions": positions, "velocities": np.zeros((3, 4)), "neighbours": neighbours, "counts": counts}
    found = reference("molecular-dynamics", {"steps": 1}, **arrays)
    # At distance 1 the force is 48 - 24; at 2 it is 48 / 2^13 - 24 / 2^7, towards each other; 3 is too far.
    far = 48 / 2**13 - 24 / 2**7
    assert found["force"][:, 0] == pytest.approx([-24, 24 - far, far])
    assert found["positions"][0, 0] == pytest.approx(-24e-6)


def test_neighbours_of_an_atom_inside_and_in_a_corner() -> None:
    sites = np.indices((5, 5, 5)).reshape(3, -1)
    neighbours, counts = molecular_dynamics.neighbour_lists(sites, np.arange(125))
    # Sites at most 6 squared apart: all 124 of the cube of 5 but those at 8, 9 and 12: 12 + 24 + 8.
    assert (counts[62], counts[0]) == (80, 27 - 1 - 3 - 3 - 1)
    assert sorted(neighbours[:6, 62]) == [62 - 25, 62 - 5, 62 - 1, 62 + 1, 62 + 5, 62 + 25]


def test_ways_go_round_a_wall() -> None:
    blocked = np.array([[0, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 0]], np.uint8)
    trips = np.array([[0, 64], [0, 65], [0, 0], [0, 128]], np.uint16)
    found = reference("path-finding", {"rows": 5, "cols": 3}, map=blocked, trips=trips)["costs"]
    # Right, down right, down left, left; the same without the last step; nowhere; nothing leads past row 3.
    assert found.tolist() == [10 + 14 + 14 + 10, 10 + 14 + 14, 0, -1]


def test_a_way_through_a_wall_or_with_a_gap_is_found_out() -> None:
    blocked = np.array([[0, 1, 0, 0]], np.uint8)
    trips = np.array([[2, 3], [0, 2], [0, 3]], np.uint16)
    ways = np.zeros((4, 3), np.int32)
    ways[0] = [3, 2, 3]
    ways[1] = [0, 1, 0]
    assert path_finding.walk(blocked, trips, np.array([1, 2, 1]), ways).tolist() == [10, -3, -3]
