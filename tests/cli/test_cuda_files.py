"""Options of CUDA C++ on the command line and in launch files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.ptx.cuda.compilers import needs_nvcc, needs_nvrtc

from warpreg.cli import main

KERNEL = """#include "scale.h"
#ifndef ADDED
#define ADDED 0
#endif
extern "C" __global__ void k(int *o) { o[threadIdx.x] = SCALE * threadIdx.x + ADDED; }
"""
ARCHITECTURE = 'extern "C" __global__ void k(int *o) { o[threadIdx.x] = __CUDA_ARCH__; }\n'
TEMPLATE = "template <typename T, int N> __global__ void fill(T *o) { o[threadIdx.x] = N; }\n"
LAUNCH = ["--grid", "1", "--block", "32", "--arg", "buffer:s32:32"]
FILE = """source = "k.cu"
{options}
[arrays.o]
dtype = "int32"
shape = [32]
[[launches]]
kernel = "{kernel}"
grid = [1]
block = [32]
arguments = ["o"]
[expect.o]
file = "expected.npy"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a kernel whose header is in the folder ``headers``."""
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "scale.h").write_text("#define SCALE 3\n")
    (tmp_path / "k.cu").write_text(KERNEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> list[int]:
    """What ``warpreg run`` leaves in the first argument."""
    assert main(["run", *arguments, *LAUNCH, "--save", "0=o.npy"]) == 0
    found: list[int] = np.load("o.npy").tolist()
    return found


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main([*arguments]) != 0
    message = capsys.readouterr().err
    assert message.startswith("warpreg: ")
    assert message.count("\n") == 1
    return message


@needs_nvrtc
def test_run_takes_folders_and_macros(folder: Path) -> None:
    assert run("k.cu", "-I", "headers") == [3 * i for i in range(32)]
    assert run("k.cu", "-Iheaders", "-DADDED=2") == [3 * i + 2 for i in range(32)]
    assert run("k.cu", "--include", "headers", "-D", "ADDED=2", "--define", "UNUSED") == [3 * i + 2 for i in range(32)]


@needs_nvrtc
def test_run_compiles_for_the_target(folder: Path) -> None:
    (folder / "k.cu").write_text(ARCHITECTURE)
    assert run("k.cu")[0] == 750
    assert run("k.cu", "--target", "sm_80")[0] == 800
    assert run("k.cu", "--arch", "sm_90")[0] == 900


@needs_nvrtc
def test_results_tell_the_options(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["-I", "headers", "-D", "ADDED=2", "--arch", "sm_80"]
    found = printed(capsys, "run", "k.cu", *given, *LAUNCH)
    chosen = {name: found["options"][name] for name in ("include", "define", "arch")}
    assert chosen == {"include": ["headers"], "define": ["ADDED=2"], "arch": "sm_80"}
    assert found["kernel"] != printed(capsys, "run", "k.cu", "-I", "headers", *LAUNCH)["kernel"]
    assert main(["run", "k.cu", *given, *LAUNCH]) == 0
    assert "include headers, define ADDED=2, arch sm_80" in " ".join(capsys.readouterr().out.split())


@needs_nvrtc
def test_explain_and_diff_take_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, added = (printed(capsys, "explain", "k.cu", "-I", "headers", *more) for more in ([], ["-D", "ADDED=2"]))
    assert plain[0]["digest"] != added[0]["digest"]
    (folder / "other.cu").write_text(KERNEL.replace("+ ADDED", "+ ADDED * 5"))
    same = printed(capsys, "diff", "k.cu", "other.cu", "-I", "headers", *LAUNCH)
    differing = printed(capsys, "diff", "k.cu", "other.cu", "-I", "headers", "-D", "ADDED=2", *LAUNCH)
    assert (same["outputs_differ"], differing["outputs_differ"]) == ([], ["argument 0"])


@needs_nvrtc
def test_a_launch_file_has_them_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = FILE.format(options='include = ["headers"]\ndefine = ["ADDED=1"]\narch = "sm_80"', kernel="k")
    (folder / "launches.toml").write_text(text)
    np.save(folder / "expected.npy", 3 * np.arange(32, dtype=np.int32) + 1)
    assert main(["run", "launches.toml"]) == 0
    assert main(["compare", "launches.toml"]) == 0
    assert "'o'[0] is 2, expected 1" in refused(capsys, "run", "launches.toml", "-D", "ADDED=2")
    (folder / "headers" / "scale.h").write_text("#define SCALE 4\n")
    assert "'o'[1] is 5, expected 4" in refused(capsys, "compare", "launches.toml")


@needs_nvrtc
def test_a_launch_file_names_instances_of_templates(folder: Path) -> None:
    (folder / "k.cu").write_text(TEMPLATE)
    (folder / "launches.toml").write_text(FILE.format(options="", kernel="fill<int, 7>"))
    np.save(folder / "expected.npy", np.full(32, 7, np.int32))
    assert main(["run", "launches.toml"]) == 0


@needs_nvrtc
def test_a_workload_of_the_package_is_compiled_from_its_source_with_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    usual, newer = (printed(capsys, "run", "vector-add", "--size", "tiny", *more) for more in ([], ["--arch", "sm_90"]))
    assert (usual["options"]["arch"], newer["options"]["arch"]) == (None, "sm_90")
    assert newer["checked"].startswith("matches the reference")


@needs_nvrtc
def test_templates_and_names(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    over = "__global__ void over(int *o) { o[threadIdx.x] = 1; }\n__global__ void over(float *o) { o[0] = 2; }\n"
    (folder / "k.cu").write_text(TEMPLATE)
    assert "its templates need arguments: --kernel 'fill<float, 32>'" in refused(capsys, "run", "k.cu", *LAUNCH)
    message = refused(capsys, "run", "k.cu", "--kernel", "fill", *LAUNCH)
    assert "kernel fill is a template that needs arguments: --kernel 'fill<float, 32>'" in message
    assert run("k.cu", "--kernel", "fill<int,6>") == [6] * 32
    assert main(["explain", "k.cu", "--kernel", "fill<int,6>"]) == 0
    (folder / "k.cu").write_text(over)
    assert run("k.cu", "--kernel", "over(int *)") == [1] * 32
    message = refused(capsys, "run", "k.cu", "--kernel", "over", *LAUNCH)
    assert "'over' is the name of 2 kernels: over(int*), over(float*)" in message
    assert "k.cu has 2 kernels (over(int*), over(float*)); choose one" in refused(capsys, "run", "k.cu", *LAUNCH)


@needs_nvcc
def test_instances_that_host_code_launches(folder: Path) -> None:
    launches = "int main() { fill<int, 5><<<1, 32>>>(nullptr); }\n"
    (folder / "k.cu").write_text(f"#include <iostream>\n{TEMPLATE}{launches}")
    assert run("k.cu") == [5] * 32
    assert run("k.cu", "--kernel", "fill") == [5] * 32
    assert run("k.cu", "--kernel", "fill<int, 8>") == [8] * 32


@needs_nvrtc
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["k.cu", *LAUNCH], "k.cu:1: no header 'scale.h'; -I FOLDER adds a folder; searched: "),
        (["k.cu", "-I", "absent", *LAUNCH], "include: expected a folder, found 'absent'"),
        (["k.cu", "-D", "1=N", *LAUNCH], "define: expected NAME or NAME=VALUE, found '1=N'"),
        (["k.cu", "--arch", "sm_35", *LAUNCH], "arch: expected one of sm_75, sm_80, "),
        (["wrong.toml"], "wrong.toml: define: expected NAME or NAME=VALUE, found '1'"),
        (["ptx.toml"], "ptx.toml: include, define and arch are for CUDA C++, found 'k.ptx'"),
        (["k.ptx", "-D", "N", *LAUNCH], "k.ptx: include, define and arch are for CUDA C++"),
    ],
)
def test_wrong_input(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    wrong = FILE.format(options='define = ["1"]', kernel="k")
    (folder / "wrong.toml").write_text(wrong)
    (folder / "ptx.toml").write_text(FILE.format(options='arch = "sm_80"', kernel="k").replace("k.cu", "k.ptx"))
    (folder / "k.ptx").write_text(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n")
    assert message in refused(capsys, "run", *arguments)
