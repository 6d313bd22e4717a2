"""The table as a specification: signatures, units, latencies, carries, and refusals that name the place."""

from __future__ import annotations

import itertools
import re

import pytest

from warpreg.ir import opcodes
from warpreg.ir.errors import Location, UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import CARRY, Latency, Unit
from warpreg.ir.operands import Address, AddressTuple, Immediate, Label, Operand, Pair, Register, Sink, Vector
from warpreg.ir.types import B32, PRED

A, B, C, D = (Register(name, B32) for name in "abcd")
FOUR = Vector((A, B, C, D))
P, Q = (Register(name, PRED) for name in "pq")
MEMORY = Address(C)


def instruction(text: str, *operands: Operand) -> Instruction:
    opcode, *modifiers = text.split(".")
    return Instruction(opcode, tuple(modifiers), operands, location=Location("k.ptx", 7, 3))


@pytest.mark.parametrize(
    ("text", "operands", "expected"),
    [
        ("mul.wide.s32", (A, B, C), "s64 <- s32 s32"),
        ("mad.wide.u16", (A, B, C, D), "u32 <- u16 u16 u32"),
        ("shl.b64", (A, B, C), "b64 <- b64 u32"),
        ("setp.lt.s32", (P, A, B), "pred <- s32 s32"),
        ("setp.lt.and.s32", (Pair(P, Q), A, B, P), "pred pred <- s32 s32 pred"),
        ("ld.global.v2.f32", (Vector((A, B)), MEMORY), "f32 f32 <- u64"),
        ("ld.global.nc.L1::no_allocate.L2::128B.f32", (A, MEMORY), "f32 <- u64"),
        ("st.global.v4.u8", (MEMORY, Vector((A, B, C, D))), "<- u64 u8 u8 u8 u8"),
        ("mov.b64", (A, Vector((B, C))), "b64 <- b32 b32"),
        ("mov.b32", (Vector((A, Sink())), C), "b16 b16 <- b32"),
        ("cvt.rn.f32.s64", (A, B), "f32 <- s64"),
        ("set.lt.u32.f64", (A, B, C), "u32 <- f64 f64"),
        ("atom.shared.cas.b32", (A, MEMORY, B, C), "b32 <- u64 b32 b32"),
        ("red.global.add.f32", (MEMORY, A), "<- u64 f32"),
        ("shfl.sync.down.b32", (Pair(A, P), B, C, D, A), "b32 pred <- b32 u32 u32 u32"),
        ("bar.sync", (Immediate(0),), "<- u32"),
        ("barrier.sync.aligned", (Immediate(0), A), "<- u32 u32"),
        ("bar.red.popc.u32", (A, Immediate(0), P), "u32 <- u32 pred"),
        ("madc.hi.cc.u32", (A, B, C, D), "u32 <- u32 u32 u32"),
        ("bra.uni", (Label("x"),), "<- u64"),
        ("activemask.b32", (A,), "b32 <-"),
        ("fma.rn.relu.bf16x2", (A, B, C, D), "bf16x2 <- bf16x2 bf16x2 bf16x2"),
        ("setp.lt.f16x2", (Pair(P, Q), A, B), "pred pred <- f16x2 f16x2"),
        ("set.lt.u32.f16x2", (A, B, C), "u32 <- f16x2 f16x2"),
        ("cvt.rn.f16x2.f32", (A, B, C), "f16x2 <- f32 f32"),
        ("add.f32.bf16", (A, B, C), "f32 <- bf16 f32"),
        ("lop3.or.b32", (Pair(A, P), A, B, C, D, Q), "b32 pred <- b32 b32 b32 b32 pred"),
        ("atom.global.add.noftz.f16x2", (A, MEMORY, B), "f16x2 <- u64 f16x2"),
        ("st.global.L2::cache_hint.v2.f32", (MEMORY, Vector((A, B)), C), "<- u64 f32 f32 b64"),
        ("mov.b128", (A, Vector((B, C))), "b128 <- b64 b64"),
        ("tex.2d.v4.f32.f32", (FOUR, AddressTuple((A, Vector((B, C))))), "f32 f32 f32 f32 <- u64 f32 f32"),
        (
            "tex.2d.v4.s32.s32",
            (
                FOUR,
                AddressTuple((A, B, Vector((C, D)))),
            ),
            "s32 s32 s32 s32 <- u64 u64 s32 s32",
        ),
        ("tex.a1d.v4.u32.f32", (FOUR, AddressTuple((A, Vector((B, C))))), "u32 u32 u32 u32 <- u64 u32 f32"),
        ("tex.1d.v2.f16x2.f32", (Vector((A, B)), AddressTuple((C, D))), "f16x2 f16x2 <- u64 f32"),
        ("tex.1d.v4.f32.f32", (Pair(FOUR, P), AddressTuple((A, B))), "f32 f32 f32 f32 pred <- u64 f32"),
        ("tex.level.1d.v4.f32.s32", (FOUR, AddressTuple((A, B)), C), "f32 f32 f32 f32 <- u64 s32 s32"),
        (
            "tex.grad.1d.v4.f32.f32",
            (FOUR, AddressTuple((A, B)), Vector((C,)), Vector((D,)), Vector((A,))),
            "f32 f32 f32 f32 <- u64 f32 f32 f32 s32",
        ),
        ("txq.width.b32", (A, MEMORY), "b32 <- u64"),
        ("istypep.texref", (P, A), "pred <- u64"),
        ("suld.b.2d.v2.b16.trap", (Vector((A, B)), AddressTuple((C, Vector((D, D))))), "b16 b16 <- u64 s32 s32"),
        ("sust.b.a1d.b64.zero", (AddressTuple((A, Vector((B, C)))), D), "<- u64 u32 s32 b64"),
        ("sured.p.min.1d.b32", (AddressTuple((A, B)), C), "<- u64 s32 b32"),
    ],
)
def test_signature(text: str, operands: tuple[Operand, ...], expected: str) -> None:
    signature = opcodes.signature(instruction(text, *operands))
    found = " ".join([*map(str, signature.results), "<-", *map(str, signature.sources)])
    assert found == expected


