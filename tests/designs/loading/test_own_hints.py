"""Hints of a design's own, the analyses that its functions may ask for, and profiles of the recorded run."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from tests.designs.kernels import kernel, op, p, r, when
from tests.designs.loading.test_loading import complaint, replayed, written
from tests.replay.paths import one_warp

from piecewise_numba.options import Mode
from warpreg.designs import DesignError, load
from warpreg.designs.parts.hints.program_table import program_table
from warpreg.ir.errors import WarpregError
from warpreg.replay import replay

HEAD = """\
from typing import NamedTuple
import numpy as np
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", levels=("MRF", "X"), events=("sum", "seen"), profile=True, source="assumed: a test")
"""
LOOP = kernel(
    [op("mov.u32", r(0), 0)],
    [op("add.s32", r(0), r(0), 1), op("setp.lt.s32", p(0), r(0), 3), when(p(0), op("bra", 0))],
    [op("mov.u32", r(1), r(0))],
    successors=((1,), (1, 2), ()),
)
"""Block 1 runs three times."""

COLUMNS = """
    class Columns(NamedTuple):
        weight: np.ndarray
        mask: np.ndarray
        visits: np.ndarray
        share: np.ndarray

    def hints(program, parameters, analysis):
        return Columns(
            np.arange(program.unit.size) << 40,
            analysis.last_reads,
            analysis.frequencies,
            np.full((program.result.size, 2), [0.25, 0.5], np.float32),
        )

    @hook
    def plan_reads(state, program, warp, pc, plan):
        for operand in source_operands(program, pc):
            read(plan, operand, 1 if program.hints.mask[operand] else MRF)

    @hook
    def plan_write(state, program, warp, pc, plan):
        count(plan, 0, program.hints.weight[pc] >> 40)
        for operand in result_operands(program, pc):
            write(plan, operand, MRF)
            if program.hints.share[operand, 1] - program.hints.share[operand, 0] == 0.25:
                count(plan, 1, program.hints.visits[1])
"""


@pytest.mark.parametrize("mode", ["interpreted", pytest.param("compiled", marks=pytest.mark.slow)])
def test_columns_of_any_type_by_pc_operand_and_block(tmp_path: Path, mode: Mode) -> None:
    """pcs 0, (1, 2, 3) three times, 4: weights 0 + 18 + 4.  Only the read at pc 4 is a last one: lanes that have left
    the loop wait for the others with their R0.  Five results see three visits each.
    """
    found = replay(one_warp([0, 1, 1, 1, 2]), LOOP, load(written(tmp_path, COLUMNS, HEAD)), mode=mode)
    assert (found.reads("X"), found.reads("MRF")) == (1, 6)
    assert found.events == {"sum": 3 * (1 + 2 + 3) + 4, "seen": 5 * 3}


def test_the_profile_is_that_of_the_run(tmp_path: Path) -> None:
    """The same kernel and parameters, another path: the hints are computed again."""
    design = load(written(tmp_path, COLUMNS, HEAD))
    for times in (1, 3, 2):
        found = replay(one_warp([0, *[1] * times, 2]), LOOP, design, mode="interpreted")
        assert found.events["seen"] == (times + 2) * times


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("np.zeros(3)", "hints returned a ndarray, expected a NamedTuple of arrays"),
        ("Columns(3)", "hints.weight is a int, expected an array"),
        (
            "Columns(np.zeros(7))",
            "hints.weight has 7 rows, expected one of 5 (pcs), 3 (source operands), 3 (result operands), 3 (blocks)",
        ),
        (
            "Columns(np.zeros(5, object))",
            "hints.weight has elements of type object, expected bool, integers of 8 to 64 bits, float32 or float64",
        ),
    ],
)
def test_columns_that_hooks_could_not_index(tmp_path: Path, returned: str, expected: str) -> None:
    text = f"""
    class Columns(NamedTuple):
        weight: np.ndarray

    def hints(program, parameters):
        return {returned}
    """
    path = written(tmp_path, text)
    with pytest.raises(DesignError) as error:
        load(path).program(LOOP, load(path).configure())
    assert str(error.value) == f"{path}: {expected}"


def test_hints_with_other_parameters(tmp_path: Path) -> None:
    expected = "mine.py:6: hints takes (program, parameters[, analysis][, room]), found (kernel)"
    assert complaint(tmp_path, "\ndef hints(kernel): pass") == expected


def test_frequencies_are_there_for_a_declared_profile_only(tmp_path: Path) -> None:
    text = """
    def compile(program, parameters, analysis): return program._replace(strand_end=analysis.frequencies)
    """
    expected = "kernel hand: block frequencies need a recorded run, and a design with profile=True"
    assert replayed(tmp_path, text) == expected


def test_a_profile_without_a_run(tmp_path: Path) -> None:
    design = load(written(tmp_path, COLUMNS, HEAD))
    with pytest.raises(WarpregError, match=r"^kernel hand: block frequencies need a recorded run"):
        design.compile(program_table(LOOP), design.configure(), LOOP)


def test_every_function_may_ask_for_the_analysis(tmp_path: Path) -> None:
    text = """
    class State(NamedTuple):
        depth: int

    def rewrite(kernel, parameters, analysis):
        assert analysis.kernel is kernel
        return kernel

    def compile(program, parameters, analysis):
        return program._replace(strand_end=np.uint8(analysis.block_of == 1))

    def init(parameters, program, analysis):
        return State(analysis.loops.depth(1))

    def explain(program, parameters, kernel, analysis):
        return {0: f"{len(analysis.successors[1])} ways on from block 1"}

    @hook
    def plan_reads(state, program, warp, pc, plan):
        for operand in source_operands(program, pc):
            read(plan, operand, state.depth if program.strand_end[pc] else MRF)
    """
    design = load(written(tmp_path, text))
    found = replay(one_warp([0, 1, 2]), LOOP, design, mode="interpreted")
    assert (found.reads("X"), found.reads("MRF")) == (2, 1)
    assert design.explain(program_table(LOOP), design.configure(), LOOP) == {0: "2 ways on from block 1"}


def test_the_analysis_is_that_of_the_rewritten_kernel(tmp_path: Path) -> None:
    """The first instruction is executed twice, so the loop begins at pc 2."""
    text = """
    import dataclasses

    class Columns(NamedTuple):
        inside: np.ndarray

    def rewrite(kernel, parameters, analysis):
        first = kernel.blocks[0]
        assert len(analysis.live_before) == 5
        doubled = dataclasses.replace(first, instructions=first.instructions * 2)
        return dataclasses.replace(kernel, blocks=(doubled, *kernel.blocks[1:]))

    def hints(program, parameters, analysis):
        assert len(analysis.live_before) == 6
        return Columns(analysis.block_of == 1)
    """
    design = load(written(tmp_path, text))
    program = design.program(design.rewrite(LOOP, design.configure()), design.configure())
    assert program.hints.inside.tolist() == [False, False, True, True, True, False]


def test_a_state_without_a_field_for_a_used_design(tmp_path: Path) -> None:
    head = HEAD.replace("profile=True", 'uses=("my-table",)')
    expected = (
        "mine.py:1: the design uses my-table, so State needs a field my_table: what stands in for the state of that "
        "design without it, or None"
    )
    assert complaint(tmp_path, dedent(""), head) == expected
