"""A counter is declared once; fields of large classes of the timing model are described where they stand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import warpreg.timing
from warpreg.timing.core.columns import clock
from warpreg.timing.core.counters import NAMES, UNITS, Counters
from warpreg.timing.launch.threads import SUMMED
from warpreg.timing.results.result import TimingResult

FOLDER = Path(warpreg.timing.__file__).parent
MANY = 10
"""Fields from which on a class describes each of them."""


@pytest.mark.parametrize("name", NAMES)
def test_a_counter_is_a_word_of_the_clock_with_its_name(name: str) -> None:
    """It is summed over threads, and has a unit."""
    column = int(getattr(clock, name.upper()))
    assert column == int(clock.FIRST_COUNTER) + NAMES.index(name)
    assert column in SUMMED
    assert UNITS[name]


def test_the_result_has_every_counter() -> None:
    assert issubclass(TimingResult, Counters)
    assert clock.AFTER_COUNTERS == clock.DISPATCHED


def large_classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for file in sorted(FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and sum(isinstance(one, ast.AnnAssign) for one in node.body) >= MANY:
                yield f"{file.relative_to(FOLDER)}: {node.name}", node


def test_large_classes_describe_each_field_under_it() -> None:
    """Columns are described in their declaration, the functions of a memory model at the ports of their names."""
    without = []
    for name, node in large_classes():
        if node.name == "Functions" or any(ast.unparse(base) == "Columns" for base in node.bases):
            continue
        for one, following in zip(node.body, [*node.body[1:], ast.Pass()], strict=True):
            described = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            if isinstance(one, ast.AnnAssign) and not described:
                without.append(f"{name}.{ast.unparse(one.target)}")
    assert without == []
