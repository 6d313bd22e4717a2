"""CUDA C++ to PTX, and the checked-in PTX of the sources."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from warpreg import workloads
from warpreg.ptx.cuda import nvrtc
from warpreg.ptx.cuda.compile import BUILT_IN_HEADER, compile_cuda
from warpreg.ptx.cuda.errors import CompilerMissingError, CudaCompileError
from warpreg.ptx.cuda.options import CudaOptionError, CudaOptions
from warpreg.workloads import compile_ptx

NAMES = workloads.names()


def installed_release() -> str | None:
    """The release of NVRTC as PTX headers print it, or None."""
    try:
        return "{}.{}".format(*nvrtc.nvrtc_version())
    except CompilerMissingError:
        return None


needs_compiler = pytest.mark.skipif(installed_release() is None, reason="the cuda extra is not installed")


def checked_in(name: str) -> str:
    return workloads.find(name).ptx_path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_ptx_leads_back_to_its_source_and_to_no_machine(name: str) -> None:
    ptx = checked_in(name)
    source, *declarations = re.findall(r"\.file\s+\d+\s+(.*)", ptx)
    assert source == '"kernel.cu"'
    assert declarations in ([], [f'"{BUILT_IN_HEADER}"'])
    assert ".loc" in ptx


@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_of_the_source_is_an_entry(name: str) -> None:
    source = workloads.find(name).cuda_path.read_text(encoding="utf-8")
    kernels = re.findall(r'extern "C" __global__ void\s+(?:__launch_bounds__\(.*\)\s+)?(\w+)\(', source)
    assert kernels
    assert re.findall(r"\.visible \.entry (\w+)\(", checked_in(name)) == kernels


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_compiling_again_gives_the_same_bytes(name: str) -> None:
    header = re.search(r"release (\d+\.\d+)", checked_in(name))
    assert header is not None
    if header[1] != installed_release():
        pytest.skip(f"the checked-in PTX is of release {header[1]}")
    assert compile_ptx.regenerated(workloads.find(name)) == checked_in(name)


@needs_compiler
def test_check_reports_a_stale_file_and_regeneration_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text('extern "C" __global__ void f(int* x) { *x = 1; }')
    unused: Any = None
    own = workloads.Workload("own", "Own", "Own.", path, {}, unused, unused, unused)
    monkeypatch.setattr(workloads, "names", lambda: ["own"])
    monkeypatch.setattr(workloads, "find", lambda name: own)

    assert compile_ptx.main(["--check"]) == 1
    assert not own.ptx_path.exists()
    assert "kernel.ptx differs" in capsys.readouterr().out
    assert compile_ptx.main([]) == 0
    assert ".entry f(" in own.ptx_path.read_text()
    assert compile_ptx.main(["--check"]) == 0


@needs_compiler
def test_a_source_that_does_not_compile_gives_the_compilers_log() -> None:
    with pytest.raises(CudaCompileError) as caught:
        compile_cuda("__global__ void f() {\n  undefined();\n}", "bad.cu")
    assert "bad.cu(2): error" in caught.value.log


@needs_compiler
def test_an_unknown_architecture_is_refused() -> None:
    with pytest.raises(CudaOptionError, match=r"expected one of sm_75, sm_80, .*, found 'compute_1'"):
        compile_cuda("", "empty.cu", CudaOptions(arch="compute_1"))


@needs_compiler
def test_names_are_kept_as_given() -> None:
    source = "__global__ void f(int* x) { *x = 1; }"
    assert '.file	1 "folder/f.cu"' in compile_cuda(source, "folder/f.cu").ptx
    assert '.file	1 "/somewhere/f.cu"' in compile_cuda(source, "/somewhere/f.cu").ptx


def test_without_the_extra_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named '{name}'")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(CompilerMissingError, match=r"pip install 'warpreg\[cuda\]'"):
        compile_cuda("", "kernel.cu")
