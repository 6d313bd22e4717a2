"""CUDA C++ that may read no file: headers come from memory, and nothing of another file gets out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.ptx.cuda.compilers import needs_cccl, needs_nvrtc

from warpreg.ptx.cuda.compile import compile_cuda
from warpreg.ptx.cuda.errors import CudaCompileError
from warpreg.ptx.cuda.options import CudaOptions
from warpreg.ptx.cuda.sealed import compile_sealed, no_new_files, own_headers, reachable

KERNEL = 'extern "C" __global__ void k(float *x) { x[threadIdx.x] += 1; }\n'
SECRET = "secret_word_of_a_file"

WAYS = {
    "quoted": '#include "{file}"',
    "angled": "#include <{file}>",
    "macro": '#define FILE "{file}"\n#include FILE',
    "comment": '#/**/include/**/"{file}"',
    "split": '#inc\\\nlude "{file}"',
    "digraph": '%:include "{file}"',
    "next": '#include_next "{file}"',
    "relative": '#include "{up}{file}"',
    "out of the wheels": "#include <{up}{file}>",
    "line": '#line 1 "{file}"\nint x = ;',
}


@needs_nvrtc
def test_the_ptx_is_that_of_the_file_compiler() -> None:
    assert compile_sealed(KERNEL, "k.cu").ptx == compile_cuda(KERNEL, "k.cu").ptx


@needs_nvrtc
@pytest.mark.parametrize("way", WAYS)
def test_no_line_of_another_file_gets_out(way: str, tmp_path: Path) -> None:
    """The compiler prints the lines of a header in which it finds an error, as this one is from end to end."""
    file = tmp_path / "secret"
    file.write_text(f"{SECRET} {SECRET}\n", encoding="utf-8")
    text = WAYS[way].format(file=file, up="../" * 20) + f"\n{KERNEL}"
    with pytest.raises(CudaCompileError) as caught:
        compile_sealed(text, "k.cu")
    assert SECRET not in caught.value.log
    assert SECRET not in str(caught.value)


@needs_nvrtc
def test_whether_a_file_exists_is_not_found_out(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("", encoding="utf-8")
    compile_sealed(f'#if __has_include("{file}")\n#error it exists\n#endif\n{KERNEL}', "k.cu")


def test_the_process_opens_no_file_inside() -> None:
    with no_new_files(), pytest.raises(OSError, match="Too many open files"):
        os.open(os.devnull, os.O_RDONLY)
    os.close(os.open(os.devnull, os.O_RDONLY))


@needs_nvrtc
def test_headers_of_the_compiler_are_there() -> None:
    text = "#include <cuda_fp16.h>\n#include <mma.h>\n" + KERNEL.replace("float", "__half")
    assert "add.f16" in compile_sealed(text, "k.cu", CudaOptions(arch="sm_80")).ptx
    assert {"cuda_fp16.h", "crt/mma.h", "mma.hpp"} <= set(reachable(text))


@needs_cccl
@needs_nvrtc
@pytest.mark.slow
def test_headers_of_the_cuda_library_are_there() -> None:
    text = "#include <cub/warp/warp_reduce.cuh>\n" + KERNEL
    assert "ld.param" in compile_sealed(text, "k.cu").ptx


@needs_nvrtc
def test_headers_that_the_file_included_are_there(tmp_path: Path) -> None:
    """``a.h`` includes ``b.h`` of another folder; the compiler gets both as they were when they were read."""
    (tmp_path / "more").mkdir()
    (tmp_path / "a.h").write_text('#include "b.h"\n', encoding="utf-8")
    (tmp_path / "more" / "b.h").write_text("#define STEP 7.0f\n", encoding="utf-8")
    text = f'#include "a.h"\n{KERNEL.replace("+= 1", "+= STEP")}'
    own = own_headers(tmp_path / "k.cu", text, CudaOptions((str(tmp_path / "more"),)))
    assert set(own) == {"a.h", "b.h"}
    (tmp_path / "a.h").unlink()
    assert "0f40E00000" in compile_sealed(text, "k.cu", own=own).ptx


@needs_nvrtc
def test_templates_are_instantiated() -> None:
    text = "template <typename T> __global__ void fill(T *x) { x[threadIdx.x] = 1; }\n"
    made = compile_sealed(text, "k.cu", kernels=["fill<int>"])
    assert f".entry {made.instances['fill<int>']}" in made.ptx
