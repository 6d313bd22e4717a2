"""Barriers: waits, counts, arrivals, reductions; effects of divergence and early exits."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simt.programs import Runner, prepare, words

from warpreg.simt import DeadlockError, Record
from warpreg.simt.kernel.block_ends import Ends
from warpreg.trace import visits

EXCHANGE = """
.shared .align 4 .b32 buf[128];
mov.u32 %r1, buf;
mad.lo.u32 %r2, %t, 4, %r1;
"""
"""Each thread's word of ``buf`` at %r2."""


def test_writes_before_a_barrier_are_seen_behind_it(run: Runner) -> None:
    # Thread t reads what thread 127 - t wrote, four times in a row: every warp waits for every other.
    body = (
        EXCHANGE
        + """
    sub.u32 %r3, 127, %t;
    mad.lo.u32 %r4, %r3, 4, %r1;
    mov.u32 %r5, %t;
    mov.u32 %r6, 0;
    L: st.shared.u32 [%r2], %r5;
    bar.sync 0;
    ld.shared.u32 %r5, [%r4];
    barrier.sync 0;
    add.u32 %r5, %r5, 1;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p1, %r6, 3;
    @%p1 bra L;
    st.global.u32 [%my_out], %r5;
    """
    )
    out = run(body, block=128, out=np.zeros(128, np.uint32))["out"]
    assert out.tolist() == [127 - t + 3 for t in range(128)]


def test_two_barriers_with_counts_are_apart(run: Runner) -> None:
    # Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2, each pair for itself; the number is in a register.
    body = (
        EXCHANGE
        + """
    shr.u32 %r3, %t, 6;
    add.u32 %r4, %r3, 1;
    xor.b32 %r5, %t, 32;
    mad.lo.u32 %r5, %r5, 4, %r1;
    st.shared.u32 [%r2], %t;
    barrier.sync %r4, 64;
    ld.shared.u32 %r6, [%r5];
    st.global.u32 [%my_out], %r6;
    """
    )
    out = run(body, block=128, out=np.zeros(128, np.uint32))["out"]
    assert out.tolist() == [t ^ 32 for t in range(128)]


@pytest.mark.parametrize("threads", [64, (1 << 32) + 64])
def test_a_count_has_32_bits(run: Runner, threads: int) -> None:
    body = f"""
    setp.lt.u32 %p1, %t, 32;
    @%p1 bra MEET;
    st.global.u32 [%flag], 5;
    MEET: bar.sync 1, {threads};
    ld.global.u32 %r1, [%flag];
    st.global.u32 [%my_out], %r1;
    """
    assert run(body, block=64, flag=words(0), out=np.zeros(64, np.uint32))["out"].tolist() == [5] * 64


def test_a_negative_count_is_one_that_no_block_has(run: Runner) -> None:
    # 2**32 - 1 threads; with one more bit than a count has, the first warp would not wait.
    with pytest.raises(DeadlockError, match=r"warp 0 waits at barrier 1.*; warp 1 waits at barrier 1"):
        run(f"bar.sync 1, {(1 << 64) - 1};", block=64)


def test_the_number_comes_from_a_lane_that_takes_part(run: Runner) -> None:
    # Lane 0 of every warp has left, with a barrier number of its own.
    body = """
    and.b32 %r1, %t, 31;
    mov.u32 %r2, 3;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mov.u32 %r2, %t_width;
    @%p1 bra DONE;
    barrier.sync %r2, 64;
    barrier.red.popc.u32 %r3, %r2, 64, !%p1;
    st.global.u32 [%my_out], %r3;
    DONE:
    """
    out = run(body, block=64, out=np.zeros(64, np.uint32))["out"]
    assert out.tolist() == [0 if t % 32 == 0 else 62 for t in range(64)]


def test_arrive_does_not_wait(run: Runner) -> None:
    # Warp 0 writes, arrives and goes on to its end; warp 1 waits for it.
    body = (
        EXCHANGE
        + """
    setp.ge.u32 %p1, %t, 32;
    @%p1 bra CONSUME;
    st.shared.u32 [%r2], %t;
    bar.arrive 1, 64;
    atom.global.add.u32 %r9, [%done], 1;
    bra END;
    CONSUME: bar.sync 1, 64;
    ld.shared.u32 %r3, [%r2-128];
    add.u32 %r3, %r3, 100;
    st.global.u32 [%my_out], %r3;
    END:
    """
    )
    outcome = run(body, block=64, done=words(0), out=np.zeros(64, np.uint32))
    assert outcome["out"].tolist() == [0] * 32 + [100 + t for t in range(32)]
    assert outcome["done"].tolist() == [32]


def test_a_consumer_that_comes_first_waits_for_the_producers_arrival(run: Runner) -> None:
    body = (
        EXCHANGE
        + """
    setp.lt.u32 %p1, %t, 32;
    @%p1 bra CONSUME;
    st.shared.u32 [%r2], %t;
    barrier.arrive 1, 64;
    bra END;
    CONSUME: barrier.sync 1, 64;
    ld.shared.u32 %r3, [%r2+128];
    st.global.u32 [%my_out], %r3;
    END:
    """
    )
    assert run(body, block=64, out=np.zeros(64, np.uint32))["out"].tolist() == [*range(32, 64), *[0] * 32]


