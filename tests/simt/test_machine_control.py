"""Control flow of machine code: groups of lanes, convergence barriers, calls, and waits that never end."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simt.machine_programs import LANE, TID, B, Line, P, R, at, i, kernel, parameter, run, store_result, stored

from warpreg.simt import DeadlockError, Record
from warpreg.trace import visits


def labels(launch: object) -> list[tuple[str, int]]:
    """Label and mask of each visit of the first warp; unnamed blocks are left out."""
    blocks = launch.kernel.blocks  # type: ignore[attr-defined]
    found = visits(launch.trace.path_chunks())  # type: ignore[attr-defined]
    return [(blocks[v.block].label, v.mask) for v in found if not blocks[v.block].label.startswith("$")]


def test_lanes_that_part_meet_at_the_barrier_that_they_name() -> None:
    built = kernel(
        i("mov.u32", R(0), TID),
        i("setp.lt.u32", P(0), R(0), 12),
        i("BSSY", B(0), "meet"),
        i("BRA", "then", when=P(0)),
        "else",
        i("mov.u32", R(1), 1),
        i("BRA", "meet"),
        "then",
        i("mov.u32", R(1), 2),
        "meet",
        i("BSYNC", B(0)),
        "after",
        *store_result(R(1)),
        i("EXIT"),
    )
    launch, (found,) = run(built, np.zeros(32, np.uint32), record=Record(path=True))
    assert found.tolist() == [2] * 12 + [1] * 20
    assert labels(launch) == [
        ("start", 0xFFFFFFFF),
        ("else", 0xFFFFF000),  # the lanes that fall through run first
        ("meet", 0xFFFFF000),
        ("then", 0xFFF),
        ("meet", 0xFFF),
        ("after", 0xFFFFFFFF),
    ]


def test_a_loop_whose_lanes_leave_one_after_the_other() -> None:
    """Lane t runs t + 1 rounds, so its sum is 1 + 2 + ... + (t + 1)."""
    built = kernel(
        i("mov.u32", R(0), TID),
        i("mov.u32", R(1), 0),
        i("mov.u32", R(2), 0),
        i("BSSY", B(1), "meet"),
        "loop",
        i("add.u32", R(2), R(2), 1),
        i("add.u32", R(1), R(1), R(2)),
        i("setp.le.u32", P(0), R(2), R(0)),
        i("BRA", "loop", when=P(0)),
        "meet",
        i("BSYNC", B(1)),
        *store_result(R(1)),
        i("EXIT"),
    )
    assert stored(built) == [(t + 1) * (t + 2) // 2 for t in range(32)]


def test_break_and_exit_release_the_lanes_that_wait() -> None:
    """Lanes 0 to 7 exit inside the region, 8 to 15 leave it by BREAK; the others wait for neither."""
    built = kernel(
        i("mov.u32", R(0), TID),
        i("mov.u32", R(1), 7),
        i("setp.lt.u32", P(0), R(0), 8),
        i("setp.lt.u32", P(1), R(0), 16),
        i("BSSY", B(0), "meet"),
        i("BRA", "inside", when=P(1)),
        i("BRA", "meet"),
        "inside",
        i("EXIT", when=P(0)),
        i("BREAK", B(0), when=P(1)),
        i("BRA", "store"),
        "meet",
        i("BSYNC", B(0)),
        "after",
        i("mov.u32", R(1), 9),
        "store",
        *store_result(R(1)),
        i("EXIT"),
    )
    launch, (found,) = run(built, np.zeros(32, np.uint32), record=Record(path=True))
    assert found.tolist() == [0] * 8 + [7] * 8 + [9] * 16
    assert [mask for label, mask in labels(launch) if label == "after"] == [0xFFFF0000]


def test_lanes_that_wait_for_lanes_which_never_come() -> None:
    """Each half of the warp waits at a barrier for the other half."""
    built = kernel(
        i("mov.u32", R(0), TID),
        i("setp.lt.u32", P(0), R(0), 16),
        i("BSSY", B(0), "meet"),
        i("BSSY", B(1), "other"),
        i("BRA", "other", when=P(0)),
        i("BRA", "meet"),
        "other",
        i("BSYNC", B(1)),
        "meet",
        i("BSYNC", B(0)),
        i("EXIT"),
    )
    with pytest.raises(DeadlockError, match=r"'by_hand'.*never come"):
        run(built, np.zeros(32, np.uint32))


def test_lanes_at_a_barrier_do_not_wait_for_lanes_in_warpsync() -> None:
    """Half of the lanes wait in WARPSYNC for all: the others pass the barrier, and all meet."""
    built = kernel(
        i("mov.u32", R(0), TID),
        i("setp.lt.u32", P(0), R(0), 16),
        i("mov.u32", R(1), 5),
        i("BSSY", B(0), "meet"),
        i("BRA", "sync", when=P(0)),
        i("BRA", "meet"),
        "meet",
        i("BSYNC", B(0)),
        "passed",
        i("mov.u32", R(1), 7),
        "sync",
        i("WARPSYNC", 0xFFFFFFFF),
        "after",
        *store_result(R(1)),
        i("EXIT"),
    )
    launch, (found,) = run(built, np.zeros(32, np.uint32), record=Record(path=True))
    assert found.tolist() == [5] * 16 + [7] * 16
    assert [pair for pair in labels(launch) if pair[0] in ("passed", "after")] == [
        ("passed", 0xFFFF0000),
        ("after", 0xFFFFFFFF),
    ]


def test_warpsync_gathers_lanes_from_different_places() -> None:
    built = kernel(
        i("mov.u32", R(0), TID),
        i("setp.lt.u32", P(0), R(0), 16),
        i("BRA", "low", when=P(0)),
        i("WARPSYNC", 0xFFFFFFFF),
        "high",
        i("mov.u32", R(1), 1),
        i("BRA", "store"),
        "low",
        i("WARPSYNC", 0xFFFFFFFF),
        "low after",
        i("mov.u32", R(1), 2),
        "store",
        *store_result(R(1)),
        i("EXIT"),
    )
    launch, (found,) = run(built, np.zeros(32, np.uint32), record=Record(path=True))
    assert found.tolist() == [2] * 16 + [1] * 16
    assert [pair for pair in labels(launch) if pair[0] in ("low after", "high")] == [
        ("low after", 0xFFFF),  # the group whose highest lane is the lowest
        ("high", 0xFFFF0000),
    ]


def test_a_function_returns_each_lane_to_its_caller() -> None:
    """Blocks have addresses 0, 0x1000, 0x2000, ...: the returns are to blocks 2 and 4."""
    built = kernel(
        i("mov.u32", R(0), TID),
        i("setp.lt.u32", P(0), R(0), 16),
        i("BSSY", B(0), "meet"),
        i("BRA", "low", when=P(0)),
        "high",
        i("mov.u64", R(4, 64), 0x2000),
        i("CALL.REL.NOINC", "double"),
        "back to high",
        i("add.u32", R(0), R(0), 100),
        i("BRA", "meet"),
        "low",
        i("mov.u64", R(4, 64), 0x4000),
        i("CALL.REL.NOINC", "double"),
        "back to low",
        i("add.u32", R(0), R(0), 1),
        "meet",
        i("BSYNC", B(0)),
        *store_result(R(0)),
        i("EXIT"),
        "double",
        i("add.u32", R(0), R(0), R(0)),
        i("RET.REL.NODEC", R(4, 64), "back to high", "back to low"),
    )
    assert built.blocks[2].label == "back to high"
    assert built.blocks[4].label == "back to low"
    assert stored(built) == [2 * t + (1 if t < 16 else 100) for t in range(32)]


def test_a_lock_between_lanes_of_a_warp() -> None:
    """Each lane takes a lock, adds 1 to a counter without atomics, and releases it, while the others spin."""
    built = kernel(
        i("mov.u32", R(0), 0),
        i("mov.u32", R(1), 1),
        i("mov.u64", R(2, 64), parameter(0)),
        i("BSSY", B(0), "meet"),
        "spin",
        i("ATOMG.E.CAS.STRONG.GPU", R(4), at(R(2, 64)), 0, R(1)),
        i("setp.ne.u32", P(0), R(4), 0),
        i("BRA", "spin", when=P(0)),
        "held",
        i("LDG.E", R(5), at(R(2, 64), 4)),
        i("add.u32", R(5), R(5), 1),
        i("STG.E", at(R(2, 64), 4), R(5)),
        i("ATOMG.E.EXCH.STRONG.GPU", R(6), at(R(2, 64)), 0),
        "meet",
        i("BSYNC", B(0)),
        i("EXIT"),
    )
    _, (found,) = run(built, np.zeros(2, np.uint32), max_instructions=100_000_000)
    assert found.tolist() == [0, 32]


def test_a_barrier_of_the_block_waits_for_all_lanes_of_a_warp() -> None:
    """Half of the lanes write to shared memory before the barrier, the other half read what they wrote."""
    built = kernel(
        i("mov.u32", R(0), TID),
        i("shl.b32", R(1), R(0), 2),
        i("and.b32", R(8), R(0), 31),
        i("setp.lt.u32", P(0), R(8), 16),
        i("BRA", "write", when=P(0)),
        i("BAR.SYNC.DEFER_BLOCKING", 0, 0),
        i("LDS", R(2), at(R(1), -64)),
        i("BRA", "store"),
        "write",
        i("STS", at(R(1)), R(0)),
        i("mov.u32", R(2), 1000),
        i("BAR.SYNC.DEFER_BLOCKING", 0, 0),
        "store",
        *store_result(R(2)),
        i("EXIT"),
        shared_bytes=256,
    )
    assert stored(built, threads=64) == [1000 if t % 32 < 16 else t - 16 for t in range(64)]


def test_reduction_at_a_barrier() -> None:
    """B2R.RESULT gives each warp the number of threads of the block whose predicate held."""
    built = kernel(
        i("mov.u32", R(0), TID),
        i("setp.lt.u32", P(0), R(0), 40),
        i("BAR.RED.POPC.DEFER_BLOCKING", 0, 0, P(0)),
        i("B2R.RESULT", R(1)),
        *store_result(R(1)),
        i("EXIT"),
    )
    assert stored(built, threads=96) == [40] * 96


def test_branch_where_lanes_are_apart() -> None:
    """BRA.DIV is taken where lanes of its mask do not run: in the second half, and never by all lanes together."""
    built = kernel(
        i("mov.u32", R(0), LANE),
        i("mov.u32", R(1), 0),
        i("BRA.DIV", -1, "apart"),
        i("add.u32", R(1), R(1), 1),
        i("setp.lt.u32", P(0), R(0), 16),
        i("BSSY", B(0), "meet"),
        i("BRA", "meet", when=P(0)),
        i("BRA.DIV", -1, "apart"),
        i("add.u32", R(1), R(1), 100),
        "apart",
        i("add.u32", R(1), R(1), 10),
        "meet",
        i("BSYNC", B(0)),
        *store_result(R(1)),
        i("EXIT"),
    )
    assert stored(built) == [1] * 16 + [11] * 16


def test_groups_apart_use_the_same_barrier() -> None:
    """Both halves of the warp run 400 rounds, longer than a turn, whose odd and even lanes part and meet at B1.

    Even lanes add 1 a round, odd lanes 2; all lanes of a half add 4 after they have met.
    """

    def side(name: str) -> list[Line | str]:
        return [
            i("mov.u32", R(2), 0),
            name,
            i("BSSY", B(1), f"{name} meet"),
            i("BRA", f"{name} odd", when=P(1)),
            i("add.u32", R(1), R(1), 1),
            i("BRA", f"{name} meet"),
            f"{name} odd",
            i("add.u32", R(1), R(1), 2),
            f"{name} meet",
            i("BSYNC", B(1)),
            f"{name} together",
            i("add.u32", R(1), R(1), 4),
            i("add.u32", R(2), R(2), 1),
            i("setp.lt.u32", P(2), R(2), 400),
            i("BRA", name, when=P(2)),
        ]

    built = kernel(
        i("mov.u32", R(0), TID),
        i("mov.u32", R(1), 0),
        i("and.b32", R(3), R(0), 1),
        i("setp.eq.u32", P(1), R(3), 1),
        i("setp.lt.u32", P(0), R(0), 16),
        i("BSSY", B(0), "meet"),
        i("BRA", "skip", when=P(0)),
        *side("high"),
        i("BRA", "meet"),
        "skip",
        *side("low"),
        "meet",
        i("BSYNC", B(0)),
        *store_result(R(1)),
        i("EXIT"),
    )
    launch, (found,) = run(built, np.zeros(32, np.uint32), record=Record(path=True))
    assert found.tolist() == [400 * (5 + t % 2) for t in range(32)]
    together = [(label, mask) for label, mask in labels(launch) if label.endswith("together")]
    assert together.count(("high together", 0xFFFF0000)) == together.count(("low together", 0xFFFF)) == 400
    assert together[:400] != [("high together", 0xFFFF0000)] * 400  # turns of the halves alternate
