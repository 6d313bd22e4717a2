"""The references of some Parboil workloads by hand."""

from typing import Any

import numpy as np
import pytest

from warpreg import workloads
from warpreg.workloads import Arrays, Size


def reference(name: str, size: Size, **inputs: Any) -> Arrays:
    return workloads.find(name).reference(size, {key: np.array(value, np.float32) for key, value in inputs.items()})


def test_cp_adds_charge_over_distance() -> None:
    # Charges of 2 and -1 at (0.3, 0.4, 0) and (0, 0, 1): at the origin 2 / 0.5 - 1 / 1
    found = reference("cp", {"width": 2, "height": 2}, atoms=[[0.3, 0.4, 0, 2], [0, 0, 1, -1]])["energies"]
    assert found[0, 0] == pytest.approx(3)
    assert found[0, 1] == pytest.approx(2 / np.hypot(0.2, 0.4) - 1 / np.hypot(0.1, 1))


def test_mri_q_of_one_sample_is_its_magnitude_turned_by_the_phase() -> None:
    # Phase 2 pi * (1 * 0.25) is a quarter turn; magnitude 3^2 + 4^2
    found = reference("mri-q", {"voxels": 1}, k=[[1, 0, 0]], phi=[[3, 4]], places=[[0.25, 0, 0]])
    assert found["magnitude"].tolist() == [25.0]
    assert found["q"][:, 0] == pytest.approx([0, 25], abs=1e-5)


def test_mri_fhd_turns_the_product_with_the_conjugate() -> None:
    # conj(1 + i) (2 + 3i) = 5 + i, turned by a quarter: -1 + 5i
    found = reference("mri-fhd", {"voxels": 1}, k=[[1, 0, 0]], phi=[[1, 1]], d=[[2, 3]], places=[[0.25, 0, 0]])
    assert found["fh"][:, 0] == pytest.approx([-1, 5], abs=1e-5)


def test_sgemm_multiplies_by_the_transpose() -> None:
    found = reference("sgemm", {}, a=[[1, 2]], b=[[3, 4], [5, 6]], c=[[10, 20]])["c"]
    assert found.tolist() == [[1.25 * 11 + 5, 1.25 * 17 + 10]]
