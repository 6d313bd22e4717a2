"""Rows of the table, and their application to one instruction.

A row's *syntax* is written as in the PTX manual: ``add[.sat].s32``, with brackets around optional parts and ``(a|b)``
for alternatives.  Its *types* have the form ``results <- sources``, for example ``W <- T T``:

=========  ======================================================================================
``T``      the last type modifier (the only one of most opcodes)
``T0``     the first type modifier (``cvt`` and ``set`` name the result's type first)
``W``      the integer type of twice the width of T
``B``      the untyped bits of T's width
``T*n``    as many T as the vector modifier states (``v2``: 2)
``CC``     the carry flag, which PTX does not write as an operand
``p?``     an optional operand
``...``    any number of 64-bit operands (labels, symbols)
=========  ======================================================================================

Any other word is the name of a PTX type; ``address`` is the 64-bit address of a memory operand.
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warpreg.ir.opcodes.trait import Flow, Trait
from warpreg.ir.types import PRED, TYPES, U64, Kind, Type

if TYPE_CHECKING:
    from warpreg.ir.instruction import Instruction


class Unit(enum.Enum):
    """Which function unit executes an instruction."""

    ALU = "alu"
    SFU = "sfu"
    MEM = "mem"
    TEX = "tex"
    CTRL = "ctrl"
    DP = "dp"
    TENSOR = "tensor"


class Latency(enum.Enum):
    """Latency class: how long a dependent instruction waits; a machine gives the cycles.

    ``GLOBAL`` leaves the SM: global and local loads, and atomics that return a global value.  ``STORE`` has no
    dependent instruction: stores, reductions and prefetches.
    """

    ALU = "alu"
    SFU = "sfu"
    DP = "dp"
    TENSOR = "tensor"
    SHARED = "shared"
    CONSTANT = "constant"
    GLOBAL = "global"
    TEXTURE = "texture"
    STORE = "store"
    CONTROL = "control"

    @property
    def is_long(self) -> bool:
        """Whether it is long-latency in the sense of the two-level scheduler."""
        return self in (Latency.GLOBAL, Latency.TEXTURE)


UNIT_LATENCY = {
    Unit.SFU: Latency.SFU,
    Unit.DP: Latency.DP,
    Unit.TENSOR: Latency.TENSOR,
    Unit.CTRL: Latency.CONTROL,
}
"""The default latency class of a unit's instructions; ALU for units that are not listed."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The type of each operand slot, with brace lists and pairs flattened, without the carry flag."""

    results: tuple[Type, ...]
    sources: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a source that a video instruction uses, named by ``selector`` (whole register without one), or its
    negative.
    """

    selector: str = ""
    negated: bool = False


@dataclass(frozen=True)
class Form:
    """An opcode with its modifiers and signature: everything besides operand values that a meaning may depend on.

    For a video instruction, ``selections`` are the parts of its sources (empty if all are whole registers),
    ``destination`` is the part of the register that it writes.
    """

    opcode: str
    modifiers: tuple[str, ...]
    signature: Signature
    selections: tuple[Selection, ...] = ()
    destination: str = ""

    def part(self, index: int) -> Selection:
        """The part of its register that source ``index`` names."""
        return self.selections[index] if self.selections else Selection()

    def has(self, modifier: str) -> bool:
        return modifier in self.modifiers

    @functools.cached_property
    def types(self) -> tuple[Type, ...]:
        return types_of(self.modifiers)

    @functools.cached_property
    def type(self) -> Type:
        """The last type modifier."""
        return self.types[-1]

    @functools.cached_property
    def bits(self) -> int:
        return self.type.bits

    @functools.cached_property
    def signed(self) -> bool:
        return self.type.is_signed

    @functools.cached_property
    def rounding(self) -> str:
        """The floating-point rounding; ``rn`` by default."""
        return next((m for m in self.modifiers if m in ("rn", "rz", "rm", "rp")), "rn")

    @property
    def ftz(self) -> bool:
        return "ftz" in self.modifiers

    @property
    def sat(self) -> bool:
        return "sat" in self.modifiers


Meaning = Callable[..., Any]
"""``meaning(m, f, *sources) -> result`` or a tuple of results, over an `Algebra` m and the `Form` f.

