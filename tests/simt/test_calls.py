"""Calls that cannot be inlined: recursion, calls through registers and tables, aggregates by value, stacks."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.simt.programs import Runner, words

from warpreg.simt import Device, ExecutionError, StackFault, TrapFault

EIGHT = np.zeros(8, np.uint32)
CALL = """
{{ .param .b32 a; .param .b32 r;
st.param.b32 [a], {argument}; call (r), {name}, (a); ld.param.b32 {result}, [r]; }}
"""

SUM_TO = """
.func (.param .b32 r) sum_to(.param .b32 n)
{
.reg .pred %p; .reg .b32 %n, %m, %s;
ld.param.b32 %n, [n];
mov.b32 %s, 0;
setp.eq.u32 %p, %n, 0;
@%p bra DONE;
sub.u32 %m, %n, 1;
{ .param .b32 a; .param .b32 b; st.param.b32 [a], %m; call (b), sum_to, (a); ld.param.b32 %s, [b]; }
add.u32 %s, %s, %n;
DONE: st.param.b32 [r], %s;
ret;
}
"""


def call(name: str, argument: str, result: str) -> str:
    return CALL.format(name=name, argument=argument, result=result)


def test_lanes_at_different_depths_have_results_of_their_own(run: Runner) -> None:
    body = call("sum_to", "%t", "%r1") + "st.global.u32 [%my_out], %r1;"
    outcome = run(body, before=SUM_TO, out=np.zeros(45, np.uint32), block=45)
    assert outcome["out"].tolist() == [n * (n + 1) // 2 for n in range(45)]


def test_lanes_meet_after_a_recursive_call_before_a_barrier_and_a_vote(run: Runner) -> None:
    # All 64 lanes arrive together, whatever depth each had: the ballot has every lane, the barrier is complete.
    body = f"""
    {call("sum_to", "%t", "%r1")}
    bar.sync 0;
    activemask.b32 %r2;
    and.b32 %r1, %r1, 15;
    {call("sum_to", "%r1", "%r3")}
    bar.sync 0;
    st.global.u32 [%my_out], %r2;
    """
    outcome = run(body, before=SUM_TO, out=np.zeros(64, np.uint32), block=64)
    assert (outcome["out"] == 0xFFFFFFFF).all()


def test_two_calls_from_two_sides_of_a_branch(run: Runner) -> None:
    body = f"""
    setp.lt.u32 %p1, %t, 16;
    @%p1 bra LOW;
    {call("sum_to", "3", "%r1")}
    bra MEET;
    LOW: {call("sum_to", "%t", "%r1")}
    MEET: st.global.u32 [%my_out], %r1;
    """
    outcome = run(body, before=SUM_TO, out=np.zeros(32, np.uint32))
    assert outcome["out"].tolist() == [n * (n + 1) // 2 for n in range(16)] + [6] * 16


def test_a_guarded_recursive_call(run: Runner) -> None:
    body = "mov.u32 %r1, 7; setp.gt.u32 %p1, %t, 4;" + call("sum_to", "%t", "%r1").replace("call", "@%p1 call")
    body = body.replace("ld.param", "@%p1 ld.param") + "st.global.u32 [%my_out], %r1;"
    outcome = run(body, before=SUM_TO, out=EIGHT, block=8)
    assert outcome["out"].tolist() == [7, 7, 7, 7, 7, 15, 21, 28]


ENDLESS = ".func down(.reg .b32 n) { .reg .b32 %m; add.u32 %m, n, 1; call down, (%m); ret; }"


def test_a_recursion_that_never_ends_is_a_stack_overflow_that_names_the_thread(run: Runner) -> None:
    body = "setp.ne.u32 %p1, %t, 3; @%p1 bra OUT; call down, (%t); OUT: "
    with pytest.raises(StackFault) as caught:
        run(body, before=ENDLESS, out=EIGHT)
    assert re.match(r"kernel 'k', block \(0,0,0\), thread \(3,0,0\), .*: stack overflow: ", str(caught.value))
    assert "the thread's stack has 16384 bytes" in str(caught.value)


EVEN_ODD = """
.func (.reg .pred r) odd(.reg .b32 n);
.func (.reg .pred r) even(.reg .b32 n)
{ .reg .pred %p; .reg .b32 %m; setp.eq.u32 r, n, 0; @r ret; sub.u32 %m, n, 1; call (r), odd, (%m); ret; }
.func (.reg .pred r) odd(.reg .b32 n)
{ .reg .b32 %m; setp.ne.u32 r, n, 0; @!r ret; sub.u32 %m, n, 1; call (r), even, (%m); ret; }
"""


def test_functions_that_call_each_other_with_registers_as_parameters(run: Runner) -> None:
    body = "call (%p1), even, (%t); selp.u32 %r1, 1, 0, %p1; st.global.u32 [%my_out], %r1;"
    assert run(body, before=EVEN_ODD, out=np.zeros(32, np.uint32))["out"].tolist() == [1, 0] * 16


LOCALS = """
.func (.param .align 16 .b8 r[16]) reversed(.param .align 16 .b8 v[16], .param .b32 n)
{
.local .align 16 .b8 mine[16];
.reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h;
mov.u64 %rd1, mine;
ld.param.v4.b32 {%r1, %r2, %r3, %r4}, [v];
ld.param.b32 %r5, [n];
st.local.v2.u32 [%rd1], {%r4, %r3};
st.local.v2.u32 [mine+8], {%r2, %r1};
setp.eq.u32 %p, %r5, 0;
@%p bra DONE;
sub.u32 %r5, %r5, 1;
{
.param .align 16 .b8 a[16]; .param .b32 b; .param .align 16 .b8 c[16];
ld.local.b64 %rd2, [%rd1];
ld.local.b64 %rd3, [%rd1+8];
st.param.b64 [a], %rd2; st.param.b64 [a+8], %rd3; st.param.b32 [b], %r5;
call (c), reversed, (a, b);
ld.param.v2.b64 {%rd2, %rd3}, [c];
}
cvta.local.u64 %rd4, %rd1;
ld.u32 %r1, [%rd4];
cvt.u32.u64 %r2, %rd2;
add.u32 %r1, %r1, %r2;
st.u32 [%rd4], %r1;
DONE:
ld.local.v2.u64 {%rd2, %rd3}, [mine];
st.param.b64 [r], %rd2; st.param.b64 [r+8], %rd3;
ret;
}
"""


def test_local_arrays_and_aggregates_by_value_in_recursion(run: Runner) -> None:
    # f(v, n): m = reverse(v); if n: m[0] += f(m, n-1)[0].  v = (t, 20, 30, 40): depth 0 gives m[0] = 40; depth 1
    # 40 + f((40,30,20,t), 0)[0] = 40 + t; depth 2 40 + f((40,30,20,t), 1)[0] = 40 + t + 40.
    body = """
    rem.u32 %r5, %t, 3;
    { .param .align 16 .b8 a[16]; .param .b32 b; .param .align 16 .b8 c[16];
    st.param.v4.b32 [a], {%t, 20, 30, 40}; st.param.b32 [b], %r5;
    call (c), reversed, (a, b);
    ld.param.v4.b32 {%r1, %r2, %r3, %r4}, [c]; }
    mad.lo.u32 %r1, %r4, 1000, %r1;
    st.global.u32 [%my_out], %r1;
    """
    outcome = run(
        body.replace("{%t, 20, 30, 40}", "{%t, %r6, %r7, %r8}").replace(
            "rem", "mov.u32 %r6, 20; mov.u32 %r7, 30; mov.u32 %r8, 40; rem", 1
        ),
        before=LOCALS,
        out=np.zeros(32, np.uint32),
    )
    assert outcome["out"].tolist() == [1000 * t + (40, 40 + t, 80 + t)[t % 3] for t in range(32)]


OPERATIONS = (
    """
