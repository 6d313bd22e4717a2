"""Ablations: a paper's study with one thing changed, so that what the change does to each result can be seen.

What changes is what the compiler is asked for, parameters of designs, another measure in the place of one, which
workloads take part and with what code, or how results are computed from the counts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warpreg.experiments.runs.row import Value
from warpreg.experiments.runs.run import AS_COMPILED, CompileChoice
from warpreg.experiments.runs.scheduled import Scheduled, Variant
from warpreg.experiments.studies.published import Measured
from warpreg.experiments.studies.study import Measure, Replay, Study, study

Findings = Callable[[Study], Mapping[str, Measured]]
Parameters = Mapping[str, Mapping[str, Value]]


@dataclass(frozen=True, slots=True)
class Ablation:
    """``choice``: fields of the compiler's choice; ``parameters`` by design; ``instead``: what is measured in the place
    of a measure; ``takes``: which workloads take part; ``code``: by workload the Python file of one that runs in its
    place; ``measures``: those that its results need, all if none is named; ``findings``: other definitions of the
    results that it is about, in place of the paper's."""

    title: str
    choice: Mapping[str, Any] = field(default_factory=dict)
    parameters: Parameters = field(default_factory=dict)
    instead: Callable[[Measure[Any]], Measure[Any]] | None = None
    takes: Callable[[str], bool] = lambda name: True
    code: Mapping[str, Path] = field(default_factory=dict)
    measures: Sequence[Measure[Any]] = ()
    findings: Findings | None = None

    @property
    def needs_runs(self) -> bool:
        """Whether it takes other counts than the paper's study, and not only other arithmetic on the same."""
        return bool(self.choice or self.parameters or self.instead or self.code)


def ablated(
    ablation: Ablation,
    measures: Sequence[Measure[Any]],
    workloads: Sequence[str],
    size: str,
    choice: CompileChoice = AS_COMPILED,
    processes: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
    *,
    keep: bool = False,
) -> Study:
    """The study of ``measures`` under an ablation, as if it were the one that the paper's figures ask for; ``keep`` as
    in `study`.
    """
    changed = {measure: _changed(measure, ablation) for measure in ablation.measures or measures}
    names = {str(ablation.code.get(name, name)): name for name in workloads if ablation.takes(name)}
    found = study(
        list(names),
        changed.values(),
        size,
        dataclasses.replace(choice, **ablation.choice),
        processes,
        lambda name: progress(names[name]),
        keep=keep,
    )
    named = {}
    for measure, one in changed.items():
        by_workload = {names[name]: finding for name, finding in found.found[one].items()}
        named[measure] = _renamed(measure, ablation.parameters, by_workload)
    return dataclasses.replace(found, found=named)


def selected(ablation: Ablation, found: Study) -> Study:
    """Of a study, what the workloads of an ablation have in it."""
    kept = {
        measure: {name: one for name, one in by_workload.items() if ablation.takes(name)}
        for measure, by_workload in found.found.items()
    }
    return dataclasses.replace(found, found=kept)


def _changed(measure: Measure[Any], ablation: Ablation) -> Measure[Any]:
    changed = under(measure, ablation.parameters)
    return ablation.instead(changed) if ablation.instead else changed


def under(measure: Measure[Any], parameters: Parameters) -> Measure[Any]:
    """The measure with other parameters of its designs."""
    if isinstance(measure, Replay):
        return dataclasses.replace(measure, values=_merged(measure, parameters))
    if isinstance(measure, Scheduled):
        variants = dict.fromkeys(_variant(one, parameters) for one in measure.variants)
        return dataclasses.replace(measure, variants=tuple(variants))
    return measure


def _variant(variant: Variant, parameters: Parameters) -> Variant:
    return dataclasses.replace(variant, values=_merged(variant, parameters))


def _merged(design: Replay | Variant, parameters: Parameters) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted({**dict(design.values), **parameters.get(design.design, {})}.items()))


def _renamed(measure: Measure[Any], parameters: Parameters, found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Findings of a changed measure under the names that the original has for them."""
    if not isinstance(measure, Scheduled):
        return found
    places = {one: _variant(one, parameters) for one in measure.variants}
    return {
        name: {one: of_variant[place] for one, place in places.items() if place in of_variant}
        for name, of_variant in found.items()
    }
