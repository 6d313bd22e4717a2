"""Figures and results of the study of RegMutex (thesis of 2021, chapter 4), on made-up samples."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.designs.sharing.test_states import FIGURE_4_3

from warpreg import gpu, workloads
from warpreg.codegen.regalloc.allocator import AllocationError
from warpreg.designs.parts.sharing.choice import BY_RULE
from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice, RunError, find_workload, run_workload
from warpreg.evaluation.studies.study import EVERYTHING, Study
from warpreg.replay import Counts
from warpreg.simt import Record
from warpreg.trace.path import Visit, visits
from warpreg_papers import published
from warpreg_papers.regmutex import (
    causes,
    codes,
    designs,
    frames,
    kernels,
    live_registers,
    repeated,
    results,
)
from warpreg_papers.regmutex.codes import COMPILED, IN_ORDER, PRINTED
from warpreg_papers.regmutex.designs import FULL, HALF, OWF, PAIRED, REGMUTEX, RFV, baseline, plain, under
from warpreg_papers.regmutex.kernels import FULL_GROUP, HALF_GROUP, TABLE
from warpreg_papers.regmutex.samples import Placed, blocks_of
from warpreg_papers.reproduction import figures_of, reproduced


def sample(
    cycles: int, warps: int = 32, pool: int = 0, free: int = 0, acquires: int = 0, at_once: int = 0, conflicts: int = 0
) -> Placed:
    counts = Counts(
        "regmutex",
        {},
        (),
        np.zeros((1, 2, 2), np.int64),
        np.zeros((1, 1), np.int64),
        {"acquires": acquires, "acquires at once": at_once},
        1000,
    )
    return Placed(
        cycles=cycles,
        warp_instructions=1000,
        counts=counts,
        plain=counts,
        resources={},
        busy_cycles=cycles,
        stalls={"issued": 1, "empty": 1},
        bank_conflicts=conflicts,
        registers=24,
        spilled=0,
        base=24 - pool,
        pool=pool,
        free=free,
        warps=warps,
        occupancy=warps / 48,
    )


def study(found: dict[Any, dict[str, Any]]) -> Study:
    return Study("tiny", AS_COMPILED, found)


def test_the_kernels_are_those_of_table_4_1() -> None:
    assert len(designs.WORKLOADS) == published.parameter("regmutex-benchmarks") == 16
    for name, entry in TABLE.items():
        row = f"regmutex-table41-{entry.name.lower()}"
        assert published.parameter(f"{row}-regs") == entry.registers
        assert published.parameter(f"{row}-bs") == entry.base
        assert published.parameter(f"{row}-es") == entry.extended
        assert workloads.find(name).module().kernel_name(entry.kernel) == entry.kernel


def test_machines_are_those_of_the_paper() -> None:
    full, half = gpu.load(FULL), gpu.load(HALF)
    assert (full.chip.sms, full.sm.warps, full.schedulers.count, full.schedulers.policy) == (15, 48, 2, "gto")
    assert (full.register_file.bytes, half.register_file.bytes) == (128 * 1024, 64 * 1024)
    assert full.sm.blocks == full.sm.warps


def full_study() -> Study:
    """BFS gains 20% and SAD 10%; SAD has fewer sections."""
    cycles = {None: (100, 200), REGMUTEX: (80, 180), OWF: (100, 190), RFV: (70, 170), PAIRED: (90, 160)}
    found: dict[Any, dict[str, Any]] = {}
    for design, (bfs, sad) in cycles.items():
        measure = baseline(FULL_GROUP) if design is None else under(design, FULL_GROUP)
        shares = {"bfs": (10, 8), "sad": (10, 9 if design == PAIRED else 5)}
        more = 0 if design in (None, OWF) else 8
        found[measure] = {
            "bfs": sample(bfs, 32 + more, pool=6, free=60, acquires=shares["bfs"][0], at_once=shares["bfs"][1]),
            "sad": sample(sad, 32, pool=12, free=60, acquires=shares["sad"][0], at_once=shares["sad"][1]),
        }
    return study(found)


def test_reductions_are_means_of_cycles_over_the_baseline() -> None:
    found = results.PARTS["full"].findings(full_study())
    assert found == pytest.approx(
        {
            "regmutex-cycles-reduction": 0.15,
            "regmutex-compare-regmutex-reduction": 0.15,
            "regmutex-cycles-reduction-bfs": 0.2,
        }
    )
    found = results.PARTS["compare"].findings(full_study())
    assert found == pytest.approx(
        {
            "regmutex-compare-owf-reduction": 0.025,
            "regmutex-compare-rfv-reduction": 0.225,
            "regmutex-rfv-advantage": 7.5,
        }
    )


def test_no_design_gains_more_than_the_best_number_of_warps() -> None:
    """Without limit, BFS takes 75 of 100 cycles and SAD 210 of 200; RFV takes 70, pairs 160."""
    found = full_study()
    found.found[designs.ceiling(FULL_GROUP)] = {"bfs": sample(75), "sad": sample(210)}  # type: ignore[index]
    assert frames.most_reduced(found, FULL_GROUP) == pytest.approx({"bfs": 0.3, "sad": 0.2})
    del found.found[under(RFV, FULL_GROUP)]  # type: ignore[attr-defined]
    assert frames.most_reduced(found, FULL_GROUP) == pytest.approx({"bfs": 0.25, "sad": 0.2})


def test_bfs_cannot_gain_more_than_a_kernel_that_gains_more_than_its_best_number_of_warps() -> None:
    """BFS gains 30% at most; the others gain 10% with RegMutex, then DWT2D 40%: a margin of 20, and of -10 points."""
    limit = causes.LIMITS["regmutex-sad-vs-bfs"]
    found = full_study()
    found.found[designs.ceiling(FULL_GROUP)] = {"bfs": sample(75)}  # type: ignore[index]
    assert limit.bound(found) is None
    for dwt2d, margin in ((90, 0.2), (60, -0.1)):
        plain_ones = {**found[baseline(FULL_GROUP)], "dwt2d": sample(100), "particlefilter": sample(100)}
        shared = {**found[under(REGMUTEX, FULL_GROUP)], "dwt2d": sample(dwt2d), "particlefilter": sample(90)}
        more = {baseline(FULL_GROUP): plain_ones, under(REGMUTEX, FULL_GROUP): shared}
        assert limit.bound(dataclasses.replace(found, found={**found.found, **more})) == pytest.approx(margin)


def test_pairs_beside_the_default() -> None:
    """BFS gains 10 and SAD 20%, and acquires of SAD succeed more often.  Only one occupancy of two is known."""
    found = dict(results.PARTS["paired"].findings(full_study()))
    assert found.pop("regmutex-paired-sad") is True
    assert found == pytest.approx({"regmutex-paired-reduction": 0.15, "regmutex-paired-vs-default": 0.0})


def half_study() -> Study:
    """Every kernel takes 100 cycles, 140 with half of the file, 110 with more warps; merge-sort 141 with as many."""
    names = list(kernels.HALF_FILE)
    others = [name for name in names if name != "merge-sort"]
    found: dict[Any, dict[str, Any]] = {
        baseline(HALF_GROUP): {name: sample(100, 48) for name in names},
        plain(HALF_GROUP): {name: sample(140, 24) for name in names},
    }
    for design in (REGMUTEX, PAIRED, OWF, RFV):
        found[under(design, HALF_GROUP)] = {name: sample(110, 32) for name in others} | {"merge-sort": sample(141, 24)}
    return study(found)


def test_increases_with_half_of_the_file() -> None:
    found = dict(results.PARTS["half"].findings(half_study()))
    assert found.pop("regmutex-mergesort-slowdown") is True
    assert found == pytest.approx(
        {
            "regmutex-half-increase-none": 0.4,
            "regmutex-compare-none-half": 0.4,
            "regmutex-half-increase": (7 * 0.1 + 0.41) / 8,
            "regmutex-compare-regmutex-half": (7 * 0.1 + 0.41) / 8,
            "regmutex-half-occupancy-improved": 7,
        }
    )


def test_pairs_with_half_of_the_file() -> None:
    """The increase is that of the kernels whose occupancy is raised."""
    found = results.PARTS["paired-half"].findings(half_study())
    assert found == pytest.approx(
        {
            "regmutex-paired-half-increase": 0.1,
            "regmutex-paired-half-unchanged": 1,
            "regmutex-paired-half-vs-default": 0.0,
        }
    )


@pytest.mark.parametrize(("own", "holds"), [(8, True), (4, True), (2, False)])
def test_the_rule_takes_one_of_the_two_best_sizes(own: int, holds: bool) -> None:
    found: dict[Any, dict[str, Any]] = {
        baseline(FULL_GROUP): {"bfs": sample(100)},
        under(REGMUTEX, FULL_GROUP): {"bfs": sample(80, pool=own)},
    }
    for size in designs.SWEPT:
        found[designs.sized(size)] = {"bfs": sample({8: 80, 4: 85}.get(size, 95), pool=size)}
    assert results.PARTS["sweep"].findings(study(found)) == {"regmutex-heuristic-quality": holds}


def test_acquires_that_succeed_at_once() -> None:
    found = frames.figure_413(full_study())
    shares = {(row["workload"], row["design"]): row["at once"] for _, row in found.iterrows()}
    assert shares["sad", REGMUTEX] == 0.5
    assert shares["sad", PAIRED] == 0.9
    assert sample(1).at_once is None
    assert (sample(1, pool=12, free=60).sections, sample(1, warps=3, pool=12, free=60).sections) == (5, 3)


def test_bank_conflicts_by_mapping() -> None:
    """Of 1000 instructions: 100 conflicts with the plain file, 300 with the machine's mapping, 200 with its own."""
    found: dict[Any, dict[str, Any]] = {
        plain(FULL_GROUP): {"bfs": sample(100, conflicts=100)},
        under(REGMUTEX, FULL_GROUP): {"bfs": sample(100, conflicts=200)},
        designs.UNSPLIT: {"bfs": sample(100, conflicts=300)},
    }
    frame = frames.figure_46(study(found))
    assert frame["conflicts"].tolist() == [0.1, 0.3, 0.2]


