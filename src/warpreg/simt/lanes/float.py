"""Floating point over LLVM vectors: values are vectors of bits, and are cast to float or double inside an operation."""

from __future__ import annotations

from typing import Any

from warpreg.ir.opcodes.arithmetic.floating import number
from warpreg.simt.lanes import nans, outlined
from warpreg.simt.lanes.constants import FloatConstant, LaneConstant
from warpreg.simt.lanes.division import DividingLanes
from warpreg.simt.llvm import text as ir

ROUND_TO_INTEGRAL = {"rn": "roundeven", "rz": "trunc", "rm": "floor", "rp": "ceil"}


class VectorLanes(DividingLanes):
    """The whole algebra of `warpreg.ir.opcodes.Algebra`."""

    def float_vector(self, bits: int) -> Any:
        return ir.VectorType(ir.FloatType() if bits == 32 else ir.DoubleType(), self.lanes)

    def as_float(self, a: Any) -> Any:
        """The bits read as floating point."""
        if isinstance(a, LaneConstant):
            return FloatConstant(a, self.float_vector(self.width(a)))
        if isinstance(a, ir.Instruction) and a.opname == "bitcast":
            operand = a.operands[0]
            if operand.type == self.float_vector(self.width(a)):
                return operand
        return self.builder.bitcast(a, self.float_vector(self.width(a)))

    def as_bits(self, a: Any) -> Any:
        return self.builder.bitcast(a, self.vector(32 if a.type.element == ir.FloatType() else 64))

    def _arithmetic(self, operation: str, rounding: str, *operands: Any) -> Any:
        numbers = [self.as_float(o) for o in operands]
        type_ = numbers[0].type
        if rounding != "rn":
            function = outlined.rounded(self.module, operation, rounding, type_, [type_] * len(numbers))
            return self.as_bits(self.builder.call(function, numbers))
        if operation in ("fma", "sqrt"):
            return self.as_bits(self.call_overloaded(operation, *numbers))
        return self.as_bits(getattr(self.builder, operation)(*numbers))

    def fadd(self, a: Any, b: Any, rounding: str = "rn") -> Any:
        return self._arithmetic("fadd", rounding, a, b)

    def fsub(self, a: Any, b: Any, rounding: str = "rn") -> Any:
        return self._arithmetic("fsub", rounding, a, b)

    def fmul(self, a: Any, b: Any, rounding: str = "rn") -> Any:
        return self._arithmetic("fmul", rounding, a, b)

    def fdiv(self, a: Any, b: Any, rounding: str = "rn") -> Any:
        return self._arithmetic("fdiv", rounding, a, b)

    def fma(self, a: Any, b: Any, c: Any, rounding: str = "rn") -> Any:
        return self._arithmetic("fma", rounding, a, b, c)

    def fsqrt(self, a: Any, rounding: str = "rn") -> Any:
        return self._arithmetic("sqrt", rounding, a)

    def fmin(self, a: Any, b: Any) -> Any:
        return self.as_bits(self.call_overloaded("minimumnum", self.as_float(a), self.as_float(b)))

    def fmax(self, a: Any, b: Any) -> Any:
        return self.as_bits(self.call_overloaded("maximumnum", self.as_float(a), self.as_float(b)))

    def fcmp(self, relation: str, a: Any, b: Any) -> Any:
        if relation == "uno" and a is b and isinstance(a, ir.Instruction):
            return nans.is_nan(self.builder, a, self.as_float(a))
        if relation == "uno":
            return self.builder.fcmp_unordered("uno", self.as_float(a), self.as_float(b))
        operator = {"oeq": "==", "olt": "<", "ole": "<="}[relation]
        return self.builder.fcmp_ordered(operator, self.as_float(a), self.as_float(b))

    def select(self, p: Any, a: Any, b: Any) -> Any:
        canonical = nans.canonical(self.builder, p, a, b)
        return super().select(p, a, b) if canonical is None else canonical

    def fround(self, a: Any, rounding: str) -> Any:
        return self.as_bits(self.call_overloaded(ROUND_TO_INTEGRAL[rounding], self.as_float(a)))

    def float_resize(self, a: Any, bits: int, rounding: str = "rn") -> Any:
        value, type_ = self.as_float(a), self.float_vector(bits)
        if bits == 64:
            return self.as_bits(self.builder.fpext(value, type_))
        if rounding == "rn":
            return self.as_bits(self.builder.fptrunc(value, type_))
        function = outlined.rounded(self.module, "fptrunc", rounding, type_, [value.type])
        return self.as_bits(self.builder.call(function, [value]))

    def int_to_float(self, a: Any, signed: bool, bits: int, rounding: str = "rn") -> Any:
        """Directed rounding: a double holds 32 bits exactly; for 64 bits, the halves are added with that rounding."""
        build = self.builder.sitofp if signed else self.builder.uitofp
        if rounding == "rn":
            return self.as_bits(build(a, self.float_vector(bits)))
        double = self.float_vector(64)
        if self.width(a) <= 32:
            exact = self.as_bits(build(a, double))
        else:
            half = self.constant(64, 32)
            high = build(self.ashr(a, half) if signed else self.lshr(a, half), double)
            low = self.builder.uitofp(self.trunc(a, 32), double)
            scaled = self.fmul(self.as_bits(high), number(self, 64, 2.0**32))
            exact = self.fadd(scaled, self.as_bits(low), rounding)
        return exact if bits == 64 else self.float_resize(exact, 32, rounding)

    def float_to_int(self, a: Any, signed: bool, bits: int) -> Any:
        """Out-of-range values are replaced by 0: LLVM leaves their conversion undefined, and scalarizes the saturating
        conversion."""
        width, converted_bits = self.width(a), max(bits, 32)
        low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
        least, limit = number(self, width, float(low)), number(self, width, float(high))
        inside = self.and_(self.fcmp("ole", least, a), self.fcmp("olt", a, limit))
        safe = self.as_float(self.select(inside, a, self.constant(width, 0)))
        build = self.builder.fptosi if signed else self.builder.fptoui
        whole = self.trunc(build(safe, self.vector(converted_bits)), bits)
        whole = self.select(self.fcmp("ole", limit, a), self.constant(bits, high - 1), whole)
        return self.select(self.fcmp("olt", a, least), self.constant(bits, low), whole)
