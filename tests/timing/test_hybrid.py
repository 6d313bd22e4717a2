"""The designs with two technologies in time: both cores, the switch, and closed forms (hybrid CMOS-TFET)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from tests.designs.kernels import kernel
from tests.timing.assembly import assemble, one_warp
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.machine_files import machine_of
from tests.timing.random_runs import Case, cases
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Banks, CollectorSet, Sm
from tests.timing.test_miniatures import events
from tests.timing.vocabulary import Timed

from warpreg import gpu
from warpreg.designs import DesignError, load, program_table
from warpreg.designs.errors import ParameterError
from warpreg.designs.interface import Launch
from warpreg.designs.interface.state import named_leaves
from warpreg.designs.parts.hybrid.columns import NUMBER, PENDING, POWERED, RESIDENT, SUPERSEDED

RENAMING = ("mem-ra", "cmos-ra", "ideal-mem-ra")
TFET = 1
"""The level of TFET vectors."""


def sized(sm: Sm, vectors: int, name: str, **chosen: Any) -> dict[str, Any]:
    """Parameters for the banks of a machine; the ideal file has no number of TFET vectors."""
    values: dict[str, Any] = {"banks": machine_of(sm).register_file.banks, "vectors": vectors, **chosen}
    if name == "ideal-mem-ra":
        values.pop("tfet", None)
    return values


@pytest.mark.slow
@pytest.mark.parametrize("name", RENAMING)
@pytest.mark.parametrize("vectors", [64, 256])
@settings(max_examples=6, deadline=None)
@given(case=cases)
def test_both_cores_agree(name: str, vectors: int, case: Case) -> None:
    """And the register file is empty at the end.  64 vectors are too few for some cases, as with ``--registers``."""
    values = sized(case.sm, vectors, name, tfet=vectors // 3)
    run = agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident, load(name), **values)
    state = dict(named_leaves(run.outcome.state))
    assert not state["registers"][:, :, PENDING].any()
    assert not state["own"][:, SUPERSEDED].any()
    assert not state["own"][:, RESIDENT].any()
    free = state["own"][:, NUMBER : NUMBER + 2].sum(axis=1)
    tfet = vectors if name == "ideal-mem-ra" else vectors // 3
    assert free.tolist() == (state["own"][:, POWERED] + tfet).tolist()
    if vectors == 256:
        assert events(run, load(name))["unplaced"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", RENAMING)
@settings(max_examples=6, deadline=None)
@given(case=cases)
def test_switched_off_it_is_the_plain_register_file(name: str, case: Case) -> None:
    values = sized(case.sm, 64, name, enabled=False)
    plain = agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident)
    off = agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident, load(name), **values)
    assert (off.cycles, off.stalls.counts, off.outcome.issues) == (
        plain.cycles,
        plain.stalls.counts,
        plain.outcome.issues,
    )
    mrf = plain.outcome.counts.accesses.tolist()
    assert off.outcome.counts.accesses.tolist() == [*mrf, *([0] * len(mrf))]


ONE_STAGE = Sm(
    banks=Banks(count=4, steps=2, single_ported=False, sets=(CollectorSet(PIPES, collectors=1),)),
)


def accesses(run: Timed, level: int) -> list[int]:
    """Reads and writes of a level."""
    found: list[int] = run.outcome.counts.accesses.reshape(-1, 2, 2)[level].sum(axis=1).tolist()
    return found


CHAIN = "mov.b32 R1, 1\nadd.s32 R2, R1, 1\nadd.s32 R3, R2, R1\nmov.b32 R4, R3"


@pytest.mark.parametrize(
    ("tfet", "issues", "in_tfet"),
    [(0, (1, 6, 12, 18), 0), (64, (1, 1 + 5 + 1, 7 + 6 + 2, 15 + 6 + 2), 4)],
)
def test_a_tfet_register_takes_a_cycle_more_to_write_and_to_read(
    tfet: int, issues: tuple[int, ...], in_tfet: int
) -> None:
    """§3.2, §3.3.  A move without sources enters the stage in 2, dispatches in its second step, and its result is there
    4 cycles later.  An addition also reads, and takes 6 cycles.  With two TFET sources it takes one cycle more to read,
    not two, and one more to write.
    """
    launched = one_warp(CHAIN)
    run = agreed(launched, ONE_STAGE, design=load("cmos-ra"), **sized(ONE_STAGE, 64, "cmos-ra", tfet=tfet))
    run.warp(0).issues().at(*issues)
    assert accesses(run, TFET) == [in_tfet, in_tfet]
    assert sum(accesses(run, 0)) == 8 - 2 * in_tfet


def test_an_instruction_with_tfet_sources_occupies_the_read_stage_for_two_cycles() -> None:
    """The first addition issues when R1 is there.  The second one waits in the latch while the first one reads, and
    each further one for two cycles of the stage.  With CMOS registers one issues in each cycle.
    """
    launched = one_warp("mov.b32 R1, 1\n" + "\n".join(f"add.s32 R{i}, R1, {i}" for i in range(2, 6)))
    slow = agreed(launched, ONE_STAGE, design=load("cmos-ra"), **sized(ONE_STAGE, 64, "cmos-ra", tfet=64))
    quick = agreed(launched, ONE_STAGE, design=load("cmos-ra"), **sized(ONE_STAGE, 64, "cmos-ra", tfet=0))
    slow.warp(0).issues("add").at(7, 8, 10, 12)
    quick.warp(0).issues("add").at(6, 7, 8, 9)


@pytest.mark.parametrize("stage", [0, 1])
def test_only_what_follows_a_control_instruction_waits_for_the_renaming_stage(stage: int) -> None:
    """§3.2.  The second addition depends on the first and issues 6 cycles later as ever.  The branch issues in 8, and
    the next instruction 4 cycles later, the latency of control instructions here, and the stage.
    """
    launched = one_warp("add.s32 R1, R0, 1\nadd.s32 R2, R1, 1\nbra 0", times=2)
    values = sized(ONE_STAGE, 64, "cmos-ra", tfet=0, stage=stage, refill=4)
    run = agreed(launched, ONE_STAGE, design=load("cmos-ra"), **values)
    run.warp(0).issues().at(1, 7, 8, 12 + stage, 18 + stage, 19 + stage)


LINE = Access(FULL, "global", 0, ((0, 15),))
LOADS = "ld.global.u32 R1, [R0]\nadd.s32 R2, R1, 1\nadd.s32 R3, R2, 1\nld.global.u32 R4, [R3]\nadd.s32 R5, R4, 1"


def chosen_after(launched: Launched, latency: int, **chosen: Any) -> dict[str, int]:
    run = agreed(launched, ONE_STAGE, latency, design=load("mem-ra"), **sized(ONE_STAGE, 64, "mem-ra", **chosen))
    return events(run, load("mem-ra"))


def test_results_go_to_tfet_registers_once_an_access_was_long_and_loads_never_do() -> None:
    """Both loads take 201 cycles with that of sending, more than the reference of 128: 191 stall cycles are predicted
    after each.  All three additions come after a load and go to TFET registers, the loads do not.
    """
    found = chosen_after(one_warp(LOADS, LINE, LINE), 200, tfet=20)
    assert (found["chosen"], found["renamed"], found["loads_forced"]) == (3, 5, 0)
    assert (found["predicted"], found["predicted_cycles"]) == (2, 2 * 191)


@pytest.mark.parametrize(
    ("latency", "chosen", "expected"),
    [
        (9, {}, 0),  # 10 cycles: no longer than the threshold
        (12, {}, 0),  # (13 - 10) x 13 / 128 = 0
        (11, {"reference": 8}, 2 * 2),  # the sample is above it: 2 cycles after each load, one register each
        (40, {}, 2 * ((41 - 10) * 41 >> 7)),
    ],
)
def test_short_accesses_predict_little(latency: int, chosen: dict[str, Any], expected: int) -> None:
    found = chosen_after(one_warp(LOADS, LINE, LINE), latency, tfet=20, **chosen)
    assert found["predicted_cycles"] == expected
    assert found["chosen"] == {0: 0, 4: 2}.get(expected, 3)


def test_loads_are_forced_to_tfet_registers_where_no_cmos_register_is_free() -> None:
    """§3.3: all registers are TFET, so that each request for another one finds an empty list."""
    found = chosen_after(one_warp(LOADS, LINE, LINE), 10, tfet=64)
    assert (found["loads_forced"], found["others_forced"], found["chosen"]) == (2, 3, 0)


def test_a_write_of_all_lanes_needs_no_old_ones() -> None:
    """After a branch, lanes may wait on its other side: a write there might leave them alone.  Here all are active."""
    blocks = ([assemble("mov.b32 R1, 1")], [assemble("mov.b32 R1, 2")], [assemble("st.shared.u32 [R0], R1")])
    branching = kernel(*blocks, successors=((1, 2), (2,), ()))
    for mask, carried in ((FULL, 0), (FULL >> 1, 1)):
        path = WarpPath(((0, FULL), (1, mask), (2, FULL)), (Access(FULL, "shared", 1),))
        launched = Launched(branching, ((path,),))
        run = agreed(launched, ONE_STAGE, design=load("cmos-ra"), **sized(ONE_STAGE, 64, "cmos-ra", tfet=20))
        assert events(run, load("cmos-ra"))["carried"] == carried


def test_lanes_that_a_guarded_instruction_leaves_alone_come_along() -> None:
    """R1 is written, then by some lanes only.  It gets another vector, and the first one is read once more."""
    text = "mov.b32 R1, 1\nsetp.lt.s32 P0, R0, 3\n@P0 mov.b32 R1, 2\nst.shared.u32 [R0], R1"
    launched = one_warp(text, Access(FULL, "shared", 1))
    run = agreed(launched, ONE_STAGE, design=load("cmos-ra"), **sized(ONE_STAGE, 64, "cmos-ra", tfet=20))
    found = events(run, load("cmos-ra"))
    assert (found["renamed"], found["carried"], found["stayed"]) == (2, 1, 0)
    assert accesses(run, 0) == [1 + 2 + 1, 2]  # R0 for the comparison, the store, and the old R1


def test_registers_that_are_on_are_those_of_resident_warps() -> None:
    """A warp of two registers in a file of 64 vectors, 14 of them TFET: 50 x 2 / 64 of the CMOS vectors are on, rounded
    up.
    """
    launched = one_warp("mov.b32 R1, 1\nmov.b32 R0, R1")
    for name, on in (("mem-ra", 2), ("cmos-ra", 2)):
        run = agreed(launched, ONE_STAGE, design=load(name), **sized(ONE_STAGE, 64, name, tfet=14))
        assert run.outcome.counts.integrals(run.cycles) == [[on * run.cycles, 14 * run.cycles]]


@pytest.mark.parametrize(
    ("name", "chosen", "message"),
    [
        ("mem-ra", {"tfet": 600}, "mem-ra: tfet expects at most 512, all vectors of an SM, found 600"),
        ("cmos-ra", {"tfet": 513}, "cmos-ra: tfet expects at most 512, all vectors of an SM, found 513"),
        ("mem-ra", {"vectors": 1024}, "mem-ra: vectors expects 512, the warp-registers of an SM of tfet, found 1024"),
        ("ideal-mem-ra", {"banks": 4}, "ideal-mem-ra: banks expects 1, the banks of tfet, found 4"),
        ("mem-ra", {"refill": 3}, "mem-ra: refill expects 6, the cycles of control instructions of tfet, found 3"),
        ("mem-ra", {"reference": 100}, "mem-ra: reference expects a power of two .a shift divides., found 100"),
    ],
)
def test_wrong_sizes_are_refused(name: str, chosen: dict[str, Any], message: str) -> None:
    design = load(name)
    with pytest.raises(DesignError, match=message):
        design.room(design.configure(**chosen), program_table(one_warp(CHAIN).kernel), gpu.load("tfet"), Launch(64))


def test_a_sampling_period_of_0_is_refused() -> None:
    message = r"mem-ra: parameter period expects int from 1 to 1.04858e\+06 \(cycles\), found 0"
    with pytest.raises(ParameterError, match=message):
        load("mem-ra").configure(period=0)
