"""A last result file in front of the register file cache, in hardware (MICRO 2011, section 6.2)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, p, pair, r, when
from tests.replay.naive_cache import as_counter
from tests.replay.naive_last_result import last_result_counts
from tests.replay.paths import Recorded, one_warp
from tests.replay.random_runs import runs
from tests.replay.schedules import schedules

from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.replay import Counts, replay

options = st.fixed_dictionaries(
    {"entries": st.integers(0, 6)},
    optional={
        "static_liveness": st.booleans(),
        "around_long_latency": st.booleans(),
        "partial": st.sampled_from(["merge", "ignore"]),
    },
)


def counts(*code: Instruction, **chosen: Any) -> Counts:
    """One warp runs straight code once."""
    return replay(one_warp([0]), kernel(list(code)), "rfc-lrf", mode="interpreted", **chosen)


def test_a_result_is_read_from_the_last_result_file() -> None:
    found = counts(op("mov.b32", r(1), 5), op("add.s32", r(2), r(1), r(0)))
    assert (found.reads("LRF"), found.reads("RFC"), found.reads("MRF")) == (1, 0, 1)  # R1; R0
    assert (found.writes("LRF"), found.writes("RFC"), found.writes("MRF")) == (2, 0, 0)


def test_values_go_down_level_by_level() -> None:
    found = counts(
        op("mov.b32", r(1), 1),
        op("mov.b32", r(2), 2),  # R1 moves to the RFC
        op("mov.b32", r(3), 3),  # R2 moves to the RFC, R1 from there to the MRF
        op("add.s32", r(4), r(1), r(2)),  # R3 moves to the RFC, and R2, which has just died, goes
        op("add.s32", r(5), r(3), r(4)),
        entries=1,
    )
    assert found.moved("LRF", "RFC") == 3
    assert found.moved("RFC", "MRF") == 1
    assert (found.reads("MRF"), found.reads("RFC"), found.reads("LRF")) == (1, 2, 1)  # R1; R2, R3; R4


def test_dead_values_are_dropped_unless_the_hardware_does_not_know() -> None:
    code = (op("mov.b32", r(1), 1), op("mov.b32", r(2), r(1)), op("mov.b32", r(3), r(2)))
    assert counts(*code, entries=1).moved("LRF", "RFC") == 0
    assert counts(*code, entries=1, static_liveness=False).moved("LRF", "RFC") == 2


def test_what_the_shared_datapath_reads_skips_the_last_result_file() -> None:
    found = counts(op("mov.b32", r(1), 1), op("sin.approx.f32", r(2), r(1)), op("add.s32", r(3), r(2), 1))
    assert found.as_dict()["accesses"] == {
        "RFC.write.private": 1,  # R1, for the SFU
        "RFC.read.shared": 1,
        "RFC.write.shared": 1,  # R2, from the SFU
        "RFC.read.private": 1,
        "LRF.write.private": 1,
    }


def test_pairs_go_to_the_register_file_cache() -> None:
    found = counts(op("add.s64", pair(2), pair(0), 1), op("mov.b32", r(4), r(3)))
    assert (found.writes("RFC"), found.writes("LRF"), found.reads("RFC")) == (2, 1, 1)


def test_a_register_is_in_one_place() -> None:
    """R1 goes down to the RFC and is written again: the entry goes."""
    found = counts(
        op("mov.b32", r(1), 1),
        op("mov.b32", r(2), 2),
        op("mov.b32", r(1), 3),
        op("mov.b32", r(3), 4),
        op("add.s32", r(4), r(1), r(2)),
        entries=2,
    )
    assert found.moved("LRF", "RFC") == 4  # R1, R2, the new R1, R3
    assert found.moved("RFC", "MRF") == 0
    assert (found.reads("RFC"), found.reads("MRF")) == (2, 0)


def test_without_entries_the_last_result_file_is_before_the_mrf() -> None:
    found = counts(op("mov.b32", r(1), 1), op("mov.b32", r(2), 2), op("add.s32", r(3), r(1), r(2)), entries=0)
    assert (found.moved("LRF", "MRF"), found.reads("LRF"), found.reads("MRF")) == (1, 1, 1)


def test_a_guarded_result_stays_with_its_register() -> None:
    """In the RFC, where R1 is: the lanes that the guard leaves out are there."""
    found = counts(
        op("mov.b32", r(1), 1),
        op("mov.b32", r(2), 2),
        when(p(0), op("mov.b32", r(1), 3)),
        op("add.s32", r(3), r(1), r(2)),
    )
    assert (found.writes("RFC"), found.reads("RFC"), found.reads("LRF"), found.events["merged_reads"]) == (1, 1, 1, 0)


def test_a_suspended_warp_writes_both_levels_back() -> None:
    code = kernel(
        [
            op("mov.b32", r(1), 1),  # in the RFC at the wait
            op("ld.global.u32", r(8), at(pair(2))),  # in the MRF
            op("mov.b32", r(4), 1),  # in the LRF
            op("add.s32", r(9), r(8), r(1)),  # waits, reads the MRF
            op("add.s32", r(5), r(4), r(1)),
        ]
    )
    found = replay(one_warp([0]), code, "rfc-lrf", mode="interpreted", suspend="static")
    assert (found.moved("LRF", "MRF"), found.moved("RFC", "MRF"), found.events["flushed"]) == (1, 1, 2)
    assert found.reads("MRF") == 2 + 2 + 2


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(runs(), options)
def test_counts_equal_those_of_lists_that_are_searched(run: tuple[Kernel, Recorded], chosen: dict[str, Any]) -> None:
    code, path = run
    found = replay(path, code, "rfc-lrf", **chosen)
    assert as_counter(found) == last_result_counts(code, path, **chosen)
    baseline = replay(path, code, "mrf")
    assert found.reads() == baseline.reads() + found.events["merged_reads"]
    assert found.writes() == baseline.writes()


@settings(max_examples=20, deadline=None)
@given(st.data(), runs(), options)
def test_scheduled_counts_equal_those_of_lists(
    data: st.DataObject, run: tuple[Kernel, Recorded], chosen: dict[str, Any]
) -> None:
    code, path = run
    schedule = data.draw(schedules(code, path))
    found = replay(path, code, "rfc-lrf", schedule=schedule, mode="interpreted", **chosen)
    assert as_counter(found) == last_result_counts(code, path, schedule, **chosen)
