"""The key of a finding: every part of the request, and every module that the measure may depend on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from warpreg.evaluation.runs.run import AS_COMPILED
from warpreg.evaluation.studies import findings
from warpreg.evaluation.studies.study import Replay
from warpreg_papers import reproduction

MEASURE = Replay.of("rfc", entries=4)


@dataclass(frozen=True)
class Quiet:
    """A measure with a field that its text does not show."""

    amount: int = field(default=1, repr=False)
    more: Any = None


def key(measure: Any = MEASURE, workload: str = "bfs", size: str = "tiny", **choice: Any) -> str | None:
    return findings.key_of(measure, workload, size, dataclasses.replace(AS_COMPILED, **choice))


def test_each_part_of_a_request_changes_the_key() -> None:
    found = [
        key(),
        key(MEASURE.with_values(entries=5)),
        key(dataclasses.replace(MEASURE, design="rfc-lrf")),
        key(dataclasses.replace(MEASURE, suspend="static")),
        key(workload="nw"),
        key(size="small"),
        key(schedule=False),
        key(latencies="v100"),
        key(Quiet()),
        key(Quiet(2)),
    ]
    assert None not in found
    assert len(set(found)) == len(found)
    assert key() == key(Replay.of("rfc", entries=4))


@pytest.mark.parametrize(
    ("measure", "workload"),
    [
        (Replay.of("my.py"), "bfs"),
        (Replay.of("it's my.py"), "bfs"),
        (Replay.of("my.py+rfc"), "bfs"),
        (Quiet(more=Path("machine.toml")), "bfs"),
        (MEASURE, "it's my.py"),
        (MEASURE, "launches.toml"),
    ],
)
def test_a_request_that_names_a_file_is_not_cached(measure: Any, workload: str) -> None:
    """The text of a name with an apostrophe is in double quotes."""
    assert key(measure, workload) is None
    assert key(latencies="own.toml") is None


def test_a_measure_without_a_file_is_not_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of an interactive session: an edit of it is in no file."""
    monkeypatch.setattr(Quiet, "__module__", "__nowhere__")
    assert key(Quiet()) is None
    assert key(Quiet(more=(MEASURE,))) is None
    monkeypatch.undo()
    assert key(Quiet()) is not None


def test_modules_of_what_a_measure_contains_count() -> None:
    found = list(findings._modules(Quiet(more=(MEASURE,))))
    assert found == [__name__, "warpreg.evaluation.studies.study"]


def test_modules_that_give_constants_are_reached() -> None:
    """The samples of RegMutex read a table of kernels, which is a dictionary, in a module of its own."""
    found = findings.reached("warpreg_papers.regmutex.samples")
    assert "warpreg_papers.regmutex.kernels" in found
    assert "warpreg.evaluation.runs.run" in found


def test_modules_that_a_function_imports_are_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "measure_of_a_test.py").write_text(
        "def measure():\n    from warpreg.evaluation.measures import ipc\n    import warpreg.evaluation.runs.parts\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = findings.reached("measure_of_a_test")
    assert {"warpreg.evaluation.measures.ipc", "warpreg.evaluation.runs.parts"} < found


@pytest.mark.parametrize("paper", reproduction.PAPERS)
def test_measures_of_papers_have_keys(paper: str) -> None:
    """No two have the same one; those of files of the package are measured each time."""
    measures = reproduction.paper_module(paper).MEASURES
    found = {measure: key(measure) for measure in measures}
    assert all(one is not None or ".py" in repr(measure) for measure, one in found.items())
    given = [one for one in found.values() if one is not None]
    assert len(set(given)) == len(given)
