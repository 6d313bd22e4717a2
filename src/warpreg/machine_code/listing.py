"""Text of a disassembly to lines: sections, labels, instructions with their encodings.

``nvdisasm -c -hex`` and ``cuobjdump -sass`` print an instruction of sm_70 or later as

    /*0090*/   @P0 IMAD.WIDE R2, R6.reuse, R7, c[0x0][0x160] ;   /* 0x0000580006027625 */
                                                                 /* 0x0c0fe400078e0207 */

with the lower 64 bits beside the instruction and the upper ones on the next line; without ``-hex``, no encoding.
``nvdisasm`` prints a section per function (``.section .text.NAME``) with its registers, and labels, ``cuobjdump``
neither, but the code of several architectures, one after the other (``code for sm_80``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from warpreg.ir.control_code import ControlCode
from warpreg.machine_code.errors import MachineCodeError

INSTRUCTION_BYTES = 16
SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+)")
FUNCTION = re.compile(r"\s*Function : (\S+)")
TARGET = re.compile(r"\s*\.target\s+(sm_\w+)|.*?EF_CUDA_SM(\d+)")
PART = re.compile(r"\s*code for (sm_\w+)")
REGISTERS = re.compile(r'.*"SHI_REGISTERS=(\d+)"')
LABEL = re.compile(r"([.$\w]+):\s*$")
ADDRESS = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+([^.\s].*)$")
"""An instruction; data of other sections, which ``nvdisasm`` prints without ``-c``, begin with a point."""
STATEMENT = re.compile(r"(?:@(!?U?P[T0-9])\s+)?([A-Z][\w.]*)\s*(.*?)\s*$")
LOWER = re.compile(r"\s*/\* 0x([0-9a-f]{8})[0-9a-f]{8} \*/")
ENCODING = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
SOURCE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')


@dataclass(frozen=True, slots=True)
class ListedInstruction:
    """One instruction: byte ``address`` in its section, guard text without ``@``, opcode with modifiers, operand text.

    ``line`` is its line in the listing, ``source`` the last source line before it (file, line) if the listing has any.
    ``immediate`` are the 32 bits that its encoding has for a constant.
    """

    address: int
    guard: str
    opcode: str
    operands: str
    line: int
    control: ControlCode | None = None
    source: tuple[str, int] | None = None
    immediate: int | None = None


@dataclass(slots=True)
class Function:
    """The code of a section: instructions in order of address, the address of each label, and the registers of a
    thread, 0 if the text does not say them."""

    name: str
    registers: int = 0
    instructions: list[ListedInstruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Listing:
    """Functions by name, and the architecture (``sm_80``), empty if the text does not name it."""

    architecture: str = ""
    functions: dict[str, Function] = field(default_factory=dict)


def parse(text: str, name: str = "listing") -> Listing:
    """The functions of a disassembly, those of the first architecture if there are several.  Raises MachineCodeError
    with ``name:line`` for text that is cut or damaged."""
    return parse_all(text, name)[0]


def parse_all(text: str, name: str = "listing") -> list[Listing]:
    """The functions of each architecture.  Raises like `parse`."""
    return _Reader(name).read(text)


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.listing = Listing()
        self.parts = {"": self.listing}
        self.function: Function | None = None
        self.waiting: list[str] = []
        self.source: tuple[str, int] | None = None

    def read(self, text: str) -> list[Listing]:
        lines = text.splitlines()
        number = 0
        while number < len(lines):
            line = lines[number]
            if found := ADDRESS.match(line):
                upper = ENCODING.match(lines[number + 1]) if number + 1 < len(lines) else None
                self._instruction(found, upper, number + 1)
                number += 1 if upper else 0
            else:
                self._other(line)
            number += 1
        listings = [one for one in self.parts.values() if one.functions]
        if not listings:
            raise MachineCodeError(f"{self.name}: no function; expected text of nvdisasm -c or cuobjdump -sass")
        for function in (one for listing in listings for one in listing.functions.values()):
            if not function.instructions:
                raise MachineCodeError(f"{self.name}: function {function.name} has no instructions")
        return listings

    def _other(self, line: str) -> None:
        """Sections, functions, labels and source lines; anything else says nothing about the code."""
        if match := SECTION.match(line) or FUNCTION.match(line):
            self.function = self.listing.functions.setdefault(match[1], Function(match[1]))
            self.waiting, self.source = [], None
        elif match := LABEL.match(line):
            self.waiting.append(match[1])
        elif match := SOURCE.match(line):
            self.source = match[1], int(match[2])
        elif match := PART.match(line):
            self._part(match[1])
        elif self.function and (match := REGISTERS.match(line)):
            self.function.registers = int(match[1])
        elif not self.listing.architecture and (match := TARGET.match(line)):
            self.listing.architecture = match[1] or f"sm_{match[2]}"

    def _part(self, architecture: str) -> None:
        """What follows is for that architecture."""
        self.listing = self.parts.setdefault(architecture, Listing(architecture))
        self.function = None

    def _instruction(self, match: re.Match[str], upper: re.Match[str] | None, line: int) -> None:
        place = f"{self.name}:{line}"
        if self.function is None:
            raise MachineCodeError(f"{place}: an instruction before the first function")
        code, semicolon, rest = match[2].partition(";")
        statement = STATEMENT.fullmatch(code.strip())
        if not semicolon or statement is None:
            raise MachineCodeError(f"{place}: '{match[2].strip()[:60]}' is no whole instruction (NAME operands ;)")
        address = int(match[1], 16)
        expected = INSTRUCTION_BYTES * len(self.function.instructions)
        if address != expected:
            raise MachineCodeError(f"{place}: address {address:#x} where {expected:#x} follows; lines are missing")
        if rest.strip() and upper is None:
            raise MachineCodeError(f"{place}: the upper half of the encoding is missing")
        self.function.labels |= dict.fromkeys(self.waiting, address)
        self.waiting = []
        control = ControlCode.decoded(int(upper[1], 16)) if upper else None
        guard, opcode, operands = statement[1] or "", statement[2], statement[3]
        lower = LOWER.match(rest)
        immediate = int(lower[1], 16) if lower else None
        listed = ListedInstruction(address, guard, opcode, operands, line, control, self.source, immediate)
        self.function.instructions.append(listed)
