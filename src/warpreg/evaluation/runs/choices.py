"""A design with the values of its parameters, the input of a comparison."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpreg import designs
from warpreg.designs import Design
from warpreg.designs.errors import ParameterError
from warpreg.designs.loading.chosen import Chosen
from warpreg.evaluation.runs.provenance import DIGITS
from warpreg.evaluation.runs.row import Failure, Parameters, Value
from warpreg.gpu import Machine
from warpreg.ir.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class Choice:
    """A design with the values of its parameters; ``digest`` is the content hash of its file, ``source`` the name or
    path that it was loaded by.
    """

    design: Design
    values: Parameters
    digest: str
    source: str

    @property
    def chosen(self) -> Chosen:
        """The design with checked parameters, as a timing run takes it."""
        return Chosen(self.design, self.design.configure(**self.values))

    def defaults(self, machine: Machine) -> Parameters:
        """The values that the parameters have on a machine where nothing sets them."""
        return {**self.design.defaults, **self.design.of_machine(machine)}

    @staticmethod
    def load(
        name_or_path: str | Path,
        values: Mapping[str, Value] | None = None,
        *,
        machine: Machine | None = None,
        unchecked: bool = False,
    ) -> Choice:
        """A design by name or path with checked values; parameters that describe a machine and have none are those of
        the ``machine``, if there is one.  ``unchecked``: without checks in its hooks.

        Raises UnknownNameError, DesignError, or ParameterError for a value outside its declared range.
        """
        design = designs.load(name_or_path, checked=False if unchecked else None)
        described = {} if machine is None else design.of_machine(machine)
        configured = dataclasses.asdict(design.configure(**{**described, **(values or {})}))
        return Choice(design, configured, design.digest[:DIGITS], str(name_or_path))

    @staticmethod
    def grid(
        name_or_path: str | Path,
        values: Mapping[str, Sequence[Value]],
        *,
        machine: Machine | None = None,
        unchecked: bool = False,
    ) -> list[Choice]:
        """A choice for every combination of the given values, the last parameter changing fastest."""
        return [Choice.load(name_or_path, one, machine=machine, unchecked=unchecked) for one in _combinations(values)]

    @staticmethod
    def attempts(
        name_or_path: str | Path,
        values: Mapping[str, Sequence[Value]],
        *,
        machine: Machine | None = None,
        unchecked: bool = False,
    ) -> list[Choice | Refused]:
        """As `grid`, but values that the design cannot have are refused one by one.

        Raises UnknownNameError, also for a parameter, and DesignError for a file that is not a design.
        """
        design = designs.load(name_or_path)
        for name in values:
            if name not in design.defaults:
                raise UnknownNameError(f"parameter of {design.name}", name, design.defaults)
        found: list[Choice | Refused] = []
        for one in _combinations(values):
            try:
                found.append(Choice.load(name_or_path, one, machine=machine, unchecked=unchecked))
            except ParameterError as error:
                found.append(Refused(design, one, str(error)))
        return found


@dataclass(frozen=True, slots=True)
class Refused:
    """A design with values of parameters that it cannot have, and why."""

    design: Design
    values: Parameters
    message: str

    def on(self, workload: str) -> Failure:
        """Its row of a workload."""
        return Failure(workload, self.message, self.design.name, self.values)


def _combinations(values: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    """Every combination, the last parameter changing fastest."""
    return [dict(zip(values, one, strict=True)) for one in itertools.product(*values.values())]
