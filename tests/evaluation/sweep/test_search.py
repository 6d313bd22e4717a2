"""A search: its trials, its budget, its bad input."""

from __future__ import annotations

import json

import pandas
import pytest
from tests.evaluation.sweep.conftest import StudyFolder

from warpreg.cli import main
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.evaluation.sweep.search import searched
from warpreg.evaluation.sweep.study_file import read_study

Output = pytest.CaptureFixture[str]
STUDY = """
workloads = "vector-add"
sizes = "tiny"
[[designs]]
name = "rfc"
parameters = { entries = { low = 1, high = 12 } }
[search]
trials = 8
minimize = "energy_normalized"
budget = { bytes = 8192 }
"""
WARP_REGISTER_BYTES, ACTIVE_WARPS = 128, 8


def test_the_best_trial_that_the_budget_allows(study: StudyFolder) -> None:
    read = read_study(study.write(STUDY))
    trials = searched(read, study.folder, workers=1)
    assert len({trial.parameters for trial in trials}) == len(trials) <= 8
    measured = [trial for trial in trials if trial.values]
    assert measured
    energies = [trial.values["energy_normalized"] for trial in measured]
    assert energies == sorted(energies)
    assert [trial.is_best for trial in measured] == [energy == energies[0] for energy in energies]
    for trial in trials:
        entries = dict(trial.parameters)["entries"]
        assert trial.added_bytes == int(entries) * ACTIVE_WARPS * WARP_REGISTER_BYTES
        assert bool(trial.values) == (trial.added_bytes <= 8192)
    assert searched(read, study.folder, workers=1) == trials


COMPOSED = """
workloads = ["vector-add", "hotspot"]
sizes = "tiny"
[[designs]]
name = "rfc"
parameters = { entries = [2, 6] }
[[designs]]
name = "orf-lrf"
[[designs]]
name = "halves.py"
[search]
trials = 12
compose = true
minimize = ["energy_normalized", "added_bytes"]
"""


MAPPING = '''"""Reads every source in halves."""
from warpreg.designs.interface import MRF, Banks, Declaration, hook, read, source_operands

DESIGN = Declaration(slot="mapping", source="assumed: an example")


def banks(parameters, machine):
    return Banks(slices=2)


@hook
def plan_reads(state, program, warp, pc, plan):
    for operand in source_operands(program, pc):
        read(plan, operand, MRF, slices=1)
'''


def test_a_search_over_compositions_has_a_front(study: StudyFolder) -> None:
    (study.folder / "halves.py").write_text(MAPPING)
    trials = searched(read_study(study.write(COMPOSED)), study.folder, workers=1)
    for trial in trials:
        parts = trial.design.split("+")
        assert trial.values, trial.error
        assert not {"rfc", "orf-lrf"} <= set(parts)
        assert dict(trial.parameters).keys() == (
            {"entries"} if parts == ["rfc"] else {"rfc_entries"} if "rfc" in parts else set()
        )
    assert any("+" in trial.design for trial in trials)
    points = [tuple(trial.values.values()) for trial in trials]
    for trial, (energy, size) in zip(trials, points, strict=True):
        beaten = any(e <= energy and b <= size and (e, b) != (energy, size) for e, b in points)
        assert trial.is_best == (not beaten)
    assert [trial.is_best for trial in trials] == sorted((trial.is_best for trial in trials), reverse=True)


def test_what_cannot_be_combined_is_a_trial_with_the_reason(study: StudyFolder) -> None:
    text = (
        COMPOSED.replace('"orf-lrf"', '"larf"').replace('"halves.py"', '"bow-wr"').replace("trials = 12", "trials = 16")
    )
    text = text.replace("[search]", "[search]\nseed = 1").replace('sizes = "tiny"', 'sizes = "tiny"\ncycles = true')
    text = text.replace('"vector-add", "hotspot"', '"vector-add"').replace("[search]", "[search]\nbudget.bytes = 0")
    trials = searched(read_study(study.write(text)), study.folder, workers=1)
    refused = [trial for trial in trials if {"larf", "bow-wr"} <= set(trial.design.split("+"))]
    assert refused
    assert all("events named evicted" in trial.error and not trial.values for trial in refused)


def test_a_search_on_the_command_line(study: StudyFolder, capsys: Output) -> None:
    file = study.write(STUDY)
    parquet = study.folder / "trials.parquet"
    assert main(["sweep", str(file), "-j", "1", "--json", "--parquet", str(parquet)]) == 0
    trials = json.loads(capsys.readouterr().out)
    assert [one["trial"] for one in trials] == list(pandas.read_parquet(parquet)["trial"])
    assert main(["sweep", str(file), "--list"]) == 2
    assert "a search has no cells before it runs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('sizes = "tiny"', 'machines = ["gtx480", "v100"]', "machines: a search expects one, found 2"),
        ('minimize = "energy_normalized"', 'maximize = "speed"', "search: speed requires cycles = true"),
        ("[search]", "[compile]\naddress_bits = [32, 64]\n[search]", "compile: a search expects one value"),
    ],
)
def test_what_a_search_cannot_have(study: StudyFolder, old: str, new: str, message: str) -> None:
    with pytest.raises(SweepError, match=message):
        searched(read_study(study.write(STUDY.replace(old, new))), study.folder)
