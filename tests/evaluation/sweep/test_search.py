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
    assert sorted(trial.number for trial in trials) == list(range(1, 9))
    measured = [trial for trial in trials if trial.value is not None]
    assert measured
    assert [trial.value for trial in measured] == sorted(trial.value for trial in measured if trial.value is not None)
    for trial in trials:
        entries = dict(trial.parameters)["entries"]
        assert trial.added_bytes == int(entries) * ACTIVE_WARPS * WARP_REGISTER_BYTES
        assert (trial.value is None) == (trial.added_bytes > 8192)
    assert searched(read, study.folder, workers=1) == trials


def test_a_search_on_the_command_line(study: StudyFolder, capsys: Output) -> None:
    file = study.write(STUDY)
    parquet = study.folder / "trials.parquet"
    assert main(["sweep", str(file), "-j", "1", "--json", "--parquet", str(parquet)]) == 0
    trials = json.loads(capsys.readouterr().out)
    assert [one["trial"] for one in trials] == list(pandas.read_parquet(parquet)["trial"])
    assert len(trials) == 8
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
