"""A policy in a file outside the package, on the command line: the example of docs/how-to/write-a-design.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.sass.vector_add import write_vector_add
from tests.timing.interpreted import interpret

from warpreg.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "few_loads.py"


def told(capsys: pytest.CaptureFixture[str], trace: Path, *options: str) -> Any:
    assert main(["run", str(trace), "--cycles", "--machine", "gtx480", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_no_more_loads_are_under_way_than_it_lets(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """16 warps of two loads each: one at a time takes longest, 32 are as if there were no limit."""
    interpret(monkeypatch, sms=1)
    trace = write_vector_add(tmp_path, 512)
    free = told(capsys, trace)
    found = {}
    for most in (1, 4, 32):
        limited = told(capsys, trace, "--design", str(EXAMPLE), "--set", f"few-loads.most={most}")
        found[most] = limited["cycles"]
        assert 0 < limited["timing"]["resources"]["loads"] <= most * limited["cycles"]
        assert (limited["stalls"]["token"] > 0) == (most < 32)
        assert limited["mrf_reads"] == free["mrf_reads"]
    assert found[1] > found[4] > found[32] == free["cycles"]


PROFILED = """
from typing import NamedTuple
import numpy as np
from warpreg.designs.interface import *
DESIGN = Declaration(slot="policy", order="warp", events=("a warp", "profile"), profile=True, source="assumed: a test")

class Hints(NamedTuple):
    visits: np.ndarray

def hints(program, parameters, analysis):
    return Hints(analysis.frequencies)

@hook
def warp_end(state, program, warp, plan):
    count(plan, 0)
    count(plan, 1, program.hints.visits[0])
"""


@pytest.mark.slow
def test_a_profile_of_the_launch_reaches_the_hooks_of_a_timing_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the 4 warps enters the first block once, and reads the 4 of the whole launch."""
    interpret(monkeypatch, sms=1)
    (tmp_path / "profiled.py").write_text(PROFILED, encoding="utf-8")
    trace = write_vector_add(tmp_path, 128)
    found = told(capsys, trace, "--design", str(tmp_path / "profiled.py"))
    assert found["timing"]["counts"]["events"] == {"a warp": 4, "profile": 4 * 4}
