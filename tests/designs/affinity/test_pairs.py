"""CORF's exclusive pairs (thesis §2.4.1, §2.4.2, Figure 2.5) and the instructions that carry them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpreg.designs.parts.affinity.metadata import (
    alignment_instructions,
    pair_instructions,
    pairs_per_instruction,
)
from warpreg.designs.parts.affinity.pairs import NO_BUDDY, buddies, exclusive_pairs

graphs = st.dictionaries(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda edge: edge[0] < edge[1]),
    st.integers(1, 20).map(float),
    max_size=20,
)


@pytest.mark.parametrize("other", [1.0, 5.0, 9.0, 20.0])
def test_figure_2_5(other: float) -> None:
    """R1 is read 8 times with R2, 10 times with R3 and twice with R4; the pairs are (R1, R3) and (R2, R4).

    The number of reads of R2 with R4 is only in the picture.  Below 8, that edge is removed as well, because R2 still
    has the edge to R1; then R2 and R4 have lost all their edges, and it is restored.  Above 8, (R1, R2) goes first.
    """
    graph = {(1, 2): 8.0, (1, 3): 10.0, (1, 4): 2.0, (2, 4): other}
    assert sorted(exclusive_pairs(graph)) == [(1, 3), (2, 4)]


def test_of_edges_of_equal_weight_that_of_the_lower_registers_stays() -> None:
    assert exclusive_pairs({(1, 2): 1.0, (2, 3): 1.0, (3, 4): 1.0, (4, 5): 1.0}) == [(1, 2), (3, 4)]


@given(graphs)
def test_pairs_are_exclusive_and_no_edge_can_be_added(graph: dict[tuple[int, int], float]) -> None:
    pairs = exclusive_pairs(graph)
    named = Counter(register for pair in pairs for register in pair)
    assert set(pairs) <= set(graph)
    assert set(named.values()) <= {1}
    assert all(named[one] or named[other] for one, other in graph)
    found = buddies(pairs, 10)
    assert {(one, other) for one, other in enumerate(found) if one < other} == set(pairs)
    assert found.count(NO_BUDDY) == 10 - 2 * len(pairs)


def test_metadata_of_pairs() -> None:
    """§2.4.2: 64 bits, 10 of opcode and 4 x 2 x 6 of numbers.  Numbers of 8 bits leave room for 54 // 16 = 3 pairs."""
    assert [pairs_per_instruction(registers) for registers in (1, 63, 64, 65, 128, 255)] == [4, 4, 4, 3, 3, 3]
    assert [pair_instructions(pairs, 32) for pairs in (0, 1, 4, 5, 9)] == [0, 1, 1, 2, 3]


def test_metadata_of_alignments() -> None:
    """Two bits for each register: 27 registers an instruction."""
    assert [alignment_instructions(registers) for registers in (0, 1, 27, 28, 63)] == [0, 1, 1, 2, 3]
