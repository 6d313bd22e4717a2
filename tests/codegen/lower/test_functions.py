"""Recursive functions with frames on the stack, and their detection in the call graph."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.codegen.texts import kernel, listing, text

from warpreg import ptx
from warpreg.codegen.lower.functions import Functions, components
from warpreg.codegen.pipeline import compile

COUNT = """
.func (.param .b32 r) count(.param .b32 n)
{
.reg .pred %p; .reg .b32 %n, %m;
ld.param.b32 %n, [n];
setp.eq.u32 %p, %n, 0;
@%p bra DONE;
sub.u32 %m, %n, 1;
{ .param .b32 a; .param .b32 b; st.param.b32 [a], %m; call (b), count, (a); ld.param.b32 %m, [b]; }
add.u32 %n, %n, %m;
DONE: st.param.b32 [r], %n;
ret;
}
"""
CALL = "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), count, (a); ld.param.b32 %r2, [b]; }"


def plain(found: str) -> str:
    """Without the numbers that make names unique."""
    return re.sub(r"\$\d+", "", found)


def test_a_recursive_function_is_laid_out_with_its_frame_on_the_stack() -> None:
    program = kernel(f"mov.u32 %r1, %tid.x; {CALL} mov.u32 %r3, %r2; ret;", before=COUNT)
    # The frame has the result at 0 and the parameter at 8, 16 bytes in all; below it, in 16 more bytes, the register
    # that lives across the inner call (n) and at the end the number of the place to return to.
    assert plain(listing(program)) == text("""
        mov.u32 %stack, %stack_base
        mov.u32 %r1, %tid.x
        mov.b32 a+0, %r1
        st.local.b32 [%stack+24], a+0
        st.local.u32 [%stack+12], 0
        add.u32 %stack, %stack, 16
        bra count
        count$back:
        add.u32 %stack, %stack, -16
        ld.local.b32 b+0, [%stack+16]
        mov.b32 %r2, b+0
        mov.u32 %r3, %r2
        ret
        count:
        add.u32 %stack, %stack, 16
        ld.local.b32 %n, [%stack-8]
        setp.eq.u32 %p, %n, 0
        @%p bra DONE
        $B3:
        sub.u32 %m, %n, 1
        mov.b32 a+0, %m
        st.local.b32 [%stack], %n
        st.local.b32 [%stack+24], a+0
        st.local.u32 [%stack+12], 1
        add.u32 %stack, %stack, 16
        bra count
        count$back:
        add.u32 %stack, %stack, -16
        ld.local.b32 b+0, [%stack+16]
        ld.local.b32 %n, [%stack]
        mov.b32 %m, b+0
        add.u32 %n, %n, %m
        DONE:
        st.local.b32 [%stack-16], %n
        add.u32 %stack, %stack, -16
        ld.local.u32 %return, [%stack-4]
        brx.idx %return, count$returns
    """)
    assert [b.successors for b in program.blocks if b.instructions[-1].opcode == "brx"] == [(1, 4)]


def test_each_outer_call_has_a_layout_of_its_own_so_that_lanes_meet_behind_it() -> None:
    program = kernel(f"{CALL} {CALL} ret;", before=COUNT)
    returns = [b.successors for b in program.blocks if b.instructions[-1].opcode == "brx"]
    assert len(returns) == 2
    assert not set(returns[0]) & set(returns[1])


def test_compiled_code_keeps_its_blocks_and_needs_few_registers() -> None:
    program = kernel(f"mov.u32 %r1, %tid.x; {CALL} st.global.u32 [0], %r2; ret;", before=COUNT)
    compiled = compile(program)
    assert [b.successors for b in compiled.blocks] == [b.successors for b in program.blocks]
    assert compiled.register_count <= 8


def test_which_functions_may_call_themselves() -> None:
    module = ptx.parse("""
        .version 8.0
        .target sm_80
        .address_size 64
        .func b();
        .func c();
        .func e();
        .func a() { call b; call c; ret; }
        .func b() { call a; ret; }
        .func c() { ret; }
        .func d() { .reg .b64 %f; mov.u64 %f, e; P: .callprototype _ (); call %f, P; ret; }
        .func e() { call d; ret; }
        .func f(.param .b32 n)
        { .reg .b64 %f; mov.u64 %f, e; P: .callprototype _ (.param .b32 _); call %f, (n), P; ret; }
        .visible .entry k() { call a; call d; ret; }
    """)
    groups = Functions(module).groups(module.kernels[0])
    # a and b call each other; d may call whatever takes nothing and has its address taken, which is e; no function
    # with a parameter has its address taken, so f calls none.
    assert {frozenset(n for n in groups if groups[n] == g) for g in groups.values()} == {
        frozenset("ab"),
        frozenset("de"),
    }


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_components_are_what_reaches_each_other_callees_first(edges: list[tuple[int, int]]) -> None:
    graph = {str(n): tuple(str(b) for a, b in edges if a == n) for n in range(8)}
    reach = {n: {n} for n in graph}
    for _ in graph:
        for n in graph:
            reach[n] |= {m for c in graph[n] for m in reach[c]}
    found = components(graph)
    assert sorted(n for c in found for n in c) == sorted(graph)
    place = {n: i for i, c in enumerate(found) for n in c}
    for n in graph:
        assert {m for m in graph if place[m] == place[n]} == {m for m in reach[n] if n in reach[m]}
        assert all(place[c] <= place[n] for c in graph[n])
