"""Random kernels whose functions call each other, themselves, and through tables, as PTX text: ``program(seed)``.

Each function takes the remaining call depth, a number and a structure by value, and returns a number and a structure;
in half of the programs it takes and returns registers instead: scalars, vectors and a predicate.
Lanes diverge on data, so they are at different depths at the same time.  Functions have local arrays that are live
across calls; some allocate memory with ``alloca`` or ``malloc``, some print.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

REGISTERS = 6
DEPTH = 3
OUT_BYTES = 8

HEADER = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.global .align 1 .b8 line[16] = {37, 48, 52, 120, 58, 37, 100, 32, 37, 46, 50, 102, 10, 0};
"""
"""The format is ``%04x:%d %.2f`` and a newline."""


@dataclass(frozen=True)
class Convention:
    """How functions are called: texts of the parts of a program.  ``start`` reads the parameters, ``finish`` writes the
    results; ``guards`` stand before calls."""

    signature: str
    start: str
    finish: str
    call: str
    prototype: str
    results: str
    arguments: str
    guards: tuple[str, ...] = ("",)


PARAMETERS = Convention(
    signature=""".func (.param .b32 back, .param .align 8 .b8 more[16])
{name}(.param .b32 depth, .param .b32 number, .param .align 8 .b8 pair[16])""",
    start="""
ld.param.b32 %depth, [depth];
ld.param.b32 %r0, [number];
ld.param.v2.b32 {%r1, %r2}, [pair];
ld.param.b64 %rd0, [pair+8];
cvt.u32.u64 %r3, %rd0;
""",
    finish="""
st.param.b32 [back], %r0;
st.param.v2.b32 [more], {%r1, %r2};
st.param.b64 [more+8], %rd0;
""",
    call="""{{
.param .b32 c0; .param .b32 c1; .param .align 8 .b8 c2[16]; .param .b32 c3; .param .align 8 .b8 c4[16];
sub.u32 %t, %depth, 1;
st.param.b32 [c0], %t; st.param.b32 [c1], {number};
st.param.v2.b32 [c2], {{{first}, {second}}}; cvt.u64.u32 %b, {third}; st.param.b64 [c2+8], %b;
{call}
ld.param.b32 {number}, [c3]; ld.param.v2.b32 {{{first}, %t}}, [c4]; ld.param.b64 %rd0, [c4+8];
add.u32 {third}, {third}, %t;
}}""",
    prototype="""P: .callprototype (.param .b32 _, .param .align 8 .b8 _[16])
_ (.param .b32 _, .param .b32 _, .param .align 8 .b8 _[16]);""",
    results="c3, c4",
    arguments="c0, c1, c2",
)
IN_REGISTERS = Convention(
    signature=""".func (.reg .b32 back, .reg .v4 .s16 more, .reg .v2 .f32 halves, .reg .b64 wide, .reg .pred flag)
{name}(.reg .b32 depth, .reg .v2 .u32 numbers, .reg .v4 .u8 bytes, .reg .v2 .b64 pair, .reg .pred odd,
.reg .f64 real)""",
    start="""
mov.b32 %depth, depth;
mov.b32 %r0, numbers.y; mov.b32 %r1, numbers.x;
cvt.u32.u8 %r2, bytes.w; cvt.s32.s8 %r3, bytes.y; add.u32 %r2, %r2, %r3;
mov.b64 %rd0, pair.y; cvt.u32.u64 %r3, pair.x;
@odd add.u32 %r3, %r3, 77;
cvt.rzi.u32.f64 %t, real; xor.b32 %r1, %r1, %t;
""",
    finish="""
mov.b32 back, %r0; mov.b64 wide, %rd0;
cvt.u16.u32 more.x, %r1; cvt.u16.u32 more.y, %r2; cvt.u16.u32 more.z, %r3; cvt.u16.u32 more.w, %r0;
cvt.rn.f32.u32 halves.x, %r2; mov.b32 halves.y, %r1;
and.b32 %t, %r3, 1; setp.ne.u32 flag, %t, 0;
""",
    call="""{{
.reg .v2 .u32 %n; .reg .v4 .u8 %y; .reg .v2 .b64 %w; .reg .v4 .s16 %h; .reg .v2 .f32 %e; .reg .pred %q;
mov.u32 %n.x, {first}; mov.u32 %n.y, {number};
cvt.u8.u32 %y.x, {first}; cvt.u8.u32 %y.y, {second}; cvt.u8.u32 %y.z, {third}; cvt.u8.u32 %y.w, {number};
mov.u64 %w.x, %rd0; cvt.u64.u32 %w.y, {third};
setp.lt.u32 %q, {second}, {third}; setp.ne.u32 %p2, {first}, {third};
cvt.rn.f64.u32 %d, {second};
mov.b16 %h.x, 1; mov.b16 %h.y, 2; mov.b16 %h.z, 3; mov.b16 %h.w, 4; mov.f32 %e.x, 5.0; mov.f32 %e.y, 6.0;
sub.u32 %t, %depth, 1;
{call}
cvt.u32.u16 {first}, %h.y; cvt.s32.s16 %t, %h.w; add.u32 {third}, {third}, %t;
cvt.rzi.u32.f32 %t, %e.x; xor.b32 {second}, {second}, %t; mov.b32 %t, %e.y; add.u32 {third}, {third}, %t;
@%q add.u32 {second}, {second}, 5;
}}""",
    prototype="""P: .callprototype (.reg .b32 _, .reg .v4 .s16 _, .reg .v2 .f32 _, .reg .b64 _, .reg .pred _)
_ (.reg .b32 _, .reg .v2 .u32 _, .reg .v4 .u8 _, .reg .v2 .b64 _, .reg .pred _, .reg .f64 _);""",
    results="{number}, %h, %e, %rd0, %q",
    arguments="%t, %n, %y, %w, %q, %d",
    guards=("", "@%p2 "),
)
START = """
.reg .pred %p<9>; .reg .b32 %r<9>, %depth, %t; .reg .b64 %rd<9>, %a, %b, %f, %f64; .reg .f64 %d; .reg .b32 %b32;
.local .align 8 .b8 mine[32]; .local .align 8 .b8 pack[16];
{start}
xor.b32 %r4, %r0, %depth;
add.u32 %r5, %r1, %r2;
st.local.v2.b32 [mine], {{%r0, %r1}};
st.local.v2.b32 [mine+8], {{%r2, %r3}};
st.local.v2.b32 [mine+16], {{%r4, %r5}};
mov.u64 %a, mine;
"""
FINISH = """
ld.local.b32 %t, [mine+20];
add.u32 %r0, %r0, %t;
{finish}
ret;
}}
"""
PRINT = """{{
st.local.b32 [pack], {0}; st.local.b32 [pack+4], {1}; and.b32 %t, {1}, 4095; cvt.rn.f64.u32 %d, %t;
st.local.f64 [pack+8], %d;
mov.u64 %b, pack; cvta.local.u64 %b, %b; mov.u64 %f, line; cvta.global.u64 %f, %f;
.param .b64 f; .param .b64 a; .param .b32 r;
st.param.b64 [f], %f; st.param.b64 [a], %b; call (r), vprintf, (f, a); ld.param.b32 %t, [r]; add.u32 {0}, {0}, %t;
}}"""
HEAP = """{{
.param .b64 n; .param .b64 m; .param .b64 p; .reg .b64 %at;
st.param.b64 [n], 24; call (m), malloc, (n); ld.param.b64 %at, [m]; st.b32 [%at+20], {0}; {inner}
ld.b32 {1}, [%at+20]; st.param.b64 [p], %at; call free, (p);
}}"""
KERNEL = """
.visible .entry k(.param .u64 out, .param .u32 seed)
{{
.reg .pred %p<9>; .reg .b32 %r<9>, %depth, %t; .reg .b64 %rd<9>, %a, %b, %f, %f64; .reg .f64 %d; .reg .b32 %b32;
.local .align 8 .b8 mine[32]; .local .align 8 .b8 pack[16];
ld.param.u64 %rd1, [out];
ld.param.u32 %r5, [seed];
mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ntid.x; mov.u32 %r8, %tid.x; mad.lo.u32 %r6, %r6, %r7, %r8;
mad.wide.u32 %rd1, %r6, 8, %rd1;
mad.lo.u32 %r0, %r6, 7, %r5; xor.b32 %r1, %r0, 85; mul.lo.u32 %r2, %r0, %r6; shr.u32 %r3, %r2, 3; add.u32 %r4, %r3, %r0;
st.local.v2.b32 [mine], {{%r0, %r1}}; st.local.v2.b32 [mine+8], {{%r2, %r3}}; st.local.v2.b32 [mine+16], {{%r4, %r5}};
mov.u64 %a, mine;
mov.u64 %rd0, 3;
rem.u32 %depth, %r6, {depths};
add.u32 %depth, %depth, 1;
{body}
bar.sync 0;
cvt.u32.u64 %t, %rd0;
xor.b32 %r1, %r1, %t;
st.global.v2.b32 [%rd1], {{%r0, %r1}};
ret;
}}
"""


