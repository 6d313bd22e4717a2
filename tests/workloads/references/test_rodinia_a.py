"""The references of Rodinia workloads, b+tree to streamcluster, by hand or by the textbook loop."""

from typing import Any

import numpy as np
import pytest

from warpreg import workloads
from warpreg.workloads import Arrays, Size
from warpreg.workloads.rodinia import b_tree, cfd, dwt2d, huffman, srad
from warpreg.workloads.rodinia.cfd import mesh
from warpreg.workloads.rodinia.lavamd import neighbourhoods
from warpreg.workloads.rodinia.streamcluster import Clustering, open_if_worth


def reference(name: str, size: Size, **inputs: Any) -> Arrays:
    return workloads.find(name).reference(size, inputs)


def test_lud_factors() -> None:
    # [2 1; 4 5] = [1 0; 2 1] [2 1; 0 3]
    found = reference("lud", {}, matrix=np.array([[2, 1], [4, 5]], np.float32))
    assert found["lower"].tolist() == [[0, 0], [2, 0]]
    assert found["upper"].tolist() == [[2, 1], [0, 3]]


def test_lud_multiplies_back_across_steps() -> None:
    matrix = workloads.find("lud").problem("small", 1).inputs["matrix"][:150, :150].astype(np.float64)
    found = reference("lud", {}, matrix=matrix)
    assert (np.eye(150) + found["lower"]) @ found["upper"] == pytest.approx(matrix, abs=1e-4)


def test_lavamd_of_two_boxes_that_hold_one_particle_with_charge() -> None:
    place, charge = np.zeros((800, 4)), np.zeros(800)
    place[0] = [0.5, 0.2, 0.0, 0.0]
    place[750] = [0.7, 0.4, 1.0, 0.0]
    charge[750] = 3.0
    force = reference("lavamd", {"side": 2}, place=place, charge=charge)["force"]
    # r2 = 0.5 + 0.7 - 0.2 * 0.4, times 2 alpha^2 = 1/2; the force is twice the potential times the distance
    potential = 3 * np.exp(-0.56)
    assert force[0] == pytest.approx([potential, 2 * potential * -0.2, 2 * potential * -1.0, 0])


def test_lavamd_boxes_have_the_neighbours_of_a_cube() -> None:
    counts = sorted(len(around) for around in neighbourhoods(3))
    assert counts == [7] * 8 + [11] * 12 + [17] * 6 + [26]


def test_kmeans_of_two_pairs() -> None:
    features = np.array([[0, 0], [10, 0], [0, 2], [10, 4]], np.float32)
    found = reference("kmeans", {"clusters": 2, "rounds": 9}, features=features)
    assert found["membership"].tolist() == [0, 1, 0, 1]
    assert found["centres"].tolist() == [[0, 1], [10, 2]]


def test_srad_leaves_a_flat_image_and_smooths_a_speck_less_than_an_edge() -> None:
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


def test_streamcluster_belongs_to_a_centre_and_pays_its_distance() -> None:
    problem = workloads.find("streamcluster").problem("tiny", 1)
    found, coordinates = problem.expected, problem.inputs["coordinates"]
    difference = coordinates - coordinates[:, found["assigned"]]
    assert found["cost"] == pytest.approx((difference**2).sum(axis=0), abs=1e-6)
    centres = np.unique(found["assigned"])
    assert found["assigned"][centres].tolist() == centres.tolist()
    assert 2 <= len(centres) <= 20


def test_streamcluster_opens_what_is_worth_its_price() -> None:
    # Points at 0, 1, 10, 11 on a line, all with the centre at 0; a centre at 10 saves 100 + 120 of their squares.
    line = np.array([[0, 1, 10, 11]], np.float32)
    before = Clustering(np.zeros(4, np.int64), np.array([0, 1, 100, 121], np.float32))
    switches = np.array([False, False, True, True])
    sums = np.array([[-100, 0], [-80, 0], [0, -100], [0, -120]], np.float32)
    open_if_worth(line, before, 2, 230.0, sums, switches)
    # It costs 230, and closing the centre at 0 returns 230 - 180 = 50: 230 - 220 - 50 < 0, so all points move.
    assert before.assigned.tolist() == [2, 2, 2, 2]
    assert before.cost.tolist() == [100, 81, 0, 1]


def test_b_tree_answers() -> None:
    keys = np.array([3, 5, 6, 9], np.int32)
    values, wanted = np.array([30, 50, 60, 90], np.int32), np.array([9, 4, 3, 10], np.int32)
    found = reference(
        "b-tree", {}, keys=keys, values=values, wanted=wanted, ranges=np.array([[3, 3], [5, 9]], np.int32)
    )
    assert found["answers"].tolist() == [90, -1, 30, -1]
    assert (found["first"].tolist(), found["lengths"].tolist()) == ([0, 1], [1, 3])


def test_b_tree_leads_from_the_root_to_every_key() -> None:
    keys = np.arange(0, 100_000, 3, dtype=np.int32)
    tree, height = b_tree.loaded(keys)
    assert height == 2  # 33,334 keys, 180 a leaf: 186 leaves, two nodes above them, and the root
    assert len(tree) == 186 + 2 + 1
    for wanted in (0, 3 * 179, 3 * 180, 3 * 20_000, int(keys[-1])):
        node = tree[0]
        for _ in range(height):
            node = tree[node["indices"][np.searchsorted(node["keys"], wanted, side="right") - 1]]
        assert node["is_leaf"]
        assert node["indices"][list(node["keys"]).index(wanted)] == wanted // 3


