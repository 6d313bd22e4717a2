"""Results of the coalescing operand register file, on made-up samples."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.timing.assembly import code

from warpreg import workloads
from warpreg.energy.counts import Structure
from warpreg.evaluation.runs.run import AS_COMPILED
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sample
from warpreg.evaluation.studies.study import Study
from warpreg.replay import Counts
from warpreg_papers import published
from warpreg_papers.ablation import Ablation, under
from warpreg_papers.corf import costs, designs, limits, results, samples, steps
from warpreg_papers.corf.designs import CORF, CORF_PP, FIRST_FIT, PACKING, PLAIN, VIRTUALIZATION, timed
from warpreg_papers.corf.sources import CodeGrowth, SourceRegisters, Sources
from warpreg_papers.reproduction import figures_of

NO_EVENTS = dict.fromkeys(
    ("multiple_sources", "coalesced", "coalesceable", "matched", "fitting", "grown", "buddies_placed", "buddies_packed",
     "pairs_placed", "pairs_packed", "operands", "one_byte", "two_bytes", "three_bytes", "four_bytes"), 0,
)  # fmt: skip


def sample(
    cycles: int = 100,
    instructions: int = 100,
    reads: int = 60,
    writes: int = 40,
    resources: Mapping[str, int] | None = None,
    looked_up: tuple[int, int] = (0, 0),
    added: int = 0,
    conflicts: tuple[int, int] = (0, 0),
    **events: int,
) -> Sample:
    """``looked_up``: lookups and updates of the renaming table; ``added``: instructions that CORF has added;
    ``conflicts`` of banks and of the table.
    """
    accesses = np.zeros((1, 2, 2), np.int64)
    accesses[0, 0, 0], accesses[0, 1, 0] = reads, writes
    table = {"renaming lookups": looked_up[0], "renaming updates": looked_up[1], "renaming conflicts": conflicts[1]}
    named = {**NO_EVENTS, **table, **events}
    moves = np.zeros((1, 1), np.int64)
    counts = Counts(
        "made-up", {}, (Structure("MRF"),), accesses, moves, named, instructions, added_warp_instructions=added
    )
    return Sample(
        cycles=cycles,
        warp_instructions=instructions,
        counts=counts,
        plain=counts,
        resources=resources or {},
        busy_cycles=cycles,
        stalls={},
        bank_conflicts=conflicts[0],
    )


def study(by_variant: Mapping[Variant | None, Mapping[str, Sample]]) -> Study:
    """Samples by design, then by workload; ``bfs`` is an integer workload, ``sgemm`` none."""
    return Study("tiny", AS_COMPILED, {timed(variant): each for variant, each in by_variant.items()})


def test_the_twenty_workloads_exist_and_follow_the_rule() -> None:
    assert len(set(designs.WORKLOADS)) == 20
    assert set(designs.WORKLOADS) <= set(workloads.names())
    assert set(designs.WORKLOADS) >= designs.INTEGER
    assert {workloads.find(name).suite for name in designs.WORKLOADS} == {"rodinia", "parboil", "cuda-sdk", "networks"}


def test_narrow_operands_and_the_bandwidth_that_they_leave() -> None:
    """Of 8 operands 4 need one byte, 2 need two, none three, 2 four: 6 are narrow; they leave 4 x 3 + 2 x 2 of 32."""
    found = study({None: {"bfs": sample()}, PACKING: {"bfs": sample(one_byte=4, two_bytes=2, four_bytes=2)}})
    part = results.PARTS["values"].findings(found)
    assert part["corf-narrow-ops"] == 0.75
    assert part["corf-single-byte-ops"] == 0.5
    assert samples.unused(found)["unused"].tolist() == [0.5]


def test_shares_of_instructions_with_several_registers_are_means_over_workloads() -> None:
    """Half and all of those of the two workloads could be coalesced; the most is that of one."""
    each = {
        "bfs": sample(multiple_sources=10, coalesceable=5, one_byte=1),
        "sgemm": sample(multiple_sources=10, coalesceable=10, one_byte=1),
    }
    part = results.PARTS["values"].findings(study({None: {"bfs": sample(), "sgemm": sample()}, PACKING: each}))
    assert part["corf-coalesceable"] == 0.75
    assert part["corf-coalesceable-max"] == 1


def test_accesses_are_all_of_reads_and_writes_by_class() -> None:
    """CORF leaves 80 of 100 accesses of the integer workload and 90 of the other, CORF++ 60 and 80."""
    plain = {"bfs": sample(), "sgemm": sample()}
    corf = {
        "bfs": sample(reads=40, multiple_sources=8, coalesced=2, grown=1, pairs_placed=4, pairs_packed=3),
        "sgemm": sample(reads=50, multiple_sources=8, coalesced=4),
    }
    more = {"bfs": sample(reads=20, multiple_sources=8, coalesced=8), "sgemm": sample(reads=40)}
    first = {name: sample(multiple_sources=50, coalesced=2) for name in plain}
    found = results.PARTS["coalescing"].findings(study({None: plain, FIRST_FIT: first, CORF: corf, CORF_PP: more}))
    assert found["corf-access-reduction-int"] == pytest.approx(0.2)
    assert found["corf-access-reduction-fp"] == pytest.approx(0.1)
    assert found["corf-access-reduction-all"] == pytest.approx(0.15)
    assert found["corf-pp-access-reduction-all"] == pytest.approx(0.3)
    assert found["corf-pp-vs-corf-accesses"] == pytest.approx(2)
    assert found["corf-first-fit-coalesced"] == pytest.approx(0.04)
    assert found["corf-coalesced"] == pytest.approx((0.25 + 0.5) / 2)
    assert found["corf-pair-success"] == 0.75, "a workload without pairs has no rate of success"
    assert found["corf-size-change-writes"] == pytest.approx(0.5 / 40)


def test_metadata_instructions_take_cycles_and_do_not_count() -> None:
    """100 instructions in 100 cycles; CORF issues 5 more, in 80 and 100 cycles: 1.25 and 1, harmonic mean 10/9."""
    plain = {"bfs": sample(), "sgemm": sample()}
    corf = {
        "bfs": sample(cycles=80, instructions=105, added=5), "sgemm": sample(instructions=105, added=5),
    }  # fmt: skip
    found = results.PARTS["performance"].findings(study({None: plain, CORF: corf, CORF_PP: corf}))
    assert found["corf-ipc-int"] == pytest.approx(0.25)
    assert found["corf-ipc-fp"] == pytest.approx(0)
    assert found["corf-ipc-all"] == pytest.approx(1 / 9)
    assert found["corf-ch1-pp-ipc"] == found["corf-pp-ipc-all"]


def test_sizes_are_of_the_registers_of_running_warps() -> None:
    """Physical over architected registers, summed over cycles: 60 and 80 of 100."""
    registers = {
        "bfs": sample(resources={"physical registers": 60, "architected registers": 100}),
        "sgemm": sample(resources={"physical registers": 160, "architected registers": 200}),
    }
    plain = {"bfs": sample(), "sgemm": sample()}
    found = results.PARTS["sizes"].findings(
        study({None: plain, PACKING: registers, VIRTUALIZATION: registers, designs.COMBINED: registers})
    )
    assert found["corf-packing-size"] == pytest.approx(0.3)


def test_a_workload_that_one_design_has_not_measured_is_in_no_mean() -> None:
    whole = {"bfs": sample(), "sgemm": sample()}
    found = study({None: whole, PACKING: {"sgemm": sample(one_byte=1)}})
    assert samples.names(found) == ["sgemm"]
    part = results.PARTS["values"].findings(found)
    assert part["corf-narrow-ops"] == 1


def test_a_class_without_workloads_has_no_result() -> None:
    same = {"sgemm": sample()}
    found = results.PARTS["performance"].findings(study({None: same, CORF: same, CORF_PP: same}))
    assert "corf-ipc-int" not in found
    assert found["corf-ipc-fp"] == 0


def test_instructions_with_several_registers_and_their_reads() -> None:
    """Three visits of an add of two registers, an add of one register to itself, and a move: 3 of 9 instructions and 6
    of 15 reads."""
    kernel = code("add.s32 R0, R1, R2\nadd.s32 R0, R1, R1\nmov.b32 R0, R1")
    launch = SimpleNamespace(block_visits=np.array([3]))
    run: Any = SimpleNamespace(kernels=(kernel,), launches_of=lambda one: (launch,))
    assert SourceRegisters()(run) == Sources(9, 15, 3, 6)


def test_an_ablation_changes_the_parameters_of_a_timed_design() -> None:
    profile = Ablation("profile", (), parameters={"corf": {"frequencies": "profile"}})
    assert under(timed(CORF), profile) == timed(Variant.of("corf", survey=True, frequencies="profile"))
    assert under(timed(CORF_PP), profile) == timed(CORF_PP)
    assert under(PLAIN, profile) == PLAIN


def test_an_access_costs_the_same_whatever_it_moves() -> None:
    """80 accesses of 100 and, by bytes, half of what they could move; 10 lookups and 2 updates of the renaming table at
    1.83 pJ."""
    corf = sample(7, reads=40, looked_up=(10, 2), resources={"physical registers": 7})
    halved = dataclasses.replace(corf.counts, spared=2 * corf.counts.accesses, slices=4)
    plain = sample()
    cost = costs.dynamic(corf, CORF, plain)
    assert cost.register_file == pytest.approx(0.8)
    assert cost.added == pytest.approx(12 * 1.83 / (100 * 149.76))
    by_bytes = costs.dynamic(dataclasses.replace(corf, counts=halved), CORF, plain, by_slices=True)
    assert by_bytes.register_file == pytest.approx(0.4)


def test_three_readings_of_the_power_of_the_logic() -> None:
    """57 mW in an SM for 7 cycles of 10/7 ns are 570 pJ, of 15 SMs 38; 90 operands of 8.14 pJ are 732.6."""
    corf, plain = sample(7, operands=90, resources={"physical registers": 7}), sample()
    for reading, expected in (("cycle", 570), ("chip", 38), ("operand", 90 * 8.14)):
        cost = costs.dynamic(corf, costs.priced(CORF, reading), plain)
        assert cost.added == pytest.approx(expected / (100 * 149.76))


def test_the_steps_to_a_coalesced_instruction() -> None:
    """Of 20 instructions 10 could be coalesced, 12 read a pair, of which 4 fit and 3 are in one register."""
    corf = {"bfs": sample(multiple_sources=20, coalesceable=10, matched=12, fitting=4, coalesced=3)}
    plain = {"bfs": sample()}
    found = steps.steps(study({None: plain, **dict.fromkeys(designs.VARIANTS, plain), CORF: corf}))
    assert found[found["design"] == "CORF"]["instructions"].tolist() == [0.5, 0.6, 0.2, 0.15]


def test_conflicts_are_of_all_accesses() -> None:
    """25 of 100 accesses of the register file, and 3 of 12 of the table; the baseline has no table."""
    one = {"bfs": sample(looked_up=(10, 2), conflicts=(25, 3))}
    found = steps.conflicts(study({None: {"bfs": sample(conflicts=(5, 0))}, **dict.fromkeys(designs.VARIANTS, one)}))
    assert set(found[found["banks of"] == steps.BANKS]["conflicts"]) == {0.05, 0.25}
    assert found[found["banks of"] == steps.TABLE]["conflicts"].tolist() == [0.25] * 4
    assert "baseline" not in set(found[found["banks of"] == steps.TABLE]["mapping"])


def test_unused_registers_do_not_leak() -> None:
    """On average 256 of 1024 physical registers are in use, in as many cycles; tables and logic leak beside them."""
    corf = sample(resources={"physical registers": 256 * 100, "architected registers": 512 * 100})
    cost = costs.leakage(corf, CORF, sample())
    assert cost.register_file == pytest.approx(0.25)
    assert cost.added >= (5.56 + 0.2) / 89.6


def test_every_result_and_figure_is_computed_from_the_samples() -> None:
    """Of an integer and another workload there is every printed result, and a row of every figure."""
    used = {"physical registers": 256 * 100, "architected registers": 512 * 100}
    one = sample(
        resources=used, looked_up=(10, 2), multiple_sources=10, coalesced=1, coalesceable=4, buddies_placed=2,
        buddies_packed=1, pairs_placed=2, pairs_packed=1, matched=3, fitting=2, operands=60, one_byte=2, four_bytes=2,
    )  # fmt: skip
    each = {"bfs": one, "sgemm": one}
    made_up = study({None: dict.fromkeys(each, sample(reads=80)), **dict.fromkeys(designs.VARIANTS, each)})
    of_code: dict[Any, Any] = {
        results.GROWTH: dict.fromkeys(each, 0.02), results.SOURCES: dict.fromkeys(each, Sources(10, 20, 4, 14)),
    }  # fmt: skip
    found = dataclasses.replace(made_up, found={**made_up.found, **of_code})
    assert results.findings(found).keys() == {result.id for result in published.results("corf")}
    for figure in figures_of("corf"):
        frame = figure.frame(found)
        assert len(frame), figure.name
        columns = {figure.x.column, figure.y.column, figure.series, figure.panels}
        assert columns - {""} <= set(frame.columns), figure.name


def test_a_design_that_inserts_nothing_does_not_grow_the_code() -> None:
    run: Any = SimpleNamespace(kernels=(code("add.s32 R0, R1, R2"),))
    assert CodeGrowth(CORF)(run) == 1, "one metadata instruction in front of one instruction"
    assert CodeGrowth(PACKING)(run) == 0


def test_pairs_count_once_and_placements_each_time() -> None:
    """Of 4 pairs of a warp 3 have shared a register; of 10 placements beside a buddy 1 has."""
    corf = {"bfs": sample(pairs_placed=4, pairs_packed=3, buddies_placed=10, buddies_packed=1)}
    plain = {"bfs": sample()}
    found = study({None: plain, **dict.fromkeys(designs.VARIANTS, plain), CORF: corf})
    assert samples.pair_success(found) == {"bfs": 0.75}
    assert samples.placement_success(found) == {"bfs": 0.1}


def test_speed_over_packing_leaves_out_what_renaming_costs() -> None:
    """100 instructions in 100 cycles, with packing in 125, with CORF in 120: 5/6 of the baseline, 25/24 of packing."""
    found = study({None: {"bfs": sample()}, PACKING: {"bfs": sample(cycles=125)}, CORF: {"bfs": sample(cycles=120)}})
    assert samples.speed(found, CORF)["bfs"] == pytest.approx(5 / 6)
    assert samples.speed(found, CORF, PACKING)["bfs"] == pytest.approx(25 / 24)


def test_size_and_leakage_by_two_definitions() -> None:
    """Warps have half of 1024 physical registers, and 128 are in use on average: a quarter of what warps have, and an
    eighth of the register file, which leaks an eighth, or as if it were as small as what warps have, a quarter.
    """
    packed = {"bfs": sample(resources={"physical registers": 128 * 100, "architected registers": 512 * 100})}
    found = study({None: {"bfs": sample()}, PACKING: packed})
    assert samples.size(found, PACKING)["bfs"] == pytest.approx(1 / 4)
    assert samples.size_of_file(found, PACKING)["bfs"] == pytest.approx(1 / 8)
    assert samples.leakage(found, PACKING)["bfs"].register_file == pytest.approx(1 / 8)
    of_warps = samples.leakage_of_warps(found, PACKING)["bfs"]
    assert of_warps.register_file == pytest.approx(1 / 4)
    assert of_warps.added == samples.leakage(found, PACKING)["bfs"].added


def test_coalescing_removes_at_most_an_access_for_each_instruction_with_values_that_fit() -> None:
    """30 instructions of 100 reads and 50 writes: a fifth of all accesses, and 0.8 of them are left."""
    plain, packing = sample(reads=100, writes=50), sample(reads=100, writes=50, coalesceable=30)
    found = study({None: {"bfs": plain}, PACKING: {"bfs": packing}})
    assert limits.removable(found) == {"bfs": pytest.approx(0.2)}
    assert limits.LIMITS["corf-access-reduction-all"].bound(found) == pytest.approx(0.2)
    assert limits.LIMITS["corf-table21-corf-reads"].bound(found) == pytest.approx(0.8)
    assert limits.LIMITS["corf-access-reduction-fp"].bound(found) is None
