"""The unroll factors of `ptxas` 13.5 for a chain of multiply-adds with a known or unknown count."""

from __future__ import annotations

import pytest

from warpreg.codegen.unroll.factor import OVERHEAD, ROLLED, Factor, LoopShape, factor


def chain(body: int, count: int | None, **parts: bool | int) -> LoopShape:
    """A loop of ``body`` instructions in one block."""
    shape = {"is_one_block": True, "tests_last": True, **parts}
    return LoopShape(body, OVERHEAD, body + OVERHEAD, count, **shape)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("count", "largest"), [(3, 126), (4, 97), (6, 72), (8, 57), (12, 46), (24, 30), (48, 20), (100, 13), (128, 12)]
)
def test_the_largest_body_of_a_completely_unrolled_loop(count: int, largest: int) -> None:
    assert factor(chain(largest, count)) == Factor(0, count)
    assert factor(chain(largest + 1, count)) != Factor(0, count)


@pytest.mark.parametrize(
    ("count", "body", "copies", "rest"),
    [(64, 18, 16, 0), (64, 24, 10, 4), (64, 26, 9, 1), (64, 36, 8, 0), (1000, 4, 83, 4), (1000, 9, 37, 1),
     (1000, 18, 12, 4), (1000, 72, 4, 0), (61, 32, 6, 1), (61, 59, 4, 1), (61, 71, 3, 1)],
)  # fmt: skip
def test_partial_factors(count: int, body: int, copies: int, rest: int) -> None:
    assert factor(chain(body, count)) == Factor(copies, rest)


def test_a_body_of_73_instructions_is_not_unrolled_in_part() -> None:
    assert factor(chain(73, 1000)) == ROLLED


@pytest.mark.parametrize(
    ("loads", "largest"), [({}, 18), ({"shared_loads": 1}, 22), ({"shared_loads": 4}, 34), ({"slow_loads": 1}, 46)]
)
def test_unknown_counts_take_four_copies_up_to_a_body(loads: dict[str, int], largest: int) -> None:
    assert factor(chain(largest, None, **loads)) == Factor(4, 3)
    assert factor(chain(largest + 1, None, **loads)) == ROLLED


def test_loops_of_several_blocks_and_exits() -> None:
    assert factor(chain(30, 1000, is_one_block=False)) == ROLLED
    assert factor(chain(30, 16, is_one_block=False)) == Factor(0, 16)
    assert factor(chain(10, None, is_one_block=False)) == Factor(4, 3)
    assert factor(chain(10, None, tests_last=False)) == ROLLED
