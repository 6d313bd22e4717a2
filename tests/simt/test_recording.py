"""Recordings of a run: its path, the addresses of memory instructions, the widths of values."""

from __future__ import annotations

import gc
import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.simt.programs import COMPILED, Outcome, Runner, words
from tests.simt.recorded import accesses_of, path_of, widths_of

from warpreg.ir.address_space import GLOBAL_BASE, SHARED_WINDOW
from warpreg.simt import Record
from warpreg.simt.launch import launch_memory, recorder, second_thread
from warpreg.trace import Trace

EVERYTHING = Record(path=True, addresses=True, widths=True)
ADDRESSES = Record(path=True, addresses=True)
WIDTHS = Record(path=True, widths=True)
OUT = np.zeros(256, np.uint32)


def records(outcome: Outcome, opcode: str) -> list[list[tuple[int, int]]]:
    """For each execution of an opcode: (thread, address as distance from the first buffer) of its active lanes."""
    found = [
        a.by_thread(outcome.launch) for a in accesses_of(outcome.launch) if a.instruction.full_opcode.startswith(opcode)
    ]
    return [[(thread, address - GLOBAL_BASE) for thread, address in record.items()] for record in found]


BUSY = """
mov.u32 %r1, 0;
L: rem.u32 %r2, %t, 7;
add.u32 %r1, %r1, 1;
mad.lo.u32 %r3, %r1, 13, %t;
and.b32 %r3, %r3, 255;
mad.wide.u32 %rd1, %r3, 4, %out;
setp.eq.u32 %p1, %r2, 3;
@%p1 bra SKIP;
atom.global.add.u32 %r4, [%rd1], %r1;
SKIP: ld.global.u32 %r5, [%rd1];
@%p1 st.global.u32 [%my_out], %r5;
bar.sync 0;
setp.le.u32 %p2, %r1, %r2;
@%p2 bra L;
"""


def test_the_path_gives_block_visits_and_instructions(run: Runner) -> None:
    # Two counts taken in different places: the driver's own, and what the recorded path says.
    outcome = run(BUSY, grid=3, block=80, out=OUT, record=Record(path=True))
    path = path_of(outcome.launch)
    kernel = outcome.launch.kernel
    counts = np.bincount([visit.block for visit in path], minlength=len(kernel.blocks))
    assert outcome.launch.block_visits.tolist() == counts.tolist()
    assert outcome.launch.warp_instructions == sum(len(kernel.blocks[visit.block].instructions) for visit in path)
    assert {(visit.thread_block, visit.warp) for visit in path} == {(b, w) for b in range(3) for w in range(3)}
    assert [visit.thread_block for visit in path] == sorted(visit.thread_block for visit in path)
    assert all(0 < visit.mask < 1 << (16 if visit.warp == 2 else 32) for visit in path)


@pytest.mark.parametrize("record", [Record(), Record(path=True), ADDRESSES, WIDTHS, EVERYTHING, Record(addresses=True)])
def test_recording_changes_no_result(record: Record) -> None:
    run = Runner(COMPILED)
    plain, recorded = run(BUSY, grid=3, block=80, out=OUT), run(BUSY, grid=3, block=80, out=OUT, record=record)
    assert np.array_equal(plain["out"], recorded["out"])
    assert plain.launch.warp_instructions == recorded.launch.warp_instructions
    assert np.array_equal(plain.launch.block_visits, recorded.launch.block_visits)
    assert plain.launch.trace is None
    trace = recorded.launch.trace
    assert (trace is not None) == record.any
    if trace is not None:
        assert bool(list(trace.path_chunks())) == record.path
        assert bool(list(trace.address_chunks())) == record.addresses
        assert bool(list(trace.width_chunks())) == record.widths
        assert trace.totals["warp_instructions"] == recorded.launch.warp_instructions
        assert trace.header["kernel"] == "k"
        assert (trace.header["grid"], trace.header["block"]) == ([3, 1, 1], [80, 1, 1])


