"""Functions that are compiled once and linked wherever they are reached."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import llvmlite.binding
import numpy as np
import pytest
from numba.core import dispatcher
from numpy.typing import NDArray

from piecewise_numba import pieces, recipe, type_book, units
from piecewise_numba.natives import Function
from piecewise_numba.noinline import apart, noinline
from piecewise_numba.piecewise import CallRecord, Piecewise
from piecewise_numba.recipe import Recipe
from piecewise_numba.sealed import sealed
from warpreg.counting.diagnostics import brief

llvm: Any = llvmlite.binding
Words = NDArray[np.int64]
WORDS = np.array([1, 2, 3])


class Compiled:
    """Builds recipes as new processes would."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._monkeypatch = folder, monkeypatch
        self._names: list[str] = []
        monkeypatch.setenv("WARPREG_CACHE", str(folder))
        keep = Piecewise.keep

        def noted(self_: Any, record: CallRecord, *rest: Any) -> None:
            self._names.append(record.function.__name__)
            keep(self_, record, *rest)

        monkeypatch.setattr(Piecewise, "keep", noted)

    def names(self) -> list[str]:
        """What numba has compiled since the last call."""
        found, self._names = sorted(self._names), []
        return found

    def entry(self, recipe_: Recipe, *arguments: Any) -> Function:
        for module, name, fresh in (
            (recipe, "_loaded", {}), (recipe, "_by_digest", {}), (type_book, "_types", {}),
            (type_book, "_digests", {}), (type_book, "_kept", set()),
        ):  # fmt: skip
            self._monkeypatch.setattr(module, name, fresh)
        return recipe_.build(arguments)

    def __call__(self, entry: Function, replaced: Mapping[Any, Any], *arguments: Any) -> Any:
        return self.entry(Recipe(entry, replaced), *arguments)(*arguments)


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiled:
    return Compiled(tmp_path, monkeypatch)


def rule(words: Any, place: int) -> Any:
    return 0


def other_rule(words: Any, place: int) -> Any:
    return 0


def helper(words: Any, place: int) -> Any:
    return words[place] + rule(words, place)


def total(words: Any) -> Any:
    found = 0
    for place in range(len(words)):
        found += helper(words, place)
    return found


def doubled(words: Any, place: int) -> Any:
    return 2 * words[place]


def halved(words: Any, place: int) -> Any:
    return words[place] / 2


def edited(words: Any, place: int) -> Any:
    return 10 * words[place]


def test_an_edit_of_a_function_compiles_no_function_that_calls_it(compiled: Compiled) -> None:
    assert compiled(total, {rule: doubled}, WORDS) == 6 + 12
    assert compiled.names() == ["doubled", "helper"]
    assert compiled(total, {rule: edited}, WORDS) == 6 + 60
    assert compiled.names() == ["edited"]
    assert compiled(total, {rule: doubled}, WORDS) == 6 + 12
    assert compiled.names() == []


def test_a_function_that_returns_another_type_compiles_its_callers_again(compiled: Compiled) -> None:
    assert compiled(total, {rule: doubled}, WORDS) == 6 + 12
    compiled.names()
    found = compiled(total, {rule: halved}, WORDS)
    assert isinstance(found, float)
    assert found == 6 + 3.0
    assert compiled.names() == ["halved", "helper"]


def test_types_of_arguments_have_pieces_of_their_own(compiled: Compiled) -> None:
    compiled(total, {rule: doubled}, WORDS)
    compiled.names()
    assert compiled(total, {rule: doubled}, WORDS / 2) == 3.0 + 6.0
    assert compiled.names() == ["doubled", "helper"]


def both(words: Any) -> Any:
    return 100 * rule(words, 0) + other_rule(words, 0)


def test_two_names_of_one_function_are_not_two_functions(compiled: Compiled) -> None:
    assert compiled(both, {rule: doubled, other_rule: doubled}, WORDS) == 202
    assert compiled(both, {rule: doubled, other_rule: edited}, WORDS) == 210
    assert compiled(both, {rule: edited, other_rule: doubled}, WORDS) == 1002


