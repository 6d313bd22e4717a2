"""A malformed text gives all its independent errors, each at its place, and no consequential errors."""

from __future__ import annotations

import pytest
from tests.ptx.texts import HEADER, errors, kernel

from warpreg import ptx
from warpreg.ir.errors import WarpregError


def in_kernel(statements: str) -> list[tuple[int, int, str]]:
    """Errors of ``statements``, with lines counted from 1 at their first."""
    return [(line - 9, column, message) for line, column, message in errors(kernel(statements))]


def test_a_diagnostic_shows_file_line_column_message_and_source_line() -> None:
    with pytest.raises(ptx.PtxError) as caught:
        ptx.parse(kernel("\tadd.s32 \t%r1, %rr2, 3;\n\tmov.u32 %r1, 0xZZ;"), "k.ptx")
    assert isinstance(caught.value, WarpregError)
    assert str(caught.value) == (
        "k.ptx:10:16: undeclared register '%rr2'; did you mean '%r2'?\n"
        "\tadd.s32 \t%r1, %rr2, 3;\n"
        "\t        \t     ^\n"
        "k.ptx:11:15: bad literal '0xZZ'\n"
        "\tmov.u32 %r1, 0xZZ;\n"
        "\t             ^"
    )


@pytest.mark.parametrize(
    ("statement", "column", "message"),
    [
        ("add.s32 %r1, %r10, 1;", 14, "undeclared register '%r10': '%r<10>' declares %r0 to %r9"),
        ("add.s32 %r1, %x7, 1;", 14, "undeclared register '%x7'; did you mean '%r7'?"),
        ("mov.u32 %r1, %tid.q;", 14, "undeclared register '%tid.q'; did you mean '%tid'?"),
        ("bra L;", 5, "undeclared label 'L'"),
        ("$L_01: bra $L_02;", 12, "undeclared label '$L_02'; did you mean '$L_01'?"),
        ("ts: .branchtargets M;", 20, "undeclared label 'M'"),
        ("ld.u32 %r1, [tabel];", 14, "undeclared variable 'tabel'; did you mean 'table'?"),
        ("mov.u64 %rd1, tabel;", 15, "undeclared name 'tabel'; did you mean 'table'?"),
        ("call kk;", 6, "undeclared function 'kk'; did you mean 'k'?"),
        ("@%q bra L; L:", 2, "undeclared register '%q'"),
        ("@%r1 bra L; L:", 2, "'%r1' is not a predicate register"),
        ("mov.u32 %r1, 0xZZ;", 14, "bad literal '0xZZ'"),
        ("mov.u32 %r1, 089;", 14, "bad literal '089'"),
        ("mov.f32 %f1, 0f3F8;", 14, "bad literal '0f3F8'"),
        ("mov.u32 %r1, 1 / 0;", 16, "division by zero in a constant expression"),
        ("mov.u32 %r1, ~1.5;", 14, "operator '~' does not take floating-point constants"),
        ("mov.u32 %r1 %r2;", 13, "expected ',' or ';', found '%r2'"),
        ("mov.u32 %r1, ;", 14, "expected an operand, found ';'"),
        ("ld.v2.u32 {%r1, %r2, [%rd1];", 28, "expected '}' to close the list, found ';'"),
        ("ld.u32 %r1, [%rd1;", 18, "expected ']' to close the address, found ';'"),
        ("ld.u32 %r1, [%tid.x];", 14, "'%tid.x' cannot be an address"),
        ("ld.u32 %r1, [%rd1+1.5];", 18, "an address offset is an integer"),
        ("and.pred %p1, !5x, %p2;", 16, "bad literal '5x'"),
        ("and.pred %p1, !table, %p2;", 16, "'!' takes a predicate, found 'table'"),
        ("call (%r1) k;", 12, "expected ',' after the return parameters of a call, found 'k'"),
        ("call 5;", 6, "expected a function or a register to call, found '5'"),
        ("5;", 1, "expected an instruction, found '5'"),
        ("Add.u32 %r1, %r2, %r3;", 1, "expected an instruction, found 'Add'"),
        ("é %r1;", 1, "expected an instruction, found 'é'"),
        (".rge .b32 %x;", 1, "unknown directive '.rge'; did you mean '.reg'?"),
        (".reg .b33 %x;", 6, "unknown type '.b33'"),
        (".reg %x;", 6, "expected a register type, found '%x'"),
        (".reg .b32 .f32 %x;", 11, "a second type '.f32' after '.b32'"),
        (".reg .b32 %x<y>;", 14, "expected the number of registers, found 'y'"),
        (".reg .b32 %x<99999999>;", 11, "99999999 registers is not a sensible number"),
        (".reg .b32 %r<4>;", 11, "register '%r<4>' is already declared in this scope"),
        (".reg .b32 %r4;", 11, "register '%r4' is already declared in this scope"),
        (".reg .b32 %a3; .reg .b32 %a<4>;", 26, "register '%a<4>' is already declared in this scope"),
        (".shared .b32 in;", 14, "'in' is already declared in this scope"),
        (".shared .align 3 .b32 x;", 16, "alignment 3 is not a power of two"),
        (".shared .b32 x[-1];", 16, "array size -1 is negative"),
        (".shared .b32 x[1.5];", 16, "expected an array size, found a floating-point constant"),
        ("L: L:", 4, "'L' is already declared in this scope"),
        ("%r1: ret;", 1, "'%r1' is already declared in this scope"),
        (".pragma nounroll;", 9, "expected a string after .pragma, found 'nounroll'"),
        (".loc one;", 1, "expected '.loc file line column' and an optional inlining clause"),
        ('.pragma "nounroll;', 9, "unterminated string"),
        ("ret; /* open", 6, "unterminated comment"),
    ],
)  # fmt: skip
def test_one_error_of_a_statement(statement: str, column: int, message: str) -> None:
    found = in_kernel(f"{statement}\nadd.s32 %r1, %r2, %r3;\n%r1;")
    assert found[0] == (1, column, message)
    if "unterminated" not in message:
        assert found[1:] == [(3, 1, "expected an instruction, found '%r1'")]


