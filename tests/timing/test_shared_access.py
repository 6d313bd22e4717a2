"""Banks with slices: which words share an access, what that saves, and how much is accessed.

Unless told otherwise: four banks by register, issue at 1, enter at 2, reads from 3 on, dispatch in the cycle after the
last one, the result 4 cycles later.  R0, R8, R16 lie in left halves, R4, R12 in right ones (miniature ``halves``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.assembly import code, one_warp
from tests.timing.both_cores import agreed
from tests.timing.documented import documented
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.machine_files import machine_of
from tests.timing.random_runs import Case, cases
from tests.timing.reference.machine import PIPES, Banks, CollectorSet, Sm
from tests.timing.test_designs import path_of
from tests.timing.vocabulary import timed

from warpreg import gpu
from warpreg.designs import DesignError, load
from warpreg.designs.loading.fetch import banks_of
from warpreg.replay import replay

FOLDER = Path(__file__).parent / "designs"
HALVES = load(FOLDER / "halves.py")
RENAMED = load(FOLDER / "renamed.py")
COALESCED = load(FOLDER / "coalesced.py")
ONE_BANK = "mad.lo.s32 R1, R0, R4, R8\nmov.b32 R2, R1"


def banked(ports: int = 0, **more: object) -> Sm:
    return Sm(banks=Banks(count=4, mapping="register", operand_ports=ports, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "ports", "port", "reads"),
    [
        (1, 0, True, (3, 4, 5)),
        (2, 0, True, (3, 3, 4)),
        (2, 1, True, (3, 3, 4)),
        (2, 1, False, (3, 4, 5)),
        (2, 2, False, (3, 3, 4)),
        (4, 0, True, (3, 3, 4)),
    ],
)
def test_sources_whose_slices_do_not_meet_share_an_access(
    rows: int, ports: int, port: bool, reads: tuple[int, ...]
) -> None:
    """R0 (left) and R4 (right) name two rows, R8 (left) meets R0; a port each holds R4 back where there is one."""
    run = agreed(one_warp(ONE_BANK), banked(ports), design=HALVES, rows=rows, port=port)
    for register, cycle in zip(("R0", "R4", "R8"), reads, strict=True):
        run.bank(0).reads(register).at(cycle)
    run.warp(0).issues("mov").at(reads[-1] + 1 + 4)
    assert run.outcome.logs[0].shared["the same"] == 3 - len(set(reads))


@pytest.mark.parametrize(("one_row", "reads"), [(True, (3, 3, 3)), (False, (3, 4, 3))])
def test_words_of_one_row_share_an_access_whatever_their_slices(one_row: bool, reads: tuple[int, ...]) -> None:
    """R0 and R16, both left, need one after the other unless they are one row; R4 (right) goes with R0."""
    run = agreed(one_warp("mad.lo.s32 R1, R0, R16, R4"), banked(), design=HALVES, one_row=one_row)
    for register, cycle in zip(("R0", "R16", "R4"), reads, strict=True):
        run.bank(0).reads(register).at(cycle)


def test_a_word_that_is_named_twice_is_requested_as_it_is_named_first(tmp_path: Path) -> None:
    """R0 and the second R4 name row 1, the first R4 row 2 and the same slices: R4 waits for R0's access, both times."""
    file = tmp_path / "named_twice.py"
    file.write_text(
        "from warpreg.designs.interface import MRF, Banks, Declaration, hook, read\n"
        'DESIGN = Declaration(slot="mapping", source="assumed: a test")\n'
        "def banks(parameters, machine):\n    return Banks(slices=2, row_addresses=2)\n"
        "@hook\ndef plan_reads(state, program, warp, pc, plan):\n"
        "    first = program.source_start[pc]\n"
        "    for operand in range(first, program.source_start[pc + 1]):\n"
        "        read(plan, operand, MRF, slices=1, row=2 if operand == first + 1 else 1)\n",
        encoding="utf-8",
    )
    run = agreed(one_warp("mad.lo.s32 R1, R0, R4, R4\nmov.b32 R2, R1"), banked(), design=load(file, checked=False))
    run.bank(0).reads("R0").at(3)
    run.bank(0).reads("R4").at(4)
    run.warp(0).issues("mov").at(4 + 1 + 4)