def test_cfd_elements_are_closed_and_neighbours_agree() -> None:
    elements = mesh.tetrahedra(6, np.random.default_rng(0))
    neighbours, normals = elements["neighbours"], elements["normals"]
    # 216 cubes less a slab of 2 x 2 x 3; around it 2 * (4 + 6 + 6) squares of two triangles, outside 6 * 36 such.
    assert neighbours.shape == (4, 6 * 204)
    assert (neighbours == mesh.WING).sum() == 64
    assert (neighbours == mesh.FAR_FIELD).sum() == 432
    assert np.abs(normals.sum(axis=1)).max() < 1e-12
    for face, element in np.argwhere(neighbours >= 0)[:50]:
        (back,) = np.flatnonzero(neighbours[:, neighbours[face, element]] == element)
        assert normals[:, back, neighbours[face, element]] == pytest.approx(-normals[:, face, element])


def test_cfd_keeps_the_undisturbed_flow() -> None:
    elements = mesh.tetrahedra(3, np.random.default_rng(0))
    elements["neighbours"][elements["neighbours"] == mesh.WING] = mesh.FAR_FIELD
    found = reference("cfd-double", {"steps": 3, "stages": 3}, **elements)["variables"]
    # Density 1.4 and pressure 1 make the speed of sound 1 and that of the flow 1.2; 1.4 * 1.2^2 / 2 + 1 / 0.4 = 3.508.
    assert found == pytest.approx(np.repeat([[1.4], [1.68], [0], [0], [3.508]], found.shape[1], axis=1))


def test_cfd_flux_along_the_flow() -> None:
    _, flux = cfd.far_field()
    # Mass 1.68; momentum 1.4 * 1.44 + 1; energy (3.508 + 1) * 1.2; across the flow only pressure.
    assert flux[:, 0] == pytest.approx([1.68, 3.016, 0, 0, 5.4096])
    assert flux[:, 1] == pytest.approx([0, 0, 1, 0, 0])


def test_huffman_code_of_a_textbook_alphabet() -> None:
    counts = np.zeros(256, np.uint32)
    counts[[10, 20, 30, 40, 50]] = [15, 7, 6, 6, 5]  # 39 symbols, 87 bits, as in Wikipedia's A to E
    words, lengths = huffman.code(counts)
    assert lengths[[10, 20, 30, 40, 50]].tolist() == [1, 3, 3, 3, 3]
    assert (lengths * counts).sum() == 87
    codes = {format(words[s], f"0{lengths[s]}b") for s in (10, 20, 30, 40, 50)}
    assert not any(a != b and b.startswith(a) for a in codes for b in codes)


def test_huffman_stream_is_the_code_words_one_after_the_other() -> None:
    data = np.frombuffer(b"abracadabra" * 5, np.uint8)
    found = reference("huffman", {}, data=data)
    words, lengths = huffman.code(found["counts"])
    bits = "".join(format(words[symbol], f"0{lengths[symbol]}b") for symbol in data)
    stream = "".join(format(word, "032b") for word in found["stream"])
    assert stream == bits.ljust(len(stream), "0")
    assert len(stream) - len(bits) < 32


def test_hybridsort_counts_and_sorts() -> None:
    found = reference("hybridsort", {}, values=np.array([1024, 0, 511.5, 512, 1023], np.float32))
    assert found["sorted"].tolist() == [0, 511.5, 512, 1023, 1024]
    assert np.flatnonzero(found["counts"]).tolist() == [0, 511, 512, 1023]
    assert found["counts"][1023] == 2


def test_dwt2d_lifts_a_ramp_and_a_step() -> None:
    # A ramp has no high band but at its mirrored end: 3 - (2 + 2) / 2 = 1; the low band gains a quarter of it there.
    low, high = dwt2d.lifted53(np.array([0, 1, 2, 3]))
    assert (low.tolist(), high.tolist()) == ([0, 2], [0, 1])
    # Halves and quarters are rounded down: 5 - (0 + 5) // 2 = 3, 0 + (3 + 3 + 2) // 4 = 2, 5 + (3 + 0 + 2) // 4 = 6.
    low, high = dwt2d.lifted53(np.array([0, 5, 5, 5]))
    assert (low.tolist(), high.tolist()) == ([2, 6], [3, 0])


def test_dwt2d_of_a_constant_has_the_low_band_only() -> None:
    low, high = dwt2d.lifted97(np.full(9, 2.0))
    assert high == pytest.approx(np.zeros(4), abs=1e-8)
    assert low == pytest.approx(np.full(5, 2.0), abs=1e-8)


def test_dwt2d_bands_follow_each_other() -> None:
    pixels = np.full((5, 7, 3), 128, np.uint8)
    pixels[2, 2] = 138  # an even row and column: mostly in the low band, its neighbours in the others
    found = reference("dwt2d", {"levels": 1}, pixels=pixels)["bands53"][0]
    # Along either axis 10 leaves 10 + (-5 - 5 + 2) // 4 = 8 in its place and -5 beside it.
    low, high_x, high_y, high = np.split(found, [3 * 4, 3 * 4 + 3 * 3, 3 * 4 + 3 * 3 + 2 * 4])
    assert low.reshape(3, 4)[1, 1] == 8 + (-4 - 4 + 2 >> 2)
    assert high_x.reshape(3, 3)[1].tolist() == [-4, -4, 0]
    assert high_y.reshape(2, 4)[:, 1].tolist() == [-5 + (3 + 3 + 2 >> 2)] * 2
    assert high.reshape(2, 3).tolist() == [[3, 3, 0], [3, 3, 0]]
