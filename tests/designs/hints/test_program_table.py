"""The program table: operands as warp-registers, last reads, suspension points."""

from __future__ import annotations

import numpy as np
import pytest
from tests.designs.kernels import at, kernel, op, p, pair, r, when

from warpreg.designs import DesignError, Program, program_table
from warpreg.designs.interface import PRIVATE, SHARED
from warpreg.designs.parts.hints.long_latency import after_stops, waits_for_all
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import ConstantBank, Register, Special, Vector
from warpreg.ir.types import B32


def sources(program: Program, pc: int) -> list[int]:
    return [int(x) for x in program.source[program.source_start[pc] : program.source_start[pc + 1]]]


def results(program: Program, pc: int) -> list[int]:
    return [int(x) for x in program.result[program.result_start[pc] : program.result_start[pc + 1]]]


def last(program: Program, pc: int) -> list[int]:
    return [int(x) for x in program.last_read[program.source_start[pc] : program.source_start[pc + 1]]]


def one(instruction: Instruction) -> Program:
    return program_table(kernel([instruction]))


def test_an_operand_of_64_bits_is_two_warp_registers() -> None:
    program = one(op("add.s64", pair(4), pair(2), pair(6)))
    assert sources(program, 0) == [2, 3, 6, 7]
    assert results(program, 0) == [4, 5]


def test_only_registers_are_accesses() -> None:
    program = one(when(p(0), op("mad.lo.s32", r(1), Special("%tid.x"), ConstantBank(0, 8, B32), 7)))
    assert sources(program, 0) == []
    assert results(program, 0) == [1]


def test_a_predicate_result_is_no_warp_register() -> None:
    program = one(op("setp.lt.s32", p(0), r(1), r(2)))
    assert (sources(program, 0), results(program, 0)) == ([1, 2], [])


def test_a_register_named_twice_is_read_twice() -> None:
    assert sources(one(op("mul.lo.s32", r(1), r(0), r(0))), 0) == [0, 0]


def test_a_store_reads_its_address_pair_and_its_vector() -> None:
    program = one(op("st.global.v2.f32", at(pair(2), 16), Vector((r(5), r(0)))))
    assert sources(program, 0) == [2, 3, 5, 0]
    assert program.source_slot.tolist() == [0, 0, 1, 1]
    assert results(program, 0) == []


def test_a_vector_load_writes_each_element() -> None:
    assert results(one(op("ld.global.v2.f32", Vector((r(4), r(5))), at(pair(2)))), 0) == [4, 5]


@pytest.mark.parametrize(
    ("instruction", "datapath"),
    [
        (op("add.s32", r(0), r(1), r(2)), PRIVATE),
        (op("sin.approx.f32", r(0), r(1)), SHARED),
        (op("ld.shared.f32", r(0), at(r(1))), SHARED),
        (op("add.f64", pair(0), pair(2), pair(4)), PRIVATE),
    ],
    ids=lambda x: x.full_opcode if isinstance(x, Instruction) else str(x),
)
def test_special_function_and_memory_units_are_the_shared_datapath(instruction: Instruction, datapath: int) -> None:
    assert one(instruction).datapath.tolist() == [datapath]


def test_a_block_starts_where_the_one_before_ends() -> None:
    program = program_table(kernel([op("mov.b32", r(0), 1)] * 2, [op("mov.b32", r(1), 1)]))
    assert program.first_pc.tolist() == [0, 2, 3]


def test_the_last_read_is_the_one_before_the_next_write() -> None:
    program = program_table(
        kernel(
            [
                op("add.s32", r(1), r(0), r(0)),  # both operands of the last instruction that reads r0
                op("add.s32", r(2), r(1), 1),  # r1 is read again
                op("add.s32", r(1), r(1), r(2)),  # the old r1 ends here, and so does r2
                op("st.shared.u32", at(r(1)), r(1)),
            ]
        )
    )
    assert [last(program, pc) for pc in range(4)] == [[1, 1], [0], [1, 1], [1, 1]]


def test_a_guarded_write_does_not_end_the_old_value() -> None:
    program = program_table(kernel([when(p(0), op("add.s32", r(1), r(1), 1)), op("st.shared.u32", at(r(1)), r(1))]))
    assert [last(program, pc) for pc in range(2)] == [[0], [1, 1]]


def test_a_read_on_one_side_of_a_branch_is_not_the_last_while_the_other_side_waits() -> None:
    """R0 is read on both sides: the lanes of the second side still need it when the first side has read it."""
    diamond = kernel(
        [op("mov.b32", r(0), 1)],
        [op("add.s32", r(1), r(0), 1)],
        [op("add.s32", r(1), r(0), 2)],
        [op("st.shared.u32", at(r(1)), 0)],
        successors=((1, 2), (3,), (3,), ()),
    )
    program = program_table(diamond)
    assert [last(program, pc) for pc in (1, 2, 3)] == [[0], [0], [1]]


