"""Dependences inside a block: registers, carry flag, memory by space, and operations with a fixed position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from warpreg.analysis.accesses import Accesses
from warpreg.codegen.machine.latency_model import DEFAULT, Cycles
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import Latency, classify
from warpreg.ir.operands import Special

SPACES = ("global", "shared", "local")
CARRY = -1


@dataclass(slots=True)
class Dependences:
    """By position in the block: ``successors`` with the cycles that must pass, and the number of predecessors."""

    successors: list[dict[int, int]]
    waiting: list[int]

    def add(self, before: int, after: int, cycles: int) -> None:
        edges = self.successors[before]
        if after not in edges:
            self.waiting[after] += 1
            edges[after] = cycles
        else:
            edges[after] = max(edges[after], cycles)


def dependences(
    instructions: Sequence[Instruction], table: Accesses, first_pc: int, machine: Cycles = DEFAULT
) -> Dependences:
    """The dependences of one block; linear in accesses, except for loads between two stores."""
    graph = Dependences([{} for _ in instructions], [0] * len(instructions))
    cycles = [machine.until_result(i) for i in instructions]
    _through_registers(graph, instructions, table, first_pc, cycles)
    _through_memory(graph, instructions)
    _around_subroutines(graph, instructions)
    return graph


def _through_registers(
    graph: Dependences, instructions: Sequence[Instruction], table: Accesses, first_pc: int, cycles: list[int]
) -> None:
    writer: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    for i, instruction in enumerate(instructions):
        read: Iterable[int] = table.read[first_pc + i]
        written: Iterable[int] = table.written[first_pc + i]
        if instruction.traits.reads_carry:
            read = (*read, CARRY)
        if instruction.traits.writes_carry:
            written = (*written, CARRY)
        for cell in read:
            if cell in writer:
                graph.add(writer[cell], i, cycles[writer[cell]])
            readers.setdefault(cell, []).append(i)
        for cell in written:
            for reader in readers.pop(cell, ()):
                if reader != i:
                    graph.add(reader, i, 0)
            if cell in writer and writer[cell] != i:
                graph.add(writer[cell], i, 1)
            writer[cell] = i


def _around_subroutines(graph: Dependences, instructions: Sequence[Instruction]) -> None:
    """Guarded divisions and roots represent calls of subroutines, across which the real compiler moves nothing."""
    last: int | None = None
    since: list[int] = []
    for i, instruction in enumerate(instructions):
        if last is not None:
            graph.add(last, i, 0)
        if instruction.guard and instruction.traits.calls_subroutine and "rn" in instruction.modifiers:
            for earlier in since:
                graph.add(earlier, i, 0)
            last, since = i, []
        else:
            since.append(i)


@dataclass
class _Space:
    """The last write of a space and the reads since then."""

    write: int | None = None
    reads: list[int] = field(default_factory=list)


def _through_memory(graph: Dependences, instructions: Sequence[Instruction]) -> None:
    spaces = {name: _Space() for name in SPACES}
    fence: int | None = None
    wide: int | None = None
    since_fence: list[int] = []
    for i, instruction in enumerate(instructions):
        if _is_fence(instruction):
            for earlier in since_fence:
                graph.add(earlier, i, 0)
            if fence is not None:
                graph.add(fence, i, 0)
            fence, since_fence = i, []
            spaces = {name: _Space() for name in SPACES}
        elif instruction.traits.accesses_memory or instruction.traits.is_warp_wide:
            if fence is not None:
                graph.add(fence, i, 0)
            since_fence.append(i)
            if instruction.traits.is_warp_wide:
                if wide is not None:
                    graph.add(wide, i, 0)
                wide = i
            else:
                _access(graph, spaces, instruction, i)
    last = len(instructions) - 1
    if instructions and classify(instructions[last])[1] is Latency.CONTROL:
        for i in range(last):
            if not graph.successors[i]:
                graph.add(i, last, 1)


def _is_fence(instruction: Instruction) -> bool:
    if instruction.traits.is_pinned:
        return True
    return any(
        (isinstance(o, Special) and "clock" in o.name) or (isinstance(o, Special) and "timer" in o.name)
        for o in instruction.sources
    )


def _access(graph: Dependences, spaces: dict[str, _Space], instruction: Instruction, i: int) -> None:
    traits, modifiers = instruction.traits, {m.split("::")[0] for m in instruction.modifiers}
    if traits.loads and modifiers & {"param", "const", "nc"}:
        return
    if traits.is_texture:
        modifiers = {"global"}
    named = [s for s in SPACES if s in modifiers] or list(SPACES)
    writes = traits.writes_memory or traits.is_ordered
    for name in named:
        space = spaces[name]
        if space.write is not None:
            graph.add(space.write, i, 1)
        if writes:
            for reader in space.reads:
                graph.add(reader, i, 0)
            space.write, space.reads = i, []
        else:
            space.reads.append(i)
