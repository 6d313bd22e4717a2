"""The sections of a whole listing of ``nvdisasm`` (without ``-c``), which prints them as directives of an assembler:

    .section .nv.info,"",@"SHT_CUDA_INFO"
    /*0000*/ .byte 0x04, 0x2f
    /*0002*/ .short (.L_3 - .L_2)
    /*0004*/ .word index@(add)

Numbers of symbols (``index@``) and differences of labels are resolved.  An address of 64 bits is a relocation, and so
is the handle of a texture (``[20@lo(0x0)=name]``); an address in the code (``@srel``), which no record that is read
has, is 0.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from warpreg.machine_code.cubin import CONSTANT, ENTRY, REFERENCES
from warpreg.machine_code.cubin import ZEROS as ZEROED
from warpreg.machine_code.elf import Elf, Relocation, Section, Symbol

SECTION = re.compile(r"\s*\.section\s+([^,\s]+)")
LABEL = re.compile(r"([.$\w]+):\s*$")
DATA = re.compile(r"\s*(?:/\*([0-9a-f]{4,})\*/)?\s+\.(byte|short|word|dword)\s+(.*?)\s*$")
ZEROS = re.compile(r"\s*\.zero\s+(\d+)")
SIZE = re.compile(r"\s*\.size\s+([^,\s]+),\s*\((\S+) - \S+\)")
KERNEL = re.compile(r'\s*\.other\s+([^,\s]+),\s*@"STO_CUDA_ENTRY')
INDEX = re.compile(r"index@\((.+)\)$")
REFERENCE = re.compile(r'\s*\.type\s+([^,\s]+),\s*@"STT_CUDA_(TEXTURE|SAMPLER|SURFACE)"')
HANDLE = re.compile(r"\[\d+@lo\((0x[0-9a-f]+)\)=(?:fun@\w+\()?([$.\w]+)\)?\]$")
DIFFERENCE = re.compile(r"\((\S+) - (\S+)\)$")
ADDRESS = re.compile(r"(?:fun@\w+\()?\(?([$.\w]+)(?: \+ (0x[0-9a-f]+)\))?\)?$")
WITH_DATA = (".nv.info", CONSTANT, ZEROED)
"""Beginnings of the names of sections whose data are read."""
BYTES = {"byte": 1, "short": 2, "word": 4, "dword": 8}


@dataclass(slots=True)
class _Part:
    """A section: its ``data``, and the values in it that are not numbers: byte, bytes, text."""

    name: str
    data: bytearray = field(default_factory=bytearray)
    open: list[tuple[int, int, str]] = field(default_factory=list)


def read(text: str) -> Elf | None:
    """What a listing says of the file besides code; None for one without records.

    Raises ValueError for damaged directives.
    """
    found = _Reader()
    for line in text.splitlines():
        found.line(line)
    names = [part.name for part in found.parts]
    return found.elf() if any(name.startswith(".nv.info") for name in names) else None


class _Reader:
    def __init__(self) -> None:
        self.parts: list[_Part] = [_Part("")]
        self.places: dict[str, tuple[int, int]] = {}
        self.ends: dict[str, str] = {}
        self.kernels: set[str] = set()
        self.kinds: dict[str, int] = {}

    def line(self, line: str) -> None:
        """Directives that do not place data, and instructions, are passed over."""
        part = self.parts[-1]
        if match := SECTION.match(line):
            self.parts.append(_Part(match[1]))
        elif match := LABEL.match(line):
            self.places[match[1]] = len(self.parts) - 1, len(part.data)
        elif match := ZEROS.match(line):
            part.data += bytes(int(match[1]))
        elif match := SIZE.match(line):
            self.ends[match[1]] = match[2]
        elif match := KERNEL.match(line):
            self.kernels.add(match[1])
        elif match := REFERENCE.match(line):
            self.kinds[match[1]] = next(n for n, name in REFERENCES.items() if match[2].lower()[:3] == name[:3])
        elif part.name.startswith(WITH_DATA) and (match := DATA.match(line)):
            self._data(part, match)

    def _data(self, part: _Part, match: re.Match[str]) -> None:
        at = len(part.data)
        if match[1] and int(match[1], 16) != at:
            raise ValueError(f"{part.name}: data at {match[1]} where {at:#x} follows")
        size = BYTES[match[2]]
        for value in match[3].split(", "):
            is_number = value.startswith("0x")
            if not is_number:
                part.open.append((len(part.data), size, value))
            part.data += (int(value, 16) if is_number else 0).to_bytes(size, "little")

    def elf(self) -> Elf:
        names = sorted(
            {*self.ends, *self.kernels, *self.kinds, *(name for part in self.parts for name in _indexed(part))}
        )
        numbers = {name: number for number, name in enumerate(names)}
        relocations: dict[str, dict[int, Relocation]] = defaultdict(dict)
        for part in self.parts:
            for at, size, value in part.open:
                if handle := HANDLE.match(value):
                    relocations[part.name][at] = Relocation(handle[2], int(handle[1], 16))
                elif size == BYTES["dword"]:
                    relocations[part.name][at] = _relocation(value)
                else:
                    part.data[at : at + size] = self._value(value, numbers).to_bytes(size, "little")
        sections = tuple(Section(p.name, 0, bytes(p.data), len(p.data), 0, 0) for p in self.parts)
        return Elf(0, 0, 0, 0, sections, tuple(map(self._symbol, names)), relocations)

    def _value(self, text: str, numbers: dict[str, int]) -> int:
        if match := INDEX.match(text):
            return numbers[match[1]]
        if text.endswith("@srel"):
            return 0
        match = DIFFERENCE.match(text)
        if match is None or match[1] not in self.places or match[2] not in self.places:
            raise ValueError(f"'{text}' is no known value")
        return max(0, self.places[match[1]][1] - self.places[match[2]][1])

    def _symbol(self, name: str) -> Symbol:
        section, at = self.places.get(name, (0, 0))
        _, end = self.places.get(self.ends.get(name, ""), (0, at))
        flags = ENTRY if name in self.kernels else 0
        return Symbol(name, section, at, max(0, end - at), flags, self.kinds.get(name, 0))


def _indexed(part: _Part) -> list[str]:
    return [found[1] for _, _, value in part.open if (found := INDEX.match(value))]


def _relocation(text: str) -> Relocation:
    """A symbol, or ``fun@R_CUDA_G64((symbol + 0x4))``."""
    found = ADDRESS.match(text)
    if found is None:
        raise ValueError(f"'{text}' is no known address")
    return Relocation(found[1], int(found[2] or "0", 16))
