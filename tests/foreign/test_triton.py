"""PTX of Triton for sm_75, sm_80 and sm_90, with many registers and with few."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.foreign.running import check
from tests.foreign.triton.references import CASES

TEXTS = sorted((Path(__file__).parent / "triton").glob("*.ptx"))


@pytest.mark.slow
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_kernel(path: Path) -> None:
    kernel = path.stem.partition("_sm_")[0]
    check(path, kernel, CASES[kernel](np.random.default_rng(4)))
