"""Matrix instructions: the lanes of a warp provide their registers, and one of them computes with exact numbers.

``wmma`` fragments are opaque in PTX.  Here, element i of lane l is number ``32 i + l`` of the matrix, row by row, which
differs from the executor.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

from tests.reference import floats
from tests.reference.conversion import convert
from tests.reference.matrix_layouts import BITS, Shape, per_register, place
from tests.reference.number import F16, F32, F64, Format, mask, signed
from tests.reference.operands import Execute, Operands, Read, elements, space_of
from tests.reference.reader import Statement
from tests.reference.thread import Thread, Waiting

MATRIX = ("mma", "wmma", "ldmatrix", "stmatrix", "movmatrix")
EVERYONE = 0xFFFFFFFF
BF16, E4M3, E5M2 = Format(16, 8, -133, 0x7FFF), Format(8, 4, -9, 0x7F), Format(8, 3, -16, 0x7F)

Registers = tuple[int, ...]
Matrix = dict[tuple[int, int, int], int]
Together = Callable[[list[Thread], dict[int, Registers]], dict[int, Registers]]


class MatrixStatement:
    """One statement: what a lane brings, and what the warp makes of it."""

    def __init__(self, operands: Operands, s: Statement, address: Read | None) -> None:
        self.s, self.operands, self.address = s, operands, address
        shape = next(filter(None, (re.fullmatch(r"m(\d+)n(\d+)k(\d+)", m) for m in s.modifiers)), None)
        self.shape: Shape = (int(shape[1]), int(shape[2]), int(shape[3])) if shape else (8, 8, 0)

    def execute(self) -> Execute:
        """Stop until the whole warp is there."""
        s = self.s
        bits = "b64" if "f64" in s.modifiers else "b32"
        has_result = "store" not in s.modifiers and s.opcode != "stmatrix"
        targets = elements(s.operands[0]) if has_result else []
        given = [o for o in (s.operands[1:] if has_result else s.operands) if not o.startswith("[")]
        reads = [self.operands.reader(e, bits if o.startswith("{") else "b32") for o in given for e in elements(o)]
        writes = [self.operands.writer(t, bits) for t in targets]
        if self.address:
            reads.insert(0, self.address)

        def resume(thread: Thread, *registers: int) -> None:
            thread.frame.pc += 1
            for write, pattern in zip(writes, registers, strict=True):
                write(thread, pattern)

        def wait(thread: Thread) -> None:
            key = (EVERYONE, *[read(thread) for read in reads])
            thread.waiting = Waiting(s, resume, key, self.together)

        return wait

    def together(self, lanes: list[Thread], given: dict[int, Registers]) -> dict[int, Registers]:
        """The registers that each lane gets."""
        if self.s.opcode == "movmatrix":
            rows = _rows_of([given[lane][0] for lane in range(32)])
            return {lane: (rows[lane % 4 * 2][lane // 4] | rows[lane % 4 * 2 + 1][lane // 4] << 16,) for lane in given}
        if self.s.opcode in ("ldmatrix", "stmatrix"):
            return self._small(lanes, given)
        if self.s.modifiers[0] in ("load", "store"):
            return self._large(lanes, given)
        return self._multiply(given)

    def _small(self, lanes: list[Thread], given: dict[int, Registers]) -> dict[int, Registers]:
        count = int(next(m for m in self.s.modifiers if re.fullmatch("x[124]", m))[1:])
        found: dict[int, list[int]] = {lane: [] for lane in given}
        for number, row, column in product(range(count), range(8), range(8)):
            memory, at = lanes[0].memory_of(space_of(self.s), given[8 * number + row][0])
            memory.check_alignment(at, 16)
            r, c = (column, row) if "trans" in self.s.modifiers else (row, column)
            lane, part = 4 * r + c // 2, c % 2
            if self.s.opcode == "stmatrix":
                memory.store(at + 2 * column, 2, given[lane][1 + number] >> 16 * part & 0xFFFF)
                continue
            while len(found[lane]) <= number:
                found[lane].append(0)
            found[lane][number] |= memory.load(at + 2 * column, 2) << 16 * part
        return {lane: tuple(registers) for lane, registers in found.items()}

    def _types(self) -> dict[str, str]:
        kinds = [m for m in self.s.modifiers if m in BITS]
        d, a, b, c = kinds if len(kinds) == 4 else (kinds[0], "f16", "f16", kinds[1])
        return {"a": a, "b": b, "c": c, "d": d}

    def _extent(self, matrix: str) -> tuple[int, int]:
        rows, columns, inner = self.shape
        return {"a": (rows, inner), "b": (inner, columns)}.get(matrix, (rows, columns))

    def _places(self, matrix: str, kind: str, lane: int, registers: int) -> list[tuple[int, int, int]]:
        count = registers * per_register(kind)
        if self.s.opcode == "wmma":
            rows, columns = self._extent(matrix)
            numbers = ((32 * i + lane) % (rows * columns) for i in range(count))
            return [(0, *divmod(number, columns)) for number in numbers]
        layouts = [m for m in self.s.modifiers if m in ("row", "col")]
        of = place(matrix, self.shape, kind, layouts[1] if matrix == "b" else layouts[0])
        return [of(lane, i) for i in range(count)]

    def _multiply(self, given: dict[int, Registers]) -> dict[int, Registers]:
        s, kinds = self.s, self._types()
        counts = [len(elements(o)) for o in s.operands]
        starts = {"a": 0, "b": counts[1], "c": counts[1] + counts[2]}
        matrices: dict[str, Matrix] = {}
        for matrix, first in starts.items():
            number = counts["dabc".index(matrix)]
            matrices[matrix] = {}
            for lane, registers in given.items():
                values = _unpacked(registers[first : first + number], kinds[matrix])
                places = self._places(matrix, kinds[matrix], lane, number)
                matrices[matrix].update(zip(places, values, strict=True))
        results: Matrix = {}
        for key, start in matrices["c"].items():
            which, row, column = key
            pairs = [(matrices["a"][which, row, k], matrices["b"][which, k, column]) for k in range(self.shape[2])]
            results[key] = self._sum(kinds, pairs, start)
        return {
            lane: _packed([results[p] for p in self._places("d", kinds["d"], lane, counts[0])], kinds["d"])
            for lane in given
        }

    def _sum(self, kinds: dict[str, str], pairs: list[tuple[int, int]], start: int) -> int:
        """An element of D as a pattern."""
        if kinds["d"] == "s32":
            total = signed(start, 32) + sum(self._whole(kinds, a, b) for a, b in pairs)
            if "satfinite" in self.s.modifiers:
                total = min(max(total, -(1 << 31)), (1 << 31) - 1)
            return total & mask(32)
        if kinds["d"] == "f64":
            mode = next((m for m in self.s.modifiers if m in ("rn", "rz", "rm", "rp")), "rn")
            for a, b in pairs:
                start = floats.fused(F64, a, b, start, mode)
            return start
        total = -1
        for a, b in pairs:
            term = floats.multiply(F64, _double(kinds["a"], a), _double(kinds["b"], b), "rn")
            total = term if total < 0 else floats.add(F64, total, term, "rn")
        total = floats.add(F64, total, _double(kinds["c"], start), "rn")
        return convert(("rn",), "f32" if kinds["d"] == "f32" else "f16", "f64", total)

    def _whole(self, kinds: dict[str, str], a: int, b: int) -> int:
        if kinds["a"] == "b1":
            return a & b if "and" in self.s.modifiers else a ^ b
        x, y = (signed(n, BITS[k]) if k.startswith("s") else n for n, k in ((a, kinds["a"]), (b, kinds["b"])))
        return x * y

    def _large(self, lanes: list[Thread], given: dict[int, Registers]) -> dict[int, Registers]:
        """``wmma.load`` and ``wmma.store``: lines of ``stride`` elements, by bit position in memory."""
        s = self.s
        matrix, kind = s.modifiers[1], s.modifiers[-1]
        stored = s.modifiers[0] == "store"
        list_ = s.operands[1 if stored else 0]
        registers = len(elements(list_))
        rows, columns = self._extent(matrix)
        by_rows = "row" in s.modifiers
        has_stride = len(s.operands) > 2
        stride = given[0][-1] if has_stride else (columns if by_rows else rows)
        memory, base = lanes[0].memory_of(space_of(s), given[0][0])
        results: dict[int, tuple[int, ...]] = {}
        for lane, values in given.items():
            places = self._places(matrix, kind, lane, registers)
            bits = [(r * stride + c if by_rows else c * stride + r) * BITS[kind] for _, r, c in places]
            if stored:
                for at, value in zip(bits, _unpacked(values[1 : 1 + registers], kind), strict=True):
                    memory.store(base + at // 8, BITS[kind] // 8, value)
                results[lane] = ()
            else:
                size = max(1, BITS[kind] // 8)
                loaded = [memory.load(base + at // 8, size) >> at % 8 & mask(BITS[kind]) for at in bits]
                results[lane] = _packed(loaded, kind)
        return results


def _rows_of(registers: list[int]) -> list[list[int]]:
    """The 8 x 8 matrix of 16-bit elements that 32 registers hold, two neighbours of a row each."""
    flat = [half for r in registers for half in (r & 0xFFFF, r >> 16)]
    return [flat[8 * row : 8 * row + 8] for row in range(8)]


def _unpacked(registers: Registers, kind: str) -> list[int]:
    count = per_register(kind)
    return [r >> (BITS[kind] * i) & mask(BITS[kind]) for r in registers for i in range(count)]


def _packed(values: list[int], kind: str) -> Registers:
    count = per_register(kind)
    groups = (values[i : i + count] for i in range(0, len(values), count))
    return tuple(sum(v << BITS[kind] * i for i, v in enumerate(group)) for group in groups)


def _double(kind: str, pattern: int) -> int:
    """The same number as a double."""
    if kind == "tf32":
        pattern &= ~0x1FFF
    form = {"f16": F16, "bf16": BF16, "e4m3": E4M3, "e5m2": E5M2}.get(kind, F32)
    if form is E4M3:
        return F64.nan if pattern & 0x7F == 0x7F else F64.round(form.exact(pattern), "rn")
    if form.is_nan(pattern):
        return F64.nan
    if form.is_infinite(pattern):
        return F64.signed_bits(form.sign(pattern), F64.infinity)
    return F64.round(form.exact(pattern), "rn")
