"""The references of some CUDA SDK workloads by hand."""

import numpy as np
import pytest

from warpreg import workloads


def reference(name, size, **inputs):
    return workloads.find(name).reference(size, {key: np.array(value, np.float32) for key, value in inputs.items()})


def test_black_scholes_of_a_textbook_option():
    # Spot 42, strike 40, half a year, at 10% and 20%: call 4.76, put 0.81 (Hull). Here at 2% and 30%:
    # d1 = (ln 1.05 + 0.065 / 2) / 0.2121 = 0.3832, d2 = 0.1711; N(d1) = 0.6492, N(d2) = 0.5679; 40 e^-0.01 = 39.602
    found = reference("black-scholes", {}, spot=[42.0], strike=[40.0], years=[0.5])
    assert found["call"][0] == pytest.approx(42 * 0.6492 - 39.602 * 0.5679, abs=0.01)
    assert found["call"][0] - found["put"][0] == pytest.approx(42 - 39.602, abs=1e-3)


def test_scalar_prod_is_one_number_per_pair():
    found = reference("scalar-prod", {}, a=[[1, 2], [3, 4]], b=[[5, 6], [7, 8]])["products"]
    assert found.tolist() == [17.0, 53.0]


def test_transpose_within_tiles_takes_whole_tiles_only():
    matrix = np.arange(40 * 70, dtype=np.float32).reshape(40, 70)
    found = reference("transpose", {}, matrix=matrix)
    assert found["transpose_diagonal"][69, 39] == matrix[39, 69]
    assert found["copy_shared"][39, 69] == matrix[39, 69]
    within = found["transpose_fine_grained"]
    assert within.shape == (32, 64)
    assert (within[3, 5], within[3, 37]) == (matrix[5, 3], matrix[5, 35])


def test_matrix_mul_plain_multiplies():
    found = reference("matrix-mul-plain", {}, a=[[1, 2], [3, 4]], b=[[5, 6], [7, 8]])["c"]
    assert found.tolist() == [[19.0, 22.0], [43.0, 50.0]]
