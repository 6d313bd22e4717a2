"""Kernel arguments as they are written on the command line."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
import pytest

from warpreg.cli.arguments import parse_argument, parse_extent


def argument(text: str) -> np.ndarray | np.generic:
    return parse_argument(text, np.random.default_rng(0)).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32:2.5", np.float32(2.5)),
        ("s32:-7", np.int32(-7)),
        ("u64:0x10", np.uint64(16)),
        ("f64:inf", np.float64(np.inf)),
        ("u8:255", np.uint8(255)),
    ],
)
def test_a_scalar_has_the_named_type_and_value(text: str, expected: np.generic) -> None:
    value = argument(text)
    assert value.dtype == expected.dtype
    assert value == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("buffer:f32:3", np.zeros(3, np.float32)),
        ("buffer:s32:4:arange", np.array([0, 1, 2, 3], np.int32)),
        ("buffer:u16:2x2:ones", np.ones((2, 2), np.uint16)),
        ("buffer:f64:2:1.5", np.array([1.5, 1.5])),
    ],
)
def test_a_buffer_has_the_named_type_shape_and_fill(text: str, expected: np.ndarray) -> None:
    value = argument(text)
    assert value.dtype == expected.dtype
    np.testing.assert_array_equal(value, expected)


def test_a_random_fill_is_the_same_for_the_same_seed() -> None:
    np.testing.assert_array_equal(argument("buffer:f32:100:random"), argument("buffer:f32:100:random"))


def test_a_buffer_can_come_from_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "input.npy", np.array([1, 2, 3], np.int32))
    np.testing.assert_array_equal(argument(f"file:{tmp_path}/input.npy"), [1, 2, 3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2.0", "expected TYPE:VALUE"),
        ("i32:1", "no type named 'i32'"),
        ("bufer:f32:1", "did you mean 'buffer'"),
        ("u8:256", "out of range"),
        ("s32:many", "'many' is not a number"),
        ("buffer:f32:none", "expected a shape"),
        ("buffer:f32:0", "expected a shape"),
        ("buffer:f32:4:aranje", "did you mean 'arange'"),
        ("file:", "expected file:PATH.npy"),
        ("file:/no/such/file.npy", "No such file"),
    ],
)
def test_a_wrong_argument_says_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(click.BadParameter, match=message):
        argument(text)


@pytest.mark.parametrize(("text", "expected"), [("4", (4,)), ("16x8", (16, 8)), ("1,2,3", (1, 2, 3))])
def test_an_extent_has_one_to_three_dimensions(text: str, expected: tuple[int, ...]) -> None:
    assert parse_extent(text) == expected


@pytest.mark.parametrize("text", ["", "0", "-1", "1x2x3x4", "a"])
def test_a_wrong_extent_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="one to three positive numbers"):
        parse_extent(text)
