"""A parametric model of register storage: shape of an array -> energy, leakage, area and access time.

Three forms: synthesised *flip-flop* arrays (small, many ports), compiled *SRAM* banks, and SRAM with many ports whose
words are cut into *slices*.  Flip-flop energies are linear in the number of words, because the multiplexer tree and the
clock of a port grow with each word; the model is the least-squares line through all printed points.  SRAM energies grow
with the word width and with the square root of the number of words, as bit lines and address wires of a square bank do;
one printed bank fixes the constant.  Those of slices are linear in the number of words; all else is as for SRAM.  A
technology has any number of *kinds* of array: each has one of the forms, its own constants and its own voltage.  All
figures are for the node of the technology; ``scaling`` converts them to other nodes and voltages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from warpreg.energy.errors import EnergyError
from warpreg.energy.scaling import ArrayCost, OperatingPoint, rescale

FLIP_FLOP, SRAM, SLICES = "flip-flop", "sram", "slices"
FORMS = (FLIP_FLOP, SRAM, SLICES)


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """The shape of storage: ``banks`` equal banks of ``words`` words of ``word_bits`` bits, with ports on each bank.

    ``kind`` is one of the kinds of array of a technology; ``voltage`` in V, that of the kind if None.
    """

    kind: str
    words: int
    word_bits: int
    read_ports: int = 1
    write_ports: int = 1
    banks: int = 1
    voltage: float | None = None

    def __post_init__(self) -> None:
        for name in ("words", "word_bits", "read_ports", "write_ports", "banks"):
            if (value := getattr(self, name)) < 1:
                raise EnergyError(f"array {name}: expected at least 1, found {value}")
        if self.voltage is not None and not 0 < self.voltage < math.inf:
            raise EnergyError(f"array voltage: expected more than 0 V, found {self.voltage:g}")

    @property
    def bits(self) -> int:
        """Storage of all banks."""
        return self.banks * self.words * self.word_bits

    @property
    def ports(self) -> int:
        """Ports of one bank."""
        return self.read_ports + self.write_ports


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
        """Cost of ``spec`` at the node and voltage of its kind."""
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

    def side(self, spec: ArraySpec) -> float:
        """Side of a cell of ``spec``, divided by that of the reference."""
        return (self.cell_tracks + spec.ports) / (self.cell_tracks + self.reference.ports)

    def cost(self, spec: ArraySpec) -> ArrayCost:
        """Cost of ``spec`` at the node and voltage of its kind."""
        side = self.side(spec)
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
class SliceModel:
    """SRAM whose words are cut into narrow slices side by side, each with all ports.

    ``read`` and ``write`` are pJ of a word of the reference of ``sram`` as functions of the words of a bank: most of a
    small slice is periphery, so that the line does not begin at 0.  Ports scale them as in ``sram``, which gives
    leakage, area and access time.
    """

    sram: SramModel
    read: Line
    write: Line

    def cost(self, spec: ArraySpec) -> ArrayCost:
        """Cost of ``spec`` at the node and voltage of its kind."""
        size = self.sram.side(spec) * spec.word_bits / self.sram.reference.word_bits
        read, write = self.read.at(spec.words) * size, self.write.at(spec.words) * size
        return replace(self.sram.cost(spec), read_pj=read, write_pj=write)


@dataclass(frozen=True, slots=True)
class ArrayKind:
    """One kind of array: its model, and the supply in V that the model's figures are for."""

    model: FlipFlopModel | SramModel | SliceModel
    voltage: float


@dataclass(frozen=True, slots=True)
class ArrayModel:
    """The kinds of array of a technology at its ``node``, by name."""

    kinds: Mapping[str, ArrayKind]
    node: float

    def cost(self, spec: ArraySpec) -> ArrayCost:
        """Cost of ``spec`` by the model of its kind, at the technology's node and the voltage of the spec.

        Raises EnergyError for a kind that the technology does not have.
        """
        if spec.kind not in self.kinds:
            raise EnergyError(
                f"array kind: the technology has no {spec.kind} arrays; it has {', '.join(sorted(self.kinds))}"
            )
        kind = self.kinds[spec.kind]
        cost = kind.model.cost(spec)
        if spec.voltage in (None, kind.voltage):
            return cost
        return rescale(cost, OperatingPoint(self.node, kind.voltage), OperatingPoint(self.node, spec.voltage))
