"""The contract of all designs, for those with two technologies, along a schedule of the machine of the study."""

from __future__ import annotations

import pytest

from warpreg import simt, timing
from warpreg.checks.contract import resets, values_kept
from warpreg.checks.subject import Subject
from warpreg.designs import load
from warpreg.evaluation.runs.run import find_workload, run_workload


@pytest.fixture(scope="module")
def subject() -> Subject:
    launch = run_workload(find_workload("vector-add"), record=simt.Record(path=True, addresses=True)).launches[0]
    return Subject("vector-add", launch, timing.recorded_schedule(launch, "tfet", order="sm", mode="interpreted")[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mem-ra", "cmos-ra", "ideal-mem-ra", "all-tfet"])
def test_no_write_is_lost_and_every_launch_finds_an_empty_file(subject: Subject, name: str) -> None:
    design = load(name, checked=True)
    found = [
        values_kept(design, {}, [subject]),
        resets(design, {}, [subject], "interpreted"),
    ]
    assert [one.verdict for one in found] == ["passed", "passed"], [one.detail for one in found]


@pytest.mark.slow
def test_with_few_vectors_values_still_survive(subject: Subject) -> None:
    """All of the file is TFET, and none of it."""
    for tfet in (0, 512):
        found = values_kept(load("mem-ra", checked=True), {"tfet": tfet}, [subject])
        assert found.verdict == "passed", found.detail
