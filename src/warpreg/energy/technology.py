"""A technology as data: one TOML file each under ``technologies/``, read into :class:`Technology`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from warpreg.energy.array import ArrayModel
from warpreg.energy.chip import ChipPower
from warpreg.energy.errors import TechnologyError
from warpreg.energy.fit import fitted, kinds_of
from warpreg.energy.scaling import OperatingPoint
from warpreg.energy.sections import Check, Level, PrintedLogic, PrintedTable, Process, Wire
from warpreg.gpu import sourced
from warpreg.gpu.sourced import Document, Origin

FOLDER = Path(__file__).parent / "technologies"
SECTIONS = ("title", "process", "wire", "level", "table", "logic", "model", "check", "chip")


@dataclass(frozen=True)
class Technology:
    """A process with its levels, tables, logic, wires, array model and chip."""

    name: str
    title: str
    process: Process
    wire: Wire
    levels: Mapping[str, Level] = field(compare=False, repr=False)
    tables: Mapping[str, PrintedTable] = field(compare=False, repr=False)
    logic: Mapping[str, PrintedLogic] = field(compare=False, repr=False)
    arrays: ArrayModel = field(compare=False, repr=False)
    checks: Mapping[str, Check] = field(compare=False, repr=False)
    """Printed points that the array model is compared with."""
    chip: ChipPower
    origins: Mapping[str, Origin] = field(compare=False, repr=False)
    """The source of each number by dotted key."""
    digest: str
    """Identifies the content."""

    @property
    def point(self) -> OperatingPoint:
        """Node and voltage."""
        return OperatingPoint(self.process.node, self.process.voltage)

    def ends(self) -> tuple[Technology, Technology] | None:
        """The technology with the least and with the greatest distances of its levels; None if none has a band."""
        if all(level.band is None for level in self.levels.values()):
            return None
        return self._end(0), self._end(1)

    def _end(self, place: int) -> Technology:
        levels = {
            name: level
            if level.band is None
            else replace(level, private=level.band[place], shared=None if level.shared is None else level.band[place])
            for name, level in self.levels.items()
        }
        return replace(self, levels=levels)


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
    document.only(SECTIONS)
    process = document.section("process", Process)
    levels = {name: _level(document, name, process) for name in document.keys("level")}
    return Technology(
        name=document.path.stem,
        title=document.text("title"),
        process=process,
        wire=document.section("wire", Wire),
        levels=levels,
        tables={name: document.section(f"table.{name}", PrintedTable) for name in document.keys("table")},
        logic={name: _logic(document, name) for name in document.keys("logic")},
        arrays=fitted(document, process, levels),
        checks={name: _check(document, name) for name in document.keys("check")},
        chip=document.section("chip", ChipPower),
        origins=document.origins,
        digest=document.digest,
    )


def _level(document: Document, name: str, process: Process) -> Level:
    level = document.section(f"level.{name}", Level)
    _expect_kind(document, f"level.{name}.array", level.array)
    for key, values in (("read", level.read), ("write", level.write)):
        if len(values) != len(level.entries):
            expected = f"{len(level.entries)} values, one for each of entries"
            raise document.refusal(f"level.{name}.{key}", expected, str(len(values)))
    if level.band is not None and (len(level.band) != 2 or not level.band[0] <= level.private <= level.band[1]):
        expected = f"two distances around that to the private datapath, {level.private:g} mm"
        raise document.refusal(f"level.{name}.band", expected, str(list(level.band)))
    if process.access % level.word:
        expected = f"a divisor of the access of {process.access} bits"
        raise document.refusal(f"level.{name}.word", expected, str(level.word))
    return level


def _logic(document: Document, name: str) -> PrintedLogic:
    logic = document.section(f"logic.{name}", PrintedLogic)
    if logic.energy is None and logic.power is None:
        raise document.refusal(f"logic.{name}", "an energy, a power or both", "neither")
    return logic


def _check(document: Document, name: str) -> Check:
    check = document.section(f"check.{name}", Check)
    _expect_kind(document, f"check.{name}.array", check.array)
    return check


def _expect_kind(document: Document, key: str, kind: str) -> None:
    if kind not in (kinds := kinds_of(document)):
        raise document.refusal(key, f"one of {', '.join(kinds)}", f"'{kind}'")
