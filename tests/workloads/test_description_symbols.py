"""Variables of a module and structures by value in launch descriptions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from warpreg.cli import main
from warpreg.evaluation.runs.run import run_workload
from warpreg.evaluation.sweep.batch import workload_identity
from warpreg.workloads import CheckError
from warpreg.workloads.description import data_files, load_description

PTX = """
.version 8.0
.target sm_75
.address_size 64
.const .align 4 .b8 w[16];
.const .align 4 .f32 scale;
.const .align 4 .b8 _ZN2ns5shiftE[4];
.global .align 4 .u32 counter;
.global .align 8 .u64 pointer;
.global .align 4 .b8 sums[16];
.visible .entry k(.param .align 8 .b8 p[24])
{
    .reg .pred %p1; .reg .b32 %r<5>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [p];
    ld.param.f32 %f1, [p+8];
    ld.param.u32 %r1, [p+12];
    ld.param.u8 %r4, [p+16];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 ret;
    mul.wide.u32 %rd2, %r2, 4;
    mov.u64 %rd3, w;
    add.s64 %rd3, %rd3, %rd2;
    ld.const.f32 %f2, [%rd3];
    ld.const.f32 %f3, [scale];
    ld.const.f32 %f4, [_ZN2ns5shiftE];
    ld.global.u64 %rd4, [pointer];
    add.s64 %rd4, %rd4, %rd2;
    ld.global.f32 %f5, [%rd4];
    fma.rn.f32 %f6, %f2, %f3, %f4;
    add.f32 %f6, %f6, %f5;
    add.f32 %f6, %f6, %f1;
    add.s64 %rd5, %rd1, %rd2;
    st.global.f32 [%rd5], %f6;
    mov.u64 %rd6, sums;
    add.s64 %rd6, %rd6, %rd2;
    st.global.f32 [%rd6], %f6;
    cvt.u32.u32 %r4, %r4;
    red.global.add.u32 [counter], %r4;
    ret;
}
"""
"""Thread i < p.n: p.out[i] = sums[i] = w[i] * scale + shift + pointer[i] + p.add; counter += p.step."""

GOOD = """
source = "k.ptx"

[sizes.tiny]
n = 3
two = 2

[arrays.out]
shape = [4]

[arrays.x]
shape = [4]
fill = "arange"

[symbols]
w = "f32:10,20,30,40"
scale = 2
"ns::shift" = "f32:0.5"
pointer = "buffer:x"

[[launches]]
kernel = "k"
grid = [1]
block = [4]
arguments = ["struct:buffer:out,f32:100,s32:n,u8:two"]
"""
# 10*2 + 0.5 + 0 + 100, 20*2 + 0.5 + 1 + 100, 30*2 + 0.5 + 2 + 100
FIRST = [120.5, 141.5, 162.5, 0]

Describe = Callable[[str], Path]
Output = pytest.CaptureFixture[str]


@pytest.fixture
def describe(tmp_path: Path) -> Describe:
    """Writes the kernel and a description beside it; returns the description's path."""
    (tmp_path / "k.ptx").write_text(PTX)
    np.save(tmp_path / "w.npy", np.array([1, 2, 3, 4], np.float32))

    def write(text: str) -> Path:
        path = tmp_path / "k.toml"
        path.write_text(text)
        return path

    return write


def test_variables_are_filled_and_structures_passed(describe: Describe) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = run_workload(load_description(describe(GOOD)), "tiny")
    assert run.outputs["out"].tolist() == FIRST
    assert run.outputs["w"].view(np.float32).tolist() == [10, 20, 30, 40]


@pytest.mark.parametrize(
    ("old", "new", "out"),
    [
        ('"f32:10,20,30,40"', '"file:w.npy"', [102.5, 105.5, 108.5, 0]),
        ('"f32:10,20,30,40"', '"bytes:w.npy"', [102.5, 105.5, 108.5, 0]),
        ('"f32:10,20,30,40"', '"f32:4:arange"', [100.5, 103.5, 106.5, 0]),
        ('"f32:10,20,30,40"', '"f32:4:n"', [106.5, 107.5, 108.5, 0]),
        ('"f32:10,20,30,40"', '"x"', [100.5, 103.5, 106.5, 0]),
        ("scale = 2", 'scale = "f32:0"', [100.5, 101.5, 102.5, 0]),
        ("scale = 2", 'scale = "n"', [130.5, 161.5, 192.5, 0]),
        ('"ns::shift"', "_ZN2ns5shiftE", FIRST),
        ('"buffer:x"', '"buffer:out"', [120.5, 140.5, 160.5, 0]),
        ('"struct:buffer:out,f32:100,s32:n,u8:two"', '"struct:[buffer:out,f32:100,s32:n],u8:2"', FIRST),
    ],
)
def test_ways_to_write_a_value(describe: Describe, old: str, new: str, out: list[float]) -> None:
    assert old in GOOD
    run = run_workload(load_description(describe(GOOD.replace(old, new))), "tiny")
    assert run.outputs["out"].tolist() == out


AGAIN = """
[[launches]]
kernel = "k"
grid = [1]
block = [4]
arguments = ["struct:buffer:out,f32:0,s32:n,u8:1"]
symbols = { w = "out", counter = 10 }
repeat = 2
"""


