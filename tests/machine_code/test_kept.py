"""What is kept of machine code: another process neither assembles nor lifts a kernel that one has compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from warpreg.evaluation.runs.run import CompileChoice, find_workload, load_device
from warpreg.machine_code import assembler

def lift(*arguments):
    print("lifted")
    return real(*arguments)

def assembled(*arguments):
    print("assembled")
    return made(*arguments)

real, assembler.lift = assembler.lift, lift
made, assembler.assembled = assembler.assembled, assembled
problem = find_workload("vector-add").problem("tiny")
problem.check(problem.run(load_device(problem.workload, CompileChoice(machine_code=sys.argv[1]))))
"""


def steps(cache: Path, architecture: str) -> list[str]:
    """What a new process does to run a kernel."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "WARPREG_CACHE": str(cache)}
    command = [sys.executable, "-c", SCRIPT, architecture]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.slow
def test_a_kernel_is_assembled_and_lifted_once(tmp_path: Path) -> None:
    pytest.importorskip("nvidia")
    assert steps(tmp_path, "sm_80") == ["assembled", "lifted"]
    assert steps(tmp_path, "sm_80") == []
    assert steps(tmp_path, "sm_90") == ["assembled", "lifted"]
