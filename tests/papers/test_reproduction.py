"""Reproduced papers: every printed result has a row, causes and reasons belong to results, and the page contains
all.
"""

from __future__ import annotations

import pytest

from warpreg import workloads
from warpreg.evaluation.measures.ipc import CacheIpc, Ipc
from warpreg.evaluation.runs.run import AS_COMPILED
from warpreg.evaluation.studies.study import Study, study
from warpreg.ir.errors import UnknownNameError
from warpreg_papers import published, reproduction
from warpreg_papers.reproduction import (
    NOT_AMONG_THEM,
    PAPERS,
    ReproductionError,
    explained,
    figures_of,
    paper_module,
    reproduced,
)
from warpreg_papers.rfc import results
from warpreg_papers.summary import summed


@pytest.fixture(scope="module")
def replays() -> Study:
    """The study of the register file cache without what takes cycles, on one workload of each class it tells apart."""
    return study(
        ["fft", "lighting"], [m for m in results.MEASURES if not isinstance(m, (Ipc, CacheIpc))], "tiny", processes=1
    )


def test_unmeasurable_results_and_causes_are_of_printed_results() -> None:
    for paper in PAPERS:
        printed = {one.id for one in published.results(paper)}
        assert {*paper_module(paper).UNMEASURABLE, *explained(paper).CAUSES} <= printed


@pytest.mark.slow
def test_every_printed_result_has_one_row(replays: Study) -> None:
    rows = list(reproduced("rfc", replays))
    assert [row.published.id for row in rows] == [one.id for one in published.results("rfc")]
    silent = {row.published.id for row in rows if row.cause == NOT_AMONG_THEM}
    assert silent == {
        "rfc-ipc-8-active", "rfc-ipc-6-active-compute", "rfc-ipc-6-active-shader", "rfc-active-thread-reduction",
        "rfc-alu-latency-4-gain", "rfc-tag-check-ipc", "rfc-active-deterioration", "rfc-round-robin-vs-greedy",
    }  # fmt: skip


@pytest.mark.slow
def test_findings_are_consistent_with_each_other(replays: Study) -> None:
    frame = results.figure_6(replays)
    for _, rows in frame.groupby(["workload", "design"]):
        assert rows.sort_values("entries")["reads avoided"].is_monotonic_increasing
    plain = frame[frame["design"] == "hardware"].set_index(["workload", "entries"])
    alive = frame[frame["design"] == "liveness"].set_index(["workload", "entries"])
    assert (plain["reads avoided"] == alive["reads avoided"]).all(), "liveness changes no read (section 5.1)"
    assert (alive["writes avoided"] >= plain["writes avoided"]).all()


@pytest.mark.slow
def test_figures_have_the_columns_that_they_declare(replays: Study) -> None:
    for figure in figures_of("rfc"):
        if figure.y.column != "ipc":
            columns = {figure.x.column, figure.y.column, figure.series, figure.groups, figure.panels, figure.texts}
            frame = figure.frame(replays)
            assert len(frame)
            assert columns - {""} <= set(frame.columns), figure.name


def test_a_paper_that_is_not_implemented_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="rfc"):
        reproduction.paper_module("rfd")


def test_classes_follow_suites() -> None:
    assert {results.class_of(name) for name in workloads.names()} == {"compute", "shader"}


def test_what_a_paper_quotes_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "findings", lambda study: {})
    rows = {row.published.id: row for row in reproduced("rfc", Study("tiny", AS_COMPILED, {}))}
    row = rows["rfc-quoted-cpu-rfc-saving"]
    assert (row.status, row.measured, row.cause) == ("quoted", None, "quoted from work of others on processors")
    assert rows["rfc-ipc-8-active"].status == "not measured"
    assert summed("rfc", [one.as_dict() for one in rows.values()]).quoted == 2


def test_a_quoted_result_cannot_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "findings", lambda study: {"rfc-quoted-cpu-rfc-saving": 0.38})
    with pytest.raises(ReproductionError, match="rfc: only quoted by the paper: rfc-quoted-cpu-rfc-saving"):
        list(reproduced("rfc", Study("tiny", AS_COMPILED, {})))
