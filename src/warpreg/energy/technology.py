"""A technology as data: one TOML file each under ``technologies/``, read into :class:`Technology`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import cast

from warpreg.energy.array import ArrayModel, ArraySpec, FlipFlopModel, Kind, SramModel, least_squares
from warpreg.energy.chip import ChipPower
from warpreg.energy.errors import TechnologyError
from warpreg.energy.scaling import OperatingPoint
from warpreg.gpu import sourced
from warpreg.gpu.sourced import Document, Origin, quantity

FOLDER = Path(__file__).parent / "technologies"
KINDS = ("flip-flop", "sram")


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
    """

    array: str = quantity("kind of array", choices=KINDS)
    word: int = quantity("bits of a word of a bank", "bits", 1, 4096)
    read_ports: int = quantity("read ports", "ports", 1, 64)
    write_ports: int = quantity("write ports", "ports", 1, 64)
    warps: int = quantity("warps that have entries in the bank", "warps", 1, 256)
    entries: tuple[int, ...] = quantity("entries of a warp, for each energy below", "entries", 1, 1 << 20)
    read: tuple[float, ...] = quantity("read energy of an access", "pJ", 0, 1e6)
    write: tuple[float, ...] = quantity("write energy of an access", "pJ", 0, 1e6)
    private: float = quantity("distance to the private datapath", "mm", 0, 100)
    shared: float | None = quantity("distance to the shared datapath", "mm", 0, 100, optional=True)

    def spec(self, words: int) -> ArraySpec:
        """The array of one bank with ``words`` words."""
        return ArraySpec(cast(Kind, self.array), words, self.word, self.read_ports, self.write_ports)

    def printed(self) -> tuple[tuple[int, float, float], ...]:
        """``(words, read pJ, write pJ)`` of every printed size; energies are of one access."""
        return tuple((n * self.warps, r, w) for n, r, w in zip(self.entries, self.read, self.write, strict=True))


@dataclass(frozen=True, slots=True)
class SramConstants:
    """Constants of the SRAM model in addition to the MRF bank."""

    area: float = quantity("area of the MRF bank", "um^2", 1, 1e9)
    leakage: float = quantity("leakage of a memory", "mW", 0, 1e6)
    leakage_bits: int = quantity("bits of that memory", "bits", 1, 1 << 40)
    leakage_voltage: float = quantity("supply of that memory", "V", 0.1, 5)
    access_time: float = quantity("access time of a memory", "ns", 0, 1000)
    access_time_bits: int = quantity("bits of that memory", "bits", 1, 1 << 40)
    cell_tracks: int = quantity("wire tracks on a side of a cell, before its ports", "tracks", 0, 100)


@dataclass(frozen=True, slots=True)
class FlipFlopConstants:
    """Constants of the flip-flop model in addition to the printed energies."""

    cell_area: float = quantity("area of a flip-flop", "um^2", 0, 1e6)
    multiplexer_area: float = quantity("area of a two-to-one multiplexer", "um^2", 0, 1e6)
    leakage_density: float = quantity("leakage of logic", "nW/um^2", 0, 1e6)
    level_delay: float = quantity("delay of one multiplexer level", "ns", 0, 1000)


@dataclass(frozen=True, slots=True)
class Check:
    """A point printed elsewhere, to validate the model: one bank, per access of one word."""

    array: str = quantity("kind of array", choices=KINDS)
    words: int = quantity("words", "words", 1, 1 << 30)
    word: int = quantity("bits of a word", "bits", 1, 1 << 20)
    node: float = quantity("process node", "nm", 1, 1000)
    voltage: float = quantity("supply", "V", 0.1, 5)
    read: float | None = quantity("energy of an access", "pJ", 0, 1e6, optional=True)
    leakage: float | None = quantity("leakage", "mW", 0, 1e6, optional=True)


