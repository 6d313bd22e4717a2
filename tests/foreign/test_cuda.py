"""PTX of ``cuda/kernels.cu`` by clang and NVRTC, from sm_30 to sm_100, with many registers and with few."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.foreign.cuda.references import CASES
from tests.foreign.running import check

TEXTS = sorted((Path(__file__).parent / "cuda").glob("*.ptx"))


@pytest.mark.slow
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
@pytest.mark.parametrize("kernel", CASES)
def test_kernel(path: Path, kernel: str) -> None:
    check(path, kernel, CASES[kernel](np.random.default_rng(3)))
