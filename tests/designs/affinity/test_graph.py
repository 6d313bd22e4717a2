"""The register affinity graph (thesis §2.4.2)."""

from __future__ import annotations

from tests.designs.kernels import at, kernel, op, p, pair, r, when

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs import program_table
from warpreg.designs.parts.affinity.frequencies import kernel_graph
from warpreg.designs.parts.affinity.graph import UNKNOWN_TRIPS, affinity_graph, components
from warpreg.ir.instruction import Instruction


def add(*sources: int) -> Instruction:
    return op("add.s32", r(9), r(sources[0]), r(sources[1]))


def test_an_edge_is_the_frequency_of_the_instructions_that_read_both() -> None:
    """Blocks 0 and 3 run once, block 1 runs 8 times and block 2 80 times."""
    code = kernel([add(0, 1)], [add(0, 1), add(1, 2)], [add(2, 3)], [add(0, 3)])
    graph = affinity_graph(program_table(code), [1, 8, 80, 1])
    assert graph == {(0, 1): 1 + 8, (1, 2): 8, (2, 3): 80, (0, 3): 1}


def test_a_loop_without_a_constant_count_has_a_fixed_weight() -> None:
    """The loop of block 1 ends by a value from memory; R3 is read once before it (§2.4.2)."""
    code = kernel(
        [add(0, 3)],
        [add(0, 1), op("ld.global.u32", r(2), at(pair(4))), op("setp.lt.s32", p(0), r(2), 5), when(p(0), op("bra"))],
        [add(1, 2)],
        successors=((1,), (1, 2), ()),
    )
    graph = kernel_graph(Analysis(code), "static", UNKNOWN_TRIPS)
    assert graph == {(0, 3): 1, (0, 1): UNKNOWN_TRIPS, (4, 5): UNKNOWN_TRIPS, (1, 2): 1}


def test_a_profile_gives_the_frequencies_as_well() -> None:
    """The second block never runs, so its pair has no edge."""
    code = kernel([add(0, 1)], [add(1, 2)])
    assert affinity_graph(program_table(code), [5, 0]) == {(0, 1): 5}


def test_words_of_a_wide_operand_are_registers_and_a_register_makes_no_pair_with_itself() -> None:
    """R2.64 and R4 are three warp-registers: three pairs.  The addition of R5 to itself has none."""
    code = kernel([op("shl.b64", pair(6), pair(2), r(4)), add(5, 5)])
    assert affinity_graph(program_table(code), [1]) == {(2, 3): 1, (2, 4): 1, (3, 4): 1}


def test_components_have_no_common_register() -> None:
    graph = {(0, 5): 1.0, (1, 2): 2.0, (2, 5): 3.0, (3, 4): 4.0}
    assert components(graph) == [{(0, 5): 1.0, (1, 2): 2.0, (2, 5): 3.0}, {(3, 4): 4.0}]
