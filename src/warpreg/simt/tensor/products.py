"""Native matrix products: one function per instruction form, ``D registers(A..., B..., C... registers)``.

Registers are vectors of 32 lanes; those of D are returned concatenated in one vector.  Elements of A are stored to
memory, a row of B becomes a vector of eight columns, and a row of D is a sum over the inner dimension, lowest index
first.  `warpreg.ir.opcodes.tensor` defines the rounding.  Small integers are multiplied exactly as doubles too; single
bits are processed as words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from warpreg.ir.opcodes.arithmetic.floating import canonical
from warpreg.ir.opcodes.arithmetic.sixteen_bit import F16, joined, narrowed_double
from warpreg.ir.tensor import Fragment, MatrixProduct
from warpreg.simt.lanes import lane_instructions, outlined
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, LANES, Code, Value, lanes_of
from warpreg.simt.tensor.elements import decoded

COLUMNS = 8
"""Columns that are summed in one vector."""

DOUBLE, SINGLE = ir.DoubleType(), ir.FloatType()


@dataclass(frozen=True)
class ProductOperation:
    """The native operation of one `MatrixProduct`."""

    product: MatrixProduct

    @property
    def name(self) -> str:
        p = self.product
        shape = f"m{p.rows}n{p.columns}k{p.inner}"
        options = [p.bitwise, p.rounding, "wmma" if p.wmma else "mma", *(p.layouts if p.quad_pairs else ())]
        return "_".join([shape, p.d, p.a, p.b, p.c, *filter(None, options), "satfinite" if p.saturates else "wraps"])

    @property
    def register(self) -> Any:
        """The LLVM type of a register of C or D."""
        return I64 if self.product.d == "f64" else I32

    @property
    def result(self) -> Any:
        """All registers of D as one vector."""
        return ir.VectorType(self.register, LANES * self.product.fragment("d").registers)

    def arguments(self) -> list[Any]:
        """The vector type of each register of A, B and C."""
        element = lanes_of(self.register)
        return [element for matrix in "abc" for _ in range(self.product.fragment(matrix).registers)]

    def module(self) -> str:
        """LLVM IR that defines the operation under its name."""
        module = ir.Module(self.name)
        code = Code(module, self.name, self.result, self.arguments())
        code.ret(_Multiplication(code, self.product).result())
        return str(module)


def split(code: Code, operation: ProductOperation, whole: Value) -> list[Value]:
    """The registers of a result."""
    picks = (code.const(lanes_of(I32), list(range(first, first + LANES))) for first in _starts(operation))
    return [Value(code, code.builder.shuffle_vector(whole.llvm, whole.llvm, pick.llvm)) for pick in picks]


def _starts(operation: ProductOperation) -> range:
    return range(0, operation.result.count, LANES)


@dataclass
class _Multiplication:
    """The body of one operation: operands decoded to vectors of doubles (or of words of bits), and summed."""

    code: Code
    product: MatrixProduct
    stored: dict[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.bitwise = bool(self.product.bitwise)
        self.number: Any = I32 if self.bitwise else DOUBLE
        self.bytes = 4 if self.bitwise else 8
        registers = iter(self.code.arguments)
        self.operands = {
            m: self._decoded(m, [next(registers) for _ in range(self.product.fragment(m).registers)]) for m in "abc"
        }

    def _decoded(self, matrix: str, registers: list[Value]) -> list[Value]:
        """The elements of an operand, 32 lanes each, as numbers to compute with."""
        fragment = self.product.fragment(matrix)
        kind = self.product.element_type(matrix)
        return [n for r in registers[: fragment.distinct] for n in decoded(self.code, r, kind, fragment.packed)]

    def _memory(self, matrix: str) -> Value:
        """The address of an operand's elements in memory, in order, 32 lanes each."""
        if matrix not in self.stored:
            elements = self.operands[matrix]
            array = self.code.array(self.number, LANES * len(elements))
            for index, element in enumerate(elements):
                (array + index * LANES * self.bytes).store(element, align=64)
            self.stored[matrix] = array
        return self.stored[matrix]

    def _scalar(self, matrix: str, element: int, lane: int) -> Value:
        return (self._memory(matrix) + (element * LANES + lane) * self.bytes).load(self.number)

    def result(self) -> Value:
        """The registers of D as one vector."""
        sums = self._sums()
        fragment = self.product.fragment("d")
        numbers = [self._finished(element, lanes_, sums) for element, lanes_ in enumerate(fragment.elements)]
        registers = [
            self._packed(numbers[first : first + fragment.packed]) for first in range(0, len(numbers), fragment.packed)
        ]
        return self._concatenated(registers)

    def _sums(self) -> Value:
        """The address of the sums of products, row by row; for f64 they include the accumulator."""
        p, code = self.product, self.code
        sums = code.array(self.number, p.products * p.rows * p.columns)
        places = {m: _places(p.fragment(m)) for m in "abc"}
        inner = p.inner // 32 if p.a == "b1" else p.inner
        for which, tile in ((w, t) for w in range(p.products) for t in range(0, p.columns, COLUMNS)):
            columns = [self._row("b", [places["b"][which, k, tile + n] for n in range(COLUMNS)]) for k in range(inner)]
            for row in range(p.rows):
                total: Value | None = None
                if p.d == "f64":
                    total = self._row("c", [places["c"][which, row, tile + n] for n in range(COLUMNS)])
                for k in range(inner):
                    total = self._step(self._scalar("a", *places["a"][which, row, k]), columns[k], total)
                assert total is not None
                at = ((which * p.rows + row) * p.columns + tile) * self.bytes
                (sums + at).store(total, align=64)
        return sums

    def _row(self, matrix: str, places: list[tuple[int, int]]) -> Value:
        """Eight numbers of an operand by element and lane: one shuffle if they are of one element."""
        code = self.code
        if len({element for element, _ in places}) == 1:
            whole = self.operands[matrix][places[0][0]].llvm
            picked = ir.Constant(ir.VectorType(I32, COLUMNS), [lane for _, lane in places])
            return Value(code, code.builder.shuffle_vector(whole, whole, picked))
        return self._gathered([self._scalar(matrix, *place) for place in places])

    def _gathered(self, scalars: list[Value]) -> Value:
        vector: Any = ir.Constant(ir.VectorType(self.number, len(scalars)), ir.Undefined)
        for index, scalar in enumerate(scalars):
            vector = self.code.builder.insert_element(vector, scalar.llvm, ir.Constant(I32, index))
        return Value(self.code, vector)

    def _step(self, a: Value, columns: Value, total: Value | None) -> Value:
        """One element of A times a row of B, added to the sum so far."""
        code, builder, type_ = self.code, self.code.builder, columns.type
        nothing, zeros = ir.Constant(type_, ir.Undefined), ir.Constant(ir.VectorType(I32, COLUMNS), None)
        one = builder.insert_element(nothing, a.llvm, ir.Constant(I32, 0))
        factor = Value(code, builder.shuffle_vector(one, nothing, zeros))
        if self.bitwise:
            bits = factor ^ columns if self.product.bitwise == "xor" else factor & columns
            ones = code.intrinsic(f"llvm.ctpop.v{COLUMNS}i32", type_, [bits])
            return ones if total is None else total + ones
        if total is None:
            return Value(code, builder.fmul(factor.llvm, columns.llvm))
        if self.product.rounding != "rn":
            rounded = outlined.rounded(code.module, "fma", self.product.rounding, type_, [type_] * 3)
            return Value(code, builder.call(rounded, [factor.llvm, columns.llvm, total.llvm]))
        return code.intrinsic(f"llvm.fma.v{COLUMNS}f64", type_, [factor, columns, total])

    def _finished(self, element: int, places: tuple[tuple[int, int, int], ...], sums: Value) -> Value:
        """One element of D in all lanes, as the bits of its type."""
        p = self.product
        offsets = [((which * p.rows + row) * p.columns + column) * self.bytes for which, row, column in places]
        total = self._gathered([(sums + offset).load(self.number) for offset in offsets])
        if p.d == "f64":
            return self._with_canonical_nan(total.bitcast(lanes_of(I64)))
        held = _places(p.fragment("c"))
        if all(held[place] == (element, lane) for lane, place in enumerate(places)):
            start = self.operands["c"][element]
        else:
            start = self._gathered([self._scalar("c", *held[place]) for place in places])
        return self._whole_sum(start, total) if p.d == "s32" else self._rounded(start, total)

    def _whole_sum(self, start: Value, total: Value) -> Value:
        if not self.bitwise:
            total = Value(self.code, self.code.builder.fptosi(total.llvm, start.type))
        if not self.product.saturates:
            return start + total
        return self.code.intrinsic(f"llvm.sadd.sat.v{LANES}i32", start.type, [start, total])

    def _rounded(self, start: Value, total: Value) -> Value:
        builder = self.code.builder
        double = builder.fadd(total.llvm, start.llvm)
        if self.product.d == "f16":
            bits = builder.bitcast(double, lanes_of(I64))
            return Value(self.code, narrowed_double(lane_instructions.algebra(builder, self.code.module), F16, bits))
        single = builder.fptrunc(double, lanes_of(SINGLE))
        return self._with_canonical_nan(Value(self.code, builder.bitcast(single, lanes_of(I32))))

    def _with_canonical_nan(self, bits: Value) -> Value:
        return Value(self.code, canonical(lane_instructions.algebra(self.code.builder, self.code.module), bits.llvm))

    def _packed(self, elements: list[Value]) -> Value:
        """A register of D from its elements."""
        if len(elements) == 1:
            return elements[0]
        algebra = lane_instructions.algebra(self.code.builder, self.code.module)
        return Value(self.code, joined(algebra, elements[0].llvm, elements[1].llvm))

    def _concatenated(self, vectors: list[Value]) -> Value:
        while len(vectors) > 1:
            width = 2 * vectors[0].type.count
            both = ir.Constant(ir.VectorType(I32, width), list(range(width)))
            vectors = [
                Value(self.code, self.code.builder.shuffle_vector(a.llvm, b.llvm, both)) for a, b in _pairs(vectors)
            ]
        return vectors[0]


def _pairs(vectors: list[Value]) -> Iterator[tuple[Value, Value]]:
    return zip(vectors[::2], vectors[1::2], strict=True)


def _places(fragment: Fragment) -> dict[tuple[int, int, int], tuple[int, int]]:
    """The element and lane of each matrix position."""
    return {place: (element, lane) for place, element, lane in fragment.holders()}
