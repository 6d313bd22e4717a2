"""What a cubin says of its kernels: an ELF file with NVIDIA's records in ``.nv.info`` sections.

A record is a format byte, an attribute byte and a value (or the size of the value that follows).  Attributes by their
names in ``cuobjdump -elf``: the numbers were read from cubins of known kernels.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from warpreg.machine_code.errors import MachineCodeError

FRAME_SIZE, REGCOUNT = 0x11, 0x2F
PARAM_CBANK = 0x0A
SIZED = 4
SYMBOL = struct.Struct("<IBBHQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SYMBOL_TABLE, NO_BITS, RELOCATIONS, RELOCATIONS_WITH_ADDEND = 2, 8, 9, 4
CONSTANT = ".nv.constant"


@dataclass(slots=True)
class KernelRecord:
    """``registers`` allocated per thread; ``frame_bytes`` of local memory; static ``shared_bytes``; where parameters
    begin in constant bank 0 (``parameter_base``)."""

    name: str
    registers: int = 0
    frame_bytes: int = 0
    shared_bytes: int = 0
    parameter_base: int = 0


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable: its section, byte offset in it, and bytes."""

    name: str
    section: str
    offset: int
    bytes: int


@dataclass(slots=True)
class Cubin:
    """``symbols`` by section; ``constants``: the bytes of sections of constant banks by name; ``relocated``: names of
    symbols whose address a section holds, by section and byte offset."""

    kernels: dict[str, KernelRecord]
    symbols: dict[str, list[Symbol]]
    constants: dict[str, bytes]
    relocated: dict[str, dict[int, str]]


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    kind: int
    data: bytes
    size: int
    link: int
    info: int


def read(data: bytes, name: str = "cubin") -> Cubin:
    """The records of a cubin.  Raises MachineCodeError for a file that is none, or is cut."""
    if data[:4] != b"\x7fELF":
        raise MachineCodeError(f"{name}: no cubin: it does not begin with ELF")
    try:
        return _read(data)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise MachineCodeError(f"{name}: a damaged cubin: {error}") from error


def _read(data: bytes) -> Cubin:
    sections = _sections(data)
    names: list[str] = []
    symbols: list[tuple[int, ...]] = []
    by_section: dict[str, list[Symbol]] = {}
    for section in sections:
        if section.kind == SYMBOL_TABLE:
            symbols = [*SYMBOL.iter_unpack(section.data)]
            names = [_text(sections[section.link].data, entry[0]) for entry in symbols]
    for name, (_, _, _, index, value, size) in zip(names, symbols, strict=True):
        if name and 0 < index < len(sections):
            place = sections[index].name
            by_section.setdefault(place, []).append(Symbol(name, place, value, size))
    constants = {s.name: s.data for s in sections if s.name.startswith(CONSTANT)}
    return Cubin(_kernels(sections, names), by_section, constants, _relocated(sections, names))


def _sections(data: bytes) -> list[_Section]:
    header = HEADER.unpack_from(data)
    start, entry, count, strings = header[6], header[11], header[12], header[13]
    raw = [SECTION.unpack_from(data, start + entry * i) for i in range(count)]
    text = data[raw[strings][4] :][: raw[strings][5]]
    return [
        _Section(_text(text, s[0]), s[1], b"" if s[1] == NO_BITS else data[s[4] :][: s[5]], s[5], s[6], s[7])
        for s in raw
    ]


def _text(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode()


def _kernels(sections: list[_Section], names: list[str]) -> dict[str, KernelRecord]:
    code = [s.name.removeprefix(".text.") for s in sections if s.name.startswith(".text.")]
    found = {name: KernelRecord(name) for name in code}
    for section in sections:
        if section.name == ".nv.info":
            _counts(section.data, names, found)
        elif record := found.get(section.name.removeprefix(".nv.info.")):
            _parameters(section.data, record)
        elif record := found.get(section.name.removeprefix(".nv.shared.")):
            record.shared_bytes = section.size
    return found


def _counts(data: bytes, names: list[str], kernels: dict[str, KernelRecord]) -> None:
    """Registers and frames, which name their kernel."""
    for attribute, value in _records(data):
        if attribute in (REGCOUNT, FRAME_SIZE):
            symbol, count = struct.unpack("<II", value)
            record = kernels.get(names[symbol])
            if record and attribute == REGCOUNT:
                record.registers = count
            elif record:
                record.frame_bytes = count


def _parameters(data: bytes, record: KernelRecord) -> None:
    for attribute, value in _records(data):
        if attribute == PARAM_CBANK:
            _, record.parameter_base, _ = struct.unpack("<IHH", value)


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Attribute and value of each record; the value of a record without size is the two bytes after the attribute."""
    at = 0
    while at < len(data):
        kind, attribute, size = struct.unpack_from("<BBH", data, at)
        value = data[at + 4 : at + 4 + size] if kind == SIZED else data[at + 2 : at + 4]
        yield attribute, value
        at += 4 + (size if kind == SIZED else 0)


def _relocated(sections: list[_Section], names: list[str]) -> dict[str, dict[int, str]]:
    found: dict[str, dict[int, str]] = {}
    for section in sections:
        if section.kind in (RELOCATIONS, RELOCATIONS_WITH_ADDEND):
            entry = struct.Struct("<QQ" if section.kind == RELOCATIONS else "<QQQ")
            target = found.setdefault(sections[section.info].name, {})
            for offset, info, *_ in entry.iter_unpack(section.data):
                target[offset] = names[info >> 32]
    return found
