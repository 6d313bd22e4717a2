"""The technology that prices designs where the user names none."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpreg import designs, energy, gpu
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.comparison import Setting, compare
from warpreg.evaluation.runs.hardware import check_prices
from warpreg.evaluation.runs.run import Run, RunError, find_workload, run_workload
from warpreg.evaluation.runs.technologies import default_technology

MACHINE = gpu.load("gebhart-rfc")
OWN = """from warpreg.designs.interface import Declaration
DESIGN = Declaration(slot="levels", source="a test", technology="tfet")
"""


@pytest.mark.parametrize(
    ("compared", "technology"),
    [
        ("mrf", "gebhart-40nm"),
        ("mrf,rfc,orf-lrf", "gebhart-40nm"),
        ("rsp,rc-rsp", "rc-rsp-28nm"),
        ("mrf,rc", "rc-rsp-28nm"),
        ("rfc,rsp,rc-rsp", "gebhart-40nm"),
        ("bow", "gebhart-40nm"),
        ("corf", "corf"),
        ("mrf,all-tfet", "tfet"),
        ("rfc,corf,all-tfet", "common-40nm"),
    ],
)
def test_their_own_technology_comes_first(compared: str, technology: str) -> None:
    """`rfc` has no price in that of `rsp`, so both take the default.  What no paper's prices, the common one does."""
    choices = [ConfiguredDesign.load(name) for name in compared.split(",")]
    assert default_technology(choices, MACHINE) == technology


def test_every_design_has_a_price_by_default() -> None:
    for name in designs.names():
        choices = [ConfiguredDesign.load(name)]
        check_prices(choices, MACHINE, energy.load(default_technology(choices, MACHINE)))


def test_a_users_design_may_name_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OWN, encoding="utf-8")
    choice = ConfiguredDesign.load(path)
    assert default_technology([choice], MACHINE) == "tfet"
    assert default_technology([choice, ConfiguredDesign.load("rsp")], MACHINE) == "gebhart-40nm", (
        "they name different ones"
    )


@pytest.fixture(scope="module")
def run() -> Run:
    return run_workload(find_workload("vector-add"))


def test_energies_have_the_band_of_their_technology(run: Run) -> None:
    """An access of the MRF takes 148 to 357 pJ; the more it takes, the less remains of its energy."""
    choices = [ConfiguredDesign.load("mrf"), ConfiguredDesign.load("rsp")]
    alone, scratchpad = compare(run, choices, Setting.load(choices=choices))
    assert alone.band == pytest.approx((1.0, 1.0))
    assert scratchpad.band is not None
    low, high = scratchpad.band
    assert low < scratchpad.energy < high
    assert scratchpad.as_dict()["energy_band"] == [low, high]
    (other,) = compare(run, [ConfiguredDesign.load("rfc")], Setting.load())
    assert other.band is None
    assert "energy_band" not in other.as_dict()


def test_a_design_of_several_warps_says_what_gives_a_schedule(run: Run) -> None:
    choices = [ConfiguredDesign.load("rc-rsp")]
    with pytest.raises(RunError, match=r"needs a recorded schedule: --cycles makes one, --schedule FILE reads one"):
        list(compare(run, choices, Setting.load(choices=choices)))
