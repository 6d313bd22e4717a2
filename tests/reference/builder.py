"""State of a program during generation: text, registers, features, and the random choice of operands."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.reference import pure
from tests.reference.number import FORMATS
from tests.reference.vocabulary import FLOAT_EDGES, WIDE_EDGES

POOLS = {"pred": ("%p", 6), "b16": ("%h", 5), "b32": ("%r", 9), "b64": ("%l", 6), "f32": ("%f", 6), "f64": ("%d", 5)}
"""Registers with data that programs compute on: declared type -> (prefix, count)."""


@dataclass
class Place:
    """Where the next statement stands: ``convergent`` if all threads of the block that have not exited come here
    together.
    """

    convergent: bool = True
    divergent_loops: int = 0
    loops: int = 0
    structured: bool = True
    function: bool = False
    breaks: tuple[str, ...] = ()
    continues: tuple[str, ...] = ()


@dataclass
class Builder:
    """``slots`` are the kinds of the approximate results, ``sites`` the types of the contended atomics, in order.
    ``measured`` programs run on a GPU: they keep to instructions and results that `vocabulary.is_measured` admits.
    ``families`` are the instructions that compute, if not those of `vocabulary`.
    """

    rng: random.Random
    threads: int
    partial: bool
    measured: bool = False
    lines: list[str] = field(default_factory=list)
    features: set[str] = field(default_factory=set)
    slots: list[str] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)
    shared_sites: int = 0
    functions: int = 0
    exited: bool = False
    plain: str = ""
    place: Place = field(default_factory=Place)
    budget: int = 0
    families: Mapping[str, list[str]] | None = None
    _counter: int = 0

    # Text.

    def emit(self, text: str, guard: str = "") -> None:
        self.lines.append(f"    {guard + ' ' if guard else ''}{text};")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def fresh(self, prefix: str) -> str:
        """A name that nothing bears yet."""
        self._counter += 1
        return f"{prefix}{self._counter}"

    def temporary(self, declared: str) -> str:
        """A new register of that type, declared on the spot."""
        name = self.fresh("%t")
        self.lines.append(f"    .reg .{declared} {name};")
        return name

    @contextmanager
    def at(self, **changes: object) -> Iterator[None]:
        """Statements inside stand in a place with these changes."""
        before = self.place
        self.place = Place(**{**before.__dict__, **changes})
        yield
        self.place = before

    # Operands.

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def register(self, declared: str) -> str:
        prefix, count = POOLS[declared]
        return f"{prefix}{self.rng.randrange(count)}"

    def registers(self, declared: str, count: int) -> list[str]:
        """Different registers."""
        prefix, limit = POOLS[declared]
        return [f"{prefix}{n}" for n in self.rng.sample(range(limit), count)]

    def source(self, name: str, immediates: bool = True) -> str:
        """An operand for a slot of type ``name``."""
        kind, bits = pure.kind_and_bits(name)
        if kind == "pred" or not immediates or self.chance(0.75):
            return self.register(declared_type(kind, bits, self.rng))
        return self.immediate(kind, bits)

    def immediate(self, kind: str, bits: int) -> str:
        if kind == "f":
            if self.chance(0.4):
                pattern = self.rng.choice(FLOAT_EDGES[bits])
            else:
                pattern = self.nice_float(bits)
            return f"0f{pattern:08X}" if bits == 32 else f"0d{pattern:016X}"
        bits = max(bits, 16)
        number = self.rng.choice(WIDE_EDGES[bits]) if self.chance(0.7) else self.rng.getrandbits(bits - 1)
        return str(number if kind != "u" or number >= 0 else number + (1 << bits))

    def nice_float(self, bits: int) -> int:
        """A pattern of moderate size, so that sums and products stay finite; one in ten is denormal or close to it,
        and one in thirty an infinity or a NaN with a payload.
        """
        if self.chance(0.03):
            return self.rng.choice(
                [p for p in FLOAT_EDGES[bits] if FORMATS[bits].magnitude(p) >= FORMATS[bits].infinity]
            )
        bias, fraction = {32: (127, 23), 64: (1023, 52)}[bits]
        exponent = self.rng.choice([0, 0, 1, 2, 12]) if self.chance(0.1) else bias + self.rng.randint(-4, 6)
        return self.rng.getrandbits(1) << (bits - 1) | exponent << fraction | self.rng.getrandbits(fraction)

    def amount(self, below_256: bool = False) -> str:
        """A shift amount, position or length, often past the width."""
        if below_256 or self.chance(0.5):
            return str(self.rng.choice([0, 1, 5, 8, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 255]))
        return self.register("b32")

    def guard(self) -> str:
        """Sometimes a guard on a data predicate."""
        if not self.chance(0.12):
            return ""
        self.features.add("predication")
        return f"@{'!' if self.chance(0.4) else ''}{self.register('pred')}"

    def predicate(self) -> str:
        """A fresh predicate from data, so that branches diverge."""
        p = self.temporary("pred")
        if self.chance(0.5):
            bit = self.temporary("b32")
            self.emit(f"shr.u32 {bit}, {self.register('b32')}, {self.rng.randrange(32)}")
            self.emit(f"and.b32 {bit}, {bit}, 1")
            self.emit(f"setp.eq.u32 {p}, {bit}, {self.rng.randrange(2)}")
        elif self.chance(0.5):
            relation = self.rng.choice("lt le gt ge ne".split())
            self.emit(f"setp.{relation}.s32 {p}, {self.register('b32')}, {self.register('b32')}")
        else:
            self.emit(f"setp.{self.rng.choice(['lt', 'geu'])}.f32 {p}, {self.register('f32')}, {self.register('f32')}")
        return p

    def uniform_predicate(self) -> str:
        """A fresh predicate that all threads of a block share."""
        p = self.temporary("pred")
        operand = self.rng.choice(["%blk", "%n"])
        low = self.temporary("b32")
        self.emit(f"and.b32 {low}, {operand}, {self.rng.choice([1, 2, 3])}")
        self.emit(f"setp.ne.u32 {p}, {low}, 0")
        return p


def declared_type(kind: str, bits: int, rng: random.Random) -> str:
    """The pool that a slot draws from; 8-bit slots use registers of 16 or 32 bits."""
    if kind == "pred":
        return "pred"
    if kind == "f":
        return f"f{bits}" if bits > 16 else "b16"
    if bits == 8:
        return rng.choice(["b16", "b32"])
    return f"b{bits}"
