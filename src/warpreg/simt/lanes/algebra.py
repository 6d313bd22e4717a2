"""The algebra of the semantics table over LLVM vectors: integers and predicates.

A value is an LLVM vector ``<32 x iN>`` of bits; a predicate is ``<32 x i1>``.  Known constants are folded while
building.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warpreg.simt.lanes import outlined
from warpreg.simt.lanes.constants import LaneConstant, folded, known, signed, simplified, uniform
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.select_workaround import select

LANES = 32


class IntegerLanes:
    """The integer half of the algebra, building at the end of ``builder``'s block."""

    def __init__(self, builder: Any, module: Any, lanes: int = LANES) -> None:
        self.builder = builder
        self.module = module
        self.lanes = lanes

    def vector(self, bits: int) -> Any:
        """The LLVM type of a value."""
        return ir.VectorType(ir.IntType(bits), self.lanes)

    def constant(self, bits: int, value: int) -> Any:
        return LaneConstant(bits, (value & (1 << bits) - 1,) * self.lanes)

    def lane_ids(self) -> Any:
        return LaneConstant(32, tuple(range(self.lanes)))

    def width(self, a: Any) -> int:
        return int(a.type.element.width)

    def call(self, name: str, result: Any, operands: Sequence[Any]) -> Any:
        """Call an intrinsic whose full name is given."""
        declared = outlined.intrinsic(self.module, name, result, [o.type for o in operands])
        return self.builder.call(declared, operands)

    def call_overloaded(self, name: str, *operands: Any) -> Any:
        """Call an intrinsic overloaded on its result type, which is that of the first operand."""
        result = operands[0].type
        return self.call(f"llvm.{name}.{outlined.suffix(result)}", result, operands)

    def resize(self, operation: str, a: Any, bits: int) -> Any:
        if bits == self.width(a):
            return a
        lanes = known(a)
        if lanes is not None:
            read = [signed(x, self.width(a)) for x in lanes] if operation == "sext" else lanes
            return LaneConstant(bits, tuple(x & (1 << bits) - 1 for x in read))
        return getattr(self.builder, operation)(a, self.vector(bits))

    def zext(self, a: Any, bits: int) -> Any:
        return self.resize("zext", a, bits)

    def sext(self, a: Any, bits: int) -> Any:
        return self.resize("sext", a, bits)

    def trunc(self, a: Any, bits: int) -> Any:
        return self.resize("trunc", a, bits)

    def binary(self, name: str, a: Any, b: Any) -> Any:
        first, second = known(a), known(b)
        if first is not None and second is not None:
            return folded(name, self.width(a), first, second)
        easy = simplified(name, self.width(a), a, b)
        return easy if easy is not None else getattr(self.builder, name)(a, b)

    def add(self, a: Any, b: Any) -> Any:
        return self.binary("add", a, b)

    def sub(self, a: Any, b: Any) -> Any:
        return self.binary("sub", a, b)

    def mul(self, a: Any, b: Any) -> Any:
        return self.binary("mul", a, b)

    def and_(self, a: Any, b: Any) -> Any:
        return self.binary("and_", a, b)

    def or_(self, a: Any, b: Any) -> Any:
        return self.binary("or_", a, b)

    def xor(self, a: Any, b: Any) -> Any:
        return self.binary("xor", a, b)

    def shl(self, a: Any, n: Any) -> Any:
        return self.shift("shl", a, n)

    def lshr(self, a: Any, n: Any) -> Any:
        return self.shift("lshr", a, n)

    def shift(self, name: str, a: Any, n: Any) -> Any:
        """A shift by the width or more gives 0 (undefined in LLVM)."""
        bits, by = self.width(a), uniform(n)
        if by is not None and by >= bits:
            return self.constant(bits, 0)
        shifted = self.binary(name, a, n)
        if by is not None or shifted is a or known(shifted) is not None:
            return shifted
        return self.select(self.ult(n, self.constant(bits, bits)), shifted, self.constant(bits, 0))

    def ashr(self, a: Any, n: Any) -> Any:
        last = self.constant(self.width(a), self.width(a) - 1)
        return self.binary("ashr", a, self.select(self.ult(n, last), n, last))

    def ctpop(self, a: Any) -> Any:
        return self.call_overloaded("ctpop", a)

    def ctlz(self, a: Any) -> Any:
        result = a.type
        defined_at_zero = ir.Constant(ir.IntType(1), 0)
        return self.call(f"llvm.ctlz.{outlined.suffix(result)}", result, [a, defined_at_zero])

    def bitreverse(self, a: Any) -> Any:
        return self.call_overloaded("bitreverse", a)

    def compare(self, name: str, operator: str, a: Any, b: Any) -> Any:
        first, second = known(a), known(b)
        if first is not None and second is not None:
            return folded(name, self.width(a), first, second)
        if name == "ult" and (a is b or uniform(b) == 0):
            return self.constant(1, 0)
        build = self.builder.icmp_signed if name == "slt" else self.builder.icmp_unsigned
        return build(operator, a, b)

    def eq(self, a: Any, b: Any) -> Any:
        return self.compare("eq", "==", a, b)

    def ult(self, a: Any, b: Any) -> Any:
        return self.compare("ult", "<", a, b)

    def slt(self, a: Any, b: Any) -> Any:
        return self.compare("slt", "<", a, b)

    def select(self, p: Any, a: Any, b: Any) -> Any:
        choice = uniform(p)
        if choice is not None:
            return a if choice else b
        lanes, first, second = known(p), known(a), known(b)
        if lanes is not None and first is not None and second is not None:
            chosen = (x if take else y for take, x, y in zip(lanes, first, second, strict=True))
            return LaneConstant(self.width(a), tuple(chosen))
        return select(self.builder, p, a, b)

    def umulh(self, a: Any, b: Any) -> Any:
        """The high half by four products of half width, which vectorize."""
        bits = self.width(a)
        half, low = self.constant(bits, bits // 2), self.constant(bits, (1 << bits // 2) - 1)
        (a1, a0), (b1, b0) = ((self.lshr(x, half), self.and_(x, low)) for x in (a, b))
        cross = self.add(self.mul(a1, b0), self.lshr(self.mul(a0, b0), half))
        middle = self.add(self.mul(a0, b1), self.and_(cross, low))
        return self.add(self.mul(a1, b1), self.add(self.lshr(cross, half), self.lshr(middle, half)))

    def smulh(self, a: Any, b: Any) -> Any:
        """The unsigned high half, minus each operand where the other is negative."""
        sign = self.constant(self.width(a), self.width(a) - 1)
        high = self.umulh(a, b)
        high = self.sub(high, self.and_(b, self.ashr(a, sign)))
        return self.sub(high, self.and_(a, self.ashr(b, sign)))

    def permute(self, a: Any, source: Any) -> Any:
        lanes = known(source)
        if known(a) is not None and uniform(a) is not None:
            return a
        if lanes is not None:
            indices = LaneConstant(32, lanes)
            return self.builder.shuffle_vector(a, a, indices)
        operands = [a.type, source.type]
        name = f"warpreg.permute.{outlined.suffix(a.type)}"
        return self.builder.call(outlined.function(self.module, name, a.type, operands, _permute), [a, source])

    def ballot(self, p: Any) -> Any:
        lanes = known(p)
        if lanes is not None:
            return self.constant(32, sum(lane << index for index, lane in enumerate(lanes)))
        return self.splat(self.builder.bitcast(p, ir.IntType(self.lanes)))

    def splat(self, scalar: Any) -> Any:
        """All lanes hold an LLVM scalar."""
        vector = ir.VectorType(scalar.type, self.lanes)
        undefined = ir.Constant(vector, ir.Undefined)
        first = self.builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(first, undefined, self.constant(32, 0))


def _permute(builder: Any, made: Any) -> None:
    """Through memory: store all lanes, load each lane's source."""
    values, source = made.args
    index = ir.IntType(32)
    slots = builder.alloca(ir.ArrayType(values.type.element, values.type.count))
    slots.align = 64
    builder.store(values, builder.bitcast(slots, values.type.as_pointer()))
    result = ir.Constant(values.type, ir.Undefined)
    for lane in range(values.type.count):
        at = ir.Constant(index, lane)
        place = builder.gep(
            slots, [ir.Constant(index, 0), builder.and_(builder.extract_element(source, at), index(31))]
        )
        result = builder.insert_element(result, builder.load(place), at)
    builder.ret(result)
