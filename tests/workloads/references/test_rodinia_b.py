"""The references of the larger Rodinia workloads by hand."""

import math
import statistics

import numpy as np
import pytest
from numpy.typing import NDArray

from warpreg.workloads.rodinia import heartwall, leukocyte, mummergpu, myocyte, particlefilter
from warpreg.workloads.rodinia.mummergpu.suffix_tree import END, suffix_tree
from warpreg.workloads.rodinia.myocyte import cell


def test_leukocyte_scores_a_pixel_by_the_circle_of_the_steadiest_radial_gradient() -> None:
    gradient_x, gradient_y = np.random.default_rng(1).normal(0.5, 1, (2, 45, 46))
    expected = 0.0
    for radius in range(8, 21, 2):
        radial = []
        for angle in 2 * math.pi * np.arange(150) / 150:
            x, y = 22 + int(radius * math.cos(angle)), 23 + int(radius * math.sin(angle))
            radial.append(gradient_x[x, y] * math.cos(angle) + gradient_y[x, y] * math.sin(angle))
        expected = max(expected, statistics.mean(radial) ** 2 / statistics.variance(radial))
    scores = leukocyte.cell_scores(gradient_x, gradient_y)
    assert scores[22, 23] == pytest.approx(expected, rel=1e-6)  # the tables are single precision
    assert np.argwhere(scores).tolist() == [[22, 22], [22, 23]]


def test_leukocyte_dilates_by_a_disk_of_12_pixels() -> None:
    image = np.zeros((40, 40))
    image[20, 20], image[0, 0] = 5, 7
    found = leukocyte.dilated(image, 12)
    assert (found[20, 32], found[20, 33], found[28, 28], found[29, 29]) == (5, 0, 5, 0)  # 8^2 + 8^2 < 12^2 < 9^2 + 9^2
    assert (found[12, 0], found[13, 0]) == (7, 0)


def test_leukocyte_spreads_an_edge_against_the_motion() -> None:
    # Motion is to the right and down: a cell takes 1/10 of the difference from the neighbours it moves towards, none
    # from those behind if they are higher, and half of that from those beside.
    edges = np.zeros((1, 41, 81))
    edges[0, 20, 40] = 1
    found = leukocyte.spread_edges(edges, 1)[0]
    assert found[20, 39] == pytest.approx(0.1, abs=1e-4)  # its right neighbour is the edge
    assert found[20, 41] == pytest.approx(0, abs=1e-4)
    assert found[21, 39] == pytest.approx(0.05)  # up and to the right
    # The edge loses 1/10 to each of the three behind and 1/20 to two beside, then a fifth of the loss comes back.
    assert found[20, 40] == pytest.approx(1 - 0.4 * 0.8, abs=1e-3)


def test_particlefilter_draws_wrapping_numbers() -> None:
    # 1103515245 + 12345 = 1103527590 is below 2^31 - 1; 2 * 1103515245 + 12345 wraps to -2087924461.
    drawn, seed = particlefilter.uniform(np.array([1, 2], np.int32))
    assert seed.tolist() == [1103527590, -2087924461]
    assert drawn == pytest.approx([0.51387, 0.97226], abs=1e-4)


def test_particlefilter_prefers_the_disk() -> None:
    video = np.full((30, 30, 2), particlefilter.BACKGROUND, np.uint8)
    row, col = np.mgrid[:30, :30]
    video[np.hypot(row - 12, col - 17) < particlefilter.RADIUS, 1] = particlefilter.FOREGROUND
    assert len(particlefilter.disk()) == 69
    weights = particlefilter.weighed(video, 1, np.array([[12.9, 12.0, 3.0], [17.2, 16.0, 3.0]]))
    assert weights[0] == pytest.approx(1)
    # One column off, 9 of the 69 pixels are background: a weight less by exp(-9 / 69 * 2 * 128^2 / 50).
    assert weights[1] == pytest.approx(np.exp(-9 / 69 * 2 * 128**2 / 50))
    assert weights[2] == pytest.approx(np.exp(-2 * 128**2 / 50))


def codes(letters: str) -> NDArray[np.uint8]:
    return np.array(["ACGT".index(letter) for letter in letters], np.uint8)


def test_mummergpu_finds_matches_that_no_letter_before_or_behind_extends() -> None:
    # The read GATTAC in the text AGATTCATTACC: GATT at 1 is followed by C, not A; ATTAC at 6 is preceded by C, not G;
    # ATT at 2 is preceded by G as in the read, and so is part of GATT.
    found = mummergpu.maximal_matches(codes("AGATTCATTACC"), codes("GATTAC")[None], 3)
    assert found["lengths"].tolist() == [[4, 5, 4, 3]]
    # Slots: GAT of one place, ATT of two, TTA and TAC of one each; places in alphabetical order, the filled ones first.
    assert found["alignments"].tolist() == [[1, 4], [6, 5], [0, 0], [0, 0], [0, 0]]


def test_mummergpu_sorts_suffixes() -> None:
    text = np.random.default_rng(4).integers(0, 2, 60, dtype=np.uint8)
    expected = sorted(range(60), key=lambda start: [*text[start:], END])
    assert mummergpu.sorted_suffixes(text).tolist() == expected


