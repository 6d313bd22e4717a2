"""``warpreg verify``: what passes, what fails, and its report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpreg import workloads
from warpreg.analysis.control_codes.latencies import Latencies
from warpreg.cli import main

Output = pytest.CaptureFixture[str]

WRONG = """
import numpy as np
from pathlib import Path
from warpreg import workloads
from warpreg.workloads import Workload

good = workloads.find("vector-add")
WORKLOAD = Workload(
    "wrong", "Wrong", "Wrong.", good.source, good.sizes, good.inputs, good.run,
    lambda size, inputs: {"c": np.zeros_like(good.reference(size, inputs)["c"])},
)
"""


@pytest.mark.slow
def test_workloads_that_pass(capsys: Output) -> None:
    assert main(["verify", "bfs", "vector-add", "--json", "--thorough"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"workloads": 2, "kernels": 3, "passed": 2, "failed": 0, "failures": {}}


def test_a_wrong_output_is_named_and_the_others_still_run(capsys: Output, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    assert main(["verify", "vector-add", str(wrong), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["passed"], found["failed"]) == (1, 1)
    ((name, message),) = found["failures"].items()
    assert name == str(wrong)
    assert message.startswith("compiled: wrong (tiny, seed 0): output 'c'[0] is ")


def test_a_name_that_is_none_stops_before_anything_runs(capsys: Output) -> None:
    assert main(["verify", "vector-ad"]) == 1
    assert "did you mean 'vector-add'" in capsys.readouterr().err


def test_without_names_every_workload_is_meant(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads, "names", lambda: ["vector-add"])
    assert main(["verify"]) == 0
    assert "vector-add" in capsys.readouterr().out


def test_a_design_that_places_operands_is_checked(capsys: Output) -> None:
    assert main(["verify", "vector-add", "--design", "orf-lrf", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passed"] == 1


def test_a_design_that_decides_at_run_time_is_not_passed(capsys: Output) -> None:
    assert main(["verify", "vector-add", "--design", "rfc", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["passed"], found["failed"], found["not checked"]) == (0, 0, 1)
    assert "'warpreg check rfc' checks its hooks" in found["unchecked"]["vector-add"]


def test_a_wrong_placement_is_named(capsys: Output, tmp_path: Path) -> None:
    design = tmp_path / "wrong.py"
    design.write_text(
        "from warpreg.designs.interface import Declaration\n"
        "DESIGN = Declaration(slot='levels', levels=('MRF', 'ORF'), order='static', source='assumed: a test')\n"
        "def compile(program, parameters): return program._replace(mrf_elided=program.mrf_elided + 1)\n"
    )
    assert main(["verify", "vector-add", "--design", str(design), "--json"]) == 1
    (message,) = json.loads(capsys.readouterr().out)["failures"].values()
    assert "from the register file, which need not hold it" in message


def test_a_check_is_of_the_compiler_or_of_a_design(capsys: Output) -> None:
    assert main(["verify", "vector-add", "--design", "orf-lrf", "--thorough"]) == 2
    assert "give one of them" in capsys.readouterr().err


def test_placements_are_made_wrong(capsys: Output) -> None:
    main(["verify", "vector-add", "--design", "orf-lrf", "--corruptions", "4", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["caught"] + found["survivors"] == found["corruptions"] == 4
    assert found["equivalent"] == len(found["surviving"]) == found["survivors"]


def test_corruptions_are_of_a_design(capsys: Output) -> None:
    assert main(["verify", "vector-add", "--corruptions", "4"]) == 2
    assert "--corruptions requires --design" in capsys.readouterr().err


def test_code_that_a_design_adds_is_executed(capsys: Output, tmp_path: Path) -> None:
    """Marks at the exits of loops change nothing; an addition to R0 there does."""
    marks = Path(__file__).parents[2] / "examples" / "loop_exits.py"
    assert main(["verify", "matrix-mul", "--design", str(marks), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passed"] == 1
    wrong = tmp_path / "wrong.py"
    changed = marks.read_text(encoding="utf-8").replace(
        'Instruction("pmevent", (), (Immediate(0),))',
        'Instruction("mov", ("b32",), (Register("R4", B32, 4), Immediate(7)))',
    )
    imports = "from warpreg.ir.operands import Register\nfrom warpreg.ir.types import B32\n"
    wrong.write_text(changed.replace("import numpy as np\n", f"import numpy as np\n{imports}"), encoding="utf-8")
    assert main(["verify", "matrix-mul", "--design", str(wrong), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["failed"] == 1


def test_without_a_gpu_the_reason_is_given(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    from warpreg.checks.gpu import driver

    monkeypatch.setattr(driver, "LIBRARY", "libcuda.so.none")  # for this process only: its child looks for the true one
    if main(["verify", "vector-add", "--gpu"]) == 1:
        assert "this machine has no NVIDIA driver" in capsys.readouterr().err


def test_a_comparison_with_the_gpu_is_reported(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    from warpreg.checks.gpu import comparison
    from warpreg.checks.gpu.comparison import GpuVerdict, KernelComparison

    kernel = KernelComparison("_Z3addPf", 2, 2, 64, 1, 0, 0.0, float("inf"), 12, 14, "c[3]: executor 1.0, GPU nan")
    verdict = GpuVerdict("vector-add", "a GPU", 1.0, (kernel,), ("a note",), "output 'c' is wrong")
    monkeypatch.setattr(comparison, "compare_all", lambda *given: iter([verdict]))
    assert main(["verify", "vector-add", "--gpu", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["elements"], found["differing"], found["equal kernels"], found["failed"]) == (64, 1, 0, 1)
    assert found["failures"] == {"vector-add": "output 'c' is wrong"}
    assert found["notes"] == ["a note"]
    assert found["kernels"][0]["kernel"] == "add"
    assert found["kernels"][0]["relative"] == "infinite"
    assert main(["verify", "vector-add", "--gpu"]) == 1
    assert "a GPU" in capsys.readouterr().out


def test_control_codes_of_ptxas_are_safe(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("nvidia")
    assert main(["verify", "vector-add", "--control-codes", "sm_90", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kernels"], found["unsafe"], found["found"]) == (1, 0, [])


def test_unsafe_control_codes_are_listed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With a sum that takes 5 cycles, code for one of 4 is unsafe; the status is 1."""
    pytest.importorskip("nvidia")
    table = Latencies.of("sm_90")
    slower = {key: {kind: cycles + 1 for kind, cycles in row.items()} for key, row in table.cycles.items()}
    monkeypatch.setattr(Latencies, "of", lambda name: Latencies(name, table.classes, slower))
    assert main(["verify", "vector-add", "--control-codes", "sm_90", "--json"]) == 1
    row = json.loads(capsys.readouterr().out)["found"][0]
    assert row["place"].startswith("vector_add.sm_90.sass:")
    assert row["needed"] == row["given"] + 1


def test_control_codes_exclude_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "vector-add", "--control-codes", "sm_90", "--thorough"]) == 2
    assert "--control-codes excludes --gpu, --thorough and --design" in capsys.readouterr().err