def test_a_launch_fills_variables_anew_before_each_repetition(describe: Describe) -> None:
    run = run_workload(load_description(describe(GOOD + AGAIN)), "tiny")
    # w is what out contains at that time: 120.5*2 + 0.5 + 0 = 241.5, then 241.5*2 + 0.5 = 483.5
    assert run.outputs["out"].tolist() == [483.5, 570.5, 657.5, 0]
    assert run.outputs["counter"] == 10 + 3 * 1


def test_variables_are_compared_with_what_is_expected(describe: Describe, tmp_path: Path) -> None:
    np.save(tmp_path / "sums.npy", np.array(FIRST, np.float32))
    np.save(tmp_path / "counter.npy", np.array([6], np.uint32))
    expect = '[expect.sums]\nfile = "sums.npy"\n[expect.counter]\nfile = "counter.npy"\n'
    run = run_workload(load_description(describe(GOOD + expect)), "tiny")
    assert run.checked == {"sums": "exact", "counter": "exact"}
    assert run.outputs["sums"].tolist() == FIRST
    np.save(tmp_path / "counter.npy", np.array([7], np.uint32))
    with pytest.raises(CheckError, match=r"output 'counter'\[0\] is 6, expected 7"):
        run_workload(load_description(describe(GOOD + expect)), "tiny")
    np.save(tmp_path / "counter.npy", np.zeros(2, np.uint32))
    with pytest.raises(CheckError, match=r"output 'counter' is uint32\[\], expected uint32\[2\]"):
        run_workload(load_description(describe(GOOD + expect)), "tiny")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("scale = 2", "skale = 2", "symbols: no module variable named 'skale'; did you mean 'scale'?"),
        ("scale = 2", 'scale = "s32:2"', "symbols: variable 'scale': expected f32, found s32"),
        ("scale = 2", "counter = 2.5", "symbols: variable 'counter': expected an integer (u32), found 2.5"),
        ("scale = 2", 'scale = "m"', "symbols.scale: no number, array or texture named 'm'"),
        ("scale = 2", 'scale = "f32:m"', "symbols.scale: 'f32:m': 'm' is not a number of type f32"),
        ("scale = 2", "scale = [2]", "symbols.scale"),
        ("scale = 2", "_ZN2ns5shiftE = 'f32:2'", "symbols: variable 'ns::shift': it is given twice, also as"),
        ("10,20,30,40", "10,20,30", "symbols: variable 'w': expected 16 bytes, found 12 (f32[3])"),
        ('"f32:10,20,30,40"', '"file:none.npy"', "symbols.w: 'file:none.npy': "),
        ('"buffer:x"', '"buffer:y"', "symbols.pointer: 'buffer:y': no array named 'y'"),
        (
            "f32:100",
            "f32:1,2,3",
            "parameter 'p': expected 24 bytes, aligned to 8, found 32: a buffer at 0, f32[3] at 8, s32",
        ),
        ("f32:100", "g32:100", "launches.0.arguments.0: 'g32:100': no type named 'g32'"),
        ("buffer:out", "buffer:outs", "launches.0.arguments.0: 'buffer:outs': no array named 'outs'"),
        ("repeat", "repeat", "launches.1.symbols: no module variable named 'count'; did you mean 'counter'?"),
    ],
)
def test_a_mistake_names_the_entry(describe: Describe, capsys: Output, old: str, new: str, message: str) -> None:
    text = GOOD + AGAIN.replace("counter", "count") if old == "repeat" else GOOD.replace(old, new)
    assert text != GOOD
    path = describe(text)
    assert main(["run", str(path), "--size", "tiny"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"warpreg: {path}: ")
    assert message in error
    assert "Traceback" not in error


def test_what_is_expected_exists(describe: Describe, capsys: Output) -> None:
    path = describe(GOOD + '[expect.sum]\nfile = "w.npy"\n')
    assert main(["run", str(path), "--size", "tiny"]) == 1
    error = capsys.readouterr().err
    assert f"{path}: expect.sum: no array of this name: no module variable named 'sum'; did you mean 'sums'?" in error


def test_a_constant_that_is_not_filled_is_told_once(describe: Describe, capsys: Output) -> None:
    path = describe((GOOD + AGAIN).replace("scale = 2", ""))
    assert main(["run", str(path), "--size", "tiny"]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warpreg: ")]
    assert len(told) == 1
    assert told[0].startswith("warpreg: kernel 'k' reads the __constant__ variable scale, which nothing filled: ")


def test_what_a_launch_is_filled_with_is_part_of_its_identity(describe: Describe, tmp_path: Path) -> None:
    text = GOOD.replace('"f32:10,20,30,40"', '"file:w.npy"').replace("f32:100", "bytes:p.bin")
    (tmp_path / "p.bin").write_bytes(b"\0\0\xc8B")
    path = describe(text)
    assert data_files(path) == [tmp_path / "p.bin", tmp_path / "w.npy"]
    before = workload_identity(str(path))
    np.save(tmp_path / "w.npy", np.zeros(4, np.float32))
    after = workload_identity(str(path))
    assert before != after
    (tmp_path / "p.bin").write_bytes(b"\0\0\0\0\0")
    assert workload_identity(str(path)) != after
    describe(text.replace("scale = 2", "scale = 3"))
    assert len({tuple(one) for one in (before, after, workload_identity(str(path)))}) == 3
