"""Columns of the core: those of a component are adjacent, and none passes the type checker with a row of another."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import defaultdict
from pathlib import Path

import pytest

from warpreg.gpu.pipes import PIPES
from warpreg.ir.control_code import COUNTERS
from warpreg.timing.core import columns
from warpreg.timing.core.columns import causes
from warpreg.timing.memory import columns as memory_columns

ROOT = Path(__file__).parents[2]
WRONG = Path(__file__).with_name("wrong_pairings.py")
SERIES = {"DISPATCHED": len(PIPES), "WANTS": len(PIPES), "UNITS_FOR": len(PIPES), "GROUP_FOR": len(PIPES), "WAITED": 3,
          "COUNTERS": COUNTERS}  # fmt: skip
"""Columns that others follow, one a pipe, a level of memory or a counter."""
SAME_WORD = {("ops", name) for name in ("LATE", "ENTERS_FROM", "REACHED", "ALONE", "PLACE")}
COMPONENTS = sorted(
    f"{package.__name__}.{module.name}"
    for package in (columns, memory_columns)
    for module in pkgutil.iter_modules(package.__path__)
    if module.name != "typed"
)


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


@pytest.mark.parametrize("component", COMPONENTS)
def test_columns_of_a_component_are_apart(component: str) -> None:
    """Each has a number of its own, from 0 on; a series takes one for each pipe."""
    module = importlib.import_module(component)
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    names = re.findall(r"^([A-Z_0-9]+) = (?:_Word|_cause|_counter|Column\[.*\])\(", source, re.M)
    taken: dict[int, list[str]] = defaultdict(list)
    for name in names:
        if (module.__name__.rpartition(".")[2], name) not in SAME_WORD:
            first = getattr(module, name)
            assert type(first) is int
            for number in range(first, first + SERIES.get(name, 1)):
                taken[number].append(name)
    assert all(len(owners) == 1 for owners in taken.values()), taken
    assert min(taken) == 0


def test_causes_have_a_name_each() -> None:
    """Their numbers are positions in the stall account."""
    assert causes.NAMES[causes.NOT_SELECTED] == "not selected"
    assert causes.NAMES[causes.OTHER] == "other"
    assert len(set(causes.NAMES)) == causes.COUNT == causes.READY
