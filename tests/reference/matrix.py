"""Kernels that execute many instructions on the same columns of operands and store each result separately."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tests.reference import pure, video
from tests.reference.instruction import Pure, kind_and_bits
from tests.reference.number import mask
from tests.reference.vocabulary import AMOUNTS, FLOAT_EDGES, WIDE_EDGES
from tests.reference.warp import TOGETHER, results_and_operands

KERNEL = "matrix"
WORD = 16
_EVERYONE = "0xFFFFFFFF"


class Instruction(NamedTuple):
    """A full opcode with its number of source operands; ``selectors`` (of the destination, then of the sources, such
    as ``h1`` or ``-``) go with video instructions.
    """

    text: str
    source_count: int
    selectors: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.text, str(self.source_count), *self.selectors))


class Shape(NamedTuple):
    """Types of an instruction's results and of its sources before the member mask, if it takes one."""

    results: tuple[str, ...]
    sources: tuple[str, ...]
    members: bool


def shape_of(instruction: Instruction) -> Shape | None:
    """None if the reference does not know the instruction."""
    opcode, *rest = instruction.text.split(".")
    modifiers = tuple(rest)
    if opcode in TOGETHER:
        result, sources = results_and_operands(opcode, modifiers)
        second = ("pred",) if opcode in ("shfl", "elect") or (opcode == "match" and "all" in modifiers) else ()
        return Shape((result, *second), sources, "sync" in modifiers)
    found = _pure(opcode, modifiers, instruction.source_count)
    if found is None or len(found.sources) != instruction.source_count:
        return None
    one_only = opcode == "setp" and modifiers[-1] in ("f16", "bf16")  # ptxas refuses the inverse relation of these
    both = found.second and not one_only
    return Shape((found.result, found.second) if both else (found.result,), found.sources, False)


def _pure(opcode: str, modifiers: tuple[str, ...], count: int) -> Pure | None:
    try:
        return pure.lookup(opcode, modifiers, count)
    except (KeyError, IndexError, StopIteration, ValueError):
        return None


@dataclass(frozen=True)
class Matrix:
    """A kernel for a list of instructions.

    ``columns`` are operand slot and type of what it reads; column c of thread t is the word ``c threads + t`` of the
    input. Results of instruction i are the words ``2 i threads + t`` and ``(2 i + 1) threads + t`` of the output.
    A word has `WORD` bytes.
    """

    instructions: tuple[Instruction, ...]
    threads: int
    columns: tuple[tuple[int, str], ...]
    text: str

    def operands(self, words: Sequence[int], i: int, thread: int) -> tuple[int, ...]:
        """The patterns of an instruction's operands in the input ``words``."""
        shape = shape_of(self.instructions[i])
        assert shape is not None
        opcode = self.instructions[i].text.split(".")[0]
        found = [self.columns.index(column(opcode, slot, name)) for slot, name in enumerate(shape.sources)]
        return tuple(
            words[c * self.threads + thread] & mask(kind_and_bits(name)[1])
            for c, name in zip(found, shape.sources, strict=True)
        )

    def input(self, rng: random.Random) -> list[int]:
        """Words for all columns, edge values among them."""
        return [pattern(rng, name) for _, name in self.columns for _ in range(self.threads)]


def column(opcode: str, slot: int, name: str) -> tuple[int, str]:
    """Slot and the type that its values are drawn for; signed, unsigned and untyped integers share theirs."""
    if slot in AMOUNTS.get(opcode, ()):
        return slot, f"amount{kind_and_bits(name)[1]}"
    kind, bits = kind_and_bits(name)
    return slot, f"b{bits}" if kind in ("s", "u") or name == "tf32" else name


def build(instructions: Sequence[Instruction], threads: int) -> Matrix:
    """The kernel for these instructions; one block of ``threads`` threads."""
    columns: dict[tuple[int, str], int] = {}
    body: list[str] = []
    for i, instruction in enumerate(instructions):
        shape = shape_of(instruction)
        assert shape is not None, f"{instruction} is not known to the reference"
        opcode = instruction.text.split(".")[0]
        places = [columns.setdefault(column(opcode, s, name), len(columns)) for s, name in enumerate(shape.sources)]
        body += _body(i, instruction, shape, [f"%c{p}" for p in places], threads)
    loads = [line for c, (_, name) in enumerate(columns) for line in _load(c, name, threads)]
    return Matrix(tuple(instructions), threads, tuple(columns), _module([*loads, *body]))


