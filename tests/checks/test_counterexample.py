"""Random kernels find the errors of designs, and are made small."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from warpreg import simt
from warpreg.checks.contract import MACHINE
from warpreg.checks.counterexample import counterexample
from warpreg.checks.random_kernels import Program, Statement, launched, ptx, random_program, shrunk
from warpreg.designs import Design, load

HEAD = """\
from typing import NamedTuple
import numpy as np
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", levels=("MRF", "X"), source="assumed: a test")
class State(NamedTuple):
    held: np.ndarray
def init(parameters, program):
    return State(per_warp(np.int32(-1)))
@hook
def plan_reads(state, program, warp, pc, plan):
    for operand in source_operands(program, pc):
        read(plan, operand, 1 if state.held[warp] == program.source[operand] else 0)
@hook
def plan_write(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        EVICT
        state.held[warp] = program.result[operand]
        write(plan, operand, 1)
"""
EVICT = "if state.held[warp] >= 0: move(plan, 1, 0, state.held[warp])"


def design(folder: Path, evict: str, more: str = "") -> Design:
    """A cache of one entry per warp."""
    path = folder / "mine.py"
    path.write_text(HEAD.replace("EVICT", evict) + more, encoding="utf-8")
    return load(path)


def test_a_cache_that_writes_back_passes(tmp_path: Path) -> None:
    found = counterexample(design(tmp_path, EVICT), {}, 4, 0, MACHINE)
    assert found.counterexample is None
    assert found.reads > 500


def test_a_lost_write_is_shown_on_a_small_kernel(tmp_path: Path) -> None:
    """The second result takes the entry of the first one, which nothing writes back."""
    found = counterexample(design(tmp_path, "pass"), {}, 4, 0, MACHINE).counterexample
    assert found is not None
    assert found.kernel.instruction_count <= 6
    assert found.pc is not None
    instruction = list(found.kernel.instructions())[found.pc]
    assert any(word in found.notes[found.pc] for word in (f"reads {r}" for r in instruction.used))
    assert found.notes[found.pc].endswith("from MRF, but its value is in X")
    assert any(note.endswith("written to X") for note in found.notes.values())


COPYING = """\
from typing import NamedTuple
import numpy as np
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", levels=("MRF", "X"), source="assumed: a test")
class State(NamedTuple):
    held: np.ndarray
def init(parameters, program):
    return State(per_warp(np.int32(-1)))
@hook
def plan_reads(state, program, warp, pc, plan):
    for operand in source_operands(program, pc):
        register = program.source[operand]
        if state.held[warp] == register:
            read(plan, operand, 1)
        else:
            read(plan, operand, 0)
            state.held[warp] = register
            COPY
@hook
def plan_write(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        if state.held[warp] == program.result[operand]:
            state.held[warp] = -1
        write(plan, operand, 0)
"""
"""The last register that was read from the MRF is in X too."""


def test_a_copy_on_a_read_has_to_be_said(tmp_path: Path) -> None:
    path = tmp_path / "copying.py"
    path.write_text(COPYING.replace("COPY", "pass"), encoding="utf-8")
    found = counterexample(load(path), {}, 4, 0, MACHINE).counterexample
    assert found is not None
    advice = "; if an earlier read has copied it to X, say so there: extra(plan, X, WRITE, register)"
    assert found.message.endswith(f"from X, and its last value is in MRF{advice}")
    assert found.pc is not None
    assert found.notes[found.pc].endswith(f"from X, but its value is in MRF{advice}")
    path.write_text(COPYING.replace("COPY", "extra(plan, 1, WRITE, register)"), encoding="utf-8")
    assert counterexample(load(path), {}, 4, 0, MACHINE).counterexample is None


def test_a_flush_that_forgets_shows_on_kernels_that_suspend(tmp_path: Path) -> None:
    more = "@hook\ndef suspended(state, program, warp, plan):\n    state.held[warp] = -1\n"
    found = counterexample(design(tmp_path, EVICT, more), {}, 8, 0, MACHINE).counterexample
    assert found is not None
    assert found.suspend == "static"
    assert "with warps suspended before each possible wait" in str(found)
    assert "ld.global" in ptx_opcodes(found.ptx)


def ptx_opcodes(text: str) -> str:
    return " ".join(line.split()[0] for line in text.splitlines() if line.strip())


def test_a_hook_that_fails_is_marked_on_a_small_kernel(tmp_path: Path) -> None:
    """Only instructions with three sources reach level 2, which there is not."""
    wide = "if program.source_start[pc + 1] - program.source_start[pc] > 2: move(plan, 2, 0, 0)"
    found = counterexample(design(tmp_path, f"{EVICT}\n        {wide}"), {}, 4, 0, MACHINE).counterexample
    assert found is not None
    assert "mine.py:17: move(plan, 2, 0, 0): level 2 is outside 0 to 1" in found.message
    assert found.pc is not None
    assert sum(len(one.words) for one in list(found.kernel.instructions())[found.pc].used) > 2


@pytest.mark.parametrize("name", ["rfc", "rfc-lrf", "orf-lrf", "bow-wr"])
def test_designs_of_the_package_pass_where_lanes_diverge(name: str) -> None:
    """rfc-lrf and bow-wr complete registers of which a level has some lanes; orf-lrf reads on either side of a branch
    what it wrote before."""
    assert counterexample(load(name, checked=True), {}, 6, 0, MACHINE).counterexample is None


def test_a_program_of_the_package_may_share_code_that_asks_for_widths() -> None:
    """The hooks of `virtualization` are those of `packing`, which sizes values where it packs them."""
    assert load("virtualization", checked=True).is_checked


def test_the_same_seed_gives_the_same_program() -> None:
    first, again, other = (ptx(random_program(random.Random(seed))) for seed in (1, 1, 2))
    assert first == again != other


def test_a_program_runs() -> None:
    launch = launched(random_program(random.Random(5)), simt.Record(path=True))
    assert launch.kernel.instruction_count > 20


def test_shrinking_leaves_what_fails() -> None:
    """What fails is a store of r3 inside a loop; the loop is left because a store outside does not count."""
    store = Statement("store", ("r3",))
    loop = Statement("loop", ("r2",), (Statement("add", ("r1", "r2", "r3")), store))
    whole = (Statement("add", ("r1", "r1", "r1")), Statement("if", ("r1",), (loop,), (store,)), store)
    small = shrunk(whole, lambda program: "'loop'" in str(program) and "('r3',)" in str(program), 1000)
    assert small == (Statement("loop", ("r0",), (store,)),)


def test_shrinking_ends_after_so_many_trials() -> None:
    whole = tuple(Statement("store", (f"r{n}",)) for n in range(6))
    tried = []

    def fails(program: Program) -> bool:
        tried.append(program)
        return False

    shrunk(whole, fails, 3)
    assert len(tried) == 3
