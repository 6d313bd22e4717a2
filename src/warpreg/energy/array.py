"""A parametric model of register storage: shape of an array -> energy, leakage, area and access time.

Two kinds, as in the papers: synthesised *flip-flop* arrays (small, many ports) and compiled *SRAM* banks.  Flip-flop
energies are linear in the number of words, because the multiplexer tree and the clock of a port grow with each word;
the model is the least-squares line through all printed points.  SRAM energies grow with the word width and with the
square root of the number of words, as bit lines and address wires of a square bank do; the one printed bank fixes the
constant.  All figures are for the node and voltage of the technology; ``scaling`` converts them to others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from warpreg.energy.errors import EnergyError

Kind = Literal["flip-flop", "sram"]


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """The shape of storage: ``banks`` equal banks of ``words`` words of ``word_bits`` bits, with ports on each bank."""

    kind: Kind
    words: int
    word_bits: int
    read_ports: int = 1
    write_ports: int = 1
    banks: int = 1

    def __post_init__(self) -> None:
        if self.kind not in ("flip-flop", "sram"):
            raise EnergyError(f"array kind: expected flip-flop or sram, found '{self.kind}'")
        for name in ("words", "word_bits", "read_ports", "write_ports", "banks"):
            if (value := getattr(self, name)) < 1:
                raise EnergyError(f"array {name}: expected at least 1, found {value}")

    @property
    def bits(self) -> int:
        """Storage of all banks."""
        return self.banks * self.words * self.word_bits

    @property
    def ports(self) -> int:
        """Ports of one bank."""
        return self.read_ports + self.write_ports


@dataclass(frozen=True, slots=True)
class ArrayCost:
    """Costs of an array: one read and one write of one word, leakage and area of all banks, one access time."""

    read_pj: float
    write_pj: float
    leakage_mw: float
    area_um2: float
    access_ns: float


@dataclass(frozen=True, slots=True)
class Line:
    """``intercept + slope * x``."""

    intercept: float
    slope: float

    def at(self, x: float) -> float:
        """Value of the line at ``x``."""
        return self.intercept + self.slope * x


def least_squares(points: Sequence[tuple[float, float]]) -> Line:
    """The least-squares line in y; if all points have one x, the line through the origin and their mean."""
    mean_x = math.fsum(x for x, _ in points) / len(points)
    mean_y = math.fsum(y for _, y in points) / len(points)
    spread = math.fsum((x - mean_x) ** 2 for x, _ in points)
    if spread == 0:
        return Line(0.0, mean_y / mean_x)
    slope = math.fsum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    return Line(mean_y - slope * mean_x, slope)


@dataclass(frozen=True, slots=True)
class FlipFlopModel:
    """Flip-flop arrays.  ``read`` and ``write`` are fJ per bit as functions of the words of a bank.

    Every port has its own multiplexer tree and decoder, so the energy of an access does not depend on the other ports
    (assumed); they add area and leakage.  Access time: one level delay for each two-to-one multiplexer and two for the
    flip-flop.
    """

    read: Line
    write: Line
    cell_area_um2: float
    multiplexer_area_um2: float
    leakage_nw_per_um2: float
    level_delay_ns: float

    def cost(self, spec: ArraySpec) -> ArrayCost:
        """Cost of ``spec`` at the technology's node and voltage."""
        multiplexers = spec.read_ports + spec.write_ports - 1
        area = spec.bits * (self.cell_area_um2 + multiplexers * self.multiplexer_area_um2)
        return ArrayCost(
            read_pj=spec.word_bits * self.read.at(spec.words) / 1000,
            write_pj=spec.word_bits * self.write.at(spec.words) / 1000,
            leakage_mw=area * self.leakage_nw_per_um2 / 1e6,
            area_um2=area,
            access_ns=self.level_delay_ns * (2 + math.ceil(math.log2(spec.words))),
        )


@dataclass(frozen=True, slots=True)
class SramModel:
    """SRAM banks, scaled from one printed bank ``reference``.

    Each port adds a word line and a bit line, so a side of the cell is ``cell_tracks + ports`` wire tracks.  Energies
    and access time are proportional to the side, area and leakage to its square.  Access time is also proportional to
    the square root of the bits of a bank.
    """

    reference: ArraySpec
    read_pj: float
    write_pj: float
    area_um2: float
    leakage_nw_per_bit: float
    access_ns: float
    access_bits: int
    cell_tracks: int

    def cost(self, spec: ArraySpec) -> ArrayCost:
        """Cost of ``spec`` at the technology's node and voltage."""
        side = (self.cell_tracks + spec.ports) / (self.cell_tracks + self.reference.ports)
        width = spec.word_bits / self.reference.word_bits
        size = side * width * math.sqrt(spec.words / self.reference.words)
        return ArrayCost(
            read_pj=self.read_pj * size,
            write_pj=self.write_pj * size,
            leakage_mw=spec.bits * self.leakage_nw_per_bit * side**2 / 1e6,
            area_um2=self.area_um2 * side**2 * spec.bits / self.reference.bits,
            access_ns=self.access_ns * side * math.sqrt(spec.words * spec.word_bits / self.access_bits),
        )


@dataclass(frozen=True, slots=True)
class ArrayModel:
    """Both kinds together; ``flip_flop`` is None where the technology has none."""

    flip_flop: FlipFlopModel | None
    sram: SramModel

    def cost(self, spec: ArraySpec) -> ArrayCost:
        """Cost of ``spec`` by the model of its kind, at the technology's node and voltage.

        Raises EnergyError for flip-flops in a technology without them.
        """
        if spec.kind == "sram":
            return self.sram.cost(spec)
        if self.flip_flop is None:
            raise EnergyError("array kind: the technology has no flip-flop arrays")
        return self.flip_flop.cost(spec)
