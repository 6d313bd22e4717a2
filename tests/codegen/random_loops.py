"""Random kernels with counted loops: nested, with other exits and branches, with bounds that are known or not."""

from __future__ import annotations

import random

from tests.codegen.random_code import GUARDED, LOGIC, PARAMETERS, PRODUCTS, SUMS, TEMPORARIES, WORDS, filled
from tests.codegen.texts import REGISTERS

FORMS = (*LOGIC, *SUMS, *PRODUCTS)
UP = (("lt.s32", 1), ("le.s32", 1), ("lt.u32", 2), ("ne.s32", 1), ("lt.s32", 3), ("ne.b32", -1))
DOWN = (("gt.s32", -1), ("ge.s32", -2), ("gt.u32", -1), ("ne.s32", -1), ("gt.s32", -4), ("ne.s32", 1))
BOUNDS = (0, 1, 2, 3, 5, 8, 16, 33)
ENDLESS = 120
"""Iterations after which a generated loop ends in any case."""


def text(seed: int) -> str:
    """A kernel ``k`` that computes in two loops, or one in another, and stores its words."""
    rng = random.Random(seed)
    lines = [
        "mov.u32 %r20, %tid.x; ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];",
        f"mul.wide.u32 %rd3, %r20, {4 * WORDS}; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;",
        *(f"ld.global.u32 %r{i}, [%rd4+{4 * i}];" for i in range(WORDS)),
        *(f"setp.lt.s32 %p{i}, %r{i}, %r{i + 1};" for i in range(4)),
        *(f"add.s32 %r{i}, %r20, {i};" for i in TEMPORARIES),
    ]
    outer = _loop(rng, 0, _body(rng, 0) + (_loop(rng, 1, _body(rng, 1)) if rng.random() < 0.5 else []))
    lines += outer + _loop(rng, 2, _body(rng, 2))
    lines += [f"st.global.u32 [%rd5+{4 * i}], %r{i};" for i in range(WORDS)]
    body = "\n".join(lines)
    head = ".version 8.0\n.target sm_75\n.address_size 64\n"
    return f"{head}.visible .entry k({PARAMETERS})\n{{{REGISTERS}{body}\nret;\n}}\n"


def _body(rng: random.Random, number: int) -> list[str]:
    lines = [filled(rng, rng.choice(FORMS)) for _ in range(rng.choice((1, 3, 6, 24)))]
    for _ in range(rng.choice((0, 0, 1, 3))):
        lines += rng.choice(GUARDED)(rng, FORMS)
    if rng.random() < 0.4:
        side = [filled(rng, rng.choice(FORMS)) for _ in range(9)]
        lines += [f"@%p{rng.randrange(4)} bra SIDE{number};", *side, f"SIDE{number}:"]
    if rng.random() < 0.4:
        lines.append("ld.global.u32 %r5, [%rd4+8]; xor.b32 %r4, %r4, %r5;")
    return lines


def _loop(rng: random.Random, number: int, body: list[str]) -> list[str]:
    """A loop with the counter ``%r30`` and following; ``%r36`` and following end it where its own test would not."""
    counter, guard, test, bound = f"%r{30 + number}", f"%r{36 + number}", f"%p{7 + number}", f"%r{33 + number}"
    rises = rng.random() < 0.5
    comparison, step = rng.choice(UP if rises else DOWN)
    start, end = (0, rng.choice(BOUNDS)) if rises else (rng.choice(BOUNDS), 0)
    varying = rng.random()
    first = f"mov.u32 {counter}, {start};" if varying < 0.6 else f"and.b32 {counter}, %r{rng.randrange(WORDS)}, 15;"
    limit = f"and.b32 {bound}, %r{rng.randrange(WORDS)}, 31;" if varying > 0.4 else f"mov.u32 {bound}, {end};"
    advance, leave = f"add.s32 {counter}, {counter}, {step};", []
    if rng.random() < 0.3 or comparison.startswith("ne") or "u32" in comparison or varying > 0.4:
        leave = [f"add.s32 {guard}, {guard}, 1; setp.gt.u32 %p6, {guard}, {ENDLESS}; @%p6 bra OUT{number};"]
        leave = leave if not _surely_ends(comparison, step, varying) else []
    early = [advance] if rng.random() < 0.3 else []
    late = [] if early else [advance]
    uses = [f"add.s32 %r{rng.randrange(WORDS)}, %r{rng.randrange(WORDS)}, {counter};"]
    head = [first, limit, f"mov.u32 {guard}, 0;", f"LOOP{number}:"]
    tail = [f"setp.{comparison} {test}, {counter}, {bound};", f"@{test} bra LOOP{number};", f"OUT{number}:"]
    return [*head, *early, *body, *uses, *leave, *late, *tail]


def _surely_ends(comparison: str, step: int, varying: float) -> bool:
    """Whether a comparison for order with a step in its direction fails at some time without wrapping around."""
    order = comparison.split(".")[0]
    return "s32" in comparison and ((order in ("lt", "le") and step > 0) or (order in ("gt", "ge") and step < 0))
