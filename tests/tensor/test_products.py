"""Matrix products: one-hot matrices that show the layout, and the executor against the reference on random bits."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.tensor.forms import HALF, MMA, OTHERS, REST, given, kernel, on_device, on_reference, product

from warpreg.codegen import CompileOptions

MORE = int(os.environ.get("WARPREG_PROGRAMS", "20")) > 100
FORMS = HALF + OTHERS + (REST if MORE else [])
F16 = f"{MMA}.m16n8k16.row.col.f32.f16.f16.f32"


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(4))
def test_executor_and_reference_agree_bit_for_bit(batch: int) -> None:
    forms = FORMS[batch::4]
    text, words = kernel(forms), given(forms, batch)
    columns = sum(product(form).fragment("d").registers for form in forms)
    expected = on_reference(text, words, columns)
    for options in (None, CompileOptions()):
        found = on_device(text, words, columns, options)
        np.testing.assert_array_equal(found, expected)


def f16(*numbers: float) -> int:
    low, high = np.array(numbers, np.float16).view(np.uint16)
    return int(low) | int(high) << 16


def test_a_one_hot_row_and_column_meet_where_the_figures_say() -> None:
    """A is 1 at row 9, column 4 (lane 6, third register, lower half); B is 2 at row 4, column 3 (lane 14, first
    register); C is 0.  Their product is 2 at row 9, column 3: in lane 5, whose last two sums are columns 2 and 3."""
    words = np.zeros((32, 10), np.uint64)
    words[4 + 4 % 8 // 2, 1] = f16(1.0, 0.0)  # row 9 = 8 + 1: group 1; column 4: member 2, left half of the columns
    words[3 * 4 + 4 // 2, 4] = f16(2.0, 0.0)  # column 3: group 3; row 4: member 2
    found = on_device(kernel([F16]), words, 4, None)
    expected = np.zeros((32, 4), np.uint64)
    expected[1 * 4 + 3 // 2, 3] = np.array(2.0, np.float32).view(np.uint32)
    np.testing.assert_array_equal(found, expected)


def test_identity_gives_back_the_other_matrix() -> None:
    """A = I: D = B + C, element for element; B row k, column n is k + n / 8, C is 100 n."""
    b = np.arange(16)[:, None] + np.arange(8) / 8
    words = np.zeros((32, 10), np.uint64)
    for lane in range(32):
        group, member = divmod(lane, 4)
        for register in range(4):
            row, column = group + register % 2 * 8, member * 2 + register // 2 * 8
            words[lane, register] = f16(float(row == column), float(row == column + 1))
        for register in range(2):
            row = member * 2 + 8 * register
            words[lane, 4 + register] = f16(b[row, group], b[row + 1, group])
        for register in range(4):
            words[lane, 6 + register] = np.array(100.0 * (member * 2 + register % 2), np.float32).view(np.uint32)
    found = on_device(kernel([F16]), words, 4, CompileOptions()).astype(np.uint32).view(np.float32)
    for lane in range(32):
        group, member = divmod(lane, 4)
        for register in range(4):
            row, column = group + register // 2 * 8, member * 2 + register % 2
            assert found[lane, register] == b[row, column] + 100 * column


def test_products_are_exact_and_the_sum_is_rounded_once() -> None:
    """2**24 + 1 + ... + 1 (16 ones): single precision step by step would stay at 2**24."""
    words = np.zeros((32, 10), np.uint64)
    words[:, :6] = f16(1.0, 1.0)
    words[:, 6:] = np.array(2.0**24, np.float32).view(np.uint32)
    found = on_device(kernel([F16]), words, 4, None).astype(np.uint32).view(np.float32)
    assert (found == 2.0**24 + 16).all()


def test_integer_sums_wrap_or_clamp() -> None:
    """127 * 127 * 16 = 258064 added to 2**31 - 1."""
    wraps = f"{MMA}.m8n8k16.row.col.s32.s8.s8.s32"
    clamps = f"{MMA}.m16n8k16.row.col.satfinite.s32.u8.s8.s32"
    for form, expected in ((wraps, 2**31 - 1 + 258064), (clamps, 2**31 - 1)):
        operands = sum(product(form).fragment(m).registers for m in "ab")
        sums = product(form).fragment("d").registers
        words = np.full((32, operands + sums), 0x7F7F7F7F, np.uint64)
        words[:, operands:] = 2**31 - 1
        assert (on_device(kernel([form]), words, sums, None) == expected).all()
