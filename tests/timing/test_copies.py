"""Asynchronous copies: their memory traffic, and the warps that wait for them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.timing.assembly import one_warp
from tests.timing.both_cores import agreed, compare, fast
from tests.timing.launches import FULL, recorded
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Pipe, Sm
from tests.timing.reference.machine_file import sm_of
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.vocabulary import timed

from warpreg import gpu, simt
from warpreg.timing.feed.feed import feed

FAST = Sm(queue=8, pipes={name: Pipe(latency=1) for name in PIPES})
COPY = "cp.async.ca.shared.global [R0], [R4], 4"
COMMIT = "cp.async.commit_group"
LATENCY = 20
THREADS = 64
STAGED = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry staged(.param .u64 from, .param .u64 to)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    .shared .align 16 .b8 stage[1024];
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 16;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    shl.b32 %r2, %r1, 4;
    mov.u32 %r3, stage;
    add.s32 %r4, %r3, %r2;
    cp.async.cg.shared.global [%r4], [%rd4], 16;
    cp.async.wait_all;
    ld.shared.u32 %r5, [%r4];
    st.global.u32 [%rd5], %r5;
    ret;
}
"""


def line(number: int) -> Access:
    return Access(FULL, "global", 0, ((128 * number, 15),))


@pytest.mark.parametrize(
    ("wait", "goes_on"),
    [
        ("cp.async.wait_group 0", 24),
        ("cp.async.wait_group 1", 22),
        ("cp.async.wait_group 2", 7),
        ("cp.async.wait_all", 26),
    ],
)
def test_a_wait_is_for_the_copies_of_all_groups_but_the_last_ones(wait: str, goes_on: int) -> None:
    """Copies issue at 1, 3 and 5, are sent one cycle later and back 20 after that; groups are committed at 2 and 4.

    Nobody has committed the third copy, which only `wait_all` waits for.  The wait issues at 6.
    """
    text = "\n".join((COPY, COMMIT, COPY, COMMIT, COPY, wait, "mov.b32 R1, 1"))
    run = agreed(one_warp(text, line(0), line(1), line(2)), FAST, LATENCY)
    run.warp(0).issues("cp").at(1, 2, 3, 4, 5, 6)
    run.warp(0).issues("mov").at(goes_on)


def test_what_copies_read_is_recorded_and_takes_its_time_in_memory() -> None:
    """Each warp reads 512 bytes, in the same 128-byte lines as it writes, and cannot go on before they are there."""
    device = simt.Device(STAGED, record=simt.Record(path=True, addresses=True))
    source = device.upload(np.arange(4 * THREADS, dtype=np.uint32))
    target = device.zeros(4 * THREADS, np.uint32)
    launch = device.launch("staged", 1, THREADS, source, target)
    assert target.download()[::4].tolist() == list(range(0, 4 * THREADS, 4))
    assert launch.trace is not None
    launched = recorded(launch.kernel, feed(launch.trace, launch.kernel))
    for number, warp in enumerate(launched.blocks[0]):
        read, _, written = warp.accesses
        first = source.address + 512 * number
        assert [place for place, _ in read.transactions] == [first + 128 * i for i in range(4)]
        assert len(written.transactions) == 4
    machine = gpu.load("gebhart")
    slow = timed(launched, sm_of(machine), PackageMemory(machine, 1))
    compare(slow, fast(launched, machine, 1, 8))
    assert slow.stalls.counts["fence"] > 2 * machine.latency.dram
