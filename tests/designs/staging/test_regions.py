"""Regions of hand-made kernels, and their annotations (RegLess, MICRO 2017)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.timing.assembly import code

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.checks.corruption import trials
from warpreg.designs import DesignError, load, program_table
from warpreg.designs.parts.staging.check import (
    EARLY_ERASE,
    MISSING_PRELOAD,
    WRONG_DROP,
    checked_regions,
    corruptions_of,
)
from warpreg.designs.parts.staging.regions import ENDS, GOES_ON, STOPS, Annotations
from warpreg.ir.kernel import Kernel

DESIGN = load("regless")


def annotated(kernel: Kernel, **parameters: int) -> Annotations:
    program, values = program_table(kernel), DESIGN.configure(**parameters)
    found: Annotations = DESIGN.module.hints(program, values, Analysis(kernel))
    return found


def registers(words: NDArray[np.int64]) -> set[int]:
    return {32 * word + bit for word, bits in enumerate(words.tolist()) for bit in range(32) if bits >> bit & 1}


def firsts(made: Annotations) -> list[int]:
    return sorted(set(made.first.tolist()))


LOADED = "ld.global.u32 R1, [R4.64]\nadd.s32 R2, R6, 1\nadd.s32 R3, R1, R2\nst.global.u32 [R4.64], R3"


def test_a_load_and_its_first_use_are_in_different_regions() -> None:
    """The load and the first addition are one region: R4, R5 and R6 are preloaded.  Both results are inputs of the
    next one, with the address.  R6 is read last in the first region, R1, R2 and R3 in the second one.
    """
    made = annotated(code(LOADED), shortest=2)
    assert firsts(made) == [0, 2]
    assert made.ends.tolist() == [GOES_ON, ENDS, GOES_ON, ENDS]
    assert (registers(made.inputs[0]), registers(made.inputs[2])) == ({4, 5, 6}, {1, 2, 4, 5})
    assert made.erased.tolist() == [0, 0, 1, 1, 1, 1, 1, 1]
    assert made.released.tolist() == [1, 1, 0, 0, 0, 0, 0, 0]


def test_lines_are_those_that_are_held_at_a_time() -> None:
    """With two banks.  The load holds R4 and R6, R5 and R1; the addition, behind the last reads of R4 and R5, R6, R2
    and R1.  The second region holds R2 and R4, R1, R5 and R3 at a time.
    """
    made = annotated(code(LOADED), banks=2, entries=16, shortest=2)
    assert made.lines[0].tolist() == [2, 2]
    assert made.lines[2].tolist() == [2, 3]


def test_the_cut_is_where_the_fewest_values_live() -> None:
    """One bank of which a region may need three lines.  Up to pc 3, one, two and three values live: the first region is
    as short as it may be.  The addition at pc 3 needs three lines, with the next one four.  From pc 4 on, one value
    lives everywhere: the region goes on to the use of the global load at pc 7.
    """
    text = "mov.b32 R0, 1\nmov.b32 R1, 2\nmov.b32 R2, 3\nadd.s32 R3, R0, R1\nadd.s32 R3, R3, R2\n"
    text += "ld.shared.u32 R0, [R3]\nld.global.u32 R4, [R0]\nadd.s32 R5, R4, 1\nst.global.u32 [R5], R5"
    one_bank = {"banks": 1, "entries": 8, "region_lines": 3}
    assert firsts(annotated(code(text), shortest=1)) == [0, 7]
    assert firsts(annotated(code(text), shortest=3, **one_bank)) == [0, 3, 4, 7]
    assert firsts(annotated(code(text), shortest=1, **one_bank)) == [0, 1, 2, 3, 4, 7]


def test_a_region_ends_at_a_barrier() -> None:
    made = annotated(code("mov.b32 R0, 1\nbar.sync 0\nadd.s32 R1, R0, 1\nst.shared.u32 [R1], R0"))
    assert made.ends.tolist() == [GOES_ON, STOPS, GOES_ON, ENDS]
    assert registers(made.inputs[2]) == {0}


def test_a_guarded_write_needs_the_old_value() -> None:
    """R0 is written for some lanes only: the others keep their value, which the region preloads."""
    made = annotated(code("mov.b32 R0, 1\nbar.sync 0\n@P0 mov.b32 R0, 2\nst.shared.u32 [R0], R0"))
    assert registers(made.inputs[2]) == {0}


def test_what_only_the_other_side_of_a_branch_reads_is_dropped() -> None:
    """Behind the first block, R1 is read in the second one only: the third one drops it at its start."""
    blocks = "mov.b32 R0, 1\nmov.b32 R1, 2\n@P0 bra 2", "st.shared.u32 [R0], R1", "st.shared.u32 [R0], R0"
    made = annotated(code(*blocks))
    assert registers(made.dropped[4]) in ({1}, set())
    assert registers(made.inputs[3]) == {0, 1}
    assert registers(made.inputs[4]) == {0}


def test_an_instruction_that_needs_more_lines_than_there_are_is_refused() -> None:
    matrices = "{R0, R1, R2, R3}, {R4, R5, R6, R7, R8, R9, R10, R11}, {R12, R13, R14, R15, R16, R17, R18, R19}, "
    kernel = code(f"wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {matrices}{{R20, R21, R22, R23}}")
    with pytest.raises(DesignError, match=r"hand: pc 0 needs 24 lines of a bank, and the staging unit has 8"):
        annotated(kernel, banks=1, entries=8)


def test_both_kinds_of_wrong_annotations_are_found() -> None:
    """Without its preload, or dropped one read early, a value is missed by the static analysis and by execution."""
    kernel = code(LOADED)
    program = program_table(kernel)
    wrong = corruptions_of(kernel, program, annotated(kernel, shortest=2), np.ones(1, np.int64))
    by_kind = {kind: [one for one in wrong if one.kind == kind] for kind in (EARLY_ERASE, MISSING_PRELOAD, WRONG_DROP)}
    assert [len(found) for found in by_kind.values()] == [2, 7, 3]
    assert all(one.checked().findings() for one in wrong)
    assert not checked_regions(kernel, program, annotated(kernel, shortest=2)).findings()


@pytest.mark.slow
def test_execution_finds_what_is_dropped_or_not_preloaded() -> None:
    found = list(trials(("reduction", "bfs"), 12, "regless"))
    assert all(one.message or one.equivalent for one in found)
    assert {one.corruption.kind for one in found if one.message} >= {EARLY_ERASE, MISSING_PRELOAD}
