"""Shorthand of PTX: moves of vectors, sums as operands, omitted spaces, variables of functions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.interpreter import Reference

from warpreg import ptx
from warpreg.codegen import CompileOptions
from warpreg.ir.errors import UnsupportedError
from warpreg.ptx.diagnostics import PtxError
from warpreg.simt import Device, LaunchError, StackFault

WORDS = 4


def text(body: str, before: str = "") -> str:
    return f""".version 8.0
.target sm_75
.address_size 64
{before}
.entry k(.param .u64 out)
{{
    .reg .u32 %x, %y, %z, %w; .reg .u64 %a, %b; .reg .u16 %h; .reg .pred %p; .reg .f32 %f;
    ld.param.u64 %a, [out];
    mov.u32 %y, %ntid.x;
{body}
    ret;
}}
"""


def run(program: str) -> list[int]:
    """What the kernel stores, which is the same virtual, compiled, allocated only, and written and read again."""
    found = []
    for options in (None, CompileOptions(), CompileOptions(level="ptx")):
        for source in (program, ptx.write(ptx.parse(program))):
            device = Device(source, options=options)
            out = device.zeros(WORDS, np.uint32)
            device.launch("k", 1, 1, out)
            found.append(out.download().tolist())
    assert all(one == found[0] for one in found)
    return list(found[0])


def run_reference(program: str) -> list[int]:
    reference = Reference(program)
    out = reference.buffer(bytes(4 * WORDS))
    reference.launch("k", 1, 1, [out])
    return [int(word) for word in np.frombuffer(out.data, np.uint32)]


COUNTER = """.global .u32 seen;
.func count() { .global .u32 calls = 10; .reg .u32 v; ld.global.u32 v, [calls]; add.u32 v, v, 1;
    st.global.u32 [calls], v; st.global.u32 [seen], v; ret; }"""
CASES = {
    "st.global.u32 [%a], %y + 41;": [42, 0, 0, 0],
    "st.u32 [%a], %y+1+2; add.u32 %z, %y + -1, 7; st.u32 [%a+4], %z;": [4, 7, 0, 0],
    "cvt.u16.u32 %h, %y; st.u16 [%a], %h + 65535; mov.u64 %b, 5; st.u64 [%a+8], %b + 1;": [0, 0, 6, 0],
    "setp.eq.u32 %p, %y + 1, 2; @%p st.u32 [%a], %y + 8;": [9, 0, 0, 0],
    ".reg .v2 .u32 v; mov.v2.u32 v, {5, 6}; st.global.v2.u32 [%a], v; st.u32 [%a+8], v.y;": [5, 6, 6, 0],
    ".reg .v2 .u32 v, w; mov.v2.b32 w, {5, 6}; mov.v2.u32 v, w; mov.v2.u32 {%x, %z}, v; st.u32 [%a], %z;": [6, 0, 0, 0],
    "mov.u32 %x, 1; mov.v2.u32 {%x, %y}, {%y, %x}; mov.u32 %z, 7; mov.v2.u32 {%z, %x}, {%x, %z};"
    "st.global.v2.u32 [%a], {%z, %x};": [1, 7, 0, 0],
    ".reg .v4 .u32 v, w; mov.v4.u32 w, {1, 2, 3, 4}; mov.v4.u32 v, {w.w, w.z, w.y, w.x}; st.v4.u32 [%a], v;": [
        4,
        3,
        2,
        1,
    ],
    ".reg .v2 .u64 v; mov.v2.u64 v, {8, 9}; st.v2.u64 [%a], v;": [8, 0, 9, 0],
    ".global .u32 t[2] = {5, 6}; ld.global.u32 %x, [t+4]; st.u32 [%a], %x;": [6, 0, 0, 0],
    "{ .global .u32 t[2] = {5, 6}; ld.u32 %x, [t+4]; } { .global .u32 t[2] = {7, 8}; ld.u32 %y, [t]; }"
    "st.u32 [%a], %x; st.u32 [%a+4], %y;": [6, 7, 0, 0],
    ".global .u32 t = 5; .global .u64 p = t; ld.u64 %b, [p]; ld.u32 %x, [%b]; st.u32 [%a], %x;": [5, 0, 0, 0],
    ".const .u32 t[2] = {5, 6}; ld.const.u32 %x, [t+4]; ld.u32 %y, [t]; st.v2.u32 [%a], {%x, %y};": [6, 5, 0, 0],
    "st.u32 [s+4], 7; ld.u32 %x, [s+4]; atom.add.u32 %y, [s+4], 3; ld.volatile.u32 %z, [s+4];"
    "red.max.u32 [s+4], 50; ld.shared.u32 %w, [s+4]; st.v4.u32 [%a], {%x, %y, %z, %w};": [7, 7, 10, 50],
    ".local .u32 l[4]; st.u32 [l+4], 7; ld.u32 %x, [l+4]; st.u32 [%a], %x;": [7, 0, 0, 0],
    "ld.u32 %x, [c+4]; ld.u32 %y, [g+4]; st.v2.u32 [%a], {%x, %y};": [2, 9, 0, 0],
    "call count, (); call count, (); ld.u32 %x, [seen]; st.u32 [%a], %x;": [12, 0, 0, 0],
}
BEFORE = f".shared .align 16 .u32 s[4]; .const .u32 c[4] = {{1, 2, 3, 4}}; .global .u32 g[2] = {{8, 9}};\n{COUNTER}"


@pytest.mark.slow
@pytest.mark.parametrize("body", CASES)
def test_it_means_what_is_left_out(body: str) -> None:
    program = text(body, BEFORE)
    assert run(program) == CASES[body]
    assert run_reference(program) == CASES[body]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("mov.u32 %x + 1, %y;", "the result of an instruction is a register, not a sum"),
        ("st.global.f32 [%a], %f + 1;", "'%f' cannot be added to"),
        ("mov.b64 %b, {%x + 1, %y};", "expected '}'"),
        (".global .align 4 .u32 a[9223372036854775808];", r"'a' has 2\^65 bytes, at most 2\^48 are possible"),
        (".shared .u64 a[1048576][1048576][1048576];", r"'a' has 2\^63 bytes"),
    ],
)
def test_what_is_no_ptx_is_one_error_with_its_place(body: str, message: str) -> None:
    with pytest.raises(PtxError, match=rf"^<ptx>:10:\d+: .*{message}"):
        ptx.parse(text(body))


@pytest.mark.parametrize("operands", ["v, %x", "v, {%x, %y, %z, %w}", "%x, v", "v, {%x, %y}, %z"])
def test_vectors_of_other_sizes_are_not_moved(operands: str) -> None:
    with pytest.raises(UnsupportedError, match=r"^<ptx>:10:.* does not move a vector of 2 elements to another$"):
        Device(text(f".reg .v2 .u32 v; mov.v2.u32 {operands};")).kernel("k")


def test_a_named_space_that_contradicts_its_variable_is_no_excuse() -> None:
    """``ld.global`` of a shared variable reads global memory at its offset, where nothing is."""
    device = Device(text("ld.global.u32 %x, [s]; st.u32 [%a], %x;", BEFORE))
    with pytest.raises(Exception, match="out of bounds"):
        device.launch("k", 1, 1, device.zeros(WORDS, np.uint32))


def test_arguments_beyond_the_parameters_are_ignored() -> None:
    device = Device(text("st.u32 [%a], 3;"))
    out = device.zeros(WORDS, np.uint32)
    device.launch("k", 1, 1, out, 5, out)
    assert out.download()[0] == 3
    with pytest.raises(LaunchError, match="expected 1 arguments, found 0"):
        device.launch("k", 1, 1)


@pytest.mark.parametrize(
    "body",
    [
        "alloca.u64 %b, 16385;",
        "alloca.u64 %b, 1099511627776;",
        "alloca.u64 %b, 16384; alloca.u64 %b, 1;",
        "mov.u32 %x, 0; AGAIN: alloca.u64 %b, 1073741824; add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 300; @%p bra AGAIN;",
        "mov.u64 %b, -1; alloca.u64 %b, %b;",
        "alloca.u64 %b, 8; alloca.u64 %b, 16, 65536;",
    ],
)
@pytest.mark.parametrize("options", [None, CompileOptions()], ids=str)
def test_alloca_beyond_the_stack_overflows(body: str, options: CompileOptions | None) -> None:
    device = Device(text(f"{body} st.u64 [%a], %b;"), options=options)
    with pytest.raises(StackFault, match="stack overflow: the thread's stack has 16384 bytes"):
        device.launch("k", 1, 1, device.zeros(WORDS, np.uint32))


def test_alloca_gives_what_fits() -> None:
    assert run(text("alloca.u64 %b, 16000; alloca.u64 %b, 384; st.u64 [%a], %b;")) == [16000, 0, 0, 0]


@pytest.mark.parametrize("alignment", ["3", "0", "4294967296", "%b"])
def test_an_alignment_that_is_none_is_refused(alignment: str) -> None:
    with pytest.raises(UnsupportedError, match=r"alloca\.u64"):
        device = Device(text(f"mov.u64 %b, 8; alloca.u64 %b, 16, {alignment};"))
        device.launch("k", 1, 1, device.zeros(WORDS, np.uint32))
