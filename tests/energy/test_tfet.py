"""The derived numbers of the technology with two voltages, derived again from bow Table 3.4."""

from __future__ import annotations

import pytest

from warpreg import energy
from warpreg.energy.technology import Technology

BANK_PJ, BANK_MW, VOLTAGE = 185.26, 111.84, 0.96
"""A register bank of 64 KB at 28 nm (bow Table 3.4), the size of the register file."""
HIGH, LOW = 0.7, 0.3


@pytest.fixture(scope="module")
def technology() -> Technology:
    return energy.load("tfet")


@pytest.mark.parametrize(("level", "supply"), [("MRF", HIGH), ("TFET", LOW), ("DROWSY", LOW)])
def test_energies_follow_the_square_of_the_supply(technology: Technology, level: str, supply: float) -> None:
    found = technology.levels[level]
    expected = BANK_PJ * (supply / VOLTAGE) ** 2
    assert (found.read[0], found.write[0]) == pytest.approx((expected, expected), rel=1e-3)
    assert (found.voltage or technology.process.voltage) == supply


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("MRF", BANK_MW * HIGH / VOLTAGE),
        ("DROWSY", BANK_MW * LOW / VOLTAGE),
        ("TFET", BANK_MW * LOW / VOLTAGE / 700),  # Singh et al., ASP-DAC 2010
    ],
)
def test_leakage_follows_the_supply_and_the_device(technology: Technology, level: str, expected: float) -> None:
    cost = technology.arrays.cost(technology.levels[level].spec(512))
    assert cost.leakage_mw == pytest.approx(expected, rel=2e-3)


def test_cells_have_the_same_size(technology: Technology) -> None:
    """Section 3.3 of the study: CMOS and TFET SRAM."""
    areas = {name: technology.arrays.cost(technology.levels[name].spec(512)).area_um2 for name in ("MRF", "TFET")}
    assert areas["MRF"] == areas["TFET"]


def test_the_energy_of_a_file_of_tfets_alone_is_predicted() -> None:
    """An access takes (0.3 / 0.7)^2 of the energy: no input knows of the 0.16 that the paper prints for all energy."""
    levels = energy.load("tfet").levels
    assert levels["TFET"].read[0] / levels["MRF"].read[0] == pytest.approx((LOW / HIGH) ** 2, rel=1e-3)
    text = (energy.technology.FOLDER / "tfet.toml").read_text(encoding="utf-8")
    assert "value = 0.16" not in text


def test_logic_of_the_prediction(technology: Technology) -> None:
    """352 flip-flops of 5 fJ a clock at 45 nm and 1.1 V, at 28 nm, 0.7 V and 500 MHz: in mW."""
    power = 352 * 5e-15 * (28 / 45) * (0.7 / 1.1) ** 2 * 500e6 * 1e3
    assert technology.logic["stall-prediction"].power == pytest.approx(power, rel=0.1)
    area_um2 = 352 * 4.522 + 1000
    assert technology.logic["stall-prediction"].area == pytest.approx(area_um2 / 1e6, rel=0.02)
    leakage = area_um2 * 17.5e-6 * (0.7 / 0.9) * (28 / 40)
    assert technology.logic["stall-prediction"].leakage == pytest.approx(leakage, rel=0.1)
