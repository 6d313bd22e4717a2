"""Ablations: a paper's study with one input changed, to show the effect of the change on each result.

Only inputs may change: options of the compiler, parameters of designs and of the machine, the code of a workload, and
the weights of workloads, if a source gives the mix.  Results are computed by the paper's own functions, from the same
workloads.  An ablation can therefore not change a measure, select workloads by their results, or introduce a constant.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warpreg.evaluation.runs.row import Value
from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice
from warpreg.evaluation.runs.scheduled import Scheduled, Variant
from warpreg.evaluation.studies.study import Measure, Replay, Study, saved, study
from warpreg.ir.errors import WarpregError
from warpreg_papers.part import Part

Parameters = Mapping[str, Mapping[str, Value]]
MACHINE = ("inner", "warps", "code", "demand", "machine")
"""Fields of measures that ablations may change: the policy among active warps, the warps of an SM, the compilation of
a kernel, the registers by which its occupancy is computed, and the machine as a whole.
"""


class AblationError(WarpregError):
    """An ablation that changes something else."""


@dataclass(frozen=True, slots=True)
class Mix:
    """Weights of groups of workloads, as ``source`` prints them: by group, its weight and its workloads.  A workload
    without group is left out.
    """

    source: str
    groups: Mapping[str, tuple[float, Sequence[str]]]

    def weights(self, measured: Collection[str]) -> dict[str, float]:
        """Weights by workload; groups without measured workloads are ignored."""
        weights: dict[str, float] = {}
        for weight, members in self.groups.values():
            known = [name for name in members if name in measured]
            weights |= {name: weight / len(known) for name in known}
        return weights


@dataclass(frozen=True, slots=True)
class Ablation:
    """Measures ``parts`` of the paper's results again with one change.

    ``choice``: fields of the compiler's options; ``parameters`` by design; ``machine``: new values by field of a
    measure, one of ``MACHINE``; ``code``: by workload, its replacement, a Python file or another workload;
    ``mix``: other weights of workloads.  Raises AblationError for another machine field, a mix without a source, and
    for no change at all.
    """

    title: str
    parts: Sequence[str]
    choice: Mapping[str, Any] = field(default_factory=dict)
    parameters: Parameters = field(default_factory=dict)
    machine: Mapping[str, Mapping[Value | None, Value]] = field(default_factory=dict)
    code: Mapping[str, Path | str] = field(default_factory=dict)
    mix: Mix | None = None

    def __post_init__(self) -> None:
        strangers = [name for name in self.machine if name not in MACHINE]
        if strangers:
            raise AblationError(f"{self.title}: expected changes of {', '.join(MACHINE)}, found {', '.join(strangers)}")
        if self.mix is not None and not self.mix.source:
            raise AblationError(f"{self.title}: expected a mix with its source, found none")
        if not self.needs_runs and self.mix is None:
            raise AblationError(f"{self.title}: expected one thing that changes, found none")

    @property
    def needs_runs(self) -> bool:
        """Whether it needs other counts than the paper's study, instead of only other weights."""
        return bool(self.choice or self.parameters or self.machine or self.code)


def ablated(
    ablation: Ablation,
    parts: Sequence[Part],
    workloads: Sequence[str],
    size: str,
    choice: CompileChoice = AS_COMPILED,
    processes: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
    *,
    keep: bool = False,
    only_saved: bool = False,
) -> Study:
    """The study of some parts under an ablation, in the form of the paper's own study; ``keep`` as in `study`.  With
    ``only_saved``, as far as it has been measured.
    """
    changed = {measure: under(measure, ablation) for part in parts for measure in part.measures}
    names = {str(ablation.code.get(name, name)): name for name in taking_part(ablation, parts, workloads)}
    options, only = dataclasses.replace(choice, **ablation.choice), _needed(changed, names, parts)
    if only_saved:
        measured = saved(list(names), changed.values(), size, options, only)
    else:
        measured = study(
            list(names),
            changed.values(),
            size,
            options,
            processes,
            lambda name: progress(names[name]),
            keep=keep,
            only=only,
        )
    named = {}
    for measure, one in changed.items():
        by_workload = {names[name]: finding for name, finding in measured.found[one].items()}
        named[measure] = _renamed(measure, ablation.parameters, by_workload)
    return weighted(dataclasses.replace(measured, found=named), ablation.mix)


def _needed(
    changed: Mapping[Measure[Any], Measure[Any]], names: Mapping[str, str], parts: Sequence[Part]
) -> dict[Measure[Any], list[str]]:
    """The workloads that the parts need of each changed measure."""
    needed: dict[Measure[Any], list[str]] = {}
    for measure, other in changed.items():
        users = [part for part in parts if measure in part.measures]
        own = needed.setdefault(other, [])
        own += [place for place, name in names.items() if any(part.about(name) for part in users)]
    return needed


def taking_part(ablation: Ablation, parts: Sequence[Part], workloads: Sequence[str]) -> list[str]:
    """Workloads of the parts; with a mix, only those that have a weight."""
    mixed = ablation.mix.weights(workloads) if ablation.mix else workloads
    return [name for name in workloads if name in mixed and any(part.about(name) for part in parts)]


def weighted(study: Study, mix: Mix | None) -> Study:
    """The workloads of a mix in a study, with their weights; the study itself without a mix."""
    if mix is None:
        return study
    weights = mix.weights({name for by_workload in study.found.values() for name in by_workload})
    kept = {
        measure: {name: one for name, one in by_workload.items() if name in weights}
        for measure, by_workload in study.found.items()
    }
    return dataclasses.replace(study, found=kept, weights=weights)


def under(measure: Measure[Any], ablation: Ablation) -> Measure[Any]:
    """The measure with other parameters of its machine and designs."""
    machine = {
        name: values[getattr(measure, name)]
        for name, values in ablation.machine.items()
        if hasattr(measure, name) and getattr(measure, name) in values
    }
    changed = dataclasses.replace(measure, **machine) if machine else measure
    if isinstance(changed, Replay):
        return dataclasses.replace(changed, values=_merged(changed, ablation.parameters))
    if isinstance(changed, Scheduled):
        variants = dict.fromkeys(_variant(one, ablation.parameters) for one in changed.variants)
        return dataclasses.replace(changed, variants=tuple(variants))
    variant = getattr(changed, "variant", None)
    if isinstance(variant, Variant):
        return dataclasses.replace(changed, variant=_variant(variant, ablation.parameters))
    return changed


def _variant(variant: Variant, parameters: Parameters) -> Variant:
    return dataclasses.replace(variant, values=_merged(variant, parameters))


def _merged(design: Replay | Variant, parameters: Parameters) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted({**dict(design.values), **parameters.get(design.design, {})}.items()))


def _renamed(measure: Measure[Any], parameters: Parameters, findings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Findings of a changed measure under the names of the original."""
    if not isinstance(measure, Scheduled):
        return findings
    places = {one: _variant(one, parameters) for one in measure.variants}
    return {
        name: {one: of_variant[place] for one, place in places.items() if place in of_variant}
        for name, of_variant in findings.items()
    }
