"""Small random kernels for checks of designs, and the same failure on a smaller kernel.

A program is a tuple of statements on a few registers, which end in stores.  It has what register files find hard: wide
operands, guards whose predicates change, lanes that diverge and meet again, loops that lanes leave at different times,
loads, and instructions of the shared datapath.  Threads read a buffer of `WORDS` words and write another one.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from warpreg import simt

REGISTERS = {"r": 6, "w": 2, "q": 2}
"""Registers of a program: 32-bit ones, 64-bit ones, and predicates."""
WORDS = 32
THREADS = 64
STATEMENTS = 24
DEEPEST = 3
KERNEL = "random"

SIMPLE: Mapping[str, tuple[str, str]] = {
    "add": ("rrr", "add.u32 %{0}, %{1}, %{2};"),
    "xor": ("rrr", "xor.b32 %{0}, %{1}, %{2};"),
    "mad": ("rrrr", "mad.lo.u32 %{0}, %{1}, %{2}, %{3};"),
    "reciprocal": ("rr", "rcp.approx.f32 %{0}, %{1};"),
    "guarded": ("rrr", "setp.lt.u32 %p, %{1}, %{2};\n@%p add.u32 %{0}, %{1}, %{2};"),
    "test": ("qrr", "setp.lt.u32 %{0}, %{1}, %{2};"),
    "guarded test": ("qqrr", "@%{1} setp.ge.u32 %{0}, %{2}, %{3};"),
    "if true": ("rqr", "@%{1} add.u32 %{0}, %{2}, 1;"),
    "if false": ("rqr", "@!%{1} xor.b32 %{0}, %{2}, 3;"),
    "widen": ("wrr", "mul.wide.u32 %{0}, %{1}, %{2};"),
    "add wide": ("www", "add.u64 %{0}, %{1}, %{2};"),
    "narrow": ("rw", "cvt.u32.u64 %{0}, %{1};"),
    "load": (
        "rr",
        "and.b32 %i, %{1}, 31;\nmul.wide.u32 %a, %i, 4;\nadd.u64 %a, %in, %a;\nld.global.u32 %{0}, [%a];",
    ),
    "store": ("r", "st.global.u32 [%out], %{0};"),
    "store wide": ("w", "st.global.u64 [%out], %{0};"),
}
"""By kind: the registers that it names, its result first, and its PTX."""
BEGIN = {"r": "mov.u32 %{0}, %tid.x;", "w": "cvt.u64.u32 %{0}, %me;", "q": "setp.lt.u32 %{0}, %me, 20;"}
"""The first value of a register, by its kind."""
BRANCH, LOOP = "if", "loop"
WEIGHTS = {"load": 2, "store": 2, "guarded": 2, BRANCH: 2, LOOP: 1}


@dataclass(frozen=True, slots=True)
class Statement:
    """A simple statement, or an ``if`` (``body`` or ``other``) or a ``loop``, for which ``registers`` has the condition
    or the number of iterations.
    """

    kind: str
    registers: tuple[str, ...]
    body: Program = ()
    other: Program = ()


Program = tuple[Statement, ...]


def random_program(rng: random.Random, statements: int = STATEMENTS) -> Program:
    """A program of this many statements, those inside others not counted; a store of each register ends it."""
    ends = (("store", "r"), ("store wide", "w"))
    stores = [Statement(kind, (f"{one}{n}",)) for kind, one in ends for n in range(REGISTERS[one])]
    return (*_some(rng, statements, 0), *stores)


def _some(rng: random.Random, count: int, depth: int) -> Program:
    kinds = [*SIMPLE, *((BRANCH, LOOP) if depth < DEEPEST else ())]
    drawn = rng.choices(kinds, [WEIGHTS.get(kind, 1) for kind in kinds], k=count)
    return tuple(_one(rng, kind, depth) for kind in drawn)


def _one(rng: random.Random, kind: str, depth: int) -> Statement:
    if kind in SIMPLE:
        return Statement(kind, tuple(f"{one}{rng.randrange(REGISTERS[one])}" for one in SIMPLE[kind][0]))
    body = _some(rng, rng.randint(1, 4), depth + 1)
    other = _some(rng, rng.randint(0, 3), depth + 1) if kind == BRANCH else ()
    return Statement(kind, (f"r{rng.randrange(REGISTERS['r'])}",), body, other)


def ptx(program: Program) -> str:
    """The kernel as PTX.  Registers that it names begin as the index of the thread, predicates as true in the first."""
    lines = [line for one in _all(program) for line in one.registers]
    named = sorted(dict.fromkeys(lines))
    begin = [BEGIN[one[0]].format(one) for one in named]
    code = ["ld.param.u64 %in, [in];", "ld.param.u64 %out, [out];", "mov.u32 %me, %tid.x;", *begin]
    code += [*_lines(program, itertools.count()), "ret;"]
    return "\n".join(
        (
            ".version 8.0", ".target sm_80", ".address_size 64",
            f".visible .entry {KERNEL}(.param .u64 in, .param .u64 out)", "{",
            f".reg .b32 %me, %i, %n<999>, %r<{REGISTERS['r']}>;", f".reg .b64 %in, %out, %a, %w<{REGISTERS['w']}>;",
            f".reg .pred %p, %q<{REGISTERS['q']}>;", *code, "}", "",
        )
    )  # fmt: skip


def _lines(program: Program, numbers: Iterator[int]) -> Iterator[str]:
    for one in program:
        if one.kind in SIMPLE:
            yield SIMPLE[one.kind][1].format(*one.registers)
            continue
        number, register = next(numbers), one.registers[0]
        if one.kind == LOOP:
            yield f"and.b32 %n{number}, %{register}, 3;\nL{number}:"
            yield from _lines(one.body, numbers)
            yield f"setp.ne.u32 %p, %n{number}, 0;\nsub.u32 %n{number}, %n{number}, 1;\n@%p bra L{number};"
        else:
            yield f"and.b32 %i, %{register}, 1;\nsetp.eq.u32 %p, %i, 0;\n@%p bra E{number};"
            yield from _lines(one.body, numbers)
            yield f"bra.uni D{number};\nE{number}:" if one.other else f"E{number}:"
            yield from _lines(one.other, numbers)
            if one.other:
                yield f"D{number}:"


def _all(program: Program) -> Iterator[Statement]:
    for one in program:
        yield one
        yield from _all(one.body)
        yield from _all(one.other)


def launched(program: Program, record: simt.Record) -> simt.Launch:
    """Run the kernel with one thread block of `THREADS` threads."""
    device = simt.Device(ptx(program), record=record)
    words = np.arange(WORDS, dtype=np.uint32) * np.uint32(2654435761)
    device.launch(KERNEL, 1, THREADS, device.upload(words), device.zeros(2, np.uint32))
    return device.launches[0]


def shrunk(program: Program, fails: Callable[[Program], bool], most: int) -> Program:
    """A smaller program that still fails, after at most ``most`` trials.

    Statements are left out, many at a time at first, blocks are replaced by their contents, and registers by the first
    ones.  The result of all of it is tried again until nothing helps.
    """
    trials = itertools.count()
    tried: set[Program] = {program}

    def still_fails(one: Program) -> bool:
        if one in tried or next(trials) >= most:
            return False
        tried.add(one)
        return fails(one)

    found = next(filter(still_fails, smaller(program)), None)
    while found is not None:
        program = found
        found = next(filter(still_fails, smaller(program)), None)
    return program


def smaller(program: Program) -> Iterator[Program]:
    """Programs that are a step smaller, those that lack most first."""
    size = len(program) // 2
    while size:
        for first in range(0, len(program), size):
            yield program[:first] + program[first + size :]
        size //= 2
    for place, one in enumerate(program):
        for simpler in _simpler(one):
            yield (*program[:place], *simpler, *program[place + 1 :])


def _simpler(one: Statement) -> Iterator[Sequence[Statement]]:
    if one.body or one.other:
        yield one.body
        yield one.other
        yield from ((replace(one, body=body),) for body in smaller(one.body) if body)
        yield from ((replace(one, other=other),) for other in smaller(one.other))
    for place, register in enumerate(one.registers):
        for number in range(int(register[1:])):
            fewer = (*one.registers[:place], f"{register[0]}{number}", *one.registers[place + 1 :])
            yield (replace(one, registers=fewer),)
