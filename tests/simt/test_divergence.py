"""Diverged warps: blocks, lanes and order of execution, and reconvergence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.simt.programs import Outcome, Runner

from warpreg.simt import ExecutionError, Record
from warpreg.trace import visits

ALL = 0xFFFFFFFF
PATH = Record(path=True)


def labelled(outcome: Outcome, warp: int = 0) -> list[tuple[str, int]]:
    """The (label, active mask) of each visit of a warp of the first block; unnamed blocks are left out."""
    assert outcome.launch.trace is not None
    blocks = outcome.launch.kernel.blocks
    path = [v for v in visits(outcome.launch.trace.path_chunks()) if v.thread_block == 0 and v.warp == warp]
    return [(blocks[v.block].label, v.mask) for v in path if not blocks[v.block].label.startswith("$")]


def lanes(condition: Callable[[int], object]) -> int:
    """The mask of lanes t for which a condition holds."""
    return sum(1 << t for t in range(32) if condition(t))


def test_the_two_sides_of_a_branch_and_where_they_meet(run: Runner) -> None:
    body = """
    START: setp.lt.u32 %p1, %t, 12;
    @%p1 bra THEN;
    mov.u32 %r1, 1; bra MEET;
    THEN: mov.u32 %r1, 2;
    MEET: st.global.u32 [%my_out], %r1;
    """
    outcome = run(body, out=np.zeros(32, np.uint32), record=PATH)
    assert labelled(outcome) == [("START", ALL), ("THEN", 0xFFF), ("MEET", ALL)]
    assert outcome["out"].tolist() == [2] * 12 + [1] * 20


def test_a_branch_that_all_lanes_take_does_not_diverge(run: Runner) -> None:
    body = """
    setp.lt.u32 %p1, %t, 99; @%p1 bra THEN;
    mov.u32 %r1, 1; bra MEET;
    THEN: mov.u32 %r1, 2;
    MEET: st.global.u32 [%my_out], %r1;
    """
    outcome = run(body, block=20, out=np.zeros(20, np.uint32), record=PATH)
    assert labelled(outcome) == [("THEN", 0xFFFFF), ("MEET", 0xFFFFF)]


NESTED_LOOPS = """
mov.u32 %r1, 0; mov.u32 %r3, 0;
OUTER: mov.u32 %r2, 0;
INNER: add.u32 %r3, %r3, 1;
add.u32 %r2, %r2, 1;
and.b32 %r4, %t, 1;
setp.le.u32 %p1, %r2, %r4;
@%p1 bra INNER;
NEXT: add.u32 %r1, %r1, 1;
shr.u32 %r5, %t, 4;
setp.le.u32 %p2, %r1, %r5;
@%p2 bra OUTER;
DONE: st.global.u32 [%my_out], %r3;
"""


def test_nested_loops_whose_trip_counts_differ(run: Runner) -> None:
    # Odd lanes run the inner loop twice, lanes from 16 on the outer one: parts meet behind each loop.
    outcome = run(NESTED_LOOPS, out=np.zeros(32, np.uint32), record=PATH)
    odd, high = lanes(lambda t: t % 2), lanes(lambda t: t > 15)
    assert [step for step in labelled(outcome) if step[0] not in ("NEXT", "OUTER")] == [
        ("INNER", ALL), ("INNER", odd), ("INNER", high), ("INNER", high & odd), ("DONE", ALL),
    ]  # fmt: skip
    assert [mask for label, mask in labelled(outcome) if label in ("NEXT",)] == [ALL, high]
    assert outcome["out"].tolist() == [(1 + t % 2) * (1 + t // 16) for t in range(32)]


def test_the_words_of_a_path(run: Runner) -> None:
    # Two thread blocks of 40 threads.  Block 0 of the kernel ends at the branch, block 1 stores, block 2 returns.
    body = "setp.ge.u32 %p1, %t, 36; @%p1 bra DONE; st.global.u32 [%my_out], %t; DONE: st.global.u32 [%my_out+160], %t;"
    outcome = run(body, grid=2, block=40, out=np.zeros(120, np.uint32), record=PATH)
    assert [len(block.successors) for block in outcome.launch.kernel.blocks] == [2, 1, 0]
    assert outcome.launch.trace is not None
    (chunk,) = outcome.launch.trace.path_chunks()
    # 3 and an index: a thread block; 4w + 2: warp w; 4b + 1 and a mask: block b with these lanes; 4b: as before.
    assert chunk.tolist() == [
        3, 0,
        2, 1, ALL, 4, 8,
        6, 1, 0xFF, 5, 0x0F, 9, 0xFF,
        3, 1,
        2, 1, ALL, 8,
        6, 1, 0xFF, 8,
    ]  # fmt: skip
    assert outcome.launch.block_visits.tolist() == [4, 2, 4]


def test_lanes_that_exit_are_gone_and_the_others_meet(run: Runner) -> None:
    body = """
    setp.lt.u32 %p1, %t, 16;
    @%p1 bra LOW;
    HIGH: setp.lt.u32 %p2, %t, 24;
    @%p2 exit;
    STAY: mov.u32 %r1, 1;
    bra MEET;
    LOW: mov.u32 %r1, 2;
    MEET: st.global.u32 [%my_out], %r1;
    """
    outcome = run(body, out=np.zeros(32, np.uint32), record=PATH)
    assert outcome["out"].tolist() == [2] * 16 + [0] * 8 + [1] * 8
    assert labelled(outcome)[-1] == ("MEET", 0xFF00FFFF)
    assert [mask for label, mask in labelled(outcome) if label == "MEET"] == [0xFF00FFFF]


def test_all_lanes_of_a_side_may_exit(run: Runner) -> None:
    body = """
    setp.lt.u32 %p1, %t, 16;
    @%p1 bra LOW;
    st.global.u32 [%my_out], 1;
    ret;
    LOW: setp.lt.u32 %p2, %t, 8;
    @%p2 bra LOWEST;
    exit;
    LOWEST: st.global.u32 [%my_out], 2;
    """
    assert run(body, out=np.zeros(32, np.uint32))["out"].tolist() == [2] * 8 + [0] * 8 + [1] * 16


def test_a_loop_that_lanes_leave_at_three_places(run: Runner) -> None:
    # Lane t leaves in round t % 5: by an exit (rounds 0 and 3), a jump far out (1 and 4) or the loop's end (2).
    body = """
    rem.u32 %r1, %t, 5;
    rem.u32 %r2, %r1, 3;
    mov.u32 %r3, 0;
    L: setp.eq.u32 %p1, %r3, %r1;
    @!%p1 bra NEXT;
    setp.eq.u32 %p2, %r2, 0;
    @%p2 st.global.u32 [%my_out], %r3;
    @%p2 exit;
    setp.eq.u32 %p3, %r2, 1;
    @%p3 bra FAR;
    bra OUT;
    NEXT: add.u32 %r3, %r3, 1;
    bra L;
    OUT: add.u32 %r3, %r3, 100;
    FAR: add.u32 %r3, %r3, 1000;
    st.global.u32 [%my_out], %r3;
    """
    outcome = run(body, out=np.zeros(32, np.uint32), record=PATH)
    assert outcome["out"].tolist() == [(0, 1001, 1102, 3, 1004)[t % 5] for t in range(32)]
    assert [mask for label, mask in labelled(outcome) if label == "FAR"] == [lanes(lambda t: t % 5 in (1, 2, 4))]


def test_an_indirect_branch_with_several_targets(run: Runner) -> None:
    body = """
    TABLE: .branchtargets ONE, TWO, ONE, THREE, THREE;
    rem.u32 %r1, %t, 5;
    brx.idx %r1, TABLE;
    ONE: mov.u32 %r2, 10; bra MEET;
    TWO: mov.u32 %r2, 20; bra MEET;
    THREE: mov.u32 %r2, 30;
    MEET: st.global.u32 [%my_out], %r2;
    """
    outcome = run(body, out=np.zeros(32, np.uint32), record=PATH)
    assert outcome["out"].tolist() == [(10, 20, 10, 30, 30)[t % 5] for t in range(32)]
    # Targets run in no order that the language gives; each once, and all lanes meet.
    found = labelled(outcome)
    assert sorted(found[:-1]) == [
        ("ONE", lanes(lambda t: t % 5 in (0, 2))),
        ("THREE", lanes(lambda t: t % 5 > 2)),
        ("TWO", lanes(lambda t: t % 5 == 1)),
    ]
    assert found[-1] == ("MEET", ALL)


def test_an_index_past_the_table_is_an_error(run: Runner) -> None:
    body = "TABLE: .branchtargets ONE, TWO;\nbrx.idx %t, TABLE;\nONE: add.u32 %t, %t, 1;\nTWO: "
    with pytest.raises(ExecutionError, match=r"thread \(2,0,0\), instruction 'brx.idx .*: index 2 is beyond the table"):
        run(body)


def test_a_guarded_indirect_branch_and_one_that_goes_straight_to_the_meeting(run: Runner) -> None:
    body = """
    TABLE: .branchtargets MEET, SIDE;
    mov.u32 %r2, 1;
    and.b32 %r1, %t, 1;
    setp.lt.u32 %p1, %t, 16;
    @%p1 brx.idx %r1, TABLE;
    mov.u32 %r2, 3;
    bra MEET;
    SIDE: mov.u32 %r2, 2;
    MEET: st.global.u32 [%my_out], %r2;
    """
    outcome = run(body, out=np.zeros(32, np.uint32), record=PATH)
    assert outcome["out"].tolist() == [1, 2] * 8 + [3] * 16
    assert labelled(outcome)[-1] == ("MEET", ALL)


@pytest.mark.parametrize("block", [1, 31, 32, 33, 64])
def test_partial_warps_have_only_the_lanes_that_exist(run: Runner, block: int) -> None:
    body = "activemask.b32 %r1; st.global.u32 [%my_out], %r1;"
    out = run(body, block=block, out=np.zeros(block, np.uint32))["out"]
    assert out.tolist() == [(1 << min(32, block - t // 32 * 32)) - 1 for t in range(block)]


def test_registers_of_inactive_lanes_are_kept(run: Runner) -> None:
    # What the lanes of one side write, also to registers that live on, does not touch the other lanes.
    body = """
    mul.lo.u32 %r1, %t, 3;
    setp.lt.u32 %p2, %t, 7;
    cvt.u64.u32 %rd5, %t;
    setp.lt.u32 %p1, %t, 10;
    @!%p1 bra MEET;
    add.u32 %r1, %r1, 500;
    setp.gt.u32 %p2, %t, 8;
    add.u64 %rd5, %rd5, 0x100000000;
    MEET: selp.u32 %r2, 1, 0, %p2;
    shr.u64 %rd6, %rd5, 32;
    cvt.u32.u64 %r3, %rd6;
    mad.lo.u32 %r1, %r2, 1000, %r1;
    mad.lo.u32 %r1, %r3, 10000, %r1;
    st.global.u32 [%my_out], %r1;
    """
    out = run(body, out=np.zeros(32, np.uint32))["out"]
    assert out.tolist() == [3 * t + (500 + 10000 + 1000 * (t > 8) if t < 10 else 0) for t in range(32)]


def test_a_guard_on_an_ordinary_instruction(run: Runner) -> None:
    body = """
    mov.u32 %r1, 5; setp.lt.u32 %p1, %t, 3;
    @%p1 mov.u32 %r1, 6; @!%p1 add.u32 %r1, %r1, %t;
    st.global.u32 [%my_out], %r1;
    """
    assert run(body, out=np.zeros(32, np.uint32))["out"].tolist() == [6] * 3 + [5 + t for t in range(3, 32)]


@pytest.mark.slow
def test_long_blocks_carry_everything_on(run: Runner) -> None:
    # 300 instructions in one block: carry flag, predicates, 64-bit values and a barrier's number live all the way.
    filler = "".join(f"xor.b32 %r9, %r9, {n}; add.u32 %r8, %r8, %r9;\n" for n in range(1, 151))
    body = f"""
    mov.u32 %r8, 0; mov.u32 %r9, %t;
    cvt.u64.u32 %rd1, %t; shl.b64 %rd1, %rd1, 33;
    setp.lt.u32 %p1, %t, 5;
    add.cc.u32 %r2, %t, 0xFFFFFFF0;
    {filler}
    addc.u32 %r3, 0, 0;
    shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %r4, %rd1;
    @%p1 add.u32 %r3, %r3, 100;
    add.u32 %r3, %r3, %r4;
    st.global.u32 [%my_out], %r3; st.global.u32 [%my_out+128], %r8;
    """
    outcome = run(body, out=np.zeros(64, np.uint32), record=Record(path=True, widths=True))
    assert outcome["out"][:32].tolist() == [(t >= 16) + 100 * (t < 5) + 2 * t for t in range(32)]
    expected, value = np.zeros(32, np.uint32), np.arange(32, dtype=np.uint32)
    for n in range(1, 151):
        value ^= np.uint32(n)
        expected += value
    assert outcome["out"][32:].tolist() == expected.tolist()
    assert outcome.launch.block_visits.tolist() == [1]


def test_a_kernel_may_end_without_a_return(run: Runner) -> None:
    before = """
    .visible .entry bare(.param .u64 p)
    {
    .reg .pred %p; .reg .u32 %i;
    mov.u32 %i, %tid.x;
    L: setp.eq.u32 %p, %i, 99;
    @%p bra L;
    }
    """
    outcome = run("", before=before, out=np.zeros(1, np.uint32))
    outcome.device.launch("bare", 1, 32, 0)
