"""CUDA's texture and surface functions as compiled by NVRTC; `warpreg.ptx.cuda.compile.compile_cuda` made
``texturing.ptx`` of ``texturing.cu``, without its debug directives.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.simt.programs import COMPILED, VIRTUAL

from warpreg.codegen import CompileOptions
from warpreg.simt import Device

TEXT = (Path(__file__).parent / "data" / "texturing.ptx").read_text(encoding="utf-8")
RNG = np.random.default_rng(7)


@pytest.fixture(params=[VIRTUAL, COMPILED, CompileOptions(max_registers=24)], ids=["virtual", "compiled", "24"])
def device(request: pytest.FixtureRequest) -> Device:
    return Device(TEXT, request.param)


def run(device: Device, kernel: str, grid: Any, block: Any, out: Any, *arguments: Any) -> np.ndarray:
    buffer = device.zeros(out, np.float32)
    device.launch(kernel, grid, block, *arguments, buffer, *([] if kernel != "pixels" else [8]))
    return buffer.download()


def test_lines(device: Device) -> None:
    one, other = (RNG.integers(0, 50, 32).astype(np.float32) for _ in range(2))
    found = run(device, "lines", 1, 32, 32, device.texture(one, "1d"), device.texture(other, "1d"))
    assert np.array_equal(found, one + 100 * other)


def test_pixels(device: Device) -> None:
    """The second result lies at the corner of four texels, the last ones of a row or column at the edge;
    the mean has 16 bits.
    """
    colours = RNG.integers(0, 256, (4, 8, 4), dtype=np.uint8)
    grey = RNG.integers(0, 256, (4, 8)).astype(np.uint8)
    smooth = device.texture(grey, "2d", filter="linear", normalized=True, read="normalized")
    found = run(device, "pixels", 4, 8, (4, 8, 2), device.texture(colours, "2d"), smooth)
    assert np.array_equal(found[..., 0], colours @ [1, 2, 4, 8])
    padded = np.pad(grey, ((0, 1), (0, 1)), mode="edge").astype(np.float64) / 255
    expected = (padded[:-1, :-1] + padded[1:, :-1] + padded[:-1, 1:] + padded[1:, 1:]) / 4
    np.testing.assert_allclose(found[..., 1], expected, rtol=0, atol=0.51 / 65535)


def test_volumes(device: Device) -> None:
    volume = RNG.random((2, 2, 2), dtype=np.float32)
    faces = np.arange(6, dtype=np.float32).reshape(6, 1, 1)
    arguments = [device.texture(volume, "3d"), device.texture(volume, "2d-layered"), device.texture(faces, "cube")]
    found = run(device, "volumes", 1, 8, (8, 3), *arguments)
    assert np.array_equal(found[:, 0], volume.reshape(-1))
    assert np.array_equal(found[:, 1], volume.reshape(-1))
    assert found[:, 2].tolist() == [0, 1, 2, 3, 4, 5, 4, 5]


def test_gathers(device: Device) -> None:
    image = np.arange(12, dtype=np.float32).reshape(3, 4)
    found = run(device, "gathers", 1, 3, (3, 4), device.texture(image))
    assert found.tolist() == [[4, 5, 1, 0], [5, 6, 2, 1], [6, 7, 3, 2]]


def test_box(device: Device) -> None:
    image = RNG.integers(0, 9, (16, 24)).astype(np.float32)
    out = device.surface(np.zeros_like(image))
    device.launch("box", (3, 2), (8, 8), device.texture(image, address="border"), out)
    padded = np.pad(image, 1)
    expected = sum(padded[v : v + 16, u : u + 24] for v in range(3) for u in range(3))
    assert np.array_equal(out.download(), expected)


def test_surfaces(device: Device) -> None:
    flat = RNG.integers(-99, 99, (3, 8, 2), dtype=np.int16)
    volume = device.surface(np.zeros((2, 3, 8, 2), np.int16), "3d")
    device.launch("surfaces", 3, 8, device.surface(flat), volume)
    found = volume.download()
    moved = np.concatenate([flat[:, :1], flat[:, :-1]], axis=1)
    assert np.array_equal(found[1], moved + np.array([1, 0]))
    last = [[x, y, x + y, x - y] for y in range(3) for x in (3, 7)]
    assert found[0].reshape(-1).view(np.int32).reshape(6, 4).tolist() == last


def test_levels(device: Device) -> None:
    image = np.arange(8, dtype=np.float32).reshape(2, 4)
    assert run(device, "levels", 1, 4, (4, 2), device.texture(image)).tolist() == [[4, 0], [5, 1], [6, 2], [7, 3]]
