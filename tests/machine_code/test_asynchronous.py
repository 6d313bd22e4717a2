"""Bulk copies and mbarriers in the code of ``ptxas`` for sm_90: what PTX leaves, natively and interpreted."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.machine_code.reference.paired import Paired
from tests.tensor.test_asynchronous import BULK, EMPTY, PRODUCER_CONSUMER, X, Y, run, text
from tests.tensor.test_random_sequences import ACTIONS, program

ARCHITECTURE = "sm_90"


def compared(body: str, x: NDArray[Any], y: NDArray[Any], threads: int = 32) -> NDArray[Any]:
    """What machine code leaves in ``y``: the interpreter of listings leaves the same, and so does PTX."""
    pytest.importorskip("nvidia")
    source = re.sub(r"\.version \S+\n\.target \S+", f".version 8.6\n.target {ARCHITECTURE}", text(body))
    device = Paired.assembled(source, ARCHITECTURE)
    out = device.upload(y)
    device.launch("k", 1, threads, device.upload(x), out)
    assert (device.compared, device.differences) == (1, [])
    np.testing.assert_array_equal(out.download(), run(body, x, y, threads))
    return out.download()


SETUP = "setp.eq.u32 %p1, %t, 0; mov.u32 %r5, full; @%p1 mbarrier.init.shared.b64 [%r5], 32; bar.sync 0; "
NOTE = "mad.wide.u32 %b, %t, 16, %y; selp.u32 %r1, 1, 0, %p2; st.global.u32 [%b], %r1; "
ARRIVED = "mbarrier.test_wait.parity.shared.b64 %p2, [%r5], 0; "


def test_a_producer_and_a_consumer_take_turns() -> None:
    compared(PRODUCER_CONSUMER, X, np.zeros(32, np.uint32), 64)


@pytest.mark.parametrize("operation", ["add.u32", "min.s32", "xor.b64", "add.f32"])
def test_a_block_is_copied_in_and_reduced_out(operation: str) -> None:
    body = (
        BULK
        + f"""
    fence.proxy.async.shared::cta; bar.warp.sync -1;
    @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation} [%y], [tile], 256;
    add.u64 %rd3, %y, 256;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd3], [tile], 256;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
    """
    )
    x = np.arange(128, dtype=np.uint32) if "f32" not in operation else np.arange(128, dtype=np.float32).view(np.uint32)
    found = compared(body, x, np.full(128, 7, np.uint32))
    np.testing.assert_array_equal(found[64:], x[:64])
    if operation == "add.u32":
        np.testing.assert_array_equal(found[:64], x[:64] + 7)


def test_each_lane_copies_a_block_of_its_own() -> None:
    """Lane t brings 16 (t mod 4 + 1) bytes from row t, and row t of shared memory goes to row 31 - t."""
    body = (
        SETUP
        + """
    and.b32 %r6, %t, 3; add.u32 %r6, %r6, 1; mul.lo.u32 %r6, %r6, 16;
    mov.u32 %s, tile; mad.lo.u32 %s, %t, 64, %s; mad.wide.u32 %a, %t, 64, %x;
    mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r5], %r6;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], %r6, [%r5];
    WAIT: mbarrier.try_wait.shared.b64 %p2, [%r5], %rd1, 100; @!%p2 bra WAIT;
    sub.u32 %r7, 31, %t; mad.wide.u32 %b, %r7, 64, %y;
    cp.async.bulk.global.shared::cta.bulk_group [%b], [%s], %r6;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    """
    )
    x = np.arange(512, dtype=np.uint32).reshape(32, 16)
    found = compared(body, x, np.zeros((32, 16), np.uint32))
    expected = np.where(np.arange(16) < 4 * (np.arange(32)[:, None] % 4 + 1), x, 0)
    np.testing.assert_array_equal(found[::-1], expected)


def test_a_block_moves_inside_shared_memory() -> None:
    body = (
        SETUP
        + """
    mov.u32 %s, tile; mad.lo.u32 %r8, %t, 4, %s; st.shared.u32 [%r8], %t; bar.sync 0; add.u32 %r9, %s, 1024;
    @%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 256;
    @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r9], [%s], 128, [%r5];
    @%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32
        [%r9], [%s], 128, [%r5];
    mbarrier.arrive.shared.b64 _, [%r5];
    WAIT: mbarrier.test_wait.parity.shared.b64 %p2, [%r5], 0; @!%p2 bra WAIT;
    ld.shared.u32 %r1, [%r8+1024]; mad.wide.u32 %b, %t, 4, %y; st.global.u32 [%b], %r1;
    """
    )
    assert compared(body, X, np.zeros(32, np.uint32)).tolist() == [2 * t for t in range(32)]


def test_mbarriers_of_each_lane() -> None:
    """Lane t makes one for t mod 3 + 1 arrivals, arrives twice, once and drops one, and notes the phase each time."""
    body = """
    mov.u32 %s, tile; mad.lo.u32 %r5, %t, 8, %s; rem.u32 %r6, %t, 3; add.u32 %r6, %r6, 1;
    mbarrier.init.shared.b64 [%r5], %r6;
    mbarrier.arrive.shared.b64 %rd1, [%r5]; mbarrier.pending_count.b64 %r10, %rd1;
    mbarrier.test_wait.parity.shared.b64 %p1, [%r5], 0; selp.u32 %r11, 1, 0, %p1;
    setp.gt.u32 %p3, %r6, 1; @%p3 mbarrier.arrive_drop.shared.b64 %rd2, [%r5];
    mbarrier.test_wait.parity.shared.b64 %p1, [%r5], 0; selp.u32 %r12, 1, 0, %p1;
    mbarrier.test_wait.shared.b64 %p1, [%r5], %rd1; selp.u32 %r13, 1, 0, %p1;
    mbarrier.inval.shared.b64 [%r5];
    mad.wide.u32 %b, %t, 16, %y; st.global.v4.u32 [%b], {%r10, %r11, %r12, %r13};
    """
    found = compared(body, X, np.zeros((32, 4), np.uint32))
    counts = np.arange(32) % 3 + 1
    expected = np.stack([counts, counts == 1, counts <= 2, counts <= 2], axis=1)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", ["", ".noinc"])
def test_small_copies_arrive(kind: str) -> None:
    """Without ``.noinc``, 32 lanes have to arrive by themselves."""
    body = (
        SETUP
        + f"cp.async.ca.shared.global [%s], [%a], 16; cp.async.mbarrier.arrive{kind}.shared.b64 [%r5]; "
        + ARRIVED
        + NOTE
        + ("" if kind else "mbarrier.arrive.shared.b64 _, [%r5]; ")
        + "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 0; @!%p2 bra WAIT; add.u64 %b, %b, 512; "
        + EMPTY
    )
    found = compared(body, X, np.zeros((64, 8), np.uint16))
    assert found[:32, 0].tolist() == [int(bool(kind))] * 32
    np.testing.assert_array_equal(found[32:], X)


def test_one_lane_is_elected() -> None:
    body = "elect.sync %r2|%p2, -1; " + NOTE
    assert compared(body, X, Y)[:, 0].tolist() == [1] + [0] * 31


STATE = "ld.global.u64 %rd1, [%x];"
"""The first state, of parity 0, in place of one that ``noComplete`` gives."""


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.integers(1, 5), ACTIONS)
def test_any_sequence_of_mbarrier_operations(count: int, actions: list[tuple[int, int, int]]) -> None:
    """A state without arrivals that waits for bytes has 0 pending ones in PTX, and 2**20 in the code of ``ptxas``."""
    body = program(count, actions).replace("mbarrier.arrive.noComplete.shared.b64 %rd1, [%r5], 0;", STATE)
    body = body.replace("st.global.v4", "and.b32 %r1, %r1, 0xfffff; st.global.v4")
    compared(body, Y, np.zeros((12, 4), np.uint32), 1)
