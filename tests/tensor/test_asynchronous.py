"""Results of asynchronous copies, mbarriers and the cluster's barrier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.reference.device import ReferenceDevice
from tests.tensor.forms import HEAD

from warpreg.codegen import CompileOptions
from warpreg.simt import Device
from warpreg.simt.launch.faults import DeadlockError, MemoryFault

PROLOGUE = """
    .reg .b64 %x, %y, %a, %b, %rd<20>; .reg .b32 %t, %s, %r<40>; .reg .f32 %f<9>; .reg .pred %p<9>; .reg .b16 %h<5>;
    .shared .align 16 .b8 tile[2048]; .shared .align 8 .b64 full; .shared .align 8 .b64 empty;
    ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u32 %t, %tid.x;
    mad.wide.u32 %a, %t, 16, %x; mad.wide.u32 %b, %t, 16, %y; mov.u32 %s, tile; mad.lo.u32 %s, %t, 16, %s;
"""
EMPTY = "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%s]; st.global.v4.b32 [%b], {%r1, %r2, %r3, %r4};"


def text(body: str) -> str:
    return f"{HEAD}.visible .entry k(.param .u64 x, .param .u64 y)\n{{{PROLOGUE}{body}\nret;\n}}\n"


def run(
    body: str, x: np.ndarray, y: np.ndarray, threads: int = 32, options: CompileOptions | None = None
) -> np.ndarray:
    device = Device(text(body), options=options)
    out = device.upload(y)
    device.launch("k", 1, threads, device.upload(x), out, max_instructions=50_000_000)
    return out.download()


def agreed(body: str, x: np.ndarray, y: np.ndarray, threads: int = 32) -> np.ndarray:
    """What the executor gives with and without compiling; the reference gives the same."""
    reference = ReferenceDevice(text(body))
    out = reference.upload(y)
    reference.launch("k", 1, threads, reference.upload(x), out)
    for options in (None, CompileOptions()):
        np.testing.assert_array_equal(run(body, x, y, threads, options), out.download())
    return out.download()


X = np.arange(1, 257, dtype=np.uint16).reshape(32, 8)
Y = np.zeros((32, 8), np.uint16)
WAIT = "cp.async.commit_group; cp.async.wait_group 0;"


@pytest.mark.parametrize("size", [4, 8, 16])
def test_a_copy_of_each_size(size: int) -> None:
    body = f"st.shared.v4.b32 [%s], {{0, 0, 0, 0}}; cp.async.ca.shared.global.L2::128B [%s], [%a], {size}; "
    found = agreed(body + "cp.async.wait_all;" + EMPTY, X, Y)
    expected = np.where(np.arange(8) < size // 2, X, 0)
    np.testing.assert_array_equal(found, expected)


def test_fewer_bytes_read_leave_zeros() -> None:
    """Thread t reads t bytes of 16, those from 16 on all."""
    body = "st.shared.v4.b32 [%s], {-1, -1, -1, -1}; min.u32 %r9, %t, 16; "
    found = agreed(f"{body} cp.async.cg.shared.global [%s], [%a], 16, %r9; {WAIT} {EMPTY}", X, Y)
    count = np.minimum(np.arange(32), 16)
    expected = np.where(np.arange(16) < count[:, None], X.view(np.uint8), 0)
    np.testing.assert_array_equal(found.view(np.uint8), expected)


def test_a_predicate_ignores_the_source_even_where_there_is_none() -> None:
    body = "setp.gt.u32 %p1, %t, 3; createpolicy.fractional.L2::evict_last.b64 %rd5, 0.5; mul.lo.u32 %r9, %t, 64; "
    body += "mad.wide.u32 %a, %r9, 1024, %a; st.shared.v4.b32 [%s], {-1, -1, -1, -1}; "
    body += f"cp.async.cg.shared.global.L2::cache_hint [%s], [%a], 16, %p1, %rd5; {WAIT} {EMPTY}"
    x = (np.arange(1, 3 * 32768 + 33) % 65536).astype(np.uint16)
    found = agreed(body, x, Y)
    assert found[:4, 0].tolist() == [(t * 65536 + t * 16) // 2 % 65536 + 1 for t in range(4)]
    assert not found[4:].any()


def test_a_double_buffered_pipeline() -> None:
    """Eight tiles of 512 bytes come in while the one before is summed: y[t] = sum of x[tile][t], 16-byte columns."""
    body = """
    mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0; mov.u32 %r14, 0; mov.u32 %r15, 0;
    cp.async.cg.shared.global [%s], [%a], 16; cp.async.commit_group;
    LOOP:
    add.u32 %r14, %r14, 1; setp.ge.u32 %p1, %r14, 8; @%p1 bra LAST;
    mad.wide.u32 %rd1, %r14, 512, %a; and.b32 %r16, %r14, 1; mad.lo.u32 %r16, %r16, 512, %s;
    cp.async.cg.shared.global [%r16], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 1; bra.uni SUM;
    LAST: cp.async.wait_group 0;
    SUM: bar.sync 0;
    sub.u32 %r17, %r14, 1; and.b32 %r17, %r17, 1; mad.lo.u32 %r17, %r17, 512, %s;
    ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r17];
    add.u32 %r10, %r10, %r1; add.u32 %r11, %r11, %r2; add.u32 %r12, %r12, %r3; add.u32 %r13, %r13, %r4;
    bar.sync 0; @!%p1 bra LOOP;
    st.global.v4.b32 [%b], {%r10, %r11, %r12, %r13};
    """
    x = np.arange(8 * 32 * 4, dtype=np.uint32).reshape(8, 32, 4)
    np.testing.assert_array_equal(agreed(body, x, np.zeros((32, 4), np.uint32)), x.sum(axis=0))


PRODUCER_CONSUMER = """
    setp.eq.u32 %p1, %t, 0;
    @%p1 mbarrier.init.shared.b64 [full], 32; @%p1 mbarrier.init.shared::cta.b64 [empty], 32;
    fence.mbarrier_init.release.cluster; bar.sync 0;
    mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r5, full; mov.u32 %r6, empty;
    setp.ge.u32 %p2, %t, 32; and.b32 %r7, %t, 31; mad.lo.u32 %r8, %r7, 4, 0; mov.u32 %r9, tile; add.u32 %r9, %r9, %r8;
    @%p2 bra CONSUMER;
    PRODUCER:
    and.b32 %r12, %r10, 1; xor.b32 %r12, %r12, 1;
    FREE: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [%r6], %r12, 1000; @!%p3 bra FREE;
    mad.lo.u32 %r13, %r10, 100, %t; st.shared.u32 [%r9], %r13;
    mbarrier.arrive.shared.b64 %rd1, [%r5];
    add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 5; @%p4 bra PRODUCER; bra.uni END;
    CONSUMER:
    and.b32 %r12, %r10, 1;
    FULL: mbarrier.test_wait.parity.shared.b64 %p3, [%r5], %r12; @!%p3 bra FULL;
    ld.shared.u32 %r13, [%r9]; mad.lo.u32 %r11, %r11, 3, %r13;
    mbarrier.arrive.release.cta.shared::cta.b64 _, [%r6];
    add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 5; @%p4 bra CONSUMER;
    mad.wide.u32 %b, %r7, 4, %y; st.global.u32 [%b], %r11;
    END: bar.sync 0;