def test_a_value_that_the_lanes_out_of_the_loop_need_has_no_last_read_in_the_loop() -> None:
    """R1 is rewritten each time round, but lanes that have left keep theirs for the store."""
    loop = kernel(
        [op("mov.b32", r(1), 0)],
        [op("add.s32", r(2), r(1), 5), op("add.s32", r(1), r(2), r(1))],
        [op("st.shared.u32", at(r(1)), 0)],
        successors=((1,), (1, 2), ()),
    )
    program = program_table(loop)
    assert [last(program, pc) for pc in (1, 2, 3)] == [[0], [1, 0], [1]]


def suspending(code: Kernel) -> list[int]:
    return np.flatnonzero(program_table(code).suspends).tolist()


def test_a_warp_suspends_at_the_first_use_of_a_global_load() -> None:
    code = kernel(
        [
            op("ld.global.u32", r(1), at(pair(2))),
            op("ld.shared.u32", r(4), at(r(0))),
            op("add.s32", r(0), r(4), 1),  # shared memory is no long latency
            op("add.s32", r(0), r(1), 1),
            op("add.s32", r(0), r(1), 2),  # has arrived
        ]
    )
    assert program_table(code).long_latency.tolist() == [1, 0, 0, 0, 0]
    assert suspending(code) == [3]


def test_a_load_pending_on_one_path_suspends_after_the_merge() -> None:
    code = kernel(
        [op("mov.b32", r(1), 0)],
        [op("ld.global.u32", r(1), at(pair(2)))],
        [op("add.s32", r(0), r(1), 1)],
        successors=((1, 2), (2,), ()),
    )
    assert suspending(code) == [2]


def test_overwriting_a_pending_result_suspends() -> None:
    code = kernel([op("ld.global.u32", r(1), at(pair(2))), op("mov.b32", r(1), 0), op("add.s32", r(0), r(1), 1)])
    assert suspending(code) == [1]


def test_a_store_is_no_long_latency() -> None:
    assert program_table(kernel([op("st.global.u32", at(pair(2)), r(0))])).long_latency.tolist() == [0]


def test_virtual_registers_are_refused() -> None:
    virtual = Register("%r1", B32)
    with pytest.raises(DesignError, match=r"kernel hand: register %r1 is virtual, compile the kernel first"):
        program_table(kernel([op("add.s32", virtual, virtual, 1)]))


def test_uniform_registers_are_not_of_the_register_file() -> None:
    """They are no accesses and have no flags, so that the flags of others stay at their rows."""
    uniform = Register("UR2", B32, 2)
    code = [op("add.u32", r(1), uniform, r(0)), op("mov.u32", uniform, 1), op("st.global.u32", pair(2), r(1))]
    program = program_table(kernel(code))
    assert sources(program, 0) == [0]
    assert results(program, 1) == []
    assert program.last_read.tolist() == [1, 1, 1, 1]
    assert len(program.last_read) == len(program.source)


def all_waits(code: Kernel) -> list[int]:
    return np.flatnonzero(waits_for_all(code, program_table(code).long_latency)).tolist()


def test_a_wait_for_all_loads_is_one_wait() -> None:
    """MICRO 2011, section 4.1: the second use is in a strand whose loads belong to an earlier one."""
    code = kernel(
        [
            op("ld.global.u32", r(1), at(pair(2))),
            op("ld.global.u32", r(4), at(pair(2))),
            op("add.s32", r(0), r(1), 1),
            op("add.s32", r(0), r(4), 1),
        ]
    )
    assert (suspending(code), all_waits(code)) == ([2, 3], [2])


def test_a_merge_of_paths_with_and_without_a_load_waits() -> None:
    """MICRO 2011, Figure 5(b): block 2 waits although the load is used after it."""
    code = kernel(
        [op("mov.b32", r(1), 0)],
        [op("ld.global.u32", r(1), at(pair(2)))],
        [op("mov.b32", r(4), 1), op("add.s32", r(0), r(1), r(4))],
        successors=((1, 2), (2,), ()),
    )
    assert (suspending(code), all_waits(code)) == ([3], [2])


def test_barriers_are_points_where_a_warp_leaves_too() -> None:
    code = kernel(
        [op("mov.b32", r(1), 0), op("bar.sync", 0), op("mov.b32", r(4), 0), op("bar.sync", 0)],
        [],
        [op("add.s32", r(0), r(1), r(4))],
        successors=((1,), (2,), ()),
    )
    assert np.flatnonzero(after_stops(code)).tolist() == [2, 4]
