"""Workloads: discovery, problem instances, and messages of a check."""

import os
from pathlib import Path

import numpy as np
import pytest

from warpreg import workloads
from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.workloads import CheckError, Tolerance, Workload, WorkloadFileError

BUILT_IN = workloads.names()
DEMO = {"bfs", "histogram", "hotspot", "mandelbrot", "matrix-mul", "nw", "reduction", "vector-add"}


@pytest.fixture
def doubling(tmp_path: Path) -> Workload:
    """A workload that doubles [0, 1, 2, 3]; its device is never asked for anything."""
    return Workload(
        name="doubling",
        title="Doubling",
        description="y = 2 x",
        source=tmp_path / "doubling.cu",
        sizes={"tiny": {"n": 4}, "large": {"n": 8}},
        inputs=lambda size, rng: {"x": np.arange(size["n"], dtype=np.float32), "noise": rng.random(3)},
        run=lambda device, size, inputs: {"y": inputs["x"] + inputs["x"]},
        reference=lambda size, inputs: {"y": 2 * inputs["x"]},
        tolerance=Tolerance(relative=0.01),
    )


def test_the_built_in_workloads() -> None:
    assert set(BUILT_IN) >= DEMO


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_workload_is_complete(name: str) -> None:
    workload = workloads.find(name)
    assert workload.name == name
    assert workload.suite == workload.source.parent.parent.name.replace("_", "-")
    assert workload.tags[0] in ("integer", "float")
    assert workload.tags[1] in ("compute", "memory")
    assert len(workload.tags) > 2
    assert set(workload.sizes) == {"tiny", "small", "full"}
    assert len({frozenset(size) for size in workload.sizes.values()}) == 1
    assert workload.cuda_path.is_file()
    assert workload.ptx_path.is_file()
    assert workload.description.endswith(".")


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_seed_decides_the_inputs(name: str) -> None:
    workload = workloads.find(name)
    first, again, other = (workload.problem("tiny", seed).inputs for seed in (1, 1, 2))
    assert all(np.array_equal(first[key], again[key]) for key in first)
    assert not all(np.array_equal(first[key], other[key]) for key in first)


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT_IN)
def test_a_reference_passes_its_own_check_and_a_changed_one_does_not(name: str) -> None:
    problem = workloads.find(name).problem("tiny")
    problem.check(problem.expected)
    wrong = {key: value + value.dtype.type(1) for key, value in problem.expected.items()}
    with pytest.raises(CheckError, match=name):
        problem.check(wrong)


def test_a_misspelt_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'matrix-mul'"):
        workloads.find("matrixmul")


def test_a_misspelt_size_is_answered_with_the_nearest(doubling: Workload) -> None:
    with pytest.raises(UnknownNameError, match=r"size of workload 'doubling'.*did you mean 'large'"):
        doubling.problem("larg")


def test_ptx_and_cuda_lie_side_by_side(doubling: Workload, tmp_path: Path) -> None:
    assert doubling.cuda_path == tmp_path / "doubling.cu"
    assert doubling.ptx_path == tmp_path / "doubling.ptx"


def test_a_check_names_the_first_wrong_element(doubling: Workload) -> None:
    problem = doubling.problem("tiny")
    with pytest.raises(CheckError) as caught:
        problem.check({"y": np.array([0, 2.01, 5, 7], np.float32)})
    assert str(caught.value) == (
        "doubling (tiny, seed 0): output 'y'[2] is 5.0, expected 4.0 (tolerance: relative 0.01); 2 of 4 elements differ"
    )


def test_a_check_wants_every_output_in_its_shape_and_type(doubling: Workload) -> None:
    problem = doubling.problem("tiny")
    with pytest.raises(CheckError, match=r"output 'y' is missing; there are: z"):
        problem.check({"z": np.zeros(4)})
    with pytest.raises(CheckError, match=r"output 'y' is float64\[4\], expected float32\[4\]"):
        problem.check({"y": np.zeros(4)})
    with pytest.raises(CheckError, match=r"output 'y' is float32\[2, 2\], expected float32\[4\]"):
        problem.check({"y": np.zeros((2, 2), np.float32)})