def test_every_independent_error_is_reported() -> None:
    text = """add.s32 %r1, %r2, %r3
mul.lo.s32 %r1, %r2, 5x;
ld.v2.u32 {%r1, 0b2}, [%rd1];
ret"""
    assert in_kernel(text) == [
        (1, 22, "missing ';'"), (2, 22, "bad literal '5x'"), (3, 17, "bad literal '0b2'"), (4, 4, "missing ';'"),
    ]  # fmt: skip


def test_an_unreadable_declaration_does_not_make_its_uses_errors() -> None:
    text = ".reg .b33 %x<4>, y;\nadd.s32 %x1, %x2, y;\n.shared .q8 t[4];\nld.u32 %x1, [t];\nbra %x3;"
    assert in_kernel(text) == [(1, 6, "unknown type '.b33'"), (3, 9, "unknown type '.q8'")]


def test_an_undeclared_register_is_reported_once_in_a_function() -> None:
    assert len(in_kernel("add.s32 %q, %q, 1; add.s32 %q, %q, 1;")) == 1


def test_a_label_of_a_nested_scope_is_not_seen_outside() -> None:
    assert in_kernel("{ M: bra L; } L: bra M;") == [(1, 22, "undeclared label 'M'")]


def test_missing_closing_brace_before_the_next_function() -> None:
    text = HEADER + ".entry a {\nret;\n.visible .entry b { ret; }\n.entry c { bra X; }"
    assert errors(text) == [
        (6, 1, "missing '}' before '.visible': the '{' of line 4 is open"),
        (7, 16, "undeclared label 'X'"),
    ]


def test_missing_closing_brace_at_the_end() -> None:
    text = HEADER + ".entry a {\n{\nret;\n"
    assert errors(text) == [(7, 1, "missing '}' before the end of the file: the '{' of line 5 is open")]


def test_one_closing_brace_too_many() -> None:
    text = HEADER + ".entry a {\nret; }\nadd.s32 %r1, %r2, %r3;\nret;\n}\n.entry c { bra X; }"
    assert errors(text) == [(6, 1, "expected a directive, found 'add'"), (9, 16, "undeclared label 'X'")]


