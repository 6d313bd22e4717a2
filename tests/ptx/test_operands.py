"""Every form of operand is parsed to its object."""

from __future__ import annotations

import struct

import pytest
from tests.ptx.texts import HEADER, instruction, statements

from warpreg import ptx
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.operands import (
    Address,
    AddressTuple,
    Arguments,
    Immediate,
    Label,
    Not,
    Operand,
    Pair,
    Part,
    Register,
    Sink,
    Special,
    Symbol,
    Vector,
)
from warpreg.ir.types import TYPES


def r(number: int) -> Register:
    return Register(f"%r{number}", TYPES["b32"])


def rd(number: int) -> Register:
    return Register(f"%rd{number}", TYPES["b64"])


def p(number: int) -> Register:
    return Register(f"%p{number}", TYPES["pred"])


def f(number: int) -> Register:
    return Register(f"%f{number}", TYPES["f32"])


def test_a_plain_instruction() -> None:
    found = instruction("add.rn.ftz.s32 \t%r1, %r2, -5;")
    assert found == Instruction("add", ("rn", "ftz", "s32"), (r(1), r(2), Immediate(-5)))


def test_a_register_of_one_scope_is_one_object() -> None:
    first, second = statements("mov.b32 %r1, %r2; add.s32 %r2,%r1 , 1;")
    assert isinstance(first, Instruction)
    assert isinstance(second, Instruction)
    assert first.operands[0] is second.operands[1]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0), ("42", 42), ("-42", -42), ("017", 15), ("0x1F", 31), ("0X1fU", 31), ("0b101", 5), ("7U", 7),
        ("-0x80", -128), ("18446744073709551615U", 2**64 - 1), ("WARP_SZ", 32), ("(1 + 2) * 3", 9), ("1 + 2 * 3", 7),
        ("-7 / 2", -3), ("-7 % 3", -1), ("1 << 4 | 1", 17), ("~0", -1), ("!5", 0), ("!0", 1),
        ("(3 > 2) ? 10 : 20", 10), ("0 && 1 || 1", 1), ("(.s64) 5", 5), ("0xF0 >> 4 ^ 1", 14), ("3 == 3", 1),
        ("WARP_SZ - 1", 31),
    ],
)  # fmt: skip
def test_integer_constants(text: str, value: int) -> None:
    assert instruction(f"mov.u32 %r1, {text};").operands[1] == Immediate(value)


@pytest.mark.parametrize(
    ("text", "form", "value"),
    [
        ("0f3F800000", "f32", 1.0), ("0Fbf800000", "f32", -1.0), ("0d400921FB54442D18", "f64", 3.141592653589793),
        ("1.5", "f64", 1.5), ("-0.25", "f64", -0.25), ("1e-3", "f64", 1e-3), ("2.5E+2", "f64", 250.0),
        ("1.", "f64", 1.0), (".5", "f64", 0.5), ("1.0 / 4", "f64", 0.25), ("-0f40000000", "f32", -2.0),
    ],
)  # fmt: skip
def test_float_constants(text: str, form: str, value: float) -> None:
    (found,) = instruction(f"mov.f32 %f1, {text};").operands[1:]
    assert isinstance(found, Immediate)
    assert found.form == form
    bits = struct.pack("<f", value) if form == "f32" else struct.pack("<d", value)
    assert found.value == int.from_bytes(bits, "little")


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("[%rd1]", Address(rd(1))),
        ("[%rd1+4]", Address(rd(1), 4)),
        ("[%rd1+-4]", Address(rd(1), -4)),
        ("[%rd1-4]", Address(rd(1), -4)),
        ("[ %rd1 + 0 ]", Address(rd(1), 0)),
        ("[%rd1+4*(2+1)]", Address(rd(1), 12)),
        ("[%rd1+0x10-8]", Address(rd(1), 8)),
        ("[16]", Address(Immediate(16))),
        ("[0x10+4]", Address(Immediate(20))),
        ("[table]", Address(Symbol("table"))),
        ("[table+8]", Address(Symbol("table"), 8)),
        ("[in+0]", Address(Symbol("in"))),
        ("[%rd1, {%f1, %f2}]", AddressTuple((rd(1), Vector((f(1), f(2)))))),
        ("[table+8, {%r1}]", AddressTuple((Address(Symbol("table"), 8), Vector((r(1),))))),
        ("[table, %rd1, {%f1, %f2}]", AddressTuple((Symbol("table"), rd(1), Vector((f(1), f(2)))))),
        ("{%r1, _, 5, %tid.x}", Vector((r(1), Sink(), Immediate(5), Special("%tid.x")))),
        ("{ %r1 }", Vector((r(1),))),
        ("{{%r1, %r2}, {%r3}}", Vector((Vector((r(1), r(2))), Vector((r(3),))))),
        ("%tid.y", Special("%tid.y")),
        ("%laneid", Special("%laneid")),
        ("%envreg31", Special("%envreg31")),
        ("%cluster_ctaid.z", Special("%cluster_ctaid.z")),
        ("%pm7_64", Special("%pm7_64")),
        ("table", Symbol("table")),
        ("table+4", Symbol("table", 4)),
        ("table+4-12", Symbol("table", -8)),
        ("!%p1", Not(p(1))),
        ("-%r1", Part(r(1), negated=True)),
        ("%r1.b3", Part(r(1), "b3")),
        ("-%r1.h1", Part(r(1), "h1", negated=True)),
        ("_", Sink()),
    ],
)
def test_operands(text: str, operand: Operand) -> None:
    assert instruction(f"invented.b32 %r0, {text};").operands == (r(0), operand)


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("%p1|%p2", Pair(p(1), p(2))),
        ("%r1 | %p2", Pair(r(1), p(2))),
        ("_|%p2", Pair(Sink(), p(2))),
        ("{%r1, %r2}|%p2", Pair(Vector((r(1), r(2))), p(2))),
    ],
)
def test_pairs_of_destinations(text: str, pair: Pair) -> None:
    assert instruction(f"invented.b32 {text}, %r0;").operands == (pair, r(0))


