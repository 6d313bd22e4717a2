"""Atomics: every operation and type, in global, shared and generic memory; lanes act in order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from tests.simt.programs import Runner

LANES = 32
CASES: list[tuple[str, int, Callable[[int, int], int]]] = []


def signed(bits: int, number: int) -> int:
    return number - (1 << bits) if number >> (bits - 1) & 1 else number


def added(bits: int, old: int, b: int) -> int:
    return (old + b) % (1 << bits)


def least(bits: int, old: int, b: int) -> int:
    return min(old, b, key=lambda n: signed(bits, n))


def most(bits: int, old: int, b: int) -> int:
    return max(old, b, key=lambda n: signed(bits, n))


for bits in (32, 64):
    CASES += [
        (f"add.u{bits}", bits, partial(added, bits)),
        (f"min.u{bits}", bits, min),
        (f"max.u{bits}", bits, max),
        (f"min.s{bits}", bits, partial(least, bits)),
        (f"max.s{bits}", bits, partial(most, bits)),
        (f"and.b{bits}", bits, lambda old, b: old & b),
        (f"or.b{bits}", bits, lambda old, b: old | b),
        (f"xor.b{bits}", bits, lambda old, b: old ^ b),
        (f"exch.b{bits}", bits, lambda old, b: b),
    ]
CASES += [
    ("add.s32", 32, lambda old, b: (old + b) % 2**32),
    ("inc.u32", 32, lambda old, b: 0 if old >= b else old + 1),
    ("dec.u32", 32, lambda old, b: b if old == 0 or old > b else old - 1),
]

SPACES = {"global": ".global", "shared": ".shared", "generic": "", "generic_shared": ""}
ADDRESS = """
.shared .align 8 .b64 cells[4];
and.b32 %r1, %t, 3;
mad.wide.u32 %rd1, %r1, 8, %x;
mad.wide.u32 %rd2, %t, 8, %given;
mad.wide.u32 %rd3, %t, 8, %old;
"""
SHARED = "mov.u32 %r2, cells; mad.lo.u32 %r2, %r1, 8, %r2; ld.global.u64 %rd8, [%rd1]; st.shared.u64 [%r2], %rd8;"
BACK = "ld.shared.u64 %rd8, [%r2]; st.global.u64 [%rd1], %rd8;"


def numbers(bits: int) -> tuple[list[int], list[int]]:
    """Four cells and 32 operands with all sorts of high bits."""
    cells = [5, (1 << bits) - 3, 1 << (bits - 1), 0]
    return cells, [(n * 0x9E3779B97F4A7C15 >> 64 - bits if n % 3 else n % 9) % (1 << bits) for n in range(LANES)]


@pytest.mark.slow
@pytest.mark.parametrize("space", SPACES)
def test_every_operation(run: Runner, space: str) -> None:
    # All operations in one kernel (by generic addresses every fourth): lane t works on cell t % 4, as do t - 4, t - 8.
    for bits in (32, 64):
        cases = [case for case in CASES if case[1] == bits][:: 4 if "generic" in space else 1]
        cells, given = numbers(bits)
        register = "%r5" if bits == 32 else "%rd5"
        where = {"global": "%rd1", "generic": "%rd1", "shared": "%r2", "generic_shared": "%rd7"}[space]
        body = ADDRESS + f"ld.global.u{bits} {register}, [%rd2];"
        for name, *_ in cases:
            inside = space in ("shared", "generic_shared")
            body += (SHARED + "cvt.u64.u32 %rd7, %r2; cvta.shared.u64 %rd7, %rd7;") if inside else ""
            result = register.replace("5", "6")
            body += f"atom{SPACES[space]}.{name} {result}, [{where}], {register}; st.global.u{bits} [%rd3], {result};"
            body += BACK if inside else ""
            body += "add.u64 %rd1, %rd1, 32; add.u64 %rd3, %rd3, 256;"
        x = np.tile(np.array(cells, np.uint64), len(cases))
        outcome = run(body, x=x, given=np.array(given, np.uint64), old=np.zeros(LANES * len(cases), np.uint64))
        found, old = outcome["x"].reshape(-1, 4).tolist(), outcome["old"].reshape(-1, LANES).tolist()
        for index, (name, _, update) in enumerate(cases):
            memory, before = list(cells), []
            for lane in range(LANES):
                before.append(memory[lane % 4])
                memory[lane % 4] = update(memory[lane % 4], given[lane])
            assert (name, found[index]) == (name, memory)
            assert (name, old[index]) == (name, before)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("space", ["global", "shared", "generic"])
def test_compare_and_swap(run: Runner, bits: int, space: str) -> None:
    # Lane t swaps in t + 1 where it finds t: a chain in which every lane succeeds; cell 1 expects what is not there.
    register = {16: "%h", 32: "%r", 64: "%rd"}[bits]
    inside = space == "shared"
    where = "%r2" if inside else "%x"
    name = f"atom{SPACES[space]}.cas.b{bits}"
    body = f"""
    .shared .align 8 .b64 cells[4];
    mov.u32 %r2, cells;
    add.u32 %r3, %t, 1;
    cvt.u64.u32 %rd3, %t; cvt.u64.u32 %rd4, %r3;
    cvt.u16.u32 %h3, %t; cvt.u16.u32 %h4, %r3;
    mov.u32 %r4, %r3; mov.u32 %r3, %t;
    {name} {register}5, [{where}], {register}3, {register}4;
    {name} {register}6, [{where}+8], {register}4, {register}3;
    mad.wide.u32 %rd1, %t, 16, %old;
    st.global.u{bits} [%rd1], {register}5;
    st.global.u{bits} [%rd1+8], {register}6;
    {"ld.shared.v2.u64 {%rd8, %rd9}, [cells]; st.global.v2.u64 [%x], {%rd8, %rd9};" if inside else ""}
    """
    body = body.replace(".align 8 .b64", ".align 16 .b64")
    outcome = run(body, x=np.zeros(2, np.uint64), old=np.zeros((LANES, 2), np.uint64))
    assert outcome["x"].tolist() == [32, 0]
    assert outcome["old"].tolist() == [[lane, 0] for lane in range(LANES)]


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("space", ["global", "shared", "generic"])
def test_float_addition(run: Runner, bits: int, space: str) -> None:
    kind, register = f"f{bits}", {32: "%f", 64: "%fd"}[bits]
    inside = space == "shared"
    body = f"""
    .shared .align 8 .b64 cells[1];
    cvt.rn.{kind}.u32 {register}1, %t;
    mul.{kind} {register}1, {register}1, 0d3FB999999999999A;
    atom{SPACES[space]}.add.{kind} {register}2, [{"cells" if inside else "%x"}], {register}1;
    mad.wide.u32 %rd1, %t, {bits // 8}, %old;
    st.global.{kind} [%rd1], {register}2;
    {f"ld.shared.{kind} {register}3, [cells]; st.global.{kind} [%x], {register}3;" if inside else ""}
    """
    if bits == 32:
        body = body.replace("0d3FB999999999999A", "0f3DCCCCCD")
    float_ = np.dtype(f"f{bits // 8}").type
    outcome = run(body, x=np.zeros(1, float_), old=np.zeros(LANES, float_))
    total, before = float_(0), []
    for lane in range(LANES):
        before.append(total)
        total = float_(total + float_(float_(lane) * float_(0.1)))
    assert outcome["old"].tolist() == before
    assert outcome["x"].tolist() == [total]


def test_reductions_return_nothing_and_do_the_same(run: Runner) -> None:
    body = """
    .shared .align 4 .b32 cell[1];
    red.global.add.u32 [%x], %t; red.global.max.u32 [%x+4], %t; red.add.u32 [%x+8], 2; red.global.inc.u32 [%x+12], 9;
    red.shared.xor.b32 [cell], %t; red.shared.or.b32 [cell], 64;
    ld.shared.u32 %r1, [cell]; st.global.u32 [%x+16], %r1;
    """
    # 0 + 1 + ... + 31; the largest; 32 times 2; 32 steps through 0..9; the xor of 0..31 is 0.
    assert run(body, x=np.zeros(5, np.uint32))["x"].tolist() == [496, 31, 64, 2, 64]


def test_only_active_and_guarded_lanes_take_part_and_the_others_keep_their_register(run: Runner) -> None:
    body = """
    mov.u32 %r1, 1000;
    and.b32 %r2, %t, 1;
    setp.eq.u32 %p1, %r2, 0;
    setp.lt.u32 %p2, %t, 10;
    @!%p2 bra DONE;
    @%p1 atom.global.add.u32 %r1, [%x], 10;
    DONE: st.global.u32 [%my_out], %r1;
    """
    outcome = run(body, x=np.zeros(1, np.uint32), out=np.zeros(LANES, np.uint32))
    assert outcome["x"].tolist() == [50]
    assert outcome["out"].tolist() == [10 * (t // 2) if t < 10 and t % 2 == 0 else 1000 for t in range(LANES)]
