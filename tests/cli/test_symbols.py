"""Variables of a module and structures by value on the command line."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from warpreg.cli import main

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
FILTER = (
    HEAD
    + """
.const .align 4 .b8 w[16];
.global .align 4 .u32 counter = 3;
.global .align 8 .u64 samples;
.visible .entry k(.param .u64 out)
{
.reg .f32 %f<4>; .reg .b32 %r<4>; .reg .b64 %rd<9>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
and.b32 %r2, %r1, 3;
mul.wide.u32 %rd2, %r2, 4;
mov.u64 %rd3, w;
add.s64 %rd3, %rd3, %rd2;
ld.const.f32 %f1, [%rd3];
mul.wide.u32 %rd4, %r1, 4;
add.s64 %rd5, %rd1, %rd4;
st.global.f32 [%rd5], %f1;
red.global.add.u32 [counter], 1;
ld.global.u64 %rd6, [samples];
setp.eq.u64 %p1, %rd6, 0;
@%p1 ret;
add.s64 %rd6, %rd6, %rd4;
st.global.f32 [%rd6], %f1;
ret;
}
"""
).replace(".reg .f32", ".reg .pred %p<2>; .reg .f32")
"""Thread i: out[i] = samples[i] = w[i & 3]; counter += 1."""

PAIR = (
    HEAD
    + """
