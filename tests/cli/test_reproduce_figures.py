"""``warpreg reproduce --figures`` writes a table and two pictures per figure."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from warpreg.evaluation.runs.run import AS_COMPILED
from warpreg.evaluation.studies.study import Study
from warpreg.report.figure import Axis, Figure
from warpreg_papers import command as reproduce
from warpreg_papers import figure_files as paper_figures


def declared(name: str, values: list[float]) -> Figure:
    frame = pd.DataFrame({"KB": [2.0, 4.0][: len(values)], "energy": values})
    return Figure(name, "Figure 1", "Energy", lambda study: frame, "lines", Axis("KB", "KB", "KB"), Axis("energy", ""))


def test_every_figure_becomes_three_files_and_an_empty_one_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduce, "measure", lambda *arguments, **options: Study("tiny", AS_COMPILED, {}))
    monkeypatch.setattr(reproduce, "reproduced", lambda paper, found: iter(()))
    figures = (declared("full", [0.5, 0.25]), declared("empty", []))
    monkeypatch.setattr(paper_figures, "figures_of", lambda paper: figures)
    done = CliRunner().invoke(reproduce.command, ["rfc", "--figures", str(tmp_path), "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "rfc-empty.csv", "rfc-full.csv", "rfc-full.png", "rfc-full.svg",
    ]  # fmt: skip
    assert (tmp_path / "rfc-full.csv").read_text().splitlines() == ["KB [KB],energy", "2,0.5", "4,0.25"]