@pytest.mark.parametrize(("across", "second"), [(False, 4), (True, 3)])
def test_sharing_between_instructions_is_an_option(across: bool, second: int) -> None:
    """Two schedulers issue at 1, and both instructions ask bank 0 from 3 on: for a left half and for a right one."""
    kernel = code("mov.b32 R1, R0", "mov.b32 R2, R4")
    launched = Launched(kernel, ((WarpPath(((0, FULL),)), WarpPath(((1, FULL),))),))
    sets = (CollectorSet(PIPES, collectors=2, in_ports=2),)
    sm = Sm(schedulers=2, banks=Banks(count=4, mapping="register", sets=sets))
    run = agreed(launched, sm, design=HALVES, across=across)
    run.bank(0).reads("R0").at(3)
    run.bank(0).reads("R4").at(second)
    assert run.outcome.logs[0].shared == ({"another": 1} if across else {})


def test_how_much_is_accessed_follows_the_slices() -> None:
    """Four halves are read and two written: 2 and 1 warp-registers in 4 and 2 accesses, in a replay too."""
    launched = one_warp(ONE_BANK)
    agreed(launched, banked(), design=HALVES)
    counts = replay(path_of(launched), launched.kernel, HALVES, mode="interpreted", machine=gpu.load("gtx480"))
    assert (counts.accesses[0].sum(axis=1).tolist(), counts.amounts[0].sum(axis=1).tolist()) == ([4, 2], [2.0, 1.0])
    assert counts.amount("MRF") == 3.0
    assert [item.amount for item in counts.energy_list() if hasattr(item, "amount")] == [2.0, 1.0]


def test_a_merged_read_costs_the_slices_that_it_adds() -> None:
    """R4 and R5 share a row: together 4 of 4 slices; R8 and R1 alone 2 each: 3 accesses of 2 warp-registers."""
    launched = one_warp("mad.lo.s32 R1, R4, R5, R8\nmov.b32 R2, R1")
    agreed(launched, banked(), design=COALESCED)
    counts = replay(path_of(launched), launched.kernel, COALESCED, mode="interpreted")
    assert (int(counts.accesses[0, 0].sum()), float(counts.amounts[0, 0].sum())) == (3, 2.0)


def test_a_machine_whose_banks_cannot_be_sliced(tmp_path: Path) -> None:
    file = tmp_path / "fifths.py"
    file.write_text(
        "from warpreg.designs.interface import Banks, Declaration\n"
        'DESIGN = Declaration(slot="mapping", source="assumed: a test")\n'
        "def banks(parameters, machine):\n    return Banks(slices=5)\n",
        encoding="utf-8",
    )
    one = load(file)
    with pytest.raises(DesignError) as error:
        banks_of(one, one.configure(), gpu.load("gtx480"))
    assert str(error.value) == (
        "fifths: banks: slices expects one of 1, 2, 4, 8, 16, as a bank of gtx480 has 1024 bits "
        "(register_file.bank_width_bits), found 5"
    )


WRONG = """
from warpreg.designs.interface import *
DESIGN = Declaration(slot="mapping", source="assumed: a test")
@hook
def plan_reads(state, program, warp, pc, plan):
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        read(plan, operand, MRF, slices=0b0011)
"""


def test_slices_that_the_banks_do_not_have(tmp_path: Path) -> None:
    """Without ``banks`` those of the machine hold, and they have one slice."""
    file = tmp_path / "wrong.py"
    file.write_text(WRONG, encoding="utf-8")
    one, launched = load(file, checked=False), one_warp("mov.b32 R1, R0")
    expected = (
        "wrong: slices expects a mask of 1 to 0b1, as the banks have one slice (function banks, or "
        "register_file.slices of the machine), found 0b11"
    )
    with pytest.raises(DesignError) as error:
        agreed(launched, banked(), design=one)
    assert str(error.value) == expected
    with pytest.raises(DesignError) as error:
        replay(path_of(launched), launched.kernel, one, mode="interpreted")
    assert str(error.value) == expected


