"""Naive models that read the kernel itself instead of the program table, one warp-instruction at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import Unit, classify
from warpreg.trace.path import RecordedPath, visits
from warpreg.trace.schedule import Schedule, ScheduleWord, records

Warp = tuple[int, int]


@dataclass
class Step:
    """One issued instruction; ``widths`` of what it writes, if they were recorded."""

    warp: Warp
    reads: list[int]
    writes: list[int]
    datapath: str
    pc: int = 0
    mask: int = 0
    widths: list[int] = field(default_factory=list)


@dataclass
class Event:
    """What a schedule has a warp do: start, issue ``step``, receive the results of ``pc``, be activated or suspended,
    end; ``slot`` is its index."""

    kind: str
    slot: int
    scheduler: int
    step: Step | None = None
    thread_block: int = 0
    pc: int = 0


def steps(kernel: Kernel, path: RecordedPath) -> Iterator[Step]:
    """Every instruction that the path issues, in order; ``warp`` counts thread blocks by appearance."""
    first = kernel.first_pcs()
    width_chunks = getattr(path, "width_chunks", tuple)
    widths = (width for chunk in width_chunks() for width in chunk.tolist())
    for visit in visits(path.path_chunks()):
        for place, instruction in enumerate(kernel.blocks[visit.block].instructions):
            warp, pc = (visit.thread_block, visit.warp), first[visit.block] + place
            writes = _writes(instruction)
            own = list(islice(widths, len(writes)))
            yield Step(warp, _reads(instruction), writes, _datapath(instruction), pc, visit.mask, own)


def events(kernel: Kernel, path: RecordedPath, schedule: Schedule) -> Iterator[Event]:
    """Everything that a schedule says, in order."""
    of_warp: dict[Warp, list[Step]] = {}
    for step in steps(kernel, path):
        of_warp.setdefault(step.warp, []).append(step)
    slots = schedule.slots
    running: dict[int, Iterator[Step]] = {}
    thread_blocks: dict[int, int] = {}
    for record in records(schedule.chunks()):
        slot = record.sm * slots.warps + record.slot
        scheduler = record.sm * slots.schedulers + record.slot % slots.schedulers
        if record.kind == ScheduleWord.START:
            thread_blocks[slot] = record.thread_block
            running[slot] = iter(of_warp.get((record.thread_block, record.amount), []))
        if record.kind == ScheduleWord.ISSUE:
            for step in islice(running[slot], record.amount):
                yield Event("issue", slot, scheduler, step)
        else:
            kind, pc = record.kind.name.lower(), record.amount if record.kind == ScheduleWord.ARRIVE else 0
            yield Event(kind, slot, scheduler, thread_block=thread_blocks[slot], pc=pc)


def _reads(instruction: Instruction) -> list[int]:
    return [w for operand in instruction.sources for register in registers_of(operand) for w in register.words]


def _writes(instruction: Instruction) -> list[int]:
    return [word for register in instruction.defined for word in register.words]


def _datapath(instruction: Instruction) -> str:
    return "shared" if classify(instruction)[0] in (Unit.SFU, Unit.MEM, Unit.TEX) else "private"


@dataclass
class Value:
    """One write of a register and its reads."""

    born: int
    producer: str
    read_at: list[int] = field(default_factory=list)
    readers: set[str] = field(default_factory=set)


def values(kernel: Kernel, path: RecordedPath) -> list[Value]:
    """Every value that the path writes, with all its reads; times are instructions of the warp."""
    everything: list[Value] = []
    clocks: Counter[Warp] = Counter()
    current: dict[tuple[Warp, int], Value] = {}
    for step in steps(kernel, path):
        clocks[step.warp] += 1
        for register in step.reads:
            value = current.get((step.warp, register))
            if value is not None:
                value.read_at.append(clocks[step.warp])
                value.readers.add(step.datapath)
        for register in step.writes:
            current[step.warp, register] = value = Value(clocks[step.warp], step.datapath)
            everything.append(value)
    return everything