def test_all_figures_of_samples_that_lack_workloads() -> None:
    for figure in figures_of("regmutex"):
        assert {figure.x.column, figure.y.column} <= set(figure.frame(full_study()).columns)
        assert len(figure.frame(study({}))) == 0


def test_every_result_is_measured_or_quoted() -> None:
    rows = {row.published.id: row.status for row in reproduced("regmutex", half_study())}
    assert len(rows) == 25
    assert {name for name, status in rows.items() if status == "quoted"} == {
        "regmutex-gpu-shrink-dynamic",
        "regmutex-gpu-shrink-overall",
    }


def test_the_series_compared_with_print_has_the_numbers_of_table_4_1() -> None:
    """TPACF: 28 registers, of which 20 are its base set.  A variant that sets a size keeps it."""
    own, entry = under(REGMUTEX, HALF_GROUP), TABLE["tpacf"]
    assert (own.demand, own.code, own.group, own.machine) == (PRINTED, PRINTED, HALF_GROUP, HALF)
    assert own.chosen(entry).values.extended == entry.extended == 28 - 20
    assert under(REGMUTEX, HALF_GROUP, designs.OWN).chosen(entry).values.extended == BY_RULE
    assert designs.sized(2).chosen(entry).values.extended == 2
    assert under(OWF, HALF_GROUP).chosen(entry).design.name == "owf"


