"""Occupancy by the register demand of a kernel, and by a number of the user."""

from __future__ import annotations

import dataclasses
import json

import pytest
from tests.timing.test_miniatures import FOLDER

from warpreg import api, gpu
from warpreg.cli import main
from warpreg.designs import DesignError
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.comparison import Setting, row
from warpreg.evaluation.runs.counting import Replayed
from warpreg.evaluation.runs.residency import theoretical
from warpreg.evaluation.runs.run import CompileChoice, find_workload, run_workload
from warpreg.ir.errors import UnknownNameError

MACHINE = gpu.load("gebhart-rfc")
"""128 KB, 1024 warp-registers; 32 warps, 8 blocks of an SM; nothing is rounded."""
HALF_REGISTERS = FOLDER / "half_registers.py"


def test_the_kernels_own_demand_counts_where_none_is_given() -> None:
    """vector-add needs few registers, so that 4 blocks of 8 warps fill the SM's 32 warps."""
    run = run_workload(find_workload("vector-add"))
    (found,) = run.residencies(MACHINE)
    assert (found.registers, found.given) == (run.kernels[0].register_demand, False)
    assert (found.warps, found.fraction, found.limiter) == (32, 1.0, "warps")


def test_a_given_demand_decides_the_occupancy() -> None:
    """1024 warp-registers hold 17 warps of 60 each: two blocks of 8 warps."""
    run = run_workload(find_workload("vector-add"), choice=CompileChoice(registers=60))
    (found,) = run.residencies(MACHINE)
    assert (found.registers, found.given, found.demanded) == (60, True, run.kernels[0].register_demand)
    assert (found.warps, found.fraction, found.limiter) == (16, 0.5, "registers")


def test_a_design_decides_the_occupancy(capsys: pytest.CaptureFixture[str]) -> None:
    """With half of the 60 registers, 1024 warp-registers hold 34 warps: the 32 of the SM."""
    options = ["--size", "tiny", "--registers", "60", "--machine", "gebhart-rfc"]
    assert main(["compare", "vector-add", "--designs", "mrf", "--design", str(HALF_REGISTERS), *options, "--json"]) == 0
    plain, half = (row["residency"][0] for row in json.loads(capsys.readouterr().out))
    assert (plain["registers_of_a_warp"], plain["occupancy"], plain["limiter"]) == (60, 0.5, "registers")
    assert (half["registers_of_a_warp"], half["occupancy"], half["limiter"]) == (30, 1.0, "warps")
    assert main(["compare", "vector-add", "--designs", "mrf", "--design", str(HALF_REGISTERS), *options]) == 0
    shown = capsys.readouterr().out
    assert "50%, registers" in shown
    assert "100%, warps" in shown


def test_occupancies_of_several_kernels_in_words() -> None:
    run = run_workload(find_workload("vector-add"), choice=CompileChoice(registers=60))
    (half,) = run.residencies(MACHINE)
    full = dataclasses.replace(half, fraction=1.0, limiter="warps")
    assert theoretical([]) == ""
    assert theoretical([half, half]) == "50%, registers"
    assert theoretical([half, full]) == "50% to 100%, registers or warps"


def test_counts_of_a_design_that_the_machine_cannot_have_show_no_occupancy() -> None:
    """Its four banks are not the sixteen of this machine, but its accesses along a schedule can be counted."""
    run, setting, choice = (
        run_workload(find_workload("vector-add")),
        Setting.load(),
        ConfiguredDesign.load("virtualization"),
    )
    counted = Replayed().count(run, ConfiguredDesign.load("mrf"), setting.machine)
    assert row(run, choice, setting, counted, counted, {}).residency == ()
    with pytest.raises(DesignError, match="virtualization: banks expects"):
        run.residencies(setting.machine, choice)


def test_rows_and_runs_are_labelled(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--size", "tiny", "--registers", "60", "--level", "ptx", "--json"]
    assert main(["compare", "vector-add", *options]) == 0
    for one in json.loads(capsys.readouterr().out):
        assert (one["provenance"]["registers"], one["provenance"]["level"]) == (60, "ptx")
        assert one["residency"][0]["registers"] == "given"
        assert one["residency"][0]["resident_warps"] == 16
    assert main(["run", "vector-add", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["options"]["registers"], found["options"]["level"]) == (60, "ptx")
    assert found["residency"][0]["occupancy"] == 0.5


@pytest.mark.parametrize("wrong", [["--registers", "0"], ["--level", "sass"], ["--banks", "33"], ["--target", "sm_1"]])
def test_wrong_choices_are_wrong_usage(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "vector-add", *wrong]) == 2
    assert wrong[0] in capsys.readouterr().err


def test_the_schedule_may_follow_a_machines_latencies(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "vector-add", "--size", "tiny", "--latencies", "gebhart-rfc", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["options"]["latencies"] == "gebhart-rfc"
    assert main(["run", "vector-add", "--size", "tiny", "--latencies", "gebhard"]) == 1
    assert "no machine named 'gebhard'" in capsys.readouterr().err


def test_from_python_the_same_choices_are_labelled() -> None:
    found = api.run("vector-add", level="ptx", registers=60, banks=4)
    assert {key: found.options[key] for key in ("level", "registers", "banks")} == {
        "level": "ptx",
        "registers": 60,
        "banks": 4,
    }
    with pytest.raises(UnknownNameError, match="no level named 'sass'"):
        api.run("vector-add", level="sass")
