"""Webs of definitions and reads."""

from __future__ import annotations

from hypothesis import given
from tests.analysis import naive
from tests.analysis.programs import NAMES, PREDICATES, add, kernel, programs, setp

from warpreg.analysis.accesses import accesses
from warpreg.analysis.values import values
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register
from warpreg.ir.types import B32, B64


def webs(program: Kernel, name: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    cell = accesses(program).cells.named(name)
    return [(v.definitions, v.reads) for v in values(program).values if v.cell == cell]


def test_a_register_used_twice_over_is_two_values() -> None:
    program = kernel([[]], {0: [add("a"), add("b", "a"), add("a"), add("b", "a", "a")]})
    assert webs(program, "a") == [((0,), (1,)), ((2,), (3, 3))]


def test_definitions_that_meet_at_a_read_are_one_value() -> None:
    """``a`` from both sides of a diamond: pcs 1 and 3 define what pc 5 reads."""
    program = kernel([[1, 2], [3], [3], []], {1: [add("a")], 2: [add("a")], 3: [add("b", "a")]})
    assert webs(program, "a") == [((1, 3), (5,))]


def test_a_loop_variable_is_one_value() -> None:
    program = kernel([[1], [1, 2], []], {0: [add("i")], 1: [add("i", "i")]})
    assert webs(program, "i") == [((0, 2), (2,))]


def test_a_guarded_definition_joins_the_value_before_it() -> None:
    program = kernel([[]], {0: [add("a"), add("a", when="p"), add("b", "a")]})
    assert webs(program, "a") == [((0, 1), (2,))]


def test_a_guarded_definition_and_its_reads_under_the_same_guard_are_a_value_of_their_own() -> None:
    body = [add("a"), add("b", "a"), add("a", when="p"), add("b", "a", when="p")]
    assert webs(kernel([[]], {0: body}), "a") == [((0,), (1,)), ((2,), (3,))]


def test_a_guarded_definition_joins_the_value_before_it_if_its_predicate_is_written_before_a_read() -> None:
    body = [add("a"), add("b", "a"), add("a", when="p"), setp("p", "c"), add("b", "a", when="p")]
    assert webs(kernel([[]], {0: body}), "a") == [((0, 2), (1, 4))]


def test_a_guarded_predicate_joins_the_value_before_it() -> None:
    body = [setp("p", "c"), setp("p", "d", when="p"), add("a", when="p")]
    assert webs(kernel([[]], {0: body}), "p") == [((0, 1), (1, 2))]


def test_a_value_that_may_be_undefined_is_marked() -> None:
    program = kernel([[1, 2], [2], []], {1: [add("a")], 2: [add("b", "a")]})
    assert [v.undefined for v in values(program).values if v.definitions == (1,)] == [True]


def test_a_definition_that_nothing_reads_is_a_value_without_reads() -> None:
    assert webs(kernel([[]], {0: [add("a")]}), "a") == [((0,), ())]


def test_the_words_of_a_pair_are_values_apart() -> None:
    body = [
        Instruction("mov", ("b64",), (Register("R4", B64, 4), Register("R2", B64, 2))),
        Instruction("mov", ("b32",), (Register("R5", B32, 5), Register("R0", B32, 0))),
        Instruction("mov", ("b64",), (Register("R6", B64, 6), Register("R4", B64, 4))),
    ]
    program = kernel([[]], {0: body})
    assert webs(program, "R4") == [((0,), (2,))]
    assert webs(program, "R5") == [((0,), ()), ((1,), (2,))]


@given(programs())
def test_webs_are_the_connected_components_of_definitions_and_their_reads(program: Kernel) -> None:
    points = [(b.index, i) for b in program.blocks for i in range(len(b.instructions))]
    pc_of = {point: pc for pc, point in enumerate(points)}
    found = values(program)
    names = accesses(program).cells.names
    for name in (*NAMES, *PREDICATES):
        webs = [v for v in found.values if v.definitions and names[v.cell] == name]
        wanted = sorted(_components(program, name, points, pc_of))
        assert sorted((v.definitions, tuple(sorted(set(v.reads)))) for v in webs) == wanted


def _components(
    program: Kernel, name: str, points: list[naive.Point], pc_of: dict[naive.Point, int]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Definitions joined while they share a read, with the entry as one more that gives every register a value."""
    groups: list[tuple[set[int], set[int]]] = []
    for point in [None, *points]:
        if point and name not in {r.name for r in naive.instruction_at(program, point).defined}:
            continue
        definitions = {pc_of[point]} if point else set()
        reads = {pc_of[p] for p in naive.reads_reached(program, point, name)}
        for other in [g for g in groups if g[1] & reads]:
            groups.remove(other)
            definitions |= other[0]
            reads |= other[1]
        groups.append((definitions, reads))
    return [(tuple(sorted(d)), tuple(sorted(r))) for d, r in groups if d]
