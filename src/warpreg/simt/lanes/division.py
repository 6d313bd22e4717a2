"""Integer division over LLVM vectors, without traps.

Up to 32 bits it uses double precision, which is exact: a non-integer quotient of two 32-bit integers differs by at
least 2**-32 from the next integer, and the relative rounding error is 2**-53.  Division of 64 bits is one host division
per lane, in a function.
"""

from __future__ import annotations

from typing import Any

from warpreg.simt.lanes import outlined
from warpreg.simt.lanes.algebra import IntegerLanes
from warpreg.simt.lanes.constants import known, signed
from warpreg.simt.llvm import text as ir


class DividingLanes(IntegerLanes):
    """Adds quotients and remainders."""

    def udiv(self, a: Any, b: Any) -> Any:
        return self._divide("udiv", a, b)

    def urem(self, a: Any, b: Any) -> Any:
        return self._divide("urem", a, b)

    def sdiv(self, a: Any, b: Any) -> Any:
        return self._divide("sdiv", a, b)

    def srem(self, a: Any, b: Any) -> Any:
        return self._divide("srem", a, b)

    def _divide(self, name: str, a: Any, b: Any) -> Any:
        bits, divisors = self.width(a), known(b)
        if divisors is not None and all(signed(x, bits) not in (0, -1) for x in divisors):
            return getattr(self.builder, name)(a, b)
        if bits == 64:
            function = outlined.function(
                self.module,
                f"warpreg.{name}.64",
                a.type,
                [a.type, b.type],
                lambda builder, made: _host(name, builder, made),
            )
            return self.builder.call(function, [a, b])
        if name.endswith("rem"):
            quotient = self._divide(name[0] + "div", a, b)
            return self.sub(a, self.mul(quotient, b))
        return self._quotient(name == "sdiv", a, b)

    def _quotient(self, is_signed: bool, a: Any, b: Any) -> Any:
        bits = self.width(a)
        if bits < 32:
            wide = (self.sext if is_signed else self.zext)(a, 32), (self.sext if is_signed else self.zext)(b, 32)
            return self.trunc(self._quotient(is_signed, *wide), bits)
        double = ir.VectorType(ir.DoubleType(), self.lanes)
        zero, one, ones = (self.constant(32, x) for x in (0, 1, -1))
        by_zero = self.eq(b, zero)
        divisor = self.select(by_zero, one, b)
        if not is_signed:
            numerator, divisor = (self.builder.uitofp(x, double) for x in (a, divisor))
            quotient = self.builder.fptoui(self.builder.fdiv(numerator, divisor), a.type)
            return self.select(by_zero, ones, quotient)
        by_minus_one = self.eq(b, ones)
        divisor = self.select(by_minus_one, one, divisor)
        numerator, divisor = (self.builder.sitofp(x, double) for x in (a, divisor))
        quotient = self.builder.fptosi(self.builder.fdiv(numerator, divisor), a.type)
        return self.select(by_zero, ones, self.select(by_minus_one, self.sub(zero, a), quotient))


def _host(name: str, builder: Any, made: Any) -> None:
    """Divide by 1 where the host would trap, and select the defined result there."""
    a, b = made.args
    lanes = IntegerLanes(builder, builder.module, a.type.count)
    zero, one, ones = (lanes.constant(64, x) for x in (0, 1, -1))
    by_zero, by_minus_one = lanes.eq(b, zero), lanes.eq(b, ones)
    guarded = lanes.or_(by_zero, by_minus_one) if name[0] == "s" else by_zero
    result = getattr(builder, name)(a, lanes.select(guarded, one, b))
    if name == "sdiv":
        result = lanes.select(by_minus_one, lanes.sub(zero, a), result)
    builder.ret(lanes.select(by_zero, ones if name.endswith("div") else a, result))
