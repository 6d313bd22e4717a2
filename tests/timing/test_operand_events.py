"""When an instruction has issued, its operands are collected and its results produced; what the hooks can do then.

Unless told otherwise: one scheduler, lrr, latency 4, one warp placed in cycle 0, which issues from cycle 1 on; with
banks an instruction enters its collector in the cycle after issue and reads in the one after that.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.replay.paths import Recorded
from tests.timing.assembly import one_warp
from tests.timing.both_cores import agreed, fast, machine_with_memory
from tests.timing.launches import Launched
from tests.timing.random_runs import Case, cases, launches
from tests.timing.reference.machine import PIPES, Banks, CollectorSet, Pipe, Sm
from tests.timing.reference.program import steps
from tests.timing.test_miniatures import A_SCHEDULER, accesses, events, load_of, miniature

from warpreg.designs import Design, load
from warpreg.designs.interface.accounts import plans_results
from warpreg.replay import Counts, replay
from warpreg.timing.launch import engine

ONE_PORT = Sm(banks=Banks(count=4, mapping="register", operand_ports=1))
FOUR_COLLECTORS = Banks(count=4, mapping="register", sets=(CollectorSet(PIPES, collectors=4),))


@pytest.mark.parametrize(
    ("names", "integral"),
    [(("reading",), (3 - 1) + (4 - 1) + (5 - 1) + (12 - 10)), (("coalesced", "reading"), 2 * (3 - 1) + (4 - 1) + 2)],
)
def test_a_policy_follows_operands_without_planning_them(names: tuple[str, ...], integral: int) -> None:
    """A port takes R4, R5 and R8 in cycles 3, 4 and 5, or R4 with R5 in 3 and R8 in 4; the sum is over operands, from
    issue in 1 to the read.

    The second instruction issues when R1 is there, in 10 or 9, and reads it two cycles later.
    """
    design = miniature(*names)
    run = agreed(one_warp("mad.lo.s32 R1, R4, R5, R8\nmov.b32 R2, R1"), ONE_PORT, design=design)
    found = events(run, design)
    assert (found["issued"], found["collected"]) == (2, 4)
    assert run.outcome.counts.integrals(run.cycles) == [[integral]]


@pytest.mark.parametrize(("name", "says"), [("mem-ra", False), ("larf", True), ("bow", True)])
def test_results_are_planned_again_only_where_a_design_may_do_so(name: str, says: bool) -> None:
    """``produced`` of MEM_RA keeps books alone, so that what ``plan_write`` has planned need not be kept for it."""
    assert plans_results(load(name).hooks["produced"]) is says


def test_with_the_ideal_path_operands_are_collected_at_issue() -> None:
    design = miniature("reading")
    run = agreed(one_warp("mad.lo.s32 R1, R4, R5, R8\nbar.sync 0"), A_SCHEDULER, design=design)
    assert events(run, design) == {"issued": 2, "collected": 3}
    assert run.outcome.counts.integrals(run.cycles) == [[0]]
    assert accesses(run) == [[3, 1]]


def test_an_operand_of_another_level_is_collected_when_it_is_present() -> None:
    """R1 is in the bank; its reader is issued at 1 + 7, enters its collector at 9 and has R1 from LAST at 10."""
    design = miniature("last_result", "reading")
    run = agreed(one_warp("mov.b32 R1, R5\nmov.b32 R2, R1"), Sm(banks=FOUR_COLLECTORS), design=design)
    run.warp(0).issues().at(1, 8)
    assert accesses(run) == [[1, 0], [1, 2]]
    assert run.outcome.counts.integrals(run.cycles) == [[(3 - 1) + (10 - 8)]]


@pytest.mark.parametrize(("names", "later"), [((), 1), (("renamed_at_writeback",), 0)])
def test_a_result_finds_a_free_bank_when_it_is_there(names: tuple[str, ...], later: int) -> None:
    """Both results are due at 8: 1 + 3 + 4 and 2 + 3 + 3.  R0 and R4 share bank 0, so that R4 waits for a cycle, and
    its reader with it; renamed, R0 goes to bank 0 and R4 to bank 1.
    """
    pipes = {name: Pipe(latency=3 if name == "fp" else 4) for name in PIPES}
    text = "add.s32 R0, R8, 1\nadd.f32 R4, R9, R9\nmov.b32 R2, R4"
    design = miniature(*names) if names else None
    run = agreed(one_warp(text), Sm(banks=FOUR_COLLECTORS, pipes=pipes), design=design)
    bank = 1 - later
    run.bank(0).writes("R0").at(8)
    run.bank(bank).writes("R4").at(8 + later)
    run.warp(0).issues("mov").at(8 + later)
    run.bank(bank).reads("R4").at(10 + later)
    assert accesses(run) == [[1 + 2 + 1 if design else 4, 3]]


CHAIN = "mov.b32 R1, 1\nadd.s32 R2, R1, 1\nadd.s32 R3, R2, 1\nmov.b32 R4, R3"


def with_widths(launched: Launched, *widths: int) -> Launched:
    """Each warp writes values of these widths."""
    return replace(
        launched, blocks=tuple(tuple(replace(warp, widths=widths) for warp in block) for block in launched.blocks)
    )


def replayed(launched: Launched, design: Design) -> Counts:
    path = Recorded()
    for index, block in enumerate(launched.blocks):
        path.thread_block(index)
        for number, warp in enumerate(block):
            path.warp(number).widths(*warp.widths)
            for visited, mask in warp.visits:
                path.visits(visited, mask=mask)
    return replay(path, launched.kernel, design, mode="interpreted")


def test_the_width_of_a_value_decides_where_it_goes() -> None:
    """Wide results take two cycles more: R1 at 5, R2 at 9 + 2, R3 at 15, R4 at 19 + 2."""
    design = miniature("narrow")
    launched = with_widths(one_warp(CHAIN), 1, 4, 2, 3)
    run = agreed(launched, A_SCHEDULER, design=design)
    run.warp(0).issues().at(1, 5, 11, 15)
    assert run.cycles == 21 + 1
    assert accesses(run) == [[1, 2], [2, 2]]
    assert events(run, design) == {"bytes": 1 + 4 + 2 + 3, "loaded bytes": 0}
    assert replayed(launched, design).accesses.sum(axis=2).tolist() == [[1, 2], [2, 2]]


@pytest.mark.parametrize(("bytes_", "used"), [(2, 22), (3, 24)])
def test_the_width_of_a_load_is_known_when_its_data_are_back(bytes_: int, used: int) -> None:
    """The load is back at 22.  What issues meanwhile has other widths."""
    design = miniature("narrow")
    launched = with_widths(
        one_warp("ld.global.u32 R1, [R4.64]\nmov.b32 R3, 1\nmov.b32 R2, R1", load_of(0)), bytes_, 1, 4
    )
    run = agreed(launched, A_SCHEDULER, design=design)
    run.warp(0).issues("mov.b32 R2").at(used)
    assert events(run, design) == {"bytes": bytes_ + 1 + 4, "loaded bytes": bytes_}


def test_widths_outlast_the_coming_of_more_thread_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A warp of each thread block, two resident; what is under way keeps its widths when the feed brings more."""
    launched = one_warp("ld.global.u32 R1, [R4.64]\nmov.b32 R2, R1", load_of(0))
    launched = replace(launched, blocks=launched.blocks * 9).with_widths(seed=3)
    monkeypatch.setattr(engine, "FEED_WORDS", 1)
    design = miniature("narrow")
    run = agreed(launched, A_SCHEDULER, interval=3, resident=2, design=design)
    widths = [warp.widths for (warp,) in launched.blocks]
    assert events(run, design) == {"bytes": sum(map(sum, widths)), "loaded bytes": sum(load for load, _ in widths)}


