"""Random integer kernels with a branch and a loop, and the contents of memory before and after a pass."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from tests.codegen.texts import REGISTERS

from warpreg import ptx
from warpreg.codegen import build_kernel
from warpreg.codegen.passes.base import Pass
from warpreg.codegen.verify import verify
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.simt import Device

WORDS = 8
THREADS = 64
LENGTH = 12
PARAMETERS = ".param .u64 in, .param .u64 out, .param .u32 n, .param .u32 m"

LOGIC = ("and.b32 {d}, {a}, {b};", "or.b32 {d}, {a}, {b};", "xor.b32 {d}, {a}, {b};", "not.b32 {d}, {a};")
SUMS = ("add.s32 {d}, {a}, {b};", "add.u32 {d}, {a}, {b};", "sub.s32 {d}, {a}, {b};", "add.s32 {d}, {a}, {k};")
TESTS = (
    "setp.lt.s32 {p}, {a}, {b};",
    "setp.ge.u32 {p}, {a}, {k};",
    "or.pred {p}, {q}, {r};",
    "and.pred {p}, {q}, {r};",
    "xor.pred {p}, {q}, {r};",
    "not.pred {p}, {q};",
    "selp.b32 {d}, {a}, {b}, {p};",
)
PRODUCTS = ("mul.lo.s32 {d}, {a}, {b};", "mad.lo.s32 {d}, {a}, {b}, {a};", "shl.b32 {d}, {a}, {c};")
REDEFINITIONS = (
    *TESTS[:-1],
    "mov.pred {p}, {q};",
    "setp.lt.s32 {p}|{u}, {a}, {b};",
    "setp.gt.and.s32 {p}, {a}, {k}, {q};",
)
"""Instructions that write a predicate; ``{u}`` is another one than ``{p}``."""
GUARDS = ("@%p0 ", "@!%p0 ", "@%p1 ", "@!%p1 ", "@%p2 ", "@!%p3 ")
BANK = ("ld.param.u32 {d}, [n];", "ld.param.u32 {d}, [m];", "mov.u32 {d}, %tid.x;", "mov.u32 {d}, {k};")


def text(seed: int, forms: Sequence[str], length: int = LENGTH, branches: int = 0) -> str:
    """A kernel ``k`` that loads eight words a thread, computes with ``forms``, and stores the words.

    Some instructions are guarded, and predicates are written in mid-block, before and after others that they guard.
    ``branches``: alternatives of a few instructions besides, of one side or two.
    """
    rng = random.Random(seed)
    lines = [
        "mov.u32 %r20, %tid.x;",
        "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];",
        f"mul.wide.u32 %rd3, %r20, {4 * WORDS}; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;",
        *(f"ld.global.u32 %r{i}, [%rd4+{4 * i}];" for i in range(WORDS)),
        *(f"setp.lt.s32 %p{i}, %r{i}, %r{i + 1};" for i in range(4)),
        *(f"add.s32 %r{i}, %r20, {i};" for i in TEMPORARIES),
    ]

    def body(count: int, guards: bool = True) -> None:
        for _ in range(count):
            if guards and rng.random() < 0.3:
                lines.extend(rng.choice(GUARDED)(rng, forms))
            else:
                lines.append(filled(rng, rng.choice(forms)))

    body(length)
    for i in range(branches):
        lines.append(f"@%p{rng.randrange(4)} bra SIDE{i};")
        body(rng.randrange(1, 5), guards=False)
        if rng.random() < 0.5:
            lines.append(f"bra MEET{i}; SIDE{i}:")
            body(rng.randrange(1, 5), guards=False)
            lines.append(f"MEET{i}:")
        else:
            lines.append(f"st.global.u32 [%rd2+{4 * WORDS * THREADS}], 7; SIDE{i}:")
    lines.append(f"@%p{rng.randrange(4)} bra AFTER;")
    body(length // 2)
    lines.append("AFTER: mov.u32 %r21, 0;")
    lines.append("LOOP:")
    body(length)
    lines.append("add.s32 %r21, %r21, 1; setp.lt.u32 %p9, %r21, 3; @%p9 bra LOOP;")
    body(length // 2)
    lines += [f"st.global.u32 [%rd5+{4 * i}], %r{i};" for i in range(WORDS)]
    lines += [f"selp.b32 %r{i}, 1, 0, %p{i}; st.global.u32 [%rd5+{4 * i + 4}], %r{i};" for i in range(2)]
    header = ".version 8.0\n.target sm_75\n.address_size 64\n"
    return f"{header}.visible .entry k({PARAMETERS})\n{{{REGISTERS}{chr(10).join(lines)}\nret;\n}}\n"


def filled(rng: random.Random, form: str, **given: str) -> str:
    """An instruction of a form, on the registers ``given`` and random ones."""
    names = {name: f"%r{rng.randrange(WORDS)}" for name in "dab"}
    p, u = rng.sample(range(4), 2)
    predicates = {"p": f"%p{p}", "u": f"%p{u}", **{name: f"%p{rng.randrange(4)}" for name in "qr"}}
    return form.format(**{"k": rng.randint(-9, 300), "c": rng.randrange(32), **names, **predicates, **given})


def _one_guarded(rng: random.Random, forms: Sequence[str]) -> list[str]:
    return [rng.choice(GUARDS) + filled(rng, rng.choice(forms))]


def _redefined(rng: random.Random, forms: Sequence[str]) -> list[str]:
    """A predicate is written, with or without a guard."""
    del forms
    return [rng.choice(("", *GUARDS)) + filled(rng, rng.choice(REDEFINITIONS))]


def _covered(rng: random.Random, forms: Sequence[str]) -> list[str]:
    """Two instructions under opposite guards write one register, perhaps with a redefinition in between."""
    p, d = f"%p{rng.randrange(4)}", f"%r{rng.randrange(WORDS)}"
    between = _redefined(rng, forms) if rng.random() < 0.3 else []
    sides = [f"{guard}{p} " + filled(rng, rng.choice(SUMS + LOGIC), d=d) for guard in ("@", "@!")]
    return [sides[0], *between, sides[1]]


def _under_one_guard(rng: random.Random, forms: Sequence[str]) -> list[str]:
    """A register is written under a guard and read under the same one, whose predicate may be another by then."""
    guard, t = rng.choice(GUARDS), f"%r{rng.choice(TEMPORARIES)}"
    predicate = guard.strip("@! ")
    between = [filled(rng, rng.choice(REDEFINITIONS), p=predicate, u="%p9")] if rng.random() < 0.5 else []
    between = [rng.choice(("", *GUARDS)) + one for one in between]
    write, read = filled(rng, rng.choice(SUMS), d=t), filled(rng, rng.choice(SUMS), a=t)
    return [guard + write, *between, guard + read, *([f"add.s32 {t}, %r20, 1;"] if rng.random() < 0.5 else [])]


GUARDED = (_one_guarded, _redefined, _covered, _under_one_guard)
TEMPORARIES = range(22, 25)
"""Registers that little else than guarded instructions reads."""


def memory_of(module: Module, program: Kernel, seed: int, kind: type[Device] = Device) -> bytes:
    """The output words after one block of threads on a device of some kind."""
    device = kind(module, None)
    device.install(program)
    words = np.random.default_rng(seed).integers(-(1 << 31), 1 << 31, (THREADS, WORDS), dtype=np.int64)
    out = device.zeros((THREADS + 1, WORDS), np.int32)
    device.launch("k", 1, THREADS, device.upload(words.astype(np.int32)), out, 77, 13)
    return out.download().tobytes()


def compare(step: Pass, seed: int, forms: Sequence[str], before: Sequence[Pass] = ()) -> tuple[Kernel, Kernel]:
    """The kernel of ``seed`` before and after ``step``, with the same memory; ``before`` are run first."""
    module = ptx.parse(text(seed, forms))
    program = build_kernel(module, "k")
    for earlier in before:
        program = earlier.run(program)
    changed = step.run(program)
    verify(changed, program)
    assert memory_of(module, changed, seed) == memory_of(module, program, seed)
    return program, changed
