"""The fingerprint of hooks: it changes with every dependency of the compiled core, and with nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Any

import pytest

from piecewise_numba.dependencies import Fingerprint
from piecewise_numba.namespaces import Namespace
from piecewise_numba.natives import native
from piecewise_numba.rebuild import as_it_is, rebuild
from piecewise_numba.recipe import compiled


def namespace(text: str, **values: object) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "somewhere", **values}
    exec(dedent(text), names)
    return names


def digest(text: str, **values: object) -> str:
    """Fingerprint of the function f that the text defines."""
    reach = Fingerprint()
    reach.function(namespace(text, **values)["f"])
    return reach.digest


PLAIN = """
import numpy as np
SCALE = 3
TABLE = np.arange(3)
def helper(x, bias=1): return x + bias
def outer(x): return helper(x) + TABLE[0]
def f(x):
    'A text.'
    return outer(x) * SCALE
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
        ("(x) + TABLE[0]", "(TABLE[0]) + x"),
    ],
)
def test_it_changes_with_what_the_function_reaches(before: str, after: str) -> None:
    assert before in PLAIN
    assert digest(PLAIN.replace(before, after)) != digest(PLAIN)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return x\n", "return 2 * x\n"),
        ("def unused", "OTHER = 1\n\n\ndef unused"),
        ("def outer(x): return", "def outer(x: int) -> int:\n    # A remark.\n    return"),
        ("'A text.'", "'Another text.'"),
    ],
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


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("import enum\nclass Kind(enum.IntEnum):\n A = 1\n B = 2\ndef f(x): return x + Kind.A", "A = 1", "A = 3"),
        ("from typing import NamedTuple\nclass R(NamedTuple):\n a: int\n b: int\ndef f(x): return R(x, 1)",
         " a: int\n b: int", " b: int\n a: int"),
        ("from typing import NamedTuple\nclass R(NamedTuple):\n a: int\nT = (R(1), 2)\ndef f(x): return T[0].a",
         "R(1)", "R(2)"),
        ("def one(x): return x\ndef two(x): return 2 * x\na, b = one, two\ndef f(x): return a(x) - b(x)",
         "a, b = one, two", "a, b = two, one"),
        ("def g(x, *, by=1): return x\ndef f(x): return g(x)", "by=1", "by=2"),
        ("N = 1\ndef f(x):\n def inner(y): return y + N\n return inner(x)", "N = 1", "N = 1.0"),
        ("def f(x): return x in {1, 2}", "{1, 2}", "{1, 3}"),
    ],
    ids=["enum", "fields", "named tuple", "swapped functions", "keyword default", "inner function", "set"],
)  # fmt: skip
def test_it_changes_with_values_of_all_kinds(text: str, before: str, after: str) -> None:
    assert before in text
    assert digest(text.replace(before, after)) != digest(text) == digest(text)


def test_a_function_may_call_itself() -> None:
    text = "def f(x): return 0 if x == 0 else f(x - {})"
    assert digest(text.format(1)) != digest(text.format(2))


def test_it_changes_with_a_module_that_another_module_names() -> None:
    inner, outer = ModuleType("inner"), ModuleType("outer")
    outer.__dict__["inner"] = inner
    inner.__dict__["N"] = 1
    text = "def f(x): return x + outer.inner.N"
    first = digest(text, outer=outer)
    inner.__dict__["N"] = 2
    assert digest(text, outer=outer) != first


def test_it_changes_with_what_replaces_a_function() -> None:
    names = namespace("def port(x): return x\ndef one(x): return 1\ndef two(x): return 2\ndef f(x): return port(x)")

    def with_port(instead: str) -> str:
        fingerprint = Fingerprint({names["port"]: names[instead]})
        fingerprint.function(names["f"])
        return fingerprint.digest

    assert len({digest("def f(x): return x"), with_port("one"), with_port("two")}) == 3


@pytest.mark.parametrize("text", ["def f(x): return THING.scale * x", "def f(x): return x if THING else 0"])
def test_it_changes_with_the_file_of_what_cannot_be_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    module = ModuleType("beside")
    module.__file__ = str(tmp_path / "beside.py")
    monkeypatch.setitem(sys.modules, "beside", module)
    thing = type("Thing", (), {"__module__": "beside", "scale": 1})()
    (tmp_path / "beside.py").write_text("A = 1\n", encoding="utf-8")
    first = digest(text, THING=thing)
    (tmp_path / "beside.py").write_text("A = 22\n", encoding="utf-8")
    assert digest(text, THING=thing) != first


def test_it_changes_with_the_file_of_an_intrinsic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "beside.py"
    path.write_text("def make(): return 1\n", encoding="utf-8")
    module = ModuleType("beside")
    module.__file__ = str(path)
    exec("def make(): return 1", vars(module))
    monkeypatch.setitem(sys.modules, "beside", module)
    names = namespace("def one(x): return x\ndef f(x): return one(x)")
    native(module.make)(names["one"])

    def now() -> str:
        fingerprint = Fingerprint()
        fingerprint.function(names["f"])
        return fingerprint.digest

    first = now()
    path.write_text("# changed\ndef make(): return 1\n", encoding="utf-8")
    assert now() != first


def test_it_does_not_depend_on_where_the_file_lies() -> None:
    reaches = []
    for place in ("here.py", "there.py"):
        names: dict[str, Any] = {"__name__": "somewhere"}
        exec(compile("def g(x): return x\ndef f(x): return [g(y) for y in x]", place, "exec"), names)
        reach = Fingerprint()
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


def test_rebuilding_reaches_functions_in_closures_and_leaves_the_old_ones() -> None:
    text = """
    def port(x): return x
    def make(inner):
        def f(x): return inner(x) + 1
        return f
    f = make(port)
    def other(x): return 10 * x
    """
    names = namespace(text)
    rebuilt = rebuild({"f": names["f"]}, as_it_is, {names["port"]: names["other"]})
    assert (rebuilt["f"](2), names["f"](2)) == (21, 3)


SPACES = """
class columns(Namespace):
    FIRST = 1
    SECOND = 2
def f(x): return x + columns.FIRST
"""


def test_a_namespace_counts_with_what_a_function_names_of_it() -> None:
    """As a module does: FIRST matters, SECOND does not."""
    plain = digest(SPACES, Namespace=Namespace)
    assert digest(SPACES.replace("FIRST = 1", "FIRST = 3"), Namespace=Namespace) != plain
    assert digest(SPACES.replace("SECOND = 2", "SECOND = 3"), Namespace=Namespace) == plain


def test_a_rebuilt_function_sees_only_what_it_names_of_a_namespace() -> None:
    built = rebuild({"f": namespace(SPACES, Namespace=Namespace)["f"]}, as_it_is)["f"]
    seen = built.__globals__["columns"]
    assert built(1) == 2
    assert isinstance(seen, ModuleType)
    assert (seen.FIRST, hasattr(seen, "SECOND")) == (1, False)


def test_compiled_code_reads_a_namespace() -> None:
    assert compiled(namespace(SPACES, Namespace=Namespace)["f"], (1,))(1) == 2
