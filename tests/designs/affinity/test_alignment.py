"""CORF++'s alignments (thesis §2.5.1, Figures 2.7, 2.8, 2.10, 2.12): heuristic, bound, optimum, preset numbers."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import kernel, op, pair, r

from warpreg.designs.parts.affinity.alignment import LEFT, RIGHT, alignments, cut_weight, frustrated_edges
from warpreg.designs.parts.affinity.graph import Edge
from warpreg.designs.parts.affinity.odd_cycles import cycle_of, odd_cycles, shortest_odd_cycle
from warpreg.designs.parts.affinity.optimal_alignments import best_alignments
from warpreg.designs.parts.affinity.preset import adjacent_words, numbering, renumbered, side_of

FIGURE_2_8: list[Edge] = [(1, 2), (1, 3), (2, 3), (3, 4), (4, 6), (3, 6), (5, 6), (2, 5)]
CYCLES_OF_FIGURE_2_8 = [(1, 2, 3), (3, 4, 6), (2, 3, 4, 6, 5), (1, 3, 6, 5, 2)]

graphs = st.dictionaries(
    st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda edge: edge[0] < edge[1]),
    st.integers(1, 9).map(float),
    max_size=18,
)


def test_the_odd_cycles_of_figure_2_8() -> None:
    assert set(odd_cycles(dict.fromkeys(FIGURE_2_8, 1.0))) == {cycle_of(cycle) for cycle in CYCLES_OF_FIGURE_2_8}


def test_the_heuristic_on_figure_2_8() -> None:
    """The weights are only in the picture; these are chosen here.  Every edge is on two of the four cycles, so the
    scores are half the weights and the lightest, (1, 3), goes first.  It breaks (1, 2, 3) and (1, 3, 6, 5, 2).  Of the
    other two cycles (3, 4) and (4, 6) are on both, for 5 / 2 and 4 / 2; (3, 6) is on one, for 3.  So (4, 6) goes, and
    no odd cycle is left.
    """
    weights = {(1, 2): 9, (1, 3): 2, (2, 3): 9, (3, 4): 5, (4, 6): 4, (3, 6): 3, (5, 6): 9, (2, 5): 9}
    graph = {edge: float(weight) for edge, weight in weights.items()}
    assert frustrated_edges(graph) == [(1, 3), (4, 6)]
    sides = alignments(graph)
    assert cut_weight(graph, sides) == sum(weights.values()) - 2 - 4
    assert sides == {1: RIGHT, 2: LEFT, 3: RIGHT, 4: LEFT, 5: RIGHT, 6: LEFT}


def test_the_registers_of_figure_2_10() -> None:
    """R1 is read with R2 and R3, R4 with R2 and R3 (also Figure 2.7): R1 and R4 are on one side, R2 and R3 on the
    other.  Which side is left is open; the lowest register of a connected part is right here.
    """
    sides = alignments({(1, 2): 1.0, (1, 3): 1.0, (3, 4): 1.0, (2, 4): 1.0})
    assert sides == {1: RIGHT, 2: LEFT, 3: LEFT, 4: RIGHT}


def test_the_registers_of_figure_2_12() -> None:
    """R2 is read with R3, R4 with R5, R3 with R4; R1 with none.  R2 and R4 are right, R3 and R5 left."""
    assert alignments({(2, 3): 1.0, (4, 5): 1.0, (3, 4): 1.0}) == {2: RIGHT, 3: LEFT, 4: RIGHT, 5: LEFT}


def all_odd_cycles(graph: dict[Edge, float]) -> set[frozenset[Edge]]:
    registers = sorted({register for edge in graph for register in edge})
    found = set()
    for size in range(3, len(registers) + 1, 2):
        for order in itertools.permutations(registers, size):
            if order[0] == min(order) and cycle_of(order) <= set(graph):
                found.add(cycle_of(order))
    return found


small = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda edge: edge[0] < edge[1]), st.just(1.0), max_size=12
)


@settings(max_examples=40, deadline=None)
@given(small)
def test_odd_cycles_are_all_of_them(graph: dict[Edge, float]) -> None:
    found = odd_cycles(graph)
    assert len(found) == len(set(found))
    assert set(found) == all_odd_cycles(graph)


@given(small, st.integers(1, 3), st.integers(0, 30))
def test_bounds_leave_a_cycle_wherever_there_is_one(graph: dict[Edge, float], cycles: int, steps: int) -> None:
    found = odd_cycles(graph, cycles, steps)
    assert set(found) <= set(odd_cycles(graph))
    assert len(found) <= cycles
    assert bool(found) == (shortest_odd_cycle(graph) is not None)


def test_a_ring_is_broken_by_search_alone() -> None:
    """101 registers in a ring: the only odd cycle is found without a path being extended; its lightest edge goes."""
    ring = {(i, i + 1): 2.0 for i in range(100)} | {(0, 100): 1.0}
    assert odd_cycles(ring, most_steps=0) == [frozenset(ring)]
    assert frustrated_edges(ring) == [(0, 100)]


def most_cut(graph: dict[Edge, float]) -> float:
    """By trying all alignments."""
    return max(cut_weight(graph, dict(enumerate(sides))) for sides in itertools.product((RIGHT, LEFT), repeat=8))


@settings(max_examples=40, deadline=None)
@given(graphs)
def test_the_optimum_is_that_of_exhaustive_search_and_bounds_the_heuristic(graph: dict[Edge, float]) -> None:
    best = best_alignments(graph)
    assert best.proven
    assert best.cut == best.bound == most_cut(graph)
    assert cut_weight(graph, alignments(graph)) <= best.cut
    assert 2 * cut_weight(graph, alignments(graph)) >= best.cut


@given(graphs, st.integers(1, 4))
def test_the_heuristic_leaves_two_colours_under_any_bound(graph: dict[Edge, float], cycles: int) -> None:
    """What it keeps is cut; what it removes may be cut all the same."""
    removed = frustrated_edges(graph, cycles)
    kept = {edge: weight for edge, weight in graph.items() if edge not in removed}
    sides = alignments(graph, cycles)
    assert cut_weight(kept, sides) == sum(kept.values())


def test_the_heuristic_may_miss_the_optimum() -> None:
    """Two triangles share the edge (0, 3) of weight 9, for a score of 9 / 2.  The lightest edge has a score of 4 and
    goes first.  Of the other triangle (0, 1) goes, for 6: 10 are lost, and 9 would have been enough.
    """
    graph = {(0, 1): 6.0, (0, 2): 4.0, (0, 3): 9.0, (1, 3): 6.0, (2, 3): 6.0}
    assert frustrated_edges(graph) == [(0, 2), (0, 1)]
    assert cut_weight(graph, alignments(graph)) == 31 - 10
    assert best_alignments(graph).cut == 31 - 9


@pytest.mark.parametrize("registers", [8, 9])
@settings(max_examples=40, deadline=None)
@given(graphs, st.frozensets(st.integers(0, 3).map(lambda i: 2 * i)))
def test_preset_numbers_are_a_permutation_that_keeps_wide_operands(
    registers: int, graph: dict[Edge, float], wide: frozenset[int]
) -> None:
    fixed = frozenset(word for low in wide for word in (low, low + 1))
    numbers = numbering(graph, fixed, registers)
    assert sorted(numbers) == list(range(registers))
    assert all(numbers[word] == word for word in fixed)


def test_preset_numbers_follow_the_colours() -> None:
    """R0 and R2 are both even and are read together, so one of them gets an odd number.  R4.64 keeps its numbers, and
    R6 is read with R4 most often, so it gets an odd one too.
    """
    code = kernel(
        [
            op("add.s32", r(3), r(0), r(2)),
            op("shl.b64", pair(8), pair(4), r(6)),
            op("add.s32", r(7), r(1), 1),
        ]
    )
    fixed = adjacent_words(code)
    assert fixed == {4, 5, 8, 9}
    graph = {(0, 2): 1.0, (4, 6): 3.0, (4, 5): 3.0, (5, 6): 1.0}
    numbers = numbering(graph, fixed, 10)
    assert [side_of(numbers[register]) for register in (0, 2, 6)] == [RIGHT, LEFT, LEFT]
    text = [str(one) for one in renumbered(code, numbers).instructions()]
    assert text[1] == f"shl.b64 R8.64, R4.64, R{numbers[6]}"
    assert text[0] == f"add.s32 R{numbers[3]}, R{numbers[0]}, R{numbers[2]}"
