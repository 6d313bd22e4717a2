"""Variables, registers, initialisers, functions and directives of every form."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.ptx.texts import HEADER, module, statements

from warpreg import ptx
from warpreg.ir.errors import Location
from warpreg.ir.instruction import Instruction
from warpreg.ir.module import (
    AddressByte,
    Attribute,
    BranchTable,
    CallPrototype,
    Function,
    GenericAddress,
    Initializer,
    LabelStatement,
    Loc,
    Property,
    RegisterDeclaration,
    Scope,
    Section,
    SourceFile,
    Variable,
)
from warpreg.ir.operands import Immediate, Register, Symbol
from warpreg.ir.types import TYPES

B8, B32, U32, S32, U64, F32 = (TYPES[name] for name in ("b8", "b32", "u32", "s32", "u64", "f32"))


def numbers(*values: int) -> tuple[Immediate, ...]:
    return tuple(map(Immediate, values))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".global .u32 g;", Variable("global", U32, "g")),
        (".extern .shared .align 16 .b8 s[];", Variable("shared", B8, "s", 16, (0,), linkage="extern")),
        (".const .align 8 .b8 c[2][3];", Variable("const", B8, "c", 8, (2, 3))),
        (".const[2] .u32 c;", Variable("const", U32, "c", qualifiers=("[2]",))),
        (".common .global .v2 .f32 v;", Variable("global", F32, "v", vector=2, linkage="common")),
        (".weak .global .align 4 .v4 .u32 v[4];", Variable("global", U32, "v", 4, (4,), 4, linkage="weak")),
        (
            ".global .attribute(.managed) .align 4 .u32 m = 3;",
            Variable("global", U32, "m", 4, initializer=Immediate(3), qualifiers=(".attribute", "(", ".managed", ")")),
        ),
        (
            ".global .attribute(.unified(19, 95)) .u32 u;",
            Variable(
                "global", U32, "u", qualifiers=(".attribute", "(", ".unified", "(", "19", "95", ")", ")")
            ),
        ),
        (".tex .u32 t;", Variable("tex", U32, "t")),
        (".global .texref t;", Variable("global", TYPES["texref"], "t")),
        (".global .u32 n[(1 << 2) + 1];", Variable("global", U32, "n", 0, (5,))),
    ],
)  # fmt: skip
def test_module_variables(text: str, expected: Variable) -> None:
    assert module(text).items == (expected,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", Immediate(5)),
        ("-5", Immediate(-5)),
        ("{1, 2, 3}", numbers(1, 2, 3)),
        ("{ 010,\n 0x10 }", numbers(8, 16)),
        ("{{1, 2}, {3}}", (numbers(1, 2), numbers(3))),
        ("{}", ()),
        ("{0f3F800000, 0d4000000000000000, 1.5}", (
            Immediate(0x3F800000, "f32"), Immediate(0x4000000000000000, "f64"), Immediate(0x3FF8000000000000, "f64"),
        )),
        ("first", Symbol("first")),
        ("{first, first+8, first-4}", (Symbol("first"), Symbol("first", 8), Symbol("first", -4))),
        ("{generic(first), 0}", (GenericAddress(Symbol("first")), Immediate(0))),
        ("generic(first)+8", GenericAddress(Symbol("first", 8))),
        ("{0xFF(first), 0xFF00(generic(first))}", (
            AddressByte(0xFF, Symbol("first")), AddressByte(0xFF00, GenericAddress(Symbol("first"))),
        )),
        ("{filter_mode = linear, addr_mode_0 = 2}", (
            Property("filter_mode", Symbol("linear")), Property("addr_mode_0", Immediate(2)),
        )),
    ],
)  # fmt: skip
def test_initialisers(text: str, expected: Initializer) -> None:
    found = module(f".global .u64 first; .global .u64 x[4] = {text};").variables[1]
    assert found.initializer == expected


def test_one_declaration_of_several_variables() -> None:
    first, second = module(".global .align 8 .u32 a = 1, b[2];").variables
    assert first == Variable("global", U32, "a", 8, initializer=Immediate(1))
    assert second == Variable("global", U32, "b", 8, (2,))


def test_registers() -> None:
    found = statements(".reg .b32 a, b<3>, c; .reg .v4 .f32 v;")
    assert found == (
        RegisterDeclaration(B32, "a"),
        RegisterDeclaration(B32, "b", 3),
        RegisterDeclaration(B32, "c"),
        RegisterDeclaration(F32, "v", vector=4),
    )


def test_a_range_declares_its_numbers_and_the_longest_prefix_may_end_in_a_digit() -> None:
    found = statements(".reg .f64 %r1<3>; mov.f64 %r12, %r10; mov.b32 %r1, %r9;")
    assert [i.operands for i in found if isinstance(i, Instruction)] == [
        (Register("%r12", TYPES["f64"]), Register("%r10", TYPES["f64"])),
        (Register("%r1", B32), Register("%r9", B32)),
    ]


def test_a_nested_scope_may_declare_a_name_anew() -> None:
    text = "mov.b32 %r1, 0; { .reg .f32 %r<3>; mov.f32 %r1, %r2; mov.b32 %r5, 1; } mov.b32 %r1, 0;"
    before, scope, after = statements(text)
    assert isinstance(scope, Scope)
    assert scope.statements[0] == RegisterDeclaration(F32, "%r", 3)
    inner, outer = scope.statements[1:]
    assert isinstance(inner, Instruction)
    assert isinstance(outer, Instruction)
    assert inner.operands == (Register("%r1", F32), Register("%r2", F32))
    assert outer.operands[0] == Register("%r5", B32)
    assert isinstance(before, Instruction)
    assert isinstance(after, Instruction)
    assert before.operands[0] == after.operands[0] == Register("%r1", B32)


def test_a_register_declared_after_the_use_of_one_around_it_shadows_from_there_on() -> None:
    (scope,) = statements("{ mov.b32 %r1, 0; .reg .f32 %r1; mov.f32 %r1, 0; }")
    assert isinstance(scope, Scope)
    results = [s.operands[0] for s in scope.statements if isinstance(s, Instruction)]
    assert results == [Register("%r1", B32), Register("%r1", F32)]


def test_registers_at_module_scope() -> None:
    text = """.version 2.3
    .target sm_20
    .reg .u32 %ra<4>; .reg .v2 .f32 v, w; .visible .reg .pred p;
    .func f { .reg .b32 %ra<2>; @p add.u32 %ra1, %ra2, %ra3; mov.f32 v.x, w.y; ret; }"""
    found = ptx.parse(text)
    assert found.registers == (
        RegisterDeclaration(U32, "%ra", 4),
        RegisterDeclaration(F32, "v", None, 2),
        RegisterDeclaration(F32, "w", None, 2),
        RegisterDeclaration(TYPES["pred"], "p"),
    )
    add, move, _ = found.function("f").instructions()
    assert add.operands == (Register("%ra1", B32), Register("%ra2", U32), Register("%ra3", U32))
    assert move.operands == (Register("v.x", F32), Register("w.y", F32))
    assert ptx.parse(ptx.write(found)).items == found.items


def test_functions() -> None:
    text = """.extern .func (.param .b32 r) printf (.param .b64 a, .param .b64 b);
    .weak .func (.reg .u32 r) add (.reg .u32 a) { ret; }
    .visible .entry k(.param .u64 .ptr .global .align 16 out, .param .align 8 .b8 s[24]) .maxntid 256, 1, 1
    .minnctapersm 2 { ret; }
    .entry bare { ret; }
    .func .attribute(.unified(1, 2)) f() .noreturn .pragma "x", "y"; ;"""
    printf, add, k, bare, f = module(text).functions
    assert printf == Function(
        "printf", False, (Variable("param", TYPES["b64"], "a"), Variable("param", TYPES["b64"], "b")),
        (Variable("param", B32, "r"),), linkage="extern",
    )  # fmt: skip
    assert add.returns == (Variable("reg", U32, "r"),)
    assert add.body == (Instruction("ret", (), ()),)
    assert k.parameters == (
        Variable("param", U64, "out", qualifiers=(".ptr", ".global", ".align", "16")),
        Variable("param", B8, "s", 8, (24,)),
    )
    assert k.attributes == (Attribute("maxntid", ("256", "1", "1")), Attribute("minnctapersm", ("2",)))
    assert bare.parameters == ()
    assert bare.is_kernel
    assert f.attributes[0].arguments == ("(", ".unified", "(", "1", "2", ")", ")")
    assert f.attributes[1:] == (Attribute("noreturn"), Attribute("pragma", ('"x"', '"y"')))


@pytest.mark.parametrize(
    "following",
    [".visible .func g", ".func g", '.file 1 "a.cu"', ".global .u32 x;", ".const .u32 x;", ".extern .func g",
     ".section .x { }", "@@DWARF .byte 1", ".entry g { ret; }", '.pragma "x";', ".alias f, f;", ""],
)  # fmt: skip
@pytest.mark.parametrize("linkage", [".visible ", ".extern ", ""])
@pytest.mark.parametrize("line_end", ["\n", " "])
def test_a_function_is_declared_without_a_semicolon(following: str, linkage: str, line_end: str) -> None:
    found = module(f"{linkage}.func (.param .s32 r) f (.param .s32 a){line_end}{following}").items
    name = linkage.strip(" .")
    declared = Function("f", False, (Variable("param", S32, "a"),), (Variable("param", S32, "r"),), linkage=name)
    if "pragma" in following:  # a directive of functions, too
        declared = replace(declared, attributes=(Attribute("pragma", ('"x"',)),))
    assert found[0] == declared
    assert len(found) == (1 if following in ("", '.pragma "x";') else 2)


def test_a_function_declared_without_a_semicolon_is_defined_later() -> None:
    found = module(".func f (.reg .u32 a)\n.func f (.reg .u32 a)\n{ ret; }\n.func f (.reg .u32 a)")
    assert [f.body for f in found.functions] == [None, (Instruction("ret", (), ()),), None]


@pytest.mark.parametrize(
    "directive",
    [
        ".maxnreg 32", ".maxntid 16, 16", ".reqntid 128", ".minnctapersm 4", ".maxnctapersm 4", ".noreturn",
        ".reqnctapercluster 2, 1, 1", ".explicitcluster", ".maxclusterrank 8", ".blocksareclusters", ".abi_preserve 4",
        ".abi_preserve_control 1",
    ],
)  # fmt: skip
def test_function_directives(directive: str) -> None:
    name, *arguments = directive[1:].replace(",", "").split()
    assert module(f".entry k() {directive} {{ ret; }}").functions[0].attributes == (Attribute(name, tuple(arguments)),)


def test_statements_of_a_body() -> None:
    found = statements(
        """L: .pragma "nounroll";
        .shared .align 4 .f32 tile[8];
        ts: .branchtargets L, M;
        proto: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
        { ret; }
        M:"""
    )
    assert found == (
        LabelStatement("L"),
        Attribute("pragma", ('"nounroll"',)),
        Variable("shared", F32, "tile", 4, (8,)),
        BranchTable("ts", "branchtargets", ("L", "M")),
        CallPrototype(
            "proto", (Variable("param", B32, "_"),), (Variable("param", TYPES["b64"], "_"),), (Attribute("noreturn"),)
        ),
        Scope((Instruction("ret", (), ()),)),
        LabelStatement("M"),
    )


def test_header() -> None:
    found = ptx.parse(".version 7.8\n.target sm_90a, debug\n.entry k { ret; }")
    assert (found.version, found.target, found.address_size) == ("7.8", ("sm_90a", "debug"), 32)


def test_debug_information() -> None:
    text = """.file 1 "a b.cu"
    .file 2 "c.cu", 123, 456
    .section .debug_info {
    .b8 1, 2   // a comment }
    label:
        .b32 end-label
    }
    .section .debug_macinfo { }
    .pragma "x";
    @@DWARF .byte 0x01
    """
    assert module(text).items == (
        SourceFile(1, "a b.cu"),
        SourceFile(2, "c.cu", ("123", "456")),
        Section(".debug_info", (".b8 1, 2", "label:", ".b32 end-label")),
        Section(".debug_macinfo", ()),
        Attribute("pragma", ('"x"',)),
        Section("@@DWARF", (".byte 0x01",)),
    )


def test_alias() -> None:
    found = module(".func f() { ret; } .func g(); .alias g, f;")
    assert found.items[-1] == Attribute("alias", ("g", "f"))


def test_instructions_know_where_they_stand() -> None:
    body = "\t.loc 7 1 1\n\tret;\n  .loc 1 10 3\n  ret; @p ret;\n.loc 1 11\n\tret;\n"
    text = f'{HEADER}.entry k {{ .reg .pred p;\n{body}}}\n.file 1 "a.cu"'
    found = list(ptx.parse(text, "k.ptx").function("k").instructions())
    assert [i.location for i in found] == [
        Location("k.ptx", 6, 2), Location("k.ptx", 8, 3), Location("k.ptx", 8, 8), Location("k.ptx", 10, 2),
    ]  # fmt: skip
    assert [i.source for i in found] == [
        None, Location("a.cu", 10, 3), Location("a.cu", 10, 3), Location("a.cu", 11, 0),
    ]  # fmt: skip


def test_the_place_in_the_source_ends_with_the_function() -> None:
    text = '.file 1 "a.cu"\n.entry a { .loc 1 5 0\n ret; }\n.entry b { ret; }'
    assert [i.source for f in module(text).kernels for i in f.instructions()] == [Location("a.cu", 5), None]


def test_inlined_places() -> None:
    text = """.loc 1 5 2, function_name $L__info_string0, inlined_at 1 20 5
    .loc 2 6 0, function_name $L__info_string0+16, inlined_at 1 21 0 // comment"""
    assert statements(text) == (
        Loc(1, 5, 2, ("function_name", "$L__info_string0", "inlined_at", "1", "20", "5")),
        Loc(2, 6, 0, ("function_name", "$L__info_string0", "+", "16", "inlined_at", "1", "21", "0")),
    )


def test_comments_and_line_ends_may_stand_anywhere() -> None:
    text = "/* a\n b */ add.s32 /* c */ %r1, // d\n %r2,\r\n /* ; } */ 3 ; // e"
    (found,) = statements(text)
    assert isinstance(found, Instruction)
    assert found.operands == (Register("%r1", B32), Register("%r2", B32), Immediate(3))
    assert found.location == Location("<ptx>", 10 + 1, 7)


def test_trailing_zero_bytes_and_a_byte_order_mark_are_ignored() -> None:
    assert ptx.parse("\ufeff" + HEADER + ".entry k { ret; }\0\0") == ptx.parse(HEADER + ".entry k { ret; }")
