"""The references of more Parboil workloads by hand."""

import numpy as np

from warpreg import workloads
from warpreg.workloads.parboil.spmv import jagged_diagonals

MATRIX = {
    # [[2, 0, 0], [0, 3, 4], [0, 5, 0]]
    "row_offsets": np.array([0, 1, 3, 4]),
    "columns": np.array([0, 1, 2, 1]),
    "values": np.array([2, 3, 4, 5], np.float32),
}


def reference(name, size, **inputs):
    return workloads.find(name).reference(size, {key: np.array(value) for key, value in inputs.items()})


def test_spmv_of_three_rows():
    found = reference("spmv", {"products": 1}, **MATRIX, vector=[1, 10, 100])["result"]
    assert found.tolist() == [2, 430, 50]


def test_jagged_diagonals_put_the_longest_row_first_and_pad_the_others():
    found = jagged_diagonals(MATRIX)
    assert found["permutation"].tolist() == [1, 0, 2]
    assert found["lengths"].tolist() == [2]
    assert found["starts"].tolist() == [0, 3]
    assert found["values"].tolist() == [3, 2, 5, 4, 0, 0]
    assert found["columns"].tolist() == [1, 0, 1, 2, 0, 0]
