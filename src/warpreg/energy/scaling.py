"""Scaling of costs between process nodes and voltages.

The rules are those of ideal scaling: every length shrinks with the node (assumed; real processes of the last decade
scale less).  Capacitance and delay are proportional to the node, energy to capacitance times voltage squared, area to
the node squared, leakage to transistor width (the node) times voltage.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArrayCost:
    """Costs of an array: one read and one write of one word, leakage and area of all banks, one access time."""

    read_pj: float
    write_pj: float
    leakage_mw: float
    area_um2: float
    access_ns: float


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A process node in nm and a supply in V."""

    node: float
    voltage: float


def rescale(cost: ArrayCost, source: OperatingPoint, target: OperatingPoint) -> ArrayCost:
    """The cost of the same array at another node and voltage."""
    length = target.node / source.node
    supply = target.voltage / source.voltage
    energy = length * supply**2
    return ArrayCost(
        read_pj=cost.read_pj * energy,
        write_pj=cost.write_pj * energy,
        leakage_mw=cost.leakage_mw * length * supply,
        area_um2=cost.area_um2 * length**2,
        access_ns=cost.access_ns * length,
    )
