"""LARF in time, worked by hand: sharing by pointer and by merging, loads under way, stores, release, order (thesis of
2021, §5.3, §5.5).

Unless stated otherwise: one scheduler, lrr, ideal operand path, latency 4; a load issued at ``t`` sends at ``t + 1``
and is back 20 cycles later.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.assembly import one_warp, warps
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched
from tests.timing.machine_files import machine_of
from tests.timing.random_runs import Case, cases
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Banks, CollectorSet, Sm
from tests.timing.test_miniatures import accesses, events
from tests.timing.vocabulary import Timed

from warpreg import gpu, simt
from warpreg.designs import DesignError, load, program_table
from warpreg.designs.errors import ParameterError
from warpreg.designs.interface import Launch
from warpreg.designs.interface.state import named_leaves
from warpreg.designs.parts.load_sharing import shadow
from warpreg.designs.parts.load_sharing.address_table import BUCKETS
from warpreg.designs.parts.load_sharing.columns import (
    ARRIVES,
    BURDEN,
    COUNT,
    LANES,
    MAPPED,
    PENDING,
    REFERENCES,
    TAKEN,
    UNDER_WAY,
)
from warpreg.designs.parts.load_sharing.state import PENDING_RULES
from warpreg.evaluation.runs.run import find_workload, run_workload
from warpreg.timing import simulate
from warpreg.timing.errors import TimingError

LARF = load("larf")
PLAIN = Sm(slots=4)
BANKED = Sm(slots=4, banks=Banks(sets=(CollectorSet(PIPES, collectors=4),)))
SIZES = {"physical": 64, "banks": 4, "entries": 16, "renaming_stages": 0, "versions": True}
A, B = 0x10000000, 0x10004000
USE = "ld.global.u32 R1, [R4.64]\nmov.b32 R2, R1"


@pytest.fixture(autouse=True)
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shadow memory of a few words."""
    monkeypatch.setattr(shadow, "WORDS", 1024)


def words(base: int, stride: int = 4, lanes: int = FULL) -> Access:
    """An access of a word of each lane."""
    found = sorted({base + lane * stride & -128 for lane in range(32) if lanes >> lane & 1})
    return Access(lanes, "global", 0, tuple((line, 15) for line in found), base, stride)


def run(launched: Launched, sm: Sm = PLAIN, sms: int = 1, resident: int = 8, **chosen: Any) -> Timed:
    """Both cores agree, and the register file and the table are empty at the end."""
    timed = agreed(launched, sm, sms=sms, resident=resident, design=LARF, **{**SIZES, **chosen})
    drained(timed)
    return timed


def drained(timed: Timed) -> None:
    state = dict(named_leaves(timed.outcome.state))
    assert not state["own"][:, [TAKEN, MAPPED, COUNT]].any()
    assert not state["hashed"][:, BUCKETS:].any()
    assert not state["registers"][:, :, [PENDING, ARRIVES]].any()
    assert not state["physical"][:, :, [REFERENCES, LANES, UNDER_WAY, BURDEN]].any()


def found(timed: Timed) -> dict[str, int]:
    """What was counted, without releases and zeros."""
    counted = {name: number for name, number in events(timed, LARF).items() if number}
    return {name: number for name, number in counted.items() if name not in ("released", "most_registers", "searched")}


def loads(timed: Timed) -> int:
    """Loads that memory has seen."""
    return sum(len(log.load_cycles) for log in timed.outcome.logs)


def test_a_hit_is_mapped_to_the_register_of_figure_5_5() -> None:
    """The second load of the warp issues at 23, after the first move, and is complete at 24: it has neither gone to
    memory nor written a register.  R1 is not dead after the first move, so its entry is there.
    """
    text = "ld.global.u32 R1, [R4.64]\nmov.b32 R2, R1\nld.global.u32 R3, [R4.64]\nadd.s32 R6, R1, R3"
    timed = run(one_warp(text, words(A), words(A)))
    timed.warp(0).issues().at(1, 22, 23, 24)
    assert found(timed) == {"global_loads": 2, "perfect": 1, "missed": 1}
    assert accesses(timed) == [[2 + 1 + 2 + 2, 3]]
    assert loads(timed) == 1


def test_a_miss_of_figure_5_5_gets_an_entry() -> None:
    text = "ld.global.u32 R1, [R4.64]\nld.global.u32 R3, [R4.64]\nadd.s32 R2, R1, R3"
    timed = run(one_warp(text, words(A), words(B)))
    assert found(timed) == {"global_loads": 2, "missed": 2}
    assert loads(timed) == 2


