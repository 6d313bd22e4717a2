"""Registers of a thread that a target reserves."""

from __future__ import annotations

import pytest
from tests.codegen.texts import kernel, listing

from warpreg.codegen.machine.targets import target
from warpreg.codegen.regalloc.allocator import AllocateRegisters, AllocationError
from warpreg.ir.errors import UnknownNameError

THREE_LIVE = """
    ld.shared.u32 %r1, [0];
    ld.shared.u32 %r2, [4];
    ld.shared.u32 %r3, [8];
    add.s32 %r1, %r1, %r2;
    add.s32 %r1, %r1, %r3;
    st.shared.u32 [0], %r1;
"""


def test_without_a_target_the_demand_is_what_the_code_uses() -> None:
    program = AllocateRegisters().run(kernel(THREE_LIVE))
    assert (program.register_count, program.register_demand) == (3, 3)


def test_no_value_takes_the_stack_pointer_and_two_more_are_demanded() -> None:
    """Three values that are never read together take R0, R2 and R3 around R1; two that no code names make six."""
    body = "".join(f"ld.shared.u32 %r{i}, [{4 * i}];" for i in range(3))
    body += "".join(f"st.shared.u32 [{4 * i}], %r{i};" for i in range(3))
    program = AllocateRegisters(target=target("sm_80")).run(kernel(body))
    assert [line.split()[1] for line in listing(program).splitlines()[:3]] == ["R0,", "R2,", "R3,"]
    assert (program.register_count, program.register_demand) == (4, 6)


def test_what_is_read_together_lies_in_two_banks_at_the_price_of_registers() -> None:
    """%r1 takes R0; %r2 and %r3, each read with it, take the next odd ones, R3 and R5; R1 is reserved."""
    program = AllocateRegisters(target=target("sm_80")).run(kernel(THREE_LIVE))
    assert [line.split()[1] for line in listing(program).splitlines()[:3]] == ["R0,", "R3,", "R5,"]
    assert (program.register_count, program.register_demand) == (6, 8)


def test_a_value_stored_lies_in_another_bank_than_its_address_begins() -> None:
    """The address takes R2 and R3; what is stored takes R5, though R0 and R4 are free."""
    body = "ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+8], %r1;"
    assert "st.global.u32 [R2.64+8], R5" in listing(AllocateRegisters(target=target("sm_80")).run(kernel(body)))


def test_the_reserved_register_stays_reserved_where_values_are_spilled() -> None:
    """Of the six that a thread may demand, values have three: R0, R2 and R3."""
    body = "".join(f"ld.shared.u32 %r{i}, [{4 * i}];" for i in range(8))
    body += "".join(f"add.s32 %r9, %r{i}, %r{i + 1}; st.shared.u32 [64], %r9;" for i in range(7))
    program = AllocateRegisters(max_registers=6, target=target("sm_80")).run(kernel(body))
    assert program.register_demand == 6
    assert program.local_bytes > 0
    assert all(1 not in r.words for r in program.registers())


def test_the_limit_includes_what_the_target_reserves() -> None:
    with pytest.raises(AllocationError, match=r"kernel 'k' needs more than 2 registers \(sm_80 takes 2 more\)"):
        AllocateRegisters(max_registers=4, target=target("sm_80")).run(kernel(THREE_LIVE))


def test_an_unknown_target_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="no target named 'sm_81'; did you mean 'sm_80'"):
        target("sm_81")