@pytest.mark.parametrize("letters", ["A", "AAAA", "ACGTACGA", "GATTACAGATTACATTAGA"])
def test_mummergpu_builds_a_tree_of_all_suffixes(letters: str) -> None:
    text = np.append(codes(letters), np.uint8(END))
    tree = suffix_tree(text)
    leaves = np.flatnonzero(tree.suffix >= 0)
    assert sorted(tree.suffix[leaves]) == list(range(len(text)))
    assert tree.leaves[1] == len(text)
    for node in range(2, len(tree.parent)):
        path: list[int] = []
        above = node
        while above != 1:
            path[:0] = text[tree.first[above] : tree.last[above] + 1]
            above = tree.parent[above]
        assert len(path) == tree.depth[node]
        if tree.suffix[node] >= 0:
            assert path == text[tree.suffix[node] :].tolist()
        else:
            assert (tree.children[node] > 0).sum() >= 2
            assert tree.depth[tree.link[node]] == tree.depth[node] - 1


def test_heartwall_correlates_as_pearson_did() -> None:
    rng = np.random.default_rng(2)
    patches, pattern = rng.random((4, 6, 6)), rng.random((6, 6))
    expected = [np.corrcoef(patch.ravel(), pattern.ravel())[0, 1] * math.sqrt(36 / 35) for patch in patches]
    assert heartwall.correlation(patches, pattern) == pytest.approx(expected)


def test_heartwall_follows_a_shifted_picture() -> None:
    first = np.random.default_rng(3).random((40, 40), dtype=np.float32)
    film = np.stack([first, np.roll(first, (2, -1), axis=(0, 1)), np.roll(first, (5, -3), axis=(0, 1))])
    size = {"reach": 3, "search": 10, "refresh": 2}
    (rows, cols), fit = heartwall.follow(film, np.array([20, 18]), size)
    assert (rows.tolist(), cols.tolist()) == ([20, 19, 17], [18, 20, 23])
    assert fit.max() == pytest.approx(math.sqrt(49 / 48))  # 7 x 7 pixels


def test_myocyte_gates_at_round_potentials() -> None:
    opening, closing = cell.sodium_gates(np.array([-90.0, 0.0]))
    # Depolarised, the gates h and j only close: h at 1 / (0.13 (1 + exp(-10.66 / 11.1))), j at 0.3 / (1 + exp(-3.2)).
    assert opening[1:, 1].tolist() == [0, 0]
    assert closing[:, 1] == pytest.approx([0.08, 1 / 0.13 / (1 + math.exp(-10.66 / 11.1)), 0.3 / (1 + math.exp(-3.2))])
    assert opening[1, 0] == pytest.approx(0.135 * math.exp(10 / 6.8))
    steady, constants = cell.other_gates(np.array([-3.0]))
    assert steady[[2, 5], 0].tolist() == [0.5, 0.5]  # the outward current's gates are half open at -3 mV
    assert constants[2, 0] == 9 / 2 + 0.5


def test_myocyte_keeps_its_calmodulin_and_calcium() -> None:
    rng = np.random.default_rng(6)
    y, rate = rng.random((15, 4)), np.zeros((15, 4))
    totals = np.array([[2.0], [3.0], [5.0], [1.0]]) + rng.random((4, 4))
    given = cell.calmodulin_rates(y, rate, totals, 0.3 + rng.random(4))
    kinase = totals[1]
    # Calmodulin is free, on the buffer, in the kinase's states but the autonomous one, or on calcineurin.
    calmodulin = rate[:6].sum(axis=0) + kinase * rate[6:10].sum(axis=0) + rate[12:].sum(axis=0)
    assert calmodulin == pytest.approx(np.zeros(4), abs=1e-9)
    # Two ions sit on each half-filled calmodulin, four on each full one and two on a calcineurin's own sites.
    half = rate[1] + rate[4] + kinase * (rate[6] + rate[9]) + rate[13]
    full = rate[2] + rate[5] + kinase * (rate[7] + rate[8]) + rate[14]
    assert given == pytest.approx(-(2 * half + 4 * full + 2 * (rate[11:].sum(axis=0))), rel=1e-6, abs=1e-9)


def test_myocyte_is_held_with_its_fast_buffers_in_equilibrium() -> None:
    inputs = myocyte.make_inputs({"cells": 3, "steps": 1}, np.random.default_rng(7))
    y, parameters = inputs["states"].T.astype(float), inputs["parameters"].T.astype(float)
    rate = cell.rates(400.0, y, parameters)
    fast = [cell.SLL_J, cell.SLL_SL, cell.SLH_J, cell.SLH_SL, cell.CSQN, cell.TNCL, cell.M, cell.D, cell.F]
    assert np.abs(rate[fast]).max() < 1e-4
    after = myocyte.advanced(0.0, y, parameters, 1 / 64)
    # The pulse of 9.5 uA / uF charges by 9.5 mV / ms more than there is without it, 300 ms later.
    quiet = myocyte.advanced(300.0, y, parameters, 1 / 64)
    assert (after - quiet)[cell.V] == pytest.approx(9.5 / 64, rel=0.05)
