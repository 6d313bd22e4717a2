"""Parts of a paper's results: what is measured and computed together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpreg.experiments.studies.published import Measured
from warpreg.experiments.studies.study import Measure, Study


@dataclass(frozen=True, slots=True)
class Part:
    """Results by id that ``findings`` computes from what the ``measures`` found.

    ``workloads``: those that the results are about, all of the paper's if none is named.
    """

    measures: Sequence[Measure[Any]]
    findings: Callable[[Study], Mapping[str, Measured]]
    workloads: Sequence[str] = ()

    def about(self, workload: str) -> bool:
        """Whether a workload counts."""
        return not self.workloads or workload in self.workloads


def findings_of(parts: Iterable[Part], study: Study) -> dict[str, Measured]:
    """The results of all parts."""
    return {result: value for part in parts for result, value in part.findings(study).items()}
