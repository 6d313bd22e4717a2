"""A measure at another size of the workload than the study's, for the sweep of input sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warpreg.evaluation.runs.run import CompileChoice, Run, find_workload, run_workload
from warpreg.evaluation.studies.study import EVERYTHING, Measure

SIZES = ("tiny", "small", "full")


@dataclass(frozen=True, slots=True)
class AtSize:
    """``measure`` of the same workload and code at ``size``; None at sizes that are not smaller than the study's."""

    measure: Measure[Any]
    size: str

    def __call__(self, run: Run) -> Any:
        if SIZES.index(self.size) >= SIZES.index(run.options["size"]):
            return None
        choice = CompileChoice.of_run(run.options)
        workload = find_workload(run.name)
        return self.measure(run_workload(workload, self.size, run.options["seed"], choice, EVERYTHING))
