"""Figures and results of the study of the hybrid CMOS-TFET register file, on made-up samples."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from warpreg import energy, gpu, workloads
from warpreg.designs import load
from warpreg.designs.interface import Table
from warpreg.energy.counts import Structure
from warpreg.evaluation.runs import sampling
from warpreg.evaluation.runs.run import AS_COMPILED
from warpreg.evaluation.runs.sampling import window_on_all
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sample, Sampled
from warpreg.evaluation.studies.study import Study
from warpreg.ir.errors import UnknownNameError
from warpreg.replay import Counts
from warpreg_papers import published
from warpreg_papers.ablation import under
from warpreg_papers.reproduction import figures_of, reproduced
from warpreg_papers.shown import find_ablation
from warpreg_papers.tfet import band, causes, costs, designs, frames, results, samples
from warpreg_papers.tfet.costs import Cost

MHZ = 500


def sample(
    variant: Variant,
    cycles: int = 1000,
    cmos: int = 100,
    tfet: int = 0,
    on: tuple[int, int] | None = None,
    **stalls: int,
) -> Sample:
    """One SM; accesses of both levels, registers that are on (by default all, or some of each), and cycles of warps."""
    design = load(variant.design)
    on = on or ((192, 64) if "TFET" in design.levels else (512, 0))
    accesses = np.zeros((len(design.levels), 2, 2), np.int64)
    accesses[0, 0, 0] = cmos
    if "TFET" in design.levels:
        accesses[1, 0, 0] = tfet
    structures = tuple(Structure(level) for level in design.levels)
    events = dict.fromkeys(design.events, 0)
    counts = Counts(design.name, {}, structures, accesses, np.zeros((len(structures),) * 2, np.int64), events, 100)
    resources = {name: on[place] * cycles for place, name in enumerate(design.declaration.resources)}
    stalled = stalls.get("stalled", 0)
    return Sample(
        cycles=cycles,
        warp_instructions=100,
        counts=counts,
        plain=counts,
        resources=resources,
        busy_cycles=cycles,
        stalls={"memory": stalled, "issued": stalls.get("resident", 100) - stalled, "empty": 10},
    )


def study(found: dict[Any, dict[str, Any]]) -> Study:
    return Study("tiny", AS_COMPILED, found)


def every() -> Study:
    """All measures of all workloads with one sample each."""
    found = {
        measure: {name: sample(measure.variant) for name in designs.WORKLOADS}
        for measure in designs.MEASURES
        if isinstance(measure, Sampled) and measure.variant
    }
    return study(found)


def test_the_benchmarks_are_those_that_the_text_names() -> None:
    assert len(designs.WORKLOADS) == published.parameter("tfet-benchmarks") == 11
    assert set(designs.WORKLOADS) <= set(workloads.names())
    for name in designs.WORKLOADS:
        assert "tfet" in workloads.find(name).papers


def test_the_machine_is_that_of_section_4_1() -> None:
    machine = gpu.load(designs.MACHINE)
    known = published.parameter
    memory = machine.memory
    assert memory.l1 is not None
    assert memory.network is not None
    assert memory.dram is not None
    found = {
        "tfet-sms": machine.chip.sms,
        "tfet-pipeline-width": machine.sm.lanes,
        "tfet-warp-size": machine.sm.threads_per_warp,
        "tfet-threads-per-sm": machine.sm.threads,
        "tfet-blocks-per-sm": machine.sm.blocks,
        "tfet-registers-per-sm": machine.register_file.registers,
        "tfet-register-vectors": machine.warp_registers,
        "tfet-shared-memory": machine.shared_memory.bytes // 1024,
        "tfet-texture-cache": memory.l1.bytes // 1024,
        "tfet-dram-controllers": memory.dram.channels,
        "tfet-dram-queue": memory.dram.queue,
        "tfet-counters": machine.sm.warps,
    }
    assert found == {name: known(name) for name in found}
    assert (machine.schedulers.policy, memory.memory.model, memory.network.kind) == ("lrr", "contention", "mesh")
    assert memory.l1.skip_global


def test_the_machine_is_that_of_the_configuration_of_ispass_2009() -> None:
    """Its options, in their own notation, and the defaults of those that it leaves out."""
    machine = gpu.load(designs.MACHINE)
    memory, dram, network = machine.memory, machine.memory.dram, machine.memory.network
    assert dram is not None
    assert network is not None
    assert memory.l1 is not None
    assert memory.l2 is not None
    core, interconnect, _, of_dram = (float(mhz) for mhz in "500.0:2000.0:2000.0:2000.0".split(":"))
    assert (machine.chip.clock_mhz, dram.clock_mhz) == (core, of_dram)
    assert (network.flit_bytes, network.flits_per_cycle) == (16, interconnect / core)
    assert f"{machine.sm.threads}:{machine.sm.threads_per_warp}:{machine.sm.lanes}" == "1024:32:32"
    sets, line, ways = (int(number) for number in "512:64:2".split(":"))
    assert (memory.l1.bytes, memory.l1.ways) == (sets * line * ways, ways)
    banks, ccd, rrd, rcd, ras, rp, rc, cl, wl, wtr = (int(number) for number in "4:2:8:12:21:13:34:9:4:5".split(":"))
    assert (dram.banks, dram.rrd, dram.rcd, dram.ras, dram.rp, dram.cl, dram.wl, dram.cdlr) == (
        banks, rrd, rcd, ras, rp, cl, wl, wtr,
    )  # fmt: skip
    assert rc == dram.ras + dram.rp
    chips, bus_bytes, burst = 2, 4, 4
    assert dram.bytes_per_clock == chips * bus_bytes * burst / ccd
    assert (dram.row_bytes, dram.row_bytes * dram.banks) == (1 << 11, memory.l2.interleave_bytes)
    assert machine.schedulers.blocks_warps
    assert machine.register_file.serves_instructions


def test_every_instruction_takes_the_same_pipeline_of_six_stages() -> None:
    """192 threads, which are six warps, fill it."""
    machine = gpu.load(designs.MACHINE)
    others = {pipe: worker for pipe, worker in machine.worker.items() if pipe not in ("mem", "tex", "ctrl")}
    assert set(others.values()) == {"fp"}
    issue_and_read = 2
    assert issue_and_read + machine.cycles("fp") == machine.control_cycles == 192 // 32
    (read_stage,) = machine.collectors.values()
    assert (read_stage.collectors, machine.register_file.banks) == (1, 1)


@pytest.mark.parametrize(
    ("name", "what", "entry"), [("cp", "atoms", 16), ("binomial-options", "options", 20), ("ray", "spheres", 32)]
)
def test_constants_fit_the_constant_cache(name: str, what: str, entry: int) -> None:
    """8 KB (section 4.1), so that loads of constants hit: no other benchmark has more constants than its arguments."""
    assert workloads.find(name).sizes["small"][what] * entry < 1024 * published.parameter("tfet-constant-cache")


def test_a_technology_without_the_second_voltage_is_one_line() -> None:
    with pytest.raises(UnknownNameError) as caught:
        costs.spent(sample(designs.MEM_RA), designs.MEM_RA, energy.load("corf"))
    assert str(caught.value) == "no level in technology corf named 'TFET'; there are: MRF"


def test_the_designs_have_the_printed_sizes() -> None:
    known = published.parameter
    values = load("mem-ra").configure()
    kilo = designs.KILO
    assert values.tfet == known("tfet-tfet-registers") * kilo == 112
    assert values.vectors - values.tfet == known("tfet-cmos-registers") * kilo
    assert (values.cycles, values.threshold, values.reference) == (
        known("tfet-tfet-access"),
        known("tfet-thr-acc"),
        known("tfet-ref-acc"),
    )
    assert tuple(designs.SIZES) == tuple(known("tfet-cmos-sweep"))
    assert [dict(one.values).get("tfet", 112) for one in designs.SIZES.values()] == [320, 192, 112, 64]
    tables = {one.name: one for one in load("mem-ra").hardware(values, gpu.load("tfet")) if isinstance(one, Table)}
    assert tables["renaming"].entries == known("tfet-rename-entries")
    assert tables["free-vectors"].entries == known("tfet-rename-buffers")
    assert {one.bits for one in tables.values()} == {known("tfet-rename-entry-bits")}


def test_energy_is_that_of_the_accesses_and_of_the_registers_that_are_on() -> None:
    """1000 cycles at 500 MHz: 512 CMOS registers leak 81.55 mW, half of them half of it."""
    found = costs.spent(sample(designs.GATED, cmos=100, on=(256, 0)), designs.GATED)
    leakage = 81.55 / 2 * 1000 * 1000 / MHZ
    assert (found.dynamic, found.leakage, found.added) == pytest.approx((9850, leakage, 0), rel=1e-3)


def test_tfet_registers_take_a_fifth_of_the_energy_and_leak_almost_nothing() -> None:
    plain = sample(designs.GATED, cmos=100)
    found = costs.normalized(sample(designs.ALL_TFET, cmos=0, tfet=100), designs.ALL_TFET, plain)
    whole = 9850 + 81.55e6 / MHZ
    assert found.dynamic == pytest.approx(1809 / whole, rel=1e-3)
    assert found.leakage == pytest.approx(0.05e6 / MHZ / whole, rel=1e-2)


def test_the_renaming_stage_is_charged_to_every_design_that_renames() -> None:
    plain = sample(designs.GATED)
    for variant in (designs.CMOS_RA, designs.MEM_RA, designs.IDEAL, designs.STAGE):
        assert costs.normalized(sample(variant), variant, plain).added > 0.01
    for variant in (designs.ALL_TFET, designs.DROWSY, designs.GATED):
        assert costs.normalized(sample(variant), variant, plain).added == 0


def test_added_area_follows_from_bits_and_ports() -> None:
    """Two tables of 512 entries of 9 bits, with two ports that read and two that write: a cell of 6 + 4 tracks in place
    of 6 + 2.
    """
    added = costs.added_area()
    tables = 2 * 512 * 9 / (512 * 1024) * (10 / 8) ** 2
    assert added["renaming"] == pytest.approx(tables)
    assert added["total"] == pytest.approx(tables + 0.0026 / 1.72)


def test_time_energy_and_stalls_are_of_the_gated_baseline() -> None:
    found = study(
        {
            designs.BASELINE: {"nn": sample(designs.GATED, 1000, stalled=30), "cp": sample(designs.GATED, 1000)},
            designs.timed(designs.ALL_TFET): {
                "nn": sample(designs.ALL_TFET, 1100, 0, 100),
                "cp": sample(designs.ALL_TFET, 1900, 0, 100),
            },
        }
    )
    measured = {**results.PARTS["stalls"].findings(found), **results.PARTS["all-tfet"].findings(found)}
    assert measured["tfet-stall-share"] == pytest.approx(0.15)
    assert measured["tfet-stall-compute"] == 0
    assert measured["tfet-all-tfet-slowdown"] == pytest.approx(0.5)
    assert measured["tfet-all-tfet-energy"] < 0.05


def test_savings_are_divided_into_dynamic_energy_and_leakage() -> None:
    found = study(
        {
            designs.BASELINE: {"nn": sample(designs.GATED)},
            designs.timed(designs.MEM_RA): {"nn": sample(designs.MEM_RA, 1000, 50, 50, (400, 112))},
        }
    )
    measured = results.PARTS["mem-ra"].findings(found)
    parts = [measured[f"tfet-mem-ra-mem-{part}"] for part in ("dynamic", "leakage")]
    assert math.fsum(map(float, parts)) == pytest.approx(float(measured["tfet-mem-ra-mem-energy-saving"]))
    assert measured["tfet-mem-ra-sm-energy"] == pytest.approx(0.175 * float(measured["tfet-mem-ra-energy-saving"]))


def test_a_stall_waits_for_data_or_for_a_memory_that_takes_nothing() -> None:
    assert frames.OFF_CHIP == ("memory", "memory queue")


def launch(blocks: int, instructions: int) -> Any:
    return SimpleNamespace(grid=(blocks, 1, 1), block=(256, 1, 1), warp_instructions=np.int64(instructions))


def test_the_longest_launches_of_a_kernel_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until they have a million instructions; of the long one the first half, which still fills the SMs."""
    monkeypatch.setattr(sampling, "room_of", lambda *_: SimpleNamespace(blocks=2))
    kernel = object()
    every = [launch(100, 10_000), launch(1000, 600_000), launch(100, 700_000)]
    run: Any = SimpleNamespace(kernels=[kernel], launches_of=lambda one: every)
    machine = gpu.load("tfet")
    taken = list(samples.sample(run, machine))
    assert [(int(one.warp_instructions), window.count) for one, window in taken] == [(700_000, 100), (600_000, 1000)]
    assert window_on_all(launch(1000, 2_000_000), machine).count == 500
    assert window_on_all(launch(1000, 90_000_000), machine).count == 28 * 2


