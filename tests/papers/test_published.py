"""Tolerances: agreement of measured and printed values follows from the ``[tolerance]`` table."""

from typing import Any

import pytest

from warpreg.ir.errors import UnknownNameError
from warpreg_papers import published
from warpreg_papers.published import Published


def result(**fields: Any) -> Published:
    return Published(id="x", paper="p", where="§1", what="something", **fields)


@pytest.mark.parametrize(
    ("printed", "inside", "outside"),
    [
        ({"unit": "fraction", "value": 0.5}, (0.46, 0.5, 0.54), (0.44, 0.56)),
        ({"unit": "%-points", "range": (10.0, 15.0)}, (5.0, 12.0, 20.0), (4.9, 20.1)),
        ({"unit": "ratio", "value": 0.8}, (0.73, 0.87), (0.71, 0.89)),
        ({"unit": "cycles", "value": 20.0}, (17.1, 22.9), (16.9, 23.1)),
        ({"unit": "fraction", "value": 0.5, "bound": "max"}, (0.0, 0.54), (0.56,)),
        ({"unit": "fraction", "value": 0.5, "bound": "min"}, (0.46, 1.0), (0.44,)),
        ({"unit": "fraction", "value": 0.5, "bound": "approx"}, (0.41, 0.59), (0.39, 0.61)),
        ({"text": "greedy wins"}, (True,), (False,)),
    ],
)
def test_within_follows_the_tolerance_of_the_unit_and_the_bound(
    printed: dict[str, Any], inside: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    assert all(result(**printed).within(value) for value in inside)
    assert not any(result(**printed).within(value) for value in outside)


@pytest.mark.parametrize(
    ("printed", "measured", "other", "share"),
    [
        ({"value": 0.5}, 0.4, 0.45, 0.5),
        ({"value": 0.5}, 0.4, 0.6, 2.0),
        ({"value": 0.5}, 0.4, 0.3, -1.0),
        ({"range": (0.1, 0.2)}, 0.4, 0.3, 0.5),
        ({"range": (0.1, 0.2)}, 0.15, 0.3, None),
        ({"text": "greedy wins"}, False, True, None),
    ],
)
def test_the_share_is_how_much_of_the_way_to_the_printed_value_another_one_goes(
    printed: dict[str, Any], measured: float, other: float, share: float | None
) -> None:
    assert result(**printed).share(measured, other) == (None if share is None else pytest.approx(share))


def test_every_paper_prints_results_and_each_can_be_shown() -> None:
    for paper in published.papers():
        assert all(one.printed is not None for one in published.results(paper))


def test_an_unknown_paper_or_parameter_is_named() -> None:
    with pytest.raises(UnknownNameError, match="orf-lrf"):
        published.results("orf-lrt")
    with pytest.raises(UnknownNameError, match="rfc-alu-latency"):
        published.parameter("rfc-alu-latncy")
    assert published.parameter("rfc-alu-latency") == 8
