"""A user's own kernel with a launch description in TOML."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from warpreg.cli import main
from warpreg.evaluation.runs.run import run_workload
from warpreg.workloads import CheckError
from warpreg.workloads.description import load_description
from warpreg.workloads.launch_file import DescriptionError

PTX = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 x, .param .u32 factor)
{
    .reg .b32 %r<5>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [factor];
    mov.u32 %r2, %tid.x;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    ld.global.u32 %r3, [%rd2];
    mul.lo.u32 %r4, %r3, %r1;
    st.global.u32 [%rd2], %r4;
    ret;
}
"""

GOOD = """
source = "scale.ptx"

[sizes.tiny]
n = 4

[sizes.small]
n = 8

[arrays.x]
dtype = "uint32"
shape = ["n"]
fill = "arange"

[[launches]]
kernel = "scale"
grid = [1]
block = ["n"]
arguments = ["x", 3]
repeat = 2
"""

Output = pytest.CaptureFixture[str]
Describe = Callable[[str], Path]


@pytest.fixture
def describe(tmp_path: Path) -> Describe:
    """Writes the kernel and a description beside it; returns the description's path."""
    (tmp_path / "scale.ptx").write_text(PTX)

    def write(text: str) -> Path:
        path = tmp_path / "scale.toml"
        path.write_text(text)
        return path

    return write


def test_launches_run_in_order_at_the_chosen_size(describe: Describe) -> None:
    workload = load_description(describe(GOOD))
    for size, n in (("tiny", 4), ("small", 8)):
        run = run_workload(workload, size)
        assert len(run.launches) == 2
        assert run.outputs["x"].tolist() == [9 * i for i in range(n)]
        assert run.checked == {}


def test_an_expected_file_is_compared(describe: Describe, tmp_path: Path) -> None:
    np.save(tmp_path / "good.npy", np.array([0, 9, 18, 27], np.uint32))
    np.save(tmp_path / "bad.npy", np.array([0, 9, 18, 26], np.uint32))
    good = load_description(describe(GOOD + '[expect.x]\nfile = "good.npy"\n'))
    assert run_workload(good, "tiny").checked == {"x": "exact"}
    bad = load_description(describe(GOOD + '[expect.x]\nfile = "bad.npy"\n'))
    with pytest.raises(CheckError, match=r"output 'x'\[3\] is 27, expected 26"):
        run_workload(bad, "tiny")


def test_the_command_line_takes_the_file(describe: Describe, capsys: Output) -> None:
    path = str(describe(GOOD))
    assert main(["run", path, "--json"]) == 0
    (launch,) = json.loads(capsys.readouterr().out)["launches"]
    assert (launch["kernel"], launch["launches"], launch["block"]) == ("scale", 2, "8x1x1")
    assert main(["compare", path, "--size", "tiny", "--designs", "mrf,rfc"]) == 0
    assert "rfc" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'source = "scale.ptx"',
            'source = "scal.ptx"',
            "source: expected a file (.cu, .ptx, .cubin, .fatbin, .sass), found",
        ),
        ('source = "scale.ptx"', "", "source: field required"),
        ("source = ", "source ", "not a TOML file: "),
        ("repeat = 2", "repeats = 2", "launches.0: no key named 'repeats'; did you mean 'repeat'?"),
        ("block = [", "block = [1, 1, 1, ", "launches.0.block: list should have at most 3 items"),
        ('"x", 3', '"y", 3', "launches.0.arguments.0: no number, array or texture named 'y'"),
        ('block = ["n"]', 'block = ["m"]', "launches.0.block: no number of the size named 'm'"),
        ('fill = "arange"', 'fill = "arrange"', "arrays.x.fill: no fill named 'arrange'; did you mean 'arange'"),
        ('"uint32"', '"uint33"', "arrays.x.dtype: expected a NumPy dtype, found 'uint33'"),
        ('shape = ["n"]', 'file = "x.npy"', "arrays.x.file: "),
        ('"x", 3', '"x"', "launches.0: kernel 'scale': expected 2 arguments, found 1"),
        ('"x", 3', '"x", 3.5', "launches.0: kernel 'scale', parameter 'factor': expected an integer (u32), found 3.5"),
        ('"x", 3', '"x", "x"', "launches.0: kernel 'scale', parameter 'factor': expected a number, found a buffer"),
        ("grid = [1]", "grid = [3_000_000_000]", "launches.0: "),
        ('block = ["n"]', "block = [1025]", "launches.0: "),
        ('kernel = "scale"', 'kernel = "scales"', "did you mean 'scale'"),
    ],
)
def test_a_mistake_is_one_message_that_names_the_entry(
    describe: Describe, capsys: Output, old: str, new: str, message: str
) -> None:
    assert old in GOOD
    path = describe(GOOD.replace(old, new))
    assert main(["run", str(path), "--size", "tiny"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"warpreg: {path}: ")
    assert message in error


def test_errors_are_errors_of_the_domain(describe: Describe) -> None:
    with pytest.raises(DescriptionError):
        load_description(describe("source = 3"))


FETCH = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry fetch(.param .u64 image, .param .u64 out)
{
    .reg .b32 %r<2>; .reg .f32 %f<5>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [image];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];
    mad.wide.u32 %rd3, %r1, 4, %rd2;
    st.global.f32 [%rd3], %f1;
    ret;
}
"""

TEXTURED = """
source = "fetch.ptx"
[arrays.pixels]
shape = [8]
fill = "arange"
[arrays.out]
shape = [8]
[textures.image]
array = "pixels"
kind = "1d"
[[launches]]
kernel = "fetch"
grid = [1]
block = [8]
arguments = ["image", "out"]
"""


def test_a_texture_over_an_array(tmp_path: Path) -> None:
    (tmp_path / "fetch.ptx").write_text(FETCH)
    path = tmp_path / "fetch.toml"
    path.write_text(TEXTURED)
    run = run_workload(load_description(path), "small")
    assert run.outputs["out"].tolist() == list(range(8))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["image", "out"]', '["imag", "out"]', "launches.0.arguments.0: no number, array or texture named 'imag'"),
        ('["image", "out"]', '[0, "out"]', "texture"),
        ('array = "pixels"', 'array = "pixel"', "textures.image.array: no array named 'pixel'"),
        ('kind = "1d"', 'kind = "4d"', "textures.image.kind: "),
        ('kind = "1d"', 'kind = "3d"', "textures.image: "),
    ],
)
def test_a_texture_that_is_missing_or_wrong(tmp_path: Path, capsys: Output, old: str, new: str, message: str) -> None:
    (tmp_path / "fetch.ptx").write_text(FETCH)
    path = tmp_path / "fetch.toml"
    path.write_text(TEXTURED.replace(old, new))
    assert main(["run", str(path)]) == 1
    assert message in capsys.readouterr().err
