"""The register file cache in hardware: FIFO, write-allocate (ISCA 2011, section 3.1)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, p, pair, r, when
from tests.replay import naive
from tests.replay.paths import Recorded, one_warp
from tests.replay.random_runs import REGISTERS, runs

from warpreg.designs import ParameterError
from warpreg.energy import account, load
from warpreg.ir.errors import UnknownNameError
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.replay import Counts, replay


def counts(*code: Instruction, entries: int) -> Counts:
    """One warp runs straight code once."""
    return replay(one_warp([0]), kernel(list(code)), "rfc", entries=entries)


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


def test_entries_out_of_range_are_refused() -> None:
    expected = r"rfc: parameter entries expects int from 0 to 16 \(entries per thread\), found 17"
    with pytest.raises(ParameterError, match=expected):
        counts(op("mov.b32", r(1), 1), entries=17)


def test_an_unknown_parameter_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match=r"no parameter of rfc named 'entires'; did you mean 'entries'\?"):
        replay(one_warp([0]), kernel([op("mov.b32", r(1), 1)]), "rfc", entires=4)


@settings(max_examples=80, deadline=None)
@given(runs(), st.integers(0, 16))
def test_counts_equal_those_of_a_list_that_is_searched(run: tuple[Kernel, Recorded], entries: int) -> None:
    code, path = run
    found = replay(path, code, "rfc", entries=entries)
    accesses, evictions = naive.register_file_cache(code, path, entries)
    assert found.as_dict()["accesses"] == dict(accesses)
    assert found.moved("RFC", "MRF") == evictions


@settings(max_examples=40, deadline=None)
@given(runs(), st.integers(0, 16))
def test_every_operand_is_served_once_at_some_level(run: tuple[Kernel, Recorded], entries: int) -> None:
    code, path = run
    found, baseline = (replay(path, code, "rfc", entries=entries), replay(path, code, "mrf"))
    assert (found.accesses.sum(axis=0) == baseline.accesses.sum(axis=0)).all()
    assert found.moved("RFC", "MRF") <= found.writes("RFC")


@settings(max_examples=40, deadline=None)
@given(runs())
def test_without_entries_it_is_the_mrf(run: tuple[Kernel, Recorded]) -> None:
    code, path = run
    found, baseline = replay(path, code, "rfc", entries=0), replay(path, code, "mrf")
    assert found.as_dict()["accesses"] == baseline.as_dict()["accesses"]
    assert found.elided(baseline) == 0
    technology = load("gebhart-40nm")
    energies = [account(c.energy_list(), technology).total_pj for c in (found, baseline)]
    assert energies[0] == energies[1]


@settings(max_examples=40, deadline=None)
@given(runs())
def test_with_an_entry_for_each_register_nothing_is_written_back(run: tuple[Kernel, Recorded]) -> None:
    code, path = run
    found = replay(path, code, "rfc", entries=REGISTERS)
    assert found.mrf_accesses == found.reads("MRF")


@settings(max_examples=40, deadline=None)
@given(runs(), st.integers(1, 8))
def test_plain_python_counts_the_same(run: tuple[Kernel, Recorded], entries: int) -> None:
    code, path = run
    compiled, interpreted = (replay(path, code, "rfc", entries=entries, mode=m) for m in ("compiled", "interpreted"))
    assert compiled.as_dict() == interpreted.as_dict()
