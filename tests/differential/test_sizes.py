"""Kernels of unusual size: long, deeply nested, of many blocks, of large blocks, with much shared memory."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.reference.interpreter import Reference

from warpreg import codegen
from warpreg.codegen import CompileOptions
from warpreg.simt import Device

HEAD = """
.version 8.8
.target sm_100a
.address_size 64
.extern .shared .align 16 .b8 tile[];
.visible .entry k(.param .u64 out)
{
    .reg .b64 %o, %a; .reg .b32 %r<24>; .reg .pred %p<4>;
    ld.param.u64 %o, [out];
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r3, %r1, %r2, %r0;
    mad.wide.u32 %a, %r3, 4, %o;
"""
TAIL = "st.global.u32 [%a], %r4; ret; }"
WAYS = [None, CompileOptions(), CompileOptions(max_registers=16)]


def on_device(body: str, grid: int, block: int, options: CompileOptions | None, shared_bytes: int = 0) -> np.ndarray:
    """The word that each thread leaves in ``%r4``."""
    device = Device(HEAD + body + TAIL, options=options)
    out = device.zeros(grid * block, np.uint32)
    device.launch("k", grid, block, out, shared_bytes=shared_bytes)
    return out.download()


def on_reference(body: str, block: int) -> np.ndarray:
    reference = Reference(HEAD + body + TAIL)
    out = reference.buffer(bytes(4 * block))
    reference.launch("k", 1, block, [out])
    return np.frombuffer(bytes(out.data), np.uint32)


def long_body(instructions: int) -> str:
    """Arithmetic on 16 registers, every 20th instruction the head of a skip that half of the lanes take."""
    rng = random.Random(1)
    lines = [f"mad.lo.u32 %r{n}, %r0, {2 * n + 3}, {n};" for n in range(4, 20)]
    label = 0
    while len(lines) < instructions:
        a, b, c, d = (rng.randrange(4, 20) for _ in range(4))
        lines.append(
            rng.choice([
                f"mad.lo.u32 %r{a}, %r{b}, %r{c}, %r{d};", f"xor.b32 %r{a}, %r{b}, %r{c};",
                f"shf.l.wrap.b32 %r{a}, %r{b}, %r{c}, %r{d};", f"sub.u32 %r{a}, %r{b}, %r{c};",
                f"prmt.b32 %r{a}, %r{b}, %r{c}, 0x5041;", f"min.s32 %r{a}, %r{b}, %r{c};",
            ])
        )  # fmt: skip
        if len(lines) % 20 == 0:
            bit = rng.randrange(5)
            lines += [f"bfe.u32 %r20, %r0, {bit}, 1;", "setp.ne.u32 %p0, %r20, 0;", f"@%p0 bra $skip{label};"]
            lines += [f"add.u32 %r{a}, %r{a}, %r{b};", f"$skip{label}:"]
            label += 1
    return "\n".join(lines)


@pytest.mark.slow
def test_ten_thousand_instructions() -> None:
    body = long_body(10_600)
    device = Device(HEAD + body + TAIL)
    kernel = codegen.build_kernel(device.module, "k")
    assert sum(len(block.instructions) for block in kernel.blocks) > 10_000
    out = device.zeros(32, np.uint32)
    device.launch("k", 1, 32, out)
    assert out.download().tolist() == on_reference(body, 32).tolist()


@pytest.mark.parametrize(("grid", "block"), [(5_000, 33), (40, 1_024), (7, 1_000), (65_000, 1)])
def test_many_and_large_blocks(grid: int, block: int) -> None:
    """Thread t of block b leaves b + 3 t of the thread opposite to it in its block."""
    body = """
        shl.b32 %r5, %r0, 2; mov.u32 %r6, tile; add.u32 %r5, %r5, %r6;
        mad.lo.u32 %r7, %r0, 3, %r1; st.shared.u32 [%r5], %r7;
        bar.sync 0;
        sub.u32 %r8, %r2, %r0; sub.u32 %r8, %r8, 1; mad.lo.u32 %r8, %r8, 4, %r6;
        ld.shared.u32 %r4, [%r8];"""
    blocks, threads = np.divmod(np.arange(grid * block), block)
    expected = blocks + 3 * (block - 1 - threads)
    assert np.array_equal(on_device(body, grid, block, CompileOptions(), 4 * block), expected)


@pytest.mark.parametrize("kilobytes", [48, 100, 227])
def test_much_shared_memory(kilobytes: int) -> None:
    """Each of 256 threads fills every 256th word with its address; the next one adds up what it finds at the top."""
    words = kilobytes * 256
    body = f"""
        mov.u32 %r5, %r0; mov.u32 %r6, tile;
    $fill: mad.lo.u32 %r7, %r5, 4, %r6; st.shared.u32 [%r7], %r5;
        add.u32 %r5, %r5, 256; setp.lt.u32 %p0, %r5, {words}; @%p0 bra $fill;
        bar.sync 0;
        add.u32 %r8, %r0, 1; and.b32 %r8, %r8, 255; add.u32 %r8, %r8, {words - 256};
        mad.lo.u32 %r8, %r8, 4, %r6; ld.shared.u32 %r4, [%r8];"""
    expected = words - 256 + (np.arange(256) + 1) % 256
    assert on_device(body, 1, 256, CompileOptions(), kilobytes * 1024).tolist() == expected.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("options", WAYS, ids=["virtual registers", "compiled", "16 registers"])
def test_64_nested_branches(options: CompileOptions | None) -> None:
    """Lane t goes down min(t, 64) levels, doubling and adding 1 on the way, and adds the level on the way back."""
    levels = range(64)
    down = [f"setp.le.u32 %p0, %r0, {n}; @%p0 bra $out{n}; mad.lo.u32 %r4, %r4, 2, 1;" for n in levels]
    up = [f"add.u32 %r4, %r4, {n}; $out{n}:" for n in reversed(levels)]
    body = "\n".join(["mov.u32 %r4, 0;", *down, *up])
    expected = [(2 ** min(t, 64) - 1 + sum(range(min(t, 64)))) % 2**32 for t in range(96)]
    assert on_device(body, 1, 96, options).tolist() == expected


@pytest.mark.slow
@pytest.mark.parametrize("options", WAYS, ids=["virtual registers", "compiled", "16 registers"])
def test_64_nested_loops(options: CompileOptions | None) -> None:
    """Lane t runs the loop of level t twice, the others once: the levels below it add their 1 twice."""
    body = ["mov.u32 %r4, 0; mov.u32 %r5, -1;"]
    for n in range(64):
        body.append(f"$top{n}: add.u32 %r4, %r4, 1;")
    for n in reversed(range(64)):
        body.append(f"setp.ne.u32 %p0, %r0, {n}; setp.eq.or.u32 %p1, %r5, %r0, %p0;")
        body.append(f"@!%p0 mov.u32 %r5, %r0; @!%p1 bra $top{n};")
    expected = [64 + 64 - t for t in range(64)]
    assert on_device("\n".join(body), 1, 64, options).tolist() == expected


@pytest.mark.parametrize("options", WAYS, ids=["virtual registers", "compiled", "16 registers"])
def test_a_loop_with_three_entries(options: CompileOptions | None) -> None:
    """Lane t enters at part t mod 3 and goes three times past the end; part n adds 10**n."""
    body = """
        rem.u32 %r5, %r0, 3; mov.u32 %r4, 0; mov.u32 %r6, 0;
        setp.eq.u32 %p0, %r5, 1; setp.eq.u32 %p1, %r5, 2;
        @%p0 bra $one; @%p1 bra $two;
    $zero: add.u32 %r4, %r4, 1;
    $one: add.u32 %r4, %r4, 10;
    $two: add.u32 %r4, %r4, 100;
        add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 3; @%p2 bra $zero;"""
    assert on_device(body, 1, 45, options).tolist() == [(333, 332, 322)[t % 3] for t in range(45)]
