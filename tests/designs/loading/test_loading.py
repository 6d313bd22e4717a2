"""Finding and loading designs; error messages for invalid files."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import one_warp

from warpreg.designs import DesignError, load, names
from warpreg.designs.interface.program import HINTS
from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.replay import replay

HEAD = """\
from typing import NamedTuple
import numpy as np
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", levels=("MRF", "X"), source="assumed: a test")
"""


def written(folder: Path, text: str, head: str = HEAD) -> Path:
    path = folder / "mine.py"
    path.write_text(head + dedent(text), encoding="utf-8")
    return path


def complaint(folder: Path, text: str, head: str = HEAD) -> str:
    """The one line that loading this file gives, with the file's name for its path."""
    path = written(folder, text, head)
    with pytest.raises(DesignError) as error:
        load(path)
    message = str(error.value)
    assert "\n" not in message
    return message.replace(str(path), "mine.py")


def test_designs_of_the_package_are_found_by_name() -> None:
    assert {"mrf", "rfc"} <= set(names())
    assert load("rfc").summary == "Register file cache in hardware"
    assert load("rfc").levels == ("MRF", "RFC")


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"no design named 'rfcc'; did you mean 'rfc'\?"):
        load("rfcc")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(DesignError, match=r"nowhere\.py: cannot read the design: No such file"):
        load("nowhere.py")


def test_an_installed_package_offers_designs_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_design.py").write_text(HEAD, encoding="utf-8")
    information = tmp_path / "theirs-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n", encoding="utf-8")
    (information / "entry_points.txt").write_text("[warpreg.designs]\ntheirs = their_design\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    assert "theirs" in names()
    assert load("theirs").levels == ("MRF", "X")
    del sys.modules["their_design"]


def test_a_misspelt_hook(tmp_path: Path) -> None:
    text = """
    @hook
    def plan_raeds(state, program, warp, pc, plan):
        pass
    """
    assert complaint(tmp_path, text) == "mine.py:7: no hook named 'plan_raeds'; did you mean 'plan_reads'?"


def test_a_hook_with_other_parameters(tmp_path: Path) -> None:
    text = """
    @hook
    def plan_write(state, program, pc, warp, plan):
        pass
    """
    assert complaint(tmp_path, text) == (
        "mine.py:7: hook plan_write takes (state, program, warp, pc, plan), found (state, program, pc, warp, plan)"
    )


def test_a_hook_that_returns_something(tmp_path: Path) -> None:
    text = """
    @hook
    def plan_reads(state, program, warp, pc, plan):
        return 0.5
    """
    assert complaint(tmp_path, text) == "mine.py:8: hook plan_reads returns nothing, found return 0.5"


def test_a_hook_that_declares_another_return_type(tmp_path: Path) -> None:
    text = """
    @hook
    def warp_start(state, program, warp, plan) -> int:
        pass
    """
    assert complaint(tmp_path, text) == "mine.py:7: hook warp_start returns nothing, found -> int"


@pytest.mark.parametrize(
    ("body", "line", "found"),
    [
        ("return 0.5", 8, "return 0.5"),
        ("return pc / 2", 8, "return pc / 2"),
        ("return GO, 1", 8, "return (GO, 1)"),
        ("return", 8, "return"),
        ("pass", 7, "a path without return"),
        ("if pc: return GO", 7, "a path without return"),
    ],
)
def test_a_hook_that_must_return_an_integer(tmp_path: Path, body: str, line: int, found: str) -> None:
    text = f"""
    @hook
    def admit(state, program, warp, pc, plan):
        {body}
    """
    assert complaint(tmp_path, text) == f"mine.py:{line}: hook admit returns an integer, found {found}"


@pytest.mark.parametrize(
    "body",
    ["return GO", "return GO if pc else 3", "if pc:\n            return 1\n        else:\n            return GO"],
)
def test_a_hook_that_returns_an_integer_on_all_paths(tmp_path: Path, body: str) -> None:
    text = f"""
    @hook
    def admit(state, program, warp, pc, plan) -> int:
        {body}
    """
    assert "admit" in load(written(tmp_path, text)).hooks


def test_a_hook_without_its_decorator(tmp_path: Path) -> None:
    text = """
    def plan_reads(state, program, warp, pc, plan):
        pass
    """
    assert complaint(tmp_path, text) == "mine.py:6: plan_reads is the name of a hook but is not under @hook"


def test_a_file_that_is_no_design(tmp_path: Path) -> None:
    assert complaint(tmp_path, "x = 1", head="") == "mine.py:1: no DESIGN = Declaration(...), so this is not a design"


def test_a_syntax_error(tmp_path: Path) -> None:
    assert complaint(tmp_path, "def f(:\n") == "mine.py:5: SyntaxError: invalid syntax"


def test_an_error_while_the_file_runs(tmp_path: Path) -> None:
    assert complaint(tmp_path, "\nn = 1 // 0") == "mine.py:6: ZeroDivisionError: integer division or modulo by zero"


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ('slot="level", source=""', "slot expects one of mapping, levels, operands, policy, or several, found 'level'"),
        (
            'slot="levels", levels=("X",), source=""',
            "levels expects distinct names that start with 'MRF', found ('X',)",
        ),
        ('slot="levels", order="wrap", source=""', "order expects one of static, warp, scheduler, sm, found 'wrap'"),
    ],
)
def test_a_wrong_declaration(tmp_path: Path, declared: str, expected: str) -> None:
    head = "from warpreg.designs.interface import Declaration\n"
    assert complaint(tmp_path, f"DESIGN = Declaration({declared})", head) == f"mine.py:2: {expected}"


