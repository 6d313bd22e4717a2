"""Bypassing operand collectors (thesis, chapter 3): ``bow`` writes through, ``bow-wr`` writes back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, p, pair, r, when
from tests.designs.window.figure36 import FIGURE_36
from tests.replay.naive_cache import as_counter
from tests.replay.naive_window import window_counts
from tests.replay.paths import Recorded, one_warp
from tests.replay.random_runs import runs
from tests.replay.schedules import Scheduling, schedules
from tests.replay.warp_runs import warp_runs

from warpreg import energy, gpu
from warpreg.designs import DesignError, ParameterError, load, program_table
from warpreg.designs.interface import Launch
from warpreg.energy.cost import access_cost, wire_cost
from warpreg.evaluation.runs.hardware import Use, parts
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.replay import Counts, replay


def counts(design: str, *code: Instruction, **options: Any) -> Counts:
    """One warp runs straight code once."""
    return replay(one_warp([0]), kernel(list(code)), design, mode="interpreted", **options)


def figure_36(design: str, **options: Any) -> Counts:
    return replay(one_warp([0]), FIGURE_36, design, mode="interpreted", **options)


def test_table_3_1_write_through() -> None:
    """The table counts 10 writes of r0 to r3: 3, 4, 2 and 1.  The printed code writes r2 in lines 3, 11 and 12, and r4
    in line 13, so 12 in all."""
    assert figure_36("bow").writes("MRF", moves=True) == 3 + 4 + 3 + 1 + 1


def test_table_3_1_write_back() -> None:
    """r0 of line 9, r1 of lines 6 and 10, r2 of line 3, r3 of line 2; r2 of line 12 and r4 are still in the window."""
    found = figure_36("bow-wr", hints=False)
    assert found.writes("MRF", moves=True) == 1 + 2 + 1 + 1
    assert found.events["consolidated"] == 5  # r0 of lines 7 and 8, r1 of lines 4 and 5, r2 of line 11


def test_table_3_1_with_hints() -> None:
    """r1 of line 10 and r3."""
    found = figure_36("bow-wr")
    assert found.writes("MRF", moves=True) == 0 + 1 + 0 + 1
    assert (found.events["to_file"], found.events["to_both"]) == (1, 1)


def test_the_other_order_of_eviction_contradicts_table_3_1() -> None:
    """Line 14 then still finds r1 of line 10: 4 writes instead of 5; without renewal by reads there are 5 again."""
    assert figure_36("bow-wr", hints=False, eviction="after").writes("MRF", moves=True) == 4
    assert figure_36("bow-wr", hints=False, eviction="after", extended=False).writes("MRF", moves=True) == 5


@pytest.mark.parametrize(
    ("extended", "eviction", "read"), [(True, "before", 1), (False, "before", 3), (False, "after", 2)]
)
def test_figure_3_6_needs_windows_that_reads_extend(extended: bool, eviction: str, read: int) -> None:
    """Lines 3 to 7: the text forwards r2 of line 3 to line 7, since line 5 reads it; r0 is read once.

    Without renewal r2 is read again, and, unless sources are looked up first, r0, which line 4 read three lines before.
    """
    code = [
        op("mov.b32", r(2), 0xFF4),
        op("mul.lo.u32", r(1), r(0), r(2)),
        op("mad.lo.u32", r(1), r(0), r(2), r(1)),
        op("shl.b32", r(1), r(1), 16),
        op("mad.lo.u32", r(0), r(0), r(2), r(1)),
    ]
    assert counts("bow", *code, extended=extended, eviction=eviction).reads("MRF") == read


@pytest.mark.parametrize(("eviction", "nearest_miss"), [("before", 3), ("after", 4)])
def test_a_register_leaves_the_window_of_3(eviction: str, nearest_miss: int) -> None:
    """R1 is read 1, 2, ... instructions after it was written, with no other instruction that uses it between."""
    for distance in range(1, 6):
        between = [op("mov.b32", r(2), 0)] * (distance - 1)
        found = counts("bow", op("mov.b32", r(1), 5), *between, op("mov.b32", r(3), r(1)), eviction=eviction)
        assert found.reads("BOC") == (distance < nearest_miss)
        assert found.reads("MRF") == (distance >= nearest_miss)


def test_reads_extend_the_window() -> None:
    """R1 is used in instructions 1, 3 and 5: with a window of 3 the last read is 4 after the write."""
    code = [op("mov.b32", r(1), 5), *[op("mov.b32", r(2), 0), op("mov.b32", r(3), r(1))] * 2]
    assert counts("bow", *code).reads("BOC") == 2
    assert counts("bow", *code, extended=False).reads("BOC") == 1


def test_a_source_stays_in_the_collector() -> None:
    found = counts("bow", op("add.s32", r(1), r(0), r(0)), op("add.s32", r(2), r(0), 1))
    assert (found.reads("MRF"), found.reads("BOC"), found.events["fills"]) == (1, 2, 1)


def test_the_oldest_entry_leaves_a_full_collector() -> None:
    """R0, R1, R2 enter; R3 evicts R0, which the next instruction reads again."""
    code = [op("mad.lo.s32", r(3), r(0), r(1), r(2)), op("mov.b32", r(4), r(0))]
    found = counts("bow", *code, entries=3)
    assert (found.reads("MRF"), found.events["evicted"]) == (4, 3)  # R0 evicts R1, R4 evicts R2
    assert counts("bow", *code, entries=5).reads("MRF") == 3


def test_a_value_that_only_the_collector_takes_is_saved_if_it_is_evicted() -> None:
    code = [
        op("mov.b32", r(3), 1),
        op("mad.lo.s32", r(4), r(0), r(1), r(2)),  # R4 evicts R3
        op("add.s32", r(5), r(3), r(4)),
        op("st.global.u32", at(pair(6)), r(5)),  # R7 evicts R4; that nobody reads it any more is not known
    ]
    found = counts("bow-wr", *code, entries=4)
    assert found.events["to_collector"] == 3
    assert (found.moved("BOC", "MRF"), found.events["rescued"]) == (2, 2)
    assert counts("bow-wr", *code).moved("BOC", "MRF") == 0


def test_a_guarded_result_joins_the_entry_of_its_register() -> None:
    code = [op("mov.b32", r(1), 0), when(p(0), op("mov.b32", r(1), 1)), op("mov.b32", r(2), r(1))]
    found = counts("bow", *code)
    assert (found.reads("BOC"), found.reads("MRF")) == (1, 0)


def test_lanes_that_an_entry_lacks_come_from_the_mrf_once() -> None:
    code = [when(p(0), op("mov.b32", r(1), 1)), op("mov.b32", r(2), r(1)), op("mov.b32", r(3), r(1))]
    found = counts("bow", *code)
    assert (found.reads("MRF"), found.events["merged_reads"], found.reads("BOC")) == (1, 1, 1)


def test_the_halves_of_a_pair_are_two_registers() -> None:
    found = counts("bow", op("add.s64", pair(2), pair(0), 1), op("add.s64", pair(0), pair(2), 1))
    assert (found.reads("MRF"), found.reads("BOC")) == (2, 2)
    assert (found.writes("MRF"), found.writes("BOC")) == (4, 4)


LATE = kernel(
    [op("ld.global.u32", r(4), at(pair(0)))] + [op("add.s32", r(2), r(3), 1)] * 3 + [op("mov.b32", r(5), r(4))]
)


@pytest.mark.parametrize(("issued", "late"), [(3, 0), (4, 1)])
def test_a_load_that_arrives_after_its_window_goes_to_the_mrf(issued: int, late: int) -> None:
    """Window 3: with 2 more instructions issued the load is still in the window, with 3 it is not."""
    schedule = Scheduling().start(0).issue(0, issued).arrive(0, 0).issue(0, 5 - issued).end(0)
    path = one_warp([0])
    hints: dict[str, Any] = {"bow": {}, "bow-wr": {"hints": False}}
    for design in hints:
        found = replay(path, LATE, design, mode="interpreted", schedule=schedule.of(LATE, path), **hints[design])
        assert found.events["late"] == late
        assert found.as_dict()["accesses"].get("MRF.write.shared", 0) == (1 if design == "bow" else late)


def test_warps_do_not_share_and_what_is_left_is_dropped() -> None:
    code = kernel([op("mov.b32", r(1), 1)], [op("mov.b32", r(2), r(1))])
    path = Recorded().thread_block(0).warp(0).visits(0).warp(1).visits(1).warp(0).visits(1)
    found = replay(path, code, "bow-wr", mode="interpreted", hints=False)
    assert (found.reads("BOC"), found.reads("MRF"), found.moved("BOC", "MRF")) == (1, 1, 0)


def test_a_window_of_1_is_the_mrf_alone() -> None:
    for design in ("bow", "bow-wr"):
        assert figure_36(design, window=1).as_dict()["accesses"] == figure_36("mrf").as_dict()["accesses"]


@pytest.mark.parametrize("design", ["bow", "bow-wr"])
@pytest.mark.parametrize("window", [0, 64])
def test_impossible_windows_are_refused(design: str, window: int) -> None:
    with pytest.raises(ParameterError, match=rf"{design}: parameter window expects int from 1 to 7 .*, found {window}"):
        figure_36(design, window=window)


@pytest.mark.parametrize("design", ["bow", "bow-wr"])
def test_a_collector_holds_the_sources_of_an_instruction(design: str) -> None:
    with pytest.raises(DesignError, match=f"{design}: entries expects at least 3, the sources of one .*, found 2"):
        figure_36(design, entries=2)


def test_values_without_a_register_raise_occupancy() -> None:
    """Of the registers of Figure 3.6, all but 3 hold values that need none."""
    machine, launch = gpu.load("bow-titanx"), Launch(32)
    design = load("bow-wr")
    program = program_table(FIGURE_36)
    plain, freed = (
        design.room(design.configure(frees_registers=frees), program, machine, launch, FIGURE_36)
        for frees in (False, True)
    )
    unit = machine.register_file.allocation_unit // 32
    assert plain.residency.registers == -(-program.register_count // unit) * unit
    assert freed.residency.registers == -(-3 // unit) * unit


def test_a_value_without_a_register_is_dropped_when_it_is_evicted() -> None:
    """As above, but R4 has no register, so it is not saved after its last read."""
    code = [
        op("mov.b32", r(3), 1),
        op("mad.lo.s32", r(4), r(0), r(1), r(2)),
        op("add.s32", r(5), r(3), r(4)),
        op("st.global.u32", at(pair(6)), r(5)),
    ]
    found = counts("bow-wr", *code, entries=4, frees_registers=True)
    assert (found.moved("BOC", "MRF"), found.events["rescued"], found.events["evicted"]) == (1, 1, 5)


@pytest.mark.parametrize(("entries", "added_kib", "pj"), [(0, 36, 2.72), (6, 12, 1.92)])
def test_storage_and_energy_of_a_collector(entries: int, added_kib: int, pj: float) -> None:
    """36 KB more than plain collectors of 384 bytes, or 12 KB with half-size ones (sections 3.1 and 3.5.1)."""
    design, machine, technology = load("bow-wr"), gpu.load("bow-titanx"), energy.load("bow")
    values = design.configure(entries=entries)
    collector = design.structures(values)[1]
    found = {part.name: part for part in parts(design, values, Use({}, 100.0, 1, {}), machine, technology)}
    assert found["BOC"].bytes == added_kib * 1024
    assert access_cost(technology, collector, "read").pj == pytest.approx(pj, abs=0.005)


def test_a_write_of_a_collector_has_its_way_through_the_network() -> None:
    """33.2 mW at 1 GHz are those of 32 collectors that each write in half of the cycles: 2.075 pJ a write."""
    technology, collector = energy.load("bow"), load("bow").structures(load("bow").configure())[1]
    assert access_cost(technology, collector, "write").pj == pytest.approx(2.72 + 33.2 / 16)


def test_other_technologies_charge_wires_instead_of_the_network() -> None:
    design, machine, technology = load("bow"), gpu.load("bow-titanx"), energy.load("gebhart-40nm")
    found = parts(design, design.configure(), Use({}, 100.0, 1, {}), machine, technology)
    assert [part.name for part in found] == ["MRF", "BOC"]
    assert wire_cost(technology, design.structures(design.configure())[1], "private") > 0


options = st.fixed_dictionaries(
    {"window": st.integers(1, 7), "entries": st.sampled_from([0, 6, 8, 12])},
    optional={"extended": st.booleans(), "eviction": st.sampled_from(["before", "after"])},
)


def expect_naive_counts(data: st.DataObject, run: tuple[Kernel, Recorded], design: str, chosen: dict[str, Any]) -> None:
    code, path = run
    schedule = data.draw(schedules(code, path)) if data.draw(st.booleans()) else None
    found = replay(path, code, design, schedule=schedule, mode="interpreted", **chosen)
    assert as_counter(found) == window_counts(design, code, path, schedule, **chosen)


@settings(max_examples=40, deadline=None)
@given(st.data(), runs(), options)
def test_bow_counts_as_the_naive_window_does(
    data: st.DataObject, run: tuple[Kernel, Recorded], chosen: dict[str, Any]
) -> None:
    expect_naive_counts(data, run, "bow", chosen)


@settings(max_examples=40, deadline=None)
@given(st.data(), runs(), options)
def test_bow_without_hints_counts_as_the_naive_window_does(
    data: st.DataObject, run: tuple[Kernel, Recorded], chosen: dict[str, Any]
) -> None:
    expect_naive_counts(data, run, "bow-wr", chosen | {"hints": False})


@pytest.mark.slow
def test_compiled_code_counts_the_same() -> None:
    for design in ("bow", "bow-wr"):
        compiled = replay(one_warp([0]), FIGURE_36, design, entries=6)
        assert compiled.as_dict() == figure_36(design, entries=6).as_dict()


@settings(max_examples=200, deadline=None)
@given(st.data(), warp_runs(), options)
def test_with_hints_no_value_is_lost(data: st.DataObject, run: tuple[Kernel, Recorded], chosen: dict[str, Any]) -> None:
    """On paths of warps that diverge; the naive window fails if a read finds its value nowhere."""
    expect_naive_counts(data, run, "bow-wr", chosen | {"frees_registers": data.draw(st.booleans())})
