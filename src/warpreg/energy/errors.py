"""Errors of the energy package."""

from __future__ import annotations

from warpreg.gpu.sourced import DescriptionError
from warpreg.ir.errors import WarpregError


class EnergyError(WarpregError):
    """An energy that cannot be computed: a structure without a size, a path that does not exist, a negative count."""


class TechnologyError(DescriptionError):
    """An invalid technology file: names file, line, key, what was expected and what was found."""
