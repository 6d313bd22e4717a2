"""Microbenchmarks: PTX programs from whose cycles one figure each follows.

A chain runs dependent instructions in a loop with two numbers of copies; the difference of the cycles, divided by the
difference of the instructions, is the latency, without the cost of the loop and of reading the clock.  A rate runs
eight independent chains in many warps likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

ITERATIONS = 64
SHORT, LONG = 16, 48
CHAINS = 8
HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
WARPS = (1, 2, 4, 8, 16, 32)
SUMS = "IADD3 IADD IMAD.IADD VIADD"
"""Opcodes by which the assembler adds two integers."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An instruction of a chain: PTX with ``{a}`` for the value that it takes and makes, ``{b}``, ``{c}`` and ``{d}``
    for others.  ``type`` is the type of all of them, ``sass`` the opcodes that are meant, ``per_copy`` how many
    instructions of them a copy has, ``setup`` what comes before the loop."""

    name: str
    text: str
    sass: str
    type: str = "b32"
    per_copy: int = 1
    setup: str = ""


@dataclass(frozen=True, slots=True)
class Microbenchmark:
    """A module with kernels ``short`` and ``long``.  ``kind``: ``chain`` or ``rate``; for these, ``operation``.  Other
    kinds are in `memory`: their kernels take (out, memory, n, stride)."""

    name: str
    kind: str
    operation: Operation | None = None
    text: str = ""
    parameters: dict[str, object] = field(default_factory=dict)

    def ptx(self) -> str:
        """The module's text."""
        if self.operation is None:
            return HEADER + self.text
        if self.kind == "code":
            count = int(self.name.rpartition("-")[2])
            return HEADER + _shared() + kernel("straight", self.operation, count, CHAINS)
        chains = CHAINS if self.kind == "rate" else 1
        kernels = (kernel(name, self.operation, copies, chains) for name, copies in (("short", SHORT), ("long", LONG)))
        return HEADER + _shared() + "".join(kernels)


