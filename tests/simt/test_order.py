"""The order on which results may depend: thread blocks, warps and lanes in sequence, lowest first."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simt.programs import Runner, prepare, words

from warpreg.simt import Device, Record
from warpreg.simt.launch import launch, launch_memory


@pytest.mark.parametrize("size", [8, 16, 32, 64])
@pytest.mark.parametrize("space", [".global", ""])
def test_of_stores_to_one_address_the_highest_lanes_stays(run: Runner, size: int, space: str) -> None:
    # Four lanes share each of eight elements: lane 4k+3 is the last of the group k.
    body = f"""
    shr.u32 %r1, %t, 2;
    mul.lo.u32 %r1, %r1, {size // 8};
    cvt.u64.u32 %rd1, %r1;
    add.u64 %rd1, %rd1, %out;
    cvt.u64.u32 %rd2, %t;
    cvt.u{size}.u32 {"%r2" if size < 64 else "%rd2"}, %t;
    st{space}.u{size} [%rd1], {"%r2" if size < 64 else "%rd2"};
    """
    out = run(body, out=np.zeros(8, f"u{size // 8}"))["out"]
    assert out.tolist() == [3, 7, 11, 15, 19, 23, 27, 31]


def test_all_lanes_to_one_address(run: Runner) -> None:
    assert run("st.global.u32 [%out], %t;", out=words(0))["out"].tolist() == [31]
    assert run("st.global.u32 [%out], %t;", block=20, grid=3, out=words(0))["out"].tolist() == [59]


def test_overlapping_unequal_steps(run: Runner) -> None:
    # Lane t stores at element t // 2 or, odd ones, at 16 + t // 2: both halves come from even and odd lanes.
    body = """
    shr.u32 %r1, %t, 1;
    and.b32 %r2, %t, 1;
    mad.lo.u32 %r1, %r2, 16, %r1;
    mad.wide.u32 %rd1, %r1, 4, %out;
    st.global.u32 [%rd1], %t;
    """
    assert run(body, out=np.zeros(32, np.uint32))["out"].tolist() == [*range(0, 32, 2), *range(1, 32, 2)]


TICKET = "atom.global.add.u32 %r1, [%count], 1; st.global.u32 [%my_out], %r1;"


def test_tickets_are_drawn_in_the_order_of_threads_and_blocks(run: Runner) -> None:
    outcome = run(TICKET, grid=3, block=48, count=words(5), out=np.zeros(144, np.uint32))
    assert outcome["out"].tolist() == list(range(5, 149))
    assert outcome["count"].tolist() == [149]


def test_float_atomics_add_in_that_order(run: Runner) -> None:
    # In float32, 2^24 + 1 is 2^24: the sum depends on the order of addition.
    values = np.tile(np.array([2.0**24, 1, 1, -(2.0**24), 0.5, 3e-8, 1e-9, 7], np.float32), 24)
    body = "ld.global.f32 %f1, [%my_x]; red.global.add.f32 [%sum], %f1; atom.global.add.f32 %f2, [%sum+4], %f1;"
    found = run(body, grid=3, block=64, x=values, sum=np.zeros(2, np.float32))["sum"]
    expected = np.float32(0)
    for value in values:
        expected = np.float32(expected + value)
    assert found.tolist() == [expected, expected]
    assert expected != np.float32(values.astype(np.float64).sum())


def test_lanes_that_fall_through_go_first(run: Runner) -> None:
    body = f"setp.ge.u32 %p1, %t, 20; @%p1 bra HIGH; {TICKET} bra DONE; HIGH: {TICKET} DONE:"
    for low, high in ((0, 20), (12, 0)):  # the lanes that jump are the high ones, then the low ones
        code = body if low == 0 else body.replace("setp.ge.u32 %p1, %t, 20", "setp.lt.u32 %p1, %t, 12")
        out = run(code, count=words(0), out=np.zeros(32, np.uint32))["out"].tolist()
        assert out[low : low + 20] == list(range(20))
        assert out[high : high + 12] == list(range(20, 32))


def test_warps_go_in_order_until_a_barrier(run: Runner) -> None:
    # Three warps draw once each before the barrier, then once each behind it.
    body = """
    and.b32 %r9, %t, 31;
    setp.eq.u32 %p1, %r9, 0;
    shr.u32 %r8, %t, 5;
    mad.wide.u32 %rd1, %r8, 4, %out;
    @%p1 atom.global.add.u32 %r1, [%count], 1;
    @%p1 st.global.u32 [%rd1], %r1;
    bar.sync 0;
    @%p1 atom.global.add.u32 %r1, [%count], 1;
    @%p1 st.global.u32 [%rd1+12], %r1;
    """
    assert run(body, block=96, count=words(0), out=np.zeros(6, np.uint32))["out"].tolist() == [0, 1, 2, 3, 4, 5]


def test_launches_follow_each_other_on_the_same_buffers() -> None:
    body = "ld.global.u32 %r1, [%my_x]; mad.lo.u32 %r1, %r1, %n, 1; st.global.u32 [%my_x], %r1;"
    device, arguments = prepare(body, {"x": words(*range(40)), "n": 0})
    for factor in (2, 3):
        device.launch("k", 2, 20, arguments["x"], factor)
    assert arguments["x"].download().tolist() == [(2 * n + 1) * 3 + 1 for n in range(40)]
    assert [done.arguments[1] for done in device.launches] == [2, 3]
    arguments["x"].write(words(*[7] * 40))
    late = device.upload(words(*[9] * 40), "late")
    device.launch("k", 2, 20, late, 10)
    device.launch("k", 1, 40, arguments["x"], 10)
    assert late.download().tolist() == [91] * 40
    assert arguments["x"].download().tolist() == [71] * 40


SHAPE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry shape(.param .u64 out)
{
.reg .b32 %r<40>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %ntid.x; mov.u32 %r2, %ntid.y; mov.u32 %r3, %ntid.z;
mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y; mov.u32 %r6, %nctaid.z;
mov.u32 %r11, %tid.x; mov.u32 %r12, %tid.y; mov.u32 %r13, %tid.z;
mov.u32 %r14, %ctaid.x; mov.u32 %r15, %ctaid.y; mov.u32 %r16, %ctaid.z;
mad.lo.u32 %r20, %r13, %r2, %r12; mad.lo.u32 %r20, %r20, %r1, %r11;
mad.lo.u32 %r21, %r16, %r5, %r15; mad.lo.u32 %r21, %r21, %r4, %r14;
mul.lo.u32 %r22, %r1, %r2; mul.lo.u32 %r22, %r22, %r3; mad.lo.u32 %r22, %r21, %r22, %r20;
mad.wide.u32 %rd2, %r22, 16, %rd1;
shl.b32 %r23, %r12, 8; or.b32 %r23, %r23, %r11; shl.b32 %r24, %r13, 16; or.b32 %r23, %r23, %r24;
shl.b32 %r25, %r15, 8; or.b32 %r25, %r25, %r14; shl.b32 %r24, %r16, 16; or.b32 %r25, %r25, %r24;
mov.u32 %r26, %warpid; mov.u32 %r27, %laneid;
st.global.v4.u32 [%rd2], {%r23, %r25, %r26, %r27};
ret;
}
"""


@pytest.mark.parametrize(
    ("grid", "block"), [(3, 33), ((2, 3), (5, 4)), ((2, 1, 3), (3, 5, 7)), ((1, 1, 2), (1, 1, 64)), (np.int64(2), [40])]
)
def test_grids_and_blocks_of_one_to_three_dimensions(run: Runner, grid: object, block: object) -> None:
    (gx, gy, gz), (bx, by, bz) = launch.dimensions(grid, "grid"), launch.dimensions(block, "block")  # type: ignore[arg-type]
    device = Device(SHAPE, options=run.options)
    out = device.zeros((gx * gy * gz * bx * by * bz, 4), np.uint32)
    done = device.launch("shape", grid, block, out)  # type: ignore[arg-type]
    blocks = [(x, y, z) for z in range(gz) for y in range(gy) for x in range(gx)]
    threads = [(x, y, z) for z in range(bz) for y in range(by) for x in range(bx)]
    expected = [
        [x | y << 8 | z << 16, bx_ | by_ << 8 | bz_ << 16, index // 32, index % 32]
        for bx_, by_, bz_ in blocks
        for index, (x, y, z) in enumerate(threads)
    ]
    assert out.download().tolist() == expected
    assert (done.grid, done.block) == ((gx, gy, gz), (bx, by, bz))
    assert done.warps == gx * gy * gz * -(-bx * by * bz // 32)


def test_a_warp_that_spins_lets_the_next_one_go(run: Runner) -> None:
    # Warp 0 waits for what warp 1 writes; it gets on when its time slice ends.
    body = """
    setp.ge.u32 %p1, %t, 32;
    @%p1 bra WRITE;
    L: ld.volatile.global.u32 %r1, [%flag];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra L;
    bra DONE;
    WRITE: mov.u32 %r1, 5; st.volatile.global.u32 [%flag], %r1;
    DONE: st.global.u32 [%my_out], %r1;
    """
    outcome = run(body, block=64, flag=words(0), out=np.zeros(64, np.uint32))
    assert outcome["out"].tolist() == [5] * 64
    assert outcome.launch.warp_instructions > launch_memory.SLICE


def test_clocks_count_the_warp_instructions_of_the_launch(run: Runner) -> None:
    # Each warp reads the clock in its first block, and again behind a branch in its last one.
    body = """
    mov.u64 %rd1, %clock64;
    setp.eq.u32 %p1, %t, 99; @%p1 bra NEXT;
    membar.gl;
    NEXT: mov.u32 %r1, %clock; mov.u32 %r2, %globaltimer_lo;
    cvt.u32.u64 %r3, %rd1;
    mad.wide.u32 %rd2, %t, 16, %out; st.global.v4.u32 [%rd2], {%r3, %r1, %r2, %r1};
    """
    outcome = run(body, block=64, out=np.zeros((64, 4), np.uint32))
    first, skipped, last = (len(block.instructions) for block in outcome.launch.kernel.blocks)
    expected = [[w * (first + skipped + last), *[w * (first + skipped + last) + first + skipped] * 3] for w in (0, 1)]
    assert outcome["out"][::32].tolist() == expected
    assert outcome["out"][31::32].tolist() == expected


RACE = """
mov.u32 %r2, 0;
L: ld.volatile.global.u32 %r1, [%x];
add.u32 %r1, %r1, %t;
st.volatile.global.u32 [%x], %r1;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 9000;
@%p1 bra L;
st.global.u32 [%my_out], %r1;
mov.u32 %r3, %clock;
st.global.u32 [%my_out+384], %r3;
"""


def test_a_race_comes_out_the_same_however_often_the_run_is_looked_after(monkeypatch: pytest.MonkeyPatch) -> None:
    # Three warps of 54,000 instructions each take turns of 20,000; a turn is not longer for having been interrupted.
    monkeypatch.setattr(launch_memory, "SLICE", 20_000)
    numbers = {"x": words(0), "out": np.zeros(192, np.uint32)}
    results = []
    for pause, recorded in ((1 << 30, False), (1 << 30, True), (7_000, False), (7_000, True)):
        for bound in ("FIRST_PAUSE", "MIN_PAUSE", "GREATEST_PAUSE"):
            monkeypatch.setattr(launch, bound, pause)
        device, arguments = prepare(RACE, numbers, record=Record(recorded, recorded, recorded))
        device.launch("k", 1, 96, *arguments.values())
        results.append([*arguments["out"].download().tolist(), *arguments["x"].download().tolist()])
    assert len({*results[0]}) > 2
    assert results == [results[0]] * 4
