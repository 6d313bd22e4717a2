"""The register file cache in hardware (ISCA 2011, sections 3.1, 3.3, 5.1 and 5.3)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, p, pair, r, when
from tests.replay.naive_cache import as_counter, cache_counts
from tests.replay.paths import Recorded, one_warp
from tests.replay.random_runs import REGISTERS, runs
from tests.replay.schedules import schedules

from warpreg.designs import ParameterError
from warpreg.energy import account, load
from warpreg.ir.errors import UnknownNameError
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.replay import Counts, replay


def counts(*code: Instruction, **options: Any) -> Counts:
    """One warp runs straight code once."""
    return replay(one_warp([0]), kernel(list(code)), "rfc", **options)


SWITCHES = (
    "allocate_sources", "static_liveness", "around_long_latency", "bypass_idle", "idle_first", "flush_backward",
)  # fmt: skip
options = st.fixed_dictionaries(
    {"entries": st.integers(0, 16)},
    optional={
        "replacement": st.sampled_from(["fifo", "lru"]),
        "partial": st.sampled_from(["merge", "fill", "ignore"]),
        "waits": st.sampled_from(["needed", "all"]),
        **{name: st.booleans() for name in SWITCHES},
    },
)


def test_a_result_is_read_from_the_cache() -> None:
    found = counts(op("mov.b32", r(1), 5), op("add.s32", r(2), r(1), r(0)), entries=2)
    assert (found.reads("RFC"), found.reads("MRF")) == (1, 1)  # R1, R0
    assert (found.writes("RFC"), found.writes("MRF")) == (2, 0)


def test_a_read_miss_does_not_fill() -> None:
    found = counts(op("add.s32", r(1), r(0), 1), op("add.s32", r(1), r(0), 2), entries=4)
    assert (found.reads("RFC"), found.reads("MRF")) == (0, 2)


def test_the_oldest_entry_is_evicted_to_the_mrf() -> None:
    found = counts(
        op("mov.b32", r(1), 1),
        op("mov.b32", r(2), 2),
        op("add.s32", r(3), r(1), 1),  # R1 hits; R3 evicts it, although it was just read
        op("add.s32", r(0), r(1), r(2)),  # R1 misses, R2 hits; R0 evicts R2
        entries=2,
    )
    assert (found.reads("RFC"), found.reads("MRF")) == (2, 1)
    assert found.moved("RFC", "MRF") == 2
    assert found.reads("RFC", moves=True) == 4
    assert found.writes("MRF", moves=True) == 2
    assert found.mrf_accesses == 3


def test_an_overwrite_stays_in_place_and_keeps_its_age() -> None:
    found = counts(
        op("mov.b32", r(1), 1),
        op("mov.b32", r(2), 2),
        op("mov.b32", r(1), 3),  # in place: nothing is evicted
        op("mov.b32", r(3), 4),  # R1 is still the oldest
        op("add.s32", r(3), r(2), r(1)),
        entries=2,
    )
    assert found.moved("RFC", "MRF") == 1
    assert (found.reads("RFC"), found.reads("MRF")) == (1, 1)  # R2, R1


def test_the_halves_of_a_pair_take_two_entries() -> None:
    found = counts(op("add.s64", pair(2), pair(0), 1), op("mov.b32", r(4), 1), op("mov.b32", r(5), r(3)), entries=2)
    assert found.writes("RFC") == 4
    assert found.moved("RFC", "MRF") == 2  # R4 evicts R2; R3 hits; R5 evicts R3
    assert (found.reads("RFC"), found.reads("MRF")) == (1, 2)


def test_a_guarded_result_allocates_like_any_other() -> None:
    found = counts(when(p(0), op("mov.b32", r(1), 1)), op("mov.b32", r(2), r(1)), entries=1)
    assert (found.reads("RFC"), found.writes("RFC"), found.moved("RFC", "MRF")) == (1, 2, 1)
    assert (found.reads("MRF"), found.events["merged_reads"]) == (1, 1)  # the lanes that the guard left out


def test_loads_allocate_and_are_read_by_the_shared_datapath_from_the_cache() -> None:
    found = counts(op("ld.global.u32", r(2), at(pair(0))), op("st.global.u32", at(pair(0)), r(2)), entries=1)
    assert found.as_dict()["accesses"] == {"MRF.read.shared": 4, "RFC.read.shared": 1, "RFC.write.shared": 1}


def test_each_warp_has_a_cache_of_its_own_and_each_thread_block_starts_empty() -> None:
    code = kernel([op("mov.b32", r(1), 1)], [op("mov.b32", r(2), r(1))])
    path = (
        Recorded()
        .thread_block(0)
        .warp(0)
        .visits(0)
        .warp(1)
        .visits(1)
        .warp(0)
        .visits(1)
        .thread_block(1)
        .warp(0)
        .visits(1)
    )
    found = replay(path, code, "rfc", entries=4)
    assert found.reads("RFC") == 1  # warp 0 of thread block 0, after warp 1 ran in between
    assert found.reads("MRF") == 2  # warp 1, and warp 0 of the next thread block


def test_what_is_left_when_a_warp_ends_is_dropped() -> None:
    assert counts(op("mov.b32", r(1), 1), entries=4).moved("RFC", "MRF") == 0


def test_lru_evicts_what_was_touched_longest_ago() -> None:
    code = (
        op("mov.b32", r(1), 1),
        op("mov.b32", r(2), 2),
        op("add.s32", r(3), r(1), 1),  # R1 hits and is young again; R3 evicts R2
        op("add.s32", r(0), r(1), r(2)),  # R1 hits, R2 misses; R0 evicts R3
    )
    found = counts(*code, entries=2, replacement="lru")
    assert (found.reads("RFC"), found.reads("MRF"), found.moved("RFC", "MRF")) == (2, 1, 2)
    assert counts(op("mov.b32", r(1), 1), op("mov.b32", r(2), 2), op("mov.b32", r(1), 3), *code[2:], entries=2,
                  replacement="lru").moved("RFC", "MRF") == 2  # the overwrite made R1 young: R3 evicts R2  # fmt: skip


def test_a_source_that_misses_may_enter_clean() -> None:
    found = counts(
        op("add.s32", r(1), r(0), 1),  # R0 misses and enters, then R1
        op("add.s32", r(2), r(0), 2),  # R0 hits; R2 evicts R0, which is clean
        op("add.s32", r(3), r(1), 3),  # R1 hits; R3 evicts R1, which is not
        entries=2,
        allocate_sources=True,
    )
    assert (found.reads("RFC"), found.reads("MRF")) == (2, 1)
    assert found.writes("RFC") == 3 + 1  # three results and the fill
    assert found.events["fills"] == 1
    assert found.moved("RFC", "MRF") == 1


def test_a_dead_value_is_not_written_back() -> None:
    """R1 is read for the last time by the second instruction; R0, R2 and R3 are read later or not at all."""
    code = (
        op("mov.b32", r(1), 1),
        op("add.s32", r(2), r(1), 1),
        op("add.s32", r(3), r(2), 1),  # R3 evicts R1
        op("add.s32", r(4), r(3), r(2)),  # R4 evicts R2, which has just died
        op("mov.b32", r(5), 1),  # R5 evicts R3, dead too
        op("mov.b32", r(6), 1),  # R6 evicts R4, which was never read
    )
    assert counts(*code, entries=2).moved("RFC", "MRF") == 4
    assert counts(*code, entries=2, static_liveness=True).moved("RFC", "MRF") == 1


def test_long_latency_results_go_around_and_drop_what_is_older() -> None:
    found = counts(
        op("mov.b32", r(1), 1),
        op("ld.global.u32", r(1), at(pair(2))),  # to the MRF; the entry of the old R1 goes
        op("add.s32", r(4), r(1), 1),
        entries=4,
        around_long_latency=True,
    )
    assert (found.writes("MRF"), found.writes("RFC")) == (1, 2)
    assert found.reads("MRF") == 2 + 1  # the address and R1
    assert found.moved("RFC", "MRF") == 0


@pytest.mark.parametrize("replacement", ["fifo", "lru"])
def test_an_entry_that_a_load_frees_is_taken_before_the_oldest(replacement: str) -> None:
    found = counts(
        op("mov.b32", r(1), 1),
        op("mov.b32", r(2), 2),
        op("ld.global.u32", r(2), at(pair(4))),  # to the MRF; the entry of the old R2 is free
        op("mov.b32", r(3), 3),  # takes it, although that of R1 is older
        op("add.s32", r(0), r(1), r(3)),  # both hit; R0 evicts R1
        entries=2,
        replacement=replacement,
        around_long_latency=True,
    )
    assert found.reads("RFC") == 2
    assert (found.reads("MRF"), found.moved("RFC", "MRF")) == (2, 1)  # the address, and R1


def test_the_lanes_that_a_load_leaves_out_are_written_back_first() -> None:
    found = counts(
        op("mov.b32", r(1), 1),
        when(p(0), op("ld.global.u32", r(1), at(pair(2)))),
        op("add.s32", r(4), r(1), 1),
        entries=4,
        around_long_latency=True,
    )
    assert found.moved("RFC", "MRF") == 1


WAIT = (op("ld.global.u32", r(8), at(pair(2))), op("add.s32", r(9), r(8), 1))
"""The second instruction suspends."""


def test_a_result_that_nothing_reads_before_the_warp_waits_passes_by() -> None:
    found = counts(
        op("mov.b32", r(1), 1),  # read after the wait only: to the MRF
        op("mov.b32", r(4), 1),  # read before it: to the RFC
        op("add.s32", r(5), r(4), 1),  # never read: to the MRF
        *WAIT,  # the load is read at the wait, so to the MRF; its sum is never read, so there too
        op("add.s32", r(6), r(1), r(4)),
        entries=4,
        bypass_idle=True,
    )
    assert (found.writes("RFC"), found.writes("MRF")) == (1, 5)


def test_what_nothing_reads_before_the_warp_waits_is_evicted_first() -> None:
    code = (
        op("mov.b32", r(1), 1),
        op("mov.b32", r(4), 1),
        op("add.s32", r(5), r(4), 1),  # R4 is read again only after the wait: R5 takes its place, not that of R1
        op("add.s32", r(0), r(1), r(5)),  # R1 hits
        *WAIT,
        op("add.s32", r(6), r(4), r(1)),
    )
    assert counts(*code[:4], *code[4:], entries=2).reads("RFC") == 1 + 1 + 1  # R4, then R5, then R8
    assert counts(*code, entries=2, idle_first=True).reads("RFC") == 1 + 2 + 1  # R1 hits besides


def test_a_suspended_warp_flushes_what_somebody_still_needs() -> None:
    """At the wait R1 (needed), R4 (dead), the load R8 (around the cache) and R5 (clean never: a result) are there."""
    code = kernel([op("mov.b32", r(1), 1), op("mov.b32", r(4), 1), op("add.s32", r(5), r(4), 1), *WAIT,
                   op("add.s32", r(6), r(1), r(5))])  # fmt: skip
    options: dict[str, Any] = {"entries": 6, "around_long_latency": True}
    found = replay(one_warp([0]), code, "rfc", suspend="static", mode="interpreted", **options)
    assert (found.events["flushed"], found.moved("RFC", "MRF")) == (3, 3)
    alive = replay(one_warp([0]), code, "rfc", suspend="static", mode="interpreted", static_liveness=True, **options)
    assert alive.events["flushed"] == 2
    assert alive.reads("MRF") == 2 + 1 + 2  # the address, R8, and R1 and R5 after the flush


def test_a_backward_branch_flushes_if_asked() -> None:
    """R1 is written before the loop and read in it; the second round misses where the first hit."""
    code = kernel(
        [op("mov.b32", r(1), 1)], [op("add.s32", r(2), r(1), 1)], [op("mov.b32", r(3), r(1))],
        successors=((1,), (1, 2), ()),
    )  # fmt: skip
    kept = replay(one_warp([0, 1, 1, 2]), code, "rfc")
    flushed = replay(one_warp([0, 1, 1, 2]), code, "rfc", flush_backward=True)
    assert (kept.reads("RFC"), kept.reads("MRF"), kept.moved("RFC", "MRF")) == (3, 0, 0)
    assert (flushed.reads("RFC"), flushed.reads("MRF")) == (1, 2)
    assert flushed.moved("RFC", "MRF") == 2 + 1  # R1 and R2, then the R2 of the second round


DIAMOND = kernel(
    [op("mov.b32", r(9), 1)],
    [op("mov.b32", r(1), 1)],
    [op("mov.b32", r(2), 2)],
    [op("add.s32", r(3), r(1), 1)],
    successors=((1, 2), (3,), (3,), ()),
)
"""Only one side writes R1, so lanes of the other still need the old one."""


def diverging(**options: Any) -> Counts:
    """The lower half of the lanes goes left and the upper half right."""
    path = Recorded().thread_block().warp(0).visits(0).visits(1, mask=0xFFFF).visits(2, mask=0xFFFF0000).visits(3)
    return replay(path, DIAMOND, "rfc", **options)


def test_lanes_that_an_entry_lacks_come_from_the_mrf_with_it() -> None:
    found = diverging()
    assert (found.reads("RFC"), found.reads("MRF"), found.events["merged_reads"]) == (1, 1, 1)


def test_lanes_that_an_entry_lacks_may_be_brought_when_it_is_made() -> None:
    found = diverging(partial="fill")
    assert (found.reads("RFC"), found.reads("MRF"), found.events["merged_reads"]) == (1, 0, 0)
    assert (found.moved("MRF", "RFC"), found.events["fills"]) == (1, 1)


def test_lanes_may_be_ignored() -> None:
    found = diverging(partial="ignore")
    assert (found.reads("RFC"), found.reads("MRF"), found.events["merged_reads"]) == (1, 0, 0)


def test_a_warp_that_does_not_diverge_has_all_its_lanes() -> None:
    path = Recorded().thread_block().warp(0).visits(0, 1, 3, mask=0xFF)  # a warp of eight threads
    assert replay(path, DIAMOND, "rfc").events["merged_reads"] == 0


def test_a_guarded_write_over_a_whole_entry_leaves_it_whole() -> None:
    found = counts(op("mov.b32", r(1), 1), when(p(0), op("mov.b32", r(1), 2)), op("mov.b32", r(2), r(1)), entries=2)
    assert found.events["merged_reads"] == 0


def test_a_guarded_write_whose_other_lanes_nobody_needs_is_whole() -> None:
    found = counts(when(p(0), op("mov.b32", r(1), 2)), when(p(0), op("mov.b32", r(2), r(1))), entries=2)
    assert found.events["merged_reads"] == 0


def test_entries_out_of_range_are_refused() -> None:
    expected = r"rfc: parameter entries expects int from 0 to 16 \(entries per thread\), found 17"
    with pytest.raises(ParameterError, match=expected):
        counts(op("mov.b32", r(1), 1), entries=17)


def test_an_unknown_parameter_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match=r"no parameter of rfc named 'entires'; did you mean 'entries'\?"):
        replay(one_warp([0]), kernel([op("mov.b32", r(1), 1)]), "rfc", entires=4)


@settings(max_examples=60, deadline=None)
@given(runs(), options)
def test_counts_equal_those_of_lists_that_are_searched(run: tuple[Kernel, Recorded], chosen: dict[str, Any]) -> None:
    code, path = run
    assert as_counter(replay(path, code, "rfc", **chosen)) == cache_counts(code, path, **chosen)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.data(), runs(), options)
def test_scheduled_counts_equal_those_of_lists(
    data: st.DataObject, run: tuple[Kernel, Recorded], chosen: dict[str, Any]
) -> None:
    code, path = run
    schedule = data.draw(schedules(code, path))
    found = replay(path, code, "rfc", schedule=schedule, mode="interpreted", **chosen)
    assert as_counter(found) == cache_counts(code, path, schedule, **chosen)


@pytest.mark.slow
@pytest.mark.parametrize("on", [False, True])
@settings(max_examples=20, deadline=None)
@given(data=st.data(), run=runs(), entries=st.integers(1, 16))
def test_compiled_scheduled_counts_equal_those_of_lists(
    on: bool, data: st.DataObject, run: tuple[Kernel, Recorded], entries: int
) -> None:
    """A core is compiled for each choice of switches."""
    code, path = run
    schedule = data.draw(schedules(code, path))
    chosen: dict[str, Any] = {"entries": entries, **dict.fromkeys(SWITCHES, on)}
    if on:
        chosen |= {"replacement": "lru", "partial": "fill"}
    found = replay(path, code, "rfc", schedule=schedule, **chosen)
    assert as_counter(found) == cache_counts(code, path, schedule, **chosen)


@settings(max_examples=15, deadline=None)
@given(runs(), options, st.booleans())
def test_plain_python_counts_the_same(run: tuple[Kernel, Recorded], chosen: dict[str, Any], static: bool) -> None:
    code, path = run
    plain = replay(path, code, "rfc", mode="interpreted", suspend="static" if static else "never", **chosen)
    assert as_counter(plain) == cache_counts(code, path, static=static, **chosen)


@settings(max_examples=30, deadline=None)
@given(runs(), options)
def test_every_operand_is_served_at_some_level(run: tuple[Kernel, Recorded], chosen: dict[str, Any]) -> None:
    """Once, but for merged reads; what fills adds a write, or with ``partial`` a move."""
    code, path = run
    found, baseline = replay(path, code, "rfc", **chosen), replay(path, code, "mrf")
    assert found.reads() == baseline.reads() + found.events["merged_reads"]
    assert found.writes() == baseline.writes() + found.events["fills"] - found.moved("MRF", "RFC")
    assert found.moved("RFC", "MRF") <= found.writes("RFC") + found.moved("MRF", "RFC")
    assert found.events["flushed"] <= found.moved("RFC", "MRF")


@settings(max_examples=20, deadline=None)
@given(runs(), options)
def test_without_entries_it_is_the_mrf(run: tuple[Kernel, Recorded], chosen: dict[str, Any]) -> None:
    code, path = run
    found, baseline = replay(path, code, "rfc", **chosen | {"entries": 0}), replay(path, code, "mrf")
    assert found.as_dict()["accesses"] == baseline.as_dict()["accesses"]
    assert found.elided(baseline) == 0
    technology = load("gebhart-40nm")
    energies = [account(c.energy_list(), technology).total_pj for c in (found, baseline)]
    assert energies[0] == energies[1]


@settings(max_examples=20, deadline=None)
@given(runs())
def test_with_an_entry_for_each_register_nothing_is_written_back(run: tuple[Kernel, Recorded]) -> None:
    code, path = run
    found = replay(path, code, "rfc", entries=REGISTERS)
    assert found.mrf_accesses == found.reads("MRF")


@settings(max_examples=20, deadline=None)
@given(runs(), st.integers(1, 8))
def test_what_the_compiler_tells_only_saves_write_backs(run: tuple[Kernel, Recorded], entries: int) -> None:
    code, path = run
    plain = replay(path, code, "rfc", entries=entries)
    told = replay(path, code, "rfc", entries=entries, static_liveness=True)
    assert (told.accesses == plain.accesses).all()
    assert told.moved("RFC", "MRF") <= plain.moved("RFC", "MRF")


def test_a_cache_that_waits_for_all_loads_flushes_once() -> None:
    """MICRO 2011, section 4.1.  R1 is flushed at the first wait; R9, written between the waits, only at the second."""
    code = kernel([
        op("mov.b32", r(1), 1), op("ld.global.u32", r(8), at(pair(2))), op("ld.global.u32", r(7), at(pair(2))),
        op("add.s32", r(9), r(8), 1), op("add.s32", r(6), r(7), r(9)), op("add.s32", r(5), r(1), r(6)),
    ])  # fmt: skip
    options: dict[str, Any] = {"around_long_latency": True, "suspend": "static", "mode": "interpreted"}
    each, once = (replay(one_warp([0]), code, "rfc", waits=waits, **options) for waits in ("needed", "all"))
    assert (each.events["flushed"], once.events["flushed"]) == (2, 1)
    assert (each.reads("RFC"), once.reads("RFC")) == (1, 2)  # R6, and R9 unless it was flushed


def test_a_barrier_flushes_if_warps_leave_the_active_set_there() -> None:
    code = kernel([op("mov.b32", r(1), 1), op("bar.sync", 0), op("add.s32", r(5), r(1), 1)])
    stays, leaves = (
        replay(one_warp([0]), code, "rfc", suspend=suspend, mode="interpreted") for suspend in ("static", "barriers")
    )
    assert (stays.events["flushed"], stays.reads("RFC")) == (0, 1)
    assert (leaves.events["flushed"], leaves.reads("RFC")) == (1, 0)
