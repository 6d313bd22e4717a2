"""Functions that are lowered, then linked and optimised in their outermost caller."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
import warnings
from contextlib import nullcontext
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction
from numpy.typing import NDArray
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import one_warp
from tests.sass.vector_add import write_vector_add
from tests.timing import small_core

import warpreg
from piecewise_numba import compiler, recipe
from piecewise_numba.bare_arrays import bare, widths
from piecewise_numba.code_libraries import Lowered, Outermost
from piecewise_numba.natives import Function
from piecewise_numba.piecewise import Piecewise
from piecewise_numba.recipe import CompileError, Recipe, compiled
from warpreg.replay import replay
from warpreg.timing import simulate
from warpreg.timing.launch import compile as native

Words = NDArray[np.int64]


def add(words: Words, place: int, amount: int) -> None:
    words[place] += amount


def seldom(words: Words, flag: int) -> None:
    if flag == 0:
        add(words, 0, 100)


def often(words: Words, times: int) -> int:
    for _ in range(min(times, words.size)):
        add(words, 1, 1)
    return max(int(words[1]), 0)


def whole(words: Words) -> int:
    # `seldom` comes first and drops its call of `add`, which `often` needs all the same.
    seldom(words, 1)
    return often(words, 3) + often(words, 2)


def test_compiled_code_does_what_python_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    plain, native = np.zeros(4, np.int64), np.zeros(4, np.int64)
    entry = compiled(whole, (native,))
    assert entry(native) == whole(plain) == 3 + 5
    assert native.tolist() == plain.tolist() == [0, 5, 0, 0]


def doubled(words: Words) -> int:
    add(words, 2, int(words[2]))
    return often(words, 1)


def kept() -> list[object]:
    """What numba made of functions and is in memory; earlier tests may have left some."""
    return [one for one in gc.get_objects() if issubclass(type(one), (Piecewise, Lowered, Outermost))]


def test_a_compilation_leaves_nothing_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What numba made of the functions goes with the collector; the machine code stays and runs."""
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    words = np.ones(4, np.int64)
    before = kept()
    entry = compiled(doubled, (words,))
    gc.collect()
    made = [one for one in kept() if not any(one is other for other in before)]
    assert made == []
    assert (entry(words), words[2]) == (2, 2)


def test_only_the_outermost_function_is_machine_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    entry: Any = compiled(often, (np.zeros(4, np.int64), 3))
    names = set(re.findall(rb"_ZN(?!08NumbaEnv)\w+", entry.code.code))
    assert len(names) == 2  # the function, and what unpacks Python's arguments
    assert all(b"often_" in name for name in names)


class Table(NamedTuple):
    rows: NDArray[np.int64]
    few: NDArray[np.uint32]


class Total(NamedTuple):
    words: Words


def open_table(table: Any) -> Any:
    return table


def open_total(total: Any) -> Any:
    return total


def add_up(table: Table, total: Total) -> int:
    bare_table, bare_total = open_table(table), open_total(total)
    for row in range(3):
        bare_table.rows[row, 1] = bare_table.few[row]
        add(bare_total.words, 0, bare_table.rows[row, 0] + bare_table.rows[row, 1])
    return int(bare_total.words[0])


def test_bare_arrays_are_read_and_written_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))

    def arrays() -> tuple[Table, Total]:
        return Table(np.array([[1, 0], [2, 0], [3, 0]]), np.array([0, 1, 0xFFFFFFFF], np.uint32)), Total(
            np.zeros(1, int)
        )

    plain, native = arrays(), arrays()
    opened: dict[Function, Function] = {open_table: bare(widths(native[0])), open_total: bare(widths(native[1]))}
    entry = Recipe(add_up, opened).build(native)
    assert entry(*native) == add_up(*plain) == 1 + 3 + 3 + 0xFFFFFFFF
    assert native[0].rows.tolist() == plain[0].rows.tolist()
    assert native[1].words.tolist() == plain[1].words.tolist()


def numbas_own() -> tuple[Any, ...]:
    """What is changed of numba while a core compiles."""
    return BaseFunction.get_call_type, TargetConfig.__hash__, TargetConfig.__eq__


def test_numba_is_as_before_once_a_function_is_compiled_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    before = numbas_own()

    def wrong(number: Any) -> Any:
        return number + "one"

    def right(number: Any) -> Any:
        return number + 1

    for function, expected in ((wrong, pytest.raises(CompileError)), (right, nullcontext())):
        with expected:
            compiled(function, (1,))
        assert numbas_own() == before


def test_importing_the_compiler_changes_nothing_of_numba() -> None:
    script = """
    from numba.core.targetconfig import TargetConfig
    from numba.core.types.functions import BaseFunction
    def own(): return BaseFunction.get_call_type, TargetConfig.__hash__, TargetConfig.__eq__
    before = own()
    import piecewise_numba.numba_internals, piecewise_numba.recipe
    print(own() == before)
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(warpreg.__file__).parents[1])}
    command = [sys.executable, "-c", dedent(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


class Outcome(NamedTuple):
    """What runs leave that compiling must not change."""

    counts: list[list[Any]]
    cycles: int


def outcome(folder: Path) -> Outcome:
    """Of a replay of two designs, and of a small timing run, both compiled anew."""
    code = kernel([op("add.s32", r(1), r(0), r(0)), op("add.s32", r(2), r(1), r(0)), op("add.s32", r(2), r(2), r(1))])
    counts = [replay(one_warp([0, 0]), code, design).accesses.tolist() for design in ("rfc", "rfc-lrf")]
    found = simulate(warpreg.read_trace(folder / "kernelslist.g").launches, "gebhart", designs=["rfc"])
    return Outcome(counts, found.cycles)


def test_an_unknown_version_of_numba_gets_plain_njit_with_one_line_and_the_same_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "run", small_core.run)
    write_vector_add(tmp_path, 32)
    found = []
    right = compiler.KNOWN
    for known in (right, "0.0."):
        monkeypatch.setenv("WARPREG_CACHE", str(tmp_path / known))
        monkeypatch.setattr(compiler, "KNOWN", known)
        monkeypatch.setattr(recipe, "_loaded", {})
        monkeypatch.setattr(recipe, "_by_digest", {})
        compiler._warn.cache_clear()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found.append(outcome(tmp_path))
        lines = [str(one.message) for one in told if one.category is compiler.CompilerWarning]
        assert len(lines) == (known == "0.0.")
    assert found[0] == found[1]
    assert (tmp_path / right / "cores").exists()
    assert not (tmp_path / "0.0." / "cores").exists()