If the types contain ``CC``, the carry is the last source, and is returned as the last result.
"""


@dataclass(frozen=True)
class Opcode:
    """One row of the table."""

    syntax: str
    types: str
    meaning: Meaning | None = None
    """None if memory, control flow or other lanes are involved."""
    unit: Unit = Unit.ALU
    latency: Latency | Callable[[tuple[str, ...]], Latency] | None = None
    effect: str = ""
    """Describes the effect in words where there is no meaning."""
    lanes: bool = False
    """The meaning takes the mask of active lanes (a predicate value) before its sources."""
    update: Meaning | None = None
    """Computes the new value of an atomic operation from the old one."""
    outlined: bool = False
    """A long composition that compiled code should call instead of inlining."""
    arrangement: Callable[[Instruction], Signature | None] | None = None
    """Returns the signature if it depends on the grouping of operands; None if they do not match."""
    reads_only: bool = False
    """An effect that changes nothing, so that the instruction can be removed."""
    constants: bool = True
    """Whether the compiler may substitute a constant for one source, as most of NVIDIA's arithmetic allows; False if
    operands must stay as written.
    """
    keeps_signs: bool = False
    """A row of machine code whose meaning applies the negation of its sources itself."""
    traits: Trait = Trait.NONE
    """What else it does."""
    flow: Flow = Flow.NEXT
    """Of rows of machine code: where a warp goes behind it."""
    space: str = ""
    """The state space that it accesses, where no modifier names it; ``generic`` if the address decides."""

    @functools.cached_property
    def name(self) -> str:
        """The base opcode."""
        return re.split(r"[.\[]", self.syntax, maxsplit=1)[0]

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        text = self.syntax.replace("(", "(?:").replace("[", "(?:").replace("]", ")?").replace(".", r"\.")
        return re.compile(text)

    @functools.cached_property
    def _slots(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        results, sources = self.types.split("<-")
        return tuple(results.split()), tuple(sources.split())

    @property
    def reads_carry(self) -> bool:
        return "CC" in self._slots[1]

    @property
    def writes_carry(self) -> bool:
        return "CC" in self._slots[0]

    @property
    def has_result(self) -> bool:
        """Whether its first operand is a destination; that of machine code always is."""
        return bool(self._slots[0])

    @property
    def takes_address(self) -> bool:
        """Whether a source is an address in memory; those of the texture unit are handles."""
        return "address" in self._slots[1] and self.unit is not Unit.TEX

    @property
    def is_pure(self) -> bool:
        """Whether it only computes results from its operands, lane by lane."""
        return self.meaning is not None and not self.lanes and bool(self._slots[0])

    @property
    def is_removable(self) -> bool:
        """Whether it can be removed if nothing reads its result."""
        return self.is_pure or self.reads_only

    @property
    def takes_constant(self) -> bool:
        """Whether the compiler may substitute a constant for one source."""
        return self.is_pure and self.constants

    def latency_of(self, modifiers: tuple[str, ...]) -> Latency:
        if isinstance(self.latency, Latency):
            return self.latency
        if self.latency is not None:
            return self.latency(modifiers)
        return UNIT_LATENCY.get(self.unit, Latency.ALU)

    def signature(self, modifiers: tuple[str, ...], results: int, sources: int) -> Signature | None:
        """The types of these numbers of flattened result and source operands; None if the row does not match the
        numbers.
        """
        types = types_of(modifiers)
        found = [_fill(slots, types, modifiers, n) for slots, n in zip(self._slots, (results, sources), strict=True)]
        return None if None in found else Signature(*(f for f in found if f is not None))


def types_of(modifiers: tuple[str, ...]) -> tuple[Type, ...]:
    """The type modifiers, in order."""
    return tuple(TYPES[m] for m in modifiers if m in TYPES)


def _fill(
    slots: tuple[str, ...], types: tuple[Type, ...], modifiers: tuple[str, ...], n: int
) -> tuple[Type, ...] | None:
    required = [s for s in slots if s != "CC"]
    absent = sum(1 if s.endswith("?") else 0 for s in required)
    spare = n - sum(_count(s, modifiers) for s in required if s != "...") + absent
    filled: list[Type] = []
    for slot in required:
        if slot == "...":
            filled += [U64] * max(0, n - len(filled))
        elif slot.endswith("?"):
            if spare > 0:
                filled.append(_type_named(slot[:-1], types))
                spare -= 1
        else:
            filled += [_type_named(slot.split("*")[0], types)] * _count(slot, modifiers)
    if len(filled) == n:
        return tuple(filled)
    whole = filled[0] if len(filled) == 1 else None
    return (
        (TYPES[f"b{whole.bits // n}"],) * n
        if whole and n in (2, 4, 8) and whole.bits >= 8 * n and "B" in slots
        else None
    )


def _count(slot: str, modifiers: tuple[str, ...]) -> int:
    if not slot.endswith("*n"):
        return 1
    return next((int(m[1:]) for m in modifiers if m in ("v2", "v4", "v8")), 1)


def _type_named(name: str, types: tuple[Type, ...]) -> Type:
    if name == "T":
        return types[-1]
    if name == "T0":
        return types[0]
    if name == "W":
        return TYPES[f"{types[-1].kind.value}{types[-1].bits * 2}"]
    if name == "B":
        last = types[-1]
        return PRED if last.kind is Kind.PREDICATE else last
    return U64 if name == "address" else TYPES[name]
