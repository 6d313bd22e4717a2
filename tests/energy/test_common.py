"""The technology that prices every design: its derived numbers, derived again, and that it does price them."""

from __future__ import annotations

import pytest

from warpreg import energy, gpu
from warpreg.cli.designs import ALL, design_choices
from warpreg.energy.technology import Technology
from warpreg.evaluation.runs.hardware import check_prices
from warpreg.evaluation.runs.technologies import default_technology

LOW, HIGH = 0.3, 0.9


@pytest.fixture(scope="module")
def technology() -> Technology:
    return energy.load("common-40nm")


def test_it_is_that_of_the_gebhart_papers_where_they_print(technology: Technology) -> None:
    printed = energy.load("gebhart-40nm")
    for name, level in printed.levels.items():
        own = technology.levels[name]
        assert (own.read, own.write, own.private) == (level.read, level.write, level.private)


@pytest.mark.parametrize("level", ["TFET", "DROWSY"])
def test_energies_follow_the_square_of_the_supply(technology: Technology, level: str) -> None:
    plain, found = technology.levels["MRF"], technology.levels[level]
    share = (LOW / HIGH) ** 2
    assert (found.read[0], found.write[0]) == pytest.approx((plain.read[0] * share, plain.write[0] * share), rel=1e-3)


def test_a_tfet_cell_leaks_700_times_less_than_a_cmos_cell_at_its_supply(technology: Technology) -> None:
    tfet, drowsy = (technology.arrays.cost(technology.levels[name].spec(256)) for name in ("TFET", "DROWSY"))
    assert drowsy.leakage_mw / tfet.leakage_mw == pytest.approx(700, rel=2e-2)
    assert drowsy.area_um2 == tfet.area_um2


def test_stall_prediction_takes_the_power_of_its_flip_flops(technology: Technology) -> None:
    """352 flip-flops of 5 fJ a clock at 45 nm and 1.1 V, here at 40 nm, 0.9 V and 1 GHz."""
    expected_mw = 352 * 5e-15 * 40 / 45 * (HIGH / 1.1) ** 2 * 1e9 * 1e3
    assert technology.logic["stall-prediction"].power == pytest.approx(expected_mw, rel=1e-2)


@pytest.mark.parametrize(("name", "gates_of_a_bit", "units"), [("compressor", 10, 2), ("decompressor", 8, 4)])
def test_compression_is_so_many_gates_of_the_coalescing_logic(
    technology: Technology, name: str, gates_of_a_bit: int, units: int
) -> None:
    """31 words of 32 bits; the coalescing logic has some 60,000 gates and takes 81.4 pJ in a cycle with all at work."""
    share = 31 * 32 * gates_of_a_bit / 60_000
    known, found = technology.logic["coalescing"], technology.logic[name]
    assert found.energy == pytest.approx(81.4 * share, rel=1e-2)
    assert found.leakage == pytest.approx(units * known.leakage * share, rel=2e-2)
    assert found.area == pytest.approx(units * known.area * share, rel=2e-2)


def test_the_band_is_from_the_gebhart_papers_to_cacti(technology: Technology) -> None:
    widest = energy.load("rc-rsp-28nm").levels["MRF"].band
    assert widest is not None
    assert technology.levels["MRF"].band == (energy.load("gebhart-40nm").levels["MRF"].private, widest[1])


@pytest.mark.parametrize("machine", ["gebhart-rfc", "titanx", "v100", "tfet"])
def test_it_prices_every_design_on_every_machine(technology: Technology, machine: str) -> None:
    described = gpu.load(machine)
    every = design_choices([ALL], [], machine=described)
    check_prices(every, described, technology)
    assert default_technology(every, described) == "common-40nm"
