"""A design with the values of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpreg.designs.loading.composition import compose
from warpreg.designs.loading.design import Design
from warpreg.designs.loading.loader import load

PLAIN = "mrf"
"""The default design."""


@dataclass(frozen=True)
class Chosen:
    """A design, or a composition of several, with its parameters."""

    design: Design
    values: Any

    @classmethod
    def of(cls, designs: Sequence[Design | str] | Chosen, parameters: Mapping[str, Any]) -> Chosen:
        """The plain MRF if ``designs`` is empty; a ``Chosen`` is returned unchanged."""
        if isinstance(designs, Chosen):
            return designs
        loaded = [design if isinstance(design, Design) else load(design) for design in designs or (PLAIN,)]
        one = loaded[0] if len(loaded) == 1 else compose(loaded)
        return cls(one, one.configure(**parameters))
