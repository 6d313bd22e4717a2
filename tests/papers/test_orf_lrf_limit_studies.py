"""Limit studies of the compiler-managed hierarchy, and the oracle of variable ORF sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from warpreg import energy
from warpreg.designs import load, program_table
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.designs.parts.placement.operand_energy import operand_energy
from warpreg.evaluation.runs.counting import replayed
from warpreg.evaluation.runs.run import Run, find_workload, run_workload
from warpreg.ir.errors import UnknownNameError
from warpreg_papers.orf_lrf.limit_studies import LIMITS, limit
from warpreg_papers.orf_lrf.variable_orf import StrandChoice, VariableOrf, best_sizes

TECHNOLOGY = energy.load("gebhart-40nm")


@pytest.fixture(scope="module")
def run() -> Run:
    return run_workload(find_workload("matrix-mul"), "tiny")


def joules(run: Run, wires: bool = True, **parameters: Any) -> float:
    counts = replayed(run, ConfiguredDesign.load("orf-lrf", parameters))
    items = [item for one in counts for item in one.energy_list()]
    return energy.account(items, TECHNOLOGY, wires=wires).total_pj


def test_what_instructions_spend_adds_up_to_what_the_counts_cost(run: Run) -> None:
    design = load("orf-lrf")
    parameters = design.configure(both=True, lrf="unified")
    whole = 0.0
    for kernel in run.kernels:
        program = design.compile(program_table(kernel), parameters, kernel)
        visits = sum(launch.block_visits for launch in run.launches_of(kernel))
        executed = np.repeat(np.asarray(visits), np.diff(program.first_pc))
        whole += float(operand_energy(program, design.module.options(parameters).costs) @ executed)
    assert joules(run, both=True, lrf="unified") == pytest.approx(whole)


def test_ideal_levels_save_what_their_accesses_cost(run: Run) -> None:
    """Without wires a read of the LRF costs 0.7 / 8 and a write 2 / 11 of one of the MRF."""
    plain = joules(run, wires=False, entries=0, lrf="none")
    found = joules(run, wires=LIMITS["all-lrf"].wires, **LIMITS["all-lrf"].parameters)
    assert 0.7 / 8 < found / plain < 2 / 11


@pytest.mark.parametrize("name", [name for name in LIMITS if name not in ("all-lrf", "all-orf-5", "6-active-warps")])
def test_limits_save_energy(run: Run, name: str) -> None:
    parameters: Any = limit(name).parameters
    assert joules(run, **parameters) <= joules(run)


def test_an_unknown_limit_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="no limit study named 'all-lrv'; did you mean 'all-lrf'"):
        limit("all-lrv")


def test_entries_go_where_they_save_most() -> None:
    """Two strands of one instruction each and room for three entries.  The first saves 10 and 1 pJ with one and two
    entries, the second nothing with one and 12 with two, 6 for each; both steps take all the room."""
    first = StrandChoice(1.0, np.array([20.0, 10.0, 9.0]))
    second = StrandChoice(1.0, np.array([20.0, 20.0, 8.0]))
    assert best_sizes([first, second], 3.0) == (18.0, 3.0)
    assert best_sizes([first, second], 2.0) == (24.0, 2.0)
    assert best_sizes([first, second], 9.0) == (17.0, 4.0)


def test_variable_sizes_save_no_less_than_fixed_ones(run: Run) -> None:
    eight, six = VariableOrf()(run), VariableOrf(active_warps=6)(run)
    assert 0 <= eight.saving <= six.saving
    assert eight.entries <= 3 + 1e-9
    assert joules(run) == pytest.approx(eight.fixed_pj)
