"""Microbenchmarks: PTX programs from whose cycles one figure each follows.

A chain runs dependent instructions in a loop with two numbers of copies; the difference of the cycles, divided by the
difference of the instructions, is the latency, without the cost of the loop and of reading the clock.  A rate runs
eight independent chains in many warps likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ITERATIONS = 64
SHORT, LONG = 32, 224
"""Copies of an instruction in the two loops of a microbenchmark."""

RESULTS = 1 << 20
"""Where results are written that only keep instructions from being removed, in bytes from the first output."""
CHAINS = 8
SPARE = 8
"""Instructions of an opcode outside of the loop."""

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
    kinds are in `MEMORY`: their kernels take (out, memory, n, m)."""

    name: str
    kind: str
    operation: Operation | None = None
    text: str = ""

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


def unlike(one: Microbenchmark, listing: str) -> str:
    """Why the machine code of a chain is not what is meant, which would make its figure wrong; else nothing."""
    if one.operation is None or one.kind == "code":
        return ""
    wanted = one.operation.sass.split()
    for text in listing.split(".section\t.text.")[1:]:
        copies = (LONG if text.startswith("long") else SHORT) * one.operation.per_copy
        found = sum(any(word == w or word.startswith(f"{w}.") for w in wanted) for word in text.split())
        if not copies <= found <= copies + SPARE:
            return f"{found} of {' '.join(wanted)} where {copies} are meant"
    return ""


def kernel(name: str, operation: Operation, copies: int, chains: int) -> str:
    """A kernel that takes (out, in, n): each thread's first and last reading of the clock go to out[thread], results
    behind them.
    """
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
            "mov.u64 %end, %clock64;",
            "mov.u32 %w, %ctaid.x; mov.u32 %x0, %ntid.x; mad.lo.u32 %w, %w, %x0, %t;",
            "mul.wide.u32 %to, %w, 16; add.u64 %at, %out, %to;",
            "st.global.u64 [%at], %start; st.global.u64 [%at+8], %end;",
            f"mul.wide.u32 %to, %w, 64; add.u64 %to, %to, %out; add.u64 %to, %to, {RESULTS};",
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

TIMED = "mad.wide.u32 %out, %t, 16, %out; st.global.u64 [%out], %start; st.global.u64 [%out+8], %end;"
"""A thread writes its first and last reading of the clock of its SM."""

PARAMETERS = ".param .u64 out, .param .u64 in, .param .u32 n, .param .u32 m"
DECLARED = """
  .reg .b64 %p, %out, %start, %end, %at<5>, %z; .reg .b32 %n, %m, %t, %b, %d, %g, %s, %i<5>, %a<13>, %c<13>;
  .reg .pred %q<5>;
  ld.param.u64 %p, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; ld.param.u32 %m, [m]; mov.u32 %t, %tid.x;"""


def _chase(name: str, load: str) -> str:
    """Follow pointers: m steps without the clock, then n steps, both multiples of 4."""
    four = 4 * f"{load} %p, [%p]; "
    return f"""
.visible .entry {name}({PARAMETERS})
{{{DECLARED}
  setp.eq.u32 %q0, %m, 0; @%q0 bra B;
W:
  .pragma "nounroll";
  {four}
  sub.u32 %m, %m, 4; setp.ne.u32 %q0, %m, 0; @%q0 bra W;
B:
  mov.u64 %start, %clock64;
L:
  .pragma "nounroll";
  {four}
  sub.u32 %n, %n, 4; setp.ne.u32 %q0, %n, 0; @%q0 bra L;
  mov.u64 %end, %clock64; {TIMED}
  st.global.u64 [%out+{RESULTS}], %p;
  ret;
}}
"""


def _stream(name: str, access: str) -> str:
    """All threads go through n words, m times, four accesses of a thread under way."""
    places = " ".join(
        f"mad.lo.u32 %i{k}, %g, {k}, %i0; setp.lt.u32 %q{k}, %i{k}, %n; mul.wide.u32 %at{k}, %i{k}, 4;"
        f" add.u64 %at{k}, %at{k}, %p;"
        for k in range(4)
    )
    accesses = " ".join(f"@%q{k} {access.format(k=k)}" for k in range(4))
    return f"""
.visible .entry {name}({PARAMETERS}, .param .u32 stride)
{{{DECLARED}
  ld.param.u32 %s, [stride]; mov.u32 %b, %ctaid.x; mov.u32 %d, %ntid.x; mov.u32 %g, %nctaid.x;
  mad.lo.u32 %t, %b, %d, %t; mul.lo.u32 %t, %t, %s; mul.lo.u32 %g, %g, %d; mul.lo.u32 %g, %g, %s; mov.u32 %a4, 0;
P:
  mov.u32 %i0, %t;
L:
  .pragma "nounroll";
  {places}
  {accesses}
  xor.b32 %a4, %a4, %a0; xor.b32 %a4, %a4, %a1; xor.b32 %a4, %a4, %a2; xor.b32 %a4, %a4, %a3;
  mad.lo.u32 %i0, %g, 4, %i0; setp.lt.u32 %q4, %i0, %n; @%q4 bra L;
  sub.u32 %m, %m, 1; setp.ne.u32 %q4, %m, 0; @%q4 bra P;
  setp.eq.u32 %q4, %a4, 0x12345; @%q4 st.global.u32 [%out], %a4;
  ret;
}}
"""