def test_guards() -> None:
    assert instruction("@%p1 bra L; L:").guard == Guard(p(1))
    assert instruction("@!%p1 ret;").guard == Guard(p(1), negated=True)
    assert instruction("@ ! %p1 ret;").guard == Guard(p(1), negated=True)


@pytest.mark.parametrize(
    "opcode",
    [
        "ret", "mad.lo.cc.u32", "ld.volatile.global.v4.f32", "tex.2d.v4.f32.f32", "cp.async.ca.shared.global.L2::128B",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "tcgen05.ld.sync.aligned.16x64b.x1.b32", "mov.b128",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
        "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0",
    ],
)  # fmt: skip
def test_any_well_formed_opcode(opcode: str) -> None:
    for text in (f"{opcode};", f"{opcode} ;", f"{opcode}\n;"):
        found = instruction(text)
        assert found.full_opcode == opcode
        assert found.operands == ()


def call(text: str) -> tuple[Operand, ...]:
    functions = ".func (.param .b32 x) f(.param .b32 a, .param .b32 b); .func g;\n"
    body = f".entry k() {{ .reg .b64 %rd1; .param .b32 a, b, c; {text} }}"
    return next(
        i for i in ptx.parse(HEADER + functions + body).function("k").instructions() if i.opcode == "call"
    ).operands


def test_calls() -> None:
    a, b, c = Symbol("a"), Symbol("b"), Symbol("c")
    assert call("call g;") == (Symbol("g"),)
    assert call("call.uni g, ();") == (Symbol("g"), Arguments(()))
    assert call("call g, (a);") == (Symbol("g"), Arguments((a,)))
    assert call("call (c), f, (a, b);") == (Arguments((c,)), Symbol("f"), Arguments((a, b)))
    assert call("call.uni (c),\nf,\n(\na,\n-1\n)\n;") == (Arguments((c,)), Symbol("f"), Arguments((a, Immediate(-1))))


def test_indirect_calls() -> None:
    c, register = Symbol("c"), rd(1)
    prototype = "proto: .callprototype (.param .b32 _) _ (.param .b32 _);"
    expected = (Arguments((c,)), register, Arguments((Symbol("a"),)), Label("proto"))
    assert call(f"{prototype} call (c), %rd1, (a), proto;") == expected
    assert call("targets: .calltargets f, g; call %rd1, targets;") == (register, Label("targets"))


def test_branches_name_labels() -> None:
    assert instruction("bra.uni table; table: ").operands == (Label("table"),)
    found = statements("ts: .branchtargets A, B; brx.idx %r1, ts; A: B: mov.u64 %rd1, A;")
    assert [s.operands for s in found if isinstance(s, Instruction)] == [(r(1), Label("ts")), (rd(1), Label("A"))]


def test_vector_registers() -> None:
    body = ".reg .v4 .f32 v; .reg .v2 .u32 w<3>; mov.f32 v.y, v.a; ld.global.v4.f32 v, [in]; mov.u32 w2.x, 1;"
    move, load, last = (s for s in statements(body) if isinstance(s, Instruction))
    components = tuple(Register(f"v.{c}", TYPES["f32"]) for c in "xyzw")
    assert move.operands == (components[1], components[3])
    assert load.operands[0] == Vector(components)
    assert last.operands[0] == Register("w2.x", TYPES["u32"])


def test_a_negative_offset_is_written_as_nvidia_s_assembler_reads_it() -> None:
    text = (
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n.reg .b64 %rd<2>;\n"
        ".reg .b32 %r<2>;\nld.global.u32 %r1, [%rd1-4];\nret;\n}\n"
    )
    assert "ld.global.u32 %r1, [%rd1+-4];" in ptx.write(ptx.parse(text))
