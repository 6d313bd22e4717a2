"""Designs that do something wrong: each is one message with file, line and what was wrong, and no crash.

Most run as plain Python, which checks the same; `test_compiled` has several of them in machine code.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import one_warp

from piecewise_numba.options import Mode
from warpreg.designs import DesignError, load
from warpreg.designs.checking import words
from warpreg.ir.kernel import Kernel
from warpreg.replay import replay

HEAD = """\
from typing import NamedTuple
import operator
import numpy as np
from warpreg.designs import interface as w
DESIGN = w.Declaration(slot="levels", levels=("MRF", "X"), events=("e",), resources=("q",), source="assumed: a test")
ROWS = (1, 2)
class State(NamedTuple):
    n: object
    table: object
def init(parameters, program): return State(w.per_warp(np.zeros(4, np.int64)), np.arange(6).reshape(2, 3))
"""
READS = """
@w.hook
def plan_reads(state, program, warp, pc, plan):
    for operand in w.source_operands(program, pc):
        w.read(plan, operand, 1)
"""
WRITES = """
@w.hook
def plan_write(state, program, warp, pc, plan):
    for operand in w.result_operands(program, pc):
"""
LINE = len((HEAD + WRITES).splitlines()) + 1
"""Of what follows `WRITES`."""
CODE = kernel([op("mov.b32", r(0), 1), op("add.s32", r(1), r(0), r(0))])
"""One source less result each: operand 0 is the result of pc 0, operand 1 that of pc 1."""


def design(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def complaint(path: Path, code: Kernel = CODE, mode: Mode = "interpreted") -> str:
    """What loading and replaying the design says, on one line."""
    with pytest.raises(DesignError) as error:
        replay(one_warp([0]), code, load(path), mode=mode)
    message = str(error.value)
    assert "\n" not in message
    return message.replace(str(path), "mine.py")


WRONG_WRITES = [
    ("w.write(plan, operand, 9)", "level 9 is outside 0 to 1"),
    ("w.write(plan, operand, -1)", "level -1 is outside 0 to 1"),
    ("w.write(plan, 1000000, 0)", "result operand 1000000 is outside 0 to 0"),
    ("w.write(plan, operand, 0, cycles=-7)", "cycles -7 is outside -1 to 1048576"),
    ("w.write(plan, operand, 0, slices=0)", "slice mask 0 is outside 1 to 1"),
    ("w.read(plan, operand, 0)", "a source operand is planned in a hook that does not plan sources"),
    ("w.extra(plan, 0, 2, 0)", "action 2 is outside 0 to 1"),
    ("w.extra(plan, 0, w.READ, 2)", "register 2 is outside -1 to 1"),
    ("w.move(plan, 0, 2)", "level 2 is outside 0 to 1"),
    ("w.move(plan, 1, 0, 0, warp=77)", "warp 77 is outside -1 to 31"),
    ("w.move(plan, 1, 0, amount=-1)", "amount -1 is outside 0 to 2147483648"),
    ("w.count(plan, 1)", "event 1 is outside 0 to 0"),
    ("w.level(plan, 3, 1)", "resource 3 is outside 0 to 0"),
    ("w.wake(plan, -5)", "token -5 is outside 0 to 1099511627776"),
    ("w.lookup(plan, 0, 3)", "table 0 does not exist, there is none"),
    ("state.n[warp, operand + 10] = 1", "index 10 is outside 0 to 3"),
    ("state.n[warp, operand + 10**8] += 1", "index 100000000 is outside 0 to 3"),
    ("state.n[warp, operand - 1] = 1", "index -1 is outside 0 to 3"),
    ("x = program.source[operand + 2**40]", "index 1099511627776 is outside 0 to 1"),
    ("x = state.table[operand][operand + 3]", "index 3 is outside 0 to 2"),
    ("state.table[operand + 2, 1], x = 1, 2", "index 2 is outside 0 to 1"),
    ("x = ROWS[operand + 2]", "index 2 is outside 0 to 1"),
    ("x = 7 // operand", "division by zero"),
    ("x = np.mod(7, operand)", "division by zero"),
    ("operand %= pc", "division by zero"),
    ("x = 1 << (operand + 64)", "shift by 64 bits is outside 0 to 63"),
    ("while operand >= 0: operand += 1", "the loops of one call take more than 1000 steps"),
    ("for x in range(10**12): operand += 1", "the loops of one call take more than 1000 steps"),
]


@pytest.mark.parametrize(("statement", "what"), WRONG_WRITES)
def test_a_hook_that_does_something_out_of_range(
    tmp_path: Path, statement: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "MAX_TURNS", 1000)
    message = complaint(design(tmp_path, f"{WRITES}        {statement}\n"))
    assert message.startswith(f"mine.py:{LINE}: ")
    assert message.endswith(f": {what} (plan_write, warp 0, pc 0)")


def test_the_message_names_the_expression_and_the_function_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text(
        "def pick(state, warp):\n    return state.n[warp, 4 + warp]\n", encoding="utf-8"
    )
    path = design(tmp_path, "import theirs\n" + WRITES + "        w.write(plan, operand, theirs.pick(state, warp))\n")
    assert complaint(path) == (
        f"{tmp_path / 'theirs.py'}:2: state.n[warp, 4 + warp]: index 4 is outside 0 to 3 "
        f"(plan_write (mine.py:{LINE - 1}), warp 0, pc 0)"
    )


def test_an_operand_that_is_planned_twice(tmp_path: Path) -> None:
    twice = READS + "        w.read(plan, operand, 0)\n"
    assert ": operand 0 is planned twice (plan_reads, warp 0, pc 1)" in complaint(design(tmp_path, twice))
    twice = WRITES + "        w.write(plan, operand, 1)\n        w.write(plan, operand, 1)\n"
    message = complaint(design(tmp_path, twice))
    assert message.endswith("result operand 0 is planned twice for this level (plan_write, warp 0, pc 0)")


def test_a_result_may_go_to_two_levels_and_nowhere_is_said(tmp_path: Path) -> None:
    both = READS + WRITES + "        w.write(plan, operand, 0)\n        w.write(plan, operand, 1)\n"
    assert replay(one_warp([0]), CODE, load(design(tmp_path, both)), mode="interpreted").accesses[:, 1].sum() == 4
    none = WRITES + "        w.nowhere(plan, operand)\n"
    assert replay(one_warp([0]), CODE, load(design(tmp_path, none)), mode="interpreted").accesses[:, 1].sum() == 0
    both = none + "        w.write(plan, operand, 1)\n"
    assert "operand 0 is planned twice" in complaint(design(tmp_path, both))


def test_a_policy_that_keeps_books_in_plan_reads_forgets_the_reads(tmp_path: Path) -> None:
    text = "\n@w.hook\ndef plan_reads(state, program, warp, pc, plan):\n    state.n[warp, 0] += 1\n"
    assert complaint(design(tmp_path, text)) == (
        "mine.py:13: plan_reads: source operand 0 is not planned; call read, or nowhere(plan, operand) (warp 0, pc 1)"
    )


def test_a_merged_operand_that_was_not_planned_for_the_level(tmp_path: Path) -> None:
    text = """
    @w.hook
    def plan_reads(state, program, warp, pc, plan):
        first = w.source_operands(program, pc).start
        for operand in w.source_operands(program, pc):
            w.read(plan, operand, operand - first, merged=first if operand > first else w.UNSET)
    """
    message = complaint(design(tmp_path, dedent(text)))
    assert "merged operand 0 is not planned before for the same level (plan_reads, warp 0, pc 1)" in message


REFUSED = [
    ("plan.accesses[0] = 5", "plan.accesses is kept by the functions of the interface; call one of them"),
    ("program.source[0] = 5", "program.source[0] is part of the program table, which hooks only read"),
    ("f = w.write", "w.write can only be called, so that the call can be checked"),
    ("operator.getitem(state.table, 9)", "write an index in brackets, so that it can be checked"),
    ("w.write(plan, *(operand, 9))", "the arguments of write are written one by one"),
    ("w.write(plan, operand, 0, port=3)", "write: got an unexpected keyword argument 'port'"),
    ("again(operand)", "again calls itself, which cannot be checked; write a loop"),
    ("numba.carray(operand, 3)", "what this function does cannot be checked; run with --unchecked"),
]


@pytest.mark.parametrize(("statement", "what"), REFUSED)
def test_code_that_cannot_be_checked_is_refused(tmp_path: Path, statement: str, what: str) -> None:
    helper = "import numba\ndef again(n):\n    return again(n - 1)\n"
    message = complaint(design(tmp_path, f"{helper}{WRITES}        {statement}\n"))
    line = LINE + 3 if "again" not in statement else len(HEAD.splitlines()) + 3
    assert message == f"mine.py:{line}: {what}"


COMPILED = [
    ("w.write(plan, 1000000, 1)", "result operand 1000000 is outside 0 to 0"),
    ("w.write(plan, operand, 7 + state.n[warp, 0])", "level 7 is outside 0 to 1"),
    ("state.n[warp, operand + 10] = 1", "index 10 is outside 0 to 3"),
    ("state.n[warp, operand + 10**8] = 1", "index 100000000 is outside 0 to 3"),
    ("w.count(plan, 7 // operand)", "division by zero"),
    ("while state.n[warp, 0] >= 0: state.n[warp, 0] += 1", "the loops of one call take more than 16777216 steps"),
]


@pytest.mark.slow
def test_compiled(tmp_path: Path) -> None:
    """All in one design, whose state says which one it is, so that one core is compiled."""
    cases = "".join(
        f"        if state.case == {number}:\n            {text}\n" for number, (text, _) in enumerate(COMPILED)
    )
    text = HEAD.replace("    n: object", "    case: int\n    n: object").replace("State(w", "State(parameters.case, w")
    text += "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass Parameters:\n"
    text += '    case: int = w.parameter(0, source="assumed: a test")\n'
    path = tmp_path / "mine.py"
    path.write_text(text + WRITES + cases + "        w.write(plan, operand, 1)\n", encoding="utf-8")
    loaded = load(path)
    for number, (_, what) in enumerate(COMPILED):
        with pytest.raises(DesignError) as error:
            replay(one_warp([0]), CODE, loaded, case=number)
        assert f": {what} (plan_write, warp 0, pc 0)" in str(error.value)
    assert replay(one_warp([0]), CODE, loaded, case=99).accesses[1, 1].sum() == 2


AT_LOAD = [
    ("raise ValueError('no')", "mine.py:11: ValueError: no"),
    ("import sys; sys.exit(3)", "mine.py:11: the design ends the process (exit 3)"),
    ("raise KeyboardInterrupt", "mine.py:11: interrupted while the design was loaded"),
]


@pytest.mark.parametrize(("text", "what"), AT_LOAD)
def test_an_exception_while_the_file_is_loaded(tmp_path: Path, text: str, what: str) -> None:
    assert complaint(design(tmp_path, text)) == what


IN_INIT = [
    ("return None", "mine.py:10: init returned a NoneType, expected the State"),
    ("raise RuntimeError('no')", "mine.py:10: RuntimeError: no"),
    ("raise SystemExit", "mine.py:10: the design ends the process (exit None)"),
    ("return State(np.array([None]), 1)", "mine.py:10: state n is an array of object, expected integers, booleans or "
     "floating-point numbers"),
    ("return State([1], 1)", "mine.py:10: state n is a list, expected an array, per_warp(row) or a number"),
    ("return State(2**70, 1)", f"mine.py:10: state n is {2**70}, which has more than 64 bits"),
    ("program.source[0] = 9", "mine.py:10: ValueError: assignment destination is read-only"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "what"), IN_INIT)
def test_an_init_that_goes_wrong(tmp_path: Path, body: str, what: str) -> None:
    head = HEAD[: HEAD.index("def init")]
    path = tmp_path / "mine.py"
    path.write_text(f"{head}def init(parameters, program): {body}\n{WRITES}        pass\n", encoding="utf-8")
    assert complaint(path) == what


def test_an_exception_in_a_hook(tmp_path: Path) -> None:
    message = complaint(design(tmp_path, f"{WRITES}{indent('assert pc > 9', ' ' * 8)}\n"))
    assert message.startswith(f"mine.py:{LINE}: AssertionError")


def test_unchecked_hooks_are_the_authors_own(tmp_path: Path) -> None:
    path = design(tmp_path, READS)
    assert not load(path, checked=False).is_checked
    assert load(path).is_checked
    assert not load("rfc").is_checked
