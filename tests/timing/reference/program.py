"""A kernel and the recorded paths of its warps as the steps of the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from tests.timing.launches import Launched, WarpPath
from tests.timing.reference.instruction import Control, Instruction, Step
from tests.timing.reference.machine import Constants, Opcode, Pipe

from warpreg.designs.interface.program import Program
from warpreg.designs.parts.hints.program_table import classify, program_table
from warpreg.ir import instruction as ir
from warpreg.ir.instruction import registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import Latency, Unit
from warpreg.ir.operands import ConstantBank, Immediate, ModifiedOperand, Operand
from warpreg.sass.isa import opcodes as sass
from warpreg.timing.core.access_record import ATOMIC, LOAD, NO_ACCESS, ORDERED_LOAD, READ_ONLY_LOAD, STORE
from warpreg.timing.feed.memory_sites import access_kinds

WAITS = {
    Latency.GLOBAL: "memory",
    Latency.TEXTURE: "memory",
    Latency.STORE: "memory",
    Latency.SHARED: "shared",
    Latency.CONSTANT: "shared",
    Latency.DP: "dp",
    Latency.TENSOR: "dp",
    Latency.SFU: "sfu",
}
KINDS = {
    NO_ACCESS: "",
    LOAD: "load",
    STORE: "store",
    ATOMIC: "atomic",
    READ_ONLY_LOAD: "read-only",
    ORDERED_LOAD: "load",
}
FENCES = ("membar", "fence", "MEMBAR")


def steps(
    launched: Launched,
    worker: Mapping[str, str],
    program: Program | None = None,
    pipes: Mapping[str, Pipe] | None = None,
    opcodes: Mapping[str, Opcode] | None = None,
    constants: Constants | None = None,
) -> list[list[tuple[Step, ...]]]:
    """By thread block, by warp: every instruction of every visited block, with its memory record.

    ``worker`` says which pipe does the work of another; ``program`` is the table that a design has compiled.
    """
    code = instructions(launched.kernel, worker, program, pipes, opcodes)
    if constants is not None:
        code = _with_constants(code, launched.kernel, constants.line)
    starts = launched.kernel.first_pcs()
    return [[tuple(_walk(code, starts, warp)) for warp in block] for block in launched.blocks]


def instructions(
    kernel: Kernel,
    worker: Mapping[str, str],
    program: Program | None = None,
    pipes: Mapping[str, Pipe] | None = None,
    opcodes: Mapping[str, Opcode] | None = None,
) -> list[Instruction]:
    """By pc; ``pipes`` are those of a machine on which control codes order them if they have any, ``opcodes`` those
    that differ from their pipe."""
    controlled = pipes is not None and any(one.control is not None for one in kernel.instructions())
    copies = _copy_counters(kernel) if controlled else frozenset()
    plain = _plain(kernel, worker, program, controlled, opcodes or {})
    if not controlled or pipes is None:
        return plain
    return [_with_control(one, own, copies, pipes) for one, own in zip(plain, kernel.instructions(), strict=True)]


def _with_constants(code: list[Instruction], kernel: Kernel, size: int) -> list[Instruction]:
    """The instructions with the first word of a constant bank that each names."""
    words = [[_plain_operand(operand) for operand in one.sources] for one in kernel.instructions()]
    banked = [[w for w in row if isinstance(w, ConstantBank) and w.index is None] for row in words]
    lines = [(row[0].bank, row[0].name, row[0].offset // size) if row else None for row in banked]
    known = sorted({line for line in lines if line is not None})
    return [
        replace(one, constant=None if line is None or one.pipe == "ctrl" else known.index(line))
        for one, line in zip(code, lines, strict=True)
    ]


def _plain_operand(operand: Operand) -> Operand:
    return operand.operand if isinstance(operand, ModifiedOperand) else operand


def _copy_counters(kernel: Kernel) -> frozenset[int]:
    ends = [one.control for one in kernel.instructions() if _commits(one)]
    return frozenset(end.write for end in ends if end is not None and end.write is not None)


def _commits(one: ir.Instruction) -> bool:
    """Whether it ends a group of asynchronous copies."""
    return one.opcode == "LDGDEPBAR" or (one.opcode == "cp" and one.modifiers[-1] in ("commit_group", "wait_all"))


def _with_control(
    one: Instruction, own: ir.Instruction, copies: frozenset[int], pipes: Mapping[str, Pipe]
) -> Instruction:
    """What the control code of an instruction says; counters of asynchronous copies wait for groups instead."""
    control = own.control
    if control is None:
        latency = (one.latency or pipes[one.pipe].latency) if own.results and one.pipe not in ("mem", "tex") else 1
        return replace(one, control=Control(max(1, latency)))
    stall = 45 if control.yields and not control.stall else max(control.stall, 2 if control.yields else 1)
    waits = {counter for counter in range(6) if control.waits & 1 << counter}
    if own.opcode == "LDGSTS":
        one = replace(one, copies=True)
    if _commits(own):
        return replace(one, commits=True, control=Control(stall, None, None, frozenset(waits - copies)))
    limit = None
    if own.opcode == "DEPBAR":
        counter, allowed, others = own.sources
        assert isinstance(allowed, Immediate)
        assert isinstance(others, Immediate)
        waits |= {k for k in range(6) if others.value & 1 << k}
        limit = int(str(counter)[2:]), allowed.value
        if limit[0] in copies:
            one = replace(one, fence=True, awaits=min(limit[1], 3))
            limit = None
    return replace(one, control=Control(stall, control.write, control.read, frozenset(waits - copies), limit))


def _plain(
    kernel: Kernel, worker: Mapping[str, str], program: Program | None, controlled: bool, opcodes: Mapping[str, Opcode]
) -> list[Instruction]:
    table, kinds = program or program_table(kernel), access_kinds(kernel)
    return [
        replace(
            _instruction(
                pc,
                one,
                worker.get(pipe, pipe),
                KINDS[int(kinds[pc])],
                bool(table.long_latency[pc]),
                int(table.suspends[pc]),
            ),
            latency=own.latency,
            initiation=own.initiation,
        )
        for pc, one in enumerate(kernel.instructions())
        for own in [_timing(one, opcodes)]
        for kind in [own.pipe or pipe_of(one)]
        for pipe in ["sfu" if controlled and _has_variable_latency(one, kind) else kind]
    ]


def _timing(one: ir.Instruction, opcodes: Mapping[str, Opcode]) -> Opcode:
    """What is said of the opcode with most of the modifiers, ``OPCODE-MODIFIER``."""
    own = Opcode()
    for count in range(len(one.modifiers) + 1):
        named = [name for name in opcodes if name.split("-")[0] == one.opcode and name.count("-") == count]
        fitting = [name for name in named if all(word in one.modifiers for word in name.split("-")[1:])]
        own = opcodes[fitting[0]] if fitting else own
    return own


def _has_variable_latency(one: ir.Instruction, pipe: str) -> bool:
    """Arithmetic whose result has a counter."""
    return pipe in ("int", "fp", "uniform") and one.control is not None and one.control.write is not None


def pipe_of(instruction: ir.Instruction) -> str:
    """The pipe that executes an instruction."""
    if sass.is_sass(instruction):
        return sass.find(instruction.opcode).pipe
    unit, _ = classify(instruction)
    if unit is not Unit.ALU:
        return unit.value
    registers = [*instruction.defined, *instruction.used]
    if registers and all(register.is_uniform for register in registers):
        return "uniform"
    return "fp" if instruction.types and instruction.types[-1].is_float else "int"


def _barrier(instruction: ir.Instruction) -> tuple[bool, tuple[int, int] | None]:
    """Whether a warp waits here for others; number and count of a barrier that has one."""
    modifiers = instruction.modifiers
    if sass.is_sass(instruction):
        return instruction.opcode == "BAR" and "ARV" not in modifiers, None
    if instruction.opcode not in ("bar", "barrier") or "warp" in modifiers:
        return False, None
    numbers = [operand.value for operand in instruction.sources if isinstance(operand, Immediate)]
    counted = len(numbers) == len(instruction.sources) - ("red" in modifiers) == 2
    return "arrive" not in modifiers, (numbers[0], (numbers[1] + 31) // 32) if counted else None


def _awaited(instruction: ir.Instruction, copying: str) -> int | None:
    if copying.endswith("wait_group"):
        (groups,) = instruction.sources
        return min(groups.value, 3) if isinstance(groups, Immediate) else 0
    return 0 if copying.endswith("wait_all") else None


def _instruction(
    pc: int, instruction: ir.Instruction, pipe: str, kind: str, long_latency: bool, suspends: int
) -> Instruction:
    guard = (instruction.guard.register,) if instruction.guard else ()
    copying = ".".join(instruction.modifiers) if instruction.opcode == "cp" else ""
    return Instruction(
        pc=pc,
        pipe=pipe,
        sources=_words(instruction.sources),
        results=_words(instruction.results),
        sources_apart=(*_apart(instruction.sources), *(register.name for register in guard)),
        results_apart=_apart(instruction.results),
        waits=WAITS.get(classify(instruction)[1], "alu"),
        kind="texture" if kind and pipe == "tex" else kind,
        unrecorded=not kind and _is_fetch(instruction),
        barrier=_barrier(instruction)[0],
        gathers=_barrier(instruction)[1],
        fence=instruction.opcode in FENCES or copying.endswith(("wait_group", "wait_all")),
        copies=copying.endswith("global"),
        commits=_commits(instruction),
        awaits=_awaited(instruction, copying),
        long_latency=long_latency,
        suspends=suspends,
    )


def _is_fetch(instruction: ir.Instruction) -> bool:
    if not sass.is_sass(instruction):
        return False
    row = sass.find(instruction.opcode)
    return (row.pipe, row.action) == ("tex", "load")


def _words(operands: Sequence[Operand]) -> tuple[int, ...]:
    return tuple(word for operand in operands for register in registers_of(operand) for word in register.words)


def _apart(operands: Sequence[Operand]) -> tuple[str, ...]:
    registers = (register for operand in operands for register in registers_of(operand))
    return tuple(register.name for register in registers if not register.words)


def _walk(code: list[Instruction], starts: Sequence[int], warp: WarpPath) -> Iterator[Step]:
    accesses, widths = iter(warp.accesses), iter(warp.widths)
    for block, mask in warp.visits:
        for instruction in code[starts[block] : starts[block + 1]]:
            access = next(accesses) if instruction.kind else None
            yield Step(instruction, mask, access, tuple(islice(widths, len(instruction.results))))