@pytest.mark.parametrize("threads", [96, 80])
def test_reductions_over_the_block(run: Runner, threads: int) -> None:
    # The predicate holds for every third thread; then for all but one; then for none.
    body = """
    rem.u32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 0;
    setp.ne.u32 %p2, %t, 70;
    setp.gt.u32 %p3, %t, 999;
    bar.red.popc.u32 %r2, 0, %p1;
    bar.red.and.pred %p4, 0, %p2;
    bar.red.or.pred %p5, 0, %p1;
    barrier.red.and.pred %p6, 1, !%p3;
    barrier.red.or.pred %p7, 2, %p3;
    selp.u32 %r3, 1000, 0, %p4; selp.u32 %r4, 2000, 0, %p5; selp.u32 %r5, 4000, 0, %p6; selp.u32 %r6, 8000, 0, %p7;
    add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5; add.u32 %r2, %r2, %r6;
    st.global.u32 [%my_out], %r2;
    """
    out = run(body, grid=2, block=threads, out=np.zeros(2 * threads, np.uint32))["out"]
    # In block 1 thread 70 of the grid lies in block 0, so all of its predicates hold; its count of multiples of three.
    counts = [len([t for t in range(first, first + threads) if t % 3 == 0]) for first in (0, threads)]
    assert out.tolist() == [counts[0] + 6000] * threads + [counts[1] + 7000] * threads


def test_a_reduction_in_a_loop_starts_anew_each_time(run: Runner) -> None:
    body = """
    mov.u32 %r1, 0; mov.u32 %r2, 0;
    L: setp.le.u32 %p1, %t, %r1;
    bar.red.popc.u32 %r3, 0, %p1;
    mad.lo.u32 %r2, %r2, 10, %r3;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p2, %r1, 4;
    @%p2 bra L;
    st.global.u32 [%my_out], %r2;
    """
    assert run(body, block=64, out=np.zeros(64, np.uint32))["out"].tolist() == [1234] * 64


def test_a_warp_that_has_exited_is_not_waited_for(run: Runner) -> None:
    # Warp 1 exits at once, half of warp 2 too; the others meet twice.
    body = """
    shr.u32 %r1, %t, 5;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 exit;
    setp.ge.u32 %p2, %t, 80;
    @%p2 exit;
    bar.sync 0;
    atom.global.add.u32 %r2, [%count], 1;
    bar.sync 0;
    ld.global.u32 %r3, [%count];
    st.global.u32 [%my_out], %r3;
    """
    out = run(body, block=96, count=words(0), out=np.zeros(96, np.uint32))["out"]
    assert out.tolist() == [48] * 32 + [0] * 32 + [48] * 16 + [0] * 16


def test_warps_that_wait_go_on_when_the_last_other_one_exits(run: Runner) -> None:
    body = """
    setp.ge.u32 %p1, %t, 64;
    @%p1 bra LAST;
    bar.sync 0;
    ld.global.u32 %r1, [%flag];
    st.global.u32 [%my_out], %r1;
    bra DONE;
    LAST: st.global.u32 [%flag], 9;
    DONE:
    """
    out = run(body, block=96, flag=words(0), out=np.zeros(96, np.uint32))["out"]
    assert out.tolist() == [9] * 64 + [0] * 32


def test_blocks_and_the_driver_switch_warps_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    # Four warps meet twice in a loop that warp w leaves after w rounds; half of warp 3 exits before.
    body = """
    setp.ge.u32 %p1, %t, 112; @%p1 exit;
    shr.u32 %r1, %t, 5; mov.u32 %r2, 0;
    L: bar.sync 0; atom.global.add.u32 %r3, [%my_out], 1; bar.sync 0;
    add.u32 %r2, %r2, 1;
    setp.le.u32 %p2, %r2, %r1; @%p2 bra L;
    """
    out, found = np.zeros(128, np.uint32), []
    kernel = Runner(None)(body, block=128, out=out).launch.kernel
    for by_blocks in (True, False):
        monkeypatch.setattr(Ends, "all_wait", by_blocks)
        device, arguments = prepare(body, {"out": out}, record=Record(path=True))
        device.install(kernel)
        trace = device.launch("k", 1, 128, *arguments.values()).trace
        assert trace is not None
        path = [(v.thread_block, v.warp, v.block, v.mask) for v in visits(trace.path_chunks())]
        found.append((path, arguments["out"].download().tolist()))
    assert found[0] == found[1]
    rounds = [warp + 1 for warp in range(4) for _ in range(32)]
    assert found[0][1] == [n if t < 112 else 0 for t, n in enumerate(rounds)]


def test_both_sides_of_a_branch_may_hold_a_barrier(run: Runner) -> None:
    # A warp counts each time a part of it arrives; both warps arrive twice.
    body = """
    and.b32 %r1, %t, 1;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 bra ODD;
    atom.global.add.u32 %r2, [%count], 1;
    bar.sync 0;
    bra MEET;
    ODD: atom.global.add.u32 %r2, [%count], 100;
    bar.sync 0;
    MEET: bar.sync 0;
    ld.global.u32 %r3, [%count];
    st.global.u32 [%my_out], %r3;
    """
    assert run(body, block=64, count=words(0), out=np.zeros(64, np.uint32))["out"].tolist() == [32 + 3200] * 64


def test_a_barrier_that_a_guard_lets_a_whole_warp_pass_by(run: Runner) -> None:
    body = """
    setp.lt.u32 %p1, %t, 64;
    @%p1 bar.sync 1, 64;
    atom.global.add.u32 %r2, [%count], 1;
    bar.sync 0;
    ld.global.u32 %r3, [%count];
    st.global.u32 [%my_out], %r3;
    """
    assert run(body, block=96, count=words(0), out=np.zeros(96, np.uint32))["out"].tolist() == [96] * 96


def test_warp_barriers_only_mark_a_place(run: Runner) -> None:
    body = "bar.warp.sync -1; st.global.u32 [%my_out], %t;"
    assert run(body, out=np.zeros(32, np.uint32))["out"].tolist() == list(range(32))
