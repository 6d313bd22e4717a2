"""Mipmaps: the level that an instruction selects, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.simt.test_texture_forms import ask
from tests.simt.texturing import Fetcher

from warpreg.simt import Device, TextureError

CHAIN = [np.full((max(1, 8 >> k), 16 >> k), 10.0 * k, np.float32) for k in range(4)]
"""Levels of 16 x 8, 8 x 4, 4 x 2 and 2 x 1 texels that hold ten times their number."""


def first(found: np.ndarray) -> list[float]:
    return [float(row[0]) for row in found]


def test_the_nearest_level_is_read() -> None:
    fetch = Fetcher("tex.level.2d.v4.f32.f32|, %x2", 2)
    asked = [-1.0, 0.0, 0.49, 0.5, 1.4, 2.0, 3.0, 9.0, float("inf"), float("nan")]
    found = fetch(CHAIN, "2d", [(0.5, 0.5, level) for level in asked], normalized=True)
    assert first(found) == [0, 0, 0, 10, 10, 20, 30, 30, 30, 0]
    plain = Fetcher("tex.2d.v4.f32.f32", 2)
    assert first(plain(CHAIN, "2d", [(0.5, 0.5)], normalized=True)) == [0]


def test_integer_levels_and_coordinates() -> None:
    numbered = [np.arange(4 >> k, dtype=np.float32) + 10 * k for k in range(3)]
    fetch = Fetcher("tex.level.1d.v4.f32.s32|, %e1", 1)
    found = fetch(numbered, "1d", [(3, 0), (1, 1), (3, 1), (0, 2), (0, 7), (2, -1)], normalized=True)
    assert first(found) == [3, 11, 0, 20, 20, 2]


def test_gradients_choose_the_level_where_the_longer_step_is_about_a_texel() -> None:
    """A step of n texels of the first level asks for level log2(n): 2 texels are 2/16 in x, or 2/8 in y."""
    fetch = Fetcher("tex.grad.2d.v4.f32.f32|, {%x2, %x3}, {%x4, %x5}", 2)
    steps = [
        (0.0, 0.0, 0.0, 0.0), (1 / 16, 0.0, 0.0, 0.0), (2 / 16, 0.0, 0.0, 1 / 8), (1 / 16, 0.0, 0.0, 4 / 8),
        (3 / 16, 4 / 8, 0.0, 0.0), (9.0, 9.0, 9.0, 9.0), (1.4 / 16, 0.0, 0.0, 0.0), (1.5 / 16, 0.0, 0.0, 0.0),
    ]  # fmt: skip
    found = fetch(CHAIN, "2d", [(0.5, 0.5, *step) for step in steps], normalized=True)
    assert first(found) == [0, 0, 10, 20, 20, 30, 0, 10]


def test_filters_act_within_the_level() -> None:
    numbered = [np.array([0, 0, 0, 0], np.float32), np.array([10, 20], np.float32)]
    fetch = Fetcher("tex.level.1d.v4.f32.f32|, %x1", 1)
    assert first(fetch(numbered, "1d", [(0.5, 1.0)], normalized=True, filter="linear")) == [15]


def test_queries_of_levels() -> None:
    def make(device: Device) -> Any:
        return device.texture(CHAIN, "2d", normalized=True)

    asked = [f"mov.b32 %r1, {k}; txq.level.width.b32 %r0, [%tex], %r1;" for k in (0, 1, 3, 8)]
    asked += ["mov.b32 %r1, 2; txq.level.height.b32 %r0, [%tex], %r1;", "txq.num_mipmap_levels.b32 %r0, [%tex];"]
    assert ask(make, *asked) == [16, 8, 2, 2, 2, 4]


def test_chains_that_do_not_fit() -> None:
    device = Device(".version 8.0\n.target sm_80\n.address_size 64\n")
    with pytest.raises(TextureError, match="several levels: expected normalized coordinates"):
        device.texture(CHAIN)
    with pytest.raises(TextureError, match=r"extents \(4, 2, 1\): expected 1 FLOAT and \(8, 4, 1\), half of the level"):
        device.texture([CHAIN[0], CHAIN[2]], normalized=True)
    with pytest.raises(TextureError, match="expected a level at least"):
        device.texture([])
