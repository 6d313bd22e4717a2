"""Late reads: registers that an instruction in flight may still read, for how long, and their avoidance by the
allocator.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen import random_code
from tests.codegen.texts import kernel, listing

from warpreg.analysis.accesses import accesses
from warpreg.codegen.machine.targets import target
from warpreg.codegen.regalloc.allocator import AllocateRegisters
from warpreg.codegen.regalloc.late_reads import STORE_WINDOW, WINDOW, in_flight

FILLER = "".join(f"add.s32 %r{10 + i % 20}, %r8, {i};" for i in range(WINDOW + 4))


def pcs(body: str, name: str) -> list[int]:
    """The instructions whose write would have to wait for a read of register ``name``."""
    program = kernel(body)
    found = in_flight(program).get(accesses(program).cells.named(name))
    points = found.since(0) if found else 0
    return [pc for pc in range(points.bit_length() // 2) if points >> (2 * pc + 1) & 1]


def test_a_load_may_read_its_address_until_its_result_is_read() -> None:
    """The load is at 0, its result is read at 3; whatever 0 itself writes has to wait no less."""
    code = "ld.shared.u32 %r1, [%r7]; add.s32 %r2, %r8, 1; add.s32 %r3, %r8, 2; add.s32 %r4, %r1, 3; ret;"
    assert pcs(code, "%r7") == [0, 1, 2]


def test_a_result_that_is_overwritten_has_arrived() -> None:
    assert pcs("ld.shared.u32 %r1, [%r7]; add.s32 %r2, %r8, 1; mov.u32 %r1, 3; ret;", "%r7") == [0, 1]


@pytest.mark.parametrize(
    ("code", "window"),
    [
        ("ld.shared.u32 %r1, [%r7];", WINDOW),
        ("tex.1d.v4.f32.s32 {%f1, _, _, _}, [%rd1, {%r7}];", WINDOW),
        ("st.shared.u32 [%r7], %r8;", STORE_WINDOW),
        ("red.shared.add.u32 [%r7], %r8;", STORE_WINDOW),
        ("add.s32 %r1, %r7, 1;", 0),
    ],
)
def test_no_instruction_waits_for_ever(code: str, window: int) -> None:
    assert pcs(f"{code} {FILLER} ret;", "%r7") == list(range(window))


def test_a_block_ends_all_waits() -> None:
    assert pcs("ld.shared.u32 %r1, [%r7]; add.s32 %r2, %r8, 1; bar.sync 0; mov.u32 %r3, %r8; ret;", "%r7") == [0, 1, 2]


BODY = """
    mov.u32 %r1, %tid.x; ld.shared.u32 %r2, [%r1]; mov.u32 %r3, %tid.y; ld.shared.u32 %r4, [%r3];
    add.s32 %r5, %r2, %r4; st.shared.u32 [64], %r5; ret;
"""


def test_what_comes_next_takes_another_register_than_the_address() -> None:
    """By first fit all four registers would be R0, R0, R2, R2: R1 is the stack pointer.

    The first address is R0, still to be read when its result is written, which takes R2.  The second address may not
    take R0 for the same reason, so it takes R3; its result, read together with R2, takes the next odd one.
    """
    found = listing(AllocateRegisters(target=target("sm_80")).run(kernel(BODY))).splitlines()
    assert found[:4] == ["mov.u32 R0, %tid.x", "ld.shared.u32 R2, [R0]", "mov.u32 R3, %tid.y", "ld.shared.u32 R5, [R3]"]


def test_registers_are_not_spread_where_there_are_few() -> None:
    """Of five, two are beyond what the code names and one is the stack pointer: two are left, and enough."""
    program = AllocateRegisters(max_registers=5, target=target("sm_80")).run(kernel(BODY))
    assert (program.register_demand, program.local_bytes) == (5, 0)


FORMS = (*random_code.LOGIC, *random_code.SUMS, *random_code.TESTS, *random_code.PRODUCTS)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 1 << 30), st.sampled_from([None, 20]))
def test_random_kernels_compute_the_same(seed: int, limit: int | None) -> None:
    random_code.compare(AllocateRegisters(limit, target=target("sm_80")), seed, FORMS)
