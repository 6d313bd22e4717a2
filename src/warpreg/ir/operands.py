"""Operands of an instruction.  Virtual and architected registers are the same class."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union

from warpreg.ir.types import Type


@dataclass(frozen=True, slots=True)
class Register:
    """A virtual register (``index`` -1) or an architected one.

    An architected register ``R4`` of a 64-bit type names the aligned pair R4, R5; a 128-bit one four registers.
    Predicates (``type`` pred) are numbered separately: P0, P1, ...; so are uniform registers and uniform predicates,
    one per warp: UR0, ..., UP0, ...; and convergence barriers (``B0``), which hold a mask of lanes per warp.
    """

    name: str
    type: Type
    index: int = -1

    @property
    def is_architected(self) -> bool:
        return self.index >= 0

    @property
    def is_predicate(self) -> bool:
        return self.type.is_predicate

    @property
    def is_uniform(self) -> bool:
        """Whether it is an architected register of the uniform datapath."""
        return self.index >= 0 and self.name.startswith("U")

    @property
    def is_convergence_barrier(self) -> bool:
        """Whether it is one of the warp's 16 convergence barriers of machine code."""
        return self.index >= 0 and self.name.startswith("B")

    @property
    def words(self) -> tuple[int, ...]:
        """Indices of the 32-bit registers of the register file that it covers; empty for predicates, uniform registers
        and virtual registers."""
        if self.index < 0 or self.is_uniform or self.is_convergence_barrier:
            return ()
        return tuple(range(self.index, self.index + self.type.words))

    def __str__(self) -> str:
        wide = self.index >= 0 and self.type.bits > 32
        return f"{self.name}.{self.type.bits}" if wide else self.name


@dataclass(frozen=True, slots=True)
class Immediate:
    """A constant.  ``form`` is ``int`` (``value`` as written, any sign) or ``f32``/``f64`` (``value`` holds the
    bits)."""

    value: int
    form: str = "int"

    @property
    def as_float(self) -> float:
        """The number that an ``f32`` or ``f64`` constant represents, or the integer as a float."""
        if self.form == "f32":
            return float(struct.unpack("<f", struct.pack("<I", self.value))[0])
        if self.form == "f64":
            return float(struct.unpack("<d", struct.pack("<Q", self.value))[0])
        return float(self.value)

    def __str__(self) -> str:
        if self.form == "f32":
            return f"0f{self.value:08X}"
        if self.form == "f64":
            return f"0d{self.value:016X}"
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Special:
    """A special register with its component, for example ``%tid.x`` or ``%laneid``."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Symbol:
    """The name of a variable, parameter or function; its value is the address."""

    name: str
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.name}{self.offset:+d}" if self.offset else self.name


@dataclass(frozen=True, slots=True)
class Label:
    """A branch target or branch table."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class ConstantBank:
    """A word of a constant bank, read without a register.

    Bank 0 holds the kernel's parameters (``offset`` in bytes in PTX's layout), bank 3 the constant variables
    (``offset`` bytes into variable ``name``), bank 4 the addresses of module variables (``offset`` is added to the
    address of ``name``).  In machine code, bank 0 holds the launch's own words before the parameters
    (`Kernel.parameters` say where these are).  ``index`` is a register with bytes to add to the offset; ``word`` is 1
    for the upper word of an address."""

    bank: int
    offset: int
    type: Type
    name: str = ""
    index: Register | None = None
    word: int = 0

    def __str__(self) -> str:
        place = f"{self.name}{self.offset:+d}" if self.name else f"{self.offset:#x}"
        place += ".upper" * self.word
        return f"c[{self.bank}][{self.index}+{place}]" if self.index else f"c[{self.bank}][{place}]"


