"""Random control flow: nested branches, loops with data-dependent trip counts, jumps out of them, branch tables, calls.

``fill`` generates the statements of a region; it is a parameter, so that this module is independent of other kinds.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.reference.builder import Builder

Fill = Callable[[Builder, int], None]


def _split(b: Builder, share: float) -> int:
    """How many statements a nested region takes from the budget."""
    return max(1, min(b.budget, int(b.rng.random() * share * 8) + 1))


def branch(b: Builder, fill: Fill) -> None:
    """``if`` or ``if else`` on data; on a value that the block shares, all threads stay together."""
    uniform = b.place.convergent and b.chance(0.2)
    p = b.uniform_predicate() if uniform else b.predicate()
    otherwise, end = b.fresh("$else"), b.fresh("$end")
    with b.at(convergent=uniform):
        has_else = b.chance(0.5)
        b.emit(f"bra {otherwise if has_else else end}", f"@{'!' if b.chance(0.5) else ''}{p}")
        fill(b, _split(b, 0.6))
        if has_else:
            b.emit(f"bra{b.rng.choice(['', '.uni'])} {end}")
            b.label(otherwise)
            fill(b, _split(b, 0.6))
    b.label(end)


def loop(b: Builder, fill: Fill) -> None:
    """A loop of at most four rounds; the trip count is data, or shared by the block."""
    uniform = b.place.convergent and b.chance(0.3)
    counter, limit = b.temporary("b32"), b.temporary("b32")
    source = b.rng.choice(["%n", "%blk"]) if uniform else b.register("b32")
    b.emit(f"and.b32 {limit}, {source}, {3 if b.place.loops == 0 else 1}")
    b.emit(f"mov.u32 {counter}, {b.rng.choice([0, 0, 1])}")
    if not uniform:
        b.features.add("divergent loops")
        if b.place.divergent_loops:
            b.features.add("nested divergent loops")
    head, latch, end = b.fresh("$head"), b.fresh("$next"), b.fresh("$done")
    tested_at_top = b.chance(0.5)
    p = b.temporary("pred")
    b.label(head)
    if tested_at_top:
        b.emit(f"setp.ge.u32 {p}, {counter}, {limit}")
        b.emit(f"bra {end}", f"@{p}")
    inside = {
        "convergent": uniform,
        "loops": b.place.loops + 1,
        "divergent_loops": b.place.divergent_loops + int(not uniform),
        "breaks": () if uniform else (*b.place.breaks, end),
        "continues": () if uniform else (latch,),
    }
    with b.at(**inside):
        fill(b, _split(b, 0.8))
    b.label(latch)
    b.emit(f"add.s32 {counter}, {counter}, 1")
    if tested_at_top:
        b.emit(f"bra.uni {head}")
    else:
        b.emit(f"setp.lt.u32 {p}, {counter}, {limit}")
        b.emit(f"bra {head}", f"@{p}")
    b.label(end)


def irreducible(b: Builder, fill: Fill) -> None:
    """A loop that data enter at its head or in its middle."""
    b.features.add("irreducible loops")
    counter, limit, p = b.temporary("b32"), b.temporary("b32"), b.temporary("pred")
    head, middle = b.fresh("$head"), b.fresh("$middle")
    b.emit(f"and.b32 {limit}, {b.register('b32')}, 1")
    b.emit(f"mov.u32 {counter}, 0")
    b.emit(f"bra {middle}", f"@{b.predicate()}")
    inside = {
        "convergent": False,
        "structured": False,
        "loops": b.place.loops + 1,
        "divergent_loops": b.place.divergent_loops + 1,
        "continues": (),
    }
    with b.at(**inside):
        b.label(head)
        fill(b, 1)
        b.label(middle)
        fill(b, 1)
    b.emit(f"add.s32 {counter}, {counter}, 1")
    b.emit(f"setp.le.u32 {p}, {counter}, {limit}")
    b.emit(f"bra {head}", f"@{p}")


def jump(b: Builder, fill: Fill) -> None:
    """Leave a loop that diverges, at times several at once, or go to its next round."""
    targets = [*b.place.breaks, *b.place.continues]
    if not targets:
        fill(b, 1)
        return
    b.features.add("jumps out of loops")
    b.emit(f"bra {b.rng.choice(targets)}", f"@{'!' if b.chance(0.3) else ''}{b.predicate()}")


def short_circuit(b: Builder, fill: Fill) -> None:
    """``if (p && q || r)``: branches that share a target and do not nest."""
    b.features.add("unstructured")
    then, otherwise, end = b.fresh("$then"), b.fresh("$else"), b.fresh("$end")
    with b.at(convergent=False, structured=False):
        b.emit(f"bra {then}", f"@{b.predicate()}")
        fill(b, 1)
        b.emit(f"bra {otherwise}", f"@{b.predicate()}")
        if b.chance(0.5):
            fill(b, 1)
            b.emit(f"bra {end}", f"@{b.predicate()}")
        b.label(then)
        fill(b, _split(b, 0.3))
        if b.chance(0.5):
            b.emit(f"bra {end}")
        b.label(otherwise)
        fill(b, _split(b, 0.3))
        b.label(end)


def switch(b: Builder, fill: Fill) -> None:
    """``brx.idx`` over two to four targets, some of which fall into the next."""
    b.features.add("branch tables")
    count = b.rng.choice([2, 4])
    index, table, end = b.temporary("b32"), b.fresh("$table"), b.fresh("$end")
    cases = [b.fresh("$case") for _ in range(count)]
    targets = [b.rng.choice([*cases, end]) for _ in range(count)]
    b.emit(f"and.b32 {index}, {b.register('b32')}, {count - 1}")
    b.lines.append(f"{table}: .branchtargets {', '.join(targets)};")
    b.emit(f"brx.idx {index}, {table}")
    with b.at(convergent=False, structured=False):
        for case in cases:
            b.label(case)
            fill(b, 1)
            if b.chance(0.6):
                b.emit(f"bra {end}")
    b.label(end)


def call(b: Builder, fill: Fill) -> None:
    """Call one of the device functions, anywhere."""
    if not b.functions:
        fill(b, 1)
        return
    b.features.add("calls")
    name = f"helper{b.rng.randrange(b.functions)}"
    b.lines.append("    {")
    for declaration in (".b32 a0", ".f64 a1", ".b32 back", ".align 8 .b8 more[16]"):
        b.lines.append(f"    .param {declaration};")
    b.emit(f"st.param.b32 [a0], {b.register('b32')}")
    b.emit(f"st.param.f64 [a1], {b.register('f64')}")
    b.emit(f"st.param.v2.u32 [more], {{{', '.join(b.registers('b32', 2))}}}")
    b.emit(f"st.param.b64 [more+8], {b.register('b64')}")
    b.emit(f"call{'.uni' if b.place.convergent else ''} (back), {name}, (a0, a1, more)")
    b.emit(f"ld.param.b32 {b.register('b32')}, [back]")
    b.lines.append("    }")
