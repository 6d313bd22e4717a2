"""Paths of kernels with code on edges: the old path, expanded, is what the executor records of the new kernel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, p, r, when
from tests.differential.comparing import run_on_device
from tests.reference.generator import KERNEL, Case, generate
from tests.replay.paths import FULL, Recorded

from warpreg.codegen.verify import verify
from warpreg.ir.edges import EdgeError, on_edges
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Label, Register
from warpreg.ir.types import B32
from warpreg.simt import Device, Launch, Record
from warpreg.trace import TraceError, visits
from warpreg.trace.expanded_path import expanded_path
from warpreg.trace.path import RecordedPath

R0 = Register("R0", B32, 0)
NEUTRAL = Instruction("mov", ("b32",), (R0, R0))
Steps = dict[tuple[int, int], list[tuple[int, int]]]


def steps(path: RecordedPath) -> Steps:
    """By thread block and warp, the block and the mask of each visit."""
    found: Steps = {}
    for one in visits(path.path_chunks()):
        found.setdefault((one.thread_block, one.warp), []).append((one.block, one.mask))
    return found


def edges(kernel: Kernel) -> list[tuple[int, int]]:
    return sorted({(block.index, successor) for block in kernel.blocks for successor in block.successors})


def run(case: Case, chosen: Iterable[int] | None = None) -> tuple[Launch, Kernel, bytes]:
    """The launch of a case, with code on the edges of these numbers; the kernel before; and what it has written."""
    device = Device(case.text, record=Record(path=True))
    before = device.native(KERNEL).kernel
    if chosen is not None:
        found = edges(before)
        code = {found[number % len(found)]: [NEUTRAL] * (1 + number % 3) for number in chosen}
        device.install(on_edges(before, code))
    outcome = run_on_device(case, device)
    return device.launches[-1], before, outcome.rows + outcome.atomics


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 400), st.sets(st.integers(0, 200), min_size=1, max_size=40))
@example(395, {26})  # the way of a table that had none
def test_the_expanded_path_is_the_one_that_the_executor_records(seed: int, chosen: set[int]) -> None:
    case = generate(seed, statements=12)
    plain, before, wanted = run(case)
    changed, _, found = run(case, chosen)
    assert found == wanted
    assert plain.trace is not None
    assert changed.trace is not None
    expanded = expanded_path(plain.trace, before, changed.kernel, "interpreted")
    assert steps(expanded) == steps(changed.trace)


LOW, HIGH = 0x0000FFFF, 0xFFFF0000


def branch(block: int) -> Instruction:
    return when(p(0), Instruction("bra", (), (Label(f"b{block}"),)))


ADD = op("add.s32", r(1), r(1), 1)
IF_THEN = kernel([branch(2)], [ADD], [op("exit")], successors=((2, 1), (2,), ()))
"""Lanes that take the branch skip block 1."""
IF_FALLS = kernel([branch(1)], [ADD], [op("exit")], successors=((1, 2), (2,), ()))
"""Lanes that take the branch execute block 1, as where its code is out of line."""
TABLE = kernel([Instruction("brx", (), (r(1),))], [ADD], [ADD], [op("exit")], successors=((3, 1, 2), (3,), (3,), ()))
LOOP = kernel([ADD], [branch(1)], [op("exit")], successors=((1,), (1, 2), ()))


def path(*seen: tuple[int, int]) -> Recorded:
    recorded = Recorded().thread_block(0).warp(0)
    for block, mask in seen:
        recorded.visits(block, mask=mask)
    return recorded


def expanded(code: Kernel, edge: tuple[int, int], *seen: tuple[int, int]) -> list[tuple[int, int]]:
    """The visits of a warp with code on an edge, which is the last block."""
    found = expanded_path(path(*seen), code, on_edges(code, {edge: [ADD]}), "interpreted")
    return steps(found)[0, 0]


def test_a_taken_edge_waits_for_the_lanes_that_fall_through() -> None:
    """The lanes that fall through go first; those that take the branch visit 3 before all meet in 2."""
    found = expanded(IF_THEN, (0, 2), (0, FULL), (1, LOW), (2, FULL))
    assert found == [(0, FULL), (1, LOW), (3, HIGH), (2, FULL)]


def test_code_on_one_way_of_a_table_does_not_change_the_order_of_the_others() -> None:
    """Lane 20 goes to block 1, lane 24 to block 2, the others meet in 3; the lowest highest lane goes first."""
    one, other, rest = 1 << 20, 1 << 24, FULL & ~(1 << 20 | 1 << 24)
    seen = (0, FULL), (1, one), (2, other), (3, FULL)
    assert expanded(TABLE, (0, 3), *seen) == [(0, FULL), (1, one), (2, other), (4, rest), (3, FULL)]
    assert expanded(TABLE, (0, 2), *seen) == [(0, FULL), (1, one), (4, other), (2, other), (3, FULL)]


def test_an_edge_that_falls_through_to_the_meeting_point_comes_first() -> None:
    found = expanded(IF_FALLS, (0, 2), (0, FULL), (1, LOW), (2, FULL))
    assert found == [(0, FULL), (3, HIGH), (1, LOW), (2, FULL)]


@pytest.mark.parametrize(("block", "there"), [(1, []), (2, [(3, FULL)])])
def test_a_branch_that_does_not_diverge(block: int, there: list[tuple[int, int]]) -> None:
    seen = [(1, FULL)] if block == 1 else []
    assert expanded(IF_THEN, (0, 2), (0, FULL), *seen, (2, FULL)) == [(0, FULL), *there, *seen, (2, FULL)]


def test_all_lanes_meet_in_code_on_the_only_exit_of_a_loop() -> None:
    """The high lanes leave after the first iteration and wait in 3, which every lane passes."""
    found = expanded(LOOP, (1, 2), (0, FULL), (1, FULL), (1, LOW), (2, FULL))
    assert found == [(0, FULL), (1, FULL), (1, LOW), (3, FULL), (2, FULL)]


def test_code_on_the_way_back_of_a_loop() -> None:
    found = expanded(LOOP, (1, 1), (0, FULL), (1, FULL), (1, LOW), (2, FULL))
    assert found == [(0, FULL), (1, FULL), (3, LOW), (1, LOW), (2, FULL)]


def test_warps_and_thread_blocks_are_kept_apart() -> None:
    recorded = Recorded()
    for block in (4, 5):
        recorded.thread_block(block).warp(0).visits(0, mask=FULL).warp(1).visits(0, mask=LOW).warp(0).cut()
        recorded.visits(1, mask=LOW).visits(2, mask=FULL).warp(1).visits(2, mask=LOW)
    found = steps(expanded_path(recorded, IF_THEN, on_edges(IF_THEN, {(0, 2): [ADD]}), "interpreted"))
    first, second = [(0, FULL), (1, LOW), (3, HIGH), (2, FULL)], [(0, LOW), (3, LOW), (2, LOW)]
    assert found == {(4, 0): first, (4, 1): second, (5, 0): first, (5, 1): second}


def test_a_path_is_expanded_by_whole_thread_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """With pieces as short as can be and a cut after each block of code, the visits are those of one piece."""
    recorded = Recorded()
    for block in range(3):
        recorded.thread_block(block)
        for number, mask in enumerate((FULL, LOW, FULL)):
            recorded.warp(0).visits(number, mask=mask).cut()
    code = on_edges(IF_THEN, {(0, 2): [ADD]})
    whole = steps(expanded_path(recorded, IF_THEN, code, "interpreted"))
    monkeypatch.setattr("warpreg.trace.expanded_path.PIECE_WORDS", 1)
    for mode in ("interpreted", "compiled"):
        assert steps(expanded_path(recorded, IF_THEN, code, mode)) == whole
    assert whole[2, 0] == [(0, FULL), (1, LOW), (3, HIGH), (2, FULL)]


def test_two_rewrites_put_code_on_one_way() -> None:
    """The second one sees the new block 3, and puts 4 between it and 2."""
    twice = on_edges(on_edges(IF_THEN, {(0, 2): [ADD]}), {(3, 2): [ADD]})
    found = expanded_path(path((0, FULL), (1, LOW), (2, FULL)), IF_THEN, twice, "interpreted")
    assert steps(found)[0, 0] == [(0, FULL), (1, LOW), (3, HIGH), (4, HIGH), (2, FULL)]


def test_the_lanes_of_a_hardware_trace_pass_before_they_go_on() -> None:
    """Hardware does not meet where the executor does: block 1 may come first, and 2 twice."""
    code = kernel([op("BRA")], [op("IADD3", r(1), r(1))], [op("EXIT")], successors=((2, 1), (2,), ()))
    seen = (0, FULL), (1, LOW), (2, LOW), (2, HIGH)
    assert expanded(code, (0, 2), *seen) == [(0, FULL), (1, LOW), (2, LOW), (3, HIGH), (2, HIGH)]
    assert expanded(code, (0, 2), (0, FULL), (1, LOW), (2, FULL)) == [(0, FULL), (1, LOW), (3, HIGH), (2, FULL)]


def test_only_a_taken_edge_needs_a_branch() -> None:
    taken, falls = (on_edges(IF_THEN, {edge: [ADD]}).blocks[3] for edge in ((0, 2), (0, 1)))
    assert [str(i) for i in taken.instructions] == [str(ADD), "bra b2"]
    assert falls.instructions == (ADD,)
    verify(on_edges(IF_THEN, {(0, 2): [ADD], (0, 1): [ADD]}))


def test_a_rewrite_without_code_on_edges_costs_nothing() -> None:
    recorded = path((0, FULL))
    assert on_edges(IF_THEN, {(0, 2): []}) is IF_THEN
    assert expanded_path(recorded, IF_THEN, replace(IF_THEN)) is recorded


@pytest.mark.parametrize(
    ("edge", "instruction", "complaint"),
    [
        ((1, 0), ADD, "no edge leads from block 1 to block 0"),
        ((7, 0), ADD, "no edge leads from block 7"),
        ((0, 2), op("exit"), "'exit' cannot be on an edge: it ends a block"),
        ((0, 2), op("bar.sync", 0), "it ends a block"),
        ((0, 2), op("st.shared.u32", at(r(0)), r(1)), "it accesses memory"),
    ],
)
def test_what_cannot_be_on_an_edge(edge: tuple[int, int], instruction: Instruction, complaint: str) -> None:
    with pytest.raises(EdgeError, match=complaint):
        on_edges(IF_THEN, {edge: [instruction]})


@pytest.mark.parametrize("seen", [[(1, FULL)], [(0, FULL), (0, FULL)], [(0, FULL), (1, FULL), (1, FULL)], [(9, FULL)]])
def test_the_path_of_another_kernel(seen: list[tuple[int, int]]) -> None:
    with pytest.raises(TraceError, match="the path is not of this kernel"):
        expanded(IF_THEN, (0, 2), *seen)
