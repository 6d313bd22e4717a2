"""Compositions of designs of different slots: joint behaviour, and refusals."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import one_warp

from piecewise_numba.options import Mode
from warpreg import gpu
from warpreg.designs import Design, DesignError, load
from warpreg.designs.interface import Launch
from warpreg.designs.interface.plan import blank_plan
from warpreg.designs.interface.residency import unshared
from warpreg.designs.parts.hints.program_table import program_table
from warpreg.ir.kernel import Kernel
from warpreg.replay import Counts, replay

HEAD = """\
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np
from warpreg.designs.interface import *
"""

MAPPING = """
    DESIGN = Declaration(slot="mapping", levels=("MRF", "SLOW"), events=("placed",), source="assumed: a test")

    @dataclass(frozen=True)
    class Parameters:
        slow: int = parameter(2, low=0, high=63, source="assumed: registers from here on are slow")

    class State(NamedTuple):
        slow: int
        written: np.ndarray

    def init(parameters, program):
        return State(parameters.slow, per_warp(np.zeros(program.register_count, np.int64)))

    @hook
    def plan_reads(state, program, warp, pc, plan):
        for operand in range(program.source_start[pc], program.source_start[pc + 1]):
            place(state, program.source[operand], operand, plan)

    def place(state, register, operand, plan):
        if register >= state.slow:
            read(plan, operand, 1, bank=0, cycles=2)
        else:
            read(plan, operand, MRF)
        count(plan, 0)

    @hook
    def plan_write(state, program, warp, pc, plan):
        for operand in range(program.result_start[pc], program.result_start[pc + 1]):
            state.written[warp, program.result[operand]] += 1
            write(plan, operand, 1 if program.result[operand] >= state.slow else MRF, bank=0)
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.py"
    path.write_text(HEAD + dedent(text), encoding="utf-8")
    return path


