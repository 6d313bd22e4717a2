"""The program table: what hooks and cores read of a kernel, one row per static instruction, as arrays.

Operands are flattened to warp-registers: a 64-bit operand is two, a 128-bit one four.  Predicates, immediates,
constant-bank words and special registers are none.  An instruction that names a register twice reads it twice: a
collector fetches each operand by itself. A guard is a predicate, so it is no operand either; whether the guard held is
not in the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.cached import cached_analysis
from warpreg.designs.errors import DesignError
from warpreg.designs.hints.last_reads import last_reads
from warpreg.designs.hints.long_latency import suspensions
from warpreg.designs.interface.plan import PRIVATE, SHARED
from warpreg.ir import opcodes
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import Latency, Unit
from warpreg.ir.operands import Register
from warpreg.sass import opcodes as sass

UNITS: tuple[Unit, ...] = tuple(Unit)
LATENCIES: tuple[Latency, ...] = tuple(Latency)
SHARED_UNITS = frozenset({Unit.SFU, Unit.MEM, Unit.TEX})
"""The shared datapath of both Gebhart papers; f64 units, which they do not name, count with the private ALUs (assumed).
"""


class Program(NamedTuple):
    """Columns per block, per instruction (pc), per source operand and per result; ``*_start`` has one row more, the
    total.

    Per block: ``first_pc`` int32.  Per pc: ``unit`` and ``latency`` uint8 (positions in UNITS and LATENCIES),
    ``datapath`` uint8 (PRIVATE or SHARED), ``guarded``, ``long_latency`` (texture and global loads, local loads,
    atomics with a result) and ``suspends`` (may read or overwrite a long-latency result that no earlier instruction has
    waited for) as uint8 flags, ``source_start`` and ``result_start`` int32. Per source: ``source`` uint16 (register),
    ``source_slot`` uint8 (its operand position among the sources), ``last_read`` uint8 flag (on every path, for every
    lane of the warp, the value is dead afterwards).  Per result: ``result`` uint16. Hint columns, zero unless a
    design's compile step fills them: ``source_level`` and ``source_entry`` (where it comes from), ``fill_level`` and
    ``fill_entry`` (where it is kept besides; level 0: nowhere), ``result_level`` and ``result_entry`` (where it goes),
    ``copy_level`` and ``copy_entry`` (a second place above the MRF), ``mrf_elided`` (it does not go to the MRF) and,
    per pc, ``strand_end`` and ``strand_start`` (a `warpreg.analysis.strands.Start`); ``source_idle`` and
    ``result_idle`` (nothing reads the value before the warp may next suspend), ``result_partial`` (a lane that the
    write leaves out may need its old value), ``shared_reader`` of a result (the shared datapath may read it) and, per
    pc, ``backward`` (control may go back after it); all uint8.  ``suspends`` may be changed too, by a design that
    decides where warps are descheduled.

    ``slots`` (places for warps) and ``schedulers`` of an SM are those of the core that runs it, see ``placed``.
    """

    register_count: int
    slots: int
    schedulers: int
    first_pc: NDArray[np.int32]
    unit: NDArray[np.uint8]
    latency: NDArray[np.uint8]
    datapath: NDArray[np.uint8]
    guarded: NDArray[np.uint8]
    long_latency: NDArray[np.uint8]
    suspends: NDArray[np.uint8]
    source_start: NDArray[np.int32]
    source: NDArray[np.uint16]
    source_slot: NDArray[np.uint8]
    last_read: NDArray[np.uint8]
    result_start: NDArray[np.int32]
    result: NDArray[np.uint16]
    source_level: NDArray[np.uint8]
    source_entry: NDArray[np.uint8]
    result_level: NDArray[np.uint8]
    result_entry: NDArray[np.uint8]
    strand_end: NDArray[np.uint8]
    fill_level: NDArray[np.uint8]
    fill_entry: NDArray[np.uint8]
    copy_level: NDArray[np.uint8]
    copy_entry: NDArray[np.uint8]
    mrf_elided: NDArray[np.uint8]
    strand_start: NDArray[np.uint8]
    source_idle: NDArray[np.uint8]
    result_idle: NDArray[np.uint8]
    result_partial: NDArray[np.uint8]
    shared_reader: NDArray[np.uint8]
    backward: NDArray[np.uint8]


REPLAY_SLOTS = 32
"""Warps of a thread block at most (1024 threads): a replay keeps those of one."""
HINTS = (
    "source_level", "source_entry", "result_level", "result_entry", "strand_end", "fill_level", "fill_entry",
    "copy_level", "copy_entry", "mrf_elided", "strand_start", "suspends", "source_idle", "result_idle",
    "result_partial", "shared_reader", "backward",
)  # fmt: skip


@cached_analysis
def program_table(kernel: Kernel) -> Program:
    """The table of a kernel with architected registers, computed once per kernel.  Raises DesignError for virtual
    registers.
    """
    _require_architected(kernel)
    instructions = tuple(kernel.instructions())
    sources = [_source_words(i) for i in instructions]
    results = [[word for register in i.defined for word in register.words] for i in instructions]
    registers = [[register for register, _ in operands] for operands in sources]
    classes = [classify(i) for i in instructions]
    long_latency = [latency.is_long and bool(written) for (_, latency), written in zip(classes, results, strict=True)]
    source, result = _flat(registers), _flat(results)
    source_rows, result_rows = source.size, result.size
    return Program(
        register_count=max(kernel.register_count, 1 + max(source.max(initial=0), result.max(initial=0))),
        slots=REPLAY_SLOTS,
        schedulers=1,
        first_pc=np.array(kernel.first_pcs(), np.int32),
        unit=_bytes(UNITS.index(unit) for unit, _ in classes),
        latency=_bytes(LATENCIES.index(latency) for _, latency in classes),
        datapath=_bytes(SHARED if unit in SHARED_UNITS else PRIVATE for unit, _ in classes),
        guarded=_bytes(i.guard is not None for i in instructions),
        long_latency=_bytes(long_latency),
        suspends=_bytes(suspensions(kernel, registers, results, long_latency)),
        source_start=_starts(registers),
        source=source,
        source_slot=_bytes(slot for operands in sources for _, slot in operands),
        last_read=_bytes(last_reads(kernel, [source_registers(i) for i in instructions])),
        result_start=_starts(results),
        result=result,
        source_level=np.zeros(source_rows, np.uint8),
        source_entry=np.zeros(source_rows, np.uint8),
        result_level=np.zeros(result_rows, np.uint8),
        result_entry=np.zeros(result_rows, np.uint8),
        strand_end=np.zeros(len(instructions), np.uint8),
        fill_level=np.zeros(source_rows, np.uint8),
        fill_entry=np.zeros(source_rows, np.uint8),
        copy_level=np.zeros(result_rows, np.uint8),
        copy_entry=np.zeros(result_rows, np.uint8),
        mrf_elided=np.zeros(result_rows, np.uint8),
        strand_start=np.zeros(len(instructions), np.uint8),
        source_idle=np.zeros(source_rows, np.uint8),
        result_idle=np.zeros(result_rows, np.uint8),
        result_partial=np.zeros(result_rows, np.uint8),
        shared_reader=np.zeros(result_rows, np.uint8),
        backward=np.zeros(len(instructions), np.uint8),
    )


def placed(program: Program, slots: int, schedulers: int) -> Program:
    """The program for a core whose SMs have so many warp slots and schedulers."""
    return program._replace(slots=slots, schedulers=schedulers)


def source_operands(program: Program, pc: int) -> range:
    """The source operands of an instruction: rows of the table, which compiled code knows not to be negative."""
    return range(np.int64(np.uint32(program.source_start[pc])), np.int64(np.uint32(program.source_start[pc + 1])))


def result_operands(program: Program, pc: int) -> range:
    """The results of an instruction, in the same way."""
    return range(np.int64(np.uint32(program.result_start[pc])), np.int64(np.uint32(program.result_start[pc + 1])))


def classify(instruction: Instruction) -> tuple[Unit, Latency]:
    """Unit and latency class by the opcode table of the instruction's language, PTX or SASS."""
    return sass.classify(instruction) if sass.is_sass(instruction) else opcodes.classify(instruction)


