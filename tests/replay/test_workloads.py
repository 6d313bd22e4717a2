"""Recorded paths of real kernels: replay counts what a naive model counts."""

from __future__ import annotations

import pytest
from tests.replay import naive

from warpreg import ptx, simt, workloads
from warpreg.codegen import CompileOptions
from warpreg.replay import profile, replay

NAMES = (
    "bfs", "histogram", "hotspot", "mandelbrot", "matrix-mul", "nw", "reduction", "vector-add",
    "sobel-filter", "lavamd", "kmeans",
)  # fmt: skip
"""The demo's workloads, and three with textures, f64 pairs and constants; the naive model is slow."""


def launches(name: str, at_most: int = 2) -> list[simt.Launch]:
    """The first launches of a workload at its smallest size."""
    problem = workloads.find(name).problem("tiny")
    text = problem.workload.ptx_path.read_text(encoding="utf-8")
    device = simt.Device(ptx.parse(text, name), CompileOptions(), simt.Record(path=True))
    problem.run(device)
    return list(device.launches[:at_most])


@pytest.mark.parametrize("name", NAMES)
def test_a_workload_counts_what_the_naive_model_counts(name: str) -> None:
    for launch in launches(name):
        assert launch.trace is not None
        accesses, evictions = naive.register_file_cache(launch.kernel, launch.trace, entries=3)
        found = replay(launch.trace, launch.kernel, "rfc", entries=3)
        assert found.as_dict()["accesses"] == dict(accesses)
        assert found.moved("RFC", "MRF") == evictions
        assert found.warp_instructions == launch.warp_instructions
        assert profile(launch.trace, launch.kernel).values == found.writes()
