"""The tables of a comparison: what they leave out where they are too wide, means, the front, and failures by reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from warpreg.cli import main, output
from warpreg.cli.comparison_tables import print_failures, print_front, print_rows
from warpreg.evaluation.runs.comparing import Comparison
from warpreg.evaluation.runs.counting import CountingMethod, Replayed, Timed
from warpreg.evaluation.runs.parts import Part
from warpreg.evaluation.runs.row import Failure, LevelUse, Provenance, Row
from warpreg.evaluation.sweep import variations

Output = pytest.CaptureFixture[str]
PROVENANCE = Provenance("k", "v100", "m", "common-40nm", "t", "d", "c", {})
PLAIN = LevelUse(reads=3e6, writes=1e6, access_pj=10.0, wire_pj=0.0)


def row(workload: str, design: str, energy: float, kib: int) -> Row:
    """A design with a quarter of the accesses to the MRF, of 4 million, and a million to each of two levels."""
    levels = {
        "MRF": LevelUse(1e6, 0.0, 10 * energy, 0.0),
        "RFC": LevelUse(0.5e6, 0.5e6, 0.0, 0.0),
        "LRF": LevelUse(1e6, 0.0, 0.0, 0.0),
    }
    parts = (Part("MRF", True, 0.0, 0.0, 0.0, None), Part("RFC", True, 1024.0 * kib, 0.0, 0.0, None))
    return Row(workload, design, {}, 1, levels, PLAIN, PROVENANCE, parts=parts)


def told(capsys: Output, rows: Sequence[Row]) -> str:
    print_rows(rows, by_cause=True)
    return capsys.readouterr().out


def test_a_table_that_is_too_wide_has_its_levels_in_a_table_of_their_own(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    """128 bytes for each of a million accesses, on two workloads: 256 MB."""
    rows = [row(workload, "rfc-lrf", 0.5, 1) for workload in ("bfs", "hotspot")]
    assert "\ndesign   level" not in told(capsys, rows)
    monkeypatch.setattr(output, "PIPE_COLUMNS", 70)
    text = told(capsys, rows)
    assert "\ndesign   level" in text
    levels = [line.split() for line in text.splitlines() if line.startswith("rfc-lrf ")]
    assert levels[:3] == [
        ["rfc-lrf", "MRF", "2.00", "0", "256"],
        ["rfc-lrf", "RFC", "1.00", "1.00", "256"],
        ["rfc-lrf", "LRF", "2.00", "0", "256"],
    ]
    assert max(map(len, text.splitlines()[:4])) <= 70


def test_bytes_moved_are_those_of_all_levels(capsys: Output) -> None:
    """Three million accesses of 128 bytes."""
    text = told(capsys, [row("bfs", "rfc-lrf", 0.5, 1)])
    assert "384.00" in text


def test_the_front_and_the_kind_of_means_are_told(capsys: Output) -> None:
    """b stores more than a and takes as much energy; c takes less energy than both."""
    designs = [("a", 0.5, 1), ("b", 0.5, 2), ("c", 0.4, 8)]
    rows = [row(workload, name, energy, kib) for workload in ("bfs", "nw") for name, energy, kib in designs]
    text = told(capsys, rows)
    assert "means over workloads: geometric of energy and speed, arithmetic of shares" in text
    print_front(rows)
    assert "Pareto front of energy and added storage: a, c\n" in capsys.readouterr().out
    print_front(rows[:2])
    assert capsys.readouterr().out == ""


def test_a_design_that_fails_has_a_marked_row_beside_the_others(capsys: Output) -> None:
    """b fails on the first workload and has a mean over the second; c fails on both, and on bfs nothing else does."""
    rows = [row("bfs", "a", 0.5, 1), row("nw", "a", 0.5, 1), row("nw", "b", 0.25, 1)]
    failures = [Failure("bfs", "no", "b"), *(Failure(name, "no", "c") for name in ("bfs", "nw")), Failure("sad", "no")]
    print_rows(rows, failures)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    table = [line for line in lines[lines.index([]) - 9 : lines.index([])] if line]
    assert [line[: 2 if "failed" not in line else 3] for line in table] == [
        ["bfs", "a"],
        ["bfs", "b:", "failed"],
        ["bfs", "c:", "failed"],
        ["nw", "a"],
        ["nw", "b"],
        ["nw", "c:", "failed"],
        ["sad", "all", "designs:"],
        ["mean", "a"],
        ["mean", "of"],
    ]
    assert table[-1][:5] == ["mean", "of", "1", "of", "2"]
    assert [line[-1] for line in table[-2:]] == ["0.500", "0.250"]


def test_a_reason_is_told_once(capsys: Output) -> None:
    failures = [Failure(workload, f"{name}: needs --cycles", name) for workload in ("bfs", "nw") for name in ("a", "b")]
    print_failures([*failures, Failure("bfs", "c: no room", "c+d")])
    assert capsys.readouterr().out == ("\nfailed: needs --cycles\n  a, b on bfs, nw\n\nfailed: no room\n  c+d on bfs\n")


@pytest.mark.parametrize(
    ("designs", "more", "expected"),
    [
        ("all", (), Timed()),
        ("rfc,all", ("--cycles", "--cold"), Timed(cold=True)),
        ("all", ("--suspend", "static"), Replayed("static")),
        ("mrf,rfc", (), Replayed()),
    ],
)
def test_every_design_is_timed(
    designs: str, more: Sequence[str], expected: CountingMethod, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[CountingMethod] = []

    def compared(comparison: Comparison, *rest: Any, **named: Any) -> list[Row | Failure]:
        asked.append(comparison.how)
        return [Failure("hotspot", "nothing is measured", "")]

    monkeypatch.setattr(variations, "compared_once", compared)
    assert main(["compare", "hotspot", "--designs", designs, *more]) == 1
    assert asked == [expected]
