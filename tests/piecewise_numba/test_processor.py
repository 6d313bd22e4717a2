"""Machine code for other processors: what a host includes is used, anything else is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import llvmlite.binding
import numpy as np
import pytest
from tests.piecewise_numba.test_later_starts import SCRIPT, total

from piecewise_numba import processor, recipe
from piecewise_numba.processor import ADDED, LEVELS, Processor
from piecewise_numba.recipe import Recipe

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    """Nothing is remembered of the processor and the versions."""
    remembered = processor.chosen, processor.levels, recipe._surroundings
    for one in remembered:
        one.cache_clear()
    yield
    for one in remembered:
        one.cache_clear()


def digest() -> str:
    """The key of the machine code of a function."""
    processor.chosen.cache_clear()
    recipe._surroundings.cache_clear()
    return Recipe(total).digest((np.arange(3),))


@pytest.mark.parametrize("count", range(len(LEVELS) + 1))
def test_a_host_includes_the_levels_whose_features_it_has(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    has = {feature: number < count for number, (_, added) in enumerate(ADDED) for feature in added}
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: has)
    assert [one.name for one in processor.levels()] == [*reversed(LEVELS[:count])]


def test_one_missing_feature_excludes_a_level_and_those_above(monkeypatch: pytest.MonkeyPatch) -> None:
    has = {feature: feature != "bmi2" for _, added in ADDED for feature in added}
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: has)
    assert processor.levels() == (Processor("x86-64-v2", ""),)


def test_another_processor_version_or_machine_has_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [digest()]
    for name, value in processor.level("x86-64-v3").variables.items():
        monkeypatch.setenv(name, value)
    keys.append(digest())
    monkeypatch.setenv(processor.FEATURES, "+avx512f")
    keys.append(digest())
    monkeypatch.setattr(np, "__version__", "2.0.0")
    keys.append(digest())
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    keys.append(digest())
    monkeypatch.setattr("sys.implementation", type("other", (), {"cache_tag": "cpython-399"}))
    keys.append(digest())
    assert len(set(keys)) == len(keys)


def in_a_process(cache: Path, variables: dict[str, str], host: str = "") -> str:
    """What a process prints that calls `total`: its result, and which libraries of a compiler it has imported.

    ``host``: a statement that changes what it takes the host for.
    """
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    environment = {**os.environ, "WARPREG_CACHE": str(cache), "PYTHONPATH": paths, **variables}
    command = [sys.executable, "-c", host + SCRIPT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return " ".join(done.stdout.split())


@pytest.mark.slow
@pytest.mark.skipif(len(processor.levels()) < 2, reason="the host includes no two levels of x86-64")
def test_code_of_a_level_is_used_by_hosts_that_include_it_and_by_no_other(tmp_path: Path) -> None:
    oldest = processor.level(LEVELS[0])
    assert "numba" in in_a_process(tmp_path, oldest.variables)
    assert in_a_process(tmp_path, {}) == "10"  # found, numba is not imported
    assert "numba" in in_a_process(tmp_path, processor.levels()[0].variables)  # chosen, so compiled for this one
    lesser = "import llvmlite.binding as b; b.get_host_cpu_features = lambda: b.FeatureMap({'sse2': True})\n"
    assert "numba" in in_a_process(tmp_path, {}, lesser)