def test_the_band_encloses_the_derived_energies() -> None:
    """The other source, at 28 nm and 0.7 V: 149.76 pJ and 22.4 mW of a quarter of 128 KB."""
    read, leakage = band.other_source()
    derived = energy.load("tfet")
    file = derived.arrays.cost(derived.levels["MRF"].spec(512))
    assert read * file.read_pj == pytest.approx(149.76 * 0.7 * (0.7 / 0.96) ** 2 * math.sqrt(2))
    assert leakage * file.leakage_mw == pytest.approx(22.4 * 2 * 0.7 * 0.7 / 0.96)
    plain = sample(designs.GATED)
    tfet = sample(designs.ALL_TFET, cmos=0, tfet=100)
    low, middle, high = (
        costs.normalized(tfet, designs.ALL_TFET, plain, technology).total
        for technology in (band.low().technology(), None, band.high().technology())
    )
    assert low < middle < high


def test_the_sweeps_go_around_the_paper() -> None:
    assert designs.LATENCIES[128] == designs.SAMPLING["every 1024 cycles"] == designs.MEM_RA
    assert min(designs.LATENCIES) < 128 < max(designs.LATENCIES)
    assert len(set(designs.VARIANTS)) == len(designs.VARIANTS)


def test_every_printed_result_and_figure_has_a_value() -> None:
    found = every()
    rows = {row.published.id: row for row in reproduced("tfet", found)}
    assert len(rows) == 26
    assert {name for name, row in rows.items() if row.status == "not measured"} == set()
    assert {name for name, row in rows.items() if row.status == "quoted"} == {"tfet-read-once"}
    for figure in figures_of("tfet"):
        frame = figure.frame(found)
        assert isinstance(frame, pd.DataFrame)
        assert not frame.empty