def test_registers_without_limit_and_averages() -> None:
    """BFS takes 80 cycles of 100 and SAD 210 of 200: -20 and +5%.  Each has registers for all warp slots of 63."""
    found: dict[Any, dict[str, Any]] = {
        baseline(FULL_GROUP): {"bfs": sample(100), "sad": sample(200)},
        designs.ceiling(FULL_GROUP): {"bfs": sample(80), "sad": sample(210)},
    }
    frame = frames.averages(study(found))
    own = frame[frame["design"] == frames.NO_LIMIT].set_index("average")["increase"]
    assert own.to_dict() == pytest.approx({"mean": -0.075, "median": -0.075})
    machine = gpu.load(designs.UNLIMITED)
    assert machine.warp_registers >= 48 * 64


def test_time_that_sections_are_held_beside_the_sections_of_a_warp() -> None:
    """Of 24 warps in the mean, six hold a section; there are ten sections for 32 warps."""
    free = dataclasses.replace(sample(100, pool=6, free=600), resources={"sections held": 6 * 100})
    found: dict[Any, dict[str, Any]] = {
        designs.uncontended(FULL_GROUP): {"bfs": free},
        under(REGMUTEX, FULL_GROUP): {"bfs": sample(100, pool=6, free=60)},
    }
    frame = frames.held_shares(study(found)).set_index("what")["share"]
    assert frame.to_dict() == pytest.approx({"time held": 6 / 24, "sections": 10 / 32})


