"""Control flow, dominators, post-dominators and loops, against hand-derived graphs and the definitions."""

from __future__ import annotations

from hypothesis import given
from tests.analysis import naive
from tests.analysis.programs import graphs, kernel

from warpreg.analysis.cfg import control_flow
from warpreg.analysis.dominators import dominators, post_dominators
from warpreg.analysis.loops import loops

DIAMOND = [[1, 2], [3], [3], []]
NESTED = [[1], [2, 5], [3], [3, 4], [1], []]
"""1 heads the outer loop 1 2 3 4, 3 is an inner loop of its own."""


def test_predecessors_and_reverse_postorder_of_a_diamond() -> None:
    flow = control_flow(kernel(DIAMOND))
    assert flow.predecessors == ((), (0,), (0,), (1, 2))
    assert flow.reverse_postorder in {(0, 1, 2, 3), (0, 2, 1, 3)}
    assert flow.exits == (3,)


def test_a_branch_with_equal_targets_is_one_edge() -> None:
    flow = control_flow(kernel([[1, 1], []]))
    assert flow.successors == ((1,), ())
    assert flow.predecessors == ((), (0,))


def test_the_branches_of_a_diamond_meet_at_its_end() -> None:
    assert dominators(kernel(DIAMOND)).immediate == (-1, 0, 0, 0)
    assert post_dominators(kernel(DIAMOND)).immediate == (3, 3, 3, -1)


def test_dominators_of_nested_loops() -> None:
    tree = dominators(kernel(NESTED))
    assert tree.immediate == (-1, 0, 1, 2, 3, 1)
    assert tree.dominates(1, 4)
    assert not tree.dominates(4, 1)
    assert tree.dominates(2, 2)
    assert [tree.depth(b) for b in range(6)] == [0, 1, 2, 3, 4, 2]


def test_two_exits_meet_only_at_the_virtual_exit() -> None:
    assert post_dominators(kernel([[1, 2], [], []])).immediate == (-1, -1, -1)


def test_an_infinite_loop_has_post_dominators() -> None:
    """0 -> 1 | 2, where 1 and 3 run for ever: their last block in reverse postorder stands in for an exit."""
    tree = post_dominators(kernel([[1, 2], [3], [], [1]]))
    assert tree.immediate == (-1, 3, -1, -1)


def test_natural_loops_nest() -> None:
    forest = loops(kernel(NESTED))
    assert [(loop.header, sorted(loop.blocks), loop.parent, loop.depth) for loop in forest.loops] == [
        (1, [1, 2, 3, 4], -1, 1),
        (3, [3], 0, 2),
    ]
    assert [forest.depth(b) for b in range(6)] == [0, 1, 1, 2, 1, 0]


def test_back_edges_to_one_header_are_one_loop() -> None:
    forest = loops(kernel([[1], [2, 3], [1, 3], []]))
    assert [(loop.header, loop.latches) for loop in forest.loops] == [(1, (2,))]
    both = loops(kernel([[1], [2, 3], [1], [1, 4], []]))
    assert [(loop.header, loop.latches, sorted(loop.blocks)) for loop in both.loops] == [(1, (2, 3), [1, 2, 3])]


def test_an_irreducible_cycle_is_no_loop() -> None:
    assert loops(kernel([[1, 2], [2], [1]])).loops == ()


@given(graphs())
def test_dominators_follow_their_definition(graph: list[list[int]]) -> None:
    tree = dominators(kernel(graph))
    for above in range(len(graph)):
        for below in range(len(graph)):
            assert tree.dominates(above, below) == naive.dominates(graph, above, below)


@given(graphs())
def test_post_dominators_are_dominators_of_the_reversed_graph(graph: list[list[int]]) -> None:
    """Where every block reaches an exit; node 0 of the reversed graph is the virtual exit."""
    exits = [b for b, targets in enumerate(graph) if not targets]
    if any(not naive.reachable(graph, b).intersection(exits) for b in range(len(graph))):
        return
    backward: list[list[int]] = [[b + 1 for b in exits], *([] for _ in graph)]
    for block, targets in enumerate(graph):
        for target in targets:
            backward[target + 1].append(block + 1)
    tree = post_dominators(kernel(graph))
    for after in range(len(graph)):
        for before in range(len(graph)):
            assert tree.dominates(after, before) == naive.dominates(backward, after + 1, before + 1)


@given(graphs())
def test_every_block_has_a_place_in_the_post_dominator_tree(graph: list[list[int]]) -> None:
    """Following immediate post-dominators always ends at the virtual exit."""
    tree = post_dominators(kernel(graph))
    assert all(tree.depth(block) < len(graph) for block in range(len(graph)))


@given(graphs())
def test_loop_headers_dominate_their_blocks(graph: list[list[int]]) -> None:
    program = kernel(graph)
    tree = dominators(program)
    for loop in loops(program).loops:
        assert all(tree.dominates(loop.header, block) for block in loop.blocks)
        assert all(loop.header in graph[latch] for latch in loop.latches)
