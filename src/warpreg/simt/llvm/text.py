"""LLVM IR as text: types, values, functions and a builder.

The builder has the interface of llvmlite's, but writes each instruction directly as one line: generating IR is half of
a kernel's compile time, and this is several times as fast.  Pointers are typed here; in the text they are opaque.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final


class Type:
    """An LLVM type; equal types are one object."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def as_pointer(self) -> PointerType:
        return PointerType(self)


class _Interned(type):
    """A class whose constructor returns the same object for the same arguments."""

    @functools.cache  # noqa: B019 - types live as long as the program
    def __call__(cls, *arguments: Any) -> Any:
        return super().__call__(*arguments)


class IntType(Type, metaclass=_Interned):
    """``iN``; calling it makes a constant."""

    __slots__ = ("width",)

    def __init__(self, width: int) -> None:
        super().__init__(f"i{width}")
        self.width = width

    def __call__(self, value: int) -> Constant:
        return Constant(self, value)


class FloatType(Type, metaclass=_Interned):
    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("float")


class DoubleType(Type, metaclass=_Interned):
    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("double")


class VoidType(Type, metaclass=_Interned):
    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("void")


class MetadataType(Type, metaclass=_Interned):
    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("metadata")


class VectorType(Type, metaclass=_Interned):
    """``count`` lanes of ``element``."""

    __slots__ = ("count", "element")

    def __init__(self, element: Any, count: int) -> None:
        super().__init__(f"<{count} x {element}>")
        self.element = element
        self.count = count


class ArrayType(Type, metaclass=_Interned):
    __slots__ = ("count", "element")

    def __init__(self, element: Any, count: int) -> None:
        super().__init__(f"[{count} x {element}]")
        self.element = element
        self.count = count


class PointerType(Type, metaclass=_Interned):
    __slots__ = ("pointee",)

    def __init__(self, pointee: Any) -> None:
        super().__init__("ptr")
        self.pointee = pointee


class FunctionType(Type):
    """``convention`` is the calling convention, that of C if empty."""

    __slots__ = ("args", "convention", "result")

    def __init__(self, result: Any, args: Iterable[Any], convention: str = "") -> None:
        self.result = result
        self.args = tuple(args)
        self.convention = f"{convention} " if convention else ""
        super().__init__(f"{result} ({', '.join(map(str, self.args))})")


class Value:
    """Something with a type that an instruction can name."""

    __slots__ = ("reference", "type")

    def __init__(self, type_: Any, reference: str) -> None:
        self.type = type_
        self.reference = reference

    def get_reference(self) -> str:
        return self.reference


class Instruction(Value):
    """A computed value; ``opname`` is its opcode, ``operands`` what it was computed from."""

    __slots__ = ("operands", "opname")

    def __init__(self, type_: Any, reference: str, opname: str, operands: tuple[Any, ...]) -> None:
        super().__init__(type_, reference)
        self.opname = opname
        self.operands = operands


class Deferred(Instruction):
    """An instruction that is emitted only if something uses it; ``write`` returns its text after the ``=``."""

    __slots__ = ("_text", "_write")

    def __init__(
        self, type_: Any, reference: str, opname: str, operands: tuple[Any, ...], write: Callable[[], str]
    ) -> None:
        super().__init__(type_, reference, opname, operands)
        self._write = write
        self._text = ""

    def get_reference(self) -> str:
        if not self._text:
            self._text = f"{self.reference} = {self._write()}"
        return self.reference

    def __str__(self) -> str:
        return self._text


Undefined: Final = object()
"""The value of an undefined constant."""


class Constant(Value):
    """A number, a sequence of lane numbers, None for zeros, or Undefined."""

    __slots__ = ()

    def __init__(self, type_: Any, value: Any) -> None:
        super().__init__(type_, _constant_text(type_, value))