def test_a_state_without_init(tmp_path: Path) -> None:
    text = """
    class State(NamedTuple):
        x: int
    """
    assert complaint(tmp_path, text) == "mine.py:6: State without init: a state needs both"


def test_init_with_other_parameters(tmp_path: Path) -> None:
    text = """
    class State(NamedTuple):
        x: int
    def init(program): return State(1)
    """
    assert (
        complaint(tmp_path, text) == "mine.py:8: init takes (parameters, program[, room][, analysis]), found (program)"
    )


def test_a_parameter_without_a_source(tmp_path: Path) -> None:
    text = """
    import dataclasses
    @dataclasses.dataclass(frozen=True)
    class Parameters:
        n: int = 3
    """
    assert complaint(tmp_path, text) == "mine.py:8: Parameters.n must be a parameter(...) with a source"


def replayed(folder: Path, text: str) -> str:
    """What replaying this wrong design says, on one line."""
    path = written(folder, text)
    with pytest.raises(WarpregError) as error:
        replay(one_warp([0]), kernel([op("mov.b32", r(0), 1)]), load(path))
    message = str(error.value)
    assert "\n" not in message
    return message.replace(str(path), "mine.py")


def test_a_hook_outside_the_numba_subset_names_the_line(tmp_path: Path) -> None:
    text = """
    @hook
    def plan_reads(state, program, warp, pc, plan):
        for operand in range(3):
            read(plan, operand, state.nothing)
    """
    assert replayed(tmp_path, text).startswith("mine.py:9: hook plan_reads: ")


def test_an_error_in_a_function_that_a_hook_calls_names_its_line(tmp_path: Path) -> None:
    text = """
    def level(pc):
        return pc.nothing

    @hook
    def plan_reads(state, program, warp, pc, plan):
        read(plan, 0, level(pc))
    """
    message = replayed(tmp_path, text)
    assert message.startswith("mine.py:7: hook plan_reads: ")
    assert "nothing" in message


def test_state_that_warps_share_needs_a_recorded_schedule(tmp_path: Path) -> None:
    text = """
    class State(NamedTuple):
        pool: object
    def init(parameters, program): return State(per_sm(np.zeros(4)))
    """
    expected = "mine: state pool is shared by warps (per_sm), so it needs a recorded schedule"
    assert replayed(tmp_path, text) == expected


def test_a_design_that_depends_on_the_order_of_warps_needs_a_recorded_schedule(tmp_path: Path) -> None:
    text = 'DESIGN = Declaration(slot="levels", order="scheduler", source="assumed: a test")'
    expected = "mine: depends on the order of warps (scheduler), so it needs a recorded schedule"
    assert replayed(tmp_path, text) == expected


def test_a_compile_step_fills_hints_and_nothing_else(tmp_path: Path) -> None:
    text = """
    def compile(program, parameters): return program._replace(last_read=1 - program.last_read, unit=program.unit + 1)
    """
    assert replayed(tmp_path, text) == f"mine.py: compile changed unit; it may fill {', '.join(HINTS)}"


def test_a_kernel_is_compiled_once_for_the_same_parameters(tmp_path: Path) -> None:
    text = """
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Parameters:
        level: int = parameter(1, low=0, high=1, source="assumed: a test")

    def compile(program, parameters):
        return program._replace(result_level=np.full_like(program.result_level, parameters.level))
    """
    code, mine = kernel([op("mov.b32", r(2), 1)]), load(written(tmp_path, text))
    first, same, other = (mine.program(code, mine.configure(level=level)) for level in (1, 1, 0))
    assert first is same
    assert (first.result_level.tolist(), other.result_level.tolist()) == ([1], [0])


def test_structures_are_those_of_the_levels(tmp_path: Path) -> None:
    text = """
    def structures(parameters): return (Structure("MRF"),)
    """
    assert replayed(tmp_path, text) == "mine.py: structures returned MRF, expected one per level: MRF, X"


def test_hints_reach_the_hooks(tmp_path: Path) -> None:
    """A software-managed level: the compile step says which results it takes, the hook reads the hint."""
    text = """
    def compile(program, parameters):
        return program._replace(result_level=(program.result == 2).astype(np.uint8))

    @hook
    def plan_write(state, program, warp, pc, plan):
        for operand in range(program.result_start[pc], program.result_start[pc + 1]):
            write(plan, operand, program.result_level[operand])
    """
    code = kernel([op("mov.b32", r(2), 1), op("mov.b32", r(1), 1), op("add.s32", r(2), r(1), r(2))])
    found = replay(one_warp([0]), code, load(written(tmp_path, text)), mode="interpreted")
    assert (found.writes("X"), found.writes("MRF"), found.reads("MRF")) == (2, 1, 2)
