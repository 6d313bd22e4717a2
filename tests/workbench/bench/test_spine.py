"""The speed figures: their names, and the kernel that the compiler is timed on, without timing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import warpreg
from warpreg import codegen, ptx
from warpreg.cli import main
from warpreg.simt.llvm import object_code
from warpreg_workbench.bench import spine
from warpreg_workbench.bench.host import host
from warpreg_workbench.bench.probe_kernel import NAME, THREADS, probe_elements, probe_ptx
from warpreg_workbench.bench.spine import Speed, probe_segments

KEYS = [
    "functional_mwi_s_geomean",
    "functional_mwi_s_min",
    "limit_mwi_s",
    "limit_share_geomean",
    "limit_share_min",
    "own_limit_share_geomean",
    "own_limit_share_min",
    "recorded_addresses_ratio",
    "recorded_widths_ratio",
    "recorded_widths_ratio_min",
    "recorded_patterns_ratio",
    "recorded_patterns_ratio_min",
    "compile_s_400",
    "compile_cached_s_400",
    "path_bytes_per_wi",
    "replay_maccess_s",
    "parse_mb_s",
    "first_run_s",
    "later_run_s",
    "list_ratio",
    "run_ratio",
    "trace_ratio",
]


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every workload alternates between two speeds: 100 and 400 M a second."""
    speeds = iter([100.0, 400.0] * 4)

    def speed(name: str, size: str) -> Speed:
        fast = next(speeds)
        widths = fast * (0.8 if fast == 100 else 0.2)
        return Speed(name, 1_000_000, fast, fast / 2, widths, widths / 2, int(1000 * fast), 150.0, 800.0, 500.0)

    monkeypatch.setattr(spine, "workload_speed", speed)
    monkeypatch.setattr(spine, "compile_seconds", lambda: (0.2, 0.02))
    monkeypatch.setattr(spine, "parse_mb_s", lambda: 3.0)
    monkeypatch.setattr(spine, "start_seconds", lambda: (8.0, 1.5))
    ratios = {"list_ratio": 1.4, "run_ratio": 7.0, "trace_ratio": 9.0}
    monkeypatch.setattr(spine, "start_ratios", lambda: ratios)


@pytest.mark.usefixtures("pretended")
def test_the_figures_have_their_names_and_summaries(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "spine", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert list(found) == [*KEYS, "machine", "workloads"]
    assert found["functional_mwi_s_geomean"] == pytest.approx(200)
    assert found["functional_mwi_s_min"] == 100
    assert found["limit_mwi_s"] == 800
    assert found["limit_share_geomean"] == pytest.approx(0.25)
    assert found["limit_share_min"] == pytest.approx(0.125)
    assert found["own_limit_share_geomean"] == pytest.approx(0.4)
    assert found["own_limit_share_min"] == pytest.approx(0.2)
    assert found["recorded_addresses_ratio"] == pytest.approx(0.5)
    assert found["recorded_widths_ratio"] == pytest.approx(0.4)
    assert found["recorded_widths_ratio_min"] == pytest.approx(0.2)
    assert found["recorded_patterns_ratio"] == pytest.approx(0.2)
    assert found["recorded_patterns_ratio_min"] == pytest.approx(0.1)
    assert found["path_bytes_per_wi"] == pytest.approx(0.4)
    assert not any(row["counts"] for row in found["workloads"])


@pytest.mark.usefixtures("pretended")
def test_the_table_names_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "spine"]) == 0
    assert "-bit vectors" in capsys.readouterr().out


def test_the_host_has_a_vector_width() -> None:
    assert host()["vector_bits"] in (64, 128, 256, 512)


def test_the_timed_kernel_has_about_the_instructions_asked_for() -> None:
    kernel = codegen.compile(codegen.build_kernel(ptx.parse(probe_ptx(probe_segments(400))), NAME))
    assert abs(kernel.instruction_count - 400) <= 10


def test_the_timed_kernel_runs() -> None:
    values = np.linspace(0, 1, probe_elements(3), dtype=np.float32)
    out = np.zeros_like(values)
    warpreg.compile(probe_ptx(3))[NAME][1, THREADS](values, out, 0.5)
    assert np.count_nonzero(out) > THREADS


@pytest.fixture
def width(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The width of the host, which holds again afterwards."""
    before = object_code.vector_bits()
    monkeypatch.setenv(object_code.VECTOR_BITS_VARIABLE, "512")
    yield before
    object_code.limit_vectors(512)
    assert object_code.vector_bits() == before


@pytest.mark.usefixtures("pretended")
def test_vector_bits_take_the_wider_instructions_away(capsys: pytest.CaptureFixture[str], width: int) -> None:
    if width >= 256:
        assert main(["bench", "spine", "--vector-bits", "256", "--json"]) == 0
        machine: dict[str, Any] = json.loads(capsys.readouterr().out)["machine"]
        assert machine["vector_bits"] == 256
        assert "+avx512" not in object_code.host()[1]
    assert main(["bench", "timing", "--vector-bits", "256"]) == 2
    assert "'warpreg bench spine'" in capsys.readouterr().err
