"""The labs run as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

LABS = sorted((Path(__file__).parents[1] / "labs").glob("*.ipynb"))


def test_there_are_six() -> None:
    assert [lab.name[0] for lab in LABS] == ["1", "2", "3", "4", "5", "6"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_a_lab_runs(lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook: Any = nbformat.reads(lab.read_text(encoding="utf-8"), as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)
    folder = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=folder).execute()
