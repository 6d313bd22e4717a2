"""Kernel table of the core: one row per pc, the words of its sources and results, and the cells that it needs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.cached import cached_analysis
from warpreg.designs.interface.program import WAITS_FOR_ALL, Program
from warpreg.designs.parts.hints.program_table import classify, program_table
from warpreg.gpu import Machine
from warpreg.gpu.opcodes import ARITHMETIC, OpcodeTiming, timing_of
from warpreg.gpu.pipes import CTRL, MEM, PIPES, SFU, TEX, UNTIMED
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import Latency, Unit
from warpreg.ir.operands import Immediate, Operand, Register
from warpreg.sass.isa import opcodes as sass
from warpreg.timing.core import access_record as record
from warpreg.timing.core import operand_word
from warpreg.timing.core.columns import code, warps
from warpreg.timing.core.typed import NONE, SET_SIZE
from warpreg.timing.errors import TimingError
from warpreg.timing.feed.barriers import barrier_of
from warpreg.timing.feed.constant_lines import constant_lines
from warpreg.timing.feed.control_words import awaited_copies, control_word, counters_of_copies
from warpreg.timing.feed.memory_sites import access_kinds

WAIT_CLASSES = {
    Latency.GLOBAL: 4, Latency.TEXTURE: 4, Latency.STORE: 4, Latency.SHARED: 3, Latency.CONSTANT: 3, Latency.DP: 2,
    Latency.TENSOR: 2, Latency.SFU: 1,
}  # fmt: skip
"""Index of the wait class: alu, sfu, dp, shared, memory; all other pipes count as alu."""

CODE_WIDTH = 24
"""Rows of the code are padded to a multiple of this, because their width is a constant of the compiled core."""
FIXED = frozenset({"int", "fp", "uniform"})


class Table(NamedTuple):
    """``code`` and ``lists`` as in `warpreg.timing.core.state.Core`; basic blocks begin at row ``first_pcs`` of
    ``lists``.

    ``words`` is the number of words of a set of cells (even, so that one compiled core serves most kernels).
    ``most_reads`` and ``most_writes`` are the largest numbers of source and result words of one instruction.
    ``constant_lines`` are those that the instructions name, with constant caches.
    """

    code: NDArray[np.int64]
    lists: NDArray[np.int64]
    first_pcs: int
    words: int
    most_reads: int
    most_writes: int
    constant_lines: int = 0


def table(kernel: Kernel, machine: Machine) -> Table:
    """The table of a kernel on an SM, cached with the kernel; operand rows are those of the program table."""
    tables, schedulers = _tables(kernel), machine.schedulers
    skips = machine.memory.l1 is not None and machine.memory.l1.skip_ordered
    latency = (machine.latency.texture, machine.latency.shared, machine.latency.constant)
    key = (latency, skips, schedulers.blocks_warps, schedulers.follows_control_codes, machine.operand_path.kind,
           machine.constant_cache, *machine.worker.items(), *machine.pipes.items(),
           *machine.opcodes.items())  # fmt: skip
    if key not in tables:
        tables[key] = _table(kernel, machine)
    return tables[key]


def suspending(kernel: Kernel, machine: Machine, suspends: NDArray[np.uint8]) -> Table:
    """The table for a design with its own column ``suspends``."""
    plain = table(kernel, machine)
    if np.array_equal(suspends, program_table(kernel).suspends):
        return plain
    flags = code.SUSPENDS * (suspends != 0) + code.WAITS_FOR_ALL * (suspends == WAITS_FOR_ALL)
    rows = plain.code.copy()
    rows[:, code.FLAGS] = rows[:, code.FLAGS] & ~(code.SUSPENDS | code.WAITS_FOR_ALL) | flags
    return plain._replace(code=rows)


@cached_analysis
def _tables(kernel: Kernel) -> dict[Hashable, Table]:
    """Tables of a kernel by the machine parameters that they depend on."""
    return {}


def is_controlled(kernel: Kernel, machine: Machine) -> bool:
    """Whether control codes order the instructions of a kernel on a machine: all but those that a design inserts have
    one.
    """
    return machine.schedulers.follows_control_codes and kernel.has_control_codes


def _table(kernel: Kernel, machine: Machine) -> Table:
    program = program_table(kernel)
    controlled = is_controlled(kernel, machine)
    copies = counters_of_copies(kernel) if controlled else None
    cells = _Cells(int(program.register_count))
    kinds = kinds_on(kernel, machine)
    lists: list[tuple[int, int]] = []
    instructions: list[list[int]] = []
    needs: list[tuple[set[int], set[int]]] = []
    most_reads = most_writes = 1
    lines = constant_lines(kernel, machine)
    for pc, instruction in enumerate(kernel.instructions()):
        reads = _reads(program, pc)
        writes = _writes(program, pc, instruction, cells)
        written = {cell for cell, _ in writes}
        touched = {register for register, _ in reads} | set(cells.apart(instruction.used))
        row = _row(program, pc, instruction, machine, int(kinds[pc]), copies)
        if row[code.PIPE] != CTRL:
            row[code.CONSTANT] = 1 + lines.get(pc, -1)
        row[code.READS], row[code.READS_END] = len(lists), len(lists) + len(reads)
        lists += reads
        row[code.WRITES], row[code.WRITES_END] = len(lists), len(lists) + len(writes)
        lists += writes
        row[code.ALL_READS] = len(lists)
        lists += _operands(program, pc)
        row[code.ALL_READS_END] = len(lists)
        instructions.append(row)
        if copies is not None:
            row[code.CONTROL], waits = control_word(instruction, copies, row[code.LATENCY])
            needs.append((waits, set()))
        else:
            needs.append((touched | written, written))
        most_reads = max(most_reads, row[code.ALL_READS_END] - row[code.ALL_READS])
        most_writes = max(most_writes, len(writes))
    if most_writes > operand_word.WORD_MASK:
        raise TimingError(
            f"kernel {kernel.name}: an instruction has {most_writes} results, at most {operand_word.WORD_MASK} can be"
        )
    words = 2 if controlled else 2 * max(1, -(-cells.count // (2 * SET_SIZE)))
    if machine.schedulers.blocks_warps and not controlled:
        needs = [(set(range(cells.count)), written) for _, written in needs]
    sets = _sets(needs, words)
    rows = [*lists, *pairwise(kernel.first_pcs())]
    listed = np.zeros((len(rows), 3), np.int64)
    listed[:, :2] = np.array(rows, np.int64).reshape(-1, 2)
    listed[: len(lists), 2] = _banks(listed[: len(lists), 0], machine)
    return Table(
        np.concatenate((np.array(instructions, np.int64).reshape(-1, code.COUNT), sets), axis=1),
        listed,
        len(lists),
        words,
        most_reads,
        most_writes,
        1 + max(lines.values(), default=-1),
    )


def kinds_on(kernel: Kernel, machine: Machine) -> NDArray[np.uint8]:
    """The kinds of accesses by pc; ordered loads are loads where they do not pass the first level."""
    kinds, cache = access_kinds(kernel), machine.memory.l1
    if cache is not None and cache.skip_ordered:
        return kinds
    return np.where(kinds == record.ORDERED_LOAD, record.LOAD, kinds).astype(np.uint8)


def own_banks(machine: Machine) -> int:
    """Banks that the warps of one scheduler use; 1 with the ideal operand path."""
    if machine.operand_path.kind == "ideal":
        return 1
    file = machine.register_file
    return file.banks // machine.schedulers.count if file.private_banks else file.banks


def _banks(registers: NDArray[np.int64], machine: Machine) -> NDArray[np.int64]:
    """The bank of each register of the warp in slot 0, among those of its scheduler."""
    return registers * (machine.register_file.mapping != "warp") % own_banks(machine)


def pipe_of(instruction: Instruction) -> str:
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


def is_unrecorded_fetch(instruction: Instruction) -> bool:
    """Whether it is a texture fetch or a surface load of a hardware trace, which has no addresses."""
    if not sass.is_sass(instruction):
        return False
    row = sass.find(instruction.opcode)
    return row.pipe == PIPES[TEX] and row.action == "load"


def barrier_flags(instruction: Instruction) -> int:
    """FLAGS of a barrier."""
    found = barrier_of(instruction)
    if found is None:
        return 0
    return code.BARRIER * found.waits | found.number << code.NUMBER_SHIFT | found.warps << code.COUNT_SHIFT


def fence_flags(instruction: Instruction) -> int:
    """FLAGS of a fence."""
    return code.FENCE * instruction.traits.is_fence


def copy_flags(instruction: Instruction, copies: frozenset[int] | None) -> int:
    """FLAGS of asynchronous copies, commits and waits; ``copies`` are their counters where control codes order
    instructions.
    """
    if sass.is_sass(instruction):
        return 0 if copies is None else _machine_copy_flags(instruction, copies)
    traits = instruction.traits
    allowed = instruction.sources[0] if traits.awaits_copies and instruction.sources else None
    groups = min(allowed.value, warps.COMMIT_SLOTS - 1) if isinstance(allowed, Immediate) else 0
    awaits = (code.AWAITS | groups << code.NUMBER_SHIFT) * traits.awaits_copies
    return awaits | code.COMMITS * traits.commits_copies | code.COPIES_ONE * traits.is_copy


def _machine_copy_flags(instruction: Instruction, copies: frozenset[int]) -> int:
    groups = awaited_copies(instruction, copies)
    waits = 0 if groups is None else code.AWAITS | min(groups, warps.COMMIT_SLOTS - 1) << code.NUMBER_SHIFT
    commits = code.COMMITS * instruction.traits.commits_copies
    return waits | commits | code.COPIES_ONE * instruction.traits.is_copy


class _Cells:
    """Numbers of cells: registers first, then predicates and uniform registers in the order in which they occur."""

    def __init__(self, registers: int) -> None:
        self._registers = registers
        self._apart: dict[str, int] = {}

    @property
    def count(self) -> int:
        return self._registers + len(self._apart)

    def apart(self, registers: Sequence[Register]) -> Iterator[int]:
        """Cells of the registers that are not words of the register file."""
        for register in registers:
            if not register.words:
                yield self._apart.setdefault(register.name, self.count)


def _operands(program: Program, pc: int) -> list[tuple[int, int]]:
    """(register, operand row) of every source operand."""
    return [(int(program.source[row]), row) for row in range(program.source_start[pc], program.source_start[pc + 1])]


def _reads(program: Program, pc: int) -> list[tuple[int, int]]:
    """(register, operand row) of the sources, each register once."""
    first: dict[int, int] = {}
    for row in range(program.source_start[pc], program.source_start[pc + 1]):
        first.setdefault(int(program.source[row]), row)
    return list(first.items())


def _writes(program: Program, pc: int, instruction: Instruction, cells: _Cells) -> list[tuple[int, int]]:
    rows = range(program.result_start[pc], program.result_start[pc + 1])
    words = {int(program.result[row]): row for row in rows}
    return [*words.items(), *((cell, NONE) for cell in dict.fromkeys(cells.apart(_results(instruction.results))))]


def _results(operands: Sequence[Operand]) -> list[Register]:
    return [register for operand in operands for register in registers_of(operand)]


def pipe_on(machine: Machine, instruction: Instruction, controlled: bool) -> str:
    """The pipe of a machine that executes an instruction.  Where control codes order instructions, arithmetic whose
    result has a counter has a variable latency, and belongs to `sfu`.
    """
    name, other = pipe_of(instruction), own_timing(machine, instruction).pipe
    if other is not None and name not in ARITHMETIC:
        raise TimingError(f"machine {machine.name}: opcodes: {instruction.opcode} belongs to pipe {name}, not {other}")
    name = other or name
    if controlled and name in FIXED and instruction.control is not None and instruction.control.write is not None:
        name = PIPES[SFU]
    return machine.worker[name]


def own_timing(machine: Machine, instruction: Instruction) -> OpcodeTiming:
    """What a machine says of the opcode of an instruction."""
    return timing_of(machine.opcodes, instruction.opcode, instruction.modifiers)


def _row(
    program: Program, pc: int, instruction: Instruction, machine: Machine, kind: int, copies: frozenset[int] | None
) -> list[int]:
    row = [0] * code.COUNT
    name = pipe_on(machine, instruction, copies is not None)
    pipe = machine.pipes[name]
    row[code.PIPE] = PIPES.index(name)
    own = own_timing(machine, instruction)
    row[code.INITIATION], row[code.LEAD] = own.initiation or pipe.initiation, pipe.lead or 0
    row[code.LOCAL_LATENCY] = own.latency or 0
    row[code.LATENCY] = 0 if kind and name in UNTIMED else own.latency or _latency(instruction, machine, name)
    row[code.KIND] = record.TEXTURE_LOAD if kind and name == PIPES[TEX] else kind
    row[code.FLAGS] = (
        (barrier_flags(instruction) or copy_flags(instruction, copies))
        + fence_flags(instruction)
        + code.SUSPENDS * int(program.suspends[pc] != 0)
    )
    row[code.WAIT_CLASS] = WAIT_CLASSES.get(classify(instruction)[1], 0) + code.LONG_BIT * int(program.long_latency[pc])
    return row


def _latency(instruction: Instruction, machine: Machine, name: str) -> int:
    """The latency of an instruction without a record on a pipe."""
    pipe = machine.pipes[name]
    if is_unrecorded_fetch(instruction):
        return machine.latency.texture
    if name == PIPES[MEM] and pipe.lead is not None:
        return latency_without_record(instruction, machine)
    return pipe.latency or 0


def latency_without_record(instruction: Instruction, machine: Machine) -> int:
    """Cycles in the load-store unit of a shuffle, and of a load from a constant bank, with a read window."""
    latency = classify(instruction)[1]
    return {Latency.SHARED: machine.latency.shared, Latency.CONSTANT: machine.latency.constant}.get(latency, 0)


def _sets(needs: list[tuple[set[int], set[int]]], words: int) -> NDArray[np.int64]:
    table = np.zeros((len(needs), 2 * words + -(code.COUNT + 2 * words) % CODE_WIDTH), np.uint64)
    for pc, pair in enumerate(needs):
        for side, members in enumerate(pair):
            for cell in members:
                table[pc, side * words + cell // SET_SIZE] |= np.uint64(1) << np.uint64(cell % SET_SIZE)
    return table.view(np.int64)
