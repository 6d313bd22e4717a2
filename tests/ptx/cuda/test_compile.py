"""CUDA C++ as people have it: headers, macros, architectures, host code, templates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.ptx.cuda.compilers import needs_cccl, needs_nvcc, needs_nvrtc

import warpreg
from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.ptx.cuda import compile as cuda
from warpreg.ptx.cuda.compile import compile_cuda, compile_file
from warpreg.ptx.cuda.errors import CudaCompileError
from warpreg.ptx.cuda.nvcc import Nvcc
from warpreg.ptx.cuda.options import CudaOptionError, CudaOptions
from warpreg.ptx.cuda.templates import KernelExpressionError

SCALED = '#include "scale.h"\nextern "C" __global__ void k(int *o) { o[threadIdx.x] = SCALE * threadIdx.x; }\n'
HOST = """#include <stdio.h>
#include <cuda_runtime.h>
__global__ void square(int *out) { out[threadIdx.x] = threadIdx.x * threadIdx.x; }
int main()
{
    int *d;
    cudaMalloc(&d, 128);
    square<<<1, 32>>>(d);
    printf("done");
}
"""
FILL = "template <typename T> __global__ void fill(T *o, T v) { o[threadIdx.x] = v; }\n"
GRID = "namespace ns { template <typename T, int N> __global__ void grid(T *o) { o[threadIdx.x] = N; } }\n"


def written(folder: Path, **texts: str) -> Path:
    """Write files, ``k_cu`` as ``k.cu``; returns the first."""
    paths = [folder / name.replace("_", ".") for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    return paths[0]


def outputs(program: warpreg.Program, name: str, *more: Any, dtype: str = "int32") -> list[object]:
    """What 32 threads write to their elements of the first argument."""
    found = np.zeros(32, dtype)
    program[name][1, 32](found, *more)
    return list(found.tolist())


@needs_nvrtc
def test_headers_of_the_toolkit(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        k_cu='#include <cuda_fp16.h>\nextern "C" __global__ void k(__half *y, const __half *x) { y[threadIdx.x] ='
        " __hfma(__float2half(2.0f), x[threadIdx.x], __float2half(1.0f)); }",
    )
    x = np.arange(32, dtype=np.float16)
    assert outputs(warpreg.compile(path), "k", x, dtype="float16") == [2 * i + 1 for i in range(32)]


@needs_nvrtc
@pytest.mark.parametrize(
    "header", ["cuda_bf16.h", "mma.h", "math_constants.h", "cuda_runtime.h", "vector_types.h", "cuda.h"]
)
def test_other_headers_of_the_toolkit(header: str) -> None:
    assert ".entry k" in compile_cuda(f'#include <{header}>\nextern "C" __global__ void k() {{}}', "k.cu").ptx


@needs_nvrtc
@needs_cccl
@pytest.mark.parametrize("header", ["cooperative_groups.h", "cuda/std/array", "cuda/pipeline"])
def test_headers_of_the_core_libraries(header: str) -> None:
    assert ".entry k" in compile_cuda(f'#include <{header}>\nextern "C" __global__ void k() {{}}', "k.cu").ptx


@needs_nvrtc
def test_headers_of_the_c_library_without_a_host_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "find_nvcc", lambda: None)
    headers = ["assert", "float", "limits", "math", "stddef", "stdint", "stdio", "stdlib", "string", "time"]
    includes = "".join(f"#include <{name}.h>\n#include <c{name}>\n" for name in headers) + "#include <stdbool.h>\n"
    values = [
        ("UINT32_MAX == 4294967295u", 1), ("INT_MAX", 2147483647), ("CHAR_BIT", 8), ("sizeof(uint64_t)", 8),
        ("sizeof(std::int16_t)", 2), ("INT64_MIN == LLONG_MIN", 1), ("FLT_MAX > 3.4e38f", 1), ("INFINITY > FLT_MAX", 1),
        ("isnan(NAN)", 1), ("1 + DBL_EPSILON > 1", 1), ("1 + DBL_EPSILON / 2 > 1", 0), ("(int)(1000 * M_PI)", 3141),
        ("offsetof(double2, y)", 8), ("NULL == nullptr", 1), ("sizeof(std::size_t)", 8), ("FLT_MIN < 1.2e-38f", 1),
    ]  # fmt: skip
    lines = "".join(f"o[{place}] = {text};\n" for place, (text, _) in enumerate(values))
    source = f'{includes}extern "C" __global__ void k(int *o) {{ assert(o != NULL); {lines} }}\n'
    assert outputs(warpreg.compile(source), "k")[: len(values)] == [value for _, value in values]


@needs_nvrtc
def test_a_header_beside_the_file_is_found_from_every_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "elsewhere").mkdir()
    path = written(tmp_path / "own", k_cu=SCALED, scale_h="#define SCALE 3\n")
    written(tmp_path / "elsewhere", scale_h="#define SCALE 5\n")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert outputs(warpreg.compile(path), "k") == [3 * i for i in range(32)]
    monkeypatch.chdir(tmp_path)
    assert outputs(warpreg.compile("own/k.cu"), "k") == [3 * i for i in range(32)]


@needs_nvrtc
def test_include_folders_are_searched_in_order(tmp_path: Path) -> None:
    for name, scale in (("one", 3), ("two", 5)):
        (tmp_path / name).mkdir()
        written(tmp_path / name, scale_h=f"#define SCALE {scale}\n")
    path = written(tmp_path, k_cu=SCALED)
    one, two = tmp_path / "one", tmp_path / "two"
    assert outputs(warpreg.compile(path, include=[one, two]), "k")[1] == 3
    assert outputs(warpreg.compile(path, include=[two, one]), "k")[1] == 5
    assert outputs(warpreg.compile(path, include=str(two)), "k")[1] == 5


@needs_nvrtc
def test_an_edited_header_is_seen_also_one_that_a_header_includes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, k_cu=SCALED, scale_h='#include "deep.h"\n', deep_h="#define SCALE 3\n")
    assert outputs(warpreg.compile(path), "k")[1] == 3
    times = (tmp_path / "deep.h").stat()
    written(tmp_path, deep_h="#define SCALE 4\n")
    os.utime(tmp_path / "deep.h", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert outputs(warpreg.compile(path), "k")[1] == 4

    def again(*given: object) -> tuple[str, list[str]]:
        raise AssertionError("compiled again")

    monkeypatch.setattr(cuda, "_compiled", again)
    assert outputs(warpreg.compile(path), "k")[1] == 4
    with pytest.raises(AssertionError, match="compiled again"):
        compile_file(path, CudaOptions(define=("N",)))


@needs_nvrtc
def test_a_header_that_appears_in_front_of_another_is_seen(tmp_path: Path) -> None:
    (tmp_path / "late").mkdir()
    path = written(tmp_path, k_cu=SCALED.replace('"scale.h"', "<scale.h>"))
    written(tmp_path / "late", scale_h="#define SCALE 3\n")
    folders = [tmp_path, tmp_path / "late"]
    assert outputs(warpreg.compile(path, include=folders), "k")[1] == 3
    written(tmp_path, scale_h="#define SCALE 4\n")
    assert outputs(warpreg.compile(path, include=folders), "k")[1] == 4


@needs_nvrtc
def test_a_source_whose_directives_name_macros_is_compiled_each_time(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        k_cu='#define WHICH "scale.h"\n' + SCALED.replace('"scale.h"', "WHICH"),
        scale_h="#define SCALE 3\n",
    )
    assert outputs(warpreg.compile(path), "k")[1] == 3
    written(tmp_path, scale_h="#define SCALE 4\n")
    assert outputs(warpreg.compile(path), "k")[1] == 4


@needs_nvrtc
@pytest.mark.parametrize("define", [["N=4", "F(x)=(x)+1"], {"N": 4, "F(x)": "(x)+1"}])
def test_macros(define: Sequence[str]) -> None:
    source = 'extern "C" __global__ void k(int *o) {\n o[threadIdx.x] = F(N); }'
    assert outputs(warpreg.compile(source, define=define), "k") == [5] * 32


@needs_nvrtc
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 750),
        ({"target": "plain"}, 750),
        ({"target": "sm_75"}, 750),
        ({"target": "sm_80"}, 800),
        ({"arch": "sm_90"}, 900),
        ({"arch": "compute_86"}, 860),
        ({"target": "sm_80", "arch": "sm_75"}, 750),
    ],
)
def test_the_architecture_is_that_of_the_target_unless_it_is_given(options: dict[str, str], expected: int) -> None:
    source = 'extern "C" __global__ void k(int *o) {\n o[threadIdx.x] = __CUDA_ARCH__; }'
    assert outputs(warpreg.compile(source, **options), "k")[0] == expected  # type: ignore[arg-type]


@needs_nvrtc
def test_code_for_a_newer_architecture_runs() -> None:
    source = """extern "C" __global__ void k(unsigned *out) {
    #if __CUDA_ARCH__ >= 800
        out[threadIdx.x] = __reduce_add_sync(0xffffffffu, threadIdx.x);
    #else
        out[threadIdx.x] = 0;
    #endif
    }"""
    assert outputs(warpreg.compile(source, target="sm_80"), "k", dtype="uint32") == [sum(range(32))] * 32
    assert outputs(warpreg.compile(source), "k", dtype="uint32") == [0] * 32


@needs_nvcc
def test_a_program_with_host_code(tmp_path: Path) -> None:
    path = written(tmp_path, k_cu=HOST)
    assert outputs(warpreg.compile(path), "square") == [i * i for i in range(32)]
    assert outputs(warpreg.compile(HOST), "square") == [i * i for i in range(32)]
    assert '.file\t1 "k.cu"' in compile_file(path).ptx
    assert str(tmp_path) not in compile_file(path).ptx


@needs_nvrtc
def test_host_code_without_a_host_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "find_nvcc", lambda: None)
    with pytest.raises(CudaCompileError) as caught:
        compile_file(written(tmp_path, k_cu=HOST))
    message = str(caught.value)
    assert message.startswith("k.cu: host code in line 4 needs nvcc of the cuda extra and a host compiler")
    assert "'nvcc -ptx'" in message
    assert "\n" not in message


@needs_nvcc
def test_a_kernel_that_launches_kernels_does_not_stand_in_the_way_of_the_others() -> None:
    child = "__global__ void child(int *o) { o[0] = 1; }\n__global__ void parent(int *o) { child<<<1, 1>>>(o); }\n"
    plain = 'extern "C" __global__ void k(int *o) { o[threadIdx.x] = 6; }\nint main() {}\n'
    assert outputs(warpreg.compile(child + plain), "k") == [6] * 32


@pytest.mark.parametrize("host", ["", "int main() { return 0; }\n"], ids=["device", "host"])
@needs_nvcc
def test_templates(tmp_path: Path, host: str) -> None:
    path = written(tmp_path, k_cu=f"typedef double real;\n{FILL}{GRID}{host}")
    program = warpreg.compile(path, kernels=["fill<float>", "ns::grid<int, 4>", "fill<real>", "grid<int,2+3>"])
    assert outputs(program, "fill<float>", 2.0, dtype="float32") == [2.0] * 32
    assert outputs(program, "fill<real>", 2.5, dtype="float64") == [2.5] * 32
    assert outputs(program, "fill<double>", 2.5, dtype="float64") == [2.5] * 32
    assert outputs(program, "ns::grid<int, 4>") == [4] * 32
    assert outputs(program, "grid<int,4>") == [4] * 32
    assert outputs(program, "grid<int,2+3>") == [5] * 32
    assert "warpreg_kernel" not in compile_file(path, kernels=["fill<float>"]).ptx


@needs_nvrtc
def test_a_template_is_named_in_messages() -> None:
    program = warpreg.compile(FILL + GRID)
    with pytest.raises(
        WarpregError, match=r"kernel fill is a template that needs arguments: --kernel 'fill<float>', in"
    ):
        program["fill"]
    with pytest.raises(WarpregError, match=r"kernel grid is .*: --kernel 'ns::grid<float, 32>', in Python compile"):
        program["grid"]
    with pytest.raises(
        WarpregError, match=r"kernel fill<int> is not instantiated: .* compile\(..., kernels=\[\"fill<int>"
    ):
        program["fill<int>"]
    with pytest.raises(UnknownNameError, match="no kernel template named 'fil'; did you mean 'fill'"):
        warpreg.compile(FILL, kernels=["fil<int>"])
    with pytest.raises(CudaCompileError, match='kernel fill<flaot>:1: identifier "flaot" is undefined'):
        warpreg.compile(FILL, kernels=["fill<flaot>"])
    with pytest.raises(KernelExpressionError, match="expected a name such as fill<float>, found 'a;b<'"):
        warpreg.compile(FILL, kernels=["a;b<"])


@needs_nvrtc
def test_a_missing_header_is_named_with_the_folders_that_were_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "more").mkdir()
    path = written(tmp_path, k_cu='\n#include "absent.h"\n')
    for _ in range(2):  # by nvcc where there is one, then by NVRTC
        with pytest.raises(CudaCompileError) as caught:
            compile_file(path, CudaOptions(include=(str(tmp_path / "more"),)))
        assert str(caught.value).startswith("k.cu:2: no header 'absent.h'; -I FOLDER adds a folder")
        assert f"; searched: {tmp_path}, {tmp_path}/more, " in str(caught.value)
        monkeypatch.setattr(cuda, "find_nvcc", lambda: None)


@needs_nvrtc
def test_a_header_of_a_library_is_named_with_its_wheel() -> None:
    with pytest.raises(
        CudaCompileError, match=r"no header 'cudnn_absent.h'; 'pip install nvidia-cudnn-cu13' installs it"
    ):
        compile_cuda("#include <cudnn_absent.h>\n", "k.cu")


@needs_nvrtc
def test_an_error_in_the_source_is_named_first() -> None:
    with pytest.raises(CudaCompileError) as caught:
        compile_cuda('extern "C" __global__ void k(int *o) {\n  unused;\n  *o = twice(1);\n}\n', "k.cu")
    assert str(caught.value).splitlines() == [
        'k.cu does not compile: k.cu:2: identifier "unused" is undefined',
        '  k.cu:3: identifier "twice" is undefined',
    ]


@needs_nvrtc
def test_unknown_architectures_are_answered_with_the_known_ones() -> None:
    with pytest.raises(CudaOptionError, match=r"arch: expected one of sm_75, sm_80, .*sm_90.*, found 'sm_61'"):
        compile_cuda("", "k.cu", CudaOptions(arch="sm_61"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"arch": "volta"}, "arch: expected an architecture such as sm_80, found 'volta'"),
        ({"arch": "80"}, "arch: expected an architecture such as sm_80, found '80'"),
        ({"define": ("4=N",)}, "define: expected NAME or NAME=VALUE, found '4=N'"),
        ({"define": ("",)}, "define: expected NAME or NAME=VALUE, found ''"),
        ({"define": ("A B=1",)}, "define: expected NAME or NAME=VALUE, found 'A B=1'"),
        ({"include": ("/no/such/folder",)}, "include: expected a folder, found '/no/such/folder'"),
    ],
)
def test_wrong_options(given: dict[str, str], message: str) -> None:
    with pytest.raises(CudaOptionError) as caught:
        CudaOptions(**given)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_options_are_for_cuda(tmp_path: Path) -> None:
    path = written(tmp_path, k_ptx=".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n")
    assert list(warpreg.compile(path)) == ["k"]
    with pytest.raises(WarpregError, match=r"k.ptx: include, define and arch are for CUDA C\+\+"):
        warpreg.compile(path, define=["N"])


def test_the_host_compiler_is_part_of_the_identity_of_nvcc(tmp_path: Path) -> None:
    host = written(tmp_path, g="")
    before = Nvcc(tmp_path, host).identity
    os.utime(host, ns=(1, 1))
    assert Nvcc(tmp_path, host).identity != before


@needs_nvcc
@pytest.mark.parametrize("host", ["", "int main() {}\n"], ids=["device", "host"])
def test_the_same_source_gives_the_same_bytes_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    own = "static __device__ int t[4];\nnamespace { __device__ int u; template <int N> __global__ void k(int *o)"
    source = f"{own} {{ u += t[o[0] & 3]; t[o[0] & 3] = N; o[threadIdx.x] = N + u - u; }} }}\n{host}"
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv("WARPREG_CACHE", str(tmp_path / "caches" / name))
        path = written(tmp_path / name, k_cu=source)
        found.append(compile_file(path, kernels=["k<3>"]).ptx)
        assert outputs(warpreg.compile(path, kernels=["k<3>"]), "k<3>") == [3] * 32
        assert outputs(warpreg.compile(path, kernels=["k<3>"]), "k") == [3] * 32
    assert found[0] == found[1]
    assert "k.cu" in found[0]


@needs_nvcc
def test_names_of_folders_and_macros_reach_no_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a,b `touch made` $(touch made)"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    path = written(
        folder, k_cu=SCALED + "int main() { const char *s = TEXT; }\n", scale_h="#define SCALE TIMES(2, 3)\n"
    )
    define = {"TIMES(a, b)": "a*b", "TEXT": '"$(touch made) `touch made`, x"'}
    assert outputs(warpreg.compile(path, define=define, include=[folder]), "k") == [6 * i for i in range(32)]
    assert not list(tmp_path.glob("**/made"))
    written(folder, scale_h="\n#error own\n")
    with pytest.raises(CudaCompileError, match=r"scale.h:2: #error own") as caught:
        compile_file(written(tmp_path, k_cu="#include <stdio.h>\n#include <scale.h>\n"), CudaOptions((str(folder),)))
    assert str(folder) in str(caught.value)
