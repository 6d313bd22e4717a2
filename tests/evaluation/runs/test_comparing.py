"""The runs of a comparison, one after the other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from warpreg.evaluation.runs.comparing import compared


def test_a_run_is_finished_when_its_rows_are_there() -> None:
    """Whoever takes one result for each run takes no further one: the last run must count before that."""
    shares: list[Any] = [SimpleNamespace(name=name, rows=list) for name in ("a", "b")]
    finished: list[str] = []
    found = compared(shares, 1, finished.append)
    assert next(found) == []
    assert finished == ["a"]
    assert next(found) == []
    assert finished == ["a", "b"]
