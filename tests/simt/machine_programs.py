"""Machine-code kernels built by hand: control flow and memory of machine code, arithmetic of PTX on its registers.

Instructions are written as in a listing without commas between modifiers, for example ``i("BSSY", B(0), "meet")``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Block, Kernel, Parameter
from warpreg.ir.module import Module
from warpreg.ir.operands import Address, ConstantBank, Immediate, Label, Operand, Register, Sink, Special
from warpreg.ir.types import B32, B64, PRED, TYPES
from warpreg.ptx import parse
from warpreg.simt import Device, Record
from warpreg.simt.launch.launch import Launch

PARAMETERS = 0x160
ENDS = frozenset("BRA BRX CALL RET EXIT BSYNC BREAK WARPSYNC BAR YIELD".split())
NO_RESULT = ENDS | frozenset("STG STS STL ST RED NOP MEMBAR".split())

TID = Special("%tid.x")
LANE = Special("%laneid")


def R(index: int, bits: int = 32) -> Register:  # noqa: N802
    return Register(f"R{index}", TYPES[f"b{bits}"], index)


def UR(index: int, bits: int = 32) -> Register:  # noqa: N802
    return Register(f"UR{index}", TYPES[f"b{bits}"], index)


def P(index: int) -> Register:  # noqa: N802
    return Register(f"P{index}", PRED, index)


def B(index: int) -> Register:  # noqa: N802
    return Register(f"B{index}", B32, index)


def parameter(number: int, bits: int = 64) -> ConstantBank:
    """The word of a parameter; all parameters have 8 bytes."""
    return ConstantBank(0, PARAMETERS + 8 * number, TYPES[f"b{bits}"])


def at(base: Register | Immediate, offset: int = 0, uniform: Register | None = None, scale: int = 1) -> Address:
    return Address(base, offset, uniform, scale)


@dataclass(frozen=True)
class Line:
    """A label, or an instruction whose labels are text."""

    label: str = ""
    instruction: Instruction | None = None


def i(
    opcode: str, *operands: Operand | int | str, when: Register | None = None, unless: Register | None = None
) -> Line:
    """An instruction; the destination comes first, a sink is put in where it has none."""
    name, *modifiers = opcode.split(".")
    given = [Immediate(o) if isinstance(o, int) else Label(o) if isinstance(o, str) else o for o in operands]
    if name in NO_RESULT:
        given.insert(0, Sink())
    guard = Guard(when) if when else Guard(unless, True) if unless else None
    return Line(instruction=Instruction(name, tuple(modifiers), tuple(given), guard))


def kernel(*lines: Line | str, parameters: int = 1, shared_bytes: int = 0, local_bytes: int = 0) -> Kernel:
    """A kernel of these instructions; text is a label.  ``ret``: the labels to which RET may go are its operands."""
    groups: list[tuple[str, list[Instruction]]] = [("start", [])]
    for line in lines:
        if isinstance(line, str):
            if groups[-1][1] or groups[-1][0] == "start":
                groups.append((line, []))
            else:
                groups[-1] = (line, [])
            continue
        assert line.instruction is not None
        groups[-1][1].append(line.instruction)
        if line.instruction.opcode in ENDS:
            groups.append((f"${len(groups)}", []))
    if not groups[-1][1]:
        groups.pop()
    if not groups[0][1]:
        groups.pop(0)
    numbers = {label: n for n, (label, _) in enumerate(groups)}
    blocks = tuple(
        Block(n, label, tuple(code), _successors(n, code, numbers)) for n, (label, code) in enumerate(groups)
    )
    declared = tuple(Parameter(f"p{n}", B64, PARAMETERS + 8 * n, 8) for n in range(parameters))
    return Kernel(
        "by_hand",
        declared,
        blocks,
        module(),
        register_count=64,
        predicate_count=7,
        shared_bytes=shared_bytes,
        local_bytes=local_bytes,
        machine_code="sm_80",
        block_addresses=tuple(0x1000 * n for n in range(len(blocks))),
    )


def _successors(number: int, code: list[Instruction], numbers: dict[str, int]) -> tuple[int, ...]:
    last = code[-1]
    named = tuple(numbers[o.name] for o in last.operands if isinstance(o, Label))
    conditional = last.guard is not None or "DIV" in last.modifiers
    if last.opcode in ("BRA", "CALL", "BRX", "RET"):
        return (*named, number + 1) if conditional else named
    return () if last.opcode == "EXIT" and not conditional else (number + 1,)


def module() -> Module:
    return parse(".version 8.0 .target sm_80 .address_size 64 .visible .entry by_hand() { ret; }", "by_hand.ptx")


def run(
    built: Kernel,
    *arrays: NDArray[np.generic],
    threads: int = 32,
    grid: int = 1,
    record: Record = Record(),  # noqa: B008
    max_instructions: int | None = None,
) -> tuple[Launch, list[NDArray[np.generic]]]:
    """Run a kernel on copies of the arrays; returns the launch and the arrays after it."""
    device = Device(built.module, record=record)
    device.install(built)
    buffers = [device.upload(array) for array in arrays]
    limit = {} if max_instructions is None else {"max_instructions": max_instructions}
    launch = device.launch("by_hand", grid, threads, *buffers, **limit)
    return launch, [buffer.download() for buffer in buffers]


def stored(built: Kernel, threads: int = 32) -> list[int]:
    """What the threads of a block store in the array of the first parameter, one word each."""
    _, (found,) = run(built, np.zeros(threads, np.uint32), threads=threads)
    return [int(value) for value in found]


def store_result(value: Register, address: int = 10) -> Sequence[Line]:
    """Store a register at the thread's word of the first parameter."""
    return (
        i("mov.u32", R(address + 2), TID),
        i("mul.wide.u32", R(address + 4, 64), R(address + 2), 4),
        i("mov.u64", R(address, 64), parameter(0)),
        i("add.u64", R(address, 64), R(address, 64), R(address + 4, 64)),
        i("STG.E", at(R(address, 64)), value),
    )