def _constant_text(type_: Any, value: Any) -> str:
    if value is Undefined:
        return "undef"
    if value is None:
        return "zeroinitializer" if isinstance(type_, VectorType) else "0"
    if isinstance(type_, VectorType):
        return "<" + ", ".join(f"{type_.element} {int(lane)}" for lane in value) + ">"
    return str(int(value))


class Metadata(Value):
    """A metadata string as an argument."""

    __slots__ = ()

    def __init__(self, text: str) -> None:
        super().__init__(MetadataType(), f'!"{text}"')


class Phi(Value):
    """Joins values that come from several blocks."""

    __slots__ = ("incoming",)

    def __init__(self, type_: Any, reference: str) -> None:
        super().__init__(type_, reference)
        self.incoming: list[tuple[Any, Block]] = []

    def add_incoming(self, value: Any, block: Block) -> None:
        self.incoming.append((value, block))

    def __str__(self) -> str:
        parts = ", ".join(f"[{value.get_reference()}, %{block.name}]" for value, block in self.incoming)
        return f"{self.reference} = phi {self.type} {parts}"


class Alloca(Value):
    """A stack slot; ``align`` is its alignment in bytes, 0 for the type's own."""

    __slots__ = ("align",)

    def __init__(self, type_: Any, reference: str) -> None:
        super().__init__(type_, reference)
        self.align = 0

    def __str__(self) -> str:
        align = f", align {self.align}" if self.align else ""
        return f"{self.reference} = alloca {self.type.pointee}{align}"


