"""The program table of a kernel: operands flattened to warp-registers, classes, last reads, suspension points."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.last_reads import last_reads
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.plan import PRIVATE, SHARED
from warpreg.designs.interface.program import REPLAY_SLOTS, Program
from warpreg.designs.parts.hints.long_latency import suspensions
from warpreg.ir import opcodes
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import Latency, Unit
from warpreg.sass.isa import opcodes as sass

UNITS: tuple[Unit, ...] = tuple(Unit)
LATENCIES: tuple[Latency, ...] = tuple(Latency)
SHARED_UNITS = frozenset({Unit.SFU, Unit.MEM, Unit.TEX})
"""The shared datapath of both Gebhart papers; they do not mention f64 units, which count as private ALUs (assumed)."""


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
        register_count=max(kernel.register_count, 1 + int(max(source.max(initial=0), result.max(initial=0)))),
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
        last_read=_bytes(last_reads(kernel)),
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
    )


def classify(instruction: Instruction) -> tuple[Unit, Latency]:
    """Unit and latency class by the opcode table of the instruction's language, PTX or SASS."""
    return sass.classify(instruction) if sass.is_sass(instruction) else opcodes.classify(instruction)


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