def test_a_load_waits_for_one_that_is_under_way() -> None:
    """Warp 0 loads at 1 and is back at 22.  The load of warp 1 is held from 2 and complete a cycle later, at 23."""
    timed = run(warps(USE, [(words(A),)], [(words(A),)]))
    timed.warp(0).issues().at(1, 22)
    timed.warp(1).issues().at(2, 23)
    assert found(timed) == {"global_loads": 2, "perfect": 1, "waited": 1, "missed": 1}
    assert accesses(timed) == [[2 * 3, 3]]
    assert loads(timed) == 1


def test_an_entry_may_be_found_only_once_its_data_are_there() -> None:
    """``pending="miss"``: warp 1 loads by itself, at 2 and back at 23.  Of three loads of a warp, the last one issues
    at 23, when the others are back, and finds the entry of one whose register is read later.
    """
    timed = run(warps(USE, [(words(A),)], [(words(A),)]), pending="miss")
    timed.warp(1).issues().at(2, 23)
    assert found(timed) == {"global_loads": 2, "missed": 2}
    assert loads(timed) == 2
    text = "ld.global.u32 R1, [R4.64]\nld.global.u32 R3, [R4.64]\nmov.b32 R2, R1\nld.global.u32 R6, [R4.64]"
    timed = run(one_warp(text + "\nadd.s32 R9, R1, R3\nmov.b32 R8, R6", *[words(A)] * 3), pending="miss")
    timed.warp(0).issues().at(1, 2, 22, 23, 24, 25)
    assert found(timed) == {"global_loads": 3, "perfect": 1, "missed": 2}


def test_a_load_may_be_complete_before_its_data_are_there() -> None:
    """``pending="complete"``: warp 1 loads at 2 and moves at 3, long before the data of warp 0 are back at 22."""
    timed = run(warps(USE, [(words(A),)], [(words(A),)]), pending="complete")
    timed.warp(0).issues().at(1, 22)
    timed.warp(1).issues().at(2, 3)
    assert found(timed) == {"global_loads": 2, "perfect": 1, "missed": 1}
    assert loads(timed) == 1


@pytest.mark.parametrize(("stride", "searches"), [(4, 1), (0, 0)])
def test_a_load_that_no_entry_covers_is_searched_for(stride: int, searches: int) -> None:
    """An access of the table for the load, one for the search (§5.5.2), which one address for all lanes needs not."""
    timed = run(one_warp(USE, words(A, stride)))
    assert events(timed, LARF)["searched"] == searches
    assert timed.outcome.counts.tables[1, 0] == 1 + searches


MERGING = """
    ld.global.u32 R1, [R4.64]
    ld.global.u32 R2, [R4.64]
    mov.b32 R3, R2
    ld.global.u32 R3, [R4.64]
    add.s32 R3, R1, R3
    add.s32 R3, R2, R3
"""
EXAMPLE = words(0x10000000), words(0x10000080), words(0x1000000C)


def test_the_example_of_partial_sharing() -> None:
    """The loads are back at 22 and 23.  The third issues at 24, after the move; the slot reads two registers and merges
    them, which takes four cycles.  It writes a register like any other result.
    """
    timed = run(one_warp(MERGING, *EXAMPLE))
    timed.warp(0).issues().at(1, 2, 23, 27, 31, 35)
    assert found(timed) == {"global_loads": 3, "partial": 1, "missed": 2, "merged": 2}
    assert accesses(timed) == [[3 * 2 + 1 + 2 + 2 + 2, 2 + 1 + 1 + 2]]
    assert loads(timed) == 2


def test_without_partial_sharing_it_goes_to_memory() -> None:
    timed = run(one_warp(MERGING, *EXAMPLE), partial=False)
    assert found(timed) == {"global_loads": 3, "missed": 3}


def test_a_merge_waits_for_both_registers() -> None:
    """Its parts are back at 22 and 23, so it is complete four cycles later, at 27."""
    text = "\n".join(f"ld.global.u32 R{i}, [R4.64]" for i in (1, 2, 3)) + "\nmov.b32 R6, R3\nadd.s32 R7, R1, R2"
    timed = run(one_warp(text, *EXAMPLE))
    timed.warp(0).issues().at(1, 2, 3, 27, 28)
    assert found(timed) == {"global_loads": 3, "partial": 1, "waited": 1, "missed": 2, "merged": 2}


def test_there_is_one_slot_for_merging() -> None:
    """Both warps ask for the same merge at 2 and 3, when the parts are under way: the second one is merged after the
    first, at 22 + 4 + 4.
    """
    first = "ld.global.u32 R1, [R4.64]\nmov.b32 R2, R1"
    half = words(A, lanes=0xFFFF)
    timed = run(warps(first, [(words(A),)], [(words(A + 4, lanes=0xFF),)], [(words(A + 8, lanes=0xFF),)]))
    timed.warp(0).issues("mov").at(22)
    assert {timed.warp(i).issues("mov").first for i in (1, 2)} == {26, 30}
    assert found(timed)["merged"] == 2
    assert found(run(warps(first, [(half,)], [(half,)])))["perfect"] == 1


