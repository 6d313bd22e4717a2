"""PTX of Numba for compute capabilities 7.5 to 9.0, with many registers and with few."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.foreign.numba.references import CASES
from tests.foreign.running import check, module

TEXTS = sorted((Path(__file__).parent / "numba").glob("*.ptx"))


@pytest.mark.slow
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_kernel(path: Path) -> None:
    (kernel,) = module(path).kernels
    check(path, kernel.name, CASES[path.stem.partition("_sm_")[0]](np.random.default_rng(5)))
