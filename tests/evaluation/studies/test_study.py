"""A study leaves out workloads that cannot be measured, and continues an interrupted one of the same code."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from warpreg.evaluation.runs import run as runs
from warpreg.evaluation.runs.run import AS_COMPILED, Run
from warpreg.evaluation.runs.scheduled import Scheduled, Variant
from warpreg.evaluation.studies import findings
from warpreg.evaluation.studies.study import Replay, StudyError, study
from warpreg.ir.errors import InterruptedCodeError, WarpregError
from warpreg.workloads import Workload

MRF = Replay.of("mrf")


@dataclass(frozen=True)
class Fussy:
    """Wants runs of more than one kernel."""

    def __call__(self, run: Run) -> int:
        if len(run.kernels) < 2:
            raise WarpregError("kernel alone: expected 2 kernels, found 1")
        return len(run.kernels)


@dataclass(frozen=True)
class Broken:
    """Has a fault of its own."""

    def __call__(self, run: Run) -> int:
        return dict[str, int]()[run.name]


@dataclass(frozen=True)
class Interrupted:
    """Meets Ctrl-C in a hook of a design."""

    def __call__(self, run: Run) -> int:
        raise InterruptedCodeError("design.py:3: interrupted while on_read ran")


@dataclass(frozen=True)
class Fatal:
    """Takes its process with it."""

    def __call__(self, run: Run) -> int:
        os._exit(1)


@dataclass(frozen=True)
class Asked:
    """Leaves a line in a file each time it is asked."""

    log: str

    def __call__(self, run: Run) -> int:
        with Path(self.log).open("a", encoding="utf-8") as file:
            file.write(f"{run.name}\n")
        return run.warp_instructions


def test_a_workload_is_left_out_of_one_measure_with_the_reason() -> None:
    found = study(["spmv", "kmeans"], [MRF, Fussy()], processes=1)
    assert list(found[MRF]) == ["spmv", "kmeans"]
    assert found[Fussy()] == {"kmeans": 2}
    assert found.left_out == {Fussy(): {"spmv": "kernel alone: expected 2 kernels, found 1"}}
    assert found.reasons == {"spmv": "left out of 1 of 2 measures: kernel alone: expected 2 kernels, found 1"}
    assert found.in_all([MRF, Fussy()]) == ["kmeans"]
    assert found.in_all([MRF]) == ["spmv", "kmeans"]


def test_a_measure_is_applied_to_the_workloads_that_need_it(tmp_path: Path) -> None:
    asked = Asked(str(tmp_path / "log"))
    found = study(["vector-add", "bfs"], [MRF, asked], processes=1, only={asked: ["bfs"]})
    assert list(found[MRF]) == ["vector-add", "bfs"]
    assert list(found[asked]) == ["bfs"]
    assert found.left_out == {}
    assert (tmp_path / "log").read_text(encoding="utf-8") == "bfs\n"


def test_a_fault_of_a_measure_is_told_with_its_kind() -> None:
    found = study(["spmv"], [MRF, Broken()], processes=1)
    assert found.left_out == {Broken(): {"spmv": "KeyError: 'spmv'"}}
    assert list(found[MRF]) == ["spmv"]


def test_an_interruption_is_no_fault_of_a_measure() -> None:
    with pytest.raises(InterruptedCodeError):
        study(["spmv"], [Interrupted()], processes=1)


@pytest.mark.slow
def test_a_worker_that_dies_is_one_clear_error() -> None:
    with pytest.raises(StudyError, match="a worker process died under one of the 2 workloads"):
        study(["spmv", "nn"], [Fatal()], processes=2)


def test_a_workload_that_does_not_run_is_left_out_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_workload(workload: Workload, *rest: object, **others: object) -> Run:
        if workload.name == "nn":
            raise WarpregError("kernel nn: block 3 reads out of bounds")
        return runs.run_workload(workload)

    monkeypatch.setattr("warpreg.evaluation.studies.study.run_workload", run_workload)
    found = study(["nn", "spmv"], [MRF], processes=1)
    assert list(found[MRF]) == ["spmv"]
    assert found.left_out[MRF] == {"nn": "it does not run: kernel nn: block 3 reads out of bounds"}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of findings of its own."""
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    return tmp_path / "findings"


def test_what_is_kept_is_not_measured_again(cache: Path, tmp_path: Path) -> None:
    measure = Asked(str(tmp_path / "log"))
    first = study(["spmv"], [measure], processes=1, keep=True)
    assert study(["spmv", "nn"], [measure], processes=1, keep=True)[measure]["spmv"] == first[measure]["spmv"]
    assert (tmp_path / "log").read_text() == "spmv\nnn\n"
    study(["spmv"], [measure], processes=1)
    assert (tmp_path / "log").read_text() == "spmv\nnn\nspmv\n", "kept findings are taken on request only"
    assert len(list(cache.iterdir())) == 2


def test_a_damaged_finding_is_measured_again(cache: Path, tmp_path: Path) -> None:
    measure = Asked(str(tmp_path / "log"))
    found = study(["spmv"], [measure], processes=1, keep=True)
    (file,) = cache.iterdir()
    file.write_bytes(b"not a finding")
    assert study(["spmv"], [measure], processes=1, keep=True).found == found.found
    assert (tmp_path / "log").read_text() == "spmv\nspmv\n"


def test_a_finding_has_a_key_of_its_own() -> None:
    keys = {
        findings.key_of(measure, workload, size, AS_COMPILED)
        for measure in (MRF, Replay.of("rfc"), Replay.of("rfc", entries=2))
        for workload in ("spmv", "nn")
        for size in ("tiny", "small")
    }
    assert len(keys) == 3 * 2 * 2
    assert findings.key_of(Replay.of("mine.py"), "spmv", "tiny", AS_COMPILED) is None
    assert findings.key_of(Scheduled("mine.toml", (Variant.of("rc"),)), "spmv", "tiny", AS_COMPILED) is None
    assert findings.key_of(MRF, "mine.toml", "tiny", AS_COMPILED) is None