def with_default(words: Any, place: int, more: int = 1000) -> Any:
    return words[place] + more


def with_other_default(words: Any, place: int, more: int = 2000, most: int = 1) -> Any:
    return words[place] + more * most


def test_defaults_of_a_callee_count(compiled: Compiled) -> None:
    assert compiled(total, {rule: doubled}, WORDS) == 18
    assert compiled(total, {rule: with_default}, WORDS) == 6 + 3006
    assert compiled(total, {rule: with_other_default}, WORDS) == 6 + 6006


@pytest.mark.parametrize("kind", [pieces.KIND, type_book.KIND])
@pytest.mark.parametrize("damage", [b"", b"?"])
def test_damaged_pieces_are_compiled_again(compiled: Compiled, kind: str, damage: bytes) -> None:
    compiled(total, {rule: doubled}, WORDS)
    compiled.names()
    for file in (compiled.folder / kind).iterdir():
        file.write_bytes(file.read_bytes()[:-1] + damage)
    assert compiled(total, {rule: edited}, WORDS) == 6 + 60
    assert set(compiled.names()) >= ({"edited", "helper"} if kind == pieces.KIND else {"edited"})


@noinline
def apart_one(words: Any, place: int) -> Any:
    return words[place] + 1


@noinline
def apart_two(words: Any, place: int) -> Any:
    return words[place] + 2


def test_machine_code_around_a_hook_out_of_line_stays(compiled: Compiled) -> None:
    one, two = (Recipe(total, {rule: hook}, {"rule": hook}) for hook in (apart_one, apart_two))
    first = compiled.entry(one, WORDS)
    assert compiled.names() == ["apart_one", "helper"]
    kept = set((compiled.folder / units.KIND).iterdir())
    second = compiled.entry(two, WORDS)
    assert compiled.names() == ["apart_two"]
    added = set((compiled.folder / units.KIND).iterdir()) - kept
    assert (len(kept), len(added)) == (2, 1)  # the entry point and the function with the hook; another such function
    assert (first(WORDS), second(WORDS)) == (6 + 9, 6 + 12)  # side by side in one process
    assert compiled.entry(one, WORDS)(WORDS) == 6 + 9


def test_damaged_units_are_emitted_again(compiled: Compiled) -> None:
    compiled.entry(Recipe(total, {rule: apart_one}, {"rule": apart_one}), WORDS)
    for file in (compiled.folder / units.KIND).iterdir():
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert compiled.entry(Recipe(total, {rule: apart_two}, {"rule": apart_two}), WORDS)(WORDS) == 6 + 12


@apart
def first_word(words: Any) -> Any:
    return words[0]


@apart
def last_word(words: Any) -> Any:
    return words[len(words) - 1]


def doubled_last(words: Any) -> Any:
    return 2 * last_word(words)


def span(words: Any) -> Any:
    return first_word(words) - last_word(words)


def test_entry_points_share_the_machine_code_of_functions_apart(compiled: Compiled) -> None:
    def stored() -> set[Path]:
        return set((compiled.folder / units.KIND).iterdir())

    first = compiled.entry(Recipe(doubled_last), WORDS)
    one = stored()
    second = compiled.entry(Recipe(span), WORDS)
    assert (len(one), len(stored() - one)) == (1, 1)  # `last_word`, then `first_word`
    assert (first(WORDS), second(WORDS)) == (2 * 3, 1 - 3)
    assert compiled.entry(Recipe(span), WORDS)(WORDS) == 1 - 3


def four_times(words: Any) -> Any:
    result = 0
    for place in range(4):
        result += rule(words, place % 3)
    return result


def eight_times(words: Any) -> Any:
    return 2 * four_times(words)


