"""The technology that prices designs where the user names none."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpreg import designs, energy, gpu
from warpreg.experiments.runs.choices import Choice
from warpreg.experiments.runs.hardware import check_prices
from warpreg.experiments.runs.technologies import default_technology

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
    ],
)
def test_their_own_technology_comes_first(compared: str, technology: str) -> None:
    """`rfc` has no price in that of `rsp`, so both take the common one."""
    choices = [Choice.load(name) for name in compared.split(",")]
    assert default_technology(choices, MACHINE) == technology


def test_every_design_has_a_price_by_default() -> None:
    for name in designs.names():
        choices = [Choice.load(name)]
        check_prices(choices, MACHINE, energy.load(default_technology(choices, MACHINE)))


def test_where_none_prices_all_the_common_one_is_refused_later() -> None:
    choices = [Choice.load("corf"), Choice.load("all-tfet")]
    assert default_technology(choices, MACHINE) == "gebhart-40nm"


def test_a_users_design_may_name_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OWN, encoding="utf-8")
    choice = Choice.load(path)
    assert default_technology([choice], MACHINE) == "tfet"
    assert default_technology([choice, Choice.load("rsp")], MACHINE) == "gebhart-40nm", "they name different ones"
