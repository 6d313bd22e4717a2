"""Checked hooks in the timing core: what only a machine can say is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.timing.assembly import code, one_warp
from tests.timing.both_cores import fast
from tests.timing.machine_files import machine_of
from tests.timing.reference.machine import Banks, Sm

from warpreg import gpu
from warpreg.designs import DesignError, load, program_table
from warpreg.designs.checking.running import Limits, watched
from warpreg.designs.interface.residency import Launch
from warpreg.timing.launch.simulate import _check_registers

HEAD = """\
from warpreg.designs.interface import *
DESIGN = Declaration(slot="mapping", order="sm", source="assumed: a test")
"""
BANKED = Sm(banks=Banks(count=4, mapping="register"))


def hook(name: str, parameters: str, statement: str) -> str:
    return f"{HEAD}@hook\ndef {name}({parameters}):\n    {statement}\n"


PLAN_READS = "plan_reads", "state, program, warp, pc, plan"
WRONG = [
    (*PLAN_READS, "read(plan, program.source_start[pc], MRF, bank=4)", "bank 4 is outside -1 to 3"),
    (
        *PLAN_READS,
        "read(plan, program.source_start[pc], MRF)\n    for n in range(257): extra(plan, MRF, READ, 0)",
        "one call queues more than 256 extra accesses, transfers, tokens, table accesses, completed loads or "
        "memory accesses",
    ),
    ("admit", "state, program, warp, pc, plan", "return -2", "answer -2 is outside -1 to 1099511627776"),
]


@pytest.mark.parametrize(("name", "parameters", "statement", "what"), WRONG)
def test_what_the_machine_lacks(tmp_path: Path, name: str, parameters: str, statement: str, what: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(hook(name, parameters, statement), encoding="utf-8")
    with pytest.raises(DesignError) as error:
        fast(one_warp("mov.b32 R1, R0"), machine_of(BANKED), 1, 1, design=load(path))
    assert f": {what} (" in str(error.value)
    assert str(error.value).startswith(f"{path}:")
    assert "warp 0, pc 0)" in str(error.value)


HALF = """
def residency(parameters, program, machine):
    return Residency(4)
"""
READS = """
@hook
def plan_reads(state, program, warp, pc, plan):
    for operand in source_operands(program, pc):
        read(plan, operand, {level}{bank})
@hook
def plan_write(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        write(plan, operand, MRF, bank=0)
"""


@pytest.mark.parametrize("checked", [True, False])
def test_a_register_beyond_what_a_warp_holds_by_residency(tmp_path: Path, checked: bool) -> None:
    """The kernel names R0 to R5 and a warp holds four registers: without hooks nobody says where R5 is.

    With a demand that the user states the residency is not the kernel's, so nothing is wrong.
    """
    path = tmp_path / "mine.py"
    path.write_text(HEAD + HALF, encoding="utf-8")
    design, kernel = load(path, checked=checked), code("mov.b32 R0, R1\nmov.b32 R5, R0")
    program = program_table(kernel)
    room = design.room(design.configure(), program, gpu.load("gtx480"), Launch(32))
    held = room.residency.held
    told = r"mine.py: kernel hand, pc 1, 'mov.b32 R5, R0': names register 5, .* 0 to 3; plan_write must"
    with pytest.raises(DesignError, match=told):
        _check_registers(design, kernel, program, held, demanded=6)
    _check_registers(design, kernel, program, held, demanded=4)


def test_hooks_that_place_operands_say_where_their_registers_are(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + HALF + READS.format(level="MRF", bank=", bank=1"), encoding="utf-8")
    kernel = code("mov.b32 R5, R0")
    _check_registers(load(path), kernel, program_table(kernel), 4, demanded=6)


TWO_LEVELS = HEAD.replace("order", 'levels=("MRF", "TOP"), order')
TWO_TECHNOLOGIES = HEAD.replace("order", 'levels=("MRF", "SLOW"), main=("MRF", "SLOW"), order')


@pytest.mark.parametrize(
    ("head", "level", "bank", "fails"),
    [
        (HEAD, "MRF", "", True),
        (HEAD, "MRF", ", bank=1", False),
        (TWO_LEVELS, "1", "", False),
        (TWO_TECHNOLOGIES, "1", "", True),
        (TWO_TECHNOLOGIES, "1", ", bank=1", False),
    ],
)
def test_a_place_that_no_hook_gives_is_the_registers_own(
    tmp_path: Path, head: str, level: str, bank: str, fails: bool
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(head + HALF + READS.format(level=level, bank=bank), encoding="utf-8")
    design, program = load(path), program_table(code("mov.b32 R1, R5"))
    reads = design.hooks["plan_reads"]
    from warpreg.designs.interface.plan import blank_plan

    def run() -> None:
        with watched(design.hooks, Limits(registers=4, named=6)):
            reads(0, program, 0, 0, blank_plan(2, 0, 4, 4))

    if not fails:
        run()
        return
    with pytest.raises(DesignError) as error:
        run()
    assert "register 5 of the register file is outside 0 to 3, what a warp holds by residency" in str(error.value)
