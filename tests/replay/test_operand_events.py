"""Replay calls a design when instructions issue, operands are read and results are there, and feeds it with widths."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, pair, r
from tests.replay import naive
from tests.replay.naive import Event, Step
from tests.replay.paths import Recorded
from tests.replay.random_runs import runs
from tests.replay.schedules import Scheduling, schedules

from piecewise_numba.options import Mode
from warpreg.designs import Design, DesignError, load, program_table
from warpreg.ir.kernel import Kernel
from warpreg.replay import ReplayError, distinct_warps, replay
from warpreg.trace import Schedule, TraceError
from warpreg.trace.path import RecordedPath

HEAD = "from typing import NamedTuple\nimport numpy as np\nfrom warpreg.designs.interface import *\n"

HOLDING = """
DESIGN = Declaration(
    slot="levels", events=("planned", "read", "made", "arrived"), widths=True, source="assumed: a test"
)
PLANNED, READ_BYTES, MADE, ARRIVED = range(4)
class State(NamedTuple):
    issued: object
    held: object
def init(parameters, program):
    return State(per_warp(np.int64(0)), per_warp(np.zeros(program.register_count, np.int64)))
@hook
def plan_write(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        count(plan, PLANNED, (pc + 1) * width(plan, operand))
        write(plan, operand, MRF)
@hook
def issued(state, program, warp, pc, plan):
    state.issued[warp] += 1
@hook
def collected(state, program, warp, pc, operand, plan):
    count(plan, READ_BYTES, state.held[warp, program.source[operand]] * state.issued[warp])
@hook
def produced(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        state.held[warp, program.result[operand]] = width(plan, operand)
        count(plan, MADE, width(plan, operand) * state.issued[warp])
@hook
def arrived(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        count(plan, ARRIVED, (operand + 1) * width(plan, operand))
"""
"""``held`` [warp, register] is the width of what a register holds."""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.py"
    path.write_text(HEAD + dedent(text), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def holding(tmp_path_factory: pytest.TempPathFactory) -> Design:
    return load(written(tmp_path_factory.mktemp("designs"), "holding", HOLDING))


def in_path_order(code: Kernel, path: RecordedPath) -> Iterator[Event]:
    """Warps one by one, results at once."""
    slots: dict[naive.Warp, int] = {}
    late = program_table(code).long_latency
    for step in naive.steps(code, path):
        slot = slots.setdefault(step.warp, len(slots))
        yield Event("issue", slot, 0, step)
        if late[step.pc]:
            yield Event("arrive", slot, 0, pc=step.pc)


def held(code: Kernel, events: Iterator[Event]) -> Counter[str]:
    """What the design counts."""
    program, counts = program_table(code), Counter[str]()
    issued: Counter[int] = Counter()
    content: dict[tuple[int, int], int] = {}
    under_way: defaultdict[int, list[Step]] = defaultdict(list)

    def made(slot: int, step: Step) -> None:
        for register, width in zip(step.writes, step.widths, strict=True):
            content[slot, register] = width
            counts["made"] += width * issued[slot]

    for event in events:
        step = event.step
        if event.kind == "start":
            issued[event.slot] = 0
            content = {place: width for place, width in content.items() if place[0] != event.slot}
        elif event.kind == "arrive":
            step = next(one for one in under_way[event.slot] if one.pc == event.pc)
            under_way[event.slot].remove(step)
            made(event.slot, step)
            first = int(program.result_start[event.pc])
            counts["arrived"] += sum((first + place + 1) * width for place, width in enumerate(step.widths))
        elif step is not None:
            issued[event.slot] += 1
            counts["planned"] += (step.pc + 1) * sum(step.widths)
            counts["read"] += issued[event.slot] * sum(content.get((event.slot, one), 0) for one in step.reads)
            if program.long_latency[step.pc]:
                under_way[event.slot].append(step)
            else:
                made(event.slot, step)
    return +counts


def with_widths(code: Kernel, path: Recorded, draw: st.DataObject) -> Recorded:
    for step in naive.steps(code, path):
        path.widths(*draw.draw(st.lists(st.integers(1, 4), min_size=len(step.writes), max_size=len(step.writes))))
    return path


@settings(max_examples=40, deadline=None)
@given(runs(), st.data())
def test_a_replay_counts_what_the_naive_model_counts(
    holding: Design, run: tuple[Kernel, Recorded], data: st.DataObject
) -> None:
    code, path = run[0], with_widths(*run, data)
    expected = held(code, in_path_order(code, path))
    assert +Counter(replay(path, code, holding, mode="interpreted").events) == expected
    distinct = distinct_warps([path], len(code.blocks), "interpreted", widths_of=code)
    assert +Counter(replay(distinct, code, holding, mode="interpreted").events) == expected
    schedule = data.draw(schedules(code, path))
    found = replay(path, code, holding, schedule=schedule, mode="interpreted")
    assert +Counter(found.events) == held(code, naive.events(code, path, schedule))
    assert found.accesses.tolist() == replay(path, code, "mrf", mode="interpreted").accesses.tolist()


LOADING = kernel([op("ld.global.u32", r(1), at(pair(4))), op("mov.b32", r(2), 1), op("add.s32", r(3), r(1), r(2))])


def late_run() -> tuple[Recorded, Schedule]:
    """The load's result comes after the next instruction has issued."""
    path = Recorded().thread_block().warp(0).widths(2, 1, 3).visits(0)
    return path, Scheduling().start(0).issue(0, 2).arrive(0, 0).issue(0).end(0).of(LOADING, path)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["interpreted", "compiled"])
def test_a_late_result_has_the_width_of_its_own_instruction(holding: Design, mode: Mode) -> None:
    """Two instructions have issued when the load's two bytes come, three when the sum's three do.  The sum reads 2 + 1
    bytes.  Without a schedule the load's come after the first instruction.
    """
    path, schedule = late_run()
    found = replay(path, LOADING, holding, schedule=schedule, mode=mode).events
    assert found == {"planned": 2 + 2 + 9, "read": 3 * 3, "made": 2 * 2 + 2 * 1 + 3 * 3, "arrived": 2}
    assert replay(path, LOADING, holding, mode=mode).events["made"] == 1 * 2 + 2 * 1 + 3 * 3


SPLIT = """
DESIGN = Declaration(slot="levels", levels=("MRF", "TOP"), order="sm", source="assumed: a test")
@hook
def plan_write(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        write(plan, operand, program.result[operand] % 2)
"""
SLOW = """
DESIGN = Declaration(slot="mapping", levels=("MRF", "SLOW"), source="assumed: a test")
@hook
def produced(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        write(plan, operand, 1, bank=0)
"""


@pytest.mark.parametrize("scheduled", [False, True])
def test_a_mapping_places_late_results_that_a_level_left_to_it(tmp_path: Path, scheduled: bool) -> None:
    """R1 and R3 are at the top, R2 is left; what was planned of the load is known when it comes."""
    design = load(f"{written(tmp_path, 'slow', SLOW)}+{written(tmp_path, 'split', SPLIT)}")
    path = Recorded().thread_block().warp(0).visits(0)
    schedule = Scheduling().start(0).issue(0, 2).arrive(0, 0).issue(0).end(0).of(LOADING, path) if scheduled else None
    if schedule is None:
        design = load(f"{tmp_path / 'slow.py'}+{written(tmp_path, 'split', SPLIT.replace('sm', 'warp'))}")
    found = replay(path, LOADING, design, schedule=schedule, mode="interpreted")
    assert (found.writes("MRF"), found.writes("SLOW"), found.writes("TOP")) == (0, 1, 2)


COUNTING = """
DESIGN = Declaration(
    slot="levels", order="{order}", events=("issued", "collected", "produced"), source="assumed: a test"
)
@hook
def issued(state, program, warp, pc, plan):
    count(plan, 0)
@hook
def collected(state, program, warp, pc, operand, plan):
    count(plan, 1, operand + 1)
@hook
def produced(state, program, warp, pc, plan):
    count(plan, 2)
    for operand in result_operands(program, pc):
        write(plan, operand, MRF)
"""


@pytest.mark.parametrize("order", ["static", "warp"])
def test_events_by_block_counts_are_those_of_each_visit(tmp_path: Path, order: str) -> None:
    """Three visits of three instructions with results; sources are the words of the pair, then R1 and R2: 1 to 4."""
    path = Recorded().thread_block().warp(0).visits(0, 0).warp(1).visits(0)
    design = load(written(tmp_path, "counting", COUNTING.replace("{order}", order)))
    found = replay(path, LOADING, design, mode="interpreted")
    assert found.events == {"issued": 3 * 3, "collected": 3 * (1 + 2 + 3 + 4), "produced": 3 * 3}
    assert (found.reads(), found.writes()) == (3 * 4, 3 * 3)


def test_results_that_nobody_plans_are_accessed_nowhere(tmp_path: Path) -> None:
    """``produced`` takes the results over; the sources stay in the register file."""
    text = """
    DESIGN = Declaration(slot="levels", source="assumed: a test")
    @hook
    def produced(state, program, warp, pc, plan):
        if program.long_latency[pc]:
            write(plan, program.result_start[pc], MRF)
        else:
            nowhere(plan, program.result_start[pc])
    """
    found = replay(late_run()[0], LOADING, load(written(tmp_path, "some", text)), mode="interpreted")
    assert (found.reads(), found.writes()) == (2 + 0 + 2, 1)


def test_a_level_that_plans_when_results_are_there_comes_too_late_for_a_mapping(tmp_path: Path) -> None:
    level = SPLIT.replace("plan_write", "produced")
    mapping = SLOW.replace("produced", "plan_write")
    with pytest.raises(
        DesignError, match=r"split plans results in produced, so slow, .* cannot plan them in plan_write"
    ):
        load(f"{written(tmp_path, 'slow', mapping)}+{written(tmp_path, 'split', level)}")


def test_a_path_without_widths_is_refused_in_one_line(holding: Design) -> None:
    path = Recorded().thread_block().warp(0).visits(0)
    with pytest.raises(TraceError) as error:
        replay(path, LOADING, holding, mode="interpreted")
    assert str(error.value) == (
        "design holding: needs the widths of values, and the run has none: run the kernel with "
        "Record(path=True, widths=True); hardware traces contain no values"
    )


@pytest.mark.parametrize(("widths", "what"), [((1, 2), "end before the path"), ((1, 2, 3, 4), "more widths")])
def test_widths_of_another_kernel_are_refused(holding: Design, widths: tuple[int, ...], what: str) -> None:
    path = Recorded().thread_block().warp(0).widths(*widths).visits(0)
    with pytest.raises(TraceError, match=what):
        replay(path, LOADING, holding, mode="interpreted")


def test_an_arrival_of_what_is_not_under_way_is_refused(holding: Design) -> None:
    path, _ = late_run()
    schedule = Scheduling().start(0).issue(0, 2).arrive(0, 0).arrive(0, 0).issue(0).end(0).of(LOADING, path)
    with pytest.raises(ReplayError, match="results of instruction 0 arrive in slot 0, where none are under way"):
        replay(path, LOADING, holding, schedule=schedule, mode="interpreted")


def test_widths_have_no_static_order(tmp_path: Path) -> None:
    text = 'DESIGN = Declaration(slot="levels", order="static", widths=True, source="assumed: a test")'
    with pytest.raises(DesignError, match="widths expects order 'warp' or more"):
        load(written(tmp_path, "static", text))


@pytest.mark.parametrize("how", ["width(plan, operand)", "interface.width(plan, operand)"])
def test_a_design_that_asks_for_widths_declares_them(tmp_path: Path, how: str) -> None:
    text = f"""
    from warpreg.designs import interface
    DESIGN = Declaration(slot="levels", events=("bytes",), source="assumed: a test")
    @hook
    def plan_write(state, program, warp, pc, plan):
        for operand in result_operands(program, pc):
            count(plan, 0, {how})
            write(plan, operand, MRF)
    """
    with pytest.raises(DesignError, match=r"undeclared.py:10: width requires DESIGN = Declaration\(..., widths=True\)"):
        load(written(tmp_path, "undeclared", text))
