"""Which designs run on which machine, in which cells."""

from __future__ import annotations

import pytest

from warpreg_workbench.modern_gpu.study import COLLECTORS, LARGER, TECHNOLOGIES, WINDOW, cells, names, priced, refusal

REFUSED = {
    "bow": "a design whose warps own collectors: machine h100 has none, its operands are read in a window",
    "bow-wr": "a design whose warps own collectors: machine h100 has none, its operands are read in a window",
    "larf": "larf: all warps of an SM share registers, and each bank of h100 belongs to one scheduler",
    "larf+las": "larf: all warps of an SM share registers, and each bank of h100 belongs to one scheduler",
}


@pytest.mark.parametrize("machine", ["h100", "a100", "rtx-a6000", "rtx2080ti"])
def test_what_makes_no_sense_on_a_modern_machine_is_refused(machine: str) -> None:
    """Bypassing needs collectors, and the designs for loads banks that all warps reach; all others work, alone and over
    the reuse cache.
    """
    found = {name: reason.partition(" (")[0] for name in names() if (reason := refusal(name, machine))}
    assert found == {name: reason.replace("h100", machine) for name, reason in REFUSED.items()}
    assert not [name for name in names() if name not in REFUSED and refusal(f"{name}+reuse", machine)]


def test_collectors_take_bypassing() -> None:
    assert refusal("bow-wr", "v100") == ""


def test_a_design_is_priced_by_the_technologies_that_know_its_levels() -> None:
    assert priced("orf-lrf+reuse", "h100") == ["common-40nm"]
    assert priced("reuse", "h100") == list(TECHNOLOGIES)


def test_cells_of_a_design_differ_in_the_technology_first() -> None:
    """On the machine with a window alone and over the reuse cache, which is there anyway; on collectors alone."""
    found = [cell.design for _, cell in cells(["mrf", "orf-lrf"], ["reduction"], "tiny", [WINDOW])]
    assert list(dict.fromkeys(found)) == ["mrf", "reuse", "orf-lrf", "orf-lrf+reuse"]
    assert found.count("reuse") == len(TECHNOLOGIES)
    on_collectors = {cell.design for _, cell in cells(["mrf", "bow"], ["reduction"], "tiny", [COLLECTORS])}
    assert on_collectors == {"mrf", "reuse", "bow"}


def test_a_side_may_have_a_size_of_its_own() -> None:
    found = {(side.name, cell.made.size) for side, cell in cells(["mrf"], ["reduction"], "tiny", [WINDOW, LARGER])}
    assert found == {("h100, ptxas", "tiny"), ("h100, ptxas, small", "small")}
