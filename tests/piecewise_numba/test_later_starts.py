"""Compiled functions in later processes: loaded from disk without imports that only a compilation needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from piecewise_numba.recipe import compiled

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
import numpy as np
from tests.piecewise_numba.test_later_starts import total
from piecewise_numba.recipe import compiled
import warpreg  # keeps compiled code in its cache

print(compiled(total, (np.arange(5),))(np.arange(5)))
print(*(name for name in ("numba", "scipy.linalg") if name in sys.modules))
"""


def total(words: NDArray[np.int64]) -> int:
    found = 0
    for word in words:
        found += word
    return found


def in_a_fresh_process(cache: Path) -> list[str]:
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    environment = {**os.environ, "WARPREG_CACHE": str(cache), "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.slow
def test_a_later_process_loads_the_function_and_not_what_compiling_it_needs(tmp_path: Path) -> None:
    assert in_a_fresh_process(tmp_path) == ["10", "numba scipy.linalg"]
    assert in_a_fresh_process(tmp_path) == ["10", ""]


@pytest.mark.slow
def test_a_loaded_function_takes_its_own_types_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    in_a_fresh_process(tmp_path)
    loaded = compiled(total, (np.arange(5),))
    with pytest.raises(TypeError, match=r"argument.0: expected array\(int64, 1d, C\)"):
        loaded(np.arange(5.0))
