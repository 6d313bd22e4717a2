"""Deviation of the array model from every printed figure."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.energy.array import ArraySpec
from warpreg.energy.scaling import OperatingPoint, rescale
from warpreg.energy.sections import Check
from warpreg.energy.technology import Technology


@dataclass(frozen=True, slots=True)
class Residual:
    """One printed figure and the model's; ``fitted`` if the figure was used in the fit."""

    point: str
    quantity: str
    unit: str
    printed: float
    modelled: float
    fitted: bool

    @property
    def relative(self) -> float:
        """(modelled - printed) / printed."""
        return self.modelled / self.printed - 1


def residuals(technology: Technology) -> tuple[Residual, ...]:
    """Every printed point of a technology: the energies of its levels, then the checks, which are not fitted."""
    levels = [residual for name in technology.levels for residual in _of_level(technology, name)]
    checks = [residual for name, check in technology.checks.items() for residual in _of_check(technology, name, check)]
    return tuple(levels + checks)


def _of_level(technology: Technology, name: str) -> list[Residual]:
    level = technology.levels[name]
    per_access = technology.process.access / level.word
    residuals = []
    for words, read, write in level.printed():
        cost = technology.arrays.cost(level.spec(words))
        point = f"{name} {words} x {level.word} bits"
        residuals.append(Residual(point, "read", "pJ", read, cost.read_pj * per_access, fitted=True))
        residuals.append(Residual(point, "write", "pJ", write, cost.write_pj * per_access, fitted=True))
    return residuals


def _of_check(technology: Technology, name: str, check: Check) -> list[Residual]:
    spec = ArraySpec(check.array, check.words, check.word)
    cost = rescale(technology.arrays.cost(spec), technology.point, OperatingPoint(check.node, check.voltage))
    residuals = []
    if check.read is not None:
        residuals.append(Residual(name, "read", "pJ", check.read, cost.read_pj, fitted=False))
    if check.leakage is not None:
        residuals.append(Residual(name, "leakage", "mW", check.leakage, cost.leakage_mw, fitted=False))
    return residuals
