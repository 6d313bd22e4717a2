"""What a cubin says of its kernels: an ELF file with NVIDIA's records in ``.nv.info`` sections.

A record is a format byte, an attribute byte and a value (or the size of the value that follows).  Attributes by their
names in ``cuobjdump -elf``: the numbers were read from cubins of known kernels, of CUDA 12.4 and 13.5.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from warpreg.machine_code import elf
from warpreg.machine_code.elf import Relocation
from warpreg.machine_code.errors import MachineCodeError

FRAME_SIZE, REGCOUNT = 0x11, 0x2F
PARAM_CBANK, KPARAM_INFO, KPARAM_INFO_V2 = 0x0A, 0x17, 0x45
SIZED = 4
RECORD = struct.Struct("<BBH")
MACHINE = 190
"""Of NVIDIA's GPUs in the header of an ELF file."""
RELOCATABLE = 1
OLD_ABI = 7
"""Of CUDA 12: the architecture is the lowest byte of the header's flags, and later the one above it."""
ENTRY = 0x10
REFERENCES = {10: "texref", 11: "samplerref", 12: "surfref"}
"""Types of symbols (``STT_CUDA_TEXTURE`` and others), by what PTX calls the references."""
"""Flag of a symbol that is a kernel."""
CONSTANT, INITIAL, ZEROS = ".nv.constant", ".nv.global.init", ".nv.global"
TOOL = ".note.nv.tkinfo"
VERSION = re.compile(rb"V(\d+\.\d+)[\d.]*")


@dataclass(slots=True)
class KernelRecord:
    """``registers`` allocated per thread; ``frame_bytes`` of local memory; static ``shared_bytes``; where parameters
    begin in constant bank 0 (``parameter_base``); offset from there and bytes of each of the ``parameters``."""

    name: str
    registers: int = 0
    frame_bytes: int = 0
    shared_bytes: int = 0
    parameter_base: int = 0
    parameters: dict[int, tuple[int, int]] = field(default_factory=dict)
    is_entry: bool = False


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable: its section, byte offset in it, and bytes."""

    name: str
    section: str
    offset: int
    bytes: int


@dataclass(slots=True)
class Cubin:
    """``symbols`` by section; ``contents``: the bytes of sections of variables and constant banks by name;
    ``relocated``: the addresses that a section holds, by section and byte offset; ``architecture`` such as ``sm_80``;
    ``version``: the release of the tool that made it, empty if it does not say; ``references``: the type in PTX of
    each reference to a texture, sampler or surface, by its name."""

    kernels: dict[str, KernelRecord]
    symbols: dict[str, list[Symbol]]
    contents: dict[str, bytes]
    relocated: Mapping[str, Mapping[int, Relocation]]
    architecture: str = ""
    version: str = ""
    references: Mapping[str, str] = field(default_factory=dict)


def read(data: bytes, name: str = "cubin") -> Cubin:
    """The records of a cubin.  Raises MachineCodeError for a file that is none, is cut, or is not linked."""
    file = elf.read(data, name)
    if file.machine != MACHINE:
        raise MachineCodeError(f"{name}: no cubin: an ELF file for machine {file.machine}, expected {MACHINE}")
    if file.kind == RELOCATABLE:
        raise MachineCodeError(f"{name}: a relocatable cubin: link it first (nvcc -dlink -cubin)")
    number = file.flags & 0xFF if file.abi <= OLD_ABI else file.flags >> 8 & 0xFF
    try:
        return records(file, f"sm_{number}")
    except ValueError as error:
        raise elf.damaged(name, error) from error


def records(file: elf.Elf, architecture: str) -> Cubin:
    """The records of a file for an architecture.  Raises ValueError for damaged ones."""
    by_section: dict[str, list[Symbol]] = {}
    for one in file.symbols:
        if one.name and 0 < one.section < len(file.sections):
            place = file.sections[one.section].name
            by_section.setdefault(place, []).append(Symbol(one.name, place, one.offset, one.bytes))
    contents = {s.name: s.data for s in file.sections if s.name.startswith((CONSTANT, INITIAL))}
    references = {one.name: REFERENCES[one.kind] for one in file.symbols if one.kind in REFERENCES}
    version = _version(file.sections)
    return Cubin(_kernels(file), by_section, contents, file.relocations, architecture, version, references)


def _version(sections: tuple[elf.Section, ...]) -> str:
    found = next((VERSION.search(one.data) for one in sections if one.name == TOOL), None)
    return found[1].decode() if found else ""


def _kernels(file: elf.Elf) -> dict[str, KernelRecord]:
    code = [s.name.removeprefix(".text.") for s in file.sections if s.name.startswith(".text.")]
    kernels = {name: KernelRecord(name) for name in code}
    names = [one.name for one in file.symbols]
    for symbol in file.symbols:
        if symbol.name in kernels and symbol.other & ENTRY:
            kernels[symbol.name].is_entry = True
    for section in file.sections:
        if section.name == ".nv.info":
            _counts(section.data, names, kernels)
        elif record := kernels.get(section.name.removeprefix(".nv.info.")):
            _parameters(section.data, record)
        elif record := kernels.get(section.name.removeprefix(".nv.shared.")):
            record.shared_bytes = section.size
    return kernels


def _counts(data: bytes, names: list[str], kernels: dict[str, KernelRecord]) -> None:
    """Registers and frames, which name their kernel."""
    for attribute, value in _records(data):
        if attribute in (REGCOUNT, FRAME_SIZE):
            symbol, count = _fields("<II", attribute, value)
            record = kernels.get(elf.chosen(names, symbol, "a record names symbol"))
            if record and attribute == REGCOUNT:
                record.registers = count
            elif record:
                record.frame_bytes = count


def _parameters(data: bytes, record: KernelRecord) -> None:
    for attribute, value in _records(data):
        if attribute == PARAM_CBANK:
            _, record.parameter_base, _ = _fields("<IHH", attribute, value)
        elif attribute == KPARAM_INFO:
            _, number, offset, flags = _fields("<IHHI", attribute, value)
            record.parameters[number] = offset, flags >> 18
        elif attribute == KPARAM_INFO_V2:
            _, number, offset, size, _ = _fields("<IHHHH", attribute, value)
            record.parameters[number] = offset, size


def _fields(form: str, attribute: int, value: bytes) -> tuple[int, ...]:
    if len(value) != struct.calcsize(form):
        raise ValueError(f"record {attribute:#x} has {len(value)} bytes, expected {struct.calcsize(form)}")
    return struct.unpack(form, value)


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Attribute and value of each record; the value of a record without size is the two bytes after the attribute."""
    at = 0
    while at < len(data):
        kind, attribute, size = elf.unpacked(RECORD, data, at, "a record")
        value = data[at + 4 : at + 4 + size] if kind == SIZED else data[at + 2 : at + 4]
        yield attribute, value
        at += 4 + (size if kind == SIZED else 0)
