"""Causes and ablations of `warpreg.experiments.papers.corf.results`, and remarks on results that none explains."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.experiments.papers.ablation import Ablation, Mix
from warpreg.experiments.papers.cause import Cause
from warpreg.experiments.papers.corf.designs import FP, INT, WORKLOADS, class_of

PRINTED_MIX = Mix(
    "Section 2.7: its means over int, fp and all 20 benchmarks (for example 27%, 9.9% and 23% in Figure 2.14) agree"
    " with 15 int and 5 fp",
    {
        label: (weight, tuple(name for name in WORKLOADS if class_of(name) == of))
        for label, weight, of in (("integer", 15, INT), ("floating point", 5, FP))
    },
)

ABLATIONS: Mapping[str, Ablation] = {
    "printed-mix": Ablation(
        "integer workloads weigh as much as the paper's means over them imply",
        parts=("values", "coalescing", "performance", "sizes", "energy", "table"),
        mix=PRINTED_MIX,
    ),
}

_MIX = Cause(
    "input",
    "the paper's means imply that three quarters of its benchmarks are integer-intensive, whose values are narrow; by"
    " the rule that chose the workloads here fewer than a third are",
    "printed-mix",
)
CAUSES: Mapping[str, Cause] = {
    "corf-narrow-ops": _MIX,
}
REMARKS: Mapping[str, str] = {}
