"""The papers' figures, declared: one module a paper, with ``FIGURES`` in the paper's order; drawn by ``report``."""

from __future__ import annotations

import importlib

from warpreg.experiments.figures.figure import Axis, Figure, Kind, Mark, Mean
from warpreg.experiments.reproduction import MODULES
from warpreg.ir.errors import UnknownNameError

__all__ = ["Axis", "Figure", "Kind", "Mark", "Mean", "figures_of"]


def figures_of(paper: str) -> tuple[Figure, ...]:
    """The figures of an implemented paper; raises UnknownNameError."""
    if paper not in MODULES:
        raise UnknownNameError("reproduced paper", paper, MODULES)
    found = importlib.import_module(f"{__name__}.{MODULES[paper]}").FIGURES
    assert isinstance(found, tuple)
    return found
