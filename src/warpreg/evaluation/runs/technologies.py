"""The technology that prices designs where the user names none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpreg import energy
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.energy import EnergyError
from warpreg.evaluation.runs.hardware import check_prices
from warpreg.gpu import Machine

DEFAULT_TECHNOLOGY = "gebhart-40nm"
COMMON_TECHNOLOGY = "common-40nm"
"""Prices every design of the package, with numbers from several papers."""


def default_technology(choices: Sequence[ConfiguredDesign], machine: Machine) -> str:
    """The first technology that prices all of the designs, or `DEFAULT_TECHNOLOGY` if none does.

    First comes the one that the designs name, if those that name one agree, then `DEFAULT_TECHNOLOGY`, then the others
    by name, and at last `COMMON_TECHNOLOGY`.
    """
    return next((name for name in _candidates(choices) if _prices(name, choices, machine)), DEFAULT_TECHNOLOGY)


def _candidates(choices: Sequence[ConfiguredDesign]) -> Iterator[str]:
    named = dict.fromkeys(one.design.declaration.technology for one in choices if one.design.declaration.technology)
    if len(named) == 1:
        yield from named
    yield DEFAULT_TECHNOLOGY
    yield from (name for name in energy.names() if name not in (DEFAULT_TECHNOLOGY, COMMON_TECHNOLOGY))
    yield COMMON_TECHNOLOGY


def _prices(name: str, choices: Sequence[ConfiguredDesign], machine: Machine) -> bool:
    technology = energy.load(name)
    try:
        check_prices(choices, machine, technology)
    except EnergyError:
        return False
    return True