def test_a_machine_may_have_slices_of_its_own(tmp_path: Path) -> None:
    """With four slices and two rows R0 and R4 would share, but both read the same half."""
    file = tmp_path / "wrong.py"
    file.write_text(WRONG, encoding="utf-8")
    run = agreed(one_warp("add.s32 R1, R0, R4"), banked(slices=4, row_addresses=2), design=load(file))
    run.bank(0).reads("R4").at(4)


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    """R0 and R1 are physical register 0, R2 and R3 the next one: all but R2, which meets R0, are read at once."""
    one = load(documented(tmp_path, "share a physical register"))
    run = agreed(one_warp("mad.lo.s32 R4, R0, R1, R2"), Sm(banks=Banks(count=4, mapping="warp")), design=one)
    for register, cycle in (("R0", 3), ("R1", 3), ("R2", 4)):
        run.bank(0).reads(register).at(cycle)


def test_one_design_of_a_composition_may_say_how_banks_are(tmp_path: Path) -> None:
    text = Path(HALVES.path).read_text(encoding="utf-8")
    (tmp_path / "other.py").write_text(text.replace('"mapping"', '"levels"'), encoding="utf-8")
    with pytest.raises(DesignError, match=r"both halves and other define banks, and neither of them uses the other"):
        load(f"{HALVES.path}+{tmp_path / 'other.py'}")


def test_the_slices_of_a_mapping_behind_a_level() -> None:
    """The miniature ``last_result`` keeps R1, so of four reads and two writes three halves are left to the banks."""
    both = load(f"{HALVES.path}+{FOLDER / 'last_result.py'}")
    launched = one_warp(ONE_BANK)
    agreed(launched, banked(), design=both)
    counts = replay(path_of(launched), launched.kernel, both, mode="interpreted", machine=gpu.load("gtx480"))
    assert (counts.reads("MRF"), counts.reads("LAST"), counts.writes("LAST")) == (3, 1, 2)
    assert counts.amounts.sum(axis=2).tolist() == [[1.5, 0.0], [1.0, 2.0]]


OWN_BANK = """
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", levels=("MRF", "CACHE"), source="assumed: a test")
def banks(parameters, machine):
    return Banks(slices=1, row_addresses=1, shares_port=False, added=1)
@hook
def plan_reads(state, program, warp, pc, plan):
    for operand in source_operands(program, pc):
        if program.source[operand] == 4:
            read(plan, operand, 1, bank=4)
        else:
            read(plan, operand, MRF)
@hook
def plan_write(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        write(plan, operand, 1, bank=4)
"""


@pytest.mark.parametrize(("ports", "read"), [(0, 3), (1, 4)])
def test_a_design_may_add_banks_of_its_own(tmp_path: Path, ports: int, read: int) -> None:
    """R0 and R4 share bank 0 of four, but R4 is in the added bank 4: it is read with R0 unless there is one port."""
    file = tmp_path / "cache.py"
    file.write_text(OWN_BANK, encoding="utf-8")
    run = agreed(one_warp("add.s32 R1, R0, R4\nmov.b32 R2, R1"), banked(ports), design=load(file))
    run.bank(0).reads("R0").at(3)
    run.bank(4).reads("R4").at(read)
    run.bank(4).writes("R1").at(read + 1 + 4)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(cases, st.booleans())
def test_a_timing_run_accesses_as_much_as_a_replay(case: Case, one_row: bool) -> None:
    options: dict[str, Any] = {"one_row": one_row}
    for design, parameters in ((HALVES, options), (RENAMED, {})):
        args = (case.sms, case.resident, design)
        counts = timed(case.launched, case.sm, case.memory(), *args, **parameters).outcome.counts
        machine = machine_of(case.sm)
        path, kernel = path_of(case.launched), case.launched.kernel
        expected = replay(path, kernel, design, mode="interpreted", machine=machine, **parameters)
        assert expected.spared is not None
        assert counts.accesses.tolist() == expected.accesses.reshape(-1).tolist()
        assert counts.spared.tolist() == expected.spared.reshape(-1).tolist()
        assert counts.tables[:, :2].reshape(-1).tolist() == list(expected.events.values())


@pytest.mark.slow
def test_compiled_a_replay_accesses_as_much() -> None:
    launched = one_warp(ONE_BANK)
    path, machine = path_of(launched), gpu.load("gtx480")
    plain, native = (
        replay(path, launched.kernel, COALESCED, mode=mode, machine=machine) for mode in ("interpreted", "compiled")
    )
    assert plain.as_dict() == native.as_dict()
    assert native.as_dict()["amounts"] == {"MRF.read.private": 2.0}
