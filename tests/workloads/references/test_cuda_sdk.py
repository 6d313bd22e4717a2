"""The references of some CUDA SDK workloads by hand."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from warpreg import workloads
from warpreg.codegen import CompileOptions
from warpreg.simt import Device
from warpreg.workloads import Arrays, Size
from warpreg.workloads.cuda_sdk import binomial_options, fast_walsh_transform, scan, sobol_qrng


def reference(name: str, size: Size, **inputs: Any) -> Arrays:
    return workloads.find(name).reference(size, {key: np.array(value, np.float32) for key, value in inputs.items()})


def test_black_scholes_of_a_textbook_option() -> None:
    # Spot 42, strike 40, half a year, at 10% and 20%: call 4.76, put 0.81 (Hull). Here at 2% and 30%:
    # d1 = (ln 1.05 + 0.065 / 2) / 0.2121 = 0.3832, d2 = 0.1711; N(d1) = 0.6492, N(d2) = 0.5679; 40 e^-0.01 = 39.602
    found = reference("black-scholes", {}, spot=[42.0], strike=[40.0], years=[0.5])
    assert found["call"][0] == pytest.approx(42 * 0.6492 - 39.602 * 0.5679, abs=0.01)
    assert found["call"][0] - found["put"][0] == pytest.approx(42 - 39.602, abs=1e-3)


def test_scalar_prod_is_one_number_per_pair() -> None:
    found = reference("scalar-prod", {}, a=[[1, 2], [3, 4]], b=[[5, 6], [7, 8]])["products"]
    assert found.tolist() == [17.0, 53.0]


def test_transpose_within_tiles_takes_whole_tiles_only() -> None:
    matrix = np.arange(40 * 70, dtype=np.float32).reshape(40, 70)
    found = reference("transpose", {}, matrix=matrix)
    assert found["transpose_diagonal"][69, 39] == matrix[39, 69]
    assert found["copy_shared"][39, 69] == matrix[39, 69]
    within = found["transpose_fine_grained"]
    assert within.shape == (32, 64)
    assert (within[3, 5], within[3, 37]) == (matrix[5, 3], matrix[5, 35])


def test_matrix_mul_plain_multiplies() -> None:
    found = reference("matrix-mul-plain", {}, a=[[1, 2], [3, 4]], b=[[5, 6], [7, 8]])["c"]
    assert found.tolist() == [[19.0, 22.0], [43.0, 50.0]]


def test_convolution_separable_of_one_pixel_shows_its_weights_both_ways() -> None:
    image = np.zeros((20, 24), np.float32)
    image[10, 12] = 1
    weights = np.arange(1, 18, dtype=np.float32)
    found = reference("convolution-separable", {}, image=image, weights=weights)["image"]
    assert found[2:19, 4:21].tolist() == np.outer(weights, weights).tolist()


def test_nbody_of_two_bodies_falls_towards_each_other() -> None:
    # Distance 1, mass 2 at the other end: 2 / (1 + 0.01)^1.5 = 1.9704; a step of 0.016 gives it 0.031527
    position = [[0, 0, 0, 1], [1, 0, 0, 2]]
    found = reference("nbody", {"steps": 1}, position=position, velocity=np.zeros((2, 4)))
    assert found["velocity"][:, 0] == pytest.approx([0.031527, -0.015763], rel=1e-3)
    assert found["position"][0, 0] == pytest.approx(0.016 * 0.031527, rel=1e-3)


def test_fast_walsh_transform_is_a_dyadic_convolution() -> None:
    rng = np.random.default_rng(1)
    data, kernel = rng.random(16), rng.random(4)
    padded = np.concatenate([kernel, np.zeros(12)])
    product = fast_walsh_transform.walsh_transform(data) * fast_walsh_transform.walsh_transform(padded)
    expected = fast_walsh_transform.walsh_transform(product) / 16
    assert reference("fast-walsh-transform", {}, data=data, kernel=kernel)["result"] == pytest.approx(expected)


def test_sorting_networks_carry_values_along() -> None:
    keys = np.arange(2048, dtype=np.uint32)[None, ::-1]
    found = workloads.find("sorting-networks").reference({}, {"keys": keys, "values": keys + 1})
    assert found["bitonic_keys"][0, :3].tolist() == [0, 1, 2]
    assert found["odd_even_values"][0, :3].tolist() == [1, 2, 3]
    assert found["short_keys"][0, [0, 1023, 1024]].tolist() == [1024, 2047, 0]


def test_binomial_options_of_two_steps() -> None:
    # A tree of two steps by hand: leaves 20 e^(2m) - 20, 0 and 0, with m the move a step, then back twice
    workload = workloads.find("binomial-options")
    inputs = {
        "spot": np.array([20], np.float32),
        "strike": np.array([20], np.float32),
        "years": np.array([2], np.float32),
    }
    spot, strike, move, up, _ = binomial_options.option_table(inputs, 2)[0].astype(float)
    assert move == pytest.approx(0.1)
    found = workload.reference({"steps": 2}, inputs)["values"][0]
    assert found == pytest.approx(up * up * (spot * np.exp(2 * move) - strike), rel=1e-6)


def test_monte_carlo_nears_the_closed_formula() -> None:
    options = [[25.0, 20.0, 0.11, 0.2]]  # drift (0.06 - 0.005) * 2 years, volatility 0.1 * sqrt(4) / sqrt(1)
    uniform = (np.arange(20_000) + 0.5) / 20_000
    found = reference("monte-carlo", {}, options=options, uniform=uniform)
    d2 = (np.log(25 / 20) + 0.11) / 0.2
    expected = 25 * np.exp(0.11 + 0.02) * ndtr(d2 + 0.2) - 20 * ndtr(d2)
    assert found["expected"][0] == pytest.approx(expected, rel=1e-3)
    assert found["samples"][10_000] == pytest.approx(0, abs=1e-4)


def test_dwt_haar1d_of_four_numbers() -> None:
    # Sums 3 and 7 and differences -1 and -1 over sqrt 2; then sum 10 and difference -4 over 2
    found = reference("dwt-haar1d", {}, signal=[1, 2, 3, 4])["result"]
    assert found == pytest.approx([5, -2, -np.sqrt(0.5), -np.sqrt(0.5)])


def test_scan_starts_anew_in_each_row() -> None:
    rows = np.array([[1, 2, 3], [2**32 - 1, 5, 7]], np.uint32)
    assert scan.exclusive_sums(rows).tolist() == [[0, 1, 3], [0, 2**32 - 1, 4]]


def test_sobol_qrng_first_dimension_is_van_der_corputs_in_gray_order() -> None:
    problem = workloads.find("sobol-qrng").problem("tiny")
    found = workloads.find("sobol-qrng").reference(problem.size, problem.inputs)["points"]
    assert found[0, :4].tolist() == [0.0, 0.5, 0.75, 0.25]


def test_sobol_qrng_fills_every_dimension_evenly() -> None:
    # The first 2^k points of a Sobol sequence lie one in each of 2^k equal intervals, in every dimension
    problem = workloads.find("sobol-qrng").problem("tiny")
    points = workloads.find("sobol-qrng").reference({"vectors": 64, "dimensions": 5}, problem.inputs)["points"]
    assert (np.sort(np.floor(points * 64), axis=1) == np.arange(64)).all()


def test_sobol_qrng_finds_primitive_polynomials() -> None:
    # x + 1, x^2 + x + 1, x^3 + x + 1, x^3 + x^2 + 1, x^4 + x + 1, x^4 + x^3 + 1; x^4 + x^3 + x^2 + x + 1 has order 5
    assert list(itertools.islice(sobol_qrng.primitive_polynomials(), 6)) == [
        0b11,
        0b111,
        0b1011,
        0b1101,
        0b10011,
        0b11001,
    ]


def test_histogram64_drops_the_lower_two_bits() -> None:
    found = workloads.find("histogram64").reference({}, {"data": np.array([0, 3, 4, 255], np.uint8)})["bins"]
    assert {bin_: int(found[bin_]) for bin_ in np.flatnonzero(found).tolist()} == {0: 2, 1: 1, 63: 1}


def test_sums_are_the_same_in_every_round() -> None:
    found = workloads.find("reduction-loop").reference({"rounds": 2}, {"values": np.array([1, 2, 4], np.float32)})
    assert found["sums"].tolist() == [7.0, 7.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plain", "unrolled"), [("reduction-loop", "reduction-unrolled"), ("scalar-prod", "scalar-prod-unrolled")]
)
def test_loads_in_front_change_no_bit(plain: str, unrolled: str) -> None:
    found = []
    for name in (plain, unrolled):
        problem = workloads.find(name).problem("tiny", 1)
        found.append(problem.run(Device(problem.workload.ptx_path.read_text(), CompileOptions())))
    assert all(found[0][key].tobytes() == found[1][key].tobytes() for key in found[0])
