"""Columns: those of a component are adjacent, and none passes the type checker with a row of another."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from warpreg.gpu.pipes import PIPES
from warpreg.ir.control_code import COUNTERS
from warpreg.timing.core import columns
from warpreg.timing.core.columns import causes, machine, ops, schedulers, warps
from warpreg.timing.core.declaring import Columns, word
from warpreg.timing.memory import memory_columns
from warpreg.timing.memory.memory_columns import nodes, parameters

ROOT = Path(__file__).parents[2]
WRONG = Path(__file__).with_name("wrong_pairings.py")
COMPONENTS = [
    value
    for module in (columns, memory_columns)
    for value in vars(module).values()
    if isinstance(value, type) and issubclass(value, Columns) and value is not Columns
]


@pytest.mark.slow
def test_the_type_checker_refuses_wrong_pairings_line_by_line() -> None:
    mypy = pytest.importorskip("mypy.api")
    out, errors, _ = mypy.run(["--config-file", str(ROOT / "pyproject.toml"), str(WRONG)])
    assert not errors
    refused = {int(line) for line in re.findall(r"wrong_pairings\.py:(\d+): error", out)}
    lines = WRONG.read_text(encoding="utf-8").splitlines()
    marked = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert len(marked) > 40
    assert refused == marked, out
    assert len(out.splitlines()) > len(marked)


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda one: f"{one.__module__.split('.')[2]}.{one.__name__}")
def test_columns_of_a_component_are_apart(component: type[Columns]) -> None:
    """Each is a plain number from 0 on that no other one has, but for the words that two share in turn."""
    numbers = {name: getattr(component, name) for name in component.DECLARED}
    assert all(type(number) is int for number in numbers.values())
    own = Counter(
        number
        for name, first in numbers.items()
        if not isinstance(component.DECLARED[name].at, str)
        for number in range(first, first + component.DECLARED[name].count)
    )
    assert set(own.values()) == {1}
    assert min(own) == 0
    assert max(own) < component.COUNT


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda one: f"{one.__module__.split('.')[2]}.{one.__name__}")
def test_a_column_says_what_it_is(component: type[Columns]) -> None:
    assert [name for name, one in component.DECLARED.items() if one.count and not (one.unit and one.about)] == []


def test_a_series_takes_a_word_for_each_pipe_or_counter() -> None:
    """Schedulers: eight words, then three for each pipe; warps have a counter for each dependence counter."""
    assert (8, 8 + len(PIPES)) == (schedulers.WANTS, schedulers.UNITS_FOR)
    assert int(warps.BUSY) - int(warps.COUNTERS) == COUNTERS


def test_words_that_two_columns_share_have_one_number() -> None:
    assert int(ops.LATE) == int(ops.RECORD)
    assert int(ops.ENTERS_FROM) == int(ops.READY_AT)


def test_folded_columns_are_those_that_say_so() -> None:
    assert int(machine.SLOTS) in machine.STRUCTURE
    assert int(machine.SMS) not in machine.STRUCTURE
    assert int(parameters.MODEL) in parameters.STRUCTURE
    assert nodes.STRUCTURE == ()


def test_a_word_with_two_columns_is_refused() -> None:
    with pytest.raises(TypeError, match="wrong: word 1 is SECOND and THIRD"):

        class wrong(Columns):  # noqa: N801 - as components are named
            FIRST = word("cycle", "")
            SECOND = word("cycle", "", count=2)
            THIRD = word("cycle", "", at=1)


def test_a_row_that_is_too_short_is_refused() -> None:
    with pytest.raises(TypeError, match="short: COUNT expects at least 2, found 1"):

        class short(Columns):  # noqa: N801
            FIRST = word("cycle", "")
            SECOND = word("cycle", "")
            COUNT = 1


def test_causes_have_a_name_each() -> None:
    """Their numbers are positions in the stall account."""
    assert causes.NAMES[causes.NOT_SELECTED] == "not selected"
    assert causes.NAMES[causes.OTHER] == "other"
    assert len(set(causes.NAMES)) == causes.COUNT == causes.READY