@settings(max_examples=15, deadline=None)
@given(cases, st.integers(0, 100), st.sampled_from([("narrow",), ("narrow", "renamed_at_writeback")]))
def test_both_cores_and_replay_agree_on_widths(case: Case, seed: int, names: tuple[str, ...]) -> None:
    """A width decides in ``plan_write``, a load's in ``produced``; a mapping then gives each result its bank."""
    design = miniature(*names)
    launched = case.launched.with_widths(seed)
    run = agreed(launched, case.sm, case.latency, case.interval, case.sms, case.resident, design)
    if names == ("narrow",):
        counts = replayed(launched, design)
        assert run.outcome.counts.accesses.tolist() == counts.accesses.reshape(-1).tolist()
        assert run.outcome.counts.events.tolist() == list(counts.events.values())


ALL_SLOTS = ("narrow", "renamed_at_writeback", "reading")


@settings(max_examples=15, deadline=None)
@given(cases)
def test_every_operand_is_collected_and_every_result_placed_once(case: Case) -> None:
    """The mapping plans each source in ``plan_reads`` and each result in ``produced``."""
    design = miniature("renamed_at_writeback", "reading")
    run = agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident, design)
    issued = [step.instruction for block in steps(case.launched, case.sm.worker) for warp in block for step in warp]
    sources = sum(len(instruction.sources) for instruction in issued)
    results = sum(len(instruction.results) for instruction in issued)
    assert events(run, design) == {"given": results, "issued": len(issued), "collected": sources}
    assert accesses(run) == [[sources, results]]
    assert not run.outcome.state.reading.reading.any()


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(launches(), st.integers(0, 100))
def test_compiled_hooks_see_what_interpreted_ones_see(launched: Launched, seed: int) -> None:
    design, machine = miniature(*ALL_SLOTS), machine_with_memory(Sm(banks=FOUR_COLLECTORS), latency=20, interval=2)
    wide = launched.with_widths(seed)
    runs = [fast(wide, machine, 1, 2, mode, design=design) for mode in ("interpreted", "compiled")]
    assert runs[0].result.as_dict() == runs[1].result.as_dict()
    assert runs[0].outside.events.tolist() == runs[1].outside.events.tolist()
