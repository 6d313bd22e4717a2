"""Facts about the programs that workloads are named after."""

import pytest

from warpreg import workloads
from warpreg.ir.errors import UnknownNameError
from warpreg.workloads.originals import kernels_of, originals, printed_registers


def test_the_file_has_every_kernel() -> None:
    assert len(originals()) == 223


def test_facts_of_one_kernel() -> None:
    (hotspot,) = kernels_of("rodinia/hotspot")
    assert (hotspot.facts["bar"], hotspot.facts["regs_sm75"], hotspot.facts["smem_sm75"]) == (3, 35, 3072)


def test_a_program_that_is_not_there_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'rodinia/hotspot'"):
        kernels_of("rodinia/hotspt")


@pytest.mark.parametrize("name", workloads.names())
def test_a_workload_names_originals_that_are_known(name: str) -> None:
    for original in workloads.find(name).originals:
        assert kernels_of(original)


def test_printed_registers_are_of_workloads() -> None:
    printed = {row.workload: row.registers for row in printed_registers()}
    assert printed["bfs"] == 21
    assert len(printed) == 16
    assert set(printed) <= set(workloads.names())
