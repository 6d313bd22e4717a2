"""Later reads of a value: before the warp suspends, by the shared datapath, in lanes that a write does not reach."""

from __future__ import annotations

from tests.designs.kernels import at, kernel, op, p, pair, r, when

from warpreg.designs import program_table
from warpreg.designs.parts.hints.partial_results import partial_flags
from warpreg.designs.parts.hints.reads_ahead import backward_flags, idle_flags, shared_reader_flags
from warpreg.ir.kernel import Kernel

LOAD = op("ld.global.u32", r(8), at(pair(2)))
WAIT = op("add.s32", r(9), r(8), 1)


def idle(code: Kernel) -> tuple[list[int], list[int]]:
    sources, results = idle_flags(program_table(code), code)
    return sources.tolist(), results.tolist()


def test_reads_after_the_wait_do_not_count() -> None:
    code = kernel([op("mov.b32", r(1), 1), LOAD, WAIT, op("mov.b32", r(4), r(1)), op("mov.b32", r(5), r(1))])
    sources, results = idle(code)
    assert results == [1, 1, 1, 1, 1]
    assert sources == [1, 1, 1, 0, 1]  # the address, R8 at the wait, R1 with another read to come, the last R1


def test_the_operands_of_the_instruction_that_waits_are_read_after_the_wait() -> None:
    code = kernel([op("mov.b32", r(1), 1), LOAD, op("add.s32", r(9), r(8), r(1))])
    assert idle(code)[1] == [1, 1, 1]


def test_a_read_on_one_path_is_enough() -> None:
    code = kernel(
        [op("mov.b32", r(1), 1)], [op("mov.b32", r(5), r(1))], [LOAD, WAIT], successors=((1, 2), (2,), ())
    )  # fmt: skip
    assert idle(code)[1] == [0, 1, 1, 1]


def test_a_loop_reads_again() -> None:
    code = kernel([op("mov.b32", r(1), 1)], [op("add.s32", r(1), r(1), 1)], [], successors=((1,), (1, 2), ()))
    assert idle(code) == (
        [1],
        [0, 0],
    )  # the value that is read ends with the write, the new one is read in the next round


def test_a_guarded_write_does_not_end_a_value() -> None:
    code = kernel([op("mov.b32", r(1), 1), when(p(0), op("mov.b32", r(1), 2)), op("mov.b32", r(2), r(1))])
    assert idle(code)[1] == [0, 0, 1]


def test_values_that_the_shared_datapath_reads() -> None:
    code = kernel(
        [
            op("mov.b32", r(1), 1),  # read by the adder, then overwritten
            op("add.s32", r(1), r(1), 1),  # read by the adder and the SFU
            op("add.s32", r(4), r(1), 1),
            op("sin.approx.f32", r(5), r(1)),
        ]
    )
    assert shared_reader_flags(program_table(code), code).tolist() == [0, 1, 0, 0]


def test_backward_branches_end_their_blocks() -> None:
    code = kernel(
        [op("mov.b32", r(1), 1)], [op("mov.b32", r(2), 1), op("mov.b32", r(3), 1)], [op("mov.b32", r(4), 1)],
        successors=((1,), (1, 2), ()),
    )  # fmt: skip
    assert backward_flags(code).tolist() == [0, 0, 1, 0]


def test_a_guarded_write_is_partial_where_the_other_lanes_need_the_old_value() -> None:
    needed = kernel([op("mov.b32", r(1), 1), when(p(0), op("mov.b32", r(1), 2)), op("mov.b32", r(2), r(1))])
    assert partial_flags(needed).tolist() == [0, 1, 0]
    same_guard = kernel([when(p(0), op("mov.b32", r(1), 2)), when(p(0), op("st.shared.u32", at(r(4)), r(1)))])
    assert partial_flags(same_guard).tolist() == [0]


def test_a_write_on_one_side_of_a_branch_is_partial_where_the_other_side_keeps_its_value() -> None:
    code = kernel(
        [op("mov.b32", r(1), 1)],
        [op("mov.b32", r(1), 2), op("mov.b32", r(3), r(1))],
        [op("mov.b32", r(2), 3)],
        [op("add.s32", r(4), r(1), 1)],
        successors=((1, 2), (3,), (3,), ()),
    )
    assert partial_flags(code).tolist() == [
        0,
        1,
        0,
        0,
        0,
    ]  # lanes of the other side keep R1