def test_figure_4_1_by_code_and_along_a_path() -> None:
    """The thread that runs s_1 reads R3 no more: live are R2 and R4 before the branch, with R5 before its store, R2 and
    R4 before the last one; the code has R3 until the end of s_1.
    """
    path = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9 + 2, 9 + 3]
    found = live_registers.path_share(FIGURE_4_3, path, 8) * 8
    assert found.tolist() == [0, 0, 1, 2, 2, 3, 4, 3, 2, 2, 0]
    compiled = live_registers.compiled_share(FIGURE_4_3, 8) * 8
    assert compiled[path].tolist() == [0, 1, 2, 3, 3, 4, 5, 4, 3, 2, 0]


def test_the_sample_thread_executes_the_most() -> None:
    """Block 0 of the kernel has 4 instructions, 1 has 5, 2 and 3 have 2: lane 1 of the second thread block runs 11, all
    others 4 or 8.
    """
    path = [Visit(0, 0, 0, 3), Visit(1, 0, 0, 3), Visit(1, 0, 1, 2), Visit(1, 0, 2, 1), Visit(1, 0, 3, 3)]
    assert live_registers.longest_path(path, FIGURE_4_3) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12]


def test_live_registers_in_equal_parts() -> None:
    assert live_registers.parts(np.array([0.5, 1.0])) == [0.5, 1.0]
    assert live_registers.parts(np.repeat([0.25, 0.75], 100))[:: live_registers.PARTS - 1] == [0.25, 0.75]


def size_of(trace: Any) -> int:
    """Words of addresses."""
    return sum(chunk.size for chunk in trace.address_chunks())


def test_thread_blocks_of_several_launches_are_numbered_through() -> None:
    run = run_workload(find_workload("vector-add"), record=EVERYTHING)
    launches = run.launches[:2]
    twice = repeated.enough(launches, 3 * launches[0].grid[0])
    assert isinstance(twice, repeated.RepeatedLaunch)
    assert twice.grid[0] == sum(one.grid[0] for one in twice.launches) >= 3 * launches[0].grid[0]
    found = list(dict.fromkeys(visit.thread_block for visit in visits(twice.trace.path_chunks())))
    assert found == list(range(twice.grid[0]))
    assert size_of(twice.trace) == sum(size_of(one.trace) for one in twice.launches)
    assert repeated.enough(launches, 1) is max(launches, key=lambda one: int(one.warp_instructions))


def test_four_waves_of_what_fits_apart_from_registers() -> None:
    """48 warp slots hold six thread blocks of 8 warps; 16 KB of shared memory each let three in."""
    launch: Any = SimpleNamespace(block=(256, 1, 1), shared_bytes=0)
    assert blocks_of(launch, gpu.load(FULL)) == 4 * 6
    launch.shared_bytes = 16 * 1024
    assert blocks_of(launch, gpu.load(HALF)) == 4 * 3


def test_the_printed_number_of_registers_is_compiled_to() -> None:
    run = run_workload(find_workload("spmv"), "tiny", record=EVERYTHING)
    assert codes.with_code(run, COMPILED) is run
    found = codes.with_code(run, PRINTED)
    assert found.options["address_bits"] == 32
    assert found.kernels[0].register_demand <= TABLE["spmv"].registers < run.kernels[0].register_demand
    assert codes.with_code(run, PRINTED) is found
    in_order = codes.with_code(run, IN_ORDER)
    assert (found.options["schedule"], in_order.options["schedule"]) == (True, False)
    assert in_order.options["address_bits"] == 32


def test_a_number_that_no_compilation_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_workload(find_workload("spmv"), "tiny", record=EVERYTHING)
    tried = []

    def fails(workload: Any, size: str, seed: int, choice: CompileChoice, record: Record) -> Any:
        tried.append(choice.max_registers)
        raise AllocationError("no room")

    monkeypatch.setattr(codes, "run_workload", fails)
    monkeypatch.setattr(codes, "MAX_MORE", 2)
    codes._printed.cache_clear()
    printed = kernels.TABLE["spmv"].registers
    message = f"expected code of at most {printed} registers, as printed, found none of less than {printed + 2}"
    with pytest.raises(RunError, match=message):
        codes.with_code(run, PRINTED)
    assert tried == [printed, printed + 1]
    codes._printed.cache_clear()


def test_workloads_of_the_other_group_are_not_measured() -> None:
    run: Any = SimpleNamespace(name="bfs")
    assert under(REGMUTEX, HALF_GROUP)(run) is None
    assert designs.LIVENESS(SimpleNamespace(name="spmv")) is None  # type: ignore[arg-type]