class Block:
    """A basic block: lines, or values that print as lines when the function is complete."""

    __slots__ = ("is_terminated", "lines", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: list[Any] = []
        self.is_terminated = False


class Function(Value):
    """A function of a module: a declaration until it has a block."""

    def __init__(self, module: Module, type_: FunctionType, name: str) -> None:
        super().__init__(type_.as_pointer(), f'@"{name}"')
        self.signature = type_
        self.name = name
        self.module = module
        self.args = tuple(Value(kind, f"%a{index}") for index, kind in enumerate(type_.args))
        self.blocks: list[Block] = []
        self.slots: list[Alloca] = []
        self.attributes = {"nounwind"}
        self.linkage = ""
        self._count = 0
        module.globals[name] = self

    def fresh(self, prefix: str = "v") -> str:
        """A new name, unique in the function."""
        self._count += 1
        return f"{prefix}{self._count}"

    def append_basic_block(self, name: str = "b") -> Block:
        block = Block(self.fresh(name))
        self.blocks.append(block)
        return block

    def __str__(self) -> str:
        if not self.blocks:
            types = ", ".join(map(str, self.signature.args))
            return f"declare {self.signature.convention}{self.signature.result} {self.reference}({types})"
        arguments = ", ".join(f"{a.type} {a.reference}" for a in self.args)
        attributes = "".join(f" {a}" for a in sorted(self.attributes))
        linkage = f"{self.linkage} " if self.linkage else ""
        head = f"{linkage}{self.signature.convention}{self.signature.result}"
        lines = [f"define {head} {self.reference}({arguments}){attributes} {{"]
        for block in self.blocks:
            lines.append(f"{block.name}:")
            if block is self.blocks[0]:
                lines += map(str, self.slots)
            lines += map(str, block.lines)
        return "\n".join((*lines, "}"))


class Module:
    """Functions by name, in the order of their appearance."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.globals: dict[str, Function] = {}

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.globals.values())) + "\n"


INTRINSIC = '@"llvm.'
ALIGNED = "alignstack(64)"
"""Attribute of a function that calls others: vectors passed on the stack are aligned."""

UNSIGNED = {"==": "eq", "!=": "ne", "<": "ult", "<=": "ule", ">": "ugt", ">=": "uge"}
SIGNED = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}
ORDERED = {"==": "oeq", "!=": "one", "<": "olt", "<=": "ole", ">": "ogt", ">=": "oge"}
I1 = IntType(1)


class IRBuilder:
    """Appends instructions to a block."""

    def __init__(self, function: Function, block: Block | None = None) -> None:
        self.function = function
        self.module = function.module
        self.block = block or function.append_basic_block("entry")

    def _add(self, type_: Any, opname: str, text: str, operands: tuple[Any, ...] = ()) -> Instruction:
        reference = f"%{self.function.fresh()}"
        self.block.lines.append(f"{reference} = {text}")
        return Instruction(type_, reference, opname, operands)

    def defer(self, type_: Any, opname: str, operands: tuple[Any, ...], write: Callable[[], str]) -> Deferred:
        """Append an instruction that is omitted unless something uses it."""
        deferred = Deferred(type_, f"%{self.function.fresh()}", opname, operands, write)
        self.block.lines.append(deferred)
        return deferred

    def _end(self, text: str) -> None:
        self.block.lines.append(text)
        self.block.is_terminated = True

    def _binary(self, opname: str, a: Any, b: Any) -> Instruction:
        text = f"{opname} {a.type} {a.get_reference()}, {b.get_reference()}"
        return self._add(a.type, opname, text, (a, b))

    def add(self, a: Any, b: Any) -> Instruction:
        return self._binary("add", a, b)

    def sub(self, a: Any, b: Any) -> Instruction:
        return self._binary("sub", a, b)

    def mul(self, a: Any, b: Any) -> Instruction:
        return self._binary("mul", a, b)

    def udiv(self, a: Any, b: Any) -> Instruction:
        return self._binary("udiv", a, b)

    def urem(self, a: Any, b: Any) -> Instruction:
        return self._binary("urem", a, b)

    def sdiv(self, a: Any, b: Any) -> Instruction:
        return self._binary("sdiv", a, b)

    def srem(self, a: Any, b: Any) -> Instruction:
        return self._binary("srem", a, b)

    def and_(self, a: Any, b: Any) -> Instruction:
        return self._binary("and", a, b)

    def or_(self, a: Any, b: Any) -> Instruction:
        return self._binary("or", a, b)

    def xor(self, a: Any, b: Any) -> Instruction:
        return self._binary("xor", a, b)

    def shl(self, a: Any, b: Any) -> Instruction:
        return self._binary("shl", a, b)

    def lshr(self, a: Any, b: Any) -> Instruction:
        return self._binary("lshr", a, b)

    def ashr(self, a: Any, b: Any) -> Instruction:
        return self._binary("ashr", a, b)

    def fadd(self, a: Any, b: Any) -> Instruction:
        return self._binary("fadd", a, b)

    def fsub(self, a: Any, b: Any) -> Instruction:
        return self._binary("fsub", a, b)

    def fmul(self, a: Any, b: Any) -> Instruction:
        return self._binary("fmul", a, b)

    def fdiv(self, a: Any, b: Any) -> Instruction:
        return self._binary("fdiv", a, b)

    def not_(self, a: Any) -> Instruction:
        scalar = a.type.element if isinstance(a.type, VectorType) else a.type
        ones = "true" if scalar.width == 1 else "-1"
        reference = f"splat ({scalar} {ones})" if scalar is not a.type else ones
        return self._add(a.type, "xor", f"xor {a.type} {a.get_reference()}, {reference}")

    def _compare(self, opname: str, relation: str, a: Any, b: Any) -> Instruction:
        result = VectorType(I1, a.type.count) if isinstance(a.type, VectorType) else I1
        return self._add(result, opname, f"{opname} {relation} {a.type} {a.get_reference()}, {b.get_reference()}")

    def icmp_unsigned(self, operator: str, a: Any, b: Any) -> Instruction:
        return self._compare("icmp", UNSIGNED[operator], a, b)

    def icmp_signed(self, operator: str, a: Any, b: Any) -> Instruction:
        return self._compare("icmp", SIGNED[operator], a, b)

    def fcmp_ordered(self, operator: str, a: Any, b: Any) -> Instruction:
        return self._compare("fcmp", ORDERED[operator], a, b)

    def fcmp_unordered(self, relation: str, a: Any, b: Any) -> Instruction:
        return self._compare("fcmp", relation, a, b)

    def _cast(self, opname: str, a: Any, type_: Any) -> Any:
        if a.type is type_:
            return a
        return self._add(type_, opname, f"{opname} {a.type} {a.get_reference()} to {type_}", (a,))

    def zext(self, a: Any, type_: Any) -> Any:
        return self._cast("zext", a, type_)

    def sext(self, a: Any, type_: Any) -> Any:
        return self._cast("sext", a, type_)

    def trunc(self, a: Any, type_: Any) -> Any:
        return self._cast("trunc", a, type_)

    def bitcast(self, a: Any, type_: Any) -> Any:
        if isinstance(type_, PointerType):
            return Value(type_, a.get_reference())
        return self._cast("bitcast", a, type_)

    def inttoptr(self, a: Any, type_: Any) -> Any:
        return self._cast("inttoptr", a, type_)

    def ptrtoint(self, a: Any, type_: Any) -> Any:
        return self._cast("ptrtoint", a, type_)

    def fptrunc(self, a: Any, type_: Any) -> Any:
        return self._cast("fptrunc", a, type_)

    def fpext(self, a: Any, type_: Any) -> Any:
        return self._cast("fpext", a, type_)

    def uitofp(self, a: Any, type_: Any) -> Any:
        return self._cast("uitofp", a, type_)

    def sitofp(self, a: Any, type_: Any) -> Any:
        return self._cast("sitofp", a, type_)

    def fptoui(self, a: Any, type_: Any) -> Any:
        return self._cast("fptoui", a, type_)

    def fptosi(self, a: Any, type_: Any) -> Any:
        return self._cast("fptosi", a, type_)

    def select(self, condition: Any, a: Any, b: Any) -> Instruction:
        parts = ", ".join(f"{x.type} {x.get_reference()}" for x in (condition, a, b))
        return self._add(a.type, "select", f"select {parts}")

    def extract_element(self, vector: Any, index: Any) -> Instruction:
        text = f"extractelement {vector.type} {vector.get_reference()}, {index.type} {index.get_reference()}"
        return self._add(vector.type.element, "extractelement", text)

    def insert_element(self, vector: Any, value: Any, index: Any) -> Instruction:
        parts = ", ".join(f"{x.type} {x.get_reference()}" for x in (vector, value, index))
        return self._add(vector.type, "insertelement", f"insertelement {parts}", (vector, value))

    def shuffle_vector(self, a: Any, b: Any, mask: Any) -> Instruction:
        parts = ", ".join(f"{x.type} {x.get_reference()}" for x in (a, b, mask))
        return self._add(
            VectorType(a.type.element, mask.type.count), "shufflevector", f"shufflevector {parts}", (a, mask)
        )

    def alloca(self, type_: Any) -> Alloca:
        """A stack slot, allocated in the entry block."""
        slot = Alloca(type_.as_pointer(), f"%{self.function.fresh()}")
        self.function.slots.append(slot)
        return slot

    def load(self, pointer: Any, align: int | None = None) -> Instruction:
        pointee = pointer.type.pointee
        aligned = f", align {align}" if align else ""
        return self._add(pointee, "load", f"load {pointee}, ptr {pointer.get_reference()}{aligned}")

    def store(self, value: Any, pointer: Any, align: int | None = None) -> None:
        aligned = f", align {align}" if align else ""
        self.block.lines.append(f"store {value.type} {value.get_reference()}, ptr {pointer.get_reference()}{aligned}")

    def gep(self, pointer: Any, indices: Sequence[Any]) -> Instruction:
        """The address of an element of an array: indices are 0 and the element's."""
        array = pointer.type.pointee
        parts = ", ".join(f"{i.type} {i.get_reference()}" for i in indices)
        return self._add(
            array.element.as_pointer(),
            "getelementptr",
            f"getelementptr {array}, ptr {pointer.get_reference()}, {parts}",
        )

    def offset_pointers(self, base: Any, offsets: Any, element: Any) -> Instruction:
        """Pointers to ``element`` at byte offsets (a vector of i64) from the address ``base`` (i64)."""
        pointer = self.inttoptr(base, IntType(8).as_pointer())
        text = f"getelementptr i8, ptr {pointer.get_reference()}, {offsets.type} {offsets.get_reference()}"
        return self._add(VectorType(element.as_pointer(), offsets.type.count), "getelementptr", text)

    def call(self, function: Any, arguments: Sequence[Any]) -> Any:
        if not function.get_reference().startswith(INTRINSIC):
            self.function.attributes.add(ALIGNED)
        return self._called("call", function, arguments)

    def tail_call(self, function: Any, arguments: Sequence[Any]) -> Any:
        """A call that reuses the frame of its caller; all arguments must be in registers: on the stack, they would not
        be aligned."""
        return self._called("tail call", function, arguments)

    def jump(self, function: Any, arguments: Sequence[Any]) -> None:
        """End by jumping to a function with the signature of this one."""
        self.ret(self._called("musttail call", function, arguments))

    def _called(self, opcode: str, function: Any, arguments: Sequence[Any]) -> Any:
        signature = function.type.pointee
        result = signature.result
        given = ", ".join(f"{a.type} {a.get_reference()}" for a in arguments)
        text = f"{opcode} {signature.convention}{result} {function.get_reference()}({given})"
        if isinstance(result, VoidType):
            self.block.lines.append(text)
            return Value(result, "")
        return self._add(result, "call", text)

    def phi(self, type_: Any) -> Phi:
        phi = Phi(type_, f"%{self.function.fresh()}")
        self.block.lines.append(phi)
        return phi

    def ret(self, value: Any) -> None:
        self._end(f"ret {value.type} {value.get_reference()}")

    def ret_void(self) -> None:
        self._end("ret void")

    def unreachable(self) -> None:
        self._end("unreachable")

    def branch(self, block: Block) -> None:
        self._end(f"br label %{block.name}")

    def cbranch(self, condition: Any, then: Block, otherwise: Block, likely: bool | None = None) -> None:
        """Conditional branch; ``likely`` is whether the condition is usually true, None if unknown."""
        weights = ", ".join(f"i32 {n}" for n in ((99, 1) if likely else (1, 99)))
        profile = "" if likely is None else f', !prof !{{!"branch_weights", {weights}}}'
        targets = f"label %{then.name}, label %{otherwise.name}"
        self._end(f"br i1 {condition.get_reference()}, {targets}{profile}")

    def append_basic_block(self, name: str = "b") -> Block:
        return self.function.append_basic_block(name)

    def position_at_end(self, block: Block) -> None:
        self.block = block

    @contextmanager
    def _branch_body(self, block: Block, after: Block) -> Iterator[None]:
        self.block = block
        yield
        if not self.block.is_terminated:
            self.branch(after)

    @contextmanager
    def if_then(self, condition: Any, likely: bool | None = None) -> Iterator[None]:
        then, after = self.append_basic_block("then"), self.append_basic_block("after")
        self.cbranch(condition, then, after, likely)
        with self._branch_body(then, after):
            yield
        self.block = after

    @contextmanager
    def if_else(
        self, condition: Any, likely: bool | None = None
    ) -> Iterator[tuple[AbstractContextManager[None], AbstractContextManager[None]]]:
        then, otherwise = self.append_basic_block("then"), self.append_basic_block("else")
        after = self.append_basic_block("after")
        self.cbranch(condition, then, otherwise, likely)
        yield self._branch_body(then, after), self._branch_body(otherwise, after)
        self.block = after
