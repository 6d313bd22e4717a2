"""Results outside their tolerance that are counted apart: contradicted, out of reach, or met by another reading."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Literal

import pytest

from warpreg.evaluation.runs.run import AS_COMPILED
from warpreg.evaluation.studies.study import Measured, Study
from warpreg_papers import published
from warpreg_papers.apart import FIELDS, Apart, set_apart
from warpreg_papers.limit import Limit
from warpreg_papers.published import Published
from warpreg_papers.reading import Reading
from warpreg_papers.reproduction import PAPERS, explained, lessons_of

NOTHING = Study("tiny", AS_COMPILED, {})
GAIN = Published("gain", "p", "§1", "IPC gain", "time", "fraction", value=0.11, null=0.0)
"""Its tolerance is 0.05."""
LOSS = Published("loss", "p", "§1", "IPC loss", "time", "fraction", range=(0.1, 0.2), null=1.0)
WORDS = Published("words", "p", "§1", "gains most", "time", text="SAD", null="fails")


@pytest.mark.parametrize(
    ("result", "limit", "side", "excluded"),
    [
        (GAIN, 0.05, "max", True),
        (GAIN, 0.07, "max", False),  # the printed value is beyond it by 0.04, less than its tolerance
        (GAIN, 0.2, "max", False),
        (GAIN, 0.2, "min", True),
        (LOSS, 0.04, "max", True),  # the nearer end of the range, 0.1, is beyond it by 0.06
        (LOSS, 0.26, "min", True),
        (LOSS, 0.15, "min", False),
        (WORDS, 0.0, "max", False),
        (WORDS, 0.01, "max", False),
        (WORDS, -0.01, "max", True),  # by this much it would be missed at best
    ],
)
def test_a_limit_excludes_what_lies_beyond_it_by_more_than_the_tolerance(
    result: Published, limit: float, side: Literal["max", "min"], excluded: bool
) -> None:
    found = Limit("no operand takes time", lambda study: limit, side).excluding(result, NOTHING)
    assert found == (limit if excluded else None)


def test_without_its_runs_nothing_is_out_of_reach() -> None:
    assert Limit("", lambda study: None).excluding(GAIN, NOTHING) is None


@pytest.mark.parametrize(("value", "agrees"), [(0.1, True), (0.3, False), (None, False)])
def test_another_reading_counts_only_if_it_agrees(value: Measured | None, agrees: bool) -> None:
    assert Reading("by power", lambda study: value).agreeing(GAIN, NOTHING) == (value if agrees else None)


def test_the_first_statement_that_holds_sets_a_result_apart() -> None:
    """The limit does not exclude the printed value; the reading agrees with it."""
    said = SimpleNamespace(
        LIMITS={"gain": Limit("limit", lambda study: 0.2), "loss": Limit("other", lambda study: 0.0)},
        READINGS={"gain": Reading("reading", lambda study: 0.12)},
    )
    assert set_apart(GAIN, said, NOTHING) == Apart("other reading", "reading", 0.12)
    assert set_apart(LOSS, said, NOTHING) == Apart("out of reach", "other", 0.0)
    assert set_apart(WORDS, said, NOTHING) is None
    assert Apart("other reading", "reading", 0.12).as_dict() == {FIELDS["other reading"]: 0.12}


@pytest.mark.parametrize("paper", PAPERS)
def test_statements_concern_printed_results(paper: str) -> None:
    printed = {one.id: one for one in published.results(paper)}
    for name in ("LIMITS", "READINGS"):
        assert not any(printed[result].quoted for result in getattr(explained(paper), name, {}))


@pytest.mark.parametrize("paper", PAPERS)
def test_without_runs_no_statement_holds(paper: str) -> None:
    said = explained(paper)
    assert [one.bound(NOTHING) for one in getattr(said, "LIMITS", {}).values() if one.bound(NOTHING) is not None] == []
    assert [one.value(NOTHING) for one in getattr(said, "READINGS", {}).values() if one.value(NOTHING)] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_without_runs_nothing_is_learnt(paper: str) -> None:
    assert lessons_of(paper, NOTHING) == []
