"""Approximations stay within PTX's bounds, and the documentation has a row for each."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.opcodes.accuracy import TABLE, kernel, worst
from tests.opcodes.bench import LANES, Case, run

from warpreg.ir.opcodes import OPCODES
from warpreg.simt import Device

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "accuracy.md"


@pytest.fixture(scope="module")
def device() -> Device:
    return Device(kernel())


@pytest.mark.slow
@pytest.mark.parametrize("row", range(len(TABLE)), ids=[f"{e.opcode} {e.domain}" for e in TABLE])
def test_a_sample_stays_within_the_bound(device: Device, row: int) -> None:
    assert worst(device, row, 1 << 12)[0] <= TABLE[row].limit


def test_every_approximate_instruction_is_measured_and_documented() -> None:
    lines = DOCUMENT.read_text().splitlines()
    for entry in TABLE:
        start = f"| `{entry.opcode}` | {entry.domain} | {entry.error} | {entry.bound or 'none'} |"
        assert [line for line in lines if line.startswith(start)], start
    approximate = {row.name for row in OPCODES if "approx" in row.syntax or ".full" in row.syntax}
    assert approximate == {entry.opcode.split(".")[0] for entry in TABLE}


@pytest.mark.parametrize("opcode", ["rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"])
def test_rough_double_approximations_have_a_nan_of_their_own(opcode: str) -> None:
    case = Case(opcode, [[0x7FF0000100000000, 0xFFF8000000000000, 0x000FFFFFFFFFFFFF, 1 << 63] * (LANES // 4)])
    run([case])
    assert case.outcome[0][:4] == [0x7FFFFFFF00000000] * 2 + [0x7FF0000000000000, 0xFFF0000000000000]