@pytest.mark.slow
def test_no_file_outlives_its_trace(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = Runner(COMPILED)
        run(BUSY, grid=3, block=80, out=OUT)
        trace = run(BUSY, grid=3, block=80, out=OUT, record=EVERYTHING).launch.trace
        assert trace is not None
        trace.save(tmp_path / "a")
        Trace.open(tmp_path / "a")
        del trace
        gc.collect()


@pytest.mark.parametrize("processors", [1, 2])
@pytest.mark.parametrize("stream_bytes", [64, 1000])
def test_a_recording_larger_than_its_buffers_is_whole(
    monkeypatch: pytest.MonkeyPatch, stream_bytes: int, processors: int
) -> None:
    second_thread.end()
    monkeypatch.setattr(second_thread, "may_use_two_processors", lambda: processors == 2)
    run = Runner(COMPILED)
    small = run(BUSY, grid=3, block=80, out=OUT, record=EVERYTHING).launch.trace
    monkeypatch.setattr(recorder, "BUFFER_BYTES", stream_bytes)
    cut = run(BUSY, grid=3, block=80, out=OUT, record=EVERYTHING).launch.trace
    assert small is not None
    assert cut is not None
    for name in ("path_chunks", "address_chunks", "width_chunks"):
        whole, parts = list(getattr(small, name)()), list(getattr(cut, name)())
        assert len(whole) == 1
        assert (len(parts) > 1) == (whole[0].nbytes > stream_bytes)
        assert np.concatenate(parts).tolist() == whole[0].tolist()


def test_path_chunks_break_between_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "BUFFER_BYTES", 16)
    trace = Runner(COMPILED)(BUSY, grid=3, block=80, out=OUT, record=Record(path=True)).launch.trace
    assert trace is not None
    for chunk in trace.path_chunks():
        numbers = iter(chunk.tolist())
        for word in numbers:
            if word & 3 in (1, 3):
                assert next(numbers, None) is not None


def test_a_time_slice_ends_between_visits_of_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each warp's own path is the same, however the warps take turns.
    body = "mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %t; @%p1 bra L; st.global.u32 [%my_out], %r1;"
    run, paths = Runner(COMPILED), []
    for turn in (1_000_000, 10):
        monkeypatch.setattr(launch_memory, "SLICE", turn)
        path = path_of(run(body, block=64, out=OUT, record=Record(path=True)).launch)
        paths.append([[(v.block, v.mask) for v in path if v.warp == warp] for warp in (0, 1)])
        turns = sum(a.warp != b.warp for a, b in itertools.pairwise(path))
        assert (turns > 1) == (turn == 10)
    assert paths[0] == paths[1]