"""


def test_a_producer_and_a_consumer_take_turns() -> None:
    """Round i brings 100 i + t; the consumer makes 3 s + it of its sum s, five times."""
    found = agreed(PRODUCER_CONSUMER, X, np.zeros(32, np.uint32), 64)
    expected: NDArray[Any] = np.zeros(32, np.uint32)
    for i in range(5):
        expected = 3 * expected + 100 * i + np.arange(32, dtype=np.uint32)
    np.testing.assert_array_equal(found, expected)


BULK = """
    setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1; bar.sync 0;
    @!%p1 bra WAIT;
    mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [full], 512;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%x], 256, [full];
    add.u32 %r5, %s, 256; add.u64 %rd2, %x, 256;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r5], [%rd2], 256, [full];
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0; @!%p2 bra WAIT;
"""


def test_bulk_copies_complete_the_bytes_that_a_barrier_awaits() -> None:
    np.testing.assert_array_equal(agreed(BULK + EMPTY, X, Y, 32), X)


def test_bulk_copy_back_and_reduction() -> None:
    """y = 7 + x by 32-bit words, then shared memory goes on top of the second half as it is."""
    body = (
        BULK
        + """
    fence.proxy.async.shared::cta; bar.warp.sync -1;
    @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%y], [tile], 512;
    add.u64 %rd3, %y, 256;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd3], [tile], 256;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
    """
    )
    x = np.arange(128, dtype=np.uint32)
    found = agreed(body, x, np.full(128, 7, np.uint32))
    np.testing.assert_array_equal(found, [*(x[:64] + 7), *x[:64]])


def test_a_reduction_of_a_broken_element_stays_inside_its_bytes() -> None:
    """20 bytes are two and a half elements of 8: the half is left alone, at the very end of the buffer too."""
    body = "mov.u64 %rd1, 5; st.shared.u64 [%s], %rd1; setp.eq.u32 %p1, %t, 0; bar.warp.sync -1; "
    body += "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%y], [tile], 20;"
    found = run(body, X, np.full(5, 7, np.uint32))
    assert found.tolist() == [12, 7, 7, 7, 7]


def test_the_life_of_an_mbarrier() -> None:
    """Two arrivals awaited: pending counts 2, 1; the second arrival completes phase 0, of which the first's state is.
    In phase 1 one arrival drops out: phase 2 awaits one only, and bytes."""
    body = """
    mov.u32 %r5, full; mbarrier.init.shared.b64 [%r5], 2;
    mbarrier.arrive.shared.b64 %rd1, [%r5]; mbarrier.pending_count.b64 %r1, %rd1;
    mbarrier.test_wait.shared.b64 %p1, [%r5], %rd1; selp.u32 %r10, 1, 0, %p1;
    mbarrier.arrive.noComplete.shared.b64 %rd2, [%r5], 0; mbarrier.arrive.shared.b64 %rd2, [%r5], 1;
    mbarrier.pending_count.b64 %r2, %rd2;
    mbarrier.test_wait.shared.b64 %p1, [%r5], %rd1; selp.u32 %r11, 1, 0, %p1;
    mbarrier.test_wait.parity.shared.b64 %p1, [%r5], 0; selp.u32 %r12, 1, 0, %p1;
    mbarrier.test_wait.parity.shared.b64 %p1, [%r5], 1; selp.u32 %r13, 1, 0, %p1;
    mbarrier.arrive_drop.shared.b64 %rd3, [%r5]; mbarrier.arrive.shared.b64 %rd3, [%r5];
    mbarrier.test_wait.parity.shared.b64 %p1, [%r5], 1; selp.u32 %r14, 1, 0, %p1;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 48;
    mbarrier.arrive.shared.b64 %rd4, [%r5]; mbarrier.pending_count.b64 %r3, %rd4;
    mbarrier.complete_tx.shared.b64 [%r5], 32;
    mbarrier.test_wait.shared.b64 %p1, [%r5], %rd4; selp.u32 %r15, 1, 0, %p1;
    mov.u32 %r6, tile; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r6], {7, 8}, [%r5];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r6], 1, [%r5];
    mbarrier.test_wait.shared.b64 %p1, [%r5], %rd4; selp.u32 %r16, 1, 0, %p1;
    ld.shared.u32 %r17, [%r6]; mbarrier.inval.shared.b64 [%r5];
    st.global.v4.u32 [%y], {%r1, %r2, %r3, %r17}; st.global.v4.u32 [%y+16], {%r10, %r11, %r12, %r13};
    st.global.v4.u32 [%y+32], {%r14, %r15, %r16, 0};
    """
    found = agreed(body, X, np.zeros(12, np.uint32), 1)
    assert found.tolist() == [2, 1, 1, 8, 0, 1, 1, 0, 1, 0, 1, 0]


def test_asynchronous_stores_and_sums_in_global_memory_are_there_at_once() -> None:
    """Thread t writes t and 2t to its row; all add t to the first word of row 0, which thread 0 had set to 5."""
    body = """
    cvt.u16.u32 %h1, %t; add.u16 %h1, %h1, %h1; mov.u32 %r1, 5; setp.eq.u32 %p1, %t, 0;
    st.async.release.gpu.global.u32 [%b+8], %t; st.async.mmio.release.sys.u16 [%b+12], %h1;
    @%p1 st.async.release.sys.global.b32 [%b], %r1;
    red.async.mmio.release.sys.global.add.u32 [%y], %t; red.async.release.gpu.add.u64 [%b+8], 256;
    red.async.release.sys.or.b32 [%b+12], 0x10000;
    """
    found = agreed(body, X, Y)
    t = np.arange(32)
    assert found[:, 0].tolist() == [5 + t.sum(), *[0] * 31]
    np.testing.assert_array_equal(found[:, 4:], np.stack([t + 256, 0 * t, 2 * t, 0 * t + 1], axis=1))


def test_copies_arrive_at_an_mbarrier() -> None:
    body = """
    setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [full], 32; bar.sync 0;
    cp.async.ca.shared.global [%s], [%a], 16;
    cp.async.mbarrier.arrive.shared.b64 [full];
    mbarrier.test_wait.parity.shared.b64 %p2, [full], 0; @%p2 st.shared.u32 [%s], 999;
    cp.async.mbarrier.arrive.noinc.shared.b64 [full];
    WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [full], 0; @!%p2 bra WAIT;
    """
    np.testing.assert_array_equal(agreed(body + EMPTY, X, Y), X)


def test_the_barrier_of_a_cluster_of_one_block() -> None:
    """Each warp writes, the other reads after the wait; the arrival waits for nobody."""
    body = """
    st.shared.u32 [%s], %t; barrier.cluster.arrive.release.aligned;
    mapa.shared::cluster.u32 %r5, %s, 0; getctarank.shared::cluster.u32 %r6, %r5; mov.u32 %r7, %cluster_nctarank;
    barrier.cluster.wait.acquire.aligned;
    xor.b32 %r1, %t, 32; mov.u32 %r2, tile; mad.lo.u32 %r2, %r1, 16, %r2; ld.shared::cluster.u32 %r3, [%r2];
    mad.lo.u32 %r3, %r6, 1000, %r3; mad.lo.u32 %r3, %r7, 100, %r3;
    mad.wide.u32 %b, %t, 4, %y; st.global.u32 [%b], %r3; barrier.cluster.arrive; barrier.cluster.wait;
    """
    for options in (None, CompileOptions()):
        found = run(body, X, np.zeros(64, np.uint32), 64, options)
        assert found.tolist() == [100 + (t ^ 32) for t in range(64)]


def test_a_wait_that_nothing_ends_is_a_deadlock_that_names_the_instruction() -> None:
    body = "mov.u32 %r5, full; setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%r5], 2; bar.sync 0;\n"
    body += "@%p1 mbarrier.arrive.shared.b64 _, [%r5];\n"
    body += "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 0; @!%p2 bra WAIT;"
    with pytest.raises(
        DeadlockError, match=r"block \(0,0,0\), thread \(\d+,0,0\), instruction 'mbarrier.try_wait.*nev"
    ):
        run(body, X, Y, 64)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("cp.async.ca.shared.global [%s+4], [%a], 8;", "address 0x4 is not a multiple of 8 bytes"),
        ("cp.async.cg.shared.global [%s], [%a+512], 16;", r"0x\w+ is out of bounds: 0 bytes past the end of"),
        ("cp.async.cg.shared.global [%s+2048], [%a], 16;", "0x810 is out of bounds: the block has 2064 bytes of sh"),
        ("cp.async.bulk.global.shared::cta.bulk_group [%y], [tile], 528;", "thread .0,0,0.*past the end|at byte 0"),
        ("mov.u32 %r1, 4; mbarrier.init.shared.b64 [%r1], 1;", "address 0x4 is not a multiple of 8 bytes"),
    ],
)
def test_copies_outside_or_askew(body: str, message: str) -> None:
    with pytest.raises(MemoryFault, match=message):
        run(
            f"mov.u32 %r30, full; mov.u32 %r31, empty; ld.shared.u64 %rd9, [%r30]; ld.shared.u64 %rd9, [%r31];{body}",
            X,
            Y,
        )