def operand_rows(program: Program) -> tuple[int, int]:
    """The most sources and the most results of an instruction."""
    sources, results = (np.diff(starts).max(initial=0) for starts in (program.source_start, program.result_start))
    return int(sources), int(results)


def source_registers(instruction: Instruction) -> tuple[Register, ...]:
    """Registers of the register file that source operands name: no predicates, no uniform registers, no guard."""
    return tuple(r for operand in instruction.sources for r in registers_of(operand) if r.words)


def _source_words(instruction: Instruction) -> list[tuple[int, int]]:
    """(register, operand position) of each source warp-register, in operand order."""
    return [
        (word, slot)
        for slot, operand in enumerate(instruction.sources)
        for register in registers_of(operand)
        for word in register.words
    ]


def _require_architected(kernel: Kernel) -> None:
    virtual = next(
        (r for r in sorted(kernel.registers(), key=str) if not r.is_architected and not r.is_predicate), None
    )
    if virtual is not None:
        raise DesignError(f"kernel {kernel.name}: register {virtual} is virtual, compile the kernel first")


def _bytes(values: Iterable[int]) -> NDArray[np.uint8]:
    return np.fromiter(values, np.uint8)


def _flat(rows: list[list[int]]) -> NDArray[np.uint16]:
    return np.array([value for row in rows for value in row], np.uint16)


def _starts(rows: list[list[int]]) -> NDArray[np.int32]:
    lengths = np.fromiter((len(row) for row in rows), np.int32, len(rows))
    return np.concatenate((np.zeros(1, np.int32), np.cumsum(lengths, dtype=np.int32)))