class _Writer:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.functions = [f"f{n}" for n in range(self.rng.choice([2, 3, 4]))]
        self.convention = (PARAMETERS, IN_REGISTERS)[seed // 2 % 2]
        self.labels = 0

    def register(self) -> str:
        return f"%r{self.rng.randrange(REGISTERS)}"

    def registers(self, count: int) -> list[str]:
        return [f"%r{n}" for n in self.rng.sample(range(REGISTERS), count)]

    def body(self, statements: int, calls: int, nested: int = 0) -> list[str]:
        """Statements, of which at most ``calls`` are calls."""
        lines: list[str] = []
        for _ in range(statements):
            kind = self.rng.random()
            if kind < 0.35:
                operation = self.rng.choice(["add.u32", "sub.u32", "xor.b32", "mul.lo.u32", "max.s32"])
                lines.append(f"{operation} {self.register()}, {self.register()}, {self.register()};")
            elif kind < 0.55 and calls:
                lines.append(self.call())
                calls -= 1
            elif kind < 0.68 and nested < 2:
                end = self.label()
                lines += [f"and.b32 %t, {self.register()}, {self.rng.choice([1, 2, 3])};",
                          f"setp.{self.rng.choice(['eq', 'ne'])}.u32 %p0, %t, 0;", f"@%p0 bra {end};",
                          *self.body(2, calls, nested + 1), f"{end}:"]  # fmt: skip
                calls = max(0, calls - 1)
            elif kind < 0.78:
                lines.append(self.local())
            elif kind < 0.86:
                lines.append(self.allocated())
            elif kind < 0.93:
                lines.append(PRINT.format(*self.registers(2)))
            else:
                first, second = self.registers(2)
                inner = self.call() if calls and self.rng.random() < 0.5 else ""
                calls -= bool(inner)
                lines.append(HEAP.format(first, second, inner=inner))
        return lines

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def call(self) -> str:
        first, second, third, number = self.registers(4)
        how, guard = self.convention, self.rng.choice(self.convention.guards)
        results = how.results.format(number=number)
        if self.rng.random() < 0.4:
            call = f"rem.u32 %b32, {second}, {len(self.functions)}; mul.wide.u32 %b, %b32, 8; mov.u64 %f64, table;"
            call += f"add.s64 %b, %b, %f64; ld.global.u64 %f64, [%b];\n{how.prototype}\n"
            call += f"{guard}call ({results}), %f64, ({how.arguments}), P;"
        else:
            call = f"{guard}call ({results}), {self.rng.choice(self.functions)}, ({how.arguments});"
        return how.call.format(number=number, first=first, second=second, third=third, call=call)

    def local(self) -> str:
        """A word of the local array at a place that data choose."""
        lines = f"and.b32 %t, {self.register()}, 20; cvt.u64.u32 %b, %t; add.s64 %b, %b, %a;"
        if self.rng.random() < 0.5:
            return f"{lines} st.local.b32 [%b], {self.register()};"
        return f"{lines} ld.local.b32 {self.register()}, [%b];"

    def allocated(self) -> str:
        """Memory on the stack, written, then read after what may be a call."""
        size, first, second = self.rng.choice([8, 24, 40]), *self.registers(2)
        return (
            f"{{ .reg .b64 %at, %was; stacksave.u64 %was; mov.u64 %b, {size}; alloca.u64 %at, %b, 8; "
            f"st.local.b32 [%at+4], {first}; {self.call() if self.rng.random() < 0.2 else ''} "
            f"ld.local.b32 {second}, [%at+4]; stackrestore.u64 %was; }}"
        )

    def function(self, name: str) -> str:
        stop = self.label()
        lines = self.body(self.rng.choice([4, 6]), 2)
        guard = f"setp.eq.u32 %p1, %depth, 0;\n@%p1 bra {stop};"
        start, finish = START.format(start=self.convention.start), FINISH.format(finish=self.convention.finish)
        return "\n".join([self.convention.signature.format(name=name), "{", start, guard, *lines, f"{stop}:", finish])


def program(seed: int) -> str:
    """The module of a seed, with a kernel ``k(out, seed)`` that leaves two words a thread."""
    writer = _Writer(seed)
    declared = [writer.convention.signature.format(name=name) + ";" for name in writer.functions]
    table = f".global .u64 table[{len(writer.functions)}] = {{{', '.join(writer.functions)}}};"
    bodies = [writer.function(name) for name in writer.functions]
    kernel = KERNEL.format(depths=DEPTH, body="\n".join([writer.call(), *writer.body(4, 1), writer.call()]))
    return "\n".join([HEADER, *declared, table, *bodies, kernel])
