"""The sections of a technology file, each a frozen dataclass whose fields are entries with unit, range and meaning."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.energy.array import FORMS, ArraySpec
from warpreg.gpu.sourced import quantity


@dataclass(frozen=True, slots=True)
class Process:
    """Node, supply and clock, and the bits of one access in the printed energies."""

    node: float = quantity("process node", "nm", 1, 1000)
    voltage: float = quantity("supply", "V", 0.1, 5)
    frequency: float = quantity("clock", "GHz", 0.001, 100)
    access: int = quantity("bits of one access", "bits", 1, 4096)


@dataclass(frozen=True, slots=True)
class Wire:
    """Wire energy of ``bits`` bits over one mm."""

    energy: float = quantity("energy of a word over one mm", "pJ/mm", 0, 1000)
    bits: int = quantity("bits of that word", "bits", 1, 4096)
    capacitance: float = quantity("capacitance of one wire", "fF/mm", 1, 10_000)


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a register hierarchy as printed: its array, its energies by entries, its distances.

    A bank has ``entries * warps`` words.  ``shared`` is ``None`` where the shared datapath does not reach the level.
    ``voltage`` is the level's own supply, for which its energies are given; that of the process if None.  ``band`` are
    the least and the greatest distance that its organisation may have.
    """

    array: str = quantity("kind of array")
    word: int = quantity("bits of a word of a bank", "bits", 1, 4096)
    read_ports: int = quantity("read ports", "ports", 1, 64)
    write_ports: int = quantity("write ports", "ports", 1, 64)
    warps: int = quantity("warps that have entries in the bank", "warps", 1, 256)
    entries: tuple[int, ...] = quantity("entries of a warp, for each energy below", "entries", 1, 1 << 20)
    read: tuple[float, ...] = quantity("read energy of an access", "pJ", 0, 1e6)
    write: tuple[float, ...] = quantity("write energy of an access", "pJ", 0, 1e6)
    private: float = quantity("distance to the private datapath", "mm", 0, 100)
    shared: float | None = quantity("distance to the shared datapath", "mm", 0, 100, optional=True)
    voltage: float | None = quantity("supply of the level", "V", 0.1, 5, optional=True)
    band: tuple[float, ...] | None = quantity("least and greatest distance", "mm", 0, 100, optional=True)

    def spec(self, words: int) -> ArraySpec:
        """The array of one bank with ``words`` words."""
        return ArraySpec(self.array, words, self.word, self.read_ports, self.write_ports, voltage=self.voltage)

    def printed(self) -> tuple[tuple[int, float, float], ...]:
        """``(words, read pJ, write pJ)`` of every printed size; energies are of one access."""
        return tuple((n * self.warps, r, w) for n, r, w in zip(self.entries, self.read, self.write, strict=True))


@dataclass(frozen=True, slots=True)
class SramConstants:
    """Constants of a kind of SRAM or slices, beside its reference bank: the MRF, or the first level of the kind."""

    area: float = quantity("area of the reference bank", "um^2", 0, 1e9)
    leakage: float = quantity("leakage of a memory", "mW", 0, 1e6)
    leakage_bits: int = quantity("bits of that memory", "bits", 1, 1 << 40)
    leakage_voltage: float = quantity("supply of that memory", "V", 0.1, 5)
    access_time: float = quantity("access time of a memory", "ns", 0, 1000)
    access_time_bits: int = quantity("bits of that memory", "bits", 1, 1 << 40)
    cell_tracks: int = quantity("wire tracks on a side of a cell, before its ports", "tracks", 0, 100)
    form: str | None = quantity("formula of the kind", choices=FORMS, optional=True)


@dataclass(frozen=True, slots=True)
class FlipFlopConstants:
    """Constants of a kind of flip-flops in addition to the printed energies."""

    cell_area: float = quantity("area of a flip-flop", "um^2", 0, 1e6)
    multiplexer_area: float = quantity("area of a two-to-one multiplexer", "um^2", 0, 1e6)
    leakage_density: float = quantity("leakage of logic", "nW/um^2", 0, 1e6)
    level_delay: float = quantity("delay of one multiplexer level", "ns", 0, 1000)
    form: str | None = quantity("formula of the kind", choices=FORMS, optional=True)


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table in front of operand fetch as printed: the energy of a lookup and of an update of one entry.

    Leakage and area are of all banks; the array model gives those that are None.
    """

    entries: int = quantity("entries", "entries", 1, 1 << 24)
    bits: int = quantity("bits of an entry", "bits", 1, 4096)
    banks: int = quantity("banks", "banks", 1, 256)
    ports: int = quantity("ports of a bank, each to read or write", "ports", 1, 64)
    read: float = quantity("energy of a lookup", "pJ", 0, 1e6)
    write: float = quantity("energy of an update", "pJ", 0, 1e6)
    leakage: float | None = quantity("leakage", "mW", 0, 1e6, optional=True)
    area: float | None = quantity("area", "mm^2", 0, 1e3, optional=True)


@dataclass(frozen=True, slots=True)
class PrintedLogic:
    """Logic as printed: comparators, networks, control.  ``energy`` is of an event, ``power`` of every cycle."""

    leakage: float = quantity("leakage", "mW", 0, 1e6)
    area: float = quantity("area", "mm^2", 0, 1e3)
    energy: float | None = quantity("energy of an event", "pJ", 0, 1e6, optional=True)
    power: float | None = quantity("dynamic power", "mW", 0, 1e6, optional=True)


@dataclass(frozen=True, slots=True)
class Check:
    """A point printed elsewhere, to validate the model: one bank, per access of one word."""

    array: str = quantity("kind of array")
    words: int = quantity("words", "words", 1, 1 << 30)
    word: int = quantity("bits of a word", "bits", 1, 1 << 20)
    node: float = quantity("process node", "nm", 1, 1000)
    voltage: float = quantity("supply", "V", 0.1, 5)
    read: float | None = quantity("energy of an access", "pJ", 0, 1e6, optional=True)
    leakage: float | None = quantity("leakage", "mW", 0, 1e6, optional=True)
