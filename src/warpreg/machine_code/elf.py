"""Sections, symbols and relocations of an ELF file of 64 bits, as far as cubins have them."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from warpreg.machine_code.errors import MachineCodeError

MAGIC = b"\x7fELF"
SYMBOL = struct.Struct("<IBBHQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SYMBOL_TABLE, NO_BITS, RELOCATIONS, RELOCATIONS_WITH_ADDEND = 2, 8, 9, 4


@dataclass(frozen=True, slots=True)
class Section:
    """``size`` is that in memory: a section without bits has no ``data``."""

    name: str
    kind: int
    data: bytes
    size: int
    link: int
    info: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name for ``bytes`` at an ``offset`` in a section, by its number; ``other`` are flags of the machine."""

    name: str
    section: int
    offset: int
    bytes: int
    other: int


@dataclass(frozen=True, slots=True)
class Relocation:
    """The address of a symbol plus ``addend``."""

    symbol: str
    addend: int


@dataclass(frozen=True, slots=True)
class Elf:
    """``abi`` is the byte of the ABI's version, ``kind`` that of the file (executable, relocatable)."""

    abi: int
    kind: int
    machine: int
    flags: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]

    def relocations(self) -> dict[str, dict[int, Relocation]]:
        """By name of the section that they change and byte offset in it."""
        found: dict[str, dict[int, Relocation]] = {}
        for section in self.sections:
            if section.kind not in (RELOCATIONS, RELOCATIONS_WITH_ADDEND):
                continue
            changed = self.sections[section.info]
            target = found.setdefault(changed.name, {})
            entry = struct.Struct("<QQ" if section.kind == RELOCATIONS else "<QQq")
            for offset, info, *given in entry.iter_unpack(section.data):
                addend = given[0] if given else int.from_bytes(changed.data[offset : offset + 8], "little", signed=True)
                target[offset] = Relocation(self.symbols[info >> 32].name, addend)
        return found


def read(data: bytes, name: str) -> Elf:
    """Raises MachineCodeError for a file that is none, or is cut."""
    if data[:4] != MAGIC:
        raise MachineCodeError(f"{name}: no cubin: it does not begin with ELF")
    try:
        return _read(data)
    except (struct.error, IndexError, ValueError) as error:
        raise MachineCodeError(f"{name}: a damaged cubin: {error}") from error


def _read(data: bytes) -> Elf:
    identity, kind, machine, _, _, _, start, flags, _, _, _, entry, count, strings = HEADER.unpack_from(data)
    raw = [SECTION.unpack_from(data, start + entry * number) for number in range(count)]
    text = data[raw[strings][4] :][: raw[strings][5]]
    sections = tuple(_section(data, text, one) for one in raw)
    tables = [one for one in sections if one.kind == SYMBOL_TABLE]
    symbols = [
        Symbol(_text(sections[table.link].data, named), section, value, size, other)
        for table in tables
        for named, _, other, section, value, size in SYMBOL.iter_unpack(table.data)
    ]
    return Elf(identity[8], kind, machine, flags, sections, tuple(symbols))


def _section(data: bytes, text: bytes, raw: tuple[int, ...]) -> Section:
    name, kind, offset, size = _text(text, raw[0]), raw[1], raw[4], raw[5]
    if kind != NO_BITS and offset + size > len(data):
        raise ValueError(f"section {name} ends at byte {offset + size} of {len(data)}")
    return Section(name, kind, b"" if kind == NO_BITS else data[offset : offset + size], size, raw[6], raw[7])


def _text(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode()
