"""The cost of a design divided by that of the plain register file, and what its hardware costs."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.energy import Technology
from warpreg.evaluation.runs.hardware import Use, parts
from warpreg.evaluation.runs.parts import Part
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.gpu import Machine


@dataclass(frozen=True, slots=True)
class Cost:
    """Of the baseline: the share of the register file, and that of what the design adds."""

    register_file: float
    added: float

    @property
    def total(self) -> float:
        """Normalized to the baseline."""
        return self.register_file + self.added


def parts_of(variant: Variant, use: Use, machine: Machine, technology: Technology) -> tuple[Part, ...]:
    """The levels of a design and what it adds, by its use."""
    chosen = variant.chosen()
    return parts(chosen.design, chosen.values, use, machine, technology)
