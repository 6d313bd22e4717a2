"""The executor computes what the reference interpreter computes, bit for bit, at every stage of the compiler.

``WARPREG_PROGRAMS`` sets how many random programs run (20 by default); a long hunt takes some thousands.
"""

from __future__ import annotations

import os

import pytest
from tests.differential.comparing import differences, expected, run_on_device
from tests.reference.generator import KERNEL

from warpreg import codegen, ptx
from warpreg.codegen import CompileOptions
from warpreg.simt import Device, Record

PROGRAMS = int(os.environ.get("WARPREG_PROGRAMS", "20"))
WAYS = {
    "virtual registers": None,
    "compiled": CompileOptions(),
    "32 registers": CompileOptions(max_registers=32),
    "24 registers": CompileOptions(max_registers=24),
    "16 registers": CompileOptions(max_registers=16),
    "16 registers, in the order of the source": CompileOptions(max_registers=16, schedule=False),
}
STAGED = range(1000, 1000 + max(2, PROGRAMS // 10))
"""Seeds of the programs that run after every pass."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_program(seed: int) -> None:
    case, wanted = expected(seed)
    compiled = list(WAYS)[1:]
    for name in ("virtual registers", compiled[seed % len(compiled)]):
        device = Device(case.text, options=WAYS[name])
        assert differences(case, run_on_device(case, device), wanted) == [], f"seed {seed}, {name}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", STAGED)
def test_after_every_pass(seed: int) -> None:
    case, wanted = expected(seed, 15)
    device = Device(case.text, options=None)
    kernel = codegen.build_kernel(device.module, KERNEL)
    for step in codegen.passes_of(CompileOptions(max_registers=24)):
        kernel = step.run(kernel)
        device.install(kernel)
        assert differences(case, run_on_device(case, device), wanted) == [], f"seed {seed}, after {step}"


@pytest.mark.slow
def test_recording_changes_nothing() -> None:
    case, wanted = expected(5)
    device = Device(case.text, record=Record(path=True, addresses=True, widths=True))
    assert differences(case, run_on_device(case, device), wanted) == []


@pytest.mark.slow
def test_a_printed_module_runs_the_same() -> None:
    case, wanted = expected(6)
    device = Device(ptx.parse(ptx.write(ptx.parse(case.text))))
    assert differences(case, run_on_device(case, device), wanted) == []