.visible .entry k(.param .align 8 .b8 k_param_0[16])
{
.reg .pred %p<2>; .reg .f32 %f<2>; .reg .b32 %r<3>; .reg .b64 %rd<5>;
ld.param.u64 %rd1, [k_param_0+8];
ld.param.u32 %r2, [k_param_0+4];
ld.param.f32 %f1, [k_param_0];
mov.u32 %r1, %tid.x;
setp.ge.u32 %p1, %r1, %r2;
@%p1 bra END;
cvta.to.global.u64 %rd2, %rd1;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd4, %rd2, %rd3;
st.global.f32 [%rd4], %f1;
END:
ret;
}
"""
)
"""Thread i, below p.n: p.out[i] = p.a, with a at 0, n at 4, out at 8."""

Output = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("filter.ptx").write_text(FILTER)
    Path("pair.ptx").write_text(PAIR)
    np.save("w.npy", np.array([5, 6, 7, 8], np.float32))
    return tmp_path


def ran(*arguments: str, kernel: str = "filter.ptx", block: int = 8) -> int:
    return main(["run", kernel, "--grid", "1", "--block", str(block), *arguments])


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("f32:1,2,3,4", [1, 2, 3, 4]),
        ("f32:4:arange", [0, 1, 2, 3]),
        ("f32:2x2:1.5", [1.5, 1.5, 1.5, 1.5]),
        ("file:w.npy", [5, 6, 7, 8]),
        ("bytes:w.npy", [5, 6, 7, 8]),
        ("bytes:0000803f000000400000404000008040", [1, 2, 3, 4]),
        ("struct:f32:1,[f32:2,3],f32:4", [1, 2, 3, 4]),
        ("f32x4:1,2,3,4", [1, 2, 3, 4]),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_constant_is_filled(spec: str, expected: list[float], capsys: Output) -> None:
    assert ran("--arg", "buffer:f32:8", "--symbol", f"w={spec}", "--save", "0=out.npy") == 0
    assert np.load("out.npy").tolist() == expected * 2
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("folder")
def test_variables_are_written_to_files() -> None:
    save = ("--save", "counter=counter.npy", "--save", "samples=samples.npy")
    assert ran("--arg", "buffer:f32:8", "--symbol", "w=file:w.npy", "--symbol", "samples=buffer:f32:8", *save) == 0
    assert np.load("samples.npy").tolist() == [5, 6, 7, 8] * 2
    assert (np.load("counter.npy").dtype, int(np.load("counter.npy"))) == (np.uint32, 3 + 8)
    assert ran("--arg", "buffer:f32:8", "--symbol", "w=file:w.npy", "--symbol", "counter=u32:100", *save[:2]) == 0
    assert int(np.load("counter.npy")) == 108


@pytest.mark.usefixtures("folder")
def test_a_constant_that_nothing_filled_is_a_note(capsys: Output) -> None:
    assert ran("--arg", "buffer:f32:8", "--json") == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("warpreg: kernel 'k' reads the __constant__ variable w, which nothing filled: ")
    assert len(captured.err.splitlines()) == 1
    assert json.loads(captured.out)["run"] == "k"


@pytest.mark.usefixtures("folder")
def test_what_variables_contain_identifies_a_run(capsys: Output) -> None:
    found = set()
    for symbols in ((), ("w=f32:1,2,3,4",), ("w=f32:1,2,3,5",), ("w=f32:1,2,3,4", "counter=u32:0")):
        named = [word for one in symbols for word in ("--symbol", one)]
        assert ran("--arg", "buffer:f32:8", *named, "--json") == 0
        found.add(json.loads(capsys.readouterr().out)["options"]["arguments"])
    assert len(found) == 4


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--symbol", "v=f32:1"], 1, "no module variable named 'v'; there are: counter, samples, w"),
        (["--symbol", "w=f32:1,2,3"], 1, "variable 'w': expected 16 bytes, found 12 (f32[3])"),
        (["--symbol", "counter=f32:1"], 1, "variable 'counter': expected u32, found f32"),
        (["--symbol", "w=f32:1", "--symbol", "w=f32:1"], 2, "expected each variable once, found 'w' twice"),
        (["--symbol", "w"], 2, "expected NAME=SPEC, such as coefficients=f32:1,2,3"),
        (["--symbol", "w=f33:1"], 2, "--symbol w: 'f33:1': no type named 'f33'; did you mean 'f32'?"),
        (["--save", "v=v.npy"], 1, "no module variable named 'v'"),
        (["--save", "1=v.npy"], 2, "--save 1=v.npy: expected N=FILE.npy, with N a buffer argument (0) or the name of"),
        (["--save", "0"], 2, "--save 0: expected N=FILE.npy"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_mistake_is_one_line(arguments: list[str], status: int, said: str, capsys: Output) -> None:
    assert ran("--arg", "buffer:f32:8", *arguments) == status
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


@pytest.mark.usefixtures("folder")
def test_other_commands_fill_variables_too(capsys: Output) -> None:
    launch = ["--grid", "1", "--block", "8", "--arg", "buffer:f32:8", "--symbol", "w=file:w.npy"]
    assert main(["diff", "filter.ptx", "filter.ptx", *launch]) == 0
    assert "outputs are equal bit for bit" in capsys.readouterr().out
    assert main(["why", "mrf", "rfc", "filter.ptx", *launch]) == 0
    assert capsys.readouterr().err == ""
    assert main(["run", "vector-add", "--symbol", "w=f32:1"]) == 2
    assert "--symbol and --save require a kernel file" in capsys.readouterr().err
    assert main(["why", "mrf", "rfc", "vector-add", "--symbol", "w=f32:1"]) == 2
    assert "--symbol require a kernel file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "spec",
    [
        "struct:f32:2.5,s32:20,buffer:f32:32",
        "struct:[f32:2.5,s32:20],buffer:f32:32",
        "struct:bytes:00002040,u32:20,buffer:f32:32:zeros",
        "struct:[[f32:2.5],s32:20,[buffer:f32:8x4]]",
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_structure_is_passed_by_value(spec: str, capsys: Output) -> None:
    places = {"struct:[[": "0.0.2.0", "struct:[f": "0.1"}
    place = next((value for key, value in places.items() if spec.startswith(key)), "0.2")
    assert ran("--arg", spec, "--save", f"{place}=out.npy", kernel="pair.ptx", block=32) == 0
    assert np.load("out.npy").reshape(-1).tolist() == [2.5] * 20 + [0] * 12
    assert re.search(rf"^ *{place} ", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            "b8:1",
            "parameter 'k_param_0': expected 16 bytes, found 1; a structure takes its fields (struct:FIELD,... or",
        ),
        ("buffer:f32:32", "expected 16 bytes, found a buffer; a structure takes its fields"),
        ("struct:f32:1,s32:1", "expected 16 bytes, aligned to 8, found 8: f32 at 0, s32 at 4"),
        ("struct:f32:1,buffer:f32:8,s32:1", "found 24: f32 at 0, a buffer at 8, s32 at 16"),
        ("bytes:00", "expected 16 bytes, found 1"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_structure_of_another_size_shows_its_layout(spec: str, said: str, capsys: Output) -> None:
    assert ran("--arg", spec, kernel="pair.ptx") == 1
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_the_place_of_a_buffer_in_a_structure_is_checked_before_the_run(capsys: Output) -> None:
    assert ran("--arg", "struct:f32:2.5,s32:20,buffer:f32:32", "--save", "0=x.npy", kernel="pair.ptx") == 2
    assert "--save 0=x.npy: expected N=FILE.npy, with N a buffer argument (0.2) or" in capsys.readouterr().err


STORE = """mov.u32 %r1, %tid.x; mul.wide.u32 %rd8, %r1, 4; cvta.to.global.u64 %rd9, %rd1; add.s64 %rd9, %rd9, %rd8;
st.global.f32 [%rd9], 0f3F800000; ret;"""
KERNELS = {
    "a structure": (PAIR, "struct:f32:1,u32:1,buffer:f32:1024"),
    "a pointer between": (
        ".param .align 8 .b8 p[32]) { ld.param.f32 %f1, [p]; ld.param.u64 %rd1, [p+16];",
        "struct:f32:1,u8:12:zeros,buffer:f32:1024,u8:8:zeros",
    ),
    "an array that nobody reads": (
        ".param .b8 p[40], .param .u64 out) { ld.param.u64 %rd1, [out];",
        "u8:40:zeros --arg buffer:f32:1024",
    ),
    "padding": (
        ".param .align 16 .b8 p[32]) { ld.param.u8 %r1, [p]; ld.param.u64 %rd1, [p+8]; ld.param.s16 %r1, [p+24];",
        "struct:u8:1,buffer:f32:1024,u8:8:zeros,s16:1",
    ),
    "vectors": (
        ".param .align 16 .b8 p[32]) { ld.param.v4.f32 {%f1, %f1, %f1, %f1}, [p]; "
        "ld.param.v2.u64 {%rd1, %rd2}, [p+16];",
        "struct:f32:1,1,1,1,buffer:f32:1024,u64:1",
    ),
    "wide accesses": (
        ".param .u64 p, .param .u64 q) { ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; "
        "mov.u32 %r1, %tid.x; mul.wide.u32 %rd8, %r1, 16; add.s64 %rd2, %rd2, %rd8; "
        "ld.global.v2.u64 {%rd5, %rd6}, [%rd2];",
        "buffer:f32:4096 --arg buffer:f32:4096",
    ),
    "numbers": (
        ".param .u64 p, .param .u64 n, .param .f64 d, .param .u8 c, .param .f16 h, .param .b128 q) "
        "{ ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [n];",
        "buffer:f32:1024 --arg u64:1 --arg f64:1 --arg u8:1 --arg f16:1 --arg b128:1",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "spec"), KERNELS.values(), ids=KERNELS)
def test_the_example_of_the_message_runs_as_it_is_printed(
    body: str, spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.chdir(tmp_path)
    registers = "{ .reg .f32 %f<4>; .reg .b32 %r<4>; .reg .b64 %rd<12>;"
    text = body.replace("{ ld", f"{registers} ld", 1) if body != PAIR else ""
    Path("a kernel.ptx").write_text(f"{HEAD}.visible .entry k({text} {STORE} }}" if text else PAIR)
    assert main(["run", "a kernel.ptx"]) == 2
    example = re.search(r"^Example: warpreg (run 'a kernel.ptx' .*)$", capsys.readouterr().err, re.MULTILINE)
    assert example is not None
    assert example[1].endswith(f"--kernel k --grid 4 --block 256 --arg {spec}")
    assert main(shlex.split(example[1])) == 0


def test_the_example_of_the_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = str(Path(__file__).parent / "data" / "filter.ptx")
    monkeypatch.chdir(tmp_path)
    signal = "struct:buffer:f32:1000:arange,buffer:f32:1000,s32:1000,f32:900"
    launch = ["--grid", "4", "--block", "256", "--arg", signal, "--symbol", "taps=f32:0.25,0.5,0.25"]
    assert main(["run", kernel, *launch, "--save", "0.1=y.npy", "--save", "limited=limited.npy"]) == 0
    # The filter of a ramp is the ramp; at its ends, a sample stands for its neighbour. 901 to 999 are above 900.
    assert np.load("y.npy").tolist() == [0.25, *range(1, 901), *[900] * 99]
    assert int(np.load("limited.npy")) == 99
