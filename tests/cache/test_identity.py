"""The identity of options: every field counts, also those that the text of an object leaves out."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from warpreg.cache.identity import Unaffected, fields_of, identity, spelled

HERE = __name__


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Inner:
    a: int = 1
    hidden: int = field(default=0, repr=False, compare=False)


@dataclass(frozen=True)
class Outer:
    inner: Inner = Inner()
    more: Any = None


@dataclass(frozen=True)
class Twin:
    inner: Inner = Inner()
    more: Any = None


def test_a_dataclass_is_its_name_and_all_its_fields() -> None:
    own = [f"{HERE}.Inner", {"a": 1, "hidden": 0}]
    assert identity(Outer(more=(1.5, "x", None, True))) == [
        f"{HERE}.Outer",
        {"inner": own, "more": [1.5, "x", None, True]},
    ]
    assert identity([Colour.RED, Path("a/b")]) == [[f"{HERE}.Colour", "RED"], ["path", "a/b"]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Outer(), Twin()),
        (Outer(), Outer(Inner(2))),
        (Outer(), Outer(Inner(hidden=2))),
        (Outer(more=1), Outer(more=True)),
        (Outer(more=1), Outer(more=1.0)),
        (Outer(more=1), Outer(more="1")),
        (Outer(more=1), Outer(more=Colour.RED)),
        (Outer(more=Colour.BLUE), Outer(more=Colour.RED)),
        (Outer(more="a"), Outer(more=Path("a"))),
        (Outer(more={"a": 1}), Outer(more={"a": 2})),
        (Outer(more={"a": 1}), Outer(more={"b": 1})),
        (Outer(more={1: "a"}), Outer(more={"1": "a"})),
        (Outer(more=("a", ("b",))), Outer(more=(("a",), "b"))),
        (Outer(more=()), Outer(more=None)),
    ],
)
def test_what_differs_is_spelled_differently(one: object, other: object) -> None:
    assert spelled(one) != spelled(other)


def test_the_order_of_a_mapping_does_not_count() -> None:
    assert spelled({"a": 1, "b": 2}) == spelled({"b": 2, "a": 1})


def test_what_has_no_effect_is_left_out_wherever_it_stands() -> None:
    unaffected: Unaffected = {Inner: {"hidden": "it is shown nowhere"}}
    assert spelled(Outer(Inner(hidden=1)), unaffected) == spelled(Outer(Inner(hidden=2)), unaffected)
    assert spelled(Outer(Inner(1)), unaffected) != spelled(Outer(Inner(2)), unaffected)


def test_content_takes_the_place_of_a_name() -> None:
    assert fields_of(Inner(5), {"a": "digest"}) == {"a": "digest", "hidden": 0}
    with pytest.raises(ValueError, match=r"Inner: expected fields a, hidden, found \['b'\]"):
        fields_of(Inner(), {"b": 1})


@pytest.mark.parametrize("value", [object(), {1}, b"", Inner, len, complex(1)])
def test_what_may_have_more_than_its_text_says_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="has no identity"):
        identity(Outer(more=value))
