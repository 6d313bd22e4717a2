"""A design with the values of its parameters, the input of a comparison."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpreg import designs
from warpreg.designs import Design
from warpreg.designs.loading.chosen import Chosen
from warpreg.experiments.runs.provenance import DIGITS
from warpreg.experiments.runs.row import Parameters, Value
from warpreg.gpu import Machine


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
        combinations = itertools.product(*values.values())
        named = (dict(zip(values, one, strict=True)) for one in combinations)
        return [Choice.load(name_or_path, one, machine=machine, unchecked=unchecked) for one in named]
