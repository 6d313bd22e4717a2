"""Compile a basic block to a native function (`running`).

The function executes the block's instructions for one warp, and then jumps to the next block or to a step of the driver
(`block_ends`), to which it gives the lanes for which the guard of the terminator holds: those that take the branch,
exit or arrive at the barrier.  Long blocks become a chain of functions, so that compile time is linear.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from warpreg.analysis.accesses import Cells, accesses
from warpreg.codegen.lower.calls import Call
from warpreg.codegen.lower.services import reason
from warpreg.ir import opcodes
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.operands import Immediate, Operand, Sink
from warpreg.ir.types import U32, Type
from warpreg.simt.block import running, stops
from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.native_records import SITE_BYTES, Fault, Slot, set_slot, slot
from warpreg.simt.block.register_storage import CARRY_CELL, Cell, Storage
from warpreg.simt.block.running import RunningWarp
from warpreg.simt.block.sites import Sites
from warpreg.simt.block.tracked import Tracked
from warpreg.simt.block.widths import Widths
from warpreg.simt.kernel import block_versions, machine_instructions, uniform_instructions
from warpreg.simt.kernel.block_ends import Ends, block_name
from warpreg.simt.kernel.block_loop import BlockLoop, is_arithmetic
from warpreg.simt.kernel.native_kernel import Record
from warpreg.simt.kernel.polling import polls, waits
from warpreg.simt.lanes import lane_instructions, nans
from warpreg.simt.llvm.emitter import I1, I32, I64, LANES, MASK, Code, Value, lanes_of
from warpreg.simt.memory.memory_instructions import Expectation, MemoryAccess
from warpreg.simt.tensor.async_copy import AsynchronousInstruction
from warpreg.simt.tensor.matrix_instructions import MatrixInstruction
from warpreg.simt.texture.texture_instructions import TextureAccess

RESUME = (I64, I64, I32)
"""The arguments of ``resume_N``: launch record, registers and lanes."""

SEGMENT = 96
"""Instructions per native function; longer blocks are chained."""


@dataclass(frozen=True)
class BlockCompiler:
    """Compiles the blocks of one kernel into one LLVM module; ``record`` says what of values is
    recorded.
    """

    module: Any
    kernel: Kernel
    storage: Storage
    symbols: dict[str, int]
    sites: Sites
    ends: Ends
    record: Record = field(default_factory=Record)
    taints: Tracked | None = None

    @functools.cached_property
    def is_cooperative(self) -> bool:
        """Whether thread blocks of the kernel wait for each other."""
        return self.kernel.is_cooperative

    @functools.cached_property
    def blind_cells(self) -> frozenset[Cell]:
        """The cells that only instructions read which do not observe the bits of a NaN."""
        blind, seen = set[Cell](), set[Cell]()
        for pc, instruction in enumerate(self.kernel.instructions()):
            if machine_instructions.handles(instruction):
                seen.update(self.storage.read[pc])
                continue
            signature, cells = opcodes.form(instruction).signature, iter(self.cells_of_sources(instruction, pc))
            for operand, type_ in zip(opcodes.flattened(instruction.sources), signature.sources, strict=True):
                if not any(registers_of(operand)):
                    continue
                read = next(cells)
                is_blind = nans.is_number(operand) and nans.is_blind(opcodes.form(instruction), type_)
                (blind if is_blind and read[0].bits == type_.bits else seen).update(read)
        return frozenset(blind - seen)

    def cells_of_sources(self, instruction: Instruction, pc: int) -> list[tuple[Cell, ...]]:
        """The cells of each register in the sources of an instruction, in order."""
        return self.cells_in(self.storage.read[pc], instruction.sources)

    def cells_in(self, words: tuple[Cell, ...], operands: tuple[Operand, ...]) -> list[tuple[Cell, ...]]:
        """The cells of each register in some operands, in order; ``words`` are those of all."""
        numbering = accesses(self.kernel).cells
        at, rows = 0, []
        for operand in operands:
            for register in registers_of(operand):
                count = len(numbering.of(register))
                rows.append(words[at : at + count])
                at += count
        return rows

    def compile(self, block: Block, first_pc: int) -> None:
        """Define ``block_N`` and its chained functions, and ``resume_N`` for a block that ends in ``bar.red`` or in a
        host service with a result.
        """
        count, kept = len(block.instructions), self.storage.kept(self.kernel, block.index)
        for start in range(0, max(count, 1), SEGMENT):
            part = Part(self, block, first_pc, min(start + SEGMENT, count), kept, len(self.sites.sites))
            body = Body(self, running.function(self.module, part.name(start)))
            part.define(body, start)

    def loop(self, values: BlockValues, block: Block, first_pc: int) -> BlockLoop | None:
        """The begin of a loop, if the block is one."""
        plain = not (self.record.values or self.taints or self.ends.keeps_clock)
        if not plain or not self.ends.repeats(block.index) or not is_arithmetic(block.instructions):
            return None
        exposed: dict[Cell, None] = {}
        written: set[Cell] = set()
        for pc, instruction in enumerate(block.instructions, first_pc):
            read = self.storage.read[pc] + (self.storage.written[pc] if instruction.guard else ())
            exposed |= dict.fromkeys(cell for cell in read if cell not in written)
            written.update(self.storage.written[pc])
        return BlockLoop(values, self.ends, block.index, list(exposed), written)

    def successors(self, pc: int) -> tuple[int, ...]:
        """The successors of the block that contains ``pc``."""
        return self.kernel.blocks[self.block_of(pc)].successors

    def block_of(self, pc: int) -> int:
        return bisect.bisect_right(self.kernel.first_pcs(), pc) - 1

    def define_resume(self, instruction: Instruction, pc: int) -> None:
        """Define the function that returns the result of a ``bar.red`` or host service to a warp."""
        block = self.block_of(pc)
        body = Body(self, Code(self.module, f"resume_{block}", I32, RESUME))
        body.resume(instruction, pc)
        body.values.flush(frozenset(self.storage.written[pc]))
        body.code.ret(body.values.mask)


@dataclass
class Part:
    """Some instructions of a block, up to ``end``, as one function, or more (`block_versions`): ``plain`` are the names
    of those that call all memory operations; ``kept``: per instruction of the block, the cells that are written by then
    and live after it; ``sites``: how many memory instructions there were before."""

    compiler: BlockCompiler
    block: Block
    first_pc: int
    end: int
    kept: list[frozenset[Cell]]
    sites: int
    plain: set[str] = field(default_factory=set)

    def pcs(self, start: int) -> range:
        """Those of the instructions from ``start`` on."""
        return range(self.first_pc + start, self.first_pc + self.end)

    def name(self, start: int) -> str:
        """The name of the function that begins with an instruction of the block."""
        return block_name(self.block.index) if start == 0 else f"{block_name(self.block.index)}_{start}"

    def define(self, body: Body, start: int) -> None:
        """Add the instructions from ``start`` on."""
        compiler, block = self.compiler, self.block
        whole = start == 0 and self.end == len(block.instructions)
        loop = compiler.loop(body.values, block, self.first_pc) if whole and not body.values.version.is_plain else None
        if not block.instructions:
            set_slot(body.launch, Slot.LOOK_AT, body.code.const(I64, 0))
        self.add(body, start, loop)

    def add(self, body: Body, start: int, loop: BlockLoop | None = None) -> None:
        """Add the instructions from ``start`` on to a function, and its end."""
        for place in range(start, self.end):
            block_versions.divide(self, body, start, place)
            body.emit(self.block.instructions[place], self.first_pc + place)
        if loop:
            loop.close(body.taken)
        kept = self.kept[self.end - 1] if self.end else frozenset[Cell]()
        body.values.flush(kept | {CARRY_CELL})
        body.values.hand_over()
        for group in body.values.groups.values():
            group.finish()
        if body.widths:
            body.widths.flush()
        if self.end < len(self.block.instructions):
            body.code.jump(running.declared(self.compiler.module, self.name(self.end)), body.code.arguments)
            return
        faults = len(self.compiler.sites.sites) > self.sites
        waiting = any(waits(one, self.compiler.is_cooperative) for one in self.block.instructions)
        state = loop.state if loop else RunningWarp.of(body.code)
        self.compiler.ends.go_on(body.code, state, self.block.index, body.taken, faults, waiting)


class _Context:
    """View of the current block for `lane_instructions.emit`."""

    def __init__(self, values: BlockValues, guard: Value | None) -> None:
        self._values, self._guard = values, guard
        self.builder, self.module = values.code.builder, values.code.module

    @property
    def active(self) -> Any:
        if self._guard is None:
            return self._values.active.llvm
        return (self._guard.bitcast(I32) & self._values.mask).bitcast(MASK).llvm

    @property
    def carry(self) -> Any:
        return self._values.get(CARRY_CELL).llvm

    @carry.setter
    def carry(self, flags: Any) -> None:
        flag = Value(self._values.code, flags)
        self._values.set(CARRY_CELL, self._guard.select(flag, self._values.get(CARRY_CELL)) if self._guard else flag)


class Body:
    """One native function during its compilation."""

    def __init__(self, compiler: BlockCompiler, code: Code) -> None:
        self.compiler = compiler
        self.code = code
        self.values = BlockValues(code, compiler.symbols, compiler.blind_cells)
        self.launch = self.values.launch
        self.taken = self.values.mask
        self.state = RunningWarp.of(code) if code.arguments[3:] else None
        contents, record = compiler.storage.contents, compiler.record
        self.widths = Widths(self.values, contents, record.patterns) if record.values else None
        self.form: opcodes.Form
        """Its value for the current instruction."""

    def emit(self, instruction: Instruction, pc: int) -> None:
        """Add one instruction and its effect on taints.  Raises UnsupportedError if it cannot be executed."""
        if self.is_idle(instruction, pc):
            if self.compiler.sites.record and pc in self.compiler.sites.inline:
                MemoryAccess(self.values, self.compiler.sites, instruction, pc).record_idle()
            return
        taints = self.compiler.taints
        code = taints.at(pc, self.values, self.compiler.storage.bytes) if taints else None
        if code is None:
            self._execute(instruction, pc)
            return
        lanes = self.lanes_of_guard(instruction, pc)
        code.arrive()
        for bad, number in code.wrong_reads(lanes):
            with self.code.if_(bad != 0, likely=False):
                site = self.compiler.sites.site(pc, instruction.guard is not None)
                self.fault(Fault.TAINTED, site, self.first(bad), number)
        self._execute(instruction, pc)
        code.leave(lanes)

    def is_idle(self, instruction: Instruction, pc: int) -> bool:
        """Whether the guard of an instruction is known to hold for no lane."""
        idle = self.values.version.idle_guard
        held = self.guard(instruction, pc) if idle is not None else None
        return idle is not None and held is not None and held.llvm is idle.llvm

    def expectation(self, instruction: Instruction, pc: int) -> Expectation:
        """What is expected of an access of PTX of which something is."""
        self.form = opcodes.form(instruction)
        guard, mask = self.guard(instruction, pc), self.lanes_of_guard(instruction, pc)
        with self.values.under(guard):
            access = MemoryAccess(self.values, self.compiler.sites, instruction, pc)
            return access.expectation(self._sources(instruction, pc)[0], mask, guard)

    @property
    def numbering(self) -> Cells:
        """The numbers of the kernel's cells."""
        return accesses(self.compiler.kernel).cells

    def _execute(self, instruction: Instruction, pc: int) -> None:
        sites, has_guard = self.compiler.sites, instruction.guard is not None
        inline = pc in sites.inline and self.values.version.is_inline(pc, has_guard, sites.record)
        if not inline and not is_arithmetic((instruction,)):
            self.values.hand_over()
        if machine_instructions.handles(instruction):
            machine_instructions.emit(self, instruction, pc)
            return
        self.form = opcodes.form(instruction)
        traits = instruction.traits
        if traits.is_branch or traits.is_exit or traits.is_trap:
            self._branch_or_exit(instruction, pc)
        elif traits.is_barrier and "warp" not in instruction.modifiers:
            self._barrier(instruction, pc)
        elif traits.accesses_elements:
            self._write(instruction, pc, self._memory(instruction, pc))
        elif traits.is_matrix:
            self._write(instruction, pc, self._matrix(instruction, pc))
        elif traits.takes_handle:
            self._write(instruction, pc, self._texture(instruction, pc))
        elif traits.is_service:
            self._service(instruction, pc)
        elif instruction.opcode == "createpolicy":
            self._write(instruction, pc, [self.code.const(lanes_of(I64), 0)])
        elif traits.is_asynchronous:
            self._write(instruction, pc, self._asynchronous(instruction, pc))
        elif traits.is_call:
            call = Call.read(instruction)
            raise UnsupportedError(f"'{instruction}'", instruction.location, reason(call) if call else "has no target")
        elif self.compiler.kernel.machine_code and uniform_instructions.is_uniform(self, instruction, pc):
            uniform_instructions.emit(self, instruction, pc)
        elif not traits.is_idle:
            self._write(instruction, pc, self._compute(instruction, pc))

    def _sources(self, instruction: Instruction, pc: int) -> list[tuple[Operand, Type, tuple[Cell, ...]]]:
        """Flattened source operands with their types and the cells of the registers in each."""
        operands = opcodes.flattened(instruction.sources)
        cells = iter(self.compiler.cells_of_sources(instruction, pc))
        return [
            (operand, type_, tuple(cell for _ in registers_of(operand) for cell in next(cells)))
            for operand, type_ in zip(operands, self.form.signature.sources, strict=True)
        ]

    def guard(self, instruction: Instruction, pc: int) -> Value | None:
        """The lanes for which the guard holds, active or not; None without a guard."""
        if instruction.guard is None:
            return None
        held = self.values.get(self.compiler.storage.read[pc][-1])
        return self.values.inverse(held) if instruction.guard.negated else held

    def lanes_of_guard(self, instruction: Instruction, pc: int) -> Value:
        """The active lanes for which the guard holds, as an i32 mask."""
        held = self.guard(instruction, pc)
        return self.values.mask if held is None else self.values.lanes(held)

    def _compute(self, instruction: Instruction, pc: int) -> list[Value]:
        guard, (row, _) = self.guard(instruction, pc), opcodes.resolve(instruction)
        alone = not row.lanes and not any(cell.is_uniform for cell in self.compiler.storage.written[pc])
        with self.values.under(guard if alone else None):
            values = [self.values.operand(o, t, c, instruction) for o, t, c in self._sources(instruction, pc)]
        context = _Context(self.values, guard)
        return [
            Value(self.code, result)
            for result in lane_instructions.emit(context, instruction, [v.llvm for v in values])
        ]

    def _memory(self, instruction: Instruction, pc: int) -> list[Value]:
        access = MemoryAccess(self.values, self.compiler.sites, instruction, pc)
        if polls(instruction, self.compiler.is_cooperative):
            set_slot(self.launch, Slot.YIELD, self.code.const(I64, 1))
        lanes = self.lanes_of_guard(instruction, pc)
        with self.values.under(self.guard(instruction, pc)):
            return access.emit(self._sources(instruction, pc), lanes)

    def _asynchronous(self, instruction: Instruction, pc: int) -> list[Value]:
        access = AsynchronousInstruction(self.values, self.compiler.sites, instruction, pc)
        return access.emit(self._sources(instruction, pc), self.lanes_of_guard(instruction, pc))

    def _matrix(self, instruction: Instruction, pc: int) -> list[Value]:
        matrix = MatrixInstruction(self.values, self.compiler.sites, instruction, pc)
        return matrix.emit(self._sources(instruction, pc), self.lanes_of_guard(instruction, pc))

    def _texture(self, instruction: Instruction, pc: int) -> list[Value]:
        access = TextureAccess(self.values, self.compiler.sites, instruction, pc)
        return access.emit(self._sources(instruction, pc), self.lanes_of_guard(instruction, pc))

    def _write(self, instruction: Instruction, pc: int, results: list[Value]) -> None:
        operands = opcodes.flattened(instruction.results)
        cells = iter(self.compiler.cells_in(self.compiler.storage.written[pc], instruction.results))
        guard = self.guard(instruction, pc)
        numbering = accesses(self.compiler.kernel).cells
        for operand, type_, result in zip(operands, self.form.signature.results, results, strict=True):
            if isinstance(operand, Sink):
                continue
            target = next(cells)
            if self.widths and target[0].bits > 1:
                (register,) = registers_of(operand)
                self.widths.record(numbering.of(register), result, type_.is_signed, guard)
            if target[0].is_uniform and not all(cell.is_uniform for cell in self.compiler.storage.read[pc]):
                result = result.lane(self.first(self.values.mask)).splat()
            self.values.write(target, result, type_.is_signed, guard)

    def _branch_or_exit(self, instruction: Instruction, pc: int) -> None:
        self.taken = self.lanes_of_guard(instruction, pc)
        if instruction.traits.is_indirect:
            self._indirect(instruction, pc)
        elif instruction.traits.is_trap:
            self.trap(instruction, pc)

    def trap(self, instruction: Instruction, pc: int) -> None:
        """End the launch if a lane gets here."""
        self.taken = self.lanes_of_guard(instruction, pc)
        site = self.compiler.sites.site(pc, instruction.guard is not None)
        with self.code.if_(self.taken != 0):
            self.fault(Fault.TRAP, site, self.first(self.taken), self.code.const(I64, 0))

    def fault(self, fault: Fault, site: int, lane: Value, what: Value) -> None:
        """Store a fault in the launch record unless it already has one."""
        with self.code.if_(slot(self.code, self.launch, Slot.FAULT) == 0):
            stops.stop(self.code, self.launch, fault, self.site_address(site), lane, what)

    def _service(self, instruction: Instruction, pc: int) -> None:
        """Store the arguments of a host service in the launch record; the driver stops after the block."""
        self.taken = self.lanes_of_guard(instruction, pc)
        for position, (operand, type_, cells) in enumerate(self._sources(instruction, pc)):
            value = self.values.operand(operand, type_, cells, instruction)
            area = self.launch + (Slot.SERVICE + 32 * position) * 8
            area.store(value.zext(lanes_of(I64)), align=8)
        if instruction.has_result:
            self.compiler.define_resume(instruction, pc)

    def first(self, mask: Value) -> Value:
        """The lowest lane of a mask; 0 if it is empty."""
        return self.code.intrinsic("llvm.cttz.i32", I32, [mask, self.code.const(I1, 0)]) & (LANES - 1)

    def site_address(self, site: int) -> Value:
        return slot(self.code, self.launch, Slot.SITES) + site * SITE_BYTES

    def _indirect(self, instruction: Instruction, pc: int) -> None:
        """Store the target block of each lane in the launch record; an index beyond the table is a fault."""
        operand, _, cells = self._sources(instruction, pc)[0]
        index = self.values.operand(operand, U32, cells, instruction)
        *others, last = self.compiler.successors(pc)
        beyond = (index > len(others)).bitcast(I32) & self.taken
        with self.code.if_(beyond != 0, likely=False):
            lane = self.first(beyond)
            self.fault(Fault.BRANCH_INDEX, self.compiler.sites.site(pc, False), lane, index.lane(lane).zext(I64))
        target = self.code.const(lanes_of(I32), last)
        for position, block in enumerate(others):
            target = (index == position).select(block, target)
        (self.launch + Slot.TARGETS * 8).store(target, align=8)

    def _barrier(self, instruction: Instruction, pc: int) -> None:
        """Store number and thread count of the barrier, and the contributions to ``bar.red``, in the launch record."""
        self.taken = self.lanes_of_guard(instruction, pc)
        numbers = [(o, t, c) for o, t, c in self._sources(instruction, pc) if not t.is_predicate]
        values = [
            self.of_first_lane(o, functools.partial(self.values.operand, o, t, c, instruction)) for o, t, c in numbers
        ]
        arrive = "arrive" in instruction.modifiers
        threads = values[1] if len(values) > 1 else self.code.const(I64, 0)
        self.come_to_barrier(values[0] | (1 << 32) if arrive else values[0], threads)
        if "red" in instruction.modifiers:
            self._reduce(instruction, pc, values[0])

    def come_to_barrier(self, number: Value, threads: Value) -> None:
        """Store the number of a barrier and how many threads it waits for; `Ends` does so for the only one."""
        if not self.compiler.ends.all_wait:
            set_slot(self.launch, Slot.BARRIER, number)
            set_slot(self.launch, Slot.BARRIER_THREADS, threads)

    def of_first_lane(self, operand: Operand, read: Callable[[], Value]) -> Value:
        """The number (i64) that the first lane at a barrier has in an operand of 32 bits, which ``read`` reads."""
        if isinstance(operand, Immediate):
            return self.code.const(I64, operand.value % (1 << 32))
        return read().lane(self.first(self.taken)).zext(I64)

    def _reduce(self, instruction: Instruction, pc: int, barrier: Value) -> None:
        operand, type_, cells = self._sources(instruction, pc)[-1]
        held = self.values.operand(operand, type_, cells, instruction).bitcast(I32) & self.taken
        for first, lanes_ in ((Slot.REDUCED_COUNT, held), (Slot.REDUCED_THREADS, self.taken)):
            field = self.launch + (barrier & 15) * 8 + first * 8
            count = self.code.intrinsic("llvm.ctpop.i32", I32, [lanes_])
            field.store(field.load(I64) + count.zext(I64))
        self.compiler.define_resume(instruction, pc)

    def resume(self, instruction: Instruction, pc: int) -> None:
        """The body of ``resume_N``: store the result of a ``bar.red`` or host service; its width is not recorded."""
        self.widths, self.form = None, opcodes.form(instruction)
        if instruction.traits.is_service:
            results = (self.launch + Slot.SERVICE * 8).load(lanes_of(I64), align=8)
            kind = self.form.signature.results[0]
            self._write(instruction, pc, [self.values.resized(results, kind.bits, signed=False)])
            return
        number = self.values.operand(*self._sources(instruction, pc)[0], instruction)
        barrier = number.lane(self.first(self.lanes_of_guard(instruction, pc))).zext(I64)
        field = self.launch + (barrier & 15) * 8
        count = (field + Slot.REDUCED_COUNT * 8).load(I64)
        if "popc" in instruction.modifiers:
            result = count.trunc(I32).splat()
        else:
            threads = (field + Slot.REDUCED_THREADS * 8).load(I64)
            holds = count == threads if "and" in instruction.modifiers else count != 0
            result = holds.splat()
        self._write(instruction, pc, [result])
