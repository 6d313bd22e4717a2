"""The analyses of a kernel as a design sees them, worked out on a small kernel with a divergent branch."""

from __future__ import annotations

import numpy as np
from tests.designs.kernels import kernel, op, p, pair, r, when

from warpreg.analysis.kernel_analysis import Analysis

CODE = kernel(
    [op("mov.u32", r(0), 7), op("mov.u32", r(1), 8), when(p(0), op("bra", 0))],
    [op("add.s32", r(2), r(0), 1)],
    [op("add.s32", r(2), r(1), 2)],
    [op("st.shared.u32", r(4), r(2))],
    successors=((2, 1), (3,), (3,), ()),
)
FOUND = Analysis(CODE)


def registers(row: np.ndarray) -> list[int]:
    return np.flatnonzero(row).tolist()


def test_edges_and_blocks() -> None:
    assert FOUND.successors == ((2, 1), (3,), (3,), ())
    assert FOUND.predecessors == ((), (0,), (0,), (1, 2))
    assert FOUND.block_of.tolist() == [0, 0, 0, 1, 2, 3]
    assert FOUND.dominators.immediate == (-1, 0, 0, 0)
    assert FOUND.post_dominators.immediate == (3, 3, 3, -1)
    assert FOUND.reconvergence == (3, 3, 3, -1)
    assert FOUND.loops.loops == FOUND.trips == ()


def test_liveness_of_the_threads_that_run() -> None:
    """R4 is read at the end; R0 and R1 are needed on one side of the branch each."""
    assert [registers(row) for row in FOUND.live_before] == [[4], [0, 4], [0, 1, 4], [0, 4], [1, 4], [2, 4]]
    assert [registers(row) for row in FOUND.live_after] == [[0, 4], [0, 1, 4], [0, 1, 4], [2, 4], [2, 4], []]


def test_lanes_on_the_other_side_wait_with_their_values() -> None:
    """While one side of the branch runs, lanes may wait at the other one (for R0 or R1) or at block 3 (for R2)."""
    assert [registers(row) for row in FOUND.waiting] == [[], [0, 1, 2, 4], [0, 1, 2, 4], []]
    assert FOUND.last_reads.tolist() == [False, False, True, True]


def test_both_words_of_a_pair_are_live() -> None:
    code = kernel([op("mov.u64", pair(2), 1)], [op("add.s64", pair(0), pair(2), 1), op("st.shared.u64", r(5), pair(0))])
    assert [registers(row) for row in Analysis(code).live_after] == [[2, 3, 5], [0, 1, 5], []]
