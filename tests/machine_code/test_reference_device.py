"""Machine code run natively leaves the bits that the interpreter of `tests.machine_code.reference` leaves.

``WARPREG_PROGRAMS`` sets how many random programs the long campaigns run (200 by default).
"""

from __future__ import annotations

import os
from contextlib import suppress

import numpy as np
import pytest
from tests.machine_code.random_control import Program
from tests.machine_code.reference import programs
from tests.machine_code.reference.paired import Paired
from tests.machine_code.reference.text import UnknownCode
from tests.machine_code.test_listings import ARCHITECTURES, FOLDER, MODULE, lifted, sample, text_of

from warpreg import workloads
from warpreg.ir.errors import UnsupportedError
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.tools import VendorToolError

PROGRAMS = int(os.environ.get("WARPREG_PROGRAMS", "200"))
SEEDS = [seed for seed in range(20) if programs.is_fit(programs.program(seed, "sm_80"))][:5]
QUICK = ("gaussian", "lighting", "nqu", "vector-add")
"""Workloads of a second: divisions, textures, divergent loops, uniform registers."""
BUDGET = 20_000_000
"""Instructions of threads that a workload of the campaign interprets."""
REFUSALS = (UnknownCode, UnsupportedError, MachineCodeError, VendorToolError)
TOO_LONG = "the interpreter did not finish a launch"


def paired(name: str, architecture: str, change: tuple[str, str] = ("", "")) -> Paired:
    """A checked-in kernel after its launch; the interpreter reads a listing that is changed."""
    listed = text_of(architecture)
    assert change[0] in listed
    device = Paired(MODULE, listed.replace(*change), (FOLDER / f"kernels.{architecture}.cubin").read_bytes())
    device.install(lifted(name, architecture))
    arguments, (grid, block) = sample(name)
    device.launch(name, grid, block, *(device.upload(a) if isinstance(a, np.ndarray) else a for a in arguments))
    return device


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", [function.name for function in MODULE.kernels])
def test_checked_in_listing(name: str, architecture: str) -> None:
    device = paired(name, architecture)
    assert (device.compared, device.differences) == (1, [])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("add", ("FADD R9, R4, R3", "FADD R9, R4, -R3")),
        ("wide", ("P0, R2, 0x24924924, R8", "P0, R2, 0x24924925, R8")),
        ("divide", ("FFMA R7, R6, R8, R7", "FFMA.RZ R7, R6, R8, R7")),
        ("sum_block", ("LDS R3, [R7.X4+0x80]", "LDS R3, [R7.X4+0x84]")),
        ("collatz", ("IADD3 R7, R7, 0x1, RZ", "IADD3 R7, R7, 0x2, RZ")),
        ("count", ("REDUX.MAX.S32", "REDUX.MIN.S32")),
    ],
)
def test_another_instruction_is_noticed(name: str, change: tuple[str, str]) -> None:
    assert paired(name, "sm_80", change).differences


def launched(seed: int, architecture: str) -> Paired:
    case = programs.program(seed, architecture)
    device = Paired.assembled(case.text, architecture, max_instructions=10_000_000)
    programs.run(case, device)
    return device


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_program(seed: int, architecture: str) -> None:
    pytest.importorskip("nvidia")
    device = launched(seed, architecture)
    assert (device.compared, device.differences) == (1, [])


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", QUICK)
def test_quick_workload(name: str, architecture: str) -> None:
    pytest.importorskip("nvidia")
    workload = workloads.find(name)
    device = Paired.assembled(workload.module(), architecture)
    workload.problem("tiny").run(device)
    assert (device.compared, device.differences) == (len(device.launches), [])


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", sorted(set(workloads.names()) - set(QUICK)))
def test_workload(name: str, architecture: str) -> None:
    """Launches as long as the budget lasts."""
    pytest.importorskip("nvidia")
    workload = workloads.find(name)
    device = Paired.assembled(workload.module(), architecture, budget=BUDGET)
    workload.problem("tiny").run(device)
    assert device.differences == []
    if not device.compared:
        pytest.skip(TOO_LONG)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1000 + PROGRAMS))
def test_campaign_of_programs(seed: int) -> None:
    """Programs that one of the readers, or ``ptxas`` for one architecture, refuses are left out."""
    pytest.importorskip("nvidia")
    for architecture in ARCHITECTURES:
        if programs.is_fit(programs.program(seed, architecture)):
            with suppress(*REFUSALS):
                assert launched(seed, architecture).differences == [], architecture


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1000 + PROGRAMS))
def test_campaign_of_control_flow(seed: int) -> None:
    pytest.importorskip("nvidia")
    for architecture in ARCHITECTURES:
        device = Paired.assembled(Program(seed).text(), architecture, order=seed, max_instructions=10_000_000)
        device.launch("parted", 1, 96, device.zeros((96, 4), np.uint32))
        assert (device.compared, device.differences) == (1, []), architecture
