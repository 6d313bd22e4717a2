"""The references of the networks by hand, and against textbook loops."""

import numpy as np
import pytest
from scipy.signal import correlate2d

from warpreg import workloads
from warpreg.workloads import Arrays
from warpreg.workloads.networks import alexnet, cifarnet, layers, mobilenet_layers
from warpreg.workloads.workload import Array


def tiny(name: str, **changed: Array) -> tuple[Arrays, Arrays]:
    """A workload's tiny inputs with some arrays replaced, and what its reference makes of them."""
    problem = workloads.find(name).problem("tiny")
    inputs = {**problem.inputs, **changed}
    return inputs, problem.workload.reference(problem.size, inputs)


def test_lenet_convolves_pools_and_weighs() -> None:
    zeros = np.zeros((10, 500), np.float32)
    inputs, found = tiny("lenet", classes=zeros, classes_bias=np.log([1, 1, 1, 1, 1, 1, 1, 1, 1, 11]))
    # exp(bias) over the sum 20
    assert found["probabilities"][0] == pytest.approx([0.05] * 9 + [0.55])
    expected = correlate2d(inputs["images"][0, 0], inputs["conv1"][7, 0], "valid") + inputs["conv1_bias"][7]
    assert found["conv1"][0, 7] == pytest.approx(expected, abs=1e-6)


def test_cifarnet_pools_fewer_pixels_at_the_far_edges() -> None:
    filters = np.zeros((3, 3, 5, 5))
    filters[:, 1, 2, 2] = [1, -1, 2]
    _, found = tiny("cifarnet", images=np.ones((1, 3, 8, 8)), conv1=filters, conv2=filters)
    assert found["pool1"][0, :, 3, 3].tolist() == [1, 0, 2]
    # Channel 1 is zero, so the second convolution is zero, and so is what follows: nine classes alike.
    assert found["conv2"].sum() == 0
    assert found["probabilities"][0] == pytest.approx([1 / 9] * 9)
    ramp = np.arange(16.0).reshape(1, 1, 4, 4)
    # The window round (3, 3) has only 10, 11, 14 and 15.
    assert cifarnet.mean_of_neighbours(ramp)[0, 0, 1, 1] == 12.5


def test_alexnet_normalises_by_five_neighbouring_maps() -> None:
    x = np.zeros((8, 1, 1))
    x[[1, 3, 6]] = [[[100.0]], [[200.0]], [[300.0]]]
    # Map 1 has maps 0 to 3 beside it, map 6 none but itself; alpha / 5 = 2e-5.
    found = alexnet.local_response(x)
    assert found[1, 0, 0] == pytest.approx(100 / (1 + 2e-5 * (100**2 + 200**2)) ** 0.75)
    assert found[6, 0, 0] == pytest.approx(300 / (1 + 2e-5 * 300**2) ** 0.75)


def test_alexnet_has_the_sides_of_the_paper() -> None:
    assert alexnet.shape_of(workloads.find("alexnet").sizes["full"]).sides == (55, 27, 13, 6)


def test_squeezenet_joins_what_a_module_expands() -> None:
    inputs, found = tiny("squeezenet")
    first = [
        sum(correlate2d(image, part, "valid")[::2, ::2] for image, part in zip(inputs["image"], filters, strict=True))
        for filters in inputs["conv1"]
    ]
    assert found["conv1"] == pytest.approx(np.maximum(first, 0))
    x = np.array(
        [[[plane[r : r + 3, c : c + 3].max() for c in range(0, 13, 2)] for r in range(0, 13, 2)] for plane in first]
    )
    squeezed = np.maximum(inputs["fire2_squeeze"][0, :, 0, 0] @ np.maximum(x, 0).reshape(6, -1), 0).reshape(7, 7)
    wide = np.maximum(correlate2d(squeezed, inputs["fire2_expand3"][2, 0], "same"), 0)
    assert found["fire2"][4 + 2] == pytest.approx(wide)


def test_depthwise_windows_see_zeros_beyond_the_edge() -> None:
    ones, filters = np.ones((1, 1, 4, 4)), np.ones((1, 3, 3))
    assert mobilenet_layers.depthwise(ones, filters, 1)[0, 0].tolist() == [
        [4, 6, 6, 4],
        [6, 9, 9, 6],
        [6, 9, 9, 6],
        [4, 6, 6, 4],
    ]
    assert mobilenet_layers.depthwise(ones, filters, 2)[0, 0].tolist() == [[9, 6], [6, 4]]


def test_pointwise_sums_normalises_and_cuts_off() -> None:
    size = workloads.find("mobilenet-pointwise").sizes["tiny"]
    channels, maps = 2, 4
    weights = np.array([[1.0, 2.0], [-1.0, 0.0], [10.0, 0.0], [0.5, 0.5]])
    norm = np.array([[2.0] * maps, [0.25] * maps, [1.0] * maps, [1.0 - mobilenet_layers.EPSILON] * maps])
    x = np.stack([np.full((32, 32), 0.5), np.full((32, 32), 0.75)])
    assert (mobilenet_layers.table(size)[0].channels, mobilenet_layers.table(size)[0].maps) == (channels, maps)
    _, found = tiny("mobilenet-pointwise", layer01=x, layer01_weights=weights, layer01_norms=norm)
    # 2 (sum - 1) + 0.25 of the sums 2, -0.5, 5 and 0.625, between 0 and 6
    assert found["layer01"][:, 3, 5] == pytest.approx([2.25, 0.0, 6.0, 0.0])


def test_weights_keep_the_size_of_activations() -> None:
    rng = np.random.default_rng(1)
    x = layers.activations(rng, 1, 64, 20, 20)
    y = layers.convolve(x, layers.weights(rng, 64, 64, 3, 3))
    # Rectified normal numbers have a mean square of 1/2, which 2 / fan-in brings back to 1.
    assert np.mean(y**2) == pytest.approx(1.0, rel=0.1)


def test_mobilenet_is_a_chain_of_its_layers() -> None:
    """Without the last point-wise weights, each of its maps is what the norm makes of zero, and so is its mean."""
    maps, classes = 64, 10
    norm = np.array([[1.0] * maps, [0.5] * maps, [-1.0] * maps, [1.0 - mobilenet_layers.EPSILON] * maps])
    _, found = tiny(
        "mobilenet",
        layer13_pointwise_weights=np.zeros((maps, maps)),
        layer13_pointwise_norms=norm,
        classes_weights=np.full((classes, maps), 0.25),
        classes_biases=np.arange(classes),
    )
    # (0 + 1) / 1 + 0.5, and 64 of them at a quarter each
    assert found["means"] == pytest.approx([1.5] * maps)
    assert found["classes"] == pytest.approx(24 + np.arange(classes))
    _, plain = tiny("mobilenet")
    _, changed = tiny("mobilenet", first_weights=np.zeros((2, 3, 3, 3)))
    assert not np.allclose(plain["classes"], changed["classes"])