@pytest.mark.parametrize(
    ("tolerance", "found", "expected", "failures"),
    [
        (Tolerance(), [1, 2, 3], [1, 2, 4], [2]),
        (Tolerance(absolute=1), [1, 2, 3], [1, 3, 5], [2]),
        (Tolerance(relative=0.5), [1.0, 2.0], [2.0, 4.5], [1]),
        (Tolerance(), [np.nan, np.nan], [np.nan, 1.0], [1]),
        (Tolerance(relative=0.5), [np.nan, np.inf, 1.0], [np.nan, np.inf, np.nan], [2]),
    ],
    ids=["exact", "absolute", "relative", "nan exact", "nan and infinity relative"],
)
def test_tolerance(tolerance: Tolerance, found: list[float], expected: list[float], failures: list[int]) -> None:
    assert tolerance.failures(np.array(found), np.array(expected)).tolist() == failures


def test_differences_of_unsigned_integers_do_not_wrap() -> None:
    found, expected = np.array([1], np.uint32), np.array([2], np.uint32)
    assert Tolerance(absolute=1).failures(found, expected).size == 0


def test_a_fraction_of_the_elements_may_fail(doubling: Workload) -> None:
    outputs = {"y": np.array([0, 2, 5, 7], np.float32)}
    lenient = Workload(**{**vars(doubling), "tolerance": Tolerance(fraction=0.5)})
    lenient.problem("tiny").check(outputs)
    strict = Workload(**{**vars(doubling), "tolerance": Tolerance(fraction=0.25)})
    with pytest.raises(CheckError, match=r"exact, in all but 0.25 of the elements"):
        strict.problem("tiny").check(outputs)


def test_a_users_file_defines_a_workload(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from pathlib import Path\n"
        "from warpreg.workloads import Workload\n"
        "WORKLOAD = Workload('mine', 'Mine', 'Mine.', Path(__file__).with_suffix('.cu'), {}, None, None, None)\n"
    )
    workload = workloads.load(path)
    assert workload.name == "mine"
    assert workload.ptx_path == tmp_path / "mine.ptx"


def test_an_edit_that_keeps_size_and_time_is_seen(tmp_path: Path) -> None:
    """An import would take the bytecode of the file as it was."""
    path = tmp_path / "mine.py"
    text = "from warpreg.workloads import Workload\nWORKLOAD = Workload('{}', '', '', None, {{}}, None, None, None)\n"
    found = []
    for name in ("one", "two"):
        path.write_text(text.format(name))
        os.utime(path, (1_000_000_000, 1_000_000_000))
        found.append(workloads.load(path).name)
    assert found == ["one", "two"]
    assert [one.name for one in tmp_path.iterdir()] == ["mine.py"]


def test_a_file_that_defines_no_workload_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    with pytest.raises(WorkloadFileError, match="found none"):
        workloads.load(path)
    path.write_text("WORKLOAD = 7\n")
    with pytest.raises(WorkloadFileError, match="found 7"):
        workloads.load(path)
    path.write_text("1 / 0\n")
    with pytest.raises(WorkloadFileError, match="ZeroDivisionError"):
        workloads.load(path)


def test_a_workload_has_the_dimensions_that_its_name_gives() -> None:
    """The others stay as they are."""
    workload = workloads.find("matrix-mul-plain:m=3:width=8")
    assert workload.name == "matrix-mul-plain:m=3:width=8"
    assert workload.sizes["tiny"] == {**workloads.find("matrix-mul-plain").sizes["tiny"], "m": 3, "width": 8}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("matrix-mul:rows=3", "no dimension of workload 'matrix-mul' named 'rows'; there are: k, m, n"),
        ("matrix-mul:m=0", "workload 'matrix-mul': dimension m expects a whole number of 1 or more, found '0'"),
        ("matrix-mul:m", "workload 'matrix-mul': dimension m expects a whole number of 1 or more, found ''"),
        ("matrix-mull:m=3", "no workload named 'matrix-mull'; did you mean 'matrix-mul'?"),
    ],
)
def test_a_wrong_dimension_is_named(name: str, message: str) -> None:
    with pytest.raises(WarpregError) as caught:
        workloads.find(name)
    assert str(caught.value) == message
