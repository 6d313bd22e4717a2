"""Where branches and calls of a function lead."""

from __future__ import annotations

import re

from warpreg.ir.errors import Location, UnsupportedError
from warpreg.ir.opcodes import Flow
from warpreg.machine_code.code import Code
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.flow import Targets, base, flow_of, position
from warpreg.machine_code.listing import ListedInstruction
from warpreg.machine_code.operands import JUMP_TABLE

REGISTER = re.compile(r"U?R\d")
LABEL = re.compile(r"`\(([^)]*)\)")


def without_padding(listed: list[ListedInstruction]) -> list[ListedInstruction]:
    """The code up to the branch to itself and the NOPs that fill the section."""
    end = len(listed)
    while end and base(listed[end - 1]) == "NOP":
        end -= 1
    return listed[:end]


def targets(code: Code, listed: list[ListedInstruction]) -> Targets:
    """The targets of all branches and calls.

    Raises MachineCodeError for a target outside of the function, UnsupportedError for a call through a register.
    """
    direct, tables = {}, {}
    outside = set()
    for at, one in enumerate(listed):
        if base(one) == "BRX":
            tables[at] = _table(code, one, listed)
        elif flow_of(one) is Flow.BRANCH or base(one) == "BSSY":
            address = _target(code, one)
            if address is None:
                outside.add(at)
            else:
                direct[at] = position(address, listed, code.place(one))
    return Targets(direct, tables, frozenset(outside))


def _table(code: Code, one: ListedInstruction, listed: list[ListedInstruction]) -> tuple[int, ...]:
    """The positions that a jump table names, each one once."""
    match = JUMP_TABLE.search(one.operands)
    if not match:
        raise MachineCodeError(f"{code.place(one)}: BRX without its targets")
    found = (position(code.label(name, one), listed, code.place(one)) for name in match[1].split(","))
    return tuple(dict.fromkeys(found))


def _target(code: Code, one: ListedInstruction) -> int | None:
    """The address to which a branch or call leads; None for a call of a function outside of the code."""
    name = LABEL.search(one.operands)
    if "ABS" in one.opcode and not name:
        return None
    if base(one) == "CALL" and REGISTER.match(one.operands):
        place = Location(code.file, one.line)
        raise UnsupportedError(one.opcode, place, "calls an address in a register, which is not supported")
    labels = code.function.labels | {code.function.name: 0}
    address = labels.get(name[1]) if name else _number(one)
    if address is None:
        raise MachineCodeError(f"{code.place(one)}: no target '{one.operands}' in the function")
    return address


def _number(one: ListedInstruction) -> int | None:
    """The target of a branch in text without labels: the last operand is an address."""
    found = re.search(r"0x([0-9a-f]+)$", one.operands)
    return int(found[1], 16) if found else None
