"""Changes to a PTX text at the level of bytes, tokens and lines, all drawn from one generator of random numbers."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_TOKEN = re.compile(r"[%$]?[A-Za-z_][\w$]*|\.[a-z]\w*(?:::\w+)*|0[xfFdD][0-9A-Fa-f]+|\d+|\S")
_NUMBERS = (
    "0 1 2 3 4 7 8 16 31 32 33 63 64 127 255 256 1024 4096 65535 65536 2147483647 2147483648 4294967295 4294967296 "
    "9223372036854775807 18446744073709551615 18446744073709551616 -1 -2 -4 -128 -2147483648 -9223372036854775808 "
    "0x1F 0xFFFFFFFF 0f00000000 0f3F800000 0f7F800000 0f7FC00000 0fFF800000 0d3FF0000000000000 0d7FF8000000000000 1.5"
).split()
_SUFFIXES = (
    ".u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .b8 .b16 .b32 .b64 .f16 .f16x2 .bf16 .f32 .f64 .pred .v2 .v4 .global "
    ".shared .local .param .const .lo .hi .wide .rn .rz .rm .rp .rni .rzi .ftz .sat .approx .eq .ne .lt .ge .ltu .num "
    ".sync .add .min .cas .exch .uni .to .cc .volatile .relaxed .gpu .bfly .ballot .xor .noftz .x .y .nc .align .reg"
).split()
_BYTES = "\0\n\t {}[]();:,.%@!\"'\\/*+-_=<>?&|é0123456789abcfrx"
_FRAGMENTS = (
    "{", "}", "ret;", "exit;", "bar.sync 0;", "trap;", "/*", "*/", "//", '"', ".reg .b32 %x;", "L:", "bra L;",
    "@%p1 ", ".loc 1 2 3", ".pragma \"nounroll\";", ".shared .b8 sm[64];", ".local .align 8 .b8 lo[64];", "call f, ();",
    "membar.gl;", "9" * 40, "(" * 50, "-" * 60,
)  # fmt: skip
_STATEMENTS = re.compile(r"^[ \t]*(?:@!?%\w+[ \t]+)?[a-z][\w.:]*[ \t][^{}\n]*;[ \t]*$", re.MULTILINE)

Change = Callable[[random.Random, str, Sequence[str]], str]


def mutant(rng: random.Random, corpus: Sequence[str], weights: Sequence[float] | None = None) -> str:
    """A text of the corpus with one to a few changes, mostly ones that keep it well-formed."""
    text = rng.choices(corpus, weights)[0]
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4, 8))):
        change = rng.choices([change for change, _ in _CHANGES], [weight for _, weight in _CHANGES])[0]
        text = change(rng, text, corpus)
    return text


def _byte(rng: random.Random, text: str, _: Sequence[str]) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(["", rng.choice(_BYTES)]) + text[at + rng.randrange(2) :]


def _stretch(rng: random.Random, text: str, _: Sequence[str]) -> str:
    """Delete, double or move some characters."""
    at = rng.randrange(len(text) + 1)
    piece = text[at : at + rng.choice([1, 2, 5, 20, 100])]
    rest = text[:at] + text[at + len(piece) :]
    to = rng.randrange(len(rest) + 1)
    return rng.choice([rest, text[:at] + piece + text[at:], rest[:to] + piece + rest[to:]])


def _fragment(rng: random.Random, text: str, _: Sequence[str]) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(_FRAGMENTS) + text[at:]


def _token(rng: random.Random, text: str, _: Sequence[str]) -> str:
    """A token of a statement becomes another one of its kind."""
    statement = _statement(rng, text)
    if statement is None:
        return text
    found = rng.choice(list(_TOKEN.finditer(text, *statement)))
    return text[: found.start()] + _alike(rng, text, found[0]) + text[found.end() :]


def _alike(rng: random.Random, text: str, token: str) -> str:
    if token[0] == "%":
        stem = re.match(r"%[A-Za-z_]*", token)
        assert stem is not None
        near = re.findall(rf"{re.escape(stem[0])}\d+\b", text) if rng.random() < 0.9 else re.findall(r"%\w+", text)
        return str(rng.choice(near)) if near else token
    if token[0].isdigit():
        return rng.choice(_NUMBERS)
    if token[0] == ".":
        return rng.choice([*_SUFFIXES, "", token + token])
    if token[0].isalpha():
        opcodes = re.findall(r"^[ \t]*([a-z]\w*)\.", text, re.MULTILINE)
        return str(rng.choice(opcodes)) if opcodes else token
    return rng.choice([token, "", ",", "+", "-", token * 2])


def _statement(rng: random.Random, text: str) -> tuple[int, int] | None:
    """Where a random statement begins and ends."""
    found = [match.span() for match in _STATEMENTS.finditer(text)]
    return rng.choice(found) if found else None


def _line(rng: random.Random, text: str, _: Sequence[str]) -> str:
    """Delete, double or move a statement, or swap two."""
    first, second = _statement(rng, text), _statement(rng, text)
    if first is None or second is None or first >= second:
        return text
    (a, b), (c, d) = first, second
    return rng.choice(
        [
            text[:a] + text[b:],
            text[:b] + "\n" + text[a:b] + text[b:],
            text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:],
            text[:a] + text[b:d] + "\n" + text[a:b] + text[d:],
        ]
    )


def _splice(rng: random.Random, text: str, corpus: Sequence[str]) -> str:
    """A statement of another text; a register it names exists here only by chance."""
    donor = rng.choice(corpus)
    place, taken = _statement(rng, text), _statement(rng, donor)
    if place is None or taken is None:
        return text
    return text[: place[1]] + "\n" + donor[taken[0] : taken[1]] + text[place[1] :]


def _any_line(rng: random.Random, text: str, _: Sequence[str]) -> str:
    """Delete, double or move a line of any kind, declarations and labels included."""
    lines = text.split("\n")
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    action = rng.randrange(3)
    line = lines[at] if action == 1 else lines.pop(at)
    if action:
        lines.insert(to, line)
    return "\n".join(lines)


_CHANGES: list[tuple[Change, float]] = [
    (_token, 12), (_line, 5), (_splice, 1.5), (_any_line, 0.7), (_byte, 1), (_stretch, 0.6), (_fragment, 0.5),
]  # fmt: skip