AFFINE: dict[str, tuple[str, Any]] = {
    "neighbours": ("mad.wide.u32 %rd1, %t, 4, %out;", lambda t: 4 * t),
    "one address": ("add.u64 %rd1, %out, 20;", lambda t: 20),
    "backwards": ("sub.u32 %r1, 31, %t; mad.wide.u32 %rd1, %r1, 8, %out;", lambda t: 8 * (31 - t)),
    "wide steps": ("mul.wide.u32 %rd1, %t, 16; add.u64 %rd1, %rd1, %out;", lambda t: 16 * t),
}
IRREGULAR: dict[str, tuple[str, Any]] = {
    "halves": ("shr.u32 %r1, %t, 1; mad.wide.u32 %rd1, %r1, 4, %out;", lambda t: 4 * (t // 2)),
    "scattered": (
        "mul.lo.u32 %r1, %t, 11; and.b32 %r1, %r1, 31; mad.wide.u32 %rd1, %r1, 4, %out;",
        lambda t: 4 * (11 * t % 32),
    ),
    "far apart": (
        "and.b32 %r1, %t, 3; mul.lo.u32 %r1, %r1, 250000; mad.wide.u32 %rd1, %r1, 4, %out;",
        lambda t: 10**6 * (t % 4),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("shape", [*AFFINE, *IRREGULAR])
@pytest.mark.parametrize("lanes", ["t < 32", "t < 20", "t % 2 == 1", "t > 30"])
def test_addresses_of_every_shape_and_mask(shape: str, lanes: str) -> None:
    code, distance = {**AFFINE, **IRREGULAR}[shape]
    conditions = {
        "t < 32": "setp.lt.u32 %p1, %t, 32;", "t < 20": "setp.lt.u32 %p1, %t, 20;",
        "t > 30": "setp.gt.u32 %p1, %t, 30;",
        "t % 2 == 1": "and.b32 %r9, %t, 1; setp.eq.u32 %p1, %r9, 1;",
    }  # fmt: skip
    active = {"t < 32": range(32), "t < 20": range(20), "t > 30": [31], "t % 2 == 1": range(1, 32, 2)}[lanes]
    body = f"""
    {code}
    {conditions[lanes]}
    @!%p1 bra DONE;
    ld.global.u32 %r2, [%rd1];
    st.global.u8 [%rd1+3], %r2;
    ld.global.v2.u32 {{%r3, %r4}}, [%out];
    atom.global.add.u32 %r5, [%rd1], %r2;
    red.global.add.u32 [%rd1], %r3;
    ld.u32 %r6, [%rd1];
    add.u32 %r6, %r6, %r5;
    st.u32 [%rd1], %r6;
    DONE:
    """
    outcome = Runner(COMPILED)(body, out=np.zeros(750_100, np.uint32), record=ADDRESSES)
    expected = [(t, distance(t)) for t in active]
    for opcode in ("atom.global", "ld.global.u32", "red.global", "ld.u32", "st.u32"):
        assert (opcode, records(outcome, opcode)) == (opcode, [expected])
    assert records(outcome, "st.global.u8") == [[(t, a + 3) for t, a in expected]]
    assert records(outcome, "ld.global.v2") == [[(t, 0) for t in active]]


def test_addresses_in_a_loop_and_of_several_warps(run: Runner) -> None:
    body = """
    mov.u32 %r1, 0; mov.u32 %r3, 0;
    L: mad.lo.u32 %r2, %r1, 96, %t;
    mad.wide.u32 %rd1, %r2, 4, %x;
    ld.global.u32 %r4, [%rd1];
    add.u32 %r3, %r3, %r4;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 5;
    @%p1 bra L;
    """
    outcome = (
        run(body, grid=2, block=48, x=np.zeros(480, np.uint32), record=ADDRESSES)
        if run.options is None
        else run(body + "st.global.u32 [%my_x], %r3;", grid=2, block=48, x=np.zeros(480, np.uint32), record=ADDRESSES)
    )
    threads = [range(32), range(32, 48), range(48, 80), range(80, 96)]
    assert records(outcome, "ld.global") == [
        [(t, 4 * (96 * i + t)) for t in warp] for warp in threads for i in range(5)
    ]
    assert outcome.launch.trace is not None
    (chunk,) = outcome.launch.trace.address_chunks()
    # The first load of all in four words, every later one (new base, same stride) in one; a store likewise.
    assert len(chunk) == 4 + 19 + (0 if run.options is None else 4 + 3)


def test_masks_of_guarded_instructions(run: Runner) -> None:
    # In round i the lanes t < 10 i act; in rounds 0 and 4 none, and all.
    body = """
    mov.u32 %r1, 0;
    L: mul.lo.u32 %r2, %r1, 10;
    setp.lt.u32 %p1, %t, %r2;
    xor.b32 %r4, %t, %r1;
    mad.wide.u32 %rd1, %r4, 4, %out;
    @%p1 st.global.u32 [%rd1], %r1;
    @%p1 st.shared.u32 [%r9], %r1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p2, %r1, 5;
    @%p2 bra L;
    """
    declared = """
    .shared .align 4 .b32 buf[32];
    mov.u32 %r9, buf;
    mul.lo.u32 %r8, %t, %t; and.b32 %r8, %r8, 31;
    mad.lo.u32 %r9, %r8, 4, %r9;
    """
    outcome = run(declared + body, out=OUT, record=ADDRESSES)
    rounds = [[t for t in range(32) if t < 10 * i] for i in range(5)]
    assert records(outcome, "st.global") == [[(t, 4 * (t ^ i)) for t in lanes] for i, lanes in enumerate(rounds)]
    shared = [[(t, 4 * (t * t % 32) - GLOBAL_BASE) for t in lanes] for lanes in rounds]
    assert records(outcome, "st.shared") == shared


def test_an_instruction_that_nobody_executes_may_hold_any_addresses(run: Runner) -> None:
    # The lanes' addresses are far from affine, and the guard holds for none, then for all.
    body = """
    mul.wide.u32 %rd2, %t, 0x9E3779B1; mul.lo.u64 %rd2, %rd2, %rd2;
    mov.u32 %r1, 0;
    L: setp.gt.u32 %p1, %r1, 1;
    mov.u64 %rd1, %rd2;
    @%p1 mov.u64 %rd1, %my_out;
    @%p1 st.global.u32 [%rd1], %t;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p2, %r1, 4;
    @%p2 bra L;
    """
    outcome = run(body, out=OUT, record=ADDRESSES)
    assert records(outcome, "st.global") == [[], [], *[[(t, 4 * t) for t in range(32)]] * 2]


def test_strides_of_64_bits_and_generic_addresses(run: Runner) -> None:
    # Lane 0 reads shared memory, lane 1 a global buffer 240 MiB further on, the others further lanes of each.
    body = """
    .shared .align 4 .b32 buf[32];
    st.shared.u32 [buf], 5;
    cvta.shared.u64 %rd1, buf;
    and.b32 %r1, %t, 1;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 mov.u64 %rd1, %out;
    mad.wide.u32 %rd1, %t, 4, %rd1;
    ld.u32 %r2, [%rd1];
    st.global.u32 [%my_out], %r2;
    """
    outcome = run(body, out=OUT, record=ADDRESSES)
    bases = (SHARED_WINDOW - GLOBAL_BASE, 0)
    assert records(outcome, "ld.u32") == [[(t, bases[t % 2] + 4 * t) for t in range(32)]]


def test_widths_of_values(run: Runner) -> None:
    # Least number of bytes whose sign extension is the value, over all 32 lanes.
    numbers = [0, 127, 128, -128, -129, 32767, 32768, -32768, -32769, 2**23 - 1, 2**23, -(2**23), 2**31 - 1, -(2**31)]
    expected = [1, 1, 2, 1, 2, 2, 3, 2, 3, 3, 4, 3, 4, 4]
    body = "".join(f"ld.global.u32 %r1, [%x+{4 * i}]; st.global.u32 [%x+{4 * i}], %r1;" for i in range(len(numbers)))
    outcome = run(body, x=words(*numbers), record=WIDTHS)
    assert [w for i, w in widths_of(outcome.launch) if i.opcode == "ld" and "global" in i.modifiers] == [
        [w] for w in expected
    ]


def test_the_widest_lane_counts_and_inactive_lanes_keep_what_they_held(run: Runner) -> None:
    # All lanes hold 1000 t (at most 31000: two bytes); then lanes 0 to 3 get 7; then 0 to 30 get 8; then all 9.
    body = """
    mul.lo.u32 %r1, %t, 1000;
    setp.lt.u32 %p1, %t, 4;
    @%p1 mov.u32 %r1, 7;
    st.global.u32 [%my_out], %r1;
    setp.lt.u32 %p2, %t, 31;
    @%p2 mov.u32 %r1, 8;
    st.global.u32 [%my_out+128], %r1;
    mov.u32 %r1, 9;
    st.global.u32 [%my_out+256], %r1;
    """
    outcome = run(body, out=OUT, record=WIDTHS)
    found = {str(i.operands[1]): w for i, w in widths_of(outcome.launch) if i.opcode == "mov"}
    assert [w for i, w in widths_of(outcome.launch) if i.opcode == "mul" and "lo" in i.modifiers] == [[2]]
    assert [found[n] for n in "789"] == [[2], [2], [1]]


def test_lanes_that_do_not_exist_hold_nothing(run: Runner) -> None:
    # With 4 threads a warp's other lanes hold 0.
    body = """
    sub.u32 %r1, %t, 2; st.global.u32 [%my_out], %r1;
    xor.b32 %r2, %r1, 0x12345678; st.global.u32 [%my_out+16], %r2;
    """
    outcome = run(body, block=4, out=OUT, record=WIDTHS)
    widths = {i.opcode: w for i, w in widths_of(outcome.launch)}
    assert widths["xor"] == [4]
    assert widths.get("sub", widths.get("add")) == [1]


def test_a_64_bit_result_has_a_low_and_a_high_word(run: Runner) -> None:
    # 5 is 1 and 1 byte; -5 too; 2^32 + 300 is 2 and 1; 0x80000000 is 4 and 1.
    body = "".join(
        f"ld.global.u64 %rd1, [%x+{8 * i}]; add.u64 %rd1, %rd1, 1; st.global.u64 [%x+{8 * i}], %rd1;" for i in range(4)
    )
    x = np.array([4, 2**64 - 6, 2**32 + 299, 0x7FFFFFFF], np.uint64)
    outcome = run(body, x=x, record=WIDTHS)
    adds = [w for i, w in widths_of(outcome.launch) if i.opcode == "add" and "u64" in i.modifiers]
    assert sorted(adds) == sorted([[1, 1], [1, 1], [2, 1], [4, 1]])


def test_vectors_atomics_and_bar_red_in_a_recording_of_widths(run: Runner) -> None:
    # Each result of a vector has its own width; the count of bar.red, which comes at the release, has none.
    body = """
    ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%x];
    st.global.v4.u32 [%x+16], {%r4, %r3, %r2, %r1};
    setp.lt.u32 %p1, %t, 5;
    bar.red.popc.u32 %r5, 0, %p1;
    atom.global.add.u32 %r6, [%x], %r5;
    st.global.u32 [%my_out], %r6;
    """
    outcome = run(body, block=96, x=words(1, 300, 70000, 2**30, 0, 0, 0, 0), out=OUT, record=EVERYTHING)
    recorded = [(i.opcode, w) for i, w in widths_of(outcome.launch) if i.opcode == "atom" or "v4" in i.modifiers]
    # The counter runs 1, 6, ..., 1 + 5 * 95: in the first warp up to 156, two bytes.
    assert recorded == [*[("ld", [1, 2, 3, 4])] * 3, *[("atom", [2])] * 3]
    assert outcome["x"][0] == 1 + 5 * 96
    assert len(list(accesses_of(outcome.launch))) == 3 * 4
