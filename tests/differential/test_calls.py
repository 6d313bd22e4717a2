"""Random programs of functions that call each other, on the executor and on the reference, bit for bit."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.reference.call_programs import OUT_BYTES, program
from tests.reference.interpreter import Reference

from warpreg import codegen, ptx
from warpreg.codegen import CompileOptions
from warpreg.simt import Device, Record

GRID, BLOCK = 2, 41
WAYS = [None, CompileOptions(), CompileOptions(max_registers=24), CompileOptions(max_registers=18, schedule=False)]


def on_reference(text: str, number: int) -> tuple[bytes, Counter[str]]:
    """What ``k`` leaves in memory, and the lines that it prints."""
    reference = Reference(text)
    out = reference.buffer(bytes(GRID * BLOCK * OUT_BYTES))
    reference.launch("k", GRID, BLOCK, [out, number])
    return bytes(out.data), Counter(text for _, _, text in reference.host.printed)


def on_device(device: Device, number: int, capsys: pytest.CaptureFixture[str]) -> tuple[bytes, Counter[str]]:
    out = device.zeros(GRID * BLOCK * OUT_BYTES, np.uint8)
    capsys.readouterr()
    device.launch("k", GRID, BLOCK, out, number, max_instructions=10_000_000)
    return out.download().tobytes(), Counter(capsys.readouterr().out.splitlines(keepends=True))


@pytest.mark.slow
@settings(
    max_examples=5,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.integers(0, 1 << 20), st.integers(0, 255), st.sampled_from(WAYS))
def test_random_calls(capsys: pytest.CaptureFixture[str], seed: int, number: int, way: CompileOptions | None) -> None:
    text = program(seed)
    device = Device(text, options=way, record=Record(path=seed % 2 == 0))
    assert on_device(device, number, capsys) == on_reference(text, number)
    assert device.heap.used == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, 7])  # parameters in memory, and in registers
def test_after_every_pass(capsys: pytest.CaptureFixture[str], seed: int) -> None:
    text = program(seed)
    wanted = on_reference(text, 9)
    kernel = codegen.build_kernel(ptx.parse(text), "k")
    for step in codegen.passes_of(CompileOptions(max_registers=32)):
        kernel = step.run(kernel)
        device = Device(text, options=None)
        device.install(kernel)
        assert on_device(device, 9, capsys) == wanted, f"after {step}"
