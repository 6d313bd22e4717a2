"""Instructions of a trace: their stages, what each waited for, and who produced their sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warpreg.gpu.pipes import CTRL, PIPES
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.timing import CAUSES
from warpreg.timing.feed.kernel_table import pipe_of
from warpreg.timing.launch.tracing import TraceOfRun
from warpreg.timing.tracing.event_rows import Kind

NOT_SEEN = -1
"""A stage that is not in the window."""
NO_WAITS = ("issued", "drain")


@dataclass(slots=True)
class IssuedInstruction:
    """An instruction that issued in the window, with the cycles of its stages."""

    number: int
    """By order of issue."""
    launch: int
    sm: int
    slot: int
    block: int
    sequence: int
    scheduler: int
    pc: int
    text: str
    opcode: str
    is_control: bool
    issued: int
    entered: int = NOT_SEEN
    dispatched: int = NOT_SEEN
    result: int = NOT_SEEN
    done: int = NOT_SEEN
    collector: int = NOT_SEEN
    pipe: int = NOT_SEEN
    producers: Sequence[int] = ()
    """Numbers of the instructions that produced its sources."""
    waits: list[tuple[str, int, int]] = field(default_factory=list)
    """Cause, first cycle and end of what its warp waited for, since the instruction before."""


def instructions(trace: TraceOfRun) -> list[IssuedInstruction]:
    """The instructions that issued in the window, by cycle, then by SM, then in the order of issue."""
    codes = [_Code(launch.kernel) for launch in trace.launches]
    issued: list[IssuedInstruction] = []
    under_way: dict[tuple[int, int, int], IssuedInstruction] = {}
    last_writers: dict[Hashable, dict[Hashable, int]] = defaultdict(dict)
    kinds = (Kind.ISSUE, Kind.ENTER, Kind.DISPATCH, Kind.RESULT, Kind.DONE)
    for launch, cycle, sm, kind, slot, unit, pc, sequence, value in _rows(trace, kinds):
        key = (launch, sm, sequence)
        if kind == Kind.ISSUE:
            code = codes[launch]
            writers = last_writers[launch, sm, slot, value]
            place = launch, sm, slot, value, sequence, unit, pc
            made = IssuedInstruction(len(issued), *place, code.texts[pc], code.opcodes[pc], code.controls[pc], cycle)
            made.producers = sorted({writers[cell] for cell in code.used[pc] if cell in writers})
            writers.update(dict.fromkeys(code.defined[pc], made.number))
            under_way[key] = made
            issued.append(made)
        elif key in under_way:
            _note(under_way[key], kind, cycle, unit)
    _add_waits(trace, issued)
    return issued


def _rows(trace: TraceOfRun, kinds: Sequence[Kind]) -> Iterator[tuple[int, ...]]:
    """launch, cycle, sm, kind, slot, unit, pc, sequence and value of the events of these kinds."""
    chosen = trace.events[np.isin(trace.events["kind"], kinds)]
    names = ("launch", "cycle", "sm", "kind", "slot", "unit", "pc", "sequence", "value")
    yield from zip(*(chosen[name].tolist() for name in names), strict=True)


def _note(made: IssuedInstruction, kind: int, cycle: int, unit: int) -> None:
    if kind == Kind.ENTER:
        made.entered, made.collector = cycle, unit
    elif kind == Kind.DISPATCH:
        made.dispatched, made.pipe = cycle, unit
    elif kind == Kind.RESULT:
        made.result = cycle
    else:
        made.done = cycle


def states(trace: TraceOfRun) -> Iterator[tuple[int, int, str, int, int]]:
    """sm, slot, cause, first cycle and end of the states of warp slots, without empty ones."""
    chosen = trace.events[trace.events["kind"] == Kind.STATE]
    names = ("sm", "slot", "unit", "cycle", "cycles")
    for sm, slot, cause, cycle, cycles in zip(*(chosen[name].tolist() for name in names), strict=True):
        if CAUSES[cause] != "empty":
            yield sm, slot, CAUSES[cause], cycle, cycle + cycles


def _add_waits(trace: TraceOfRun, found: Sequence[IssuedInstruction]) -> None:
    """Give each wait to the next instruction that issued from its slot."""
    by_slot: dict[tuple[int, int], list[IssuedInstruction]] = defaultdict(list)
    for one in found:
        by_slot[one.sm, one.slot].append(one)
    places: dict[tuple[int, int], int] = defaultdict(int)
    for sm, slot, cause, first, end in states(trace):
        own, place = by_slot[sm, slot], places[sm, slot]
        while place < len(own) and own[place].issued < first:
            place += 1
        places[sm, slot] = place
        if cause not in NO_WAITS and place < len(own):
            own[place].waits.append((cause, first, end))


class _Code:
    """The instructions of a kernel by pc: text, opcode, whether they execute at issue, and cells read and written."""

    def __init__(self, kernel: Kernel) -> None:
        code = list(kernel.instructions())
        self.texts = [str(one) for one in code]
        self.opcodes = [one.full_opcode for one in code]
        self.controls = [pipe_of(one) == PIPES[CTRL] for one in code]
        self.used = [_cells(one, one.used) for one in code]
        self.defined = [_cells(one, one.defined) for one in code]


def _cells(instruction: Instruction, registers: Sequence[Any]) -> tuple[Hashable, ...]:
    """Words of registers; predicates and uniform registers by name."""
    return tuple(
        cell
        for register in registers
        for cell in ([str(register)] if register.is_predicate or register.is_uniform else register.words)
    )
