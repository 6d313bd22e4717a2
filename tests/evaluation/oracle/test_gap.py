"""The gap between greedy and optimal placement of a run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from warpreg import simt
from warpreg.cli import main
from warpreg.designs import load, program_table
from warpreg.designs.parts.placement.costs import level_costs
from warpreg.designs.parts.placement.operand_energy import operand_energy
from warpreg.energy import load as technology
from warpreg.evaluation.oracle.gap import Gap, OracleGap, total
from warpreg.evaluation.runs.run import Run, find_workload, run_workload


@pytest.fixture(scope="module")
def run() -> Run:
    return run_workload(find_workload("hotspot"), "tiny", record=simt.Record())


def test_savings_as_executed_are_those_of_the_compiled_kernel(run: Run) -> None:
    """What the hint columns spend less than the main register file alone, by how often each block ran."""
    gap = OracleGap(explains=True)(run)
    (kernel,) = run.kernels
    design = load("orf-lrf")
    values = design.configure()
    plain = program_table(kernel)
    hinted = design.compile(plain, values, kernel)
    costs = level_costs(technology("gebhart-40nm"), design.structures(values))
    visits = sum(launch.block_visits.astype(np.int64) for launch in run.launches)
    often = np.repeat(visits, np.diff(plain.first_pc))
    saved = float(often @ (operand_energy(plain, costs) - operand_energy(hinted, costs)))
    assert gap.executed["greedy"] == pytest.approx(saved)
    assert gap.executed["greedy"] <= gap.executed["best"] <= gap.executed["knowing"] * (1 + 1e-9)
    assert gap.instructions == int(often.sum())


def test_every_freedom_saves_more(run: Run) -> None:
    gap = OracleGap(explains=True)(run)
    steps = list(gap.steps.values())
    assert [gap.greedy_pj, *steps] == pytest.approx(sorted([gap.greedy_pj, *steps]), rel=1e-12)
    assert steps[-1] == pytest.approx(gap.best_pj)
    assert gap.best_pj == pytest.approx(gap.bound_pj)
    assert gap.proven_share == 1


def test_strands_without_time_are_listed_with_bounds(run: Run) -> None:
    """HiGHS gets a hundredth of a second at least, so small strands are solved all the same."""
    gap = OracleGap(limit_s=0.0)(run)
    assert gap.greedy_pj <= gap.best_pj <= gap.bound_pj
    assert gap.instructions - gap.proven_instructions == sum(one.instructions for one in gap.unproven)
    assert all(one.greedy_pj <= one.best_pj <= one.bound_pj for one in gap.unproven)


def test_gaps_add_up() -> None:
    one = Gap(1, 10, 10, 100.0, 40.0, 50.0, 50.0, steps={"ORF": 45.0})
    two = Gap(2, 30, 0, 100.0, 20.0, 30.0, 35.0, steps={"ORF": 25.0})
    both = total([one, two])
    assert (both.strands, both.instructions, both.proven_share) == (3, 40, 0.25)
    assert both.steps == {"ORF": 70.0}
    row = both.as_dict()
    assert (row["greedy"], row["best"], row["share_of_best"]) == (0.7, 0.6, 0.75)


def test_the_command_prints_each_design(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "vector-add", "--size", "tiny", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["orf-lrf", "rsp"]
    assert list(found["rsp"]) == ["vector-add", "all"]
    assert found["rsp"]["all"]["proven_share"] == 1


def test_the_page_has_a_row_for_each_workload(capsys: pytest.CaptureFixture[str]) -> None:
    """One processor, so that nothing is started."""
    words = ["oracle", "vector-add", "histogram", "--size", "tiny", "--steps", "--markdown", "--processes", "1"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert [line.split("|")[1].strip() for line in out.splitlines() if "%" in line][-4:] == [
        "vector-add", "histogram", "all", "mean",
    ]  # fmt: skip
    assert err.splitlines()[0].startswith("1/2 vector-add: orf-lrf 0.")


def test_a_design_without_a_greedy_placement_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "vector-add", "--designs", "rfc"]) == 2
    assert "rfc" in capsys.readouterr().err