def kernel(name: str, operation: Operation, copies: int, chains: int) -> str:
    """A kernel that takes (out, in, n): the cycles of each warp go to out[warp], results behind them."""
    letters = "bcd"
    declared = f".reg .{_declared(operation.type)} %a<{chains}>, %b, %c, %d;"
    load = "ld.global.{0} {1}, [%in+{2}];"
    loads = [load.format(_loaded(operation.type), f"%a{i}", 8 * i) for i in range(chains)]
    loads += [load.format(_loaded(operation.type), f"%{one}", 128 + 8 * i) for i, one in enumerate(letters)]
    others = {one: f"%{one}" for one in letters}
    body = [
        operation.text.format(a=f"%a{i}", i=i, **others) for _ in range(copies // chains or 1) for i in range(chains)
    ]
    stores = [f"st.global.{_loaded(operation.type)} [%to+{8 * i}], %a{i};" for i in range(chains)]
    setup = operation.setup.format(**others)
    lines = "\n  ".join(
        [
            declared,
            ".reg .b32 %n, %t, %w, %x<12>; .reg .b64 %out, %in, %to, %at, %start, %end, %y<4>; .reg .pred %p, %q;",
            ".reg .f32 %f<4>; .reg .f64 %e<4>; .reg .b16 %h<4>;",
            "ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; ld.param.u32 %n, [n];",
            "mov.u32 %x0, %laneid; mul.wide.u32 %to, %x0, 256; add.u64 %in, %in, %to;",
            *loads,
            setup,
            "mov.u32 %t, %tid.x; bar.sync 0;",
            "mov.u64 %start, %clock64;",
            "L:",
            '.pragma "nounroll";',
            *body,
            "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra L;",
            "mov.u64 %end, %clock64; sub.u64 %end, %end, %start;",
            "mov.u32 %w, %ctaid.x; mov.u32 %x0, %ntid.x; mad.lo.u32 %w, %w, %x0, %t;",
            "mul.wide.u32 %to, %w, 8; add.u64 %at, %out, %to; st.global.u64 [%at], %end;",
            "mul.wide.u32 %to, %w, 64; add.u64 %to, %to, %out; add.u64 %to, %to, 1048576;",
            *stores,
            "ret;",
        ]
    )
    return f".visible .entry {name}(.param .u64 out, .param .u64 in, .param .u32 n)\n{{\n  {lines}\n}}\n"


def _shared() -> str:
    return ".shared .align 16 .b8 buffer[8192];\n"


def _declared(type_: str) -> str:
    return {"f16x2": "b32", "s32": "b32"}.get(type_, type_)


def _loaded(type_: str) -> str:
    return {"f16x2": "b32", "s32": "b32"}.get(type_, type_)


def _operations() -> Sequence[Operation]:
    f32, f64, half = "f32", "f64", "f16x2"
    return (
        Operation("fadd", "add.rn.f32 {a}, {a}, {b};", "FADD", f32),
        Operation("fmul", "mul.rn.f32 {a}, {a}, {b};", "FMUL", f32),
        Operation("ffma", "fma.rn.f32 {a}, {a}, {b}, {c};", "FFMA", f32),
        Operation("fmnmx", "min.f32 {a}, {a}, {b}; max.f32 {a}, {a}, {c};", "FMNMX", f32, 2),
        Operation("dadd", "add.rn.f64 {a}, {a}, {b};", "DADD", f64),
        Operation("dmul", "mul.rn.f64 {a}, {a}, {b};", "DMUL", f64),
        Operation("dfma", "fma.rn.f64 {a}, {a}, {b}, {c};", "DFMA", f64),
        Operation("hfma2", "fma.rn.f16x2 {a}, {a}, {b}, {c};", "HFMA2", half),
        Operation("hadd2", "add.rn.f16x2 {a}, {a}, {b};", "HADD2 HFMA2", half),
        Operation("imad", "mad.lo.s32 {a}, {a}, {b}, {c};", "IMAD"),
        Operation("imad-wide", "cvt.u32.u64 %x1, {a}; mad.wide.u32 {a}, %x1, %x2, {a};", "IMAD.WIDE", "b64",
                  setup="cvt.u32.u64 %x2, {b};"),
        Operation("imad-hi", "mul.hi.u32 {a}, {a}, {b};", "IMAD.HI"),
        Operation("lop3", "lop3.b32 {a}, {a}, {b}, {c}, 0xe8; lop3.b32 {a}, {a}, {c}, {d}, 0x9d;", "LOP3", "b32", 2),
        Operation("iadd3-lop3", "add.u32 {a}, {a}, {b}; xor.b32 {a}, {a}, {c};", f"LOP3 {SUMS}", "b32", 2),
        Operation("shf", "shf.l.wrap.b32 {a}, {a}, {b}, {c};", "SHF"),
        Operation("prmt", "prmt.b32 {a}, {a}, {b}, {c};", "PRMT"),
        Operation("imnmx", "min.s32 {a}, {a}, {b}; xor.b32 {a}, {a}, {c};", "IMNMX VIMNMX LOP3", "b32", 2),
        Operation("isetp-sel", "setp.lt.s32 %q, {a}, {b}; selp.b32 {a}, {c}, {d}, %q; xor.b32 {a}, {a}, {b};",
                  "ISETP SEL LOP3", "b32", 3),
        Operation("isetp-guard", "setp.lt.s32 %q, {a}, {b}; @%q xor.b32 {a}, {a}, {c};", "ISETP LOP3", "b32", 2),
        Operation("popc", "popc.b32 {a}, {a};", "POPC"),
        Operation("brev", "brev.b32 {a}, {a}; xor.b32 {a}, {a}, {b};", "BREV LOP3", "b32", 2),
        Operation("flo", "bfind.u32 {a}, {a};", "FLO"),
        Operation("i2f-f2i", "cvt.rn.f32.s32 %f0, {a}; cvt.rzi.s32.f32 {a}, %f0;", "I2F I2FP F2I", "b32", 2),
        Operation("f2f", "cvt.f64.f32 %e0, {a}; cvt.rn.f32.f64 {a}, %e0;", "F2F", f32, 2),
        Operation("frnd", "cvt.rni.f32.f32 {a}, {a}; add.rn.f32 {a}, {a}, {b};", "FRND FADD", f32, 2),
        Operation("mufu-rcp", "rcp.approx.ftz.f32 {a}, {a}; add.rn.f32 {a}, {a}, {b};", "MUFU.RCP FADD", f32, 2),
        Operation("mufu-rsq", "rsqrt.approx.ftz.f32 {a}, {a};", "MUFU.RSQ", f32),
        Operation("mufu-sqrt", "sqrt.approx.ftz.f32 {a}, {a};", "MUFU.SQRT", f32),
        Operation("mufu-ex2", "ex2.approx.ftz.f32 {a}, {a};", "MUFU.EX2", f32),
        Operation("mufu-lg2", "lg2.approx.ftz.f32 {a}, {a};", "MUFU.LG2", f32),
        Operation("mufu-tanh", "tanh.approx.f32 {a}, {a};", "MUFU.TANH", f32),
        Operation("shfl-idx", "shfl.sync.idx.b32 {a}, {a}, {b}, 31, -1; xor.b32 {a}, {a}, {c};", "SHFL LOP3", "b32", 2),
        Operation("shfl-bfly", "shfl.sync.bfly.b32 {a}, {a}, 1, 31, -1; add.u32 {a}, {a}, {c};", f"SHFL {SUMS}",
                  "b32", 2),
        Operation("vote", "setp.ne.u32 %q, {a}, {b}; vote.sync.ballot.b32 {a}, %q, -1;", "ISETP VOTE", "b32", 2),
        Operation("redux", "redux.sync.add.u32 {a}, {a}, -1;", "REDUX"),
        Operation("lds", "ld.volatile.shared.b32 {a}, [{a}];", "LDS"),
        Operation("lds-64", "ld.volatile.shared.v2.b32 {{{a}, %x1}}, [{a}];", "LDS.64"),
        Operation("lds-128", "ld.volatile.shared.v4.b32 {{{a}, %x1, %x2, %x3}}, [{a}];", "LDS.128"),
        Operation("sts", "st.volatile.shared.b32 [{a}], {b};", "STS"),
        Operation("atoms-add", "atom.shared.add.u32 {a}, [{a}], 0;", "ATOMS"),
        Operation("bar", "bar.sync 0;", "BAR"),
    )  # fmt: skip


OPERATIONS = _operations()
NOT_FOR_RATES = frozenset({"bar", "vote"})

MEMORY = """
.visible .entry chase(.param .u64 out, .param .u64 in, .param .u32 n)
{
  .reg .b64 %p, %out, %start, %end; .reg .b32 %n, %w; .reg .pred %q;
  ld.param.u64 %p, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n];
  mov.u64 %start, %clock64;
L:
  .pragma "nounroll";
  ld.relaxed.gpu.global.u64 %p, [%p];
  ld.relaxed.gpu.global.u64 %p, [%p];
  ld.relaxed.gpu.global.u64 %p, [%p];
  ld.relaxed.gpu.global.u64 %p, [%p];
  sub.u32 %n, %n, 4; setp.ne.u32 %q, %n, 0; @%q bra L;
  mov.u64 %end, %clock64; sub.u64 %end, %end, %start;
  st.global.u64 [%out], %end; st.global.u64 [%out+8], %p;
  ret;
}
.visible .entry chase_cached(.param .u64 out, .param .u64 in, .param .u32 n)
{
  .reg .b64 %p, %out, %start, %end; .reg .b32 %n, %w; .reg .pred %q;
  ld.param.u64 %p, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n];
  mov.u64 %start, %clock64;
L:
  .pragma "nounroll";
  ld.global.ca.u64 %p, [%p];
  ld.global.ca.u64 %p, [%p];
  ld.global.ca.u64 %p, [%p];
  ld.global.ca.u64 %p, [%p];
  sub.u32 %n, %n, 4; setp.ne.u32 %q, %n, 0; @%q bra L;
  mov.u64 %end, %clock64; sub.u64 %end, %end, %start;
  st.global.u64 [%out], %end; st.global.u64 [%out+8], %p;
  ret;
}
.visible .entry atomics(.param .u64 out, .param .u64 in, .param .u32 n)
{
  .reg .b64 %p, %out, %start, %end, %z; .reg .b32 %n, %w; .reg .pred %q;
  ld.param.u64 %p, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n];
  mov.u64 %start, %clock64;
L:
  .pragma "nounroll";
  atom.global.add.u64 %z, [%p], 0; add.u64 %p, %p, %z;
  atom.global.add.u64 %z, [%p], 0; add.u64 %p, %p, %z;
  atom.global.add.u64 %z, [%p], 0; add.u64 %p, %p, %z;
  atom.global.add.u64 %z, [%p], 0; add.u64 %p, %p, %z;
  sub.u32 %n, %n, 4; setp.ne.u32 %q, %n, 0; @%q bra L;
  mov.u64 %end, %clock64; sub.u64 %end, %end, %start;
  st.global.u64 [%out], %end; st.global.u64 [%out+8], %p;
  ret;
}
.visible .entry read(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 stride)
{
  .reg .b64 %p, %out, %at; .reg .b32 %n, %i, %t, %b, %d, %g, %s, %a<4>; .reg .pred %q;
  ld.param.u64 %p, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; ld.param.u32 %s, [stride];
  mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %d, %ntid.x; mov.u32 %g, %nctaid.x;
  mad.lo.u32 %i, %b, %d, %t; mul.lo.u32 %g, %g, %d; mul.lo.u32 %g, %g, %s; mul.lo.u32 %i, %i, %s;
  mov.u32 %a3, 0;
L:
  .pragma "nounroll";
  setp.ge.u32 %q, %i, %n; @%q bra E;
  mul.wide.u32 %at, %i, 4; add.u64 %at, %at, %p;
  ld.global.cg.u32 %a0, [%at]; xor.b32 %a3, %a3, %a0;
  add.u32 %i, %i, %g; bra L;
E:
  setp.eq.u32 %q, %a3, 0x12345; @%q st.global.u32 [%out], %a3;
  ret;
}
.visible .entry write(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 stride)
{
  .reg .b64 %p, %out, %at; .reg .b32 %n, %i, %t, %b, %d, %g, %s; .reg .pred %q;
  ld.param.u64 %p, [in]; ld.param.u32 %n, [n]; ld.param.u32 %s, [stride];
  mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %d, %ntid.x; mov.u32 %g, %nctaid.x;
  mad.lo.u32 %i, %b, %d, %t; mul.lo.u32 %g, %g, %d; mul.lo.u32 %g, %g, %s; mul.lo.u32 %i, %i, %s;
L:
  .pragma "nounroll";
  setp.ge.u32 %q, %i, %n; @%q bra E;
  mul.wide.u32 %at, %i, 4; add.u64 %at, %at, %p;
  st.global.u32 [%at], %i;
  add.u32 %i, %i, %g; bra L;
E:
  ret;
}
.visible .entry nothing(.param .u64 out, .param .u64 in, .param .u32 n) { ret; }
.visible .entry clocks(.param .u64 out, .param .u64 in, .param .u32 n)
{
  .reg .b64 %out, %a, %b, %c, %d; .reg .b32 %n; .reg .pred %q;
  ld.param.u64 %out, [out]; ld.param.u32 %n, [n];
  mov.u64 %a, %clock64; mov.u64 %b, %globaltimer;
L:
  .pragma "nounroll";
  mov.u64 %c, %clock64; mov.u64 %d, %globaltimer;
  sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra L;
  sub.u64 %c, %c, %a; sub.u64 %d, %d, %b;
  st.global.u64 [%out], %c; st.global.u64 [%out+8], %d;
  ret;
}
.shared .align 16 .b8 words[16384];
.visible .entry conflicts(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 stride)
{
  .reg .b64 %out, %start, %end; .reg .b32 %n, %t, %s, %a, %b<8>; .reg .pred %q;
  ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; ld.param.u32 %s, [stride];
  mov.u32 %t, %tid.x; mul.lo.u32 %a, %t, %s; and.b32 %a, %a, 4095; shl.b32 %a, %a, 2;
  mov.u32 %b7, words; add.u32 %a, %a, %b7; mov.u32 %b6, 0;
  mov.u64 %start, %clock64;
L:
  .pragma "nounroll";
  ld.volatile.shared.u32 %b0, [%a]; ld.volatile.shared.u32 %b1, [%a];
  ld.volatile.shared.u32 %b2, [%a]; ld.volatile.shared.u32 %b3, [%a];
  xor.b32 %b6, %b6, %b0; xor.b32 %b6, %b6, %b1; xor.b32 %b6, %b6, %b2; xor.b32 %b6, %b6, %b3;
  sub.u32 %n, %n, 4; setp.ne.u32 %q, %n, 0; @%q bra L;
  mov.u64 %end, %clock64; sub.u64 %end, %end, %start;
  st.global.u64 [%out], %end; st.global.u32 [%out+8], %b6;
  ret;
}
.visible .entry loads(.param .u64 out, .param .u64 in, .param .u32 n)
{
  .reg .b64 %out, %p, %at; .reg .b32 %t, %w, %c<13>, %a<12>, %s; .reg .pred %q;
  ld.param.u64 %out, [out]; ld.param.u64 %p, [in];
  mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 4; add.u64 %p, %p, %at;
  ld.global.ca.u32 %a0, [%p]; ld.global.ca.u32 %a1, [%p+4096]; xor.b32 %s, %a0, %a1; bar.sync 0;
  mov.u32 %c0, %clock;  ld.volatile.global.u32 %a0, [%p];
  mov.u32 %c1, %clock;  ld.volatile.global.u32 %a1, [%p];
  mov.u32 %c2, %clock;  ld.volatile.global.u32 %a2, [%p];
  mov.u32 %c3, %clock;  ld.volatile.global.u32 %a3, [%p];
  mov.u32 %c4, %clock;  ld.volatile.global.u32 %a4, [%p];
  mov.u32 %c5, %clock;  ld.volatile.global.u32 %a5, [%p];
  mov.u32 %c6, %clock;  ld.volatile.global.u32 %a6, [%p];
  mov.u32 %c7, %clock;  ld.volatile.global.u32 %a7, [%p];
  mov.u32 %c8, %clock;  ld.volatile.global.u32 %a8, [%p];
  mov.u32 %c9, %clock;  ld.volatile.global.u32 %a9, [%p];
  mov.u32 %c10, %clock; ld.volatile.global.u32 %a10, [%p];
  mov.u32 %c11, %clock; ld.volatile.global.u32 %a11, [%p];
  mov.u32 %c12, %clock;
  xor.b32 %s, %s, %a0; xor.b32 %s, %s, %a1; xor.b32 %s, %s, %a2; xor.b32 %s, %s, %a3; xor.b32 %s, %s, %a4;
  xor.b32 %s, %s, %a5; xor.b32 %s, %s, %a6; xor.b32 %s, %s, %a7; xor.b32 %s, %s, %a8; xor.b32 %s, %s, %a9;
  xor.b32 %s, %s, %a10; xor.b32 %s, %s, %a11;
  shr.u32 %w, %t, 5; mul.wide.u32 %at, %w, 64; add.u64 %out, %out, %at;
  st.global.u32 [%out], %c0; st.global.u32 [%out+4], %c1; st.global.u32 [%out+8], %c2; st.global.u32 [%out+12], %c3;
  st.global.u32 [%out+16], %c4; st.global.u32 [%out+20], %c5; st.global.u32 [%out+24], %c6;
  st.global.u32 [%out+28], %c7; st.global.u32 [%out+32], %c8; st.global.u32 [%out+36], %c9;
  st.global.u32 [%out+40], %c10; st.global.u32 [%out+44], %c11; st.global.u32 [%out+48], %c12;
  st.global.u32 [%out+52], %s;
  ret;
}
"""

MICROBENCHMARKS = (
    *(Microbenchmark(f"chain-{one.name}", "chain", one) for one in OPERATIONS),
    *(Microbenchmark(f"rate-{one.name}", "rate", one) for one in OPERATIONS if one.name not in NOT_FOR_RATES),
    Microbenchmark("memory", "memory", None, MEMORY),
    *(Microbenchmark(f"code-{1 << n}", "code", OPERATIONS[2]) for n in range(8, 17)),
)
