"""Ablations: a paper's study with one thing changed, so that what the change does to each result can be seen.

What may change is what goes in: what the compiler is asked for, parameters of designs and of the machine, the code of
a workload, and how much workloads weigh, if a source gives the mix.  What comes out stays: results are computed by the
paper's own functions, of the workloads that they are of.  So an ablation has no place for another measure, for
workloads that are chosen by what was found of them, or for a constant of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warpreg.experiments.papers.part import Part
from warpreg.experiments.runs.row import Value
from warpreg.experiments.runs.run import AS_COMPILED, CompileChoice
from warpreg.experiments.runs.scheduled import Scheduled, Variant
from warpreg.experiments.studies.study import Measure, Replay, Study, study
from warpreg.ir.errors import WarpregError

Parameters = Mapping[str, Mapping[str, Value]]
MACHINE = ("inner", "warps")
"""Fields of measures that are parameters of the machine: the policy among active warps, and warps that an SM holds."""


class AblationError(WarpregError):
    """An ablation that changes what it may not."""


@dataclass(frozen=True, slots=True)
class Mix:
    """How much groups of workloads weigh, as ``source`` prints it: by group its weight and the workloads that share
    it.  A workload of no group does not take part.
    """

    source: str
    groups: Mapping[str, tuple[float, Sequence[str]]]

    def weights(self, measured: Collection[str]) -> dict[str, float]:
        """By workload; groups of which nothing was measured have no weight."""
        weights: dict[str, float] = {}
        for weight, members in self.groups.values():
            known = [name for name in members if name in measured]
            weights |= {name: weight / len(known) for name in known}
        return weights


@dataclass(frozen=True, slots=True)
class Ablation:
    """``parts`` of the paper's results are measured once more.  ``choice``: fields of the compiler's choice;
    ``parameters`` by design; ``machine``: by field of a measure, out of ``MACHINE``, another value in the place of one;
    ``code``: by workload the Python file of one that runs in its place; ``mix``: other weights of workloads.

    Raises AblationError for a change that is none of the machine's, a mix without a source, and for no change at all.
    """

    title: str
    parts: Sequence[str]
    choice: Mapping[str, Any] = field(default_factory=dict)
    parameters: Parameters = field(default_factory=dict)
    machine: Mapping[str, Mapping[Value | None, Value]] = field(default_factory=dict)
    code: Mapping[str, Path] = field(default_factory=dict)
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
        """Whether it takes other counts than the paper's study, and not only other weights of the same."""
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
) -> Study:
    """The study of some parts under an ablation, as if it were the one that the paper's figures ask for; ``keep`` as
    in `study`.
    """
    changed = {measure: under(measure, ablation) for part in parts for measure in part.measures}
    names = {str(ablation.code.get(name, name)): name for name in taking_part(ablation, parts, workloads)}
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
    return weighted(dataclasses.replace(found, found=named), ablation.mix)


def taking_part(ablation: Ablation, parts: Sequence[Part], workloads: Sequence[str]) -> list[str]:
    """Workloads that the parts are about and, of a mix, that have a weight."""
    mixed = ablation.mix.weights(workloads) if ablation.mix else workloads
    return [name for name in workloads if name in mixed and any(part.about(name) for part in parts)]


def weighted(found: Study, mix: Mix | None) -> Study:
    """What the workloads of a mix have in a study, with their weights; all of it without one."""
    if mix is None:
        return found
    weights = mix.weights({name for by_workload in found.found.values() for name in by_workload})
    kept = {
        measure: {name: one for name, one in by_workload.items() if name in weights}
        for measure, by_workload in found.found.items()
    }
    return dataclasses.replace(found, found=kept, weights=weights)


def under(measure: Measure[Any], ablation: Ablation) -> Measure[Any]:
    """The measure with other parameters of its machine and designs."""
    machine = {
        name: values[getattr(measure, name)]
        for name, values in ablation.machine.items()
        if hasattr(measure, name) and getattr(measure, name) in values
    }
    changed = dataclasses.replace(measure, **machine) if machine else measure  # type: ignore[type-var]
    if isinstance(changed, Replay):
        return dataclasses.replace(changed, values=_merged(changed, ablation.parameters))
    if isinstance(changed, Scheduled):
        variants = dict.fromkeys(_variant(one, ablation.parameters) for one in changed.variants)
        return dataclasses.replace(changed, variants=tuple(variants))
    return changed


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