def _loads(count: int) -> str:
    """The clock before each of some independent loads that hit the first-level cache, and after the last."""
    timed = "\n  ".join(f"mov.u32 %c{k}, %clock; ld.volatile.global.u32 %a{k}, [%p];" for k in range(count))
    mixed = " ".join(f"xor.b32 %s, %s, %a{k};" for k in range(count))
    stores = " ".join(f"st.global.u32 [%out+{4 * k}], %c{k};" for k in range(count + 1))
    return f"""
.visible .entry loads({PARAMETERS})
{{{DECLARED}
  mul.wide.u32 %z, %t, 4; add.u64 %p, %p, %z;
  ld.global.ca.u32 %a0, [%p]; ld.global.ca.u32 %a1, [%p+4096]; xor.b32 %s, %a0, %a1; bar.sync 0;
  {timed}
  mov.u32 %c{count}, %clock;
  {mixed}
  shr.u32 %b, %t, 5; mul.wide.u32 %z, %b, 64; add.u64 %out, %out, %z;
  {stores}
  st.global.u32 [%out+{4 * count + 4}], %s;
  ret;
}}
"""


ATOMICS = 4 * "atom.global.add.u64 %z, [%p], 0; add.u64 %p, %p, %z; "
SHARED_LOADS = " ".join(f"ld.volatile.shared.u32 %a{k}, [%b]; xor.b32 %g, %g, %a{k};" for k in range(4))
MEMORY = f"""
.visible .entry nothing({PARAMETERS}) {{ ret; }}
.visible .entry atomics({PARAMETERS})
{{{DECLARED}
  mov.u64 %start, %clock64;
L:
  .pragma "nounroll";
  {ATOMICS}
  sub.u32 %n, %n, 4; setp.ne.u32 %q0, %n, 0; @%q0 bra L;
  mov.u64 %end, %clock64; {TIMED}
  st.global.u64 [%out+{RESULTS}], %p;
  ret;
}}
.visible .entry clocks({PARAMETERS})
{{{DECLARED}
  mov.u64 %start, %clock64; mov.u64 %at0, %globaltimer;
L:
  .pragma "nounroll";
  mov.u64 %end, %clock64; mov.u64 %at1, %globaltimer;
  sub.u32 %n, %n, 1; setp.ne.u32 %q0, %n, 0; @%q0 bra L;
  sub.u64 %end, %end, %start; sub.u64 %at1, %at1, %at0;
  st.global.u64 [%out], %end; st.global.u64 [%out+8], %at1;
  ret;
}}
.shared .align 16 .b8 words[16384];
.visible .entry conflicts({PARAMETERS})
{{{DECLARED}
  mul.lo.u32 %b, %t, %m; and.b32 %b, %b, 4095; shl.b32 %b, %b, 2;
  mov.u32 %d, words; add.u32 %b, %b, %d; mov.u32 %g, 0; bar.sync 0;
  mov.u64 %start, %clock64;
L:
  .pragma "nounroll";
  {SHARED_LOADS}
  sub.u32 %n, %n, 4; setp.ne.u32 %q0, %n, 0; @%q0 bra L;
  mov.u64 %end, %clock64; {TIMED}
  st.global.u32 [%out+{RESULTS}], %g;
  ret;
}}
"""
MEMORY += _chase("chase", "ld.relaxed.gpu.global.u64") + _chase("chase_cached", "ld.global.ca.u64") + _loads(12)
MEMORY += _stream("read", "ld.global.cg.u32 %a{k}, [%at{k}];") + _stream("write", "st.global.u32 [%at{k}], %i{k};")

MICROBENCHMARKS = (
    *(Microbenchmark(f"chain-{one.name}", "chain", one) for one in OPERATIONS),
    *(Microbenchmark(f"rate-{one.name}", "rate", one) for one in OPERATIONS if one.name not in NOT_FOR_RATES),
    Microbenchmark("memory", "memory", None, MEMORY),
    *(Microbenchmark(f"code-{1 << n}", "code", OPERATIONS[2]) for n in range(8, 17)),
)