def test_a_merged_register_may_get_an_entry() -> None:
    """The fourth load asks for the words of the third, which is in R3."""
    text = f"{MERGING.strip()}\nld.global.u32 R8, [R4.64]".replace("add.s32 R3", "add.s32 R7")
    text = f"{text}\nadd.s32 R8, R3, R8\nadd.s32 R8, R1, R2"
    text = text.replace("add.s32 R7, R1, R3\n", "").replace("    add.s32 R7, R2, R3\n", "")
    same = [*EXAMPLE, EXAMPLE[2]]
    assert found(run(one_warp(text, *same)))["partial"] == 2
    assert found(run(one_warp(text, *same), enters_merged=True))["perfect"] == 1


@pytest.mark.parametrize("site", ["st.global.u32 [R4.64], R2", "atom.global.add.u32 R3, [R4.64], R2"])
def test_a_store_of_one_byte_of_it_ends_sharing(site: str) -> None:
    """Without it, the second load would be answered by R1, which lives to the end."""
    text = f"{USE}\n{site}\nld.global.u32 R3, [R4.64]\nadd.s32 R3, R1, R3"
    touching, apart = words(A + 124, 0, 1), words(A + 128, 0, 1)
    timed = run(one_warp(text, words(A), touching, words(A)))
    assert found(timed) == {"global_loads": 2, "missed": 2, "overwritten": 1}
    assert found(run(one_warp(text, words(A), apart, words(A)))).get("overwritten") is None


def test_a_value_that_nothing_maps_to_is_not_shared() -> None:
    """The move is the last read of R1: its register is free, and the entry is deleted with it (§5.5.2)."""
    timed = run(one_warp(USE, words(A), times=2))
    assert found(timed) == {"global_loads": 2, "missed": 2}


def test_the_oldest_entry_leaves_a_full_table() -> None:
    text = "\n".join(f"ld.global.u32 R{i}, [R4.64]" for i in (1, 2, 3)) + "\nadd.s32 R1, R1, R2\nadd.s32 R1, R1, R3"
    timed = run(one_warp(text, words(A), words(B), words(A)), entries=1)
    assert found(timed) == {"global_loads": 3, "missed": 3, "evicted": 2}
    assert found(run(one_warp(text, words(A), words(B), words(A)), entries=2))["perfect"] == 1


def test_a_fence_forgets_what_was_loaded_before() -> None:
    text = f"{USE}\n{{}}\nld.global.u32 R3, [R4.64]\nadd.s32 R3, R1, R3"
    for fence, shared in (("membar.gl", 0), ("membar.cta", 1), ("bar.sync 0", 1)):
        timed = run(one_warp(text.format(fence), words(A), words(A)))
        assert found(timed).get("perfect", 0) == shared
        assert found(timed).get("forgotten", 0) == 1 - shared


def test_volatile_loads_and_bytes_do_not_share() -> None:
    for load_ in ("ld.volatile.global.u32", "ld.acquire.gpu.global.u32", "ld.global.u8"):
        text = USE.replace("ld.global.u32", load_)
        assert found(run(warps(text, [(words(A),)], [(words(A),)])))["not_words"] == 2


def test_irregular_loads_do_not_share() -> None:
    text = USE
    gather = Access(0b11, "global", 0, ((A, 15),), A, -(1 << 62), (A, A + 64))
    assert found(run(warps(text, [(gather,)], [(gather,)])))["irregular"] == 2


def test_each_word_of_a_pair_is_shared() -> None:
    """Lane ``i`` loads 8 bytes at A + 8 i; a later load of every second word hits the register of the high words."""
    text = "ld.global.u64 R2.64, [R4.64]\nmov.b32 R1, R2\nld.global.u32 R6, [R4.64]\nadd.s32 R6, R3, R6"
    timed = run(one_warp(text, words(A, 8), words(A + 4, 8)))
    assert found(timed) == {"global_loads": 2, "perfect": 1, "missed": 1}


PADDED = """
    mov.b32 R1, 0
    @P0 ld.global.u32 R1, [R4.64]
    mov.b32 R2, R1
    mov.b32 R3, 0
    @P0 ld.global.u32 R3, [R4.64]
    add.s32 R2, R1, R3
"""


