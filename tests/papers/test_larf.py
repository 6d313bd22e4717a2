"""Figures and results of the study of shared loads (thesis of 2021, chapter 5), on made-up launches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from warpreg import gpu, workloads
from warpreg.evaluation.runs.run import AS_COMPILED, find_workload, run_workload
from warpreg.evaluation.studies.study import Study
from warpreg_papers import published
from warpreg_papers.ablation import under
from warpreg_papers.larf import costs, designs, frames, results
from warpreg_papers.larf.designs import (
    DESIGNS,
    INFINITE,
    LIMITED,
    LIMITED_LAS,
    PLAIN,
    SCHEDULED,
    SCHEDULERS,
    timed,
)
from warpreg_papers.larf.layers import Layer, Layers
from warpreg_papers.larf.sources import BLOCKED_PRODUCT, LAYERS, PLAIN_PRODUCT, SOURCES, SQUARE_PRODUCT
from warpreg_papers.reproduction import figures_of, reproduced
from warpreg_papers.shown import find_ablation, parts_of


def layer(cycles: int, loads: int = 100, shared: int = 0, **values: Any) -> Layer:
    given: dict[str, Any] = {"kernel": "k", "registers": 20, "live": 16, "limiter": "warps"}
    return Layer(cycles=cycles, loads=loads, shared=shared, **{**given, **values})


def study(found: Mapping[Any, Mapping[str, tuple[Layer, ...]]]) -> Study:
    return Study("tiny", AS_COMPILED, found)


def test_the_workloads_are_those_of_the_paper_as_far_as_the_suite_has_them() -> None:
    assert len(SOURCES) == published.parameter("larf-benchmarks") == 7
    assert {name.partition(":")[0] for name in designs.WORKLOADS} <= set(workloads.names())
    assert len(LAYERS) == sum(published.parameter("larf-cifarnet-layers"))


@pytest.mark.parametrize(
    ("name", "grid", "block"),
    [
        (PLAIN_PRODUCT, (1, 16), (128, 8)),
        (BLOCKED_PRODUCT, (4, 4), (32, 32)),
        (SQUARE_PRODUCT, (4, 4), (32, 32)),
    ],
)
def test_products_are_128_by_128_at_every_size(name: str, grid: tuple[int, int], block: tuple[int, int]) -> None:
    """Section 5.6.3; all have 16 thread blocks of 1024 threads, in which a warp computes a part of one row."""
    run = run_workload(find_workload(name), "small")
    (launch,) = run.launches
    assert {run.outputs["c"].shape} == {(128, 128)}
    assert (launch.grid[:2], launch.block[:2]) == (grid, block)
    assert set(find_workload(name).sizes) == {"tiny", "small", "full"}


def test_designs_have_the_printed_tables() -> None:
    values = {one: one.chosen().values for one in designs.MEASURES if isinstance(one, Layers) and one.variant}
    assert values[timed(LIMITED)].entries == published.parameter("larf-table-entries") == 400
    assert values[timed(LIMITED_LAS)].larf_entries == 400
    assert values[timed(INFINITE)].entries == published.parameter("larf-warp-registers")
    assert values[designs.SHARED_FERMI].entries == published.parameter("larf-table-entries-fermi")
    policies = {name: gpu.load(one.machine).schedulers.policy for name, one in SCHEDULED.items()}
    assert policies == {"LRR": "lrr", "GTO": "gto", "TWL": "two-level", "LAS": "lrr"}


def test_the_machine_is_that_of_the_paper() -> None:
    """2048 warp-registers of 128 bytes are 256 KB, not the printed 128."""
    machine = gpu.load(designs.PASCAL)
    assert machine.chip.sms == published.parameter("larf-sms")
    assert machine.warp_registers == published.parameter("larf-warp-registers")
    assert machine.shared_memory.bytes == 1024 * published.parameter("larf-shared-memory")
    assert machine.collectors["general"].collectors == published.parameter("larf-operand-collector-slots")
    assert machine.register_file.bytes == 2 * 1024 * published.parameter("larf-rf-per-sm")


def test_400_entries_of_83_bits_are_4_kb_and_not_the_printed_1() -> None:
    assert costs.table_kb()["address-mapping"] == pytest.approx(400 * 83 / 8 / 1024)
    rows = costs.storage().set_index(["table", "size"])["KB"]
    assert rows["address-mapping", "printed"] == rows["renaming", "printed"] == 1
    assert rows["renaming", "entries x bits"] == 2048 * 11 / 8 / 1024


def networks(plain: tuple[Layer, ...], shared: tuple[Layer, ...]) -> Study:
    """All designs alike, on every workload; the plain register file apart."""
    found: dict[Layers, dict[str, tuple[Layer, ...]]] = {PLAIN: dict.fromkeys(designs.WORKLOADS, plain)}
    for variant in DESIGNS.values():
        found[timed(variant)] = dict.fromkeys(designs.WORKLOADS, shared)
    return study(found)


def test_a_layer_may_gain_more_than_the_network() -> None:
    """The first launch is twice as fast and loads a quarter; the second one does not change: 300 / 250 cycles."""
    shared = (layer(50, 25, 75, in_use=10, allocated=40), layer(200, in_use=10, allocated=20))
    found = results.findings(networks((layer(100), layer(200, limiter="registers")), shared))
    assert found["larf-global-loads-removed-max"] == 0.75
    assert found["larf-end-to-end-max"] == pytest.approx(0.2)
    assert found["larf-las-gain-2mm"] == 0
    assert found["larf-lenet-register-limited"] == 0.5
    assert found["larf-end-to-end-others"] is False
    assert found["larf-las-above-infinite"] is False
    assert found["larf-register-utilisation"] == pytest.approx((0.25 + 0.5) / 2)
    assert found["larf-register-saving"] == pytest.approx(1 - (0.25 + 0.5) / 2 * 20 / 16)


def test_the_layer_of_the_paper_is_the_first_depth_wise_one() -> None:
    """§5.6.1: 100 / 80 cycles; a point-wise layer of MobileNet gains more, and so does a later one of its kind."""
    kernels = ("first_convolution", "depthwise", "pointwise", "depthwise")
    plain = tuple(layer(100, kernel=kernel) for kernel in kernels)
    shared = tuple(layer(cycles, kernel=kernel) for cycles, kernel in zip((90, 80, 25, 50), kernels, strict=True))
    found = results.findings(networks(plain, shared))
    assert found["larf-layer-speedup-max"] == found["larf-layer-speedup-intro"] == 100 / 80
    assert "larf-layer-speedup-max" not in results.findings(networks((layer(2),), (layer(1),)))


def test_global_loads_of_a_network_are_those_of_all_launches() -> None:
    frame = frames.remaining(networks((layer(1, 10), layer(1, 90)), (layer(1, 10), layer(1, 40))))
    assert set(frame[frame["quantity"] == "global loads"]["value"]) == {0.5}


def test_gains_are_set_beside_the_printed_ones_in_descending_order() -> None:
    """2MM is three times as fast, LeNet slower, the others as before; the text prints 70% first and 6% last."""
    found = networks((layer(120),), (layer(120),))
    shared = {**found.found[timed(LIMITED_LAS)], "2mm": (layer(40),), "lenet": (layer(150),)}
    frame = frames.gains_in_order(study({**found.found, timed(LIMITED_LAS): shared})).set_index(["workload", "gain"])
    assert frame.loc[("2MM", "measured"), "value"] == 2
    assert frame.loc[("2MM", "printed at this place"), "value"] == 0.7
    assert frame.loc[("LeNet", "measured"), "value"] == pytest.approx(-0.2)
    assert frame.loc[("LeNet", "printed at this place"), "value"] == 0.06


def test_layers_are_named_in_the_order_of_launches() -> None:
    nine = tuple(layer(1) for _ in range(9))
    assert frames.named_layers(study({PLAIN: {"cifarnet": nine}}), "CifarNet") == list(LAYERS.values())
    kernels = ("first_convolution", "depthwise", "pointwise", "depthwise")
    mobilenet = study({PLAIN: {"mobilenet": tuple(layer(1, kernel=kernel) for kernel in kernels)}})
    assert frames.named_layers(mobilenet, "MobileNet") == ["Cv1", "DWC1", "PWC1", "DWC2"]


def test_a_workload_that_was_not_measured_is_left_out() -> None:
    assert frames.launches(study({PLAIN: {"cifarnet": (layer(1),)}}), PLAIN, "MobileNet") == []


def test_schedulers_are_compared_layer_by_layer() -> None:
    """LRR shares more than the two-level scheduler in the second of two layers; LAS most in both."""
    shared = {"LRR": (10, 60), "GTO": (5, 5), "TWL": (20, 30), "LAS": (90, 90)}
    found = {
        SCHEDULED[name]: {"cifarnet": tuple(layer(100, 100 - part, part) for part in parts)}
        for name, parts in shared.items()
    }
    printed = results.findings(study(found))
    assert (printed["larf-lrr-better-layers"], printed["larf-twl-better-layers"]) == (1, 1)
    assert printed["larf-las-best"] is True


def test_products_on_fermi() -> None:
    """128 registers are 16 KB."""
    found = {
        designs.PLAIN_FERMI: {PLAIN_PRODUCT: (layer(200, registers=20),), BLOCKED_PRODUCT: (layer(110, registers=30),)},
        designs.SHARED_FERMI: {
            PLAIN_PRODUCT: (layer(100, in_use=264, allocated=400),),
            BLOCKED_PRODUCT: (layer(105, in_use=208, allocated=400),),
        },
        designs.MORE_BLOCKS: {PLAIN_PRODUCT: (layer(90),), BLOCKED_PRODUCT: (layer(100),)},
    }
    printed = results.findings(study(found))
    assert printed["larf-matmul-sharing-speedup"] == 1
    assert printed["larf-matmul-software-extra"] == pytest.approx(100 / 110 - 1)
    assert printed["larf-matmul-ctas-extra"] == pytest.approx(0.1)
    assert printed["larf-matmul-register-increase"] == 0.5
    assert printed["larf-matmul-register-saving"] == pytest.approx((0.34 + 0.48) / 2)
    assert printed["larf-matmul-register-saved-kb"] is True


def test_every_result_has_a_row_and_every_figure_a_frame() -> None:
    empty = networks((layer(1, in_use=1, allocated=2),) * 9, (layer(1, in_use=1, allocated=2),) * 9)
    assert len(list(reproduced("larf", empty))) == 21
    complete = study({**empty.found, **{one: {"cifarnet": (layer(1),) * 9} for one in SCHEDULED.values()}})
    for figure in figures_of("larf"):
        assert {figure.x.column, figure.y.column} <= set(figure.frame(complete).columns)


def changed(name: str) -> set[Layers]:
    """The measures of an ablation."""
    ablation = find_ablation("larf", name)
    found = {under(measure, ablation) for part in parts_of("larf", ablation) for measure in part.measures}
    return {one for one in found if isinstance(one, Layers)}


def test_the_ablation_changes_the_machine_of_the_products() -> None:
    assert {one.machine for one in changed("uncached")} == {"larf-gtx480-uncached"}
    memory = gpu.load("larf-gtx480-uncached").memory
    assert memory.l1 is not None
    assert memory.l1.skip_global


def test_memory_has_the_contention_of_its_base_except_in_an_ablation() -> None:
    models = {name: gpu.load(name).memory.memory.model for name in ("titanx", *SCHEDULERS.values())}
    assert set(models.values()) == {"contention"}
    assert {gpu.load(one.machine).memory.memory.model for one in changed("cached")} == {"cached"}


@pytest.mark.parametrize(("name", "rule"), [("pending-misses", "miss"), ("pending-completes", "complete")])
def test_ablations_change_what_loads_under_way_do(name: str, rule: str) -> None:
    """In each design, also beside LAS; the plain register file has no such loads."""
    rules = [dict(one.variant.values) for one in changed(name) if one.variant is not None]
    assert {values.get("pending", values.get("larf_pending")) for values in rules} == {rule}
    assert all(one.chosen() for one in changed(name))


def test_the_plain_product_may_have_the_blocks_of_the_other() -> None:
    assert find_ablation("larf", "square-blocks").code == {PLAIN_PRODUCT: SQUARE_PRODUCT}
