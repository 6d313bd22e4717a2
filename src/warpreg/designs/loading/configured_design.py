"""A design with the values of its parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpreg.designs.loading.composition import compose
from warpreg.designs.loading.design import Design
from warpreg.designs.loading.loader import load
from warpreg.gpu import Machine
from warpreg.ir.digest import DIGITS

PLAIN = "mrf"
"""The default design."""


@dataclass(frozen=True)
class ConfiguredDesign:
    """A design, or a composition of several, with its parameters."""

    design: Design
    values: Any
    """The parameters, checked."""
    source: str = ""
    """Name or path by which another process can load the design; empty if it was given loaded."""
    digest: str = ""
    """Content hash of the design's file as it was loaded by its name or path."""

    @classmethod
    def of(cls, designs: Sequence[Design | str] | ConfiguredDesign, parameters: Mapping[str, Any]) -> ConfiguredDesign:
        """The plain MRF if ``designs`` is empty; a ``ConfiguredDesign`` is returned unchanged."""
        if isinstance(designs, ConfiguredDesign):
            return designs
        loaded = [design if isinstance(design, Design) else load(design) for design in designs or (PLAIN,)]
        one = loaded[0] if len(loaded) == 1 else compose(loaded)
        return cls(one, one.configure(**parameters))

    @classmethod
    def load(
        cls,
        name_or_path: str | Path,
        values: Mapping[str, Any] | None = None,
        *,
        machine: Machine | None = None,
        unchecked: bool = False,
    ) -> ConfiguredDesign:
        """A design by name or path with checked values; parameters that describe a machine and have none are those of
        the ``machine``, if there is one.  ``unchecked``: without checks in its hooks.

        Raises UnknownNameError, DesignError, or ParameterError for a value outside its declared range.
        """
        design = load(name_or_path, checked=False if unchecked else None)
        described = {} if machine is None else design.of_machine(machine)
        checked = design.configure(**{**described, **(values or {})})
        return cls(design, checked, str(name_or_path), design.digest[:DIGITS])

    @property
    def parameters(self) -> dict[str, Any]:
        """The values by name."""
        return dataclasses.asdict(self.values)

    def defaults(self, machine: Machine) -> dict[str, Any]:
        """The values that the parameters have on a machine where nothing sets them."""
        return {**self.design.defaults, **self.design.of_machine(machine)}
