"""The table of what shorter live ranges change."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from warpreg_workbench.compiler import shorter_ranges
from warpreg_workbench.compiler.shorter_ranges import CompiledKernel, change, choices, line


def test_a_change_counts_kernels_and_compares_registers_with_those_of_ptxas() -> None:
    """Two kernels of 20 and 30 registers become 18 and 31; by its record, `ptxas` takes 12 for the first on sm_75."""
    before = [CompiledKernel("vector-add", "vector_add", 20, 0, 50), CompiledKernel("none", "other", 30, 8, 60)]
    after = [CompiledKernel("vector-add", "vector_add", 18, 0, 51), CompiledKernel("none", "other", 31, 4, 60)]
    row = change("sm_75", "everywhere", before, after)
    assert (row.registers, row.fewer, row.more) == (49, 1, 1)
    assert (row.local_bytes, row.instructions) == (4, 111)
    assert row.geomean == pytest.approx(18 / 12)
    assert line(change("plain", "without", before, before)) == "| plain | without | 50 | 0 | 0 |  |  | 8 | 110 |"


def test_the_command_prints_each_code_on_each_target_and_the_executed_instructions() -> None:
    done = CliRunner().invoke(shorter_ranges.main, ["--executed", "--kernels", "vector-add"])
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert [row.split(" | ")[1] for row in lines[2:11]] == [*choices("plain")] * 3
    assert lines[11:] == [f"{code}: 6648 warp-instructions, +0.000%" for code in choices("plain")]
