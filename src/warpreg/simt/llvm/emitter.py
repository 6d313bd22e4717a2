"""Structured LLVM code that reads like Python: values with operators, variables, ``if_`` and ``while_``.

The driver and the memory operations are written with it.  All integer comparisons, divisions and right shifts are
unsigned unless a method says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.select_workaround import fenced, select

I1, I8, I16, I32, I64 = (ir.IntType(n) for n in (1, 8, 16, 32, 64))
LANES = 32
FULL = (1 << LANES) - 1
"""The mask of all lanes, as a number."""
MASK = ir.VectorType(I1, LANES)


def lanes_of(element: Any) -> Any:
    """The 32-lane vector type of an element type."""
    return ir.VectorType(element, LANES)


class SplatConstant(ir.Constant):
    """A vector constant with the same scalar in all lanes, printed in short form."""

    def __init__(self, type_: Any, scalar: int) -> None:
        super().__init__(type_, None)
        self.reference = f"splat ({type_.element} {scalar})"


def constant(type_: Any, value: int | Sequence[int]) -> Any:
    """A constant; a vector constant repeats a scalar ``value`` or takes a sequence of lane values."""
    if isinstance(type_, ir.VectorType) and isinstance(value, int):
        return SplatConstant(type_, int(value))
    return ir.Constant(type_, value)


class Value:
    """An SSA value with operators; Python integers on the other side become constants of its type.

    Comparisons generate code instead of comparing in Python, so a value is not hashable.
    """

    __slots__ = ("code", "llvm")

    def __init__(self, code: Code, llvm: Any) -> None:
        self.code = code
        self.llvm = llvm

    @property
    def type(self) -> Any:
        return self.llvm.type

    def _other(self, other: Value | int) -> Any:
        return other.llvm if isinstance(other, Value) else constant(self.type, other)

    def _binary(self, name: str, other: Value | int) -> Value:
        return Value(self.code, getattr(self.code.builder, name)(self.llvm, self._other(other)))

    def _compare(self, operator: str, other: Value | int) -> Value:
        return Value(self.code, self.code.builder.icmp_unsigned(operator, self.llvm, self._other(other)))

    def __add__(self, other: Value | int) -> Value:
        return self._binary("add", other)

    def __sub__(self, other: Value | int) -> Value:
        return self._binary("sub", other)

    def __mul__(self, other: Value | int) -> Value:
        return self._binary("mul", other)

    def __floordiv__(self, other: Value | int) -> Value:
        return self._binary("udiv", other)

    def __mod__(self, other: Value | int) -> Value:
        return self._binary("urem", other)

    def __and__(self, other: Value | int) -> Value:
        return self._binary("and_", other)

    def __or__(self, other: Value | int) -> Value:
        return self._binary("or_", other)

    def __xor__(self, other: Value | int) -> Value:
        return self._binary("xor", other)

    def __lshift__(self, other: Value | int) -> Value:
        return self._binary("shl", other)

    def __rshift__(self, other: Value | int) -> Value:
        return self._binary("lshr", other)

    def __invert__(self) -> Value:
        return Value(self.code, self.code.builder.not_(self.llvm))

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        assert isinstance(other, (Value, int))
        return self._compare("==", other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        assert isinstance(other, (Value, int))
        return self._compare("!=", other)

    def __lt__(self, other: Value | int) -> Value:
        return self._compare("<", other)

    def __le__(self, other: Value | int) -> Value:
        return self._compare("<=", other)

    def __gt__(self, other: Value | int) -> Value:
        return self._compare(">", other)

    def __ge__(self, other: Value | int) -> Value:
        return self._compare(">=", other)

    __hash__ = None  # type: ignore[assignment]

    def zext(self, type_: Any) -> Value:
        return self if self.type == type_ else Value(self.code, self.code.builder.zext(self.llvm, type_))

    def sext(self, type_: Any) -> Value:
        return self if self.type == type_ else Value(self.code, self.code.builder.sext(self.llvm, type_))

    def trunc(self, type_: Any) -> Value:
        return self if self.type == type_ else Value(self.code, self.code.builder.trunc(self.llvm, type_))

    def bitcast(self, type_: Any) -> Value:
        return Value(self.code, self.code.builder.bitcast(self.llvm, type_))

    def select(self, then: Value | int, otherwise: Value) -> Value:
        first = then.llvm if isinstance(then, Value) else constant(otherwise.type, then)
        return Value(self.code, select(self.code.builder, self.llvm, first, otherwise.llvm))

    def lane(self, index: int | Value) -> Value:
        at = index.llvm if isinstance(index, Value) else constant(I32, index)
        return Value(self.code, self.code.builder.extract_element(self.llvm, at))

    def splat(self) -> Value:
        """All 32 lanes hold this scalar."""
        vector = lanes_of(self.type)
        nothing, zeros = ir.Constant(vector, ir.Undefined), ir.Constant(lanes_of(I32), None)
        one = self.code.builder.insert_element(nothing, self.llvm, constant(I32, 0))
        return Value(self.code, self.code.builder.shuffle_vector(one, nothing, zeros))

    def part(self, first: int, count: int) -> Value:
        """Some elements of a vector."""
        picked = self.code.const(ir.VectorType(I32, count), list(range(first, first + count)))
        return Value(self.code, self.code.builder.shuffle_vector(self.llvm, self.llvm, picked.llvm))

    def joined(self, following: Value) -> Value:
        """The elements of two vectors of the same length."""
        count = 2 * self.type.count
        picked = self.code.const(ir.VectorType(I32, count), list(range(count)))
        return Value(self.code, self.code.builder.shuffle_vector(self.llvm, following.llvm, picked.llvm))

    def load(self, type_: Any, align: int = 0) -> Value:
        """The content of this address."""
        pointer = self.code.pointer(self, type_)
        return Value(self.code, self.code.builder.load(pointer, align=align or None))

    def store(self, value: Value, align: int = 0) -> None:
        """Write ``value`` at this address."""
        self.code.builder.store(value.llvm, self.code.pointer(self, value.type), align=align or None)


def apart(loaded: Value) -> Value:
    """A vector from memory that LLVM does not fold with a select and a store into a masked store: these are very slow
    on some processors without AVX-512, and a load does not get its value from one that has not reached the cache.
    """
    return Value(loaded.code, fenced(loaded.code.builder, loaded.llvm))


class Variable:
    """A mutable local; LLVM promotes it to a register."""

    __slots__ = ("code", "slot")

    def __init__(self, code: Code, initial: Value) -> None:
        self.code = code
        self.slot = code.builder.alloca(initial.type)
        self.set(initial)

    def get(self) -> Value:
        return Value(self.code, self.code.builder.load(self.slot))

    def set(self, value: Value) -> None:
        self.code.builder.store(value.llvm, self.slot)


class Code:
    """A function under construction."""

    def __init__(self, module: Any, name: str, result: Any, arguments: Sequence[Any], convention: str = "") -> None:
        self.module = module
        declared = module.globals.get(name)
        self.function = declared or ir.Function(module, ir.FunctionType(result, list(arguments), convention), name)
        self.builder = ir.IRBuilder(self.function)
        self.arguments = [Value(self, argument) for argument in self.function.args]
        self._breaks: list[Any] = []

    def const(self, type_: Any, value: Any) -> Value:
        return Value(self, constant(type_, value))

    def undefined(self, type_: Any) -> Value:
        return Value(self, ir.Constant(type_, ir.Undefined))

    def var(self, initial: Value) -> Variable:
        return Variable(self, initial)

    def array(self, element: Any, count: int) -> Value:
        """The address (i64) of a stack array, 64-byte aligned."""
        slot = self.builder.alloca(ir.ArrayType(element, count))
        slot.align = 64
        return Value(self, self.builder.ptrtoint(slot, I64))

    def pointer(self, address: Value, type_: Any) -> Any:
        return self.builder.inttoptr(address.llvm, type_.as_pointer())

    def ret(self, value: Value | None = None) -> None:
        if value is None:
            self.builder.ret_void()
        else:
            self.builder.ret(value.llvm)

    def call(self, function: Any, arguments: Sequence[Value]) -> Value:
        return Value(self, self.builder.call(function, [a.llvm for a in arguments]))

    def tail_call(self, function: Any, arguments: Sequence[Value]) -> Value:
        """Call a function before returning its result; all arguments must be in registers."""
        return Value(self, self.builder.tail_call(function, [a.llvm for a in arguments]))

    def jump(self, function: Any, arguments: Sequence[Value]) -> None:
        """End by jumping to a function with the signature of this one."""
        self.builder.jump(function, [a.llvm for a in arguments])

    def jump_to(self, address: Value, arguments: Sequence[Value]) -> None:
        """End by jumping to the function with the signature of this one that is at an address."""
        target = self.builder.inttoptr(address.llvm, self.function.signature.as_pointer())
        self.builder.jump(target, [a.llvm for a in arguments])

    def call_at(self, address: Value, result: Any, arguments: Sequence[Value]) -> Value:
        """Call the function at an address."""
        signature = ir.FunctionType(result, [a.type for a in arguments])
        target = self.builder.inttoptr(address.llvm, signature.as_pointer())
        return Value(self, self.builder.call(target, [a.llvm for a in arguments]))

    def intrinsic(self, name: str, result: Any, arguments: Sequence[Value]) -> Value:
        """Call an intrinsic by its full name, declared on first use."""
        signature = ir.FunctionType(result, [a.type for a in arguments])
        function = self.module.globals.get(name) or ir.Function(self.module, signature, name)
        return self.call(function, arguments)

    @contextmanager
    def if_(self, condition: Value, likely: bool | None = None) -> Iterator[None]:
        with self.builder.if_then(condition.llvm, likely=likely):
            yield

    @contextmanager
    def if_else(self, condition: Value) -> Iterator[tuple[Any, Any]]:
        with self.builder.if_else(condition.llvm) as (then, otherwise):
            yield then, otherwise

    def choose(self, condition: Value, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """The value of one of two pieces of code, of which only one is executed; ``then`` is likely."""
        (value,) = self.choose_several(condition, lambda: [then()], lambda: [otherwise()])
        return value

    def choose_several(
        self, condition: Value, then: Callable[[], list[Value]], otherwise: Callable[[], list[Value]]
    ) -> list[Value]:
        """The same for pieces of code with several values, as many in each."""
        values, blocks = [], []
        with self.builder.if_else(condition.llvm, likely=True) as branches:
            for branch, emit in zip(branches, (then, otherwise), strict=True):
                with branch:
                    values.append(emit())
                    blocks.append(self.builder.block)
        return [self._joined(alternatives, blocks) for alternatives in zip(*values, strict=True)]

    def _joined(self, alternatives: Sequence[Value], blocks: Sequence[Any]) -> Value:
        """The value that comes from one of several blocks."""
        joined = self.builder.phi(alternatives[0].type)
        for value, block in zip(alternatives, blocks, strict=True):
            joined.add_incoming(value.llvm, block)
        return Value(self, joined)

    @contextmanager
    def loop(self) -> Iterator[None]:
        """Repeat until ``break_`` or a return."""
        body = self.builder.append_basic_block("loop")
        after = self.builder.append_basic_block("after")
        self.builder.branch(body)
        self.builder.position_at_end(body)
        self._breaks.append(after)
        yield
        self._breaks.pop()
        if not self.builder.block.is_terminated:
            self.builder.branch(body)
        self.builder.position_at_end(after)

    def break_(self) -> None:
        self.builder.branch(self._breaks[-1])

    def lowest_bit(self, bits: Value) -> Value:
        """Index of the lowest set bit of a non-zero i64."""
        return self.intrinsic("llvm.cttz.i64", I64, [bits, self.const(I1, 1)])

    @contextmanager
    def each_set_bit(self, mask: Value) -> Iterator[Value]:
        """Run the body for each set bit of an i32, lowest first, with its index (i32)."""
        rest = self.var(mask)
        with self.loop():
            with self.if_(rest.get() == 0):
                self.break_()
            bit = self.intrinsic("llvm.cttz.i32", I32, [rest.get(), self.const(I1, 1)])
            rest.set(rest.get() & (rest.get() - 1))
            yield bit