def pattern(rng: random.Random, name: str) -> int:
    """A value of the type: an edge, a number of moderate size, or any bits."""
    if name.startswith("amount"):
        return rng.choice([0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, mask(32), rng.getrandbits(5)])
    kind, bits = kind_and_bits(name)
    if name.endswith("x2") and name[0] != "e":
        element = name.removesuffix("x2")
        return pattern(rng, element) | pattern(rng, element) << bits // 2
    if rng.random() < 0.35:
        return rng.getrandbits(bits)
    if kind == "f":
        return rng.choice(FLOAT_EDGES[name]) ^ (rng.getrandbits(1) << (bits - 1))
    if kind == "b" and bits in (32, 64) and rng.random() < 0.2:
        return rng.choice(FLOAT_EDGES[f"f{bits}"])
    return rng.choice(WIDE_EDGES[max(bits, 16)]) & mask(bits)


def declared(name: str) -> str:
    """The register type of an operand; 8-bit values and half precision live in 16 bits."""
    kind, bits = ("b", 32) if name.startswith("amount") else kind_and_bits(name)
    return f"f{bits}" if kind == "f" and bits > 16 else name if kind == "pred" else f"b{max(bits, 16)}"


def _load(c: int, name: str, threads: int) -> list[str]:
    at, register = WORD * c * threads, declared(name)
    if register == "pred":
        return [f".reg .b32 %w{c};", f".reg .pred %c{c};", f"ld.global.u32 %w{c}, [%in+{at}];",
                f"and.b32 %w{c}, %w{c}, 1;", f"setp.ne.u32 %c{c}, %w{c}, 0;"]  # fmt: skip
    return [f".reg .{register} %c{c};", f"ld.global.{register} %c{c}, [%in+{at}];"]


def _body(i: int, instruction: Instruction, shape: Shape, operands: list[str], threads: int) -> list[str]:
    """Execute, store the results, in a scope of its own."""
    opcode = instruction.text.split(".")[0]
    if opcode == "lop3":
        operands[3] = str((37 * i + 0xE2) & 255)
    if shape.members:
        operands.append(_EVERYONE)
    targets = ["%d", "%q"][: len(shape.results)]
    lines = ["{", *(f".reg .{declared(name)} {to};" for to, name in zip(targets, shape.results, strict=True))]
    if opcode in ("addc", "subc", "madc"):
        lines += [".reg .b32 %carry;", f"add.cc.u32 %carry, %t, {-(threads // 2)};"]  # set in the upper half
    to = "|".join(targets)
    if opcode in video.OPCODES and instruction.selectors:
        to, *operands = map(_selected, [to, *operands], instruction.selectors)
    lines.append(f"{instruction.text} {', '.join([to, *operands])};")
    for place, (register, name) in enumerate(zip(targets, shape.results, strict=True)):
        lines += _store(register, name, WORD * (2 * i + place) * threads)
    return [*lines, "}"]


def _selected(operand: str, selector: str) -> str:
    sign, part = ("-", selector[1:]) if selector.startswith("-") else ("", selector)
    return f"{sign}{operand}.{part}" if part else f"{sign}{operand}"


def _store(register: str, name: str, at: int) -> list[str]:
    if name == "pred":
        word = f"{register}w"
        return [f".reg .b32 {word};", f"selp.u32 {word}, 1, 0, {register};", f"st.global.u32 [%out+{at}], {word};"]
    return [f"st.global.{declared(name)} [%out+{at}], {register};"]


def _module(lines: list[str]) -> str:
    head = [
        ".version 8.8",
        ".target sm_100a",
        ".address_size 64",
        f".visible .entry {KERNEL}(.param .u64 in, .param .u64 out)",
        "{",
        ".reg .b64 %in, %out;",
        ".reg .b32 %t;",
        "ld.param.u64 %in, [in];",
        "ld.param.u64 %out, [out];",
        "mov.u32 %t, %tid.x;",
        f"mad.wide.u32 %in, %t, {WORD}, %in;",
        f"mad.wide.u32 %out, %t, {WORD}, %out;",
    ]
    return "\n".join([*head, *lines, "ret;", "}"]) + "\n"