.func (.param .b32 r) twice(.param .b32 n)
{ .reg .b32 %n; ld.param.b32 %n, [n]; add.u32 %n, %n, %n; st.param.b32 [r], %n; ret; }
.func (.param .b32 r) square(.param .b32 n)
{ .reg .b32 %n; ld.param.b32 %n, [n]; mul.lo.u32 %n, %n, %n; st.param.b32 [r], %n; ret; }
.func (.param .b32 r) other(.param .b64 n) { st.param.b32 [r], 1; ret; }
.func (.param .b32 r) again(.param .b32 n);
.alias again, twice;
.const .u64 table[4] = { twice, square, again, other };
"""
    + SUM_TO
)

THROUGH_TABLE = """
rem.u32 %r1, %t, 3;
mul.wide.u32 %rd1, %r1, 8;
mov.u64 %rd2, table;
add.s64 %rd1, %rd1, %rd2;
ld.const.u64 %rd3, [%rd1];
setp.eq.u32 %p1, %t, 31;
@%p1 mov.u64 %rd3, sum_to;
{ .param .b32 a; .param .b32 r; st.param.b32 [a], %t;
P: .callprototype (.param .b32 _) _ (.param .b32 _);
call (r), %rd3, (a), P; ld.param.b32 %r2, [r]; }
st.global.u32 [%my_out], %r2;
"""


def test_calls_through_a_table_with_an_alias_and_a_recursive_function(run: Runner) -> None:
    outcome = run(THROUGH_TABLE, before=OPERATIONS, out=np.zeros(32, np.uint32))
    # Entries 0 and 2 are the same function; lane 31 takes sum_to: 31*32/2 = 496.
    assert outcome["out"].tolist() == [(2 * t, t * t, 2 * t)[t % 3] for t in range(31)] + [496]


@pytest.mark.parametrize("address", ["0", "table", "other"])
def test_an_address_that_is_no_function_of_the_prototype_is_an_error(run: Runner, address: str) -> None:
    body = THROUGH_TABLE.replace("sum_to", address)
    with pytest.raises(ExecutionError, match=r"thread \(31,0,0\), .* is no function that may be called here"):
        run(body, before=OPERATIONS, out=np.zeros(32, np.uint32))


def test_a_call_with_a_list_of_targets(run: Runner) -> None:
    body = THROUGH_TABLE.replace("P: .callprototype (.param .b32 _) _ (.param .b32 _)", "P: .calltargets twice, square")
    with pytest.raises(ExecutionError, match=r"thread \(31,0,0\)"):
        run(body, before=OPERATIONS, out=np.zeros(32, np.uint32))
    outcome = run(body, before=OPERATIONS, out=np.zeros(31, np.uint32), block=31)
    assert outcome["out"].tolist() == [(2 * t, t * t, 2 * t)[t % 3] for t in range(31)]


def test_a_function_that_calls_itself_through_a_register(run: Runner) -> None:
    before = (
        SUM_TO.replace("call (b), sum_to, (a);", "call (b), %f, (a), P;")
        .replace(".reg .pred %p;", ".reg .pred %p; .reg .b64 %f; P: .callprototype (.param .b32 _) _ (.param .b32 _);")
        .replace("sub.u32", "mov.u64 %f, sum_to; sub.u32")
    )
    outcome = run(
        call("sum_to", "%t", "%r1") + "st.global.u32 [%my_out], %r1;", before=before, out=np.zeros(32, np.uint32)
    )
    assert outcome["out"].tolist() == [n * (n + 1) // 2 for n in range(32)]


def test_exit_and_trap_in_a_recursive_function(run: Runner) -> None:
    before = SUM_TO.replace("@%p bra DONE;", "@%p bra DONE; setp.eq.u32 %p, %n, 5; @%p exit;")
    body = call("sum_to", "%t", "%r1") + "add.u32 %r1, %r1, 1; st.global.u32 [%my_out], %r1;"
    outcome = run(body, before=before, out=EIGHT, block=8)
    assert outcome["out"].tolist() == [1, 2, 4, 7, 11, 0, 0, 0]
    with pytest.raises(TrapFault, match=r"thread \(5,0,0\), instruction .*trap"):
        run(body, before=before.replace("exit", "trap"), out=EIGHT, block=8)


def test_alloca_gives_memory_that_the_return_takes_back(run: Runner) -> None:
    # fill(n): p = alloca(4 n); p[0..n) = n; returns p[n-1] + (n > 1 ? fill(n-1) : 0), all frames alive at once.
    before = """
    .func (.param .b32 r) fill(.param .b32 n)
    {
    .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.b32 %r1, [n];
    mul.wide.u32 %rd1, %r1, 4;
    alloca.u64 %rd2, %rd1, 16;
    mov.u64 %rd3, 0;
    NEXT: add.s64 %rd4, %rd2, %rd3; st.local.u32 [%rd4], %r1; add.s64 %rd3, %rd3, 4;
    setp.lt.u64 %p, %rd3, %rd1; @%p bra NEXT;
    mov.u32 %r3, 0;
    sub.u32 %r2, %r1, 1;
    setp.eq.u32 %p, %r2, 0;
    @%p bra LAST;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), fill, (a); ld.param.b32 %r3, [b]; }
    LAST: ld.local.u32 %r4, [%rd4];
    add.u32 %r3, %r3, %r4;
    st.param.b32 [r], %r3;
    ret;
    }
    """
    body = f"stacksave.u64 %rd1; add.u32 %r2, %t, 1; {call('fill', '%r2', '%r1')} stacksave.u64 %rd2;"
    body += "sub.s64 %rd1, %rd2, %rd1; cvt.u32.u64 %r3, %rd1; add.u32 %r1, %r1, %r3; st.global.u32 [%my_out], %r1;"
    outcome = run(body, before=before, out=np.zeros(32, np.uint32))
    assert outcome["out"].tolist() == [(t + 1) * (t + 2) // 2 for t in range(32)]


def test_stackrestore_gives_the_same_place_again_and_more_than_the_stack_is_an_error(run: Runner) -> None:
    body = """
    stacksave.u64 %rd1; alloca.u64 %rd2, 40; stackrestore.u64 %rd1; alloca.u64 %rd3, 24; alloca.u64 %rd4, 8, 64;
    sub.s64 %rd5, %rd3, %rd2; sub.s64 %rd6, %rd4, %rd3; and.b64 %rd7, %rd4, 63;
    cvt.u32.u64 %r1, %rd5; cvt.u32.u64 %r2, %rd7; add.u32 %r1, %r1, %r2; st.global.u32 [%my_out], %r1;
    """
    assert run(body, out=EIGHT, block=8)["out"].tolist() == [0] * 8
    big = "mov.u64 %rd1, 0xffffffffffff; alloca.u64 %rd2, %rd1; alloca.u64 %rd3, 8; st.local.u32 [%rd3], %t;"
    with pytest.raises(StackFault, match="stack overflow"):
        run(big, out=words(0))


def doubling(depth: int, extra: str = "") -> str:
    """``f0`` of functions each of which adds its number and calls the next one twice."""
    text = ""
    for i in reversed(range(depth)):
        calls = "" if i == depth - 1 else (call(f"f{i + 1}", "%n", "%n") * 2)
        text += f".func (.param .b32 r) f{i}(.param .b32 n) {{ .reg .b32 %n; ld.param.b32 %n, [n]; {extra}"
        text += f"add.u32 %n, %n, {i}; {calls} st.param.b32 [r], %n; ret; }}\n"
    return text


def test_functions_whose_inlining_would_explode_are_laid_out_once(run: Runner) -> None:
    # Inlined, twelve levels make 2**12 - 1 bodies of five instructions, more than 20,000.
    added = 0
    for i in reversed(range(12)):
        added = i + 2 * added
    outcome = run(call("f0", "%t", "%r1") + "st.global.u32 [%my_out], %r1;", before=doubling(12), out=EIGHT, block=8)
    assert outcome["out"].tolist() == [t + added for t in range(8)]
    assert outcome.device.kernel("k").instruction_count < 600


OLD = """.version 3.0
.target sm_20
.address_size 32
.func (.param .b32 r) one(.param .b32 n) .noreturn
{ .pragma "nounroll"; .reg .b32 %n; ld.param.b32 %n, [n]; add.u32 %n, %n, 1; st.param.b32 [r], %n; ret; }
.weak .func (.param .b32 r) two(.param .b32 n)
{ .reg .b32 %n; ld.param.b32 %n, [n]; add.u32 %n, %n, 2; st.param.b32 [r], %n; ret; }
.global .u32 table[2] = {one, two};
.entry k(.param .u32 out)
{
.reg .b32 %r<9>;
ld.param.u32 %r1, [out]; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; add.u32 %r1, %r1, %r3; and.b32 %r4, %r3, 4;
mov.u32 %r5, table; add.u32 %r5, %r5, %r4; ld.global.u32 %r6, [%r5];
{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; P: .callprototype (.param .b32 _) _ (.param .b32 _);
call (b), %r6, (a), P; ld.param.b32 %r7, [b]; }
st.global.u32 [%r1], %r7;
exit;
}
"""


def test_addresses_of_32_bits_weak_functions_and_directives() -> None:
    device = Device(OLD)
    out = device.zeros(8, np.uint32)
    device.launch("k", 1, 8, out)
    assert out.download().tolist() == [t + 1 + t % 2 for t in range(8)]
