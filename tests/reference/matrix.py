"""Kernels that run every instruction of the vocabulary on operands drawn from edge values, many instructions a
kernel.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.reference import pure
from tests.reference.number import mask
from tests.reference.straight import AMOUNTS
from tests.reference.vocabulary import APPROXIMATE, FAMILIES, FLOAT_EDGES, HALF, PLAIN_ARITHMETIC, WIDE_EDGES

KERNEL = "matrix"


def every_instruction() -> list[str]:
    """Full opcodes of the vocabulary, exact and approximate."""
    plain = [
        t.format(m=m) for texts in PLAIN_ARITHMETIC.values() for t in texts for m in ("", ".ftz", ".sat", ".ftz.sat")
    ]
    return list(dict.fromkeys([*(t for texts in FAMILIES.values() for t in texts), *plain, *HALF, *APPROXIMATE]))


@dataclass(frozen=True)
class Matrix:
    """A kernel for one list of instructions.

    Operand ``slot`` of instruction ``i`` in thread t is the 64-bit word ``(4 i + slot) threads + t`` of the input;
    its result is the word ``2 i threads + t`` of the output, the second predicate of ``setp`` the one ``threads``
    further.
    """

    instructions: tuple[str, ...]
    threads: int
    text: str
    input: bytes

    def operands(self, i: int, thread: int) -> tuple[int, ...]:
        """The patterns of an instruction's operands."""
        types = sources_of(self.instructions[i])
        first = [8 * ((4 * i + slot) * self.threads + thread) for slot in range(len(types))]
        words = [int.from_bytes(self.input[at : at + 8], "little") for at in first]
        return tuple(w & mask(pure.kind_and_bits(t)[1]) for w, t in zip(words, types, strict=True))


def sources_of(text: str) -> tuple[str, ...]:
    """Types of the source operands of a full opcode."""
    opcode, *modifiers = text.split(".")
    if opcode == "setp":
        combined = any(m in pure.COMBINE for m in modifiers)
        return (modifiers[-1], modifiers[-1], "pred")[: 3 if combined else 2]
    instruction = pure.lookup(opcode, tuple(modifiers))
    assert instruction is not None, text
    return instruction.sources


def build(instructions: Sequence[str], threads: int, seed: int) -> Matrix:
    """The kernel for these instructions, with its input; one block of ``threads`` threads."""
    rng = random.Random(seed)
    lines, words = [], []
    for i, text in enumerate(instructions):
        types = sources_of(text)
        lines += _body(i, text, types, threads)
        for slot in range(4):
            drawn = types[slot] if slot < len(types) else "b32"
            counts = slot in AMOUNTS.get(text.split(".")[0], ())
            words += [_pattern(rng, drawn, counts) for _ in range(threads)]
    return Matrix(tuple(instructions), threads, _module(lines), b"".join(w.to_bytes(8, "little") for w in words))


def _pattern(rng: random.Random, name: str, counts: bool) -> int:
    kind, bits = pure.kind_and_bits(name)
    if counts and rng.random() < 0.7:
        return rng.choice([0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, mask(32)])
    if rng.random() < 0.35:
        return rng.getrandbits(64) & mask(bits)
    if kind == "f" or (kind == "b" and bits >= 32 and rng.random() < 0.3):
        return rng.choice(FLOAT_EDGES[bits]) ^ (rng.getrandbits(1) << (bits - 1))
    return rng.choice(WIDE_EDGES[max(bits, 16)]) & mask(bits)


def _declared(name: str) -> str:
    """The register type of an operand; 8-bit values and half precision live in 16 bits."""
    kind, bits = pure.kind_and_bits(name)
    return name if kind == "pred" or (kind == "f" and bits > 16) else f"b{max(bits, 16)}"


def _body(i: int, text: str, types: tuple[str, ...], threads: int) -> list[str]:
    """Load the operands, execute, store the result, in a scope of its own."""
    opcode, *modifiers = text.split(".")
    lines = ["{"]
    for slot, name in enumerate(types):
        at = 8 * (4 * i + slot) * threads
        declared = _declared(name)
        if declared == "pred":
            lines += [f".reg .b32 %w{slot};", f".reg .pred %s{slot};", f"ld.global.u32 %w{slot}, [%in+{at}];"]
            lines += [f"and.b32 %w{slot}, %w{slot}, 1;", f"setp.ne.u32 %s{slot}, %w{slot}, 0;"]
        else:
            lines += [f".reg .{declared} %s{slot};", f"ld.global.{declared} %s{slot}, [%in+{at}];"]
    operands = [f"%s{slot}" for slot in range(len(types))]
    if opcode == "lop3":
        operands[3] = str((37 * i + 0xE2) & 255)
    out = 16 * i * threads
    if opcode == "setp":
        lines += [".reg .pred %d, %q;", f"{text} %d|%q, {', '.join(operands)};"]
        lines += [".reg .b32 %e;", "selp.u32 %e, 1, 0, %q;", f"st.global.u32 [%out+{out + 8 * threads}], %e;"]
        result = "pred"
    else:
        instruction = pure.lookup(opcode, tuple(modifiers))
        assert instruction is not None
        result = instruction.result
        lines += [f".reg .{_declared(result)} %d;", f"{text} %d, {', '.join(operands)};"]
    if result == "pred":
        lines += [".reg .b32 %c;", "selp.u32 %c, 1, 0, %d;", f"st.global.u32 [%out+{out}], %c;"]
    else:
        lines.append(f"st.global.{_declared(result)} [%out+{out}], %d;")
    return [*lines, "}"]


def _module(lines: list[str]) -> str:
    head = [
        ".version 8.0",
        ".target sm_90",
        ".address_size 64",
        f".visible .entry {KERNEL}(.param .u64 in, .param .u64 out)",
        "{",
        ".reg .b64 %in, %out;",
        ".reg .b32 %t;",
        "ld.param.u64 %in, [in];",
        "ld.param.u64 %out, [out];",
        "mov.u32 %t, %tid.x;",
        "mad.wide.u32 %in, %t, 8, %in;",
        "mad.wide.u32 %out, %t, 8, %out;",
    ]
    return "\n".join([*head, *lines, "ret;", "}"]) + "\n"
