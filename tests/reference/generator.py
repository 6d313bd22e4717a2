"""Random kernels as PTX text, each a complete test case: ``generate(seed)``.

A program computes on pools of typed registers that start with input data, including edge values.  Threads write only
their own memory, exchange data across barriers, and share atomics whose result does not depend on the order.  At the
end, each thread writes all its registers to its row of the output, so that a wrong value is likely to be detected.
Results of approximate instructions go to a separate buffer, and nothing else depends on them.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.reference import accesses, control, straight, together
from tests.reference.accesses import CONSTANT_BYTES, INPUT_BYTES, ROW_BYTES, SHARED_BYTES, SHARED_SITES, SITE_BYTES
from tests.reference.builder import POOLS, Builder
from tests.reference.vocabulary import FLOAT_EDGES, WIDE_EDGES

KERNEL = "fuzz"

Statement = Callable[[Builder], None]


def _overlapping(b: Builder) -> None:
    accesses.overlapping(b, straight.arithmetic)


def _divergent_groups(b: Builder) -> None:
    together.divergent_groups(b, straight.arithmetic)


_COMPUTING: list[tuple[Statement, float]] = [
    (straight.arithmetic, 12), (straight.carry_chain, 0.6), (straight.pack, 1.2), (straight.copy, 1.2),
    (straight.constant, 1.2), (straight.special, 0.5), (straight.video_instruction, 1.2),
    (straight.under_one_guard, 0.8), (straight.covered, 0.4),
]  # fmt: skip
"""What device functions do."""
_STRAIGHT: list[tuple[Statement, float]] = [
    *_COMPUTING, (straight.idle, 0.4), (straight.approximate, 0.8), (accesses.load, 2.5), (accesses.store, 1.5),
    (_overlapping, 0.8), (accesses.parameter, 0.4), (accesses.private_atomic, 0.6), (accesses.space_test, 0.2),
    (accesses.contended_atomic, 0.5), (accesses.shared_contended_atomic, 0.3), (accesses.wide, 0.7),
    (accesses.hinted, 0.8),
]  # fmt: skip
_TOGETHER: list[tuple[Statement, float]] = [
    (together.exchange, 1.0),
    (together.producer, 0.5), (together.barrier_reduction, 0.4), (together.shuffle, 1.2), (together.vote, 0.8),
    (_divergent_groups, 0.7), (together.collective, 0.7),
]  # fmt: skip
_CONTROL: list[tuple[Callable[[Builder, control.Fill], None], float]] = [
    (control.branch, 2.0), (control.loop, 2.2), (control.short_circuit, 0.5), (control.switch, 0.5),
    (control.irreducible, 0.3),
    (control.call, 0.8),
]  # fmt: skip
_MAX_DEPTH = 4


@dataclass(frozen=True)
class Case:
    """A program with its launch.  ``slots`` are the kinds of the approximate results, eight bytes a thread each."""

    seed: int
    text: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    input: bytes
    row_bytes: int
    slots: tuple[str, ...]
    atomics: bytes
    scalars: dict[str, int | float | bytes]
    features: frozenset[str]

    @property
    def threads(self) -> int:
        """Threads of the whole grid."""
        return self.grid[0] * self.grid[1] * self.grid[2] * self.block[0] * self.block[1] * self.block[2]


def generate(
    seed: int, statements: int = 30, measured: bool = False, families: Mapping[str, list[str]] | None = None
) -> Case:
    """The program of a seed; ``statements`` bounds how many are drawn, nested ones included.  A ``measured`` program
    runs on an H100, and uses no result that PTX leaves open.  ``families`` replace the computing instructions.
    """
    rng = random.Random(seed)
    block = rng.choice([(32, 1, 1), (45, 1, 1), (70, 1, 1), (64, 1, 1), (9, 5, 1), (16, 4, 1), (5, 3, 2), (33, 1, 1)])
    grid = rng.choice([(1, 1, 1), (2, 1, 1), (1, 2, 1), (3, 1, 1), (2, 2, 1), (1, 1, 2)])
    if block[0] * block[1] > 60:
        grid = rng.choice([(1, 1, 1), (2, 1, 1)])
    threads = block[0] * block[1] * block[2]
    b = Builder(rng, threads, threads % 32 != 0, measured, families=families)
    b.plain = rng.choice(["", "add", "mul"])
    functions = _functions(b)
    b.lines = []
    b.budget = statements
    if b.partial:
        b.features.add("partial warps")
    if grid != (1, 1, 1):
        b.features.add("several blocks")
    _prologue(b, grid[0] * grid[1])
    _fill(b, statements)
    row_bytes = _epilogue(b)
    text = _module(rng, functions, b.lines, b)
    text = text.replace("$ROW", str(row_bytes)).replace("$APPROXIMATE", str(8 * len(b.slots)))
    scalars: dict[str, int | float | bytes] = {
        "n": rng.getrandbits(32), "i": -rng.getrandbits(20), "w": rng.getrandbits(64), "x": rng.uniform(-4, 4),
        "y": rng.uniform(-4, 4), "h": rng.getrandbits(16),
        "s": rng.randbytes(8) + struct.pack("<d", rng.uniform(-1, 1)),
    }  # fmt: skip
    return Case(
        seed, text, grid, block, 16 * SHARED_SITES + SHARED_BYTES * threads, _input(rng), row_bytes, tuple(b.slots),
        rng.randbytes(SITE_BYTES * len(b.sites)) + bytes(8), scalars, frozenset(b.features),
    )  # fmt: skip


def _input(rng: random.Random) -> bytes:
    """Random words, edge values, and floats of moderate size, a quarter each (integers small and edge in the first)."""
    quarter = INPUT_BYTES // 4
    b = Builder(rng, 32, False)
    edges = [struct.pack("<q", rng.choice(WIDE_EDGES[64]) & 0x7FFFFFFFFFFFFFFF) for _ in range(quarter // 8)]
    mixed = [
        struct.pack("<Q", rng.choice(FLOAT_EDGES[64])) if rng.random() < 0.3
        else struct.pack("<2I", *rng.choices(FLOAT_EDGES[32], k=2)) if rng.random() < 0.5
        else rng.randbytes(8) for _ in range(quarter // 8)
    ]  # fmt: skip
    singles = [struct.pack("<I", b.nice_float(32)) for _ in range(quarter // 4)]
    doubles = [struct.pack("<Q", b.nice_float(64)) for _ in range(quarter // 8)]
    return b"".join((*edges, *mixed, *singles, *doubles))


_SETUP = """
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    ld.param.u64 %apx, [approximate];
    ld.param.u64 %atoms, [atoms];
    ld.param.u32 %n, [n];
    cvta.to.global.u64 %out, %out;
    mov.u32 %me, %tid.y;
    mov.u32 %u, %ntid.x;
    mov.u32 %v, %tid.x;
    mad.lo.u32 %me, %me, %u, %v;
    mov.u32 %v, %ntid.y;
    mul.lo.u32 %u, %u, %v;
    mov.u32 %v, %tid.z;
    mad.lo.u32 %me, %v, %u, %me;
    mov.u32 %blk, %ctaid.y;
    mov.u32 %u, %nctaid.x;
    mov.u32 %v, %ctaid.x;
    mad.lo.u32 %blk, %blk, %u, %v;
    mov.u32 %u, %ctaid.z;
    mad.lo.u32 %blk, %u, $PLANE, %blk;
    mad.lo.u32 %all, %blk, $THREADS, %me;
    mad.wide.u32 %out, %all, $ROW, %out;
    mad.wide.u32 %apx, %all, $APPROXIMATE, %apx;
    mov.u32 %first, exchange+$FIRST;
    mad.lo.u32 %own, %me, $OWN, %first;
    and.b32 %last, %me, 0xFFFFFFE0;
    sub.u32 %last, $LAST, %last;
    min.u32 %last, %last, 31;
    mov.u32 %members, -1;
    mul.lo.u32 %u, %all, 24;
    and.b32 %u, %u, $MASK;
    cvt.u64.u32 %a, %u;
    add.s64 %a, %in, %a;"""
"""``%me`` is the thread in its block, ``%all`` in the grid, ``%blk`` the block; ``%own`` the thread's part of shared
memory; ``%last`` the last lane of its warp; ``%a`` where its inputs begin."""


def _prologue(b: Builder, plane: int) -> None:
    """Addresses, identities, and a first value for every register of the pools and every byte the thread may read."""
    sizes = {
        "$PLANE": plane,
        "$THREADS": b.threads,
        "$FIRST": 16 * SHARED_SITES,
        "$OWN": SHARED_BYTES,
        "$LAST": b.threads - 1,
        "$MASK": INPUT_BYTES // 4 - 8,
    }
    setup = _SETUP
    for name, size in sizes.items():
        setup = setup.replace(name, str(size))
    b.lines += setup.strip("\n").splitlines()
    quarter = INPUT_BYTES // 4
    for declared, (prefix, count) in POOLS.items():
        for n in range(count):
            at = b.rng.randrange(2) * quarter if declared[0] != "f" else {"f32": 2, "f64": 3}[declared] * quarter
            if declared == "pred":
                b.emit(f"and.b32 %v, %me, {b.rng.choice([1, 2, 3, 5, 16])}")
                b.emit(f"setp.ne.u32 {prefix}{n}, %v, {b.rng.choice([0, 1])}")
            elif b.chance(0.8):
                size = int(declared[1:]) // 8
                b.emit(f"ld.global.{declared} {prefix}{n}, [%a+{at}]")
                b.emit(f"add.s64 %a, %a, {b.rng.choice([0, 8]) if size == 8 or n % 2 else 0}")
            else:
                b.emit(f"mov.{declared} {prefix}{n}, {b.immediate(declared[0], int(declared[1:]))}")
        if declared != "pred":
            b.emit(f"and.b32 %u, %u, {quarter // 2 - 8}")
            b.emit("cvt.u64.u32 %a, %u")
            b.emit("add.s64 %a, %in, %a")
    b.emit("mov.b32 %v, 0")
    for i in range(0, ROW_BYTES, 8):
        b.emit(f"st.local.b64 [stack+{i}], {b.register('b64')}")
    for i in range(0, SHARED_BYTES, 8):
        b.emit(f"st.shared.b64 [%own+{i}], {b.register('b64')}")
    first, end = b.temporary("pred"), b.fresh("$ready")
    b.emit(f"setp.ne.u32 {first}, %me, 0")
    b.emit(f"bra {end}", f"@{first}")
    for i in range(0, 16 * SHARED_SITES, 16):
        b.emit(f"st.shared.v4.b32 [exchange+{i}], {{%v, %n, %v, %n}}")
    b.label(end)
    b.emit("bar.sync 0")


def _fill(b: Builder, count: int, depth: int = 0) -> None:
    """Draw up to ``count`` statements into the present place."""
    for _ in range(count):
        if b.budget <= 0:
            return
        b.budget -= 1
        _one(b, depth)


def _one(b: Builder, depth: int) -> None:
    if depth < _MAX_DEPTH and b.chance(0.2):
        nest = _draw(b, [*_CONTROL, (control.jump, 1.5 if b.place.breaks else 0)])
        nest(b, lambda inner, n: _fill(inner, n, depth + 1))
        return
    if b.place.convergent and not b.place.function and b.chance(0.12):
        _draw(b, _TOGETHER)(b)
        return
    may_leave = not b.place.function and (b.place.loops == 0 or b.exited)
    if may_leave and b.chance(0.015):
        together.early_exit(b)
        return
    choices = _COMPUTING if b.place.function else _STRAIGHT
    if b.shared_sites >= SHARED_SITES:
        choices = [c for c in choices if c[0] is not accesses.shared_contended_atomic]
    _draw(b, choices)(b)


def _draw(b: Builder, choices: list[tuple[Callable[..., None], float]]) -> Callable[..., None]:
    return b.rng.choices([c for c, _ in choices], [w for _, w in choices])[0]


def _epilogue(b: Builder) -> int:
    """Write every register to the row; the row's size."""
    at = ROW_BYTES
    b.emit("bar.sync 0")
    b.emit(f"and.b32 %v, %me, {16 * SHARED_SITES // 4 - 1}")
    b.emit("mad.lo.u32 %v, %v, 4, %first")
    b.emit(f"ld.shared.u32 %v, [%v+{-16 * SHARED_SITES}]")
    b.emit(f"st.global.u32 [%out+{at}], %v")
    at += 8
    for declared, (prefix, count) in POOLS.items():
        for n in range(count):
            if declared == "pred":
                b.emit(f"selp.u32 %v, 1, 0, {prefix}{n}")
                b.emit(f"st.global.u8 [%out+{at}], %v")
                at += 1
                continue
            size = int(declared[1:]) // 8
            at = -(-at // size) * size
            b.emit(f"st.global.{declared} [%out+{at}], {prefix}{n}")
            at += size
    b.emit("ret")
    return -(-at // 32) * 32


def _declarations() -> list[str]:
    lines = [f"    .reg .{declared} {prefix}<{count}>;" for declared, (prefix, count) in POOLS.items()]
    return [*lines, "    .reg .b32 %u, %v;"]


def _functions(b: Builder) -> str:
    """Up to two device functions; the second may call the first."""
    out = []
    for n in range(b.rng.randrange(3)):
        b.lines = []
        b.functions = n
        b.budget = 6
        returned = b.chance(0.4)
        with b.at(convergent=False, function=True, structured=False):
            _function_start(b)
            _fill(b, 4, _MAX_DEPTH - 2)
            if returned:
                b.emit("st.param.b32 [result], %r1")
                b.emit("ret", f"@{b.predicate()}")
            _fill(b, 3, _MAX_DEPTH - 2)
        b.emit("st.param.b32 [result], %r0")
        b.emit("ret")
        head = f".func (.param .b32 result) helper{n}(.param .b32 a, .param .f64 c, .param .align 8 .b8 m[16])"
        out.append("\n".join([head, "{", *_declarations(), "    .reg .b32 %n, %blk;", *b.lines, "}"]))
        b.functions = n + 1
    return "\n".join(out)


def _function_start(b: Builder) -> None:
    """Registers of a function start from its parameters."""
    b.emit("ld.param.b32 %r0, [a]")
    b.emit("ld.param.f64 %d0, [c]")
    b.emit("ld.param.v2.u32 {%r1, %r2}, [m]")
    b.emit("ld.param.b64 %l0, [m+8]")
    b.emit("mov.u32 %n, 3")
    b.emit("mov.u32 %blk, 1")
    for declared, (prefix, count) in POOLS.items():
        for n in range(count):
            if declared == "pred":
                b.emit("and.b32 %u, %r0, 7")
                b.emit(f"setp.gt.u32 {prefix}{n}, %u, {n}")
            elif f"{prefix}{n}" not in ("%r0", "%r1", "%r2", "%l0", "%d0"):
                b.emit(f"mov.{declared} {prefix}{n}, {b.immediate(declared[0], int(declared[1:]))}")


_PARAMETERS = """.param .u64 in, .param .u64 .ptr .global .align 32 out, .param .u64 approximate, .param .u64 atoms,
    .param .u32 n, .param .s32 i, .param .u64 w, .param .f32 x, .param .f64 y, .param .u16 h,
    .param .align 8 .b8 s[16]"""


def _module(rng: random.Random, functions: str, body: list[str], b: Builder) -> str:
    constants = ", ".join(str(rng.getrandbits(8)) for _ in range(CONSTANT_BYTES - 16))
    numbers = ", ".join(str(rng.getrandbits(31)) for _ in range(16))
    size = 16 * SHARED_SITES + SHARED_BYTES * b.threads
    static = f".shared .align 32 .b8 exchange[{size}];"
    lines = [
        ".version 8.8",
        ".target sm_90a" if b.measured else ".target sm_100a",
        ".address_size 64",
        f".const .align 32 .b8 table[{CONSTANT_BYTES}] = {{{constants}}};",
        f".global .align 16 .u32 numbers[16] = {{{numbers}}};",
        ".extern .shared .align 32 .b8 exchange[];" if rng.random() < 0.5 else static,
        ".global .align 128 .b8 scratch[128];",
        functions,
        f".visible .entry {KERNEL}({_PARAMETERS})",
        "{",
        *_declarations(),
        f"    .local .align 32 .b8 stack[{ROW_BYTES}];",
        "    .reg .b32 %n, %me, %blk, %all, %first, %own, %last, %members;",
        "    .reg .b64 %in, %out, %apx, %atoms, %a;",
        *body,
        "}",
    ]
    return "\n".join(lines) + "\n"