@dataclass(frozen=True, slots=True)
class Address:
    """A memory operand ``[base + offset]`` or ``[base + uniform + offset]``; ``offset`` in bytes.

    ``uniform`` is a value that is equal in all threads of a warp; with it, a base of 0 is not written.  ``scale``
    multiplies the base (machine code: ``[R4.X8]``).  ``descriptor`` is the pair of uniform registers that describes the
    memory in machine code (``desc[UR4]``); it is read and changes nothing here."""

    base: Register | Symbol | Immediate | ConstantBank
    offset: int = 0
    uniform: Register | None = None
    scale: int = 1
    descriptor: Register | None = None

    def __str__(self) -> str:
        terms = f"{self.base}.X{self.scale}" if self.scale > 1 else str(self.base)
        if self.uniform:
            terms = self.uniform.name if self.base == Immediate(0) else f"{terms}+{self.uniform.name}"
        return f"[{terms}{self.offset:+d}]" if self.offset else f"[{terms}]"


@dataclass(frozen=True, slots=True)
class Vector:
    """A brace list ``{a, b, c, d}``."""

    elements: tuple[Operand, ...]

    def __str__(self) -> str:
        return "{" + ", ".join(map(str, self.elements)) + "}"


@dataclass(frozen=True, slots=True)
class Not:
    """A negated predicate operand ``!p``."""

    operand: Register

    def __str__(self) -> str:
        return f"!{self.operand}"


@dataclass(frozen=True, slots=True)
class Part:
    """A source of a video instruction: byte ``b0``..``b3`` or half ``h0``, ``h1`` of a register, or its negative."""

    register: Register
    selector: str = ""
    negated: bool = False

    def __str__(self) -> str:
        sign = "-" if self.negated else ""
        return f"{sign}{self.register}.{self.selector}" if self.selector else f"{sign}{self.register}"


@dataclass(frozen=True, slots=True)
class ModifiedOperand:
    """A source of machine code with source modifiers: absolute value first, then negation (``-|R4|``), bitwise or
    predicate inversion (``~R4``), and the ``part`` of the register that is used (``H0_H0``, ``B1``, ...)."""

    operand: Register | ConstantBank | Immediate
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    part: str = ""

    def __str__(self) -> str:
        text = f"{self.operand}.{self.part}" if self.part else str(self.operand)
        text = f"|{text}|" if self.absolute else text
        return f"{'-' if self.negated else ''}{'~' if self.inverted else ''}{text}"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two destinations ``p|q`` of ``setp``, ``shfl`` or ``match``."""

    first: Operand
    second: Operand

    def __str__(self) -> str:
        return f"{self.first}|{self.second}"


@dataclass(frozen=True, slots=True)
class Arguments:
    """A parenthesised list of a call sequence."""

    elements: tuple[Operand, ...]

    def __str__(self) -> str:
        return "(" + ", ".join(map(str, self.elements)) + ")"


@dataclass(frozen=True, slots=True)
class AddressTuple:
    """A texture, surface or tensor operand ``[name, {coordinates}, ...]``."""

    elements: tuple[Operand, ...]

    def __str__(self) -> str:
        return "[" + ", ".join(map(str, self.elements)) + "]"


@dataclass(frozen=True, slots=True)
class Sink:
    """The bit bucket ``_``."""

    def __str__(self) -> str:
        return "_"


Operand = Union[
    Register,
    Immediate,
    Special,
    Symbol,
    Label,
    ConstantBank,
    Address,
    Vector,
    Not,
    Part,
    ModifiedOperand,
    Pair,
    Arguments,
    AddressTuple,
    Sink,
]


def registers_of(operand: Operand) -> Iterator[Register]:
    """Every register inside an operand, left to right."""
    if isinstance(operand, Register):
        yield operand
    else:
        for inner in _inside(operand):
            yield from registers_of(inner)


def _inside(operand: Operand) -> tuple[Operand, ...]:
    """The operands that one is made of."""
    if isinstance(operand, Address):
        return tuple(o for o in (operand.base, operand.uniform, operand.descriptor) if o)
    if isinstance(operand, (Vector, Arguments, AddressTuple)):
        return operand.elements
    if isinstance(operand, Pair):
        return operand.first, operand.second
    if isinstance(operand, (Not, ModifiedOperand)):
        return (operand.operand,)
    if isinstance(operand, Part):
        return (operand.register,)
    return (operand.index,) if isinstance(operand, ConstantBank) and operand.index else ()