@pytest.mark.parametrize(
    ("text", "unit", "latency"),
    [
        ("add.s32", Unit.ALU, Latency.ALU),
        ("fma.rn.f32", Unit.ALU, Latency.ALU),
        ("fma.rn.f64", Unit.DP, Latency.DP),
        ("div.s32", Unit.SFU, Latency.SFU),
        ("ex2.approx.ftz.f32", Unit.SFU, Latency.SFU),
        ("ld.global.nc.f32", Unit.MEM, Latency.GLOBAL),
        ("ld.local.u64", Unit.MEM, Latency.GLOBAL),
        ("ld.f32", Unit.MEM, Latency.GLOBAL),
        ("ld.volatile.shared.u32", Unit.MEM, Latency.SHARED),
        ("ld.param.u64", Unit.MEM, Latency.CONSTANT),
        ("st.global.f32", Unit.MEM, Latency.STORE),
        ("atom.global.add.u32", Unit.MEM, Latency.GLOBAL),
        ("atom.shared.add.u32", Unit.MEM, Latency.SHARED),
        ("red.global.add.u32", Unit.MEM, Latency.STORE),
        ("bar.sync", Unit.CTRL, Latency.CONTROL),
        ("bra", Unit.CTRL, Latency.CONTROL),
        ("shfl.sync.bfly.b32", Unit.MEM, Latency.SHARED),
        ("tex.2d.v4.f32.f32", Unit.TEX, Latency.TEXTURE),
        ("txq.width.b32", Unit.TEX, Latency.TEXTURE),
        ("sust.b.2d.b32.trap", Unit.TEX, Latency.STORE),
        ("ld.shared.f16", Unit.MEM, Latency.SHARED),
        ("no.such.opcode", Unit.ALU, Latency.ALU),
    ],
)
def test_classification(text: str, unit: Unit, latency: Latency) -> None:
    assert opcodes.classify(instruction(text)) == (unit, latency)