def test_without_workloads_there_are_no_values() -> None:
    nothing = study({measure: {} for measure in designs.MEASURES})
    assert set(results.findings(nothing)) == {"tfet-renaming-area", "tfet-total-area"}


def test_results_in_words() -> None:
    """The ideal file is faster, saves less, and on MM neither costs nor saves anything."""

    def found(ideal_mm: float) -> dict[str, Any]:
        plain = {name: sample(designs.GATED) for name in (designs.MM, designs.SLA)}
        mem = {
            name: sample(designs.MEM_RA, cycles, 40, 60, (300, 112))
            for name, cycles in ((designs.MM, 1100), (designs.SLA, 1200))
        }
        ideal = {
            designs.MM: sample(designs.IDEAL, round(1000 * ideal_mm), 92, 8, (500, 12)),
            designs.SLA: sample(designs.IDEAL, 1150, 40, 60, (300, 212)),
        }
        return dict(
            results.PARTS["words"].findings(
                study(
                    {
                        designs.BASELINE: plain,
                        designs.timed(designs.MEM_RA): mem,
                        designs.timed(designs.IDEAL): ideal,
                    }
                )
            )
        )

    assert found(1.0)["tfet-ideal-mem-ra"] is True
    assert found(1.1)["tfet-ideal-mem-ra"] is False
    assert found(1.0)["tfet-sla-degradation"] is True


def test_ablations_change_what_they_name() -> None:
    for name in causes.ABLATIONS:
        ablation = find_ablation("tfet", name)
        measures = [one for part in ablation.parts for one in results.PARTS[part].measures]
        assert ablation.choice or any(under(one, ablation) != one for one in measures)


def test_costs_are_sums() -> None:
    assert Cost(1.0, 2.0, 0.5).total == 3.0
    assert Cost(1.0, 2.0, 0.5).over(2.0) == Cost(0.5, 1.0, 0.25)
    assert frames.totals({"a": Cost(1.0, 2.0, 0.5)}) == {"a": 3.0}
