"""A study that measures what it is asked for, when it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice
from warpreg.evaluation.studies.study import EVERYWHERE, Measure, Only, Study, study


def study_on_demand(
    workloads: Sequence[str],
    measures: Sequence[Measure[Any]],
    size: str = "tiny",
    choice: CompileChoice = AS_COMPILED,
    only: Only = EVERYWHERE,
) -> Study:
    """As `study` in this process, but each measure is applied when its findings are first read; findings are kept."""
    return Study(size, choice, _Findings(tuple(workloads), tuple(dict.fromkeys(measures)), size, choice, only))


class _Findings(Mapping[Any, Mapping[str, Any]]):
    """Findings by measure, then by workload."""

    def __init__(
        self,
        workloads: tuple[str, ...],
        measures: tuple[Measure[Any], ...],
        size: str,
        choice: CompileChoice,
        only: Only,
    ) -> None:
        self._workloads, self._measures, self._size, self._choice, self._only = workloads, measures, size, choice, only
        self._known: dict[Any, Mapping[str, Any]] = {}

    def __contains__(self, measure: object) -> bool:
        return measure in self._measures

    def __getitem__(self, measure: Any) -> Mapping[str, Any]:
        if measure not in self._measures:
            raise KeyError(measure)
        if measure not in self._known:
            found = study(self._workloads, [measure], self._size, self._choice, processes=1, keep=True, only=self._only)
            self._known[measure] = found[measure]
        return self._known[measure]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._measures)

    def __len__(self) -> int:
        return len(self._measures)
