"""The references of the PolyBench workloads by hand."""

from typing import Any

import numpy as np
import pytest

from warpreg import workloads
from warpreg.workloads import Arrays, Size


def reference(name: str, size: Size, **inputs: Any) -> Arrays:
    arrays = {key: np.array(value, np.float32) for key, value in inputs.items()}
    return workloads.find(name).reference(size, arrays)


def test_gemm_scales_the_product_and_what_was_there() -> None:
    found = reference("gemm", {}, a=[[1, 2]], b=[[3], [4]], c=[[10]])["c"]
    assert found.tolist() == [[pytest.approx(1.5 * 11 + 1.2 * 10)]]


def test_2mm_keeps_the_first_product() -> None:
    found = reference("2mm", {}, a=[[2]], b=[[3, 1]], c=[[1], [1]], d=[[5]])
    assert found["product"].tolist() == [[9.0, 3.0]]
    assert found["d"].tolist() == [[pytest.approx(12 + 6)]]


def test_3mm_is_the_product_of_two_products() -> None:
    assert reference("3mm", {}, a=[[2]], b=[[3]], c=[[5]], d=[[7]])["g"].tolist() == [[210.0]]


def test_2dconv_of_a_single_bright_pixel_shows_the_weights_turned_round() -> None:
    image = np.zeros((5, 5))
    image[2, 2] = 1
    found = reference("2dconv", {"ni": 5, "nj": 5}, a=image)["b"]
    assert found[1:4, 1:4] == pytest.approx(np.array([[0.1, 0.7, 0.4], [-0.9, 0.6, -0.3], [-0.8, 0.5, 0.2]]))
    assert found[0].tolist() == [0] * 5


def test_3dconv_of_a_constant_volume_is_the_sum_of_the_weights() -> None:
    found = reference("3dconv", {"ni": 3, "nj": 3, "nk": 4}, a=np.ones((3, 3, 4)))["b"]
    # (2 + 4 + 5 + 7 - 8 + 10) twice, and -3 + 6 - 9
    assert found[1, 1].tolist() == [0.0, 34.0, 34.0, 0.0]
    assert found.sum() == 68.0
