"""The references of Rodinia workloads, b+tree to streamcluster, by hand or by the textbook loop."""

import numpy as np
import pytest

from warpreg import workloads
from warpreg.workloads.rodinia import srad
from warpreg.workloads.rodinia.lavamd import neighbourhoods
from warpreg.workloads.rodinia.streamcluster import Clustering, open_if_worth


def reference(name, size, **inputs):
    return workloads.find(name).reference(size, inputs)


def test_lud_factors():
    # [2 1; 4 5] = [1 0; 2 1] [2 1; 0 3]
    found = reference("lud", {}, matrix=np.array([[2, 1], [4, 5]], np.float32))
    assert found["lower"].tolist() == [[0, 0], [2, 0]]
    assert found["upper"].tolist() == [[2, 1], [0, 3]]


def test_lud_multiplies_back_across_steps():
    matrix = workloads.find("lud").problem("small", 1).inputs["matrix"][:150, :150].astype(np.float64)
    found = reference("lud", {}, matrix=matrix)
    assert (np.eye(150) + found["lower"]) @ found["upper"] == pytest.approx(matrix, abs=1e-4)


def test_lavamd_of_two_boxes_that_hold_one_particle_with_charge():
    place, charge = np.zeros((800, 4)), np.zeros(800)
    place[0] = [0.5, 0.2, 0.0, 0.0]
    place[750] = [0.7, 0.4, 1.0, 0.0]
    charge[750] = 3.0
    force = reference("lavamd", {"side": 2}, place=place, charge=charge)["force"]
    # r2 = 0.5 + 0.7 - 0.2 * 0.4, times 2 alpha^2 = 1/2; the force is twice the potential times the distance
    potential = 3 * np.exp(-0.56)
    assert force[0] == pytest.approx([potential, 2 * potential * -0.2, 2 * potential * -1.0, 0])


def test_lavamd_boxes_have_the_neighbours_of_a_cube():
    counts = sorted(len(around) for around in neighbourhoods(3))
    assert counts == [7] * 8 + [11] * 12 + [17] * 6 + [26]


def test_kmeans_of_two_pairs():
    features = np.array([[0, 0], [10, 0], [0, 2], [10, 4]], np.float32)
    found = reference("kmeans", {"clusters": 2, "rounds": 9}, features=features)
    assert found["membership"].tolist() == [0, 1, 0, 1]
    assert found["centres"].tolist() == [[0, 1], [10, 2]]


def test_srad_leaves_a_flat_image_and_smooths_a_speck_less_than_an_edge():
    flat = np.full((4, 5), 2.0)
    assert srad.diffused(flat, 0.1).tolist() == flat.tolist()

    # A pixel of 3 among 2s: north = south = west = east = -1, gradient 4/9, laplacian -4/3,
    # variation (2/9 - 1/9) / (2/3)^2 = 1/4; with noise 1/4 its coefficient is 1.
    # Its northern neighbour: gradient 1/4, laplacian 1/2, variation (1/8 - 1/64) / (9/8)^2 = 7/81; below the noise: 1.
    # So the pixel loses 1/8 for each neighbour.
    speck = flat.copy()
    speck[2, 2] = 3
    assert srad.diffused(speck, 0.25)[2, 2] == pytest.approx(2.5)
    # With noise 1/16 the pixel's coefficient is 1 / (1 + (1/4 - 1/16) / (1/16 * 17/16)) = 17/65, for north and west;
    # south and east take the neighbours': 1 / (1 + (7/81 - 1/16) / (17/256)) = 1 / (1 + 496/1377) = 1377/1873.
    expected = 3 - (2 * 17 / 65 + 2 * 1377 / 1873) / 8
    assert srad.diffused(speck, 1 / 16)[2, 2] == pytest.approx(expected)


def test_streamcluster_belongs_to_a_centre_and_pays_its_distance():
    problem = workloads.find("streamcluster").problem("tiny", 1)
    found, coordinates = problem.expected, problem.inputs["coordinates"]
    difference = coordinates - coordinates[:, found["assigned"]]
    assert found["cost"] == pytest.approx((difference**2).sum(axis=0), abs=1e-6)
    centres = np.unique(found["assigned"])
    assert found["assigned"][centres].tolist() == centres.tolist()
    assert 2 <= len(centres) <= 20


def test_streamcluster_opens_what_is_worth_its_price():
    # Points at 0, 1, 10, 11 on a line, all with the centre at 0; a centre at 10 saves 100 + 120 of their squares.
    line = np.array([[0, 1, 10, 11]], np.float32)
    before = Clustering(np.zeros(4, np.int64), np.array([0, 1, 100, 121], np.float32))
    switches = np.array([False, False, True, True])
    sums = np.array([[-100, 0], [-80, 0], [0, -100], [0, -120]], np.float32)
    open_if_worth(line, before, 2, 230.0, sums, switches)
    # It costs 230, and closing the centre at 0 returns 230 - 180 = 50: 230 - 220 - 50 < 0, so all points move.
    assert before.assigned.tolist() == [2, 2, 2, 2]
    assert before.cost.tolist() == [100, 81, 0, 1]
