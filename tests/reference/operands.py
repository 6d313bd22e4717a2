"""Operands of statements as functions of a thread, and locations of a program's variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.reference import pure
from tests.reference.integers import value
from tests.reference.memory import ReferenceFault
from tests.reference.number import mask
from tests.reference.reader import Function, Program, Statement, literal
from tests.reference.thread import SPECIALS, Thread

Read = Callable[[Thread], int]
Write = Callable[[Thread, int], None]
Execute = Callable[[Thread], None]

FIRST_FUNCTION = 0x5000

_SPACES = ("global", "shared", "local", "const", "param", "shared::cta", "shared::cluster")


class Places:
    """Where the variables of a program live: absolute for global and const, else an offset in their space."""

    def __init__(self, program: Program, addresses: dict[str, int]) -> None:
        self.addresses = dict(addresses) | {n: FIRST_FUNCTION + 16 * i for i, n in enumerate(program.functions)}
        self._frames: dict[str, tuple[dict[str, int], int]] = {}
        self.textures: dict[int, Any] = {}
        """What the handles of textures and surfaces stand for."""
        static_shared = 0
        everything = [*program.variables.values()]
        for function in program.functions.values():
            everything += function.variables.values()
        for v in everything:
            if v.space == "shared" and v.bytes:
                self.addresses[v.name] = aligned(static_shared, v.alignment)
                static_shared = self.addresses[v.name] + v.bytes
        self.spaces = {v.name: v.space for v in everything if v.space in ("shared", "local", "const")}
        self.dynamic_shared = aligned(static_shared, 16)
        self.addresses |= {v.name: self.dynamic_shared for v in everything if v.space == "shared" and not v.bytes}

    def address(self, function: Function, name: str) -> int:
        if name not in self.addresses:
            raise ReferenceFault(f"{function.name}: nothing is named {name}")
        return self.addresses[name]

    def function_at(self, address: int) -> str:
        """The function whose address this is."""
        return next(name for name, at in self.addresses.items() if at == address)

    def local_offsets(self, function: Function) -> tuple[dict[str, int], int]:
        """Where a function's local variables lie in its frame, and the bytes of all."""
        if function.name not in self._frames:
            offsets, end = {}, 0
            for v in function.variables.values():
                if v.space == "local":
                    offsets[v.name] = aligned(end, v.alignment)
                    end = offsets[v.name] + v.bytes
            self._frames[function.name] = offsets, end
        return self._frames[function.name]

    def frame_bytes(self, function: Function) -> int:
        return self.local_offsets(function)[1]


class Operands:
    """Turns the operands of one function's statements into what reads and writes them."""

    def __init__(self, places: Places, function: Function) -> None:
        self.places = places
        self.function = function
        names = {v.name for v in (*function.parameters, *function.returns) if v.space == "param"}
        self.parameter_names = names | {v.name for v in function.variables.values() if v.space == "param"}

    def reader(self, text: str, name: str) -> Read:
        """What reads an operand as a pattern of type ``name``."""
        bits = pure.kind_and_bits(name)[1]
        if text.startswith("!"):
            inner = self.reader(text[1:].strip(), "pred")
            return lambda thread: 1 - inner(thread)
        if self.function.is_register(text):
            limit = mask(bits)
            return lambda thread: thread.frame.registers[text] & limit
        if text.startswith(SPECIALS):
            return lambda thread: thread.special(text) & mask(bits)
        base, plus, constant = text.partition("+")
        if plus and self.function.is_register(base.strip()):
            addend = sum(int(term, 0) for term in constant.split("+"))
            first = self.reader(base.strip(), name)
            return lambda thread: (first(thread) + addend) & mask(bits)
        if text[:1].isdigit() or text.startswith("-"):
            pattern = literal(text, name)
            return lambda thread: pattern
        return self.symbol(text)

    def symbol(self, text: str) -> Read:
        """The address of a variable, with an offset."""
        name, _, offset = text.partition("+")
        local = self.places.local_offsets(self.function)[0].get(name.strip())
        if local is not None:
            at = local + int(offset or "0", 0)
            return lambda thread: thread.frame.local + at
        address = self.places.address(self.function, name.strip()) + int(offset or "0", 0)
        return lambda thread: address

    def writer(self, text: str, name: str) -> Write:
        """What writes a pattern of type ``name`` to a register, extended to the register's width by the type's sign."""
        if text == "_":
            return lambda thread, pattern: None
        kind, bits = pure.kind_and_bits(name)
        width = self.function.width(text)

        def write(thread: Thread, pattern: int) -> None:
            thread.frame.registers[text] = value(kind, bits, pattern) & mask(width)

        return write


def step(execute: Execute) -> Execute:
    """Execute, then go on to the next statement."""

    def execute_and_advance(thread: Thread) -> None:
        execute(thread)
        thread.frame.pc += 1

    return execute_and_advance


def aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


def elements(text: str) -> list[str]:
    """The operands of a list in braces or parentheses."""
    return [p.strip() for p in text.strip("{}() ").split(",") if p.strip()]


def space_of(s: Statement) -> str:
    """The state space that a statement names; empty for generic addresses."""
    return next((m.split("::")[0] for m in s.modifiers if m in _SPACES), "")
