"""Designs on one another: two mappings that share a table, worked by hand in time and in replay.

``renaming`` gives a register the lowest free physical one at its first write, whose number modulo 4 is its bank;
``early_release`` frees it at the last read; ``offsets`` moves the registers of warp ``w`` by ``w`` banks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.replay.paths import one_warp as one_path
from tests.replay.schedules import Scheduling
from tests.timing.assembly import code, one_warp, warps
from tests.timing.both_cores import agreed, compare, fast, machine_with_memory
from tests.timing.reference.machine import Banks, Sm
from tests.timing.test_miniatures import FOLDER, events
from tests.timing.vocabulary import timed

from piecewise_numba.options import Mode
from warpreg.designs import Design, DesignError, load, program_table
from warpreg.replay import replay

BANKED = Sm(banks=Banks(count=4, mapping="register"))
EXAMPLES = Path(__file__).parents[2] / "examples"
CODE = "mov.b32 R4, 1\nmov.b32 R8, 1\nadd.s32 R1, R4, R8\nmov.b32 R2, R1"
BOTH = [("early_release",), ("renaming", "early_release"), ("early_release", "renaming")]


def miniature(*names: str) -> Design:
    """Designs of the examples and of the miniatures, as one."""
    folders = (EXAMPLES if (EXAMPLES / f"{name}.py").exists() else FOLDER for name in names)
    return load("+".join(str(folder / f"{name}.py") for folder, name in zip(folders, names, strict=True)))


def test_registers_of_one_bank_get_two() -> None:
    """R4 and R8 share bank 0, so the sum, issued at 8, reads them at 10 and 11; renamed to 0 and 1 both at 10.

    One more register is in use from 1, 2, 8 and 15 on, until the warp ends at 22.
    """
    agreed(one_warp(CODE), BANKED).warp(0).issues().at(1, 2, 8, 16)
    design = miniature("renaming")
    run = agreed(one_warp(CODE), BANKED, design=design)
    run.warp(0).issues().at(1, 2, 8, 15)
    run.bank(0).reads("R4").at(10)
    run.bank(1).reads("R8").at(10)
    run.bank(2).reads("R1").at(17)
    assert run.outcome.counts.integrals(run.cycles) == [[(22 - 1) + (22 - 2) + (22 - 8) + (22 - 15)]]


@pytest.mark.parametrize("names", BOTH, ids="+".join)
def test_a_mapping_frees_what_another_gave(names: tuple[str, ...]) -> None:
    """The sum at 8 frees 0 and 1 and takes 0, and the move at 15 does so too: 1, 2, 1 and 1 are in use until 22.

    Alone the design has a table of its own, beside ``renaming`` that one's; the counts are the same, and no access is
    counted twice.
    """
    design = miniature(*names)
    run = agreed(one_warp(CODE), BANKED, design=design)
    run.warp(0).issues().at(1, 2, 8, 15)
    run.bank(0).reads("R1").at(17)
    assert run.outcome.counts.integrals(run.cycles) == [[(2 - 1) + 2 * (8 - 2) + (15 - 8) + (22 - 15)]]
    assert events(run, design) == {"named": 4, "released": 3}
    assert run.outcome.counts.accesses.reshape(2, 2).sum(axis=1).tolist() == [3, 4]


def test_a_mapping_that_reads_the_table_of_another() -> None:
    """Warp 0 gets 0 and 2 for R4 and R8, warp 1 gets 1 and 3, which lie in banks 2 and 0."""
    run = agreed(warps(CODE, [()], [()]), BANKED, design=miniature("offsets", "renaming"))
    run.bank(0).reads("R4").at(11)
    run.bank(2).reads("R8").at(11)
    assert (run.bank(2).reads("R4").cycles, run.bank(0).reads("R8").cycles) == ([12], [12])


@pytest.mark.slow
def test_the_compiled_core_does_the_same() -> None:
    launched, design = warps(CODE, [()], [()]), miniature("renaming", "early_release")
    slow = timed(launched, BANKED, design=design)
    compare(slow, fast(launched, machine_with_memory(BANKED, 20, 1), 1, 8, "compiled", design=design))


@pytest.mark.parametrize("mode", ["interpreted", pytest.param("compiled", marks=pytest.mark.slow)])
def test_a_replay_frees_the_same(mode: Mode) -> None:
    kernel, path = code(CODE), one_path([0])
    schedule = Scheduling().start(0).active(0).issue(0, 4).end(0).of(kernel, path)
    found = replay(path, kernel, miniature("renaming", "early_release"), schedule=schedule, mode=mode)
    assert found.events == {"named": 4, "released": 3}
    assert (found.reads("MRF"), found.writes("MRF")) == (3, 4)


def test_a_design_that_needs_another_says_so() -> None:
    with pytest.raises(DesignError) as error:
        agreed(one_warp(CODE), BANKED, design=miniature("offsets"))
    assert str(error.value) == "offsets uses renaming, so it needs that design beside it: renaming+offsets"


def test_two_mappings_that_do_not_know_each_other() -> None:
    expected = "early-release and offsets both have slot mapping, and neither of them uses the other"
    with pytest.raises(DesignError, match=expected):
        miniature("renaming", "early_release", "offsets")


def test_every_design_sees_its_own_hints() -> None:
    design, kernel = miniature("renaming", "early_release"), code(CODE)
    program = design.compile(program_table(kernel), design.configure(), kernel)
    assert program.hints._fields == ("renaming", "early_release")
    assert program.hints.renaming == 0
    assert np.array_equal(program.hints.early_release.dies, [True, True, True])


def test_a_design_of_two_slots_leaves_room_for_the_third_only() -> None:
    """The lock decides about registers and about who goes first."""
    assert miniature("pair_lock", "last_result").declaration.slots == ("mapping", "levels", "policy")
    with pytest.raises(DesignError, match="pair-lock and shared-loads both have slot policy"):
        miniature("pair_lock", "shared_loads")