def test_lanes_that_are_not_loaded_keep_their_values() -> None:
    """As at the edge of an image: the second load hits, but R3 keeps zeros in the other lanes.  So it is merged into a
    register of its own, for which the zeros are read; so they are for the first load.
    """
    edge = words(A, lanes=0x7FFFFFFF)
    timed = run(one_warp(PADDED, edge, edge))
    assert found(timed) == {"global_loads": 2, "partial": 1, "missed": 1, "merged": 1, "carried": 2}
    assert loads(timed) == 1


def test_a_load_of_all_lanes_needs_no_old_ones() -> None:
    """Under the same guard, but with all lanes: nothing is left alone, so the second load is a pointer."""
    assert found(run(one_warp(PADDED, words(A), words(A)))) == {"global_loads": 2, "perfect": 1, "missed": 1}


def test_fewer_lanes_hit_by_pointer() -> None:
    text = "ld.global.u32 R1, [R4.64]\nmov.b32 R2, R1\nld.global.u32 R3, [R4.64]\nadd.s32 R6, R1, R3"
    assert found(run(one_warp(text, words(A), words(A, lanes=0xFFFF))))["perfect"] == 1
    assert found(run(one_warp(text, words(A, lanes=0xFFFF), words(A))))["missed"] == 2


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(case=cases, entries=st.sampled_from((1, 3, 64)), merged=st.booleans(), pending=st.sampled_from(PENDING_RULES))
def test_both_cores_agree(case: Case, entries: int, merged: bool, pending: str) -> None:
    """And the register file is empty at the end, and no shared value is stale by a rule of order."""
    machine = machine_of(case.sm, case.sms, case.resident)
    chosen: dict[str, Any] = {
        **SIZES,
        "banks": machine.register_file.banks,
        "entries": entries,
        "enters_merged": merged,
        "pending": pending,
    }
    shape = case.sm, case.latency, case.interval, case.sms, case.resident
    timed = agreed(case.launched, *shape, LARF, **chosen)
    drained(timed)
    assert not found(timed).keys() & {"ordered_faults", "own_faults", "not_followed"}


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(case=cases)
def test_switched_off_it_is_the_plain_register_file(case: Case) -> None:
    shape = case.sm, case.latency, case.interval, case.sms, case.resident
    chosen: dict[str, Any] = {**SIZES, "enabled": False}
    plain, off = agreed(case.launched, *shape), agreed(case.launched, *shape, LARF, **chosen)
    assert (off.cycles, off.stalls.counts) == (plain.cycles, plain.stalls.counts)
    assert off.outcome.counts.accesses.tolist() == plain.outcome.counts.accesses.tolist()


def test_bad_parameters_are_one_line() -> None:
    with pytest.raises(
        ParameterError, match=r"^larf: parameter pending expects 'join' or 'miss' or 'complete', found 'wait'$"
    ):
        LARF.configure(pending="wait")
    with pytest.raises(
        ParameterError, match=r"^larf: parameter entries expects int from 1 to 65536 \(entries\), found 0$"
    ):
        LARF.configure(entries=0)


@pytest.mark.parametrize(
    ("machine", "chosen", "message"),
    [
        ("titanx", {}, "larf: all warps of an SM share registers, and each bank of titanx belongs to one scheduler"),
        ("larf-gp102", {"physical": 1024}, "larf: physical expects 2048, the warp-registers of an SM of larf-gp102"),
        ("larf-gp102", {"banks": 4}, "larf: banks expects 16, the banks of larf-gp102, found 4"),
    ],
)
def test_the_machine_must_fit(machine: str, chosen: dict[str, Any], message: str) -> None:
    program = program_table(one_warp(USE, words(A)).kernel)
    with pytest.raises(DesignError, match=message):
        LARF.room(LARF.configure(**chosen), program, gpu.load(machine), Launch(64))


def test_a_depth_wise_layer_fits_the_machine() -> None:
    """784 threads of 40 registers are 25 warps; in 128 KB of registers fit 1024 / 40 = 25, in whole groups of four
    only 24.  In 256 KB fit 51, which are two thread blocks, but 48 in groups of four.
    """
    machine = gpu.load("larf-gp102")
    half = replace(machine, register_file=replace(machine.register_file, bytes=131072))
    assert [gpu.occupancy(one, 40, 0, 784).blocks for one in (half, machine)] == [0, 1]


def test_a_run_without_addresses_is_one_line() -> None:
    run_ = run_workload(find_workload("vector-add"), "tiny", record=simt.Record(path=True))
    with pytest.raises(TimingError, match=r"no recorded addresses; timing needs a run recorded with addresses=True$"):
        simulate(run_.launches, "larf-gp102", designs=["larf"], mode="interpreted")
