"""Textures and surfaces in calls from Python."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import warpreg
from warpreg.api import ArgumentError
from warpreg.ptx.cuda import nvrtc
from warpreg.ptx.cuda.errors import CompilerMissingError
from warpreg.simt import TextureError

EXAMPLE = Path(__file__).parents[2] / "examples" / "blur.py"
DATA = Path(__file__).parents[1] / "simt" / "data" / "texturing.ptx"
DOUBLED = """
.version 8.0
.target sm_80
.address_size 64
.global .texref image;
.global .surfref canvas;
.visible .entry doubled(.param .u32 n)
{
    .reg .b32 %t, %at; .reg .f32 %f<5>;
    mov.u32 %t, %tid.x; shl.b32 %at, %t, 2;
    tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [image, {%t}];
    add.f32 %f4, %f0, %f0;
    sust.b.1d.b32.trap [canvas, {%at}], %f4;
    ret;
}
"""


def test_the_example_of_the_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        nvrtc.nvrtc_version()
    except CompilerMissingError:
        pytest.skip("NVRTC is not installed")
    runpy.run_path(str(EXAMPLE))
    assert capsys.readouterr().out == "[16.5 17.5 18.5]\n"


def test_a_surface_is_copied_back_into_its_array() -> None:
    image, out = np.ones((8, 8), np.float32), np.zeros((8, 8), np.float32)
    box = warpreg.compile(DATA)["box"]
    run = box[1, (8, 8)](warpreg.texture(image, address="border"), warpreg.surface(out))
    assert out[0, :2].tolist() == [4, 6]
    assert out[1, 1] == 9
    assert np.array_equal(run.outputs["argument 1"], out)


def test_references_are_bound_by_name() -> None:
    numbers, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    doubled = warpreg.compile(DOUBLED)["doubled"]
    run = doubled[1, 32](0, references={"image": warpreg.texture(numbers, "1d"), "canvas": warpreg.surface(out, "1d")})
    assert np.array_equal(out, 2 * numbers)
    assert np.array_equal(run.outputs["canvas"], out)
    with pytest.raises(TextureError, match="no texture, sampler or surface reference 'picture'"):
        doubled[1, 32](0, references={"picture": warpreg.texture(numbers, "1d")})


def test_what_identifies_a_run_covers_texels_and_options() -> None:
    gathers = warpreg.compile(DATA)["gathers"]

    def digest(image: np.ndarray, **options: str) -> object:
        texture = warpreg.texture(image, **options)  # type: ignore[arg-type]
        return gathers[1, 1](texture, np.zeros(4, np.float32)).options["arguments"]

    first = digest(np.zeros((2, 2), np.float32))
    assert first == digest(np.zeros((2, 2), np.float32))
    assert first != digest(np.ones((2, 2), np.float32))
    assert first != digest(np.zeros((2, 2), np.float32), address="border")


def test_a_surface_over_a_read_only_array() -> None:
    out = np.zeros((8, 8), np.float32)
    out.flags.writeable = False
    box = warpreg.compile(DATA)["box"]
    with pytest.raises(ArgumentError, match="wrote to argument 1, a read-only array"):
        box[1, (8, 8)](warpreg.texture(np.ones((8, 8), np.float32)), warpreg.surface(out))
