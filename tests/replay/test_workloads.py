"""Recorded paths of real kernels: replay equals a naive model."""

from __future__ import annotations

from typing import Any

import pytest
from tests.replay.naive_cache import as_counter, cache_counts

from warpreg import ptx, simt, workloads
from warpreg.codegen import CompileOptions
from warpreg.replay import profile, replay

NAMES = (
    "bfs", "histogram", "hotspot", "mandelbrot", "matrix-mul", "nw", "reduction", "vector-add",
    "sobel-filter", "dgemm", "kmeans",
)  # fmt: skip
"""The demo's workloads, and three with textures, f64 pairs and constants; the naive model is slow."""

OPTIONS: dict[str, Any] = {"entries": 3, "static_liveness": True, "around_long_latency": True, "idle_first": True}


def launches(name: str, at_most: int = 2) -> list[simt.Launch]:
    """The first launches of a workload at its smallest size."""
    problem = workloads.find(name).problem("tiny")
    text = problem.workload.ptx_path.read_text(encoding="utf-8")
    device = simt.Device(ptx.parse(text, name), CompileOptions(), simt.Record(path=True))
    problem.run(device)
    return list(device.launches[:at_most])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_workload_counts_what_the_naive_model_counts(name: str) -> None:
    for launch in launches(name):
        assert launch.trace is not None
        found = replay(launch.trace, launch.kernel, "rfc", **OPTIONS)
        assert as_counter(found) == cache_counts(launch.kernel, launch.trace, **OPTIONS)
        assert found.warp_instructions == launch.warp_instructions
        assert profile(launch.trace, launch.kernel).values == found.writes()
