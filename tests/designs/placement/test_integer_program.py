"""The solver of 0-1 packing programs."""

from __future__ import annotations

import os
from typing import Any

import pytest
from scipy.optimize import milp

from warpreg.designs.parts.placement import integer_program


def test_lines_of_the_solver_do_not_reach_the_output(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Two variables share one place: the one with the larger gain takes it, and the output is ours alone."""

    def talkative(*arguments: Any, **options: Any) -> Any:
        os.write(1, b"HighsMipSolverData\n")
        return milp(*arguments, **options)

    monkeypatch.setattr("scipy.optimize.milp", talkative)
    program = integer_program.Packing()
    first, second = program.variable(2.25), program.variable(3.25)
    program.at_most(1, [(first, 1), (second, 1)])
    print("before")
    assert integer_program.solve(program, 10.0).taken == (second,)
    print("after")
    assert capfd.readouterr().out == "before\nafter\n"
