"""Register intervals on control-flow graphs by hand (LTRF): pieces, the two passes, and what always holds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import kernel, op, r
from tests.timing.random_runs import arithmetic

from warpreg.analysis.cfg import control_flow
from warpreg.designs.parts.intervals.formation import Intervals, intervals_of
from warpreg.designs.parts.intervals.pieces import Piece, Registers, piece_graph
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel


def uses(*registers: int) -> list[Instruction]:
    """Code that accesses these registers, one an instruction."""
    return [op("mov.b32", r(register), 1) for register in registers]


def sets(kernel_: Kernel, bound: int, merges: bool = True) -> list[tuple[set[int], set[int]]]:
    """By interval, its blocks and its working set."""
    found = intervals_of(kernel_, bound, merges)
    blocks = [set[int]() for _ in found.working_sets]
    for piece, interval in zip(found.graph.pieces, found.of_piece, strict=True):
        blocks[interval].add(piece.block)
    return [(own, set(registers)) for own, registers in zip(blocks, found.working_sets, strict=True)]


def test_a_block_whose_registers_do_not_fit_is_cut() -> None:
    """Three registers: R0, R1, R2 | R3, R1, R4 | R5."""
    graph = piece_graph(kernel(uses(0, 1, 2, 3, 1, 4, 5)), 3)
    assert graph.pieces == (
        Piece(0, 0, 3, Registers({0, 1, 2})),
        Piece(0, 3, 6, Registers({1, 3, 4})),
        Piece(0, 6, 7, Registers({5})),
    )
    assert graph.successors == ((1,), (2,), ())


def test_an_instruction_with_more_registers_than_fit_accesses_the_main_register_file() -> None:
    code = kernel([*uses(0), op("mad.lo.s32", r(1), r(2), r(3), r(4)), *uses(0)])
    pieces = piece_graph(code, 3).pieces
    assert [(one.first, one.end, set(one.registers), one.bypasses) for one in pieces] == [
        (0, 1, {0}, False),
        (1, 2, set(), True),
        (2, 3, {0}, False),
    ]
    assert len(intervals_of(code, 3).working_sets) == 3


DIAMOND = ((1, 2), (3,), (3,), ())


def test_a_diamond_is_one_interval_if_it_fits() -> None:
    code = kernel(uses(0), uses(1), uses(2), uses(3), successors=DIAMOND)
    assert sets(code, 4) == [({0, 1, 2, 3}, {0, 1, 2, 3})]


def test_what_does_not_fit_begins_intervals_of_its_own() -> None:
    """Two registers: block 0 takes block 1, so block 2 is a header; block 3 has predecessors in both intervals."""
    code = kernel(uses(0), uses(1), uses(2), uses(3), successors=DIAMOND)
    assert sets(code, 2) == [({0, 1}, {0, 1}), ({2}, {2}), ({3}, {3})]


LOOP = ((1,), (2,), (1, 3), ())
"""0 -> 1 -> 2 -> 1, 3."""


def test_pass_1_ends_at_a_loop_and_pass_2_merges_it() -> None:
    """Block 1 is entered from block 0 and from block 2, so pass 1 cannot add it to block 0: it is a header, and takes
    2 and 3.  In the graph of the intervals its back edge is gone, so pass 2 adds it.
    """
    code = kernel(uses(0), uses(1), uses(2), uses(3), successors=LOOP)
    assert sets(code, 4, merges=False) == [({0}, {0}), ({1, 2, 3}, {1, 2, 3})]
    assert sets(code, 4) == [({0, 1, 2, 3}, {0, 1, 2, 3})]


def test_a_loop_that_fits_stays_whole_when_the_code_around_it_does_not() -> None:
    code = kernel(uses(0, 1), uses(2), uses(3), uses(4, 5), successors=LOOP)
    assert sets(code, 2) == [({0}, {0, 1}), ({1, 2}, {2, 3}), ({3}, {4, 5})]


def test_nested_loops_merge_from_the_inside_out() -> None:
    """0 -> 1 -> 2 -> 2, 3 -> 1, 4: pass 1 has {0}, {1}, {2, 3, 4}; then 1 takes the inner loop, then 0 all."""
    code = kernel(uses(0), uses(1), uses(2), uses(3), uses(4), successors=((1,), (2,), (2, 3), (1, 4), ()))
    assert sets(code, 5, merges=False) == [({0}, {0}), ({1}, {1}), ({2, 3, 4}, {2, 3, 4})]
    assert sets(code, 5) == [({0, 1, 2, 3, 4}, {0, 1, 2, 3, 4})]


def test_a_region_with_two_entries_is_never_merged_into_one_of_them() -> None:
    """0 -> 1, 2; 1 <-> 2: neither side dominates the other, so 1 and 2 join only through 0."""
    code = kernel(uses(0), uses(1), uses(2), successors=((1, 2), (2,), (1,)))
    assert sets(code, 2) == [({0}, {0}), ({1}, {1}), ({2}, {2})]


def test_blocks_that_nothing_reaches_are_intervals_too() -> None:
    code = kernel(uses(0), uses(1), successors=((), ()))
    assert sets(code, 4) == [({0}, {0}), ({1}, {1})]


blocks = st.lists(st.lists(arithmetic, max_size=6), min_size=1, max_size=7)


@settings(max_examples=60, deadline=None)
@given(blocks, st.integers(4, 12), st.booleans(), st.data())
def test_intervals_have_one_entry_and_fit(
    bodies: list[list[Instruction]], bound: int, merges: bool, data: st.DataObject
) -> None:
    """Every pc has an interval, no set is larger than the bound, and only the header is entered from outside."""
    numbers = st.integers(0, len(bodies) - 1)
    follow = tuple(tuple(data.draw(st.lists(numbers, max_size=2, unique=True))) for _ in bodies)
    code = kernel(*bodies, successors=follow)
    found = intervals_of(code, bound, merges)
    assert len(found.of_pc()) == code.instruction_count
    assert all(len(registers) <= bound for registers in found.working_sets)
    assert all(piece.registers <= found.working_sets[found.of_piece[i]] for i, piece in enumerate(found.graph.pieces))
    for header, entered in entries(found).items():
        assert len(entered) <= 1, header
    assert control_flow(code).successors == tuple(tuple(dict.fromkeys(one)) for one in follow)


def entries(found: Intervals) -> dict[int, set[int]]:
    """By interval, the pieces that are entered from outside."""
    entered: dict[int, set[int]] = {interval: set() for interval in found.of_piece}
    entered[found.of_piece[0]].add(0)
    for piece, following in enumerate(found.graph.successors):
        for other in following:
            if found.of_piece[piece] != found.of_piece[other]:
                entered[found.of_piece[other]].add(other)
    return entered
