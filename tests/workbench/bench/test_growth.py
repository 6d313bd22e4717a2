"""How cost grows: exponents by hand, and every step of a tiny point."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from warpreg.cli import main
from warpreg_workbench.bench.growth import axes
from warpreg_workbench.bench.growth.axes import CONTENTION, STEPS, exponent
from warpreg_workbench.bench.growth.point import Cost, Point, Step, cost_of, print_cost
from warpreg_workbench.growth_page import MARKER, picture, tables


def test_exponents_by_hand() -> None:
    assert exponent([10, 100, 1000], [3, 30, 300]) == pytest.approx(1)
    assert exponent([10, 100, 1000], [7, 7, 7]) == pytest.approx(0)
    assert exponent([1, 2, 4], [1, 4, 16]) == pytest.approx(2)
    assert exponent([1, 2, 4], [0, 4, 16]) is None


@pytest.mark.parametrize("step", [one for one in STEPS if one != CONTENTION])
def test_each_step_of_a_point(step: Step) -> None:
    """Two thread blocks of eight warps; an iteration of one branch takes 12 to 28 instructions of a warp."""
    cost = cost_of(Point(step, 1, 3, 2, sms=1))
    assert cost.seconds > 0
    assert 2 * 8 * 3 * 12 <= cost.warp_instructions <= 2 * 8 * (3 * 28 + 10)
    assert cost.static_instructions < 40
    assert cost.recorded_bytes > 0


def test_the_points_reach_the_sizes() -> None:
    """Warp-instructions within a tenth of 10^5 to 10^9; thread blocks or iterations carry them, never both."""
    points = [(axis, point) for axis, point in axes.points("full") if point.step == "run"]
    long = [point.iterations for axis, point in points if axis == "loop iterations"]
    wide = [point.blocks for axis, point in points if axis == "thread blocks"]
    for counts in (long[1:], wide):
        ratios = [after / before for before, after in itertools.pairwise(counts)]
        assert ratios == pytest.approx([10] * len(ratios), rel=0.1)
    assert len(long) == len(wide) == 5


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every point costs 2 ns for each of its iterations and thread blocks, in 100 MB."""

    def measured(point: Point, cache: str) -> Cost:
        size = point.iterations * point.blocks
        return Cost(25 * point.segments + 10, 1000 * size, 2e-9 * size, 100_000_000, 10)

    monkeypatch.setattr(axes, "measured", measured)


@pytest.mark.usefixtures("pretended")
def test_the_command_prints_exponents_and_points(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "growth", "--size", "tiny", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    by_step = {(row["axis"], row["step"]): row for row in found["exponents"]}
    assert by_step["thread blocks", "run"]["seconds_exponent"] == pytest.approx(1)
    assert by_step["thread blocks", CONTENTION]["peak_exponent"] == pytest.approx(0, abs=1e-9)
    assert by_step["SMs", "timing"]["seconds_exponent"] == pytest.approx(0, abs=1e-9)
    assert {row["size"] for row in found["points"] if row["axis"] == "static instructions"} == {10, 110}
    assert main(["bench", "growth", "--size", "tiny"]) == 0
    assert "Exponents" in capsys.readouterr().out


@pytest.mark.usefixtures("pretended")
def test_the_page_shows_every_axis() -> None:
    found = axes.growth("tiny")
    shown = tables(found)
    for title in ("## Exponents", "## By static instructions", "## By SMs, for one run", "Measured on"):
        assert title in shown
    assert len(picture(found).axes) == 8


def test_a_process_prints_its_cost(capsys: pytest.CaptureFixture[str]) -> None:
    print_cost(json.dumps(dataclasses.asdict(Point("run", 1, 2, 1))))
    assert Cost(**json.loads(capsys.readouterr().out)).warp_instructions > 0


def test_the_page_names_its_command() -> None:
    assert MARKER in Path("docs/reference/growth.md").read_text(encoding="utf-8")
