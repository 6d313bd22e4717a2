"""The figure of a comparison: designs by colour, or of many designs by place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from warpreg.evaluation.runs.row import LevelUse, Provenance, Row
from warpreg.report.comparison_figure import draw

PROVENANCE = Provenance("k", "v100", "m", "common-40nm", "t", "d", "c", {})


def rows(designs: int, workloads: Sequence[str]) -> list[Row]:
    level = LevelUse(1, 1, 1, 0)
    return [
        Row(workload, f"design-{number}", {}, 1, {"MRF": level}, level, PROVENANCE)
        for workload in workloads
        for number in range(designs)
    ]


@pytest.mark.parametrize(("designs", "legend"), [(3, "design"), (25, "workload")])
def test_what_has_a_colour_of_its_own(
    designs: int, legend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three designs have colours; of 25, more than there are colours, the workloads have."""
    drawn = []
    monkeypatch.setattr("warpreg.report.comparison_figure.picture", lambda figure, frame, printed: drawn.append(figure))
    monkeypatch.setattr("warpreg.report.comparison_figure.save_as", lambda picture, path: path)
    draw(rows(designs, ["bfs", "nw"]), tmp_path / "a.svg")
    (figure,) = drawn
    assert figure.series == legend
    assert {figure.series, figure.x.column} == {"design", "workload"}


def test_many_designs_on_many_workloads_are_drawn_as_means(tmp_path: Path) -> None:
    file = draw(rows(25, [f"workload-{number}" for number in range(12)]), tmp_path / "means.svg")
    text = file.read_text()
    assert "design-24" in text
    assert "workload-0" not in text
