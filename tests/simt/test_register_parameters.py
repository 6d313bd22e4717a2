"""Parameters and results of functions that are registers: scalars and vectors of every type, in every kind of call."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.simt.programs import Runner, words

from warpreg.ir.errors import UnsupportedError
from warpreg.simt import Device, ExecutionError

TYPES = "u8 s8 b16 s16 f16 u32 b32 f32 s64 f64".split()
NARROW = {"s8", "u8", "b8"}


def shape(kind: str, count: int) -> str:
    """What stands between ``.reg`` and the name."""
    return f".{kind}" if count == 1 else f".v{count} .{kind}"


def elements(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}.{c}" for c in "xyzw"[:count]]


def move(kind: str, to: str, value: str) -> str:
    opcode = f"cvt.{'s8.s8' if kind == 's8' else 'u8.u8'}" if kind in NARROW else f"mov.b{kind[1:]}"
    return f"{opcode} {to}, {value};"


def turned(kind: str, count: int, to: str, value: str) -> str:
    """``to`` gets the elements of ``value``, each one place earlier."""
    source = elements(value, count)
    return "".join(move(kind, a, b) for a, b in zip(elements(to, count), [*source[1:], source[0]], strict=True))


def memory(kind: str) -> str:
    """The type of loads and stores: none has ``.f16``."""
    return "b16" if kind == "f16" else kind


def function(kind: str, count: int, name: str = "turn", body: str = "") -> str:
    declared = shape(kind, count)
    body = body or turned(kind, count, "r", "p")
    return f".func (.reg {declared} r) {name} (.reg {declared} p) {{ .reg {declared} q; {body} ret; }}\n"


def kernel(kind: str, count: int, call: str) -> str:
    """Loads ``t`` from the place of the thread in ``data``, executes ``call``, stores ``t``."""
    size = count * int(kind[1:]) // 8
    begin = f".reg {shape(kind, count)} t; mad.wide.u32 %rd1, %t, {size}, %data;"
    places = [(name, i * size // count) for i, name in enumerate(elements("t", count))]
    loads = "".join(f"ld.global.{memory(kind)} {name}, [%rd1+{at}];" for name, at in places)
    stores = "".join(f"st.global.{memory(kind)} [%rd1+{at}], {name};" for name, at in places)
    return begin + loads + call + stores


def numbers(kind: str, count: int, threads: int = 8) -> NDArray[np.unsignedinteger]:
    """Random bit patterns, a row a thread."""
    bits = np.random.default_rng(count).integers(0, 256, (threads, count * int(kind[1:]) // 8), np.uint8)
    return bits.view(f"u{int(kind[1:]) // 8}")


SHAPES = [(kind, count) for kind in TYPES for count in (1, 2, 4) if count * int(kind[1:]) <= 128]


@pytest.mark.parametrize(("kind", "count"), SHAPES)
def test_every_type_is_passed_and_returned(run: Runner, kind: str, count: int) -> None:
    data = numbers(kind, count)
    outcome = run(kernel(kind, count, "call (t), turn, (t);"), before=function(kind, count), data=data, block=8)
    assert outcome["data"].tolist() == np.roll(data, -1, axis=1).tolist()


@pytest.mark.parametrize(("kind", "count"), SHAPES)
def test_every_type_is_passed_to_a_recursive_function(run: Runner, kind: str, count: int) -> None:
    # Thread t turns t times: the call with n turns p by one and calls itself with n - 1 unless n is 0.
    declared = shape(kind, count)
    same = "".join(move(kind, a, b) for a, b in zip(elements("r", count), elements("p", count), strict=True))
    before = f"""
    .func (.reg {declared} r) times (.reg {declared} p, .reg .u32 n)
    {{
    .reg {declared} q; .reg .pred %z; .reg .u32 %m;
    {same}
    setp.eq.u32 %z, n, 0;
    @%z ret;
    {turned(kind, count, "q", "p")}
    sub.u32 %m, n, 1;
    call (r), times, (q, %m);
    ret;
    }}
    """
    data = numbers(kind, count)
    outcome = run(kernel(kind, count, "call (t), times, (t, %t);"), before=before, data=data, block=8)
    assert outcome["data"].tolist() == [np.roll(row, -t).tolist() for t, row in enumerate(data)]


@pytest.mark.parametrize(("kind", "count"), SHAPES)
def test_every_type_is_passed_through_a_prototype(run: Runner, kind: str, count: int) -> None:
    # Even threads call turn, odd ones keep.
    same = "".join(move(kind, a, b) for a, b in zip(elements("r", count), elements("p", count), strict=True))
    before = function(kind, count) + function(kind, count, "keep", same) + ".const .u64 table[2] = {turn, keep};"
    declared = shape(kind, count)
    call = f"""
    and.b32 %r1, %t, 1; mul.wide.u32 %rd2, %r1, 8; mov.u64 %rd3, table; add.s64 %rd2, %rd2, %rd3;
    ld.const.u64 %rd2, [%rd2];
    P: .callprototype (.reg {declared} _) _ (.reg {declared} _);
    call (t), %rd2, (t), P;
    """
    data = numbers(kind, count)
    outcome = run(kernel(kind, count, call), before=before, data=data, block=8)
    assert outcome["data"].tolist() == [(row if t % 2 else np.roll(row, -1)).tolist() for t, row in enumerate(data)]


def test_a_function_passes_its_vectors_on(run: Runner) -> None:
    # twice turns and turns again; swapped exchanges the pair of vectors: (1, 2, 3, 4) turned twice is (3, 4, 1, 2).
    before = function("u32", 4) + function("u32", 4, "twice", "call (q), turn, (p); call (r), turn, (q);")
    data = np.array([[1, 2, 3, 4]], np.uint32)
    outcome = run(kernel("u32", 4, "call (t), twice, (t);"), before=before, data=data, block=1)
    assert outcome["data"].tolist() == [[3, 4, 1, 2]]


def test_vectors_stand_beside_scalars_and_predicates(run: Runner) -> None:
    # (q, s, z) = f(n, v, z): q = (v.y, v.x + n), s = v.x * n, and z is negated.  v = (t, 10), n = 3.
    before = """
    .func (.reg .v2 .u32 q, .reg .u64 s, .reg .pred y) f (.reg .u32 n, .reg .v2 .u32 v, .reg .pred z)
    { mov.u32 q.x, v.y; add.u32 q.y, v.x, n; mul.wide.u32 s, v.x, n; not.pred y, z; ret; }
    """
    body = """
    .reg .v2 .u32 v, q; mov.u32 v.x, %t; mov.u32 v.y, 10; setp.eq.u32 %p1, %t, 2;
    call (q, %rd1, %p2), f, (3, v, %p1);
    cvt.u32.u64 %r1, %rd1; selp.u32 %r2, 1, 0, %p2;
    mad.wide.u32 %rd2, %t, 16, %out; st.global.v4.u32 [%rd2], {q.x, q.y, %r1, %r2};
    """
    outcome = run(body, before=before, out=np.zeros((4, 4), np.uint32), block=4)
    assert outcome["out"].tolist() == [[10, t + 3, 3 * t, int(t != 2)] for t in range(4)]


def test_a_guarded_call_leaves_the_results_of_other_lanes(run: Runner) -> None:
    call = "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 1; @%p1 call (t), turn, (t);"
    data = numbers("u16", 4)
    outcome = run(kernel("u16", 4, call), before=function("u16", 4), data=data, block=8)
    assert outcome["data"].tolist() == [(np.roll(row, -1) if t % 2 else row).tolist() for t, row in enumerate(data)]


def test_a_vector_is_live_across_a_recursive_call(run: Runner) -> None:
    # sum(n) = (n, 2n) + sum(n-1), sum(0) = (0, 0): thread t has t(t+1)/2 and t(t+1).
    before = """
    .func (.reg .v2 .u32 r) sum (.reg .v2 .u32 n)
    {
    .reg .v2 .u32 m; .reg .pred %z;
    mov.u32 r.x, 0; mov.u32 r.y, 0;
    setp.eq.u32 %z, n.x, 0;
    @%z ret;
    sub.u32 m.x, n.x, 1; sub.u32 m.y, n.y, 2;
    call (m), sum, (m);
    add.u32 r.x, m.x, n.x; add.u32 r.y, m.y, n.y;
    ret;
    }
    """
    body = """
    .reg .v2 .u32 v; mov.u32 v.x, %t; shl.b32 v.y, %t, 1; call (v), sum, (v);
    mad.wide.u32 %rd1, %t, 8, %out; st.global.v2.u32 [%rd1], v;
    """
    outcome = run(body, before=before, out=np.zeros((8, 2), np.uint32), block=8)
    assert outcome["out"].tolist() == [[t * (t + 1) // 2, t * (t + 1)] for t in range(8)]


@pytest.mark.parametrize("recursive", [False, True])
def test_a_param_variable_is_passed_for_a_register(run: Runner, recursive: bool) -> None:
    again = "setp.eq.u32 %z, p, 99; @%z call (r), f, (p);" if recursive else ""
    before = f".func (.reg .u32 r) f (.reg .u32 p) {{ .reg .pred %z; {again} add.u32 r, p, 1; ret; }}"
    body = """
    .param .u32 a; .param .u32 b; st.param.u32 [a], %t; call (b), f, (a); ld.param.u32 %r1, [b];
    st.global.u32 [%my_out], %r1;
    """
    assert run(body, before=before, out=words(0, 0, 0, 0), block=4)["out"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("recursive", [False, True])
def test_a_constant_is_passed_for_a_register(run: Runner, recursive: bool) -> None:
    # 1.5 + 2.5 as floats of both sizes, and -3.
    again = "setp.eq.s32 %z, n, 99; @%z call (r), f, (a, b, n);" if recursive else ""
    before = f"""
    .func (.reg .f32 r) f (.reg .f32 a, .reg .f64 b, .reg .s32 n)
    {{ .reg .pred %z; .reg .f32 c; {again} cvt.rn.f32.f64 r, b; add.f32 r, r, a; cvt.rn.f32.s32 c, n;
    add.f32 r, r, c; ret; }}
    """
    body = "call (%f1), f, (1.5, 2.5, -3); st.global.f32 [%my_out], %f1;"
    assert run(body, before=before, out=np.zeros(1, np.float32), block=1)["out"].tolist() == [1.0]


@pytest.mark.parametrize("declared", ["p", "%p<4>", "p<4>"])
def test_a_parameter_has_a_register_of_its_own(run: Runner, declared: str) -> None:
    # The caller's register has the name of the parameter, which the function changes.
    name = declared.replace("<4>", "1")
    before = f".func (.reg .u32 r) f (.reg .u32 {name}) {{ add.u32 {name}, {name}, 1; mov.u32 r, {name}; ret; }}"
    body = f"""{{ .reg .u32 {declared}; mov.u32 {name}, %t; call (%r1), f, ({name}); mad.lo.u32 %r1, {name}, 100, %r1;
    st.global.u32 [%my_out], %r1; }}"""
    assert run(body, before=before, out=words(0, 0, 0), block=3)["out"].tolist() == [1, 102, 203]


def test_registers_of_the_user_are_not_those_of_a_call(run: Runner) -> None:
    # Names that the compiler gives to registers of an indirect call and of the stack.
    before = """
    .func (.reg .u32 r) down (.reg .u32 n)
    { .reg .pred %z; .reg .u32 %m, %stack; mov.u32 %stack, n; mov.u32 r, 0; setp.eq.u32 %z, n, 0; @%z ret;
    sub.u32 %m, n, 1; call (r), down, (%m); add.u32 r, r, %stack; ret; }
    .const .u64 table[1] = {down};
    """
    body = """
    .reg .u64 %low, %high, %distance, %stack; .reg .u32 %index;
    mov.u64 %low, 1; mov.u64 %high, 2; mov.u64 %distance, 3; mov.u32 %index, 4; mov.u64 %stack, 5;
    ld.const.u64 %rd1, [table];
    P: .callprototype (.reg .u32 _) _ (.reg .u32 _);
    call (%r1), %rd1, (%t), P;
    add.u64 %low, %low, %high; add.u64 %low, %low, %distance; add.u64 %low, %low, %stack; cvt.u32.u64 %r2, %low;
    add.u32 %r2, %r2, %index;
    mad.lo.u32 %r1, %r1, 100, %r2; st.global.u32 [%my_out], %r1;
    """
    outcome = run(body, before=before, out=words(0, 0, 0, 0), block=4)
    assert outcome["out"].tolist() == [15, 115, 315, 615]


TEXT = """.version 7.0
.target sm_75
.address_size 64
.global .u32 g;
.func (.reg .v2 .u32 r) pair (.reg .v2 .u32 p) {{ mov.u32 r.x, p.y; mov.u32 r.y, p.x; ret; }}
.func (.reg .u32 r) one (.reg .u32 p) {{ mov.u32 r, p; ret; }}
.visible .entry k()
{{
.reg .v2 .u32 t; .reg .v4 .u32 q; .reg .v2 .u16 h; .reg .v2 .u64 w; .reg .u32 a; .reg .u64 l;
P: .callprototype (.reg .v2 .u32 _) _ (.reg .v2 .u32 _);
mov.u64 l, pair;
    {call};
ret;
}}
"""


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("call (t), pair, (a)", "passes 'a' as 'p' of 'pair', expected a vector of 2 .u32"),
        ("call (t), pair, (5)", "passes '5' as 'p' of 'pair', expected a vector of 2 .u32"),
        ("call (t), pair, (l)", "passes 'l' as 'p' of 'pair', expected a vector of 2 .u32"),
        ("call (t), pair, (q)", "passes '{q.x, q.y, q.z, q.w}' as 'p' of 'pair', expected a vector of 2 .u32"),
        ("call (t), pair, (h)", "passes '{h.x, h.y}' as 'p' of 'pair', expected a vector of 2 .u32"),
        ("call (t), pair, (w)", "passes '{w.x, w.y}' as 'p' of 'pair', expected a vector of 2 .u32"),
        ("call (a), pair, (t)", "writes 'r' of 'pair' to 'a', expected a vector of 2 .u32"),
        ("call (a), one, (t)", "passes '{t.x, t.y}' as 'p' of 'one', expected one .u32"),
        ("call (t), one, (a)", "writes 'r' of 'one' to '{t.x, t.y}', expected one .u32"),
        ("call (a), one, (g)", "passes 'g' as 'p' of 'one', expected a register, a constant or a .param variable"),
        ("call (t), l, (a), P", "passes 'a' as '_' of 'P', expected a vector of 2 .u32"),
        ("call (a), l, (t), P", "writes '_' of 'P' to 'a', expected a vector of 2 .u32"),
    ],
)
def test_another_shape_is_one_message(call: str, problem: str) -> None:
    device = Device(TEXT.format(call=call))
    with pytest.raises(UnsupportedError) as caught:
        device.kernel("k")
    assert str(caught.value).startswith("<ptx>:12:5: 'call ")
    assert str(caught.value).endswith("' " + problem)


def test_an_address_of_a_function_of_another_shape_is_not_called(run: Runner) -> None:
    # A vector of two .u32 has as many bytes as a .u64.
    before = function("u32", 2) + ".func (.reg .u64 r) wide (.reg .u64 p) { mov.u64 r, p; ret; }"
    call = "P: .callprototype (.reg .v2 .u32 _) _ (.reg .v2 .u32 _); mov.u64 %rd3, turn; mov.u64 %rd2, wide;"
    with pytest.raises(ExecutionError, match="is no function that may be called here"):
        run(kernel("u32", 2, call + "call (t), %rd2, (t), P;"), before=before, data=numbers("u32", 2), block=8)


@pytest.mark.parametrize("kind", ["u8", "u16", "u32", "u64", "align 8 .b8"])
def test_a_variable_is_argument_and_result(run: Runner, kind: str) -> None:
    # The function writes its result before it reads its parameter: 100 is overwritten by t + 5 + 1.
    size, access = ("[16]", "u32") if "align" in kind else ("", kind)
    register = f"b{max(16, int(access[1:]))}"
    before = f"""
    .func (.param .{kind} r{size}) f (.param .{kind} p{size})
    {{ .reg .{register} x; mov.{register} x, 100; st.param.{access} [r], x; ld.param.{access} x, [p];
    add.u{register[1:]} x, x, 1; st.param.{access} [r], x; ret; }}
    """
    body = f"""
    .param .{kind} z{size}; .reg .{register} x; add.u32 %r1, %t, 5; cvt.{access}.u32 x, %r1;
    st.param.{access} [z], x; call (z), f, (z); ld.param.{access} x, [z]; cvt.u32.{access} %r1, x;
    st.global.u32 [%my_out], %r1;
    """
    assert run(body, before=before, out=words(0, 0, 0), block=3)["out"].tolist() == [6, 7, 8]
