"""The page of a modern GPU: its tables and its picture, and the text that is kept."""

from __future__ import annotations

from pathlib import Path

from tests.workbench.modern_gpu.test_design_figures import FOUND

from warpreg.gpu_kit.simulated import ComparedCycles
from warpreg_workbench.modern_gpu.design_figures import CASES, figures
from warpreg_workbench.modern_gpu.page import (
    MARKER,
    PICTURE,
    accuracy_table,
    case_table,
    design_table,
    failures,
    ranking_table,
    write_page,
)
from warpreg_workbench.modern_gpu.study import DesignMeasurement

ROWS = [ComparedCycles("a", 1, 4.0, 4.0), ComparedCycles("b", 2, 4.0, 6.0), ComparedCycles("c", 1, 8.0, 8.0)]


def test_a_line_for_each_design() -> None:
    lines = [*design_table(figures(FOUND, CASES[0]))]
    assert lines[2] == "| `rfc` | 0.250 | 0.100 | 0.800 | 0.500 | 0.500 |  | 0.500 | 0.500 to 0.500 | 6.00 |"


def test_a_column_for_each_case_that_was_measured() -> None:
    """Energy beside the reuse cache, without it 0.5 / 0.8, in our code 0.9 / 0.8, on collectors; then the speeds."""
    head, _, rfc, *_ = case_table(FOUND)
    assert head.startswith(
        "| design | h100, ptxas | no reuse cache | h100, own code | v100, ptxas | speed, h100, ptxas |"
    )
    assert rfc == "| `rfc` | 0.500 | 0.625 | 1.125 | 0.500 | 0.500 | 1.000 | 1.000 | 2.000 |"


def test_the_ranking_names_what_turns_it() -> None:
    _, _, rfc, reuse, _ = ranking_table(FOUND)
    assert rfc.startswith("| 1 | `rfc` | 3 | 3")
    assert rfc.endswith("| own code | own code |")
    assert reuse.startswith("| 2 | `reuse` alone |")


def test_the_worst_figures_come_first() -> None:
    lines = [*accuracy_table(ROWS)]
    assert lines[0].startswith("3 figures: mean error 16.7%")
    assert lines[3] == "| b | 2 | 4.00 | 6.00 | 50% |"


def test_the_text_before_the_marker_is_kept(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    page = tmp_path / "reference" / "page.md"
    page.write_text(f"# Words\n\n{MARKER}\n\nold tables\n", encoding="utf-8")
    write_page(page, FOUND, ROWS, ["mrf", "rfc"], "tiny", ["a", "b"])
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# Words\n\n{MARKER}\n\n## Cycles")
    assert "old tables" not in text
    picture = (tmp_path / "images" / PICTURE).read_text(encoding="utf-8")
    assert "rfc" in picture
    write_page(page, FOUND, ROWS, ["mrf", "rfc"], "tiny", ["a", "b"])
    assert (tmp_path / "images" / PICTURE).read_text(encoding="utf-8") == picture


def test_runs_without_a_result_are_listed() -> None:
    found = [
        DesignMeasurement("h100", "rfc", True, {"workload": name, "design": "rfc+reuse", "error": "no room"})
        for name in ("a", "b")
    ]
    assert [*failures([*FOUND, *found])][1] == "- `rfc+reuse` on h100, a, b: no room"
    assert not [*failures(FOUND)]
