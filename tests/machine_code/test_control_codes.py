"""The control codes of ptxas are safe; with one of them changed, they are not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.analysis.control_codes.code import changed
from tests.machine_code.test_listings import ARCHITECTURES, MODULE, lifted
from tests.machine_code.test_workloads import QUICK

from warpreg.analysis.control_codes.check import unsafe
from warpreg.analysis.control_codes.latencies import Latencies
from warpreg.checks.control_codes import CheckedCode, check_codes
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes.table import MACHINE_OPCODES

NAMES = [function.name for function in MODULE.kernels]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", NAMES)
def test_listings_are_safe(name: str, architecture: str) -> None:
    assert unsafe(lifted(name, architecture)) == ()


def mutants(kernel: Kernel) -> Iterator[tuple[str, Kernel]]:
    """The kernel with a stall less by one, one wait dropped, one counter dropped."""
    for pc, instruction in enumerate(kernel.instructions()):
        control = instruction.control
        assert control is not None
        if control.stall > 1:
            yield "stall", changed(kernel, pc, stall=control.stall - 1)
        for counter in range(6):
            if control.waits >> counter & 1:
                yield "wait", changed(kernel, pc, waits=control.waits & ~(1 << counter))
        if control.write is not None:
            yield "write", changed(kernel, pc, write=None)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", ["add", "collatz", "divide", "exchange"])
def test_a_changed_control_code_is_found(name: str, architecture: str) -> None:
    """Every dropped wait and write counter in these kernels; of shorter stalls, those between producer and consumer."""
    found: dict[str, list[bool]] = {}
    for kind, mutant in mutants(lifted(name, architecture)):
        found.setdefault(kind, []).append(bool(unsafe(mutant)))
    assert all(found["wait"])
    assert all(found["write"])
    assert sum(found["stall"]) >= len(found["stall"]) / 4


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_opcode_has_a_timing_class(architecture: str) -> None:
    known = {opcode.partition(".")[0] for opcode in Latencies.of(architecture).classes}
    assert {row.name for row in MACHINE_OPCODES} - known == set()


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", sorted(QUICK))
def test_workloads_are_safe(name: str, architecture: str) -> None:
    pytest.importorskip("nvidia")
    assert [row for checked in check_codes(name, architecture) for row in checked.rows()] == []


def test_a_row_says_where() -> None:
    kernel = changed(lifted("add", "sm_80"), 1, write=None)
    (row, *_) = CheckedCode("w", kernel, unsafe(kernel)).rows()
    assert str(row["place"]).startswith("listing:")
    assert (row["workload"], row["kernel"], row["needed"]) == ("w", "add", "a wait")