def test_a_bad_signature_does_not_hide_the_errors_of_the_body() -> None:
    text = HEADER + ".entry a(.param .u6 p) {\nadd.s32 %r1, [p];\nadd.s32 %r1 %r2;\n}\n.entry b() .maxntidd 5 { 5; }"
    assert errors(text) == [
        (4, 17, "unknown type '.u6'"),
        (6, 13, "expected ',' or ';', found '%r2'"),
        (8, 12, "unknown directive '.maxntidd'; did you mean '.maxntid'?"),
        (8, 26, "expected an instruction, found '5'"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (1, 1, "missing .version: a PTX file begins with .version and .target")),
        (".entry k { ret; }", (1, 1, "missing .version: a PTX file begins with .version and .target")),
        (".version 8.0\n.entry k { ret; }", (1, 1, "missing .target after .version")),
        ("hello world;\nthis is text", (1, 1, "expected a directive, found 'hello'")),
        (".version eight\n.target sm_75", (1, 10, "expected a version such as 8.0, found 'eight'")),
    ],
)
def test_header(text: str, expected: tuple[int, int, str]) -> None:
    assert errors(text)[0] == expected


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        (".globl .u32 x;", 1, "unknown directive '.globl'; did you mean '.global'?"),
        (".global .u32 x", 15, "missing ';'"),
        (".global .u32 x y;", 16, "expected ';', found 'y'"),
        (".global .u32;", 13, "expected a variable name, found ';'"),
        (".global x;", 9, "expected a type, found 'x'"),
        (".global .u32 x; .global .u32 x;", 30, "'x' is already declared in this scope"),
        (".global .u32 x; .func x { ret; }", 23, "'x' is already declared in this scope"),
        (".func f { ret; } .func f { ret; }", 24, "function 'f' is already defined"),
        (".func f(.param .u32 a, .param .u32 a);", 36, "'a' is already declared in this scope"),
        (".entry f(.param .u32 a) .func g;", 25, "expected ';', found '.func'"),
        (".entry f(.param .u32 a)\n.func g;", 24, "missing ';'"),
        (".func f(.param .u32 a) g;", 24, "expected '{' or ';', found 'g'"),
        (".func f(.param .u32 a)\nadd.u32 a, a, 1;", 23, "missing ';'"),
        (".func f(.param .u32 a) .vsible .func g;", 24, "unknown directive '.vsible'"),
        (".func f(a);", 9, "expected a parameter, found 'a'"),
        (".global .u64 x = y;", 18, "undeclared name 'y'"),
        (".global .u64 x[2] = {1, y};", 25, "undeclared name 'y'"),
        (".global .u64 x[2] = {1, 2;", 26, "expected '}' to close the initialiser, found ';'"),
        (".global .u64 x[2] = {1, };", 25, "expected a constant, found '}'"),
        (".global .u64 x[2] = {1, 08};", 25, "bad literal '08'"),
        (".visible ret;", 10, "expected a state space, .func or .entry, found 'ret'"),
        (".reg .u32 r;", 1, "registers at module scope are possible up to PTX 2.3, this is PTX 8.0"),
        (".func f(.reg .v8 .f32 p);", 9, "a vector of registers has 2 or 4 elements, found 8"),
        (".func f(.reg .v2 .pred p);", 9, "predicates form no vectors"),
        (".alias a, b;", 8, "undeclared function 'a'"),
        (".file one", 7, "expected a file number, found 'one'"),
        (".file 1 one", 9, "expected a file name in quotes, found 'one'"),
        (".section .debug_info { .b8 1", 22, "missing '}' to close the section"),
        (".address_size 16", 15, "expected an address size of 32 or 64, found '16'"),
    ],
)
def test_one_error_at_module_level(text: str, column: int, message: str) -> None:
    found = errors(f"{HEADER}{text}\n.entry last {{ 5; }}")
    assert found[0] == (4, column, message)
    if ".section" not in text:
        assert found[-1] == (5 + text.count("\n"), 15, "expected an instruction, found '5'")


def test_an_extern_variable_may_be_declared_again() -> None:
    assert errors(HEADER + ".extern .global .u32 x; .global .u32 x; .extern .global .u32 x;") == []


@pytest.mark.parametrize("nested", ["{", "(", "[", "-", "!", "~", "1+(", "0?", ".attribute("])
def test_deep_nesting_is_an_error_not_a_crash(nested: str) -> None:
    for text in (
        kernel(nested * 5000),
        kernel(f"mov.u32 %r1, {nested * 5000}"),
        f"{HEADER}.global .u32 x[2] = {nested * 5000}",
        f"{HEADER}.global {nested * 5000} .u32 x;",
    ):
        assert errors(text)


def test_an_error_in_a_long_line_shows_what_is_around_it() -> None:
    good = "add.s32 %r1, %r2, 1; "
    with pytest.raises(ptx.PtxError) as caught:
        ptx.parse(kernel(good * 1000 + "mov.u32 %r1, 0xZZ; " + good * 1000), "k.ptx")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.location.column == 21 * 1000 + 14
    assert diagnostic.line[diagnostic.caret :].startswith("0xZZ; add.s32")
    assert len(diagnostic.line) == 240
