"""From the text of ``nvdisasm -c -hex`` to instructions: address, guard, opcode with modifiers, operands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tests.machine_code.reference.operands import Operand, operand

SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+)")
LABEL = re.compile(r"([^\s:]+):\s*$")
LINE = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*(?:/\* 0x([0-9a-f]{16}) \*/)?")
TARGETS = re.compile(r'\(\*"BRANCH_TARGETS.*?"\*\)')
GUARD = re.compile(r"@(!?)(U?P[0-9T])\s+(.*)")
APART = re.compile(r",(?![^{\[]*[}\]])|\s+(?=[-`0])")
"""Between operands: commas outside of braces, and the space in front of a target."""

BYTES = 16


class UnknownCode(Exception):
    """The interpreter has no meaning for an instruction."""


@dataclass(frozen=True)
class Instruction:
    """``encoding`` is the lower half, which holds the immediate in its upper 32 bits."""

    address: int
    text: str
    guard: Operand | None
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    encoding: int = 0

    def has(self, *modifiers: str) -> bool:
        return any(m in self.modifiers for m in modifiers)

    def one_of(self, among: dict[str, str], otherwise: str) -> str:
        """The value of the modifier that is a key of ``among``."""
        return next((among[m] for m in self.modifiers if m in among), otherwise)

    def unknown(self, why: str = "") -> UnknownCode:
        return UnknownCode(f"{self.text}{': ' if why else ''}{why}")


@dataclass
class Function:
    """Instructions by address, and addresses by label."""

    name: str
    code: dict[int, Instruction] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)


def read(text: str) -> dict[str, Function]:
    """The functions of a listing by name."""
    found: dict[str, Function] = {}
    function = Function("")
    pending: list[str] = []
    for line in text.splitlines():
        if section := SECTION.match(line):
            function = found.setdefault(section[1], Function(section[1], labels={section[1]: 0}))
            pending = []
        elif label := LABEL.match(line):
            pending.append(label[1])
        elif match := LINE.match(TARGETS.sub("", line)):
            one = instruction(int(match[1], 16), match[2], int(match[3] or "0", 16))
            function.code[one.address] = one
            function.labels.update(dict.fromkeys(pending, one.address))
            pending = []
    return found


def instruction(address: int, text: str, encoding: int = 0) -> Instruction:
    guard = None
    rest = text
    if match := GUARD.match(text):
        guard, rest = operand(match[1] + match[2]), match[3]
    name, _, listed = rest.partition(" ")
    opcode, *modifiers = name.split(".")
    parts = [part.strip() for part in APART.split(listed.strip())] if listed.strip() else []
    operands = tuple(operand(part, encoding >> 32) for part in parts if part)
    return Instruction(address, text, guard, opcode, tuple(modifiers), operands, encoding)
