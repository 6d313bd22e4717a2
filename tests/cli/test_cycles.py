"""``warpreg run --cycles``."""

from __future__ import annotations

import json
from functools import partial

import pytest

from warpreg.cli import cycles, main
from warpreg.timing import CAUSES, simulate

RUN = ["run", "vector-add", "--size", "tiny", "--cycles", "--machine", "gtx480"]


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling the core takes longer than timing so little."""
    monkeypatch.setattr(cycles, "simulate", partial(simulate, mode="interpreted", sms=2))


def test_run_tells_cycles_and_the_stall_account(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ipc"] == told["warp_instructions"] / told["cycles"]
    assert set(told["stalls"]) == set(CAUSES)
    assert sum(told["stalls"].values()) == told["cycles"] * 48 * 2


def test_a_kernel_that_does_not_fit_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--registers", "200"]) == 1
    assert capsys.readouterr().err.endswith(
        "kernel vector_add: a thread block does not fit an SM of gtx480: registers per thread (256 threads of 200 "
        "registers, 0 bytes of shared memory)\n"
    )


def test_a_design_without_cycles_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "vector-add", "--size", "tiny", "--design", "rfc"]) == 2
    assert "--design is of use with --cycles only" in capsys.readouterr().err
