"""Matrix instructions inside a basic block: ``mma``, ``wmma``, ``ldmatrix`` and ``stmatrix``.

All lanes of the warp must execute them; otherwise the launch ends with a fault.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.ir.tensor import product_of
from warpreg.ir.tensor.matrix_memory import Piece, matrix_in_memory
from warpreg.simt.block.native_records import Fault
from warpreg.simt.block.stops import stop_if, stop_unless_whole
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, LANES, Value, lanes_of
from warpreg.simt.memory.load_store import Operation
from warpreg.simt.memory.memory_instructions import MemoryAccess, Source
from warpreg.simt.tensor.products import ProductOperation, split

ROW_BYTES = 16
"""A row of eight 16-bit elements."""


class MatrixInstruction(MemoryAccess):
    """One matrix instruction of a block."""

    def emit(self, sources: list[Source], mask: Value) -> list[Value]:
        """Execute it; returns the registers that it writes."""
        site = self.new_site()
        stop_unless_whole(self.code, self.values.launch, site, mask)
        if self.instruction.traits.accesses_memory:
            whole = self.instruction.modifiers[0] in ("load", "store")
            return self._large(sources, site, mask) if whole else self._small(sources, site, mask)
        operation = ProductOperation(product_of(self.instruction.opcode, self.instruction.modifiers))
        given = self.operands(sources)
        return split(self.code, operation, self.call_native(operation, operation.result, given))

    def _large(self, sources: list[Source], site: Value, mask: Value) -> list[Value]:
        """``wmma.load`` and ``wmma.store``."""
        matrix = matrix_in_memory(self.instruction.modifiers)
        base, given = self.address(sources[0]), self.operands(sources[1:])
        stored = 0 if matrix.loaded else matrix.fragment.registers
        stride = given[stored] if len(given) > stored else self.code.const(lanes_of(I32), matrix.stride)
        line = stride.zext(base.type)

        def address(piece: Piece) -> Value:
            distance = (line * self.code.const(base.type, piece.lines) * matrix.bits) >> 3
            return base + distance + self.code.const(base.type, piece.offsets)

        registers = []
        for number in range(matrix.fragment.distinct):
            value = given[number] if stored else None
            pieces = [(p.shift, p.size, address(p)) for p in matrix.pieces(number)]
            registers += self._register(pieces, number == 0, site, mask, value)
        return [registers[n % len(registers)] for n in range(matrix.fragment.registers)] if registers else []

    def _small(self, sources: list[Source], site: Value, mask: Value) -> list[Value]:
        """``ldmatrix`` and ``stmatrix``: lane 8 j + i has the address of row i of matrix j."""
        return self._matrices(self.address(sources[0]), self.operands(sources[1:]), site, mask)

    def _matrices(self, rows: Value, given: list[Value], site: Value, mask: Value) -> list[Value]:
        count = next(int(m[1:]) for m in self.instruction.modifiers if m in ("x1", "x2", "x4"))
        naming = (1 << 8 * count) - 1
        askew = ((rows & (ROW_BYTES - 1)) != 0).bitcast(I32) & mask & naming
        stop_if(self.code, self.values.launch, Fault.MISALIGNED, site, askew, rows)
        registers = []
        for number in range(count):
            value = given[number] if given else None
            registers += self._register(list(self._row_pieces(rows, number)), number == 0, site, mask, value)
        return registers

    def _row_pieces(self, rows: Value, number: int) -> Iterator[tuple[int, int, Value]]:
        """The location of a lane's two elements: in one row, or in one column of a transposed matrix."""
        if "trans" in self.instruction.modifiers:
            for part in range(2):
                lines = [8 * number + lane % 4 * 2 + part for lane in range(LANES)]
                yield 16 * part, 2, self._rows(rows, lines, [lane // 4 * 2 for lane in range(LANES)])
        else:
            lines = [8 * number + lane // 4 for lane in range(LANES)]
            yield 0, 4, self._rows(rows, lines, [lane % 4 * 4 for lane in range(LANES)])

    def _rows(self, rows: Value, lines: list[int], offsets: list[int]) -> Value:
        pick = self.code.const(lanes_of(I32), lines)
        picked = Value(self.code, self.code.builder.shuffle_vector(rows.llvm, rows.llvm, pick.llvm))
        return picked + self.code.const(rows.type, offsets)

    def _register(
        self, pieces: list[tuple[int, int, Value]], first: bool, site: Value, mask: Value, value: Value | None
    ) -> list[Value]:
        """Load a register from its pieces (shift, bytes, addresses), or store ``value`` to them.

        A recording contains the addresses of the instruction's first access.
        """
        whole: Value | None = None
        for shift, size, address in pieces:
            recorded = self.sites.record and first and shift == 0
            operation = Operation("load" if value is None else "store", self.space, size, recorded)
            if value is not None:
                self.call(operation, site, mask, [address, (value >> shift).trunc(lanes_of(operation.element))])
                continue
            part = self.call(operation, site, mask, [address])
            wide = part.zext(lanes_of(ir.IntType(max(32, 8 * size)))) << shift
            whole = wide if whole is None else whole | wide
        return [] if whole is None else [whole]


class MachineMatrices(MatrixInstruction):
    """LDSM and STSM of machine code, given as ``ldmatrix`` or ``stmatrix``."""

    def moved(self, rows: Value, given: list[Value], mask: Value) -> list[Value]:
        """Load the registers, or store ``given``; ``rows`` are the addresses of rows in shared memory."""
        site = self.new_site()
        stop_unless_whole(self.code, self.values.launch, site, mask)
        return self._matrices(rows, given, site, mask)
