"""Loads and stores of every width: extension, truncation, vectors, qualifiers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simt.programs import Runner, words

PATTERN = np.array([0x01, 0x80, 0xFF, 0x7F, 0xFE, 0xCA, 0xAD, 0xDE], np.uint8)
"""As 64 bits 0xDEADCAFE_7FFF8001."""


@pytest.mark.parametrize("space", ["global", "shared", "local", ""])
def test_narrow_loads_are_extended_by_their_type(run: Runner, space: str) -> None:
    where = {"global": "%x", "": "%x", "shared": "sh", "local": "own"}[space]
    fill = "" if where == "%x" else f"ld.global.u64 %rd9, [%x]; st.{space}.u64 [{where}], %rd9;"
    ld = f"ld.{space}" if space else "ld"
    body = f"""
    .shared .align 8 .b8 sh[8];
    .local .align 8 .b8 own[8];
    {fill}
    {ld}.u8 %r1, [{where}+1]; {ld}.s8 %r2, [{where}+1]; {ld}.b8 %r3, [{where}+2];
    {ld}.u16 %r4, [{where}]; {ld}.s16 %r5, [{where}]; {ld}.b16 %h1, [{where}+4];
    {ld}.s32 %rd1, [{where}+4]; {ld}.u32 %rd2, [{where}+4]; {ld}.s8 %rd3, [{where}+2];
    {ld}.u64 %rd4, [{where}]; {ld}.s16 %rd5, [{where}+2];
    cvt.u32.u16 %r6, %h1;
    st.global.v4.u32 [%out], {{%r1, %r2, %r3, %r4}};
    st.global.v2.u32 [%out+16], {{%r5, %r6}};
    st.global.u64 [%out+24], %rd1; st.global.u64 [%out+32], %rd2; st.global.u64 [%out+40], %rd3;
    st.global.u64 [%out+48], %rd4; st.global.u64 [%out+56], %rd5;
    """
    out = run(body, x=PATTERN, out=np.zeros(16, np.uint32))["out"]
    assert out[:6].tolist() == words(0x80, -128, 0xFF, 0x8001, -0x7FFF, 0xCAFE).tolist()
    expected = [-0x21523502, 0xDEADCAFE, -1, 0xDEADCAFE7FFF8001, 0x7FFF]
    assert out[6:].view(np.uint64).tolist() == [n % 2**64 for n in expected]


@pytest.mark.parametrize("space", ["global", "shared", "local", ""])
def test_stores_write_the_low_bytes_and_no_others(run: Runner, space: str) -> None:
    st = f"st.{space}" if space else "st"
    where = {"global": "%out", "": "%out", "shared": "sh", "local": "own"}[space]
    body = f"""
    .shared .align 8 .b8 sh[16];
    .local .align 8 .b8 own[16];
    mov.u64 %rd1, 0x1122334455667788;
    mov.u32 %r1, 0xAABBCCDD;
    mov.b16 %h1, 0x99EE;
    mov.u64 %rd2, -1;
    {st}.u64 [{where}], %rd2; {st}.u64 [{where}+8], %rd2;
    {st}.u8 [{where}+1], %r1; {st}.u16 [{where}+2], %r1; {st}.u16 [{where}+4], %h1; {st}.u8 [{where}+7], %h1;
    {st}.u32 [{where}+8], %rd1; {st}.u8 [{where}+13], %rd1;
    """
    for space_, name in (("shared", "sh"), ("local", "own")):
        if where == name:
            body += f"ld.{space_}.v2.u64 {{%rd3, %rd4}}, [{name}]; st.global.v2.u64 [%out], {{%rd3, %rd4}};"
    out = run(body, out=np.zeros(2, np.uint64))["out"].view(np.uint8)
    assert bytes(out).hex() == "ffddddccee99ffee88776655ff88ffff"


VECTORS = [
    (kind, count)
    for count in (2, 4)
    for kind in ("u8", "s8", "u16", "u32", "f32", "u64", "f64")
    if count * int(kind[1:]) <= 128
]


@pytest.mark.parametrize(("kind", "count"), VECTORS)
def test_vectors_of_all_widths(run: Runner, kind: str, count: int) -> None:
    # Lane t moves the vector at element count * (t ^ 1) to its own place, reversed.
    size = int(kind[1:]) // 8
    register = {"u8": "r", "s8": "r", "u16": "h", "u32": "r", "f32": "f", "u64": "rd", "f64": "fd"}[kind]
    names = [f"%{register}{n}" for n in range(4, 4 + count)]
    body = f"""
    xor.b32 %r1, %t, 1;
    mad.wide.u32 %rd1, %r1, {size * count}, %x;
    mad.wide.u32 %rd2, %t, {size * count}, %out;
    ld.global.v{count}.{kind} {{{", ".join(names)}}}, [%rd1];
    st.global.v{count}.{kind} [%rd2], {{{", ".join(reversed(names))}}};
    """
    x = np.arange(32 * count * size, dtype=np.uint8).reshape(32, count, size)
    out = run(body, x=x, out=np.zeros_like(x))["out"]
    assert np.array_equal(out, x[np.arange(32) ^ 1][:, ::-1])


def test_vectors_in_shared_local_and_generic_memory(run: Runner) -> None:
    body = """
    .shared .align 16 .b8 sh[512];
    .local .align 16 .b8 own[16];
    mov.u32 %r1, sh;
    mad.lo.u32 %r1, %t, 16, %r1;
    mov.u32 %r2, 5; mov.u32 %r3, 6; mov.u32 %r4, 7;
    st.shared.v4.u32 [%r1], {%t, %r2, %r3, %r4};
    ld.shared.v2.u64 {%rd1, %rd2}, [%r1];
    st.local.v2.u64 [own], {%rd2, %rd1};
    cvta.local.u64 %rd3, own;
    ld.v4.u32 {%r5, %r6, %r7, %r8}, [%rd3];
    mad.wide.u32 %rd4, %t, 16, %out;
    st.v4.u32 [%rd4], {%r5, %r6, %r7, %r8};
    """
    out = run(body, out=np.zeros((32, 4), np.uint32))["out"]
    assert out.tolist() == [[6, 7, t, 5] for t in range(32)]


def test_a_vector_load_may_discard_elements_and_name_its_address_register(run: Runner) -> None:
    body = (
        "ld.global.v4.u32 {%r1, _, %r2, _}, [%x]; ld.global.v2.u64 {%rd1, %x}, [%x];"
        "cvt.u32.u64 %r3, %rd1; cvt.u32.u64 %r4, %x; st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};"
    )
    out = run(body, x=words(10, 20, 30, 40), out=words(0, 0, 0, 0))["out"]
    assert out.tolist() == [10, 30, 10, 30]


def test_scattered_and_repeated_addresses_of_every_width(run: Runner) -> None:
    # Lane t reads element (7 t) % 32 and writes element (11 t) % 32.
    for size, register in ((1, "r"), (2, "h"), (4, "r"), (8, "rd")):
        kind = f"u{8 * size}"
        body = f"""
        mul.lo.u32 %r1, %t, 7; and.b32 %r1, %r1, 31; mad.wide.u32 %rd1, %r1, {size}, %x;
        mul.lo.u32 %r2, %t, 11; and.b32 %r2, %r2, 31; mad.wide.u32 %rd2, %r2, {size}, %out;
        ld.global.{kind} %{register}5, [%rd1]; st.global.{kind} [%rd2], %{register}5;
        """
        x = np.arange(1, 33, dtype=f"u{size}")
        out = run(body, x=x, out=np.zeros_like(x))["out"]
        lanes = np.arange(32)
        expected = np.zeros_like(x)
        expected[11 * lanes % 32] = x[7 * lanes % 32]
        assert out.tolist() == expected.tolist()


def test_partial_warps_and_holes_in_the_mask(run: Runner) -> None:
    # Of 20 lanes, those with bit 1 of their number clear move neighbouring elements.
    for kind, register in (("u8", "r"), ("u16", "h"), ("u32", "r"), ("u64", "rd")):
        size = int(kind[1:]) // 8
        body = f"""
        and.b32 %r1, %t, 2; setp.eq.u32 %p1, %r1, 0;
        mad.wide.u32 %rd1, %t, {size}, %x; mad.wide.u32 %rd2, %t, {size}, %out;
        @!%p1 bra DONE;
        ld.global.{kind} %{register}5, [%rd1]; st.global.{kind} [%rd2], %{register}5;
        DONE:
        """
        x = np.arange(1, 21, dtype=f"u{size}")
        out = run(body, block=20, x=x, out=np.zeros(32, f"u{size}"))["out"].tolist()
        assert out == [t + 1 if t < 20 and not t & 2 else 0 for t in range(32)]


def test_qualifiers_change_nothing(run: Runner) -> None:
    body = """
    ld.volatile.global.u32 %r1, [%my_x]; ld.global.nc.u32 %r2, [%my_x]; ld.global.ca.u32 %r3, [%my_x];
    ld.relaxed.gpu.global.u32 %r4, [%my_x]; ld.global.nc.L1::no_allocate.u32 %r5, [%my_x]; ldu.global.u32 %r6, [%my_x];
    add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r6;
    st.global.cs.u32 [%my_out], %r1; membar.gl; prefetch.global.L2 [%my_out];
    st.release.gpu.global.u32 [%my_out+128], %r1;
    fence.acq_rel.gpu; st.volatile.u32 [%my_out+256], %r1;
    """
    out = run(body, x=np.arange(32, dtype=np.uint32), out=np.zeros(96, np.uint32))["out"]
    assert out.tolist() == [6 * t for t in range(32)] * 3


def test_many_accesses_through_one_base(run: Runner) -> None:
    # Rows and single addresses at several offsets and sizes, up to the last element; some lanes only, in the end.
    body = """
    ld.global.u32 %r1, [%my_x]; ld.global.u32 %r2, [%my_x+4]; ld.global.u8 %r3, [%my_x+4];
    ld.global.u32 %r4, [%x]; ld.global.u32 %r5, [%x+128]; ld.global.u16 %r6, [%x+130];
    add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r6;
    st.global.u32 [%my_out], %r1; st.global.u32 [%my_out+128], %r2;
    setp.gt.u32 %p1, %t, 28;
    @%p1 st.global.u32 [%my_out], %t; @!%p1 ld.global.u32 %r2, [%my_x+16]; st.global.u32 [%my_out+256], %r2;
    """
    out = run(body, x=np.arange(100, 133, dtype=np.uint32), out=np.zeros(96, np.uint32))["out"].tolist()
    assert out[:32] == [3 * t + 302 + 100 + 132 if t < 29 else t for t in range(32)]
    assert out[32:64] == [t + 101 for t in range(32)]
    assert out[64:] == [t + 104 if t < 29 else t + 101 for t in range(32)]


def test_single_addresses_and_rows_that_end_with_shared_memory(run: Runner) -> None:
    for kind, register in (("u8", "r"), ("u16", "h"), ("u32", "r"), ("u64", "rd")):
        size = int(kind[1:]) // 8
        body = f"""
        .shared .align 8 .{kind} buf[32];
        mov.u32 %r1, buf; mad.lo.u32 %r1, %t, {size}, %r1;
        mad.wide.u32 %rd1, %t, {size}, %x; mad.wide.u32 %rd2, %t, {size}, %out;
        ld.global.{kind} %{register}5, [%rd1]; st.shared.{kind} [%r1], %{register}5;
        ld.shared.{kind} %{register}6, [%r1]; ld.shared.{kind} %{register}7, [buf+{31 * size}];
        st.global.{kind} [%rd2], %{register}6; st.global.{kind} [%rd2+{32 * size}], %{register}7;
        """
        x = np.arange(7, 39, dtype=f"u{size}")
        out = run(body, x=x, out=np.zeros(64, f"u{size}"))["out"].tolist()
        assert out == [*range(7, 39), *[38] * 32]


def test_a_store_that_overlaps_a_later_load_is_seen(run: Runner) -> None:
    # Each lane loads the element of its right neighbour after all lanes have stored.
    body = "st.global.u32 [%my_x], %t; ld.global.u32 %r1, [%my_x+4]; st.global.u32 [%my_out], %r1;"
    out = run(body, x=np.full(33, 99, np.uint32), out=np.zeros(32, np.uint32))["out"]
    assert out.tolist() == [*range(1, 32), 99]
