"""Reconstruction of a kernel: instructions from lines, basic blocks from control flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from warpreg.ir.control_code import ControlCode
from warpreg.ir.errors import Location
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.module import Module
from warpreg.ir.operands import Address, Immediate, Operand, Register, Sink, Vector
from warpreg.ir.types import B32, B64, B128, PRED
from warpreg.sass.errors import SassTraceError
from warpreg.sass.isa.opcodes import find
from warpreg.sass.isa.widths import Shape, access_bytes, widths
from warpreg.sass.parse.header import Header
from warpreg.sass.parse.line import ZERO_REGISTER, TraceLine, written
from warpreg.sass.rebuild.flow import Program

TYPES = {1: B32, 2: B64, 4: B128}


@dataclass(frozen=True, slots=True)
class StaticInstruction:
    """A static instruction: its first line, and the location."""

    line: TraceLine
    location: Location


@dataclass(frozen=True, slots=True)
class Annotation:
    """What a listing of the same code adds to an instruction of a trace: its ``control`` code, and the positions, among
    the registers of its line, results first, of those that the compiler keeps in the operand ``reuse`` cache."""

    control: ControlCode | None
    reuse: tuple[int, ...] = ()


Join = Callable[[Header, TraceLine], Annotation]
"""The annotation of a line of a launch; SassTraceError without the place in the trace if there is none."""


def has_record(line: TraceLine) -> bool:
    """Whether the addresses of the instruction's executions are recorded."""
    return line.width > 0 and find(line.opcode).has_addresses


def record_unit(instruction: Instruction) -> int:
    """Unit of the steps between recorded addresses of a rebuilt instruction: the bytes that a lane accesses, 0 for an
    instruction without an address operand, which has no record."""
    addressed = any(isinstance(operand, Address) for operand in instruction.operands)
    return access_bytes(instruction.opcode, instruction.modifiers) if addressed else 0


def build_kernel(
    headers: Sequence[Header],
    seen: Sequence[StaticInstruction],
    program: Program,
    blocks: Sequence[Sequence[int]],
    edges: Sequence[tuple[int, int]],
    local_bytes: int = 0,
    join: Join | None = None,
) -> Kernel:
    """The kernel with architected registers for the launches of ``headers``; ``blocks`` are numbers of static
    instructions, ``edges`` pairs of blocks.

    A wide operand is truncated at the last register of a thread.  Instructions get what ``join`` adds to them; raises
    SassTraceError with their place if it finds nothing.
    """
    named = [r for one in seen for r in (*one.line.results, *one.line.sources) if r != ZERO_REGISTER]
    most_registers = max([*(header.registers for header in headers), *(r + 1 for r in named)])
    successors = _successors(seen, blocks, edges)
    built = []
    for index, members in enumerate(blocks):
        guards = _guards(program, members)
        instructions = tuple(_instruction(seen[i], guards[i], headers[0], most_registers, join) for i in members)
        label = f"PC_{seen[members[0]].line.pc:04x}" if members else "ENTRY"
        built.append(Block(index, label, instructions, successors[index]))
    used = {word for block in built for i in block.instructions for r in (*i.defined, *i.used) for word in r.words}
    count = max(used, default=-1) + 1
    guard_count = max((i.guard.register.index + 1 for b in built for i in b.instructions if i.guard), default=0)
    return Kernel(
        name=headers[0].kernel,
        parameters=(),
        blocks=tuple(built),
        module=Module("", (f"sm_{headers[0].binary_version}",), 64, (), headers[0].kernel),
        shared_bytes=min(header.shared_bytes for header in headers),
        local_bytes=local_bytes,
        register_count=max(count, 1),
        register_demand=max(count, *(header.registers for header in headers)),
        predicate_count=guard_count,
    )


def _successors(
    seen: Sequence[StaticInstruction], blocks: Sequence[Sequence[int]], edges: Sequence[tuple[int, int]]
) -> list[tuple[int, ...]]:
    """The successors of each block, the next block in memory last."""
    found: list[set[int]] = [set() for _ in blocks]
    for source, target in edges:
        found[source].add(target)
    ordered = []
    for members, targets in zip(blocks, found, strict=True):
        end = seen[members[-1]].line.pc if members else -1
        starts = {target: seen[blocks[target][0]].line.pc for target in targets}
        next_one = min((t for t in targets if starts[t] > end), key=lambda t: starts[t], default=None)
        ordered.append(tuple(sorted(targets, key=lambda t: (t == next_one, t))))
    return ordered


def _guards(program: Program, members: Sequence[int]) -> dict[int, Guard | None]:
    """Guards of a block's instructions: the same predicate if the same lanes executed them at every visit, its negation
    if exactly the other lanes did."""
    guards: dict[int, Guard | None] = dict.fromkeys(members)
    known: dict[int, Guard] = {}
    for i in members:
        if program.guarded[i]:
            held, failed = int(program.held[i]), int(program.failed[i])
            if held not in known:
                number = len({guard.register for guard in known.values()})
                predicate = Register(f"P{number}", PRED, number)
                known[held], known[failed] = Guard(predicate), Guard(predicate, negated=True)
            guards[i] = known[held]
    return guards


def _instruction(
    seen: StaticInstruction, guard: Guard | None, header: Header, most_registers: int, join: Join | None
) -> Instruction:
    line = seen.line
    results, sources = written(line, header.binary_version)
    shape = Shape(line.opcode, line.modifiers, len(results), len(sources), line.immediate)
    wide = widths(shape)
    wide_results = (wide.result, wide.second, *(1,) * len(results))
    operands = [_register(r, words, most_registers) for r, words in zip(results, wide_results, strict=False)]
    destination: Operand = Sink()
    if operands:
        destination = operands[0] if len(operands) == 1 else Vector(tuple(operands))
    read = [_register(r, w, most_registers) for r, w in zip(sources, wide.sources, strict=True)]
    read = [Immediate(0) if isinstance(operand, Sink) else operand for operand in read]
    if has_record(line):
        place = 1 if find(line.opcode).action == "copy" and len(read) > 1 else 0
        read[place : place + 1] = [_address(read[place]) if read else Address(Immediate(0))]
    source = Location("", line.source_line) if line.source_line else None
    given = (destination, *read) if operands or read else ()
    added = _annotation(seen, header, join)
    reuse = tuple(at - len(results) for at in added.reuse)
    return Instruction(line.opcode, line.modifiers, given, guard, seen.location, source, added.control, reuse)


def _annotation(seen: StaticInstruction, header: Header, join: Join | None) -> Annotation:
    if join is None:
        return Annotation(None)
    try:
        return join(header, seen.line)
    except SassTraceError as error:
        raise SassTraceError(f"{seen.location}: {error}") from None


def _address(operand: Operand) -> Address:
    return Address(operand if isinstance(operand, Register) else Immediate(0))


def _register(number: int, words: int, most: int) -> Operand:
    """An operand of ``words`` registers from ``number`` on; a sink for the zero register."""
    if number == ZERO_REGISTER:
        return Sink()
    words = max(1, min(words, most - number))
    if words in TYPES:
        return Register(f"R{number}", TYPES[words], number)
    return Vector(tuple(Register(f"R{n}", B32, n) for n in range(number, number + words)))
