"""Liveness, pressure and singly assigned registers."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.analysis import naive
from tests.analysis.programs import NAMES, PREDICATES, add, kernel, programs, setp

from warpreg.analysis.accesses import accesses
from warpreg.analysis.definitions import single_definitions
from warpreg.analysis.liveness import exposed_at_entry, liveness
from warpreg.analysis.pressure import pressure
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register
from warpreg.ir.types import B32, B64


def names_live_in(program: Kernel, block: int) -> list[str]:
    live = liveness(program)
    return live.names(live.live_in[block])


def test_a_value_lives_from_its_definition_to_its_last_read() -> None:
    live = liveness(kernel([[]], {0: [add("a"), add("b", "a"), add("c", "a", "b")]}))
    assert [live.names(bits) for bits in live.after(0)] == [["a"], ["a", "b"], [], []]


def test_a_value_read_in_the_next_iteration_lives_round_the_loop() -> None:
    loop = kernel([[1], [1, 2], []], {0: [add("i")], 1: [add("i", "i")], 2: [add("b", "i")]})
    assert names_live_in(loop, 1) == ["flag", "i"]
    assert names_live_in(loop, 2) == ["i"]


def test_a_guarded_definition_does_not_end_the_old_value() -> None:
    """Threads where the guard is false still need the old ``a``."""
    assert names_live_in(kernel([[]], {0: [add("a", when="p"), add("b", "a")]}), 0) == ["a", "p"]
    assert names_live_in(kernel([[]], {0: [add("a"), add("b", "a")]}), 0) == []


@pytest.mark.parametrize(
    ("definition", "between", "read"),
    [
        (add("a", when="p"), [], add("b", "a", when="p")),
        (add("a", when="!p"), [], add("b", "a", when="!p")),
        (add("a", when="p"), [setp("flag", "c")], add("b", "a", when="p")),
        (add("a", when="p"), [add("a", "a", when="p")], add("b", "a", when="p")),
    ],
    ids=["same guard", "same negated guard", "another predicate is written", "two definitions"],
)
def test_a_guarded_definition_ends_a_value_that_is_read_under_the_same_guard(
    definition: Instruction, between: list[Instruction], read: Instruction
) -> None:
    live_in = names_live_in(kernel([[]], {0: [definition, *between, read]}), 0)
    assert "a" not in live_in
    assert "p" in live_in


@pytest.mark.parametrize(
    "between",
    [
        [setp("p", "c")],
        [setp("p", "c", when="p")],
        [setp("p", "c", when="!p")],
        [setp("p", "c", when="flag")],
        [setp("flag|p", "c")],
        [setp("p|flag", "c")],
        [setp("p", "c"), add("d", "d"), setp("flag", "c")],
        [add("b", "a", when="p"), setp("p", "c")],
    ],
    ids=["written", "own guard", "opposite guard", "other guard", "second", "first", "early", "read before"],
)
@pytest.mark.parametrize("guard", ["p", "!p"])
def test_a_guard_whose_predicate_is_written_is_another_guard(between: list[Instruction], guard: str) -> None:
    """``@p a; setp p; @p b = a``: a thread may read a without having written it, so that the old value is live."""
    body = [add("a", when=guard), *between, add("b", "a", when=guard)]
    assert "a" in names_live_in(kernel([[]], {0: body}), 0)


@pytest.mark.parametrize("other", ["", "!p", "flag"])
@pytest.mark.parametrize("comes_first", [True, False])
def test_another_reader_under_no_guard_or_another_one_needs_the_old_value(other: str, comes_first: bool) -> None:
    reads = [add("b", "a", when=other), add("c", "a", when="p")]
    body = [add("a", when="p"), *(reads if comes_first else reads[::-1])]
    assert "a" in names_live_in(kernel([[]], {0: body}), 0)


def test_a_reader_in_another_block_needs_the_old_value() -> None:
    body = {0: [add("a", when="p"), add("b", "a", when="p")], 1: [add("c", "a", when="p")]}
    assert "a" in names_live_in(kernel([[1], []], body), 0)


def test_a_guarded_definition_counts_as_one_for_what_is_read_undefined() -> None:
    """Threads for which p does not hold read a undefined; compilers emit that where they do not use it."""
    program = kernel([[]], {0: [add("a", when="p"), add("b", "a"), add("c", "d")]})
    assert liveness(program).names(exposed_at_entry(program)) == ["d", "p"]


def test_a_predicate_written_outside_definition_and_reads_does_not_matter() -> None:
    body = [setp("p", "c"), add("a", when="p"), add("b", "a", when="p"), setp("p", "c"), add("d", when="p")]
    assert "a" not in names_live_in(kernel([[]], {0: body}), 0)


def test_opposite_guards_that_cover_a_register_do_not_end_its_old_value() -> None:
    """Every thread writes a, yet the analysis considers guards one by one."""
    body = [add("a", when="p"), add("a", when="!p"), add("b", "a")]
    assert "a" in names_live_in(kernel([[]], {0: body}), 0)


def test_the_two_words_of_a_pair_live_apart() -> None:
    """R4.64 is written; R5 alone is read after R4 is dead."""
    pair, high = Register("R4", B64, 4), Register("R5", B32, 5)
    body = [
        Instruction("mov", ("b64",), (pair, Register("R2", B64, 2))),
        Instruction("add", ("s32",), (Register("R0", B32, 0), Register("R4", B32, 4), high)),
        Instruction("add", ("s32",), (Register("R1", B32, 1), high, high)),
    ]
    live = liveness(kernel([[]], {0: body}))
    assert [live.names(bits) for bits in live.after(0)][:3] == [["R4", "R5"], ["R5"], []]


def test_pressure_counts_words() -> None:
    """A 64-bit and a 32-bit value together: three words; the predicate counts for nothing."""
    wide, narrow = Register("w", B64), Register("n", B32)
    body = [
        Instruction("mov", ("u64",), (wide, wide)),
        Instruction("cvt", ("u32", "u64"), (narrow, wide)),
        Instruction("st", ("b64",), (narrow, wide)),
    ]
    program = kernel([[]], {0: body})
    assert pressure(program).highest == (3,)
    assert pressure(program).at_start == (2,)


def test_what_is_written_once_and_sure_is_single() -> None:
    body = [add("a"), add("b", "a"), add("b", "b"), add("c", "a", when="p"), add("d", "d", "c")]
    single = single_definitions(kernel([[]], {0: body}))
    assert set(single.defining) == {"a"}
    assert single.reads["a"] == 2


def test_what_is_written_and_read_under_one_guard_is_not_single() -> None:
    """Nothing needs a value of c from before, yet c is the sum only where p holds."""
    single = single_definitions(kernel([[]], {0: [add("a"), add("c", "a", when="p"), add("b", "c", when="p")]}))
    assert set(single.defining) == {"a"}


def test_analyses_are_computed_once() -> None:
    program = kernel([[]])
    assert liveness(program) is liveness(program)
    assert accesses(program) is accesses(program)


def test_a_guarded_write_merges_with_an_old_value_that_is_needed() -> None:
    """The first write of a is read by threads for which p does not hold, the second only under its own guard."""
    body = [add("a", when="p"), add("b", "a"), add("a", when="p"), add("b", "a", when="p"), add("a")]
    live = liveness(kernel([[]], {0: body}))
    assert [sorted(live.accesses.cells.names[c] for c in cells) for cells in live.merged(0)] == [
        ["a"],
        [],
        [],
        [],
        [],
        [],
    ]


@given(programs())
def test_a_cell_is_live_exactly_where_a_read_can_be_reached(program: Kernel) -> None:
    live = liveness(program)
    for block in program.blocks:
        for position, bits in enumerate(live.after(block.index)):
            for name in (*NAMES, *PREDICATES):
                expected = bool(naive.reads_reached(program, (block.index, position), name))
                assert (name in live.names(bits)) == expected
