"""A hook that plans operands plans each of them, also without checks: else the run is refused by name.

The kernel writes R1, reads it and writes R2, reads both and writes R3.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import one_warp
from tests.timing.assembly import one_warp as timed_warp
from tests.timing.both_cores import agreed, fast, machine_with_memory
from tests.timing.reference.machine import Sm
from tests.timing.vocabulary import timed

from piecewise_numba.options import Mode
from warpreg.designs import Design, DesignError, load
from warpreg.designs.loading.composition import compose
from warpreg.replay import replay

CODE = kernel([op("mov.b32", r(1), 1), op("mov.b32", r(2), r(1)), op("add.s32", r(3), r(1), r(2))])
TEXT = "mov.b32 R1, 1\nmov.b32 R2, R1\nadd.s32 R3, R1, R2"
HEAD = (
    'from warpreg.designs.interface import *\nDESIGN = Declaration(slot="{slot}", order="{order}", source="a test")\n'
)
RESULTS = """for operand in result_operands(program, pc):
        if operand {which}:
            {function}(plan, operand{level})"""
OTHERS = RESULTS.format(which="!= 1", function="write", level=", MRF")
FORGETS = {
    "plan_reads": OTHERS.replace("result_", "source_").replace("write(", "read("),
    "plan_write": OTHERS,
    "produced": OTHERS,
}
"""Operand 1 is R1 as a source of pc 2, and R2 as the result of pc 1."""
LEFT = {"plan_reads": ("source R1 of pc 2", "read"), "plan_write": ("result R2 of pc 1", "write")}
LEFT["produced"] = LEFT["plan_write"]
Run = Callable[[Design], object]


def design(
    folder: Path, hooks: dict[str, str], name: str = "mine", slot: str = "levels", order: str = "warp"
) -> Design:
    body = "".join(
        f"@hook\ndef {hook}(state, program, warp, pc, plan):\n    {statement}\n" for hook, statement in hooks.items()
    )
    file = folder / f"{name}.py"
    file.write_text(HEAD.format(slot=slot, order=order) + dedent(body), encoding="utf-8")
    return load(file, checked=False)


def in_replay(mode: Mode) -> Run:
    return lambda one: replay(one_warp([0]), CODE, one, mode=mode)


def in_time(one: Design) -> object:
    return fast(timed_warp(TEXT), machine_with_memory(Sm(), 20, 1), 1, 8, design=one)


def in_reference(one: Design) -> object:
    return timed(timed_warp(TEXT), Sm(), design=one)


def complaint(one: Design, run: Run) -> str:
    with pytest.raises(DesignError) as error:
        run(one)
    return str(error.value)


@pytest.mark.parametrize("hook", FORGETS)
@pytest.mark.parametrize("run", [in_replay("interpreted"), in_time, in_reference], ids=["replay", "time", "reference"])
def test_a_forgotten_operand_is_named_by_every_core(tmp_path: Path, hook: str, run: Run) -> None:
    left, function = LEFT[hook]
    found = complaint(design(tmp_path, {hook: FORGETS[hook]}), run).replace(", 'mov.b32 R2, R1'", "")
    assert found.replace(", 'add.s32 R3, R1, R2'", "") == (
        f"{tmp_path}/mine.py:4: design mine: {hook} leaves {left} unplanned; call {function}, or nowhere(plan, operand)"
    )


@pytest.mark.parametrize("hook", FORGETS)
def test_the_instruction_is_named(tmp_path: Path, hook: str) -> None:
    named = complaint(design(tmp_path, {hook: FORGETS[hook]}), in_replay("interpreted"))
    assert f" of pc {LEFT[hook][0][-1]}, '" in named


@pytest.mark.parametrize("hook", FORGETS)
def test_a_static_design_is_looked_at_too(tmp_path: Path, hook: str) -> None:
    assert LEFT[hook][0] in complaint(design(tmp_path, {hook: FORGETS[hook]}, order="static"), in_replay("compiled"))


@pytest.mark.slow
def test_a_compiled_replay_names_what_produced_leaves(tmp_path: Path) -> None:
    one = design(tmp_path, {"produced": FORGETS["produced"]})
    assert "design mine: produced leaves result R2 of pc 1, 'mov.b32 R2, R1' unplanned" in complaint(
        one, in_replay("compiled")
    )


@pytest.mark.parametrize(("other", "slot"), [("bow", "policy"), ("rfc", "mapping")])
@pytest.mark.parametrize("run", [in_replay("interpreted"), in_time, in_reference], ids=["replay", "time", "reference"])
def test_a_part_of_a_composition_is_named(tmp_path: Path, other: str, slot: str, run: Run) -> None:
    """Also where the other design plans the operand."""
    one = compose([load(other), design(tmp_path, {"produced": FORGETS["produced"]}, slot=slot)])
    assert "mine.py:4: design mine: produced leaves result R2 of pc 1" in complaint(one, run)


@pytest.mark.parametrize("checked", [False, True])
def test_a_hook_that_plans_nothing_at_all_is_refused(tmp_path: Path, checked: bool) -> None:
    """Without checks, as soon as it is loaded."""
    for hook in FORGETS:
        with pytest.raises(DesignError, match=rf"mine.py:4: (design mine: )?{hook}.*(plans no|is not planned)"):
            one = design(tmp_path, {hook: "count = pc"})
            replay(one_warp([0]), CODE, load(one.path, checked=checked), mode="interpreted")


def test_produced_may_keep_books_behind_plan_write(tmp_path: Path) -> None:
    every = "for operand in result_operands(program, pc):\n        write(plan, operand, MRF)"
    one = design(tmp_path, {"plan_write": every, "produced": "count = pc"})
    assert agreed(timed_warp(TEXT), Sm(), design=one).outcome.counts.accesses.sum() == 3 + 3
    assert replay(one_warp([0]), CODE, one, mode="interpreted").writes() == 3


NOWHERE = RESULTS.format(which="== 1", function="nowhere", level="")


@pytest.mark.parametrize("slot", ["levels", "policy"])
def test_two_hooks_may_plan_the_results_together(tmp_path: Path, slot: str) -> None:
    """What `plan_write` accesses nowhere is planned; what neither plans is not."""
    one = design(tmp_path, {"plan_write": NOWHERE, "produced": OTHERS}, slot=slot)
    counts = agreed(timed_warp(TEXT), Sm(), design=one).outcome.counts
    assert counts.accesses.reshape(2, 2).sum(axis=1).tolist() == [3, 2]
    assert replay(one_warp([0]), CODE, one, mode="interpreted").writes() == 2
    neither = design(tmp_path, {"plan_write": OTHERS, "produced": OTHERS.replace("!= 1", "< 0")})
    for run in (in_replay("interpreted"), in_time, in_reference):
        assert "produced leaves result R2 of pc 1" in complaint(neither, run)


def test_every_word_of_a_wide_instruction_has_to_be_planned(tmp_path: Path) -> None:
    """The second word of a pair."""
    first = RESULTS.format(which="% 2 == 0", function="write", level=", MRF")
    one = design(tmp_path, {"produced": first})
    with pytest.raises(DesignError, match=r"result R3 of pc 0"):
        fast(timed_warp("mul.wide.s32 R2.64, R0, R1"), machine_with_memory(Sm(), 20, 1), 1, 8, design=one)
