"""Limits and lessons of the study of shared loads, on made-up launches."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from warpreg import gpu
from warpreg.evaluation.runs.run import AS_COMPILED, find_workload, run_workload
from warpreg.evaluation.studies.study import Study
from warpreg.simt import Record
from warpreg_papers.larf import designs, lessons, limits
from warpreg_papers.larf.causes import LIMITS
from warpreg_papers.larf.layers import Layer, Layers
from warpreg_papers.larf.results import PRINTED
from warpreg_papers.larf.sources import BLOCKED_PRODUCT, PLAIN_PRODUCT, SOURCES
from warpreg_papers.reproduction import lessons_of
from warpreg_papers.shown import find_ablation


def layer(cycles: int, loads: int = 100, shared: int = 0, **values: Any) -> tuple[Layer, ...]:
    given: dict[str, Any] = {"kernel": "depthwise", "registers": 20, "live": 16, "limiter": "warps"}
    return (Layer(cycles=cycles, loads=loads, shared=shared, **{**given, **values}),)


def of_limits(free: int, plain: int, most: int) -> Study:
    """The layer and both products take 120 cycles; so many with free loads, and with any number of thread blocks."""
    both = {PLAIN_PRODUCT: layer(120), BLOCKED_PRODUCT: layer(120)}
    found: dict[Any, dict[str, tuple[Layer, ...]]] = {designs.PLAIN: {"mobilenet": layer(120)}}
    found |= dict.fromkeys(designs.PRODUCTS, both)
    found |= dict(zip(designs.FREE_DEPTHWISE, ({"mobilenet": layer(100)}, {"mobilenet": layer(free)}), strict=True))
    found |= dict(zip(designs.FREE_PRODUCT, ({PLAIN_PRODUCT: layer(plain)}, {PLAIN_PRODUCT: layer(200)}), strict=True))
    found |= dict(zip(designs.ANY_BLOCKS, ({BLOCKED_PRODUCT: layer(most)}, {BLOCKED_PRODUCT: layer(120)}), strict=True))
    return Study("tiny", AS_COMPILED, found)


def test_limits_take_the_fastest_run_without_what_designs_spare() -> None:
    """120 / 60 cycles; 150 / 120 are 25% more; 120 / 96 are 25% faster."""
    found = of_limits(free=60, plain=150, most=96)
    assert limits.layer_speedup(found) == 2
    assert limits.software_extra(found) == pytest.approx(0.25)
    assert limits.blocks_extra(found) == pytest.approx(0.25)
    nothing = Study("tiny", AS_COMPILED, {})
    assert {one.bound(nothing) for one in LIMITS.values()} == {None}


def test_printed_values_within_the_limits_are_not_excluded() -> None:
    """3.5 of 120 / 30 cycles, 8% of -17% at least, and 10% of 25% at most."""
    near, far = of_limits(free=30, plain=100, most=96), of_limits(free=60, plain=150, most=120)
    assert {name: one.excluding(PRINTED[name], near) for name, one in LIMITS.items()} == dict.fromkeys(LIMITS)
    assert None not in {one.excluding(PRINTED[name], far) for name, one in LIMITS.items()}


def test_limits_are_of_their_own_machines_and_workloads() -> None:
    for name in (designs.FREE, designs.FREE_FERMI):
        machine = gpu.load(name)
        assert (machine.memory.memory.model, machine.latency.dram) == ("fixed", 1)
    assert gpu.load(designs.HALF).warp_registers == 1024
    assert find_ablation("larf", "half-registers").machine == {"machine": {designs.PASCAL: designs.HALF}}
    assert {name for names in designs.LIMITING.values() for name in names} == {
        "mobilenet", PLAIN_PRODUCT, BLOCKED_PRODUCT,
    }  # fmt: skip


@pytest.mark.parametrize(("name", "bits"), [("ptx-order", 64), ("fermi-code", 32)])
def test_code_may_keep_the_order_of_the_ptx(name: str, bits: int) -> None:
    """Networks ran as PTX (section 5.6), the products as code of old compilers for Fermi (section 5.6.3)."""
    choice = dataclasses.replace(AS_COMPILED, **find_ablation("larf", name).choice)
    assert (choice.schedule, choice.address_bits) == (False, bits)


def test_the_first_launch_of_a_kernel_may_be_timed_alone() -> None:
    run = run_workload(find_workload("2mm"), "tiny", record=Record(path=True, addresses=True))
    every = Layers(designs.PASCAL)(run)
    name = every[0].kernel
    assert len(every) == 2
    assert Layers(designs.PASCAL, first=name)(run) == every[:1]
    assert Layers(designs.PASCAL, first="another")(run) == ()


def test_lessons_have_the_figures_of_the_study() -> None:
    """Of all loads 75% are shared in each workload, which is a fifth faster (120 / 100 cycles)."""
    before, after = layer(120), layer(100, 25, 75)
    found: dict[Any, dict[str, tuple[Layer, ...]]] = {
        measure: dict.fromkeys([one for names in SOURCES.values() for one in names], after)
        for measure in designs.COMPARED
    }
    found[designs.PLAIN] = dict.fromkeys(found[designs.PLAIN], before)
    told = lessons_of("larf", Study("tiny", AS_COMPILED, found))
    assert len(told) == 2
    assert "answer 75.0% to 75% of the global loads" in told[0]
    assert "gains 20.0% in speed" in told[0]
    assert "no more than 0.0%" in told[1]
    assert len(list(lessons.lessons(of_limits(60, 150, 96)))) == 1
    assert not lessons_of("larf", Study("tiny", AS_COMPILED, {}))
