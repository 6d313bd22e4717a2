"""The Python API: NumPy arrays in and out, comparisons of runs, errors that name the argument."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import warpreg
from warpreg.api import ArgumentError, LaunchableKernel
from warpreg.ir.errors import UnknownNameError, WarpregError

SAXPY = Path(__file__).parent / "data" / "saxpy.ptx"
N = 1000


@pytest.fixture(scope="module")
def saxpy() -> LaunchableKernel:
    return warpreg.compile(SAXPY)["saxpy"]


def test_arrays_are_copied_in_and_back_into_the_same_arrays(saxpy: LaunchableKernel) -> None:
    x, y = np.arange(N, dtype=np.float32), np.ones(N, np.float32)
    saxpy[4, 256](2.0, x, y, N)
    np.testing.assert_array_equal(y, 2 * np.arange(N, dtype=np.float32) + 1)
    np.testing.assert_array_equal(x, np.arange(N, dtype=np.float32))


def test_the_run_keeps_outputs_launches_and_what_identifies_it(saxpy: LaunchableKernel) -> None:
    x, y = np.ones(N, np.float32), np.ones(N, np.float32)
    run = saxpy[(4, 1), (256, 1, 1)](3.0, x, y, N)
    np.testing.assert_array_equal(run.outputs["argument 2"], np.full(N, 4, np.float32))
    assert [launch.grid for launch in run.launches] == [(4, 1, 1)]
    assert run.options["grid"] == [4, 1]
    again = saxpy[(4, 1), (256, 1, 1)](3.0, np.ones(N, np.float32), np.ones(N, np.float32), N)
    assert (again.options, again.digest) == (run.options, run.digest)


def test_a_run_and_a_kernel_show_themselves_in_a_line(saxpy: LaunchableKernel) -> None:
    run = saxpy[4, 256](3.0, np.ones(N, np.float32), np.ones(N, np.float32), N)
    assert repr(run) == f"<Run of saxpy: 1 launch of _Z5saxpyfPfS_i, {run.warp_instructions} warp-instructions>"
    assert re.fullmatch(r"<Kernel _Z5saxpyfPfS_i: \d+ blocks, \d+ instructions, \d+ registers>", repr(run.kernels[0]))
    assert "_Z5saxpyfPfS_i</td><td>1</td>" in run._repr_html_()


def test_comparisons_take_lists_of_values_and_cycles() -> None:
    run = warpreg.run("vector-add", size="tiny", cycles=True)
    found = warpreg.compare(run, ["mrf", "rfc"], parameters={"rfc": {"entries": [2, 6]}}, cycles=True)
    assert [row["entries"] if row else None for row in found["parameters"]] == [None, 2, 6]
    assert (found["cycles"] > 0).all()


def test_names_of_workloads_are_no_runs() -> None:
    with pytest.raises(ArgumentError, match=r"expects runs, found 'hotspot': warpreg.run\('hotspot'\) runs a workload"):
        warpreg.compare("hotspot")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="expects runs, found 3"):
        warpreg.compare([3])  # type: ignore[list-item]


def test_an_array_given_twice_is_one_buffer(saxpy: LaunchableKernel) -> None:
    x = np.ones(N, np.float32)
    saxpy[4, 256](2.0, x, x, N)
    np.testing.assert_array_equal(x, np.full(N, 3, np.float32))


def test_a_view_gets_its_elements_back(saxpy: LaunchableKernel) -> None:
    whole = np.zeros(2 * N, np.float32)
    saxpy[4, 256](1.0, np.ones(N, np.float32), whole[::2], N)
    np.testing.assert_array_equal(whole, np.tile([1, 0], N))


def test_a_read_only_array_may_be_read_but_not_written(saxpy: LaunchableKernel) -> None:
    x, y = np.ones(N, np.float32), np.ones(N, np.float32)
    x.flags.writeable = False
    saxpy[4, 256](1.0, x, y, N)
    y.flags.writeable = False
    with pytest.raises(ArgumentError, match="argument 2, a read-only array"):
        saxpy[4, 256](1.0, x, y, N)


def test_an_argument_that_is_no_array_and_no_number_is_named(saxpy: LaunchableKernel) -> None:
    x = np.ones(N, np.float32)
    with pytest.raises(ArgumentError, match="argument 1 is a list"):
        saxpy[4, 256](1.0, [1.0], x, N)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="argument 1 is an empty array"):
        saxpy[4, 256](1.0, np.zeros(0, np.float32), x, N)
    with pytest.raises(WarpregError, match="4 arguments, found 1"):
        saxpy[4, 256](1.0)


def test_a_kernel_is_found_by_its_source_name_or_its_mangled_one() -> None:
    program = warpreg.compile(SAXPY)
    assert list(program) == ["_Z5saxpyfPfS_i"]
    assert program["saxpy"].name == program["_Z5saxpyfPfS_i"].name
    with pytest.raises(UnknownNameError, match="no kernel in"):
        program["sax"]


def test_source_text_compiles_like_a_file() -> None:
    assert list(warpreg.compile(SAXPY.read_text())) == ["_Z5saxpyfPfS_i"]


def test_a_file_that_is_neither_cuda_nor_ptx_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WarpregError, match=r"expected one of \.cu, \.ptx, \.cubin"):
        warpreg.compile(tmp_path / "kernel.txt")


def test_cuda_source_compiles_where_the_compiler_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    source = tmp_path / "scale.cu"
    source.write_text("__global__ void scale(float *x, float a) { x[threadIdx.x] *= a; }\n")
    x = np.arange(32, dtype=np.float32)
    warpreg.compile(source)["scale"][1, 32](x, 3.0)
    np.testing.assert_array_equal(x, 3 * np.arange(32, dtype=np.float32))


@pytest.mark.slow
def test_compare_gives_a_data_frame_with_a_line_for_each_run_and_design(saxpy: LaunchableKernel) -> None:
    run = saxpy[4, 256](2.0, np.ones(N, np.float32), np.ones(N, np.float32), N)
    frame = warpreg.compare([run, warpreg.run("vector-add")], ["mrf", "rfc"], parameters={"rfc": {"entries": 2}})
    assert frame["design"].tolist() == ["mrf", "rfc", "mrf", "rfc"]
    assert [one.get("entries") for one in frame["parameters"]] == [None, 2, None, 2]
    plain, cached = frame.iloc[0], frame.iloc[1]
    assert plain["energy_normalized"] == 1
    assert plain["elided"] == 0
    assert 0 < cached["elided"] <= 1
    assert cached["mrf_reads"] + cached["rfc_reads"] >= plain["mrf_reads"]
