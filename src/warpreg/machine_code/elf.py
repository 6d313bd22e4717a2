"""Sections, symbols and relocations of an ELF file of 64 bits, as far as cubins have them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from warpreg.machine_code.errors import MachineCodeError

MAGIC = b"\x7fELF"
SYMBOL = struct.Struct("<IBBHQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
BITS_64_LITTLE_ENDIAN = (2, 1)
SYMBOL_TABLE, NO_BITS, RELOCATIONS, RELOCATIONS_WITH_ADDEND = 2, 8, 9, 4
Row = TypeVar("Row")


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
    """A name for ``bytes`` at an ``offset`` in a section, by its number; ``kind`` is its type, ``other`` are flags of
    the machine."""

    name: str
    section: int
    offset: int
    bytes: int
    other: int
    kind: int = 0


@dataclass(frozen=True, slots=True)
class Relocation:
    """The address of a symbol plus ``addend``."""

    symbol: str
    addend: int


@dataclass(frozen=True, slots=True)
class Elf:
    """``abi`` is the byte of the ABI's version, ``kind`` that of the file (executable, relocatable); ``relocations`` by
    name of the section that they change and byte offset in it."""

    abi: int
    kind: int
    machine: int
    flags: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    relocations: Mapping[str, Mapping[int, Relocation]]


def read(data: bytes, name: str) -> Elf:
    """Raises MachineCodeError for a file that is none, is of another class, or is cut."""
    if data[:4] != MAGIC:
        raise MachineCodeError(f"{name}: no cubin: it {'does not begin with ELF' if data else 'is empty'}")
    try:
        return _read(data)
    except ValueError as error:
        raise damaged(name, error) from error


def damaged(name: str, error: ValueError) -> MachineCodeError:
    """The error for a file whose tables cannot be read."""
    what = "a name is no text" if isinstance(error, UnicodeDecodeError) else str(error)
    return MachineCodeError(f"{name}: a damaged cubin: {what}")


def unpacked(form: struct.Struct, data: bytes, at: int, what: str) -> tuple[Any, ...]:
    """The fields at a byte.  Raises ValueError if the data end before."""
    if at + form.size > len(data):
        raise ValueError(f"{what} ends at byte {at + form.size} of {len(data)}")
    return form.unpack_from(data, at)


def chosen(table: Sequence[Row], number: int, what: str) -> Row:
    """A row of a table.  Raises ValueError if there is none of that number."""
    if number >= len(table):
        raise ValueError(f"{what} {number} of {len(table)}")
    return table[number]


def _read(data: bytes) -> Elf:
    identity, kind, machine, _, _, _, start, flags, _, _, _, entry, count, strings = unpacked(
        HEADER, data, 0, "the header"
    )
    if tuple(identity[4:6]) != BITS_64_LITTLE_ENDIAN:
        raise ValueError(f"class and order of bytes are {identity[4]} and {identity[5]}, expected 2 and 1")
    raw = [unpacked(SECTION, data, start + entry * n, f"entry {n} of the section table") for n in range(count)]
    named = chosen(raw, strings, "the header names section")
    text = data[named[4] : named[4] + named[5]]
    sections = tuple(_section(data, text, one) for one in raw)
    symbols = tuple(
        Symbol(
            _text(chosen(sections, table.link, "a table names section").data, name),
            section,
            value,
            size,
            other,
            info & 15,
        )
        for table in sections
        if table.kind == SYMBOL_TABLE
        for name, info, other, section, value, size in _rows(SYMBOL, table)
    )
    return Elf(identity[8], kind, machine, flags, sections, symbols, _relocations(sections, symbols))


def _relocations(sections: Sequence[Section], symbols: Sequence[Symbol]) -> dict[str, dict[int, Relocation]]:
    relocations: dict[str, dict[int, Relocation]] = {}
    for section in sections:
        if section.kind not in (RELOCATIONS, RELOCATIONS_WITH_ADDEND):
            continue
        changed = chosen(sections, section.info, f"{section.name} changes section")
        target = relocations.setdefault(changed.name, {})
        entry = struct.Struct("<QQ" if section.kind == RELOCATIONS else "<QQq")
        for offset, info, *given in _rows(entry, section):
            addend = given[0] if given else int.from_bytes(changed.data[offset : offset + 8], "little", signed=True)
            symbol = chosen(symbols, info >> 32, f"{section.name} names symbol")
            target[offset] = Relocation(symbol.name, addend)
    return relocations


def _rows(form: struct.Struct, section: Section) -> Iterator[tuple[Any, ...]]:
    if len(section.data) % form.size:
        raise ValueError(f"{section.name} has {len(section.data)} bytes, no multiple of {form.size}")
    return form.iter_unpack(section.data)


def _section(data: bytes, text: bytes, raw: tuple[int, ...]) -> Section:
    name, kind, offset, size = _text(text, raw[0]), raw[1], raw[4], raw[5]
    if kind != NO_BITS and offset + size > len(data):
        raise ValueError(f"section {name} ends at byte {offset + size} of {len(data)}")
    return Section(name, kind, b"" if kind == NO_BITS else data[offset : offset + size], size, raw[6], raw[7])


def _text(table: bytes, offset: int) -> str:
    end = table.find(b"\0", offset)
    if end < 0:
        raise ValueError(f"a name begins at byte {offset} of a table of {len(table)}, and does not end")
    return table[offset:end].decode()
