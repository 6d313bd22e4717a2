"""The references of more Parboil workloads by hand."""

from typing import Any

import numpy as np

from warpreg import workloads
from warpreg.workloads import Arrays, Size
from warpreg.workloads.parboil.cutcp import binned, neighbour_list
from warpreg.workloads.parboil.rpes import work_list
from warpreg.workloads.parboil.spmv import jagged_diagonals

MATRIX = {
    # [[2, 0, 0], [0, 3, 4], [0, 5, 0]]
    "row_offsets": np.array([0, 1, 3, 4]),
    "columns": np.array([0, 1, 2, 1]),
    "values": np.array([2, 3, 4, 5], np.float32),
}


def reference(name: str, size: Size, **inputs: Any) -> Arrays:
    return workloads.find(name).reference(size, {key: np.array(value) for key, value in inputs.items()})


def test_spmv_of_three_rows() -> None:
    found = reference("spmv", {"products": 1}, **MATRIX, vector=[1, 10, 100])["result"]
    assert found.tolist() == [2, 430, 50]


def test_jagged_diagonals_put_the_longest_row_first_and_pad_the_others() -> None:
    found = jagged_diagonals(MATRIX)
    assert found["permutation"].tolist() == [1, 0, 2]
    assert found["lengths"].tolist() == [2]
    assert found["starts"].tolist() == [0, 3]
    assert found["values"].tolist() == [3, 2, 5, 4, 0, 0]
    assert found["columns"].tolist() == [1, 0, 1, 2, 0, 0]


def test_sad_of_a_frame_of_one_grey_against_another() -> None:
    # Every pixel differs by 3: 3 * 16 for a 4 x 4 block, at all displacements, and so on up to 3 * 256
    size = {"mb_width": 1, "mb_height": 1}
    frame = np.full((16, 16), 7, np.uint16)
    found = reference("sad", size, frame=frame, reference=frame + 3)["sads"]
    areas = [256] + [128] * 4 + [64] * 4 + [32] * 16 + [16] * 16
    assert found[:, 0].tolist() == [3 * area for area in areas]
    assert (found[:, :1089] == found[:, :1]).all()
    assert not found[:, 1089:].any()


def test_sad_is_zero_where_the_block_came_from() -> None:
    # Pixel (6, 9) lies in the macroblock's second row and third column of 4 x 4 blocks: quadrant 1, its block 2.
    # The reference has it two further down and one further left: row 16 + 2, column 16 - 1 of the displacements.
    frame, around = np.zeros((2, 16, 16), np.uint16)
    frame[6, 9] = around[8, 8] = 100
    found = reference("sad", {"mb_width": 1, "mb_height": 1}, frame=frame, reference=around)["sads"]
    assert found[25 + 6, 18 * 33 + 15] == 0
    assert found[25 + 6, 16 * 33 + 16] == 100
    assert found[0, 16 * 33 + 16] == 200


def test_tpacf_counts_pairs_by_angle() -> None:
    # Within the observed set an angle of 90 degrees, 5400 minutes: bin floor(5 log10 5400) = 18. To the random points
    # (1, 0, 0) 0 and 90, to (0, 0, 1) 90 and 90 degrees; 0 is below one minute, in no bin. Those two are 90 apart.
    points = [[[1, 0], [1, 0]], [[0, 1], [0, 0]], [[0, 0], [0, 1]]]
    found = reference("tpacf", {"sets": 1}, points=np.array(points, np.float32))["histograms"]
    assert found[:, 18].tolist() == [1, 1, 3]
    assert found.sum() == 5


def test_cutcp_smooths_a_charge_over_its_distance() -> None:
    # Charge 2 at (1.25, 0, 0), cutoff 4, squared distances to the origin and to (0, 0, 3.5): 1.5625 and 13.8125
    size = {"regions_x": 1, "regions_y": 1, "regions_z": 1, "cutoff": 4}
    found = reference("cutcp", size, atoms=np.array([[1.25, 0, 0, 2]], np.float32))["potential"][0, 0, 0]
    assert np.isclose(found[0, 0, 0], 2 * (1 - 1.5625 / 16) ** 2 / 1.25)
    assert np.isclose(found[7, 0, 0], 2 * (1 - 13.8125 / 16) ** 2 / np.sqrt(13.8125))
    assert found[7, 7, 7] == 0


def test_cutcp_bins_keep_eight_atoms() -> None:
    size = {"regions_x": 1, "regions_y": 1, "regions_z": 1, "cutoff": 4}
    atoms = np.array([[1, 1, 1, 1]] * 9 + [[-1, 1, 1, 5]], np.float32)
    bins, left_over = binned(size, atoms)
    assert bins[1, 1, 1, :, 3].tolist() == [1] * 8
    assert bins[1, 1, 0, :, 3].tolist() == [5] + [0] * 7
    assert len(left_over) == 1
    # The 27 bins around have a corner or more within four angstrom, those beyond start at four
    assert len(neighbour_list(4)) == 27


def test_rpes_of_four_equal_functions_and_of_two_far_apart() -> None:
    # Two s functions with exponent 1/2 and coefficient 1 a distance r apart. All four on one centre:
    # 2 pi^2.5 / (1 * 1 * sqrt(2)). Two pairs, each on its own centre: times the weight erf(sqrt(x)) sqrt(pi / x) / 2
    # with x = r^2 / 2 = 50. Mixed pairs overlap by exp(-r^2 / 4).
    shells, primitives = np.array([[0, 0, 0, 0], [10, 0, 0, 1]]), np.array([[0.5, 1], [0.5, 1]])
    found = reference("rpes", {"atoms": 0}, shells=shells, counts=[1, 1], primitives=primitives)["integrals"]
    whole = 2 * np.pi**2.5 / np.sqrt(2)
    # In order (00|00), (10|00), (10|10), (11|00), (11|10), (11|11)
    assert np.allclose(found[[0, 2, 3, 5]], whole * np.array([1, np.exp(-50), np.sqrt(np.pi / 50) / 2, 1]))


def test_rpes_splits_integrals_into_blocks_of_64_quartets() -> None:
    # Shells of 6 and 1 primitives: (00|00) has 1296 quartets, 21 blocks; (10|00) 216, 4; (10|10) and (11|00) 36, 1; ...
    work, ranges = work_list(np.array([6, 1]))
    assert np.diff(ranges, axis=1).ravel().tolist() == [21, 4, 1, 1, 1, 1]
    assert ranges[1].tolist() == [21, 25]
    assert work[22].tolist() == [1, 0, 64, 0x06060601]