def test_loops_over_calls_are_not_unrolled(compiled: Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is called is inlined once."""
    codes: list[bytes] = []
    monkeypatch.setattr(pieces, "keep", lambda key, piece: codes.append(piece.code))
    assert compiled(eight_times, {rule: doubled}, WORDS) == 2 * (2 + 4 + 6 + 2)
    texts = [str(llvm.parse_bitcode(code)) for code in codes if code]
    calls = [line for text in texts for line in text.splitlines() if f" @{pieces.called(0)}(" in line and "=" in line]
    assert len(calls) == 1


def of_a_module(words: Any) -> Any:
    return np.int64(here.total(words))


here = ModuleType("here")
vars(here)["total"] = total


def test_a_build_leaves_no_dispatchers(compiled: Compiled) -> None:
    """numba keeps the types of modules that compiled functions use; what these reach is let go."""
    assert compiled(of_a_module, {rule: doubled}, WORDS) == 6 + 12
    gc.collect()
    left = [one.py_func for one in gc.get_objects() if issubclass(type(one), dispatcher.Dispatcher)]
    assert not [function for function in left if function.__module__ == __name__]


class Of(NamedTuple):
    """A record whose later fields differ."""

    words: Any
    rest: Any


def first_of(record: Any) -> Any:
    return record.words[0]


def rest_of(record: Any) -> Any:
    return record.rest


def passes_on(record: Any) -> Any:
    return first_of(record) + rest_of(record)


def opens(of: Any) -> Any:
    return passes_on(sealed(of))


def test_functions_that_pass_a_sealed_record_on_serve_all_records(compiled: Compiled) -> None:
    assert compiled(opens, {}, Of(WORDS, 5)) == 6
    assert compiled.names() == ["first_of", "passes_on", "rest_of"]
    assert compiled(opens, {}, Of(WORDS, True)) == 2
    assert compiled.names() == ["passes_on", "rest_of"]  # another result
    assert compiled(opens, {}, Of(WORDS, 7)) == 8
    assert compiled(opens, {}, Of(WORDS * 1.5, 7)) == 8.5
    assert compiled.names() == ["first_of", "passes_on", "rest_of"]


def rest_as_number(record: Any) -> Any:
    return int(record.rest)


def passes_number_on(record: Any) -> Any:
    return first_of(record) + rest_as_number(record)


def opens_number(of: Any) -> Any:
    return passes_number_on(sealed(of))


def test_only_functions_that_use_what_differs_are_compiled_again(compiled: Compiled) -> None:
    assert compiled(opens_number, {}, Of(WORDS, 5)) == 6
    compiled.names()
    assert compiled(opens_number, {}, Of(WORDS, True)) == 2
    assert compiled.names() == ["rest_as_number"]


def factorial(number: int) -> int:
    if number <= 1:
        return 1
    return number * factorial(number - 1)


def recursive(number: int) -> int:
    return factorial(number) + 1000


def test_recursive_functions_are_compiled(compiled: Compiled) -> None:
    for _ in range(2):
        assert compiled(recursive, {}, 4) == 1024
        for file in (compiled.folder / "cores").iterdir():
            file.unlink()


def refuses(words: Any, place: int) -> Any:
    if words[place] > 2:
        raise ValueError("too large")
    return 0


def test_exceptions_leave_functions_from_the_cache(compiled: Compiled) -> None:
    for _ in range(2):
        entry = compiled.entry(Recipe(total, {rule: refuses}), WORDS)
        assert entry(WORDS[:2]) == 3
        with pytest.raises(ValueError, match="too large"):
            entry(WORDS)
        for file in (compiled.folder / "cores").iterdir():
            file.unlink()


def wrong(words: Any, place: int) -> Any:
    return words[place] + "one"


def test_a_rule_that_does_not_compile_is_refused_as_when_nothing_is_kept(compiled: Compiled) -> None:
    with pytest.raises(recipe.CompileError) as fresh:
        compiled(total, {rule: wrong}, WORDS)
    compiled(total, {rule: doubled}, WORDS)
    with pytest.raises(recipe.CompileError) as later:
        compiled(total, {rule: wrong}, WORDS)
    assert brief(later.value.error) == brief(fresh.value.error)
