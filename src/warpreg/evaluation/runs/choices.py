"""Designs with every combination of values of their parameters, the input of a comparison."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpreg import designs
from warpreg.designs import Design
from warpreg.designs.errors import ParameterError
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.row import Failure, Parameters, Value
from warpreg.gpu import Machine
from warpreg.ir.errors import UnknownNameError

Grids = Mapping[str, Mapping[str, Sequence[Value]]]
"""By name or path of a design, the values of each parameter that has some."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A design with values of parameters that it cannot have, and why."""

    design: Design
    values: Parameters
    message: str

    def on(self, workload: str) -> Failure:
        """Its row of a workload."""
        return Failure(workload, self.message, self.design.name, self.values)


def grid(
    name_or_path: str | Path,
    values: Mapping[str, Sequence[Value]],
    *,
    machine: Machine | None = None,
    unchecked: bool = False,
) -> list[ConfiguredDesign]:
    """A design for every combination of the given values, the last parameter changing fastest."""
    return [
        ConfiguredDesign.load(name_or_path, one, machine=machine, unchecked=unchecked) for one in _combinations(values)
    ]


def attempts(
    name_or_path: str | Path,
    values: Mapping[str, Sequence[Value]],
    *,
    machine: Machine | None = None,
    unchecked: bool = False,
) -> list[ConfiguredDesign | Refusal]:
    """As `grid`, but values that the design cannot have are refused one by one.

    Raises UnknownNameError, also for a parameter, and DesignError for a file that is not a design.
    """
    design = designs.load(name_or_path)
    for name in values:
        if name not in design.defaults:
            raise UnknownNameError(f"parameter of {design.name}", name, design.defaults)
    choices: list[ConfiguredDesign | Refusal] = []
    for one in _combinations(values):
        try:
            choices.append(ConfiguredDesign.load(name_or_path, one, machine=machine, unchecked=unchecked))
        except ParameterError as error:
            choices.append(Refusal(design, one, str(error)))
    return choices


def attempted(
    grids: Grids, *, machine: Machine, unchecked: bool = False
) -> tuple[list[ConfiguredDesign], list[Refusal]]:
    """The `attempts` of several designs, those that are refused apart."""
    found = [one for name in grids for one in attempts(name, grids[name], machine=machine, unchecked=unchecked)]
    return [one for one in found if isinstance(one, ConfiguredDesign)], [
        one for one in found if isinstance(one, Refusal)
    ]


def _combinations(values: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    """Every combination, the last parameter changing fastest."""
    return [dict(zip(values, one, strict=True)) for one in itertools.product(*values.values())]
