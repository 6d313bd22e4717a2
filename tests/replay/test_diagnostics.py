"""Messages for hooks that a core cannot compile, or that return the wrong type."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import numba
import pytest
from tests.designs.kernels import kernel, op, r

from piecewise_numba.rebuild import rebuild
from warpreg.counting.diagnostics import check_return_types, culprit
from warpreg.designs import DesignError, load, program_table

HEAD = """\
from warpreg.designs.interface import *
DESIGN = Declaration(slot="policy", source="assumed: a test")
"""


def blamed(folder: Path, text: str, *arguments: Any, name: str = "priority") -> str:
    """What is said of this hook, with the file's name for its path."""
    path = folder / "mine.py"
    path.write_text(HEAD + dedent(text), encoding="utf-8")
    hooks = load(path).hooks
    compiled = rebuild(hooks, numba.njit)
    return str(culprit(hooks, compiled, {name: arguments})).replace(str(path), "mine.py")


def test_a_hook_whose_value_turns_out_to_be_no_integer(tmp_path: Path) -> None:
    text = """
    @hook
    def priority(state, program, warp, pc):
        half = warp * 0.5
        return half
    """
    assert blamed(tmp_path, text, 0, 0, 1, 2) == "mine.py:5: hook priority returns an integer, found float64"


def test_a_hook_that_returns_a_number_or_nothing(tmp_path: Path) -> None:
    text = """
    @hook
    def priority(state, program, warp, pc):
        while warp > 0:
            warp -= 1
            if warp == pc:
                return 1
        return other(pc)

    def other(pc):
        if pc > 3:
            return 2
    """
    assert blamed(tmp_path, text, 0, 0, 1, 2).startswith("mine.py:5: hook priority returns an integer, found ")


def test_a_hook_that_asks_for_what_there_is_not(tmp_path: Path) -> None:
    text = """
    @hook
    def priority(state, program, warp, pc):
        return state.nothing
    """
    assert blamed(tmp_path, text, 0, 0, 1, 2).startswith("mine.py:6: hook priority: ")


def test_the_check_after_a_core_was_compiled(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    text = "@hook\ndef priority(state, program, warp, pc):\n    half = warp * 1.5\n    return half\n"
    path.write_text(HEAD + text, encoding="utf-8")
    hooks = load(path).hooks
    compiled = rebuild(hooks, numba.njit)
    compiled["priority"](0, 0, 1, 2)
    with pytest.raises(DesignError, match=r"mine\.py:4: hook priority returns an integer, found float64"):
        check_return_types(hooks, compiled)


def test_a_wrong_hook_in_a_composition_names_its_authors_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    text = "@hook\ndef priority(state, program, warp, pc):\n    return state.nothing\n"
    path.write_text(HEAD + text, encoding="utf-8")
    design = load(f"{path}+rfc")
    hooks = {"priority": design.hooks["priority"]}
    state = design.module.State(rfc=0, mine=0)
    program = program_table(kernel([op("mov.b32", r(0), 1)]))._replace(hints=design.module.Hints(rfc=0, mine=0))
    told = culprit(hooks, rebuild(hooks, numba.njit), {"priority": (state, program, 1, 2)})
    assert str(told).startswith(f"{path}:5: hook priority: ")
