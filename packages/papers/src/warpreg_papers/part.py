"""Parts of a paper's results that are measured and computed together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpreg.evaluation.studies.study import Measure, Measured, Study


@dataclass(frozen=True, slots=True)
class Part:
    """Results by id that ``findings`` computes from the output of ``measures``.

    ``workloads``: the workloads of the results (default: all of the paper's).
    """

    measures: Sequence[Measure[Any]]
    findings: Callable[[Study], Mapping[str, Measured]]
    workloads: Sequence[str] = ()

    def about(self, workload: str) -> bool:
        """Whether the part uses a workload."""
        return not self.workloads or workload in self.workloads


def findings_of(parts: Iterable[Part], study: Study) -> dict[str, Measured]:
    """The results of all parts."""
    return {result: value for part in parts for result, value in part.findings(study).items()}
