"""The fingerprint of what hooks reach: it changes with all that the compiled core depends on, and with nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Any

import pytest

from warpreg.jit.dependencies import Reach, rebuild


def namespace(text: str, **values: object) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "somewhere", **values}
    exec(dedent(text), names)
    return names


def digest(text: str, **values: object) -> str:
    """Fingerprint of the function f that the text defines."""
    reach = Reach()
    reach.function(namespace(text, **values)["f"])
    return reach.digest


PLAIN = """
import numpy as np
SCALE = 3
TABLE = np.arange(3)
def helper(x, bias=1): return x + bias
def outer(x): return helper(x) + TABLE[0]
def f(x): return outer(x) * SCALE
def unused(x): return x
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SCALE = 3", "SCALE = 4"),
        ("np.arange(3)", "np.arange(3) + 1"),
        ("np.arange(3)", "np.arange(3.0)"),
        ("x + bias", "x - bias"),
        ("bias=1", "bias=2"),
        ("x) * SCALE", "x) + SCALE"),
    ],
)
def test_it_changes_with_what_the_function_reaches(before: str, after: str) -> None:
    assert before in PLAIN
    assert digest(PLAIN.replace(before, after)) != digest(PLAIN)


@pytest.mark.parametrize(
    ("before", "after"), [("return x\n", "return 2 * x\n"), ("def unused", "OTHER = 1\ndef unused")]
)
def test_it_stays_when_something_out_of_reach_changes(before: str, after: str) -> None:
    assert before in PLAIN
    assert digest(PLAIN.replace(before, after)) == digest(PLAIN)


def test_it_changes_with_a_value_in_a_closure() -> None:
    text = """
    def make(n):
        def f(x): return x + n
        return f
    f = make({})
    """
    assert digest(text.format(1)) != digest(text.format(2))


def test_it_changes_with_a_value_in_another_module() -> None:
    text = "def f(x): return x + settings.N"
    settings = ModuleType("settings")
    settings.__dict__["N"] = 1
    first = digest(text, settings=settings)
    settings.__dict__["N"] = 2
    assert digest(text, settings=settings) != first


def test_it_changes_with_the_file_that_a_function_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where the function itself stays: a class or a table beside it may matter to the compiler."""
    module = ModuleType("beside")
    module.__file__ = str(tmp_path / "beside.py")
    monkeypatch.setitem(sys.modules, "beside", module)
    (tmp_path / "beside.py").write_text("A = 1\n", encoding="utf-8")
    text = "def f(x): return x"
    first = digest(text, __name__="beside")
    (tmp_path / "beside.py").write_text("A = 2\n", encoding="utf-8")
    assert digest(text, __name__="beside") != first


def test_it_does_not_depend_on_where_the_file_lies() -> None:
    reaches = []
    for place in ("here.py", "there.py"):
        names: dict[str, Any] = {"__name__": "somewhere"}
        exec(compile("def g(x): return x\ndef f(x): return [g(y) for y in x]", place, "exec"), names)
        reach = Reach()
        reach.function(names["f"])
        reaches.append(reach.digest)
    assert reaches[0] == reaches[1]


def test_rebuilding_replaces_every_function_that_is_reached() -> None:
    inside = ModuleType("inside")
    exec("def twice(x): return 2 * x", vars(inside))
    text = """
    def fall(n): return 0 if n == 0 else fall(n - 1)
    def helper(x): return inside.twice(x) + 1
    def f(x): return helper(x) + fall(x)
    def g(x): return helper(x)
    """
    names = namespace(text, inside=inside)
    replaced: list[str] = []

    def logged(function: FunctionType) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            replaced.append(function.__name__)
            return function(*arguments)

        return call

    rebuilt = rebuild({"f": names["f"], "g": names["g"]}, logged)
    assert rebuilt["f"](1) == 3
    assert replaced == ["f", "helper", "twice", "fall", "fall"]
    assert names["f"](1) == 3  # the author's own functions are as they were
    assert len(replaced) == 5