def code() -> Kernel:
    """Two instructions that write r2 and r3, one that reads r0, r1, r2 and one that reads r3 twice."""
    return kernel(
        [
            op("mov.b32", r(2), r(0)),
            op("mov.b32", r(3), r(0)),
            op("mad.lo.s32", r(4), r(0), r(1), r(2)),
            op("add.s32", r(4), r(3), r(3)),
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["interpreted", "compiled"])
def test_a_mapping_places_what_the_cache_leaves(tmp_path: Path, mode: Mode) -> None:
    """The cache serves r2 and r3 (twice); r0 three times and r1 are left to the mapping, fast, as are no results."""
    design = load(f"{written(tmp_path, 'fast_slow', MAPPING)}+rfc")
    assert design.levels == ("MRF", "SLOW", "RFC")
    found = replay(one_warp([0]), code(), design, mode=mode, rfc_entries=6)
    assert (found.reads("MRF"), found.reads("SLOW"), found.reads("RFC")) == (4, 0, 3)
    assert (found.writes("MRF"), found.writes("SLOW"), found.writes("RFC")) == (0, 0, 4)
    assert found.events["placed"] == 7


def counts(folder: Path, entries: int, slow: int) -> Counts:
    design = load(f"{written(folder, 'fast_slow', MAPPING)}+rfc")
    return replay(one_warp([0]), code(), design, mode="interpreted", rfc_entries=entries, fast_slow_slow=slow)


def test_without_a_cache_the_mapping_decides_alone(tmp_path: Path) -> None:
    """Seven sources: r0 three times, r1, r2, r3 twice; four results r2, r3, r4, r4; from r2 on slow."""
    found = counts(tmp_path, entries=0, slow=2)
    alone = replay(one_warp([0]), code(), load(written(tmp_path, "fast_slow", MAPPING)), mode="interpreted", slow=2)
    assert (found.reads("MRF"), found.reads("SLOW")) == (alone.reads("MRF"), alone.reads("SLOW")) == (4, 3)
    assert (found.writes("MRF"), found.writes("SLOW")) == (alone.writes("MRF"), alone.writes("SLOW")) == (0, 4)


def test_a_fast_register_file_changes_nothing_for_the_cache(tmp_path: Path) -> None:
    found = counts(tmp_path, entries=2, slow=63)
    plain = replay(one_warp([0]), code(), "rfc", mode="interpreted", entries=2)
    for level in ("MRF", "RFC"):
        assert (found.reads(level, moves=True), found.writes(level, moves=True)) == (
            plain.reads(level, moves=True),
            plain.writes(level, moves=True),
        )


def test_parameters_bear_the_name_of_their_design(tmp_path: Path) -> None:
    design = load(f"rfc+{written(tmp_path, 'fast_slow', MAPPING)}")
    assert [spec.name for spec in design.parameters][:2] == ["fast_slow_slow", "rfc_entries"]
    assert design.name == "fast_slow+rfc".replace("_", "-")
    assert [one.level for one in design.structures(design.configure(rfc_entries=3))] == ["MRF", "SLOW", "RFC"]
    assert design.structures(design.configure(rfc_entries=3))[2].entries == 3


def refusal(folder: Path, one: str, other: str) -> str:
    first, second = written(folder, "one", one), written(folder, "other", other)
    with pytest.raises(DesignError) as error:
        load(f"{first}+{second}")
    return str(error.value)


LEVELS = 'DESIGN = Declaration(slot="levels", levels=("MRF", "SLOW"), source="assumed: a test")'
POLICY = 'DESIGN = Declaration(slot="policy", order="sm", source="assumed: a test")'
ADMIT = """
@hook
def admit(state, program, warp, pc, plan):
    return GO
"""
RESIDENCY = """
def residency(parameters, program, machine):
    return Residency(1)
"""


def test_two_designs_of_one_slot(tmp_path: Path) -> None:
    assert refusal(tmp_path, POLICY, POLICY) == (
        "one+other: one and other both have slot policy, and neither of them uses the other"
    )


def test_a_design_below_another_of_its_slot_comes_second(tmp_path: Path) -> None:
    below = POLICY.replace("source=", 'below=("one",), source=')
    first, second = written(tmp_path, "one", POLICY), written(tmp_path, "other", below)
    assert load(f"{second}+{first}").name == "one+other"


def test_designs_below_each_other(tmp_path: Path) -> None:
    one, other = (POLICY.replace("source=", f'below=("{name}",), source=') for name in ("other", "one"))
    assert refusal(tmp_path, one, other) == (
        "one+other: one and other use each other, or stand below each other, in a circle"
    )


@pytest.mark.parametrize("name", ["virtualization+corf-pp", "corf++", "virtualization+corf++", "corf-pp"])
def test_a_design_that_does_what_another_one_does_includes_it(name: str) -> None:
    """CORF++ releases dead registers itself (`virtualization`, on by default), as the paper evaluates it."""
    assert load(name) is load("corf-pp")


def test_a_switch_that_does_what_another_design_does_is_named() -> None:
    with pytest.raises(DesignError) as error:
        load("packing+virtualization")
    assert str(error.value) == (
        "packing+virtualization: packing and virtualization both have slot mapping, and neither of them uses the "
        "other; parameter packing.virtualization=true does what both would"
    )


def test_two_designs_that_both_decide(tmp_path: Path) -> None:
    message = refusal(tmp_path, f"{POLICY}\n{ADMIT}", f"{LEVELS}\n{ADMIT}")
    assert message == "other+one: both other and one define admit, and neither of them uses the other"


def test_two_designs_that_both_say_what_a_warp_takes(tmp_path: Path) -> None:
    """One of them may take other registers than the plain register file, which are the kernel's, rounded up."""
    unshared_ = "from warpreg.designs.interface.residency import unshared"
    plain = unshared_ + RESIDENCY.replace("Residency(1)", "unshared(machine, program.register_count)")
    machine, launch, program = gpu.load("gtx480"), Launch(32), program_table(kernel([op("mov.b32", r(1), 1)]))
    cases = ((RESIDENCY, plain, 1), (plain, RESIDENCY, 1), (plain, plain, unshared(gpu.load("gtx480"), 2).registers))
    for number, (one, other, expected) in enumerate(cases):
        first = written(tmp_path, f"one{number}", f"{LEVELS}\n{one}")
        second = written(tmp_path, f"other{number}", f"{POLICY}\n{other}")
        design = load(f"{first}+{second}")
        assert design.room(design.configure(), program, machine, launch).residency.registers == expected
    first = written(tmp_path, "one", f"{LEVELS}\n{RESIDENCY}")
    second = written(tmp_path, "other", f"{POLICY}\n{RESIDENCY}")
    design = load(f"{first}+{second}")
    with pytest.raises(DesignError, match="both one and other give a warp other registers than the plain register"):
        design.room(design.configure(), program, machine, launch)


def test_two_levels_of_one_name(tmp_path: Path) -> None:
    assert refusal(tmp_path, LEVELS, MAPPING) == "other+one: two of the designs have levels named SLOW"


def test_two_designs_that_fill_one_column(tmp_path: Path) -> None:
    fill = """
def compile(program, parameters):
    return program._replace(strand_end=program.strand_end + np.uint8(1))
"""
    design = load(
        f"{written(tmp_path, 'one', LEVELS + fill)}+{written(tmp_path, 'other', POLICY + fill)}",
    )
    with pytest.raises(DesignError, match=r"one\+other: both one and other fill strand_end"):
        design.compile(program_table(code()), design.configure(), code())


USED = 'DESIGN = Declaration(slot="policy", order="sm", events=("a", "b"), resources=("x",), source="assumed: a test")'
USER = """
    DESIGN = Declaration(
        slot="policy", order="sm", events=("a", "b", "{0}"), resources=("y",), uses=("used",), source="assumed: a test"
    )
    class State(NamedTuple):
        used: object
    def init(parameters, program): return State(None)
    @hook
    def admit(state, program, warp, pc, plan):
        return {1}
"""


def together(folder: Path, **texts: str) -> Design:
    return load("+".join(str(written(folder, name, text)) for name, text in texts.items()))


def test_a_design_continues_the_names_of_one_that_it_uses(tmp_path: Path) -> None:
    """The events a and b are the same ones; the resources are apart."""
    design = together(tmp_path, mine=USER.format("c", 0), levels=LEVELS, used=USED)
    assert (design.name, design.levels) == ("levels+used+mine", ("MRF", "SLOW"))
    assert (design.events, design.declaration.resources) == (("a", "b", "c"), ("x", "y"))


def test_the_user_decides(tmp_path: Path) -> None:
    """The admission of the design that it uses is not called."""
    design = together(tmp_path, mine=USER.format("c", 5), used=USED + "\n" + ADMIT)
    state, plan = design.module.State(0, load(tmp_path / "mine.py").module.State(0)), blank_plan(1, 3, 1, 1)
    assert design.hooks["admit"](state, program_table(code()), 0, 0, plan) == 5


def test_two_designs_that_continue_a_thirds_names(tmp_path: Path) -> None:
    other = USER.format("d", 0).replace('slot="policy"', 'slot="mapping"').replace('"y"', '"z"')
    with pytest.raises(DesignError, match=r"other\+used\+one: other and one all add events to those of used"):
        together(tmp_path, used=USED, one=USER.format("c", 0), other=other)


def test_designs_that_use_each_other(tmp_path: Path) -> None:
    one = USER.format("c", 0).replace('uses=("used",)', 'uses=("other",)').replace("used:", "other:")
    other = USER.format("d", 0).replace('uses=("used",)', 'uses=("one",)').replace("used:", "one:")
    with pytest.raises(
        DesignError, match=r"one\+other: one and other use each other, or stand below each other, in a circle"
    ):
        together(tmp_path, one=one, other=other)


def test_a_design_twice(tmp_path: Path) -> None:
    with pytest.raises(DesignError, match=r"rfc\+rfc: two designs are named rfc"):
        load("rfc+rfc")


DOUBLED = """
import dataclasses
DESIGN = Declaration(slot="mapping", source="assumed: a test")

def rewrite(kernel, parameters):
    blocks = [dataclasses.replace(b, instructions=(b.instructions[0], *b.instructions)) for b in kernel.blocks]
    return dataclasses.replace(kernel, blocks=tuple(blocks))
"""
MARKED = """
def compile(program, parameters, kernel):
    marks = np.array([len(i.sources) == 3 for i in kernel.instructions()], np.uint8)
    return program._replace(strand_end=marks)

@hook
def plan_reads(state, program, warp, pc, plan):
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        read(plan, operand, program.strand_end[pc])
"""


def test_hints_are_filled_on_the_rewritten_kernel(tmp_path: Path) -> None:
    """The mapping executes the first instruction twice; the levels mark the one with three sources, now the fourth."""
    design = load(f"{written(tmp_path, 'one', LEVELS + MARKED)}+{written(tmp_path, 'other', DOUBLED)}")
    twice = design.rewrite(code(), design.configure())
    program = design.compile(program_table(twice), design.configure(), twice)
    assert program.strand_end.tolist() == [0, 0, 0, 1, 0]
    found = replay(one_warp([0]), code(), design, mode="interpreted")
    assert (found.warp_instructions, found.reads("MRF"), found.reads("SLOW")) == (5, 3 + 2, 3)


def test_a_rewrite_keeps_the_blocks(tmp_path: Path) -> None:
    text = """
DESIGN = Declaration(slot="mapping", source="assumed: a test")
import dataclasses
def rewrite(kernel, parameters):
    return dataclasses.replace(kernel, blocks=kernel.blocks * 2)
"""
    path = written(tmp_path, "one", text)
    with pytest.raises(DesignError, match="rewrite changed the blocks, it may change instructions inside them"):
        replay(one_warp([0]), code(), load(path), mode="interpreted")


def test_hardware_of_a_used_design_exists_once(tmp_path: Path) -> None:
    table = """
def hardware(parameters):
    return Table("map", entries=8, bits=4),{more}
"""
    design = together(
        tmp_path,
        mine=dedent(USER.format("c", 0)) + table.format(more=' Logic("free"),'),
        used=USED + "\n" + table.format(more=""),
    )
    assert [one.name for one in design.hardware(design.configure())] == ["map", "free"]
