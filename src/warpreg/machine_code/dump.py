"""The records in the text of ``cuobjdump -elf``, which it prints in words:

    Attribute:	EIATTR_REGCOUNT
    Format:	EIFMT_SVAL
    Value:	function: add(0x35)	register count: 12

A section begins with its name, variables have their contents in words of 32 bits, and ``-sass`` beside ``-elf`` adds
the listing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from warpreg.machine_code.cubin import CONSTANT, INITIAL, Cubin, KernelRecord, Symbol
from warpreg.machine_code.elf import Relocation

FILE = re.compile(r"\d\d-bit ELF: .*\bsm=(\d+)(?:.*\btoolkit=([\d.]+))?")
SECTION_ROW = re.compile(r"\s*([0-9a-f]+)\s+[0-9a-f]+\s+[0-9a-f]+\s+[0-9a-f]+\s+[0-9a-f]+\s+[A-Z]\w+\s.*\s(\S+)$")
SYMBOL_ROW = re.compile(
    r"\s*(?:0x)?[0-9a-f]+\s+(?:0x)?([0-9a-f]+)\s+(?:0x)?([0-9a-f]+)\s+[A-Z]+\s+[A-Z]+\s+[A-Z]+\s+(\S+)\s+0x([0-9a-f]+)\s+(\S+)$"
)
HEADER = re.compile(r"(?:\.section )?(\.\S+)")
WORDS = re.compile(r"(?:0x[0-9a-f]{8} *)+$")
RELOCATION = re.compile(r"0x([0-9a-f]+)\s+(\S+)\s+R_CUDA_\w+(?:\s+0x([0-9a-f]+))?")
SHARED = re.compile(r"lmem=\d+\s+smem=(\d+)")
REGISTERS = re.compile(r"\s*Value:\s+function: (.*)\(0x[0-9a-f]+\)\s+register count: (\d+)")
FRAME = re.compile(r"\s*Value:\s+function: (.*)\(0x[0-9a-f]+\)\s+frame size: 0x([0-9a-f]+)")
PARAMETER = re.compile(r".*Ordinal : 0x([0-9a-f]+)\s+Offset\s*: 0x([0-9a-f]+)\s+Size\s*: 0x([0-9a-f]+)")
ATTRIBUTE = re.compile(r"\s*Attribute:\s+(\w+)")
BASE = re.compile(r"\s*Value:\s+0x[0-9a-f]+ 0x([0-9a-f]+)\s*$")
"""Number of the bank's symbol, then bytes of all parameters (upper half) and where they begin (lower half)."""
INFO, CODE = ".nv.info.", ".text."


def read(text: str) -> dict[str, Cubin]:
    """The records of each architecture; none for a text without them."""
    lines = text.splitlines()
    starts = [at for at, line in enumerate(lines) if FILE.match(line)]
    parts = (_Reader(lines[at:end]).cubin for at, end in pairwise([*starts, len(lines)]))
    return {one.architecture: one for one in parts}


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        match = FILE.match(lines[0])
        assert match
        self.sections: dict[int, str] = {}
        self.kernels: dict[str, KernelRecord] = {}
        self.symbols: dict[str, list[Symbol]] = defaultdict(list)
        self.contents: dict[str, bytes] = defaultdict(bytes)
        self.relocated: dict[str, dict[int, Relocation]] = defaultdict(dict)
        self.attribute = ""
        for section, line in _in_sections(lines[1:]):
            self._line(section, line)
        self.cubin = Cubin(self.kernels, self.symbols, self.contents, self.relocated, f"sm_{match[1]}", match[2] or "")

    def _line(self, section: str, line: str) -> None:
        if not section:
            self._row(line)
        elif section == ".symtab":
            self._symbol(line)
        elif section.startswith((CONSTANT, INITIAL)) and WORDS.match(line):
            self.contents[section] += b"".join(int(word, 16).to_bytes(4, "little") for word in line.split())
        elif section.startswith(".rel") and (match := RELOCATION.match(line)):
            changed = "." + section.split(".", 2)[2]
            self.relocated[changed][int(match[1], 16)] = Relocation(match[2], int(match[3] or "0", 16))
        elif section == ".nv.info":
            self._count(line)
        elif record := self.kernels.get(section.removeprefix(INFO)):
            self._parameter(record, line)
        elif (record := self.kernels.get(section.removeprefix(CODE))) and (match := SHARED.match(line)):
            record.shared_bytes = int(match[1])

    def _row(self, line: str) -> None:
        """A row of the section table."""
        if found := SECTION_ROW.match(line):
            name = self.sections[int(found[1], 16)] = found[2]
            if name.startswith(CODE):
                self.kernels[name.removeprefix(CODE)] = KernelRecord(name.removeprefix(CODE))

    def _symbol(self, line: str) -> None:
        if found := SYMBOL_ROW.match(line):
            place = self.sections.get(int(found[4], 16), "")
            self.symbols[place].append(Symbol(found[5], place, int(found[1], 16), int(found[2], 16)))
            if found[3] == "ENTRY" and found[5] in self.kernels:
                self.kernels[found[5]].is_entry = True

    def _count(self, line: str) -> None:
        if (found := REGISTERS.match(line)) and found[1] in self.kernels:
            self.kernels[found[1]].registers = int(found[2])
        elif (found := FRAME.match(line)) and found[1] in self.kernels:
            self.kernels[found[1]].frame_bytes = int(found[2], 16)

    def _parameter(self, record: KernelRecord, line: str) -> None:
        if match := ATTRIBUTE.match(line):
            self.attribute = match[1]
        elif match := PARAMETER.match(line):
            number, offset, size = (int(one, 16) for one in match.groups())
            record.parameters[number] = offset, size
        elif self.attribute == "EIATTR_PARAM_CBANK" and (match := BASE.match(line)):
            record.parameter_base = int(match[1], 16) & 0xFFFF


def _in_sections(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Lines with the section that they belong to, empty before the first one."""
    section = ""
    for line in lines:
        if found := HEADER.match(line):
            section = found[1]
        else:
            yield section, line