def test_long_latency_is_global_and_texture() -> None:
    assert {latency for latency in Latency if latency.is_long} == {Latency.GLOBAL, Latency.TEXTURE}


def test_carry_is_an_implicit_register() -> None:
    chain = instruction("addc.cc.u32", A, B, C)
    assert opcodes.carry_uses(chain) == opcodes.carry_defs(chain) == (CARRY,)
    start, end = instruction("add.cc.u32", A, B, C), instruction("addc.u32", A, B, C)
    assert (start.traits.reads_carry, start.traits.writes_carry) == (False, True)
    assert (end.traits.reads_carry, end.traits.writes_carry) == (True, False)
    assert not instruction("mystery.cc").traits.reads_carry


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("tex.2dms.v4.f32.s32", (A, B)),
        ("add.rz.f16", (A, B, C)),
        ("mul.s32", (A, B, C)),
        ("add.sat.u32", (A, B, C)),
        ("fma.f32", (A, B, C, D)),
        ("cvt.f32.s32", (A, B)),
        ("cvt.rn.s32.f32", (A, B)),
        ("setp.lt.b32", (P, A, B)),
        ("add.sat.rn.f32", (A, B, C)),
        ("add.f32.sat", (A, B, C)),
        ("shl.u32", (A, B, C)),
    ],
)
def test_what_ptx_does_not_allow_is_refused_by_name_and_place(text: str, operands: tuple[Operand, ...]) -> None:
    with pytest.raises(UnsupportedError, match=rf"k\.ptx:7:3: {re.escape(text)} is not supported"):
        opcodes.lookup(instruction(text, *operands))


def test_wrong_number_of_operands_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="does not take 1 results and 3 sources"):
        opcodes.lookup(instruction("add.s32", A, B, C, D))


CORE = (
    "ret add ld mov st cvta mul setp bra shl mad sub and cvt shr or fma bar selp div not neg xor abs max atom sqrt "
    "rcp bfi min ex2 rem prmt call copysign rsqrt madc addc subc clz barrier shfl vote membar brev popc bfind red "
    "activemask sin cos lg2 set slct bfe mul24 mad24 sad shf lop3 fence isspacep cnot testp exit trap bmsk tanh "
)


def test_every_opcode_of_real_kernels_has_a_row() -> None:
    assert set(CORE.split()) <= {row.name for row in opcodes.OPCODES}


def test_every_row_has_a_meaning_or_an_effect() -> None:
    for row in opcodes.OPCODES:
        assert (row.meaning is None) == bool(row.effect), row.syntax


def spellings(syntax: str) -> list[str]:
    """All full opcodes that a row's syntax allows, wild cards left out."""
    pieces = re.split(r"(\[\.(?:\([^)]*\)|[^\]]*)\]|\([^)]*\))", syntax)
    choices = []
    for piece in pieces:
        inner = piece.removeprefix("[.").removesuffix("]")
        options = inner.strip("()").split("|") if inner.startswith("(") else [inner]
        options = [o for o in options if "\\" not in o]
        choices.append([*("." + o for o in options), ""] if piece.startswith("[") else options)
    return ["".join(chosen) for chosen in itertools.product(*choices)]


def test_no_two_rows_claim_the_same_instruction() -> None:
    taken: dict[tuple[str, int, bool], str] = {}
    for row in opcodes.OPCODES:
        if row.name in ("ld", "st", "ldu", "atom", "red"):
            continue
        for text in spellings(row.syntax):
            assert row.pattern.fullmatch(text), (row.syntax, text)
            sources = row.types.split("<-")[1].split()
            key = text, len(sources), row.name == "cp" and "pred" in sources
            assert taken.setdefault(key, row.syntax) == row.syntax, text