@dataclass(frozen=True)
class Technology:
    """A process with its levels, wires, array model and chip; ``origins``: the source of each number by dotted key."""

    name: str
    title: str
    process: Process
    wire: Wire
    levels: Mapping[str, Level] = field(compare=False, repr=False)
    arrays: ArrayModel
    checks: Mapping[str, Check] = field(compare=False, repr=False)
    chip: ChipPower
    origins: Mapping[str, Origin] = field(compare=False, repr=False)
    digest: str

    @property
    def point(self) -> OperatingPoint:
        """Node and voltage."""
        return OperatingPoint(self.process.node, self.process.voltage)


def names() -> tuple[str, ...]:
    """Names of the technologies that come with the package."""
    return sourced.names(FOLDER)


def load(name_or_path: str | Path) -> Technology:
    """Read a technology by name, or from a path that ends in ``.toml``.

    Raises ``UnknownNameError`` for an unknown name and ``TechnologyError`` for an invalid file.
    """
    path = sourced.find("technology", FOLDER, name_or_path)
    return _read(path, path.read_bytes() if path.is_file() else b"")


@lru_cache(maxsize=32)
def _read(path: Path, content: bytes) -> Technology:
    """Parse a file; ``content`` is part of the cache key, so an edited file is read again."""
    document = Document(path, TechnologyError)
    document.only(("title", "process", "wire", "level", "model", "check", "chip"))
    process = document.section("process", Process)
    levels = {name: _level(document, name, process) for name in document.keys("level")}
    return Technology(
        name=document.path.stem,
        title=document.text("title"),
        process=process,
        wire=document.section("wire", Wire),
        levels=levels,
        arrays=_fit(document, process, levels),
        checks={name: document.section(f"check.{name}", Check) for name in document.keys("check")},
        chip=document.section("chip", ChipPower),
        origins=document.origins,
        digest=document.digest,
    )


def _level(document: Document, name: str, process: Process) -> Level:
    level = document.section(f"level.{name}", Level)
    for key, values in (("read", level.read), ("write", level.write)):
        if len(values) != len(level.entries):
            expected = f"{len(level.entries)} values, one for each of entries"
            raise document.refusal(f"level.{name}.{key}", expected, str(len(values)))
    if process.access % level.word:
        expected = f"a divisor of the access of {process.access} bits"
        raise document.refusal(f"level.{name}.word", expected, str(level.word))
    return level


def _fit(document: Document, process: Process, levels: Mapping[str, Level]) -> ArrayModel:
    return ArrayModel(_flip_flop_model(document, process, levels), _sram_model(document, process, levels))


def _flip_flop_model(document: Document, process: Process, levels: Mapping[str, Level]) -> FlipFlopModel | None:
    """None for a technology without levels of flip-flops."""
    points = {point for level in levels.values() if level.array == "flip-flop" for point in level.printed()}
    if not points:
        return None
    constants = document.section("model.flip-flop", FlipFlopConstants)
    to_fj_per_bit = 1000 / process.access
    return FlipFlopModel(
        read=least_squares([(words, read * to_fj_per_bit) for words, read, _ in sorted(points)]),
        write=least_squares([(words, write * to_fj_per_bit) for words, _, write in sorted(points)]),
        cell_area_um2=constants.cell_area,
        multiplexer_area_um2=constants.multiplexer_area,
        leakage_nw_per_um2=constants.leakage_density,
        level_delay_ns=constants.level_delay,
    )


def _sram_model(document: Document, process: Process, levels: Mapping[str, Level]) -> SramModel:
    if "MRF" not in levels or levels["MRF"].array != "sram":
        raise document.refusal("level.MRF", "a level MRF with array sram", "none")
    bank = levels["MRF"]
    words, read, write = bank.printed()[0]
    constants = document.section("model.sram", SramConstants)
    at_this_voltage = process.voltage / constants.leakage_voltage
    share = bank.word / process.access
    return SramModel(
        reference=bank.spec(words),
        read_pj=read * share,
        write_pj=write * share,
        area_um2=constants.area,
        leakage_nw_per_bit=constants.leakage * 1e6 / constants.leakage_bits * at_this_voltage,
        access_ns=constants.access_time,
        access_bits=constants.access_time_bits,
        cell_tracks=constants.cell_tracks,
    )
