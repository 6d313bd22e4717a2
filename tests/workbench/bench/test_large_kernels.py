"""The benchmark of large kernels: its kernels, its ratios, and counts of work that grow with the code alone."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from warpreg import codegen, ptx
from warpreg.cli import main
from warpreg.codegen.lower.build import build_kernel
from warpreg.codegen.regalloc import first_fit
from warpreg_workbench.bench import large_kernels
from warpreg_workbench.bench.large_kernels import CompileTime
from warpreg_workbench.bench.large_texts import NAME, SHAPES, large_ptx


def test_a_ratio_is_of_the_time_per_instruction(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The large kernel has twice the instructions of the small one and takes three times as long: 1.5."""

    def timed(shape: str, instructions: int, limit: int | None) -> CompileTime:
        return CompileTime(1.0 if instructions == 200 else 3.0, 0.5)

    monkeypatch.setattr(large_kernels, "compile_time", timed)
    assert main(["bench", "large", "--size", "tiny", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ratio_max"] == 1.5
    assert {row["ratio"] for row in found["kernels"] if row["step"] == "native code"} == {0.5}
    assert len(found["kernels"]) == 3 * (2 + 1)


@pytest.mark.parametrize("shape", SHAPES)
def test_kernels_have_about_the_instructions_that_they_should(shape: str) -> None:
    kernel = build_kernel(ptx.parse(large_ptx(shape, 2000)), NAME)
    assert 1800 < kernel.instruction_count < 2300
    assert (len(kernel.blocks) > 100) == (shape == "branches")


def test_a_kernel_is_compiled_and_translated_to_native_code() -> None:
    time = large_kernels.compile_time("straight line", 200, None)
    assert time.compile_s > 0
    assert time.native_s > 0
    assert large_kernels.compile_time("straight line", 200, 24).native_s < time.native_s


@pytest.mark.slow
def test_the_allocator_visits_holders_of_a_register_in_proportion_to_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where values are spilled, the former holders of a register are not searched again for each value."""
    visits: Counter[str] = Counter()
    original = first_fit.Assignment._range

    def counted(self: Any, holder: Any, register: int) -> Any:
        visits["range"] += 1
        return original(self, holder, register)

    monkeypatch.setattr(first_fit.Assignment, "_range", counted)
    found = []
    for size in (500, 2000):
        visits.clear()
        codegen.translate(ptx.parse(large_ptx("straight line", size)), NAME, codegen.CompileOptions(max_registers=24))
        found.append(visits["range"] / size)
    assert found[0] > 0
    assert found[1] < 2 * found[0]
