"""A main register file in two technologies, worked by hand (CMOS-TFET paper, section 3.2)."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import Recorded
from tests.timing.assembly import one_warp
from tests.timing.both_cores import agreed, fast, machine_with_memory
from tests.timing.random_runs import Case, cases
from tests.timing.reference.machine import Banks, Sm
from tests.timing.test_miniatures import FOLDER, accesses, miniature

from warpreg.designs import DesignError, load
from warpreg.designs.interface import Declaration
from warpreg.replay import replay

DESIGN = miniature("two_technologies")
BANKED = Sm(banks=Banks(count=4, mapping="register"))
ADD = "add.s32 R3, R1, R2\nmov.b32 R4, R3"


def test_slow_cells_are_in_banks_and_take_a_cycle_more() -> None:
    """Issue at 1, enter at 2; banks 1 and 2 grant R1 and R2 in the step of 3.  R1 is there a cycle after the step that
    follows, so the sum dispatches at 5 instead of 4, and its cell leaves one cycle after the turn of bank 3, at 10
    instead of 8.
    """
    plain = agreed(one_warp(ADD), BANKED)
    run = agreed(one_warp(ADD), BANKED, design=DESIGN)
    plain.warp(0).issues().at(1, 8)
    run.warp(0).issues().at(1, 10)
    run.bank(1).reads("R1").at(3)
    run.bank(2).reads("R2").at(3)
    assert run.bank(3).writes("R3").cycles == [9]
    assert accesses(run) == [[1, 1], [2, 1]]


def test_its_accesses_are_not_elided() -> None:
    """The sum reads R1 (slow) and R2 and writes R3 (slow), the move reads R3 and writes R4: all five stay."""
    code = kernel([op("add.s32", r(3), r(1), r(2)), op("mov.b32", r(4), r(3))])
    path = Recorded().thread_block().warp(0).visits(0)
    found, plain = (replay(path, code, design, mode="interpreted") for design in (DESIGN, load("mrf")))
    assert (found.reads("MRF"), found.reads("SLOW"), found.mrf_accesses) == (1, 2, 5)
    assert found.elided(plain) == 0


MOVING = """
    from warpreg.designs.interface import *
    DESIGN = Declaration(
        slot="mapping", levels=("MRF", "SLOW", "TOP"), main=("MRF", "SLOW"), source="assumed: a test"
    )
    SLOW, TOP = 1, 2
    @hook
    def issued(state, program, warp, pc, plan):
        if pc == 0:
            move(plan, {source}, {target}, 2)
            extra(plan, {target}, WRITE, 3)
"""


@pytest.mark.parametrize(
    ("source", "target", "moved", "extra"), [("MRF", "SLOW", 2, 1), ("SLOW", "TOP", 1, 0), ("TOP", "SLOW", 1, 1)]
)
def test_moves_and_extra_accesses_of_it_queue_for_banks(
    tmp_path: Path, source: str, target: str, moved: int, extra: int
) -> None:
    """A move of R2 takes a turn of bank 2 for each end in the main register file, an extra access of R3 one of 3."""
    file = tmp_path / "moving.py"
    file.write_text(dedent(MOVING.format(source=source, target=target)), encoding="utf-8")
    run = agreed(one_warp("mov.b32 R8, 1\nmov.b32 R9, R8"), BANKED, design=load(file))
    assert len(run.bank(2).extras("R2").cycles) == moved
    assert len(run.bank(3).extras("R3").cycles) == extra


def test_it_is_placed_by_a_mapping_behind_a_cache() -> None:
    """What a level above leaves in the MRF, the mapping places in slow cells; what it has taken stays there."""
    design = load("+".join(str(FOLDER / f"{name}.py") for name in ("last_result", "two_technologies")))
    assert design.declaration.main == ("MRF", "SLOW")
    run = agreed(one_warp(ADD), BANKED, design=design)
    found = dict(zip(design.levels, accesses(run), strict=True))
    assert found == {"MRF": [1, 0], "SLOW": [1, 0], "LAST": [1, 2]}


@pytest.mark.parametrize("main", [("SLOW",), ("MRF", "TOP"), ("MRF", "SLOW", "SLOW")])
def test_main_names_levels(main: tuple[str, ...]) -> None:
    with pytest.raises(DesignError, match="main expects distinct names of levels that start with 'MRF'"):
        Declaration(slot="mapping", levels=("MRF", "SLOW"), main=main, source="assumed: a test")


@settings(max_examples=15, deadline=None)
@given(cases)
def test_both_cores_agree(case: Case) -> None:
    agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident, DESIGN)


@pytest.mark.slow
def test_the_compiled_core_does_the_same() -> None:
    machine = machine_with_memory(BANKED, 20, 1)
    runs = [fast(one_warp(ADD), machine, 1, 8, mode, design=DESIGN) for mode in ("interpreted", "compiled")]
    assert runs[0].result.as_dict() == runs[1].result.as_dict()
