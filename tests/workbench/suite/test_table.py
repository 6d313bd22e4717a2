"""The table of workloads: contents of a row, and correctness of the checked-in table."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from warpreg import workloads
from warpreg.workloads import table, vendor
from warpreg_workbench.suite import table as suite_table
from warpreg_workbench.suite.characteristics import characterise

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "workloads.md"


def test_a_row_by_hand() -> None:
    # 5,000 elements in blocks of 256, 3 rounds: 20 blocks of 8 warps, the last block half empty
    row = characterise(workloads.find("vector-add"), "tiny")
    assert (row.kernels, row.launches, row.threads) == (1, 3, 3 * 20 * 256)
    assert row.mix.keys() == {"alu", "mem", "ctrl"}
    assert sum(row.mix.values()) == pytest.approx(1, abs=1e-3)
    assert row.global_share == row.mix["mem"]
    assert row.shared_bytes == 0


def test_every_workload_has_a_row_for_each_size() -> None:
    measured = table.measured()
    assert set(measured) == set(workloads.names())
    assert all(set(rows) == set(suite_table.SIZES) for rows in measured.values())


@pytest.mark.parametrize(("size", "least", "most"), [("small", 1e6, 25e6), ("full", 10e6, 1e9)])
def test_sizes_are_what_they_are_called(size: str, least: float, most: float) -> None:
    """A small one also fills the largest machine twice, for which lud needs 23 million warp-instructions."""
    outside = {
        name: rows[size]["warp_instructions"]
        for name, rows in table.measured().items()
        if not least <= rows[size]["warp_instructions"] <= most
    }
    assert outside == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vector-add", "nw", "lighting"])
def test_the_checked_in_rows_are_what_a_run_gives(name: str) -> None:
    assert characterise(workloads.find(name), "tiny").as_dict() == table.measured()[name]["tiny"]


@pytest.mark.slow
def test_the_page_is_made_of_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == suite_table.page(workloads.names())


def test_every_kernel_has_the_vendors_numbers() -> None:
    recorded = {(row.workload, row.target) for row in vendor.vendor_kernels()}
    assert recorded == {(name, target) for name in workloads.names() for target in ("sm_75", "sm_80")}


def test_the_vendors_registers_of_the_hungriest_kernel() -> None:
    registers = {row.kernel: row.registers for row in vendor.vendor_kernels() if row.target == "sm_75"}
    assert vendor.most_registers("bfs", registers, "sm_75") == max(
        registers[name] for name in registers if "bfs" in name
    )
    assert vendor.most_registers("bfs", ["no_such_kernel"], "sm_75") is None


def test_measuring_some_keeps_the_other_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "FILE", tmp_path / "table.json")
    table.measured.cache_clear()
    table.write({"nw": {"tiny": {"kept": 1}}, "gone": {}})
    monkeypatch.setattr(suite_table, "page", lambda names: "page\n")
    arguments = ["vector-add", "--size", "tiny", "--processes", "1", "--page", str(tmp_path / "page.md")]
    result = CliRunner().invoke(suite_table.main, arguments)
    assert result.exit_code == 0, result.output
    written = table.measured()
    table.measured.cache_clear()
    assert written["nw"] == {"tiny": {"kept": 1}}
    assert written["vector-add"]["tiny"]["workload"] == "vector-add"
    assert "gone" not in written
    assert (tmp_path / "page.md").read_text() == "page\n"
