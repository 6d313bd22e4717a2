"""Several threads that step the SMs of a run together: the results of one, bit for bit."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.timing.assembly import code
from tests.timing.both_cores import Fast, fast, machine_with_memory
from tests.timing.launches import Launched
from tests.timing.machine_files import machine_of
from tests.timing.memory.systems import CACHED, CONTENTION, change
from tests.timing.random_runs import Case, cases, launches
from tests.timing.reference.machine import Banks, Sm
from tests.timing.test_both_cores import machine_with

from warpreg import simt, timing
from warpreg.designs import load as load_design
from warpreg.designs import program_table
from warpreg.designs.interface.state import named_leaves
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.run import Run, find_workload, run_workload
from warpreg.gpu import Machine, load
from warpreg.timing import TimingResult, memory
from warpreg.timing.core.access_record import LOAD
from warpreg.timing.core.columns import clock, machine, sms
from warpreg.timing.core.columns import team as columns_of_team
from warpreg.timing.launch import allocate, engine, simulate
from warpreg.timing.launch.binding import Behaviour
from warpreg.timing.launch.simulate import timed
from warpreg.timing.launch.threads import INSTRUCTIONS_OF_THREAD, _side_by_side, available_threads
from warpreg.timing.memory.heap import new_node, room_for_sms
from warpreg.timing.sm import team

SMS = 3
MODELS = ("fixed", "cached", "contention", "narrow")
NARROW = change(CONTENTION, network={"queue": 3, "virtual_channels": 2, "latency": 2}, l2={"queue": 2, "latency": 9})
"""Queues that are full most of the time, and little time between a request and its answer."""
RESTLESS = load_design(Path(__file__).parent / "designs" / "restless.py", checked=False)


@pytest.fixture(autouse=True, scope="module")
def often() -> Iterator[None]:
    """Interpreted threads take turns after a few instructions, not after milliseconds; the core often stops for more
    thread blocks and more operations, and SMs often change threads.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "FEED_WORDS", 1)
        patch.setattr(allocate, "OPS_PER_WARP", 1)
        patch.setattr(team, "SHARED_EVERY", 1)
        yield
    sys.setswitchinterval(before)


def everything(found: Fast) -> dict[str, Any]:
    """What a run leaves."""
    state: dict[str, Any] = dict(named_leaves(found.outside.state or ()))
    left = {name: np.asarray(value).tolist() for name, value in state.items()}
    return numbers(found.result) | {"state": left, "levels": found.outside.integrals(found.result.cycles)}


def numbers(result: TimingResult) -> dict[str, Any]:
    arrays: dict[str, NDArray[np.int64]] = {
        "issued": result.issued,
        "stalls by scheduler": result.stalls,
        "memory cycles": result.memory_cycles,
    }
    return result.as_dict() | {name: array.tolist() for name, array in arrays.items()}


def many(launched: Launched) -> Launched:
    """The same launch with so many thread blocks that each SM receives several, one after another."""
    return replace(launched, blocks=launched.blocks * 4)


def machine_for(case: Case, model: str) -> Machine:
    if model == "fixed":
        return machine_with_memory(case.sm, case.latency, case.interval, SMS, case.resident)
    if model == "narrow":
        return replace(machine_of(case.sm, SMS, case.resident), memory=NARROW)
    return machine_with(replace(case, sms=SMS), "gtx480", model)


@settings(max_examples=12, deadline=None)
@given(cases, st.sampled_from(MODELS))
def test_threads_change_nothing(case: Case, model: str) -> None:
    machine, launched = machine_for(case, model), many(case.launched)
    one, *others = (everything(fast(launched, machine, SMS, case.resident, threads=count)) for count in (1, 2, SMS))
    assert others == [one, one]


@settings(max_examples=6, deadline=None)
@given(launches(), st.sampled_from(MODELS))
def test_threads_change_nothing_of_a_design(launched: Launched, model: str) -> None:
    """Tokens, wakes, extra accesses, tables, quantities over time, and state of warps, pairs, schedulers and SMs."""
    own = Sm(slots=8, schedulers=2, banks=Banks(count=4, mapping="register", operand_ports=1))
    machine = machine_for(Case(launched, own, SMS, 2, 20, 1), model)
    one, two = (
        everything(fast(many(launched), machine, SMS, 2, design=RESTLESS, seed=14, threads=count)) for count in (1, 2)
    )
    assert two == one


def recorded_run(name: str, size: str = "tiny") -> Run:
    return run_workload(find_workload(name), size, record=simt.Record(path=True, addresses=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workload", "machine", "designs"),
    [
        ("bfs", "gebhart", ()),
        ("bfs", "gtx480", ()),
        ("bfs", "titanx", ()),
        ("histogram", "regmutex-gtx480", ("regmutex-paired",)),
    ],
)
def test_threads_change_nothing_of_a_compiled_run(workload: str, machine: str, designs: tuple[str, ...]) -> None:
    """The second-level cache keeps its contents between the launches."""
    launches_of_run = recorded_run(workload).launches
    one, *others = (
        numbers(timing.simulate(launches_of_run, machine, designs=designs, threads=count)) for count in (1, 2, 3)
    )
    assert others == [one, one]


@pytest.mark.parametrize(("machine", "design"), [("larf-gp102", "larf"), ("regmutex-gtx480", "regmutex-paired")])
def test_threads_change_nothing_of_an_interpreted_run(machine: str, design: str) -> None:
    """Designs whose warps depend on each other: loads that wait for the values of others, and a lock for each pair."""
    launch = recorded_run("vector-add").launches[0]
    one, two = (
        numbers(timing.simulate([launch], machine, designs=[design], mode="interpreted", threads=count))
        for count in (1, 2)
    )
    assert two == one


@pytest.mark.parametrize(("load", "parent", "expected"), [(4.4, None, 3), (4.6, None, 1), (0.0, "a process", 1)])
def test_processors_are_used_unless_others_want_them(
    load: float, parent: str | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four processors, of which this process may use three."""
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1, 3})
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr("multiprocessing.parent_process", lambda: parent)
    assert available_threads() == expected


@pytest.mark.parametrize(("more", "expected"), [(0, 3), (-1, 2)])
def test_a_thread_has_enough_instructions(more: int, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch of three times the least of a thread, and of one instruction less."""
    monkeypatch.setattr(simulate, "available_threads", lambda: 8)
    launch: Any = SimpleNamespace(warp_instructions=3 * INSTRUCTIONS_OF_THREAD + more, grid=(4, 2, 1))
    behaviour = Behaviour(program_table(code("mov.b32 R1, R0")))
    assert simulate._threads(None, launch, load("gebhart"), 8, behaviour, "compiled") == expected


def test_checked_hooks_take_one_thread() -> None:
    launch = recorded_run("vector-add").launches[0]
    checked = load_design(Path(__file__).parent / "designs" / "slow_registers.py")

    def count(machine: str = "gebhart", wanted: int | None = 2, *designs: Any) -> int:
        chosen = ConfiguredDesign.of(designs, {})
        return timed(launch, load(machine), chosen, mode="interpreted", sms=2, threads=wanted).outside.threads

    assert count() == 2
    assert count("rtx3070") == 2
    assert count("gebhart", 2, checked) == 1


def shared(issued: list[int], room: list[int], firsts: list[int], stepping: int = 0, ahead: int = 0) -> list[int]:
    """The first SMs of the threads after SMs have been shared; ``issued`` by SM, ``room`` by thread; ``stepping`` and
    ``ahead``: time in which the leader has stepped SMs and worked for memory.
    """
    words = np.zeros((1 + len(firsts), columns_of_team.COUNT), np.int64)
    members, sm_count = len(firsts) - 1, len(issued)
    words[1:, columns_of_team.FIRST_SM] = words[1:, columns_of_team.NEXT_FIRST_SM] = firsts
    words[1:-1, columns_of_team.ROOM] = room
    own = sum(issued[: firsts[1]]) if ahead else sum(issued)
    words[1, columns_of_team.ISSUED], words[2, columns_of_team.ISSUED] = own, sum(issued) - own
    words[1, columns_of_team.STEPPING], words[1, columns_of_team.AHEAD] = stepping, ahead
    table, one, gpu = (np.zeros(shape, np.int64) for shape in ((sm_count, sms.RIPE), clock.COUNT, machine.COUNT))
    table[:, sms.SEQ], one[clock.MEMBERS], gpu[machine.SMS] = issued, members, sm_count
    core: Any = SimpleNamespace(team=words, table=table, clock=one, machine=gpu)
    team.share_sms(core)
    return words[1:, columns_of_team.FIRST_SM].tolist()


@pytest.mark.parametrize(
    ("issued", "expected"),
    [
        ([10, 10, 10, 10], [0, 2, 4]),
        ([30, 10, 10, 10], [0, 1, 4]),  # of 60, the first thread takes 30
        ([10, 10, 10, 30], [0, 3, 4]),
        ([10, 10, 10], [0, 1, 3]),  # an SM that would exceed the half by as much as it lacks goes to the second thread
        ([90, 0, 0, 0], [0, 1, 4]),  # each thread has an SM
        ([0, 0, 0, 90], [0, 3, 4]),
    ],
)
def test_threads_share_sms_by_what_they_issued(issued: list[int], expected: list[int]) -> None:
    assert shared(issued, [4, 4], [0, 2, len(issued)]) == expected


def test_three_threads_share_sms() -> None:
    """Of 120 instructions, 40 each: SMs 0 and 1, SM 2, the others."""
    assert shared([20, 20, 40, 10, 10, 20], [6, 6, 6], [0, 1, 2, 6]) == [0, 2, 3, 6]
    assert shared([0, 0, 0, 0, 0, 90], [6, 6, 6], [0, 1, 2, 6]) == [0, 4, 5, 6]


def test_what_the_leader_does_besides_counts_for_its_share() -> None:
    """In as long as 20 of its instructions, it has worked for memory: of 60, the other thread takes 30, and it 10."""
    assert shared([10, 10, 10, 10], [4, 4], [0, 2, 4], stepping=1000, ahead=1000) == [0, 1, 4]
    assert shared([10, 10, 10, 10], [4, 4], [0, 2, 4], stepping=1000, ahead=100) == [0, 2, 4]


def test_a_thread_receives_no_sm_without_room_for_its_transactions() -> None:
    assert shared([30, 10, 10, 10], [4, 2], [0, 2, 4]) == [0, 2, 4]


def test_room_is_what_nodes_never_used_suffice_for() -> None:
    """Three SMs with 64 transactions of two nodes each, and twice the nodes in the second thread: after one node was
    used, those of one SM less are left for sure.
    """
    leader, other = memory.members(memory.build(CACHED, 3, 1000.0, 100, 150, threads=2))
    assert [room_for_sms(one) for one in (leader, other)] == [3, 6]
    new_node(other, 0, LOAD, 0, 1, 0)
    assert [room_for_sms(one) for one in (leader, other)] == [3, 5]


def test_threads_that_have_begun_stop_where_another_cannot_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = np.zeros((1, int(columns_of_team.STOP) + 1), np.int64)
    start, begun = threading.Thread.start, list[threading.Thread]()

    def one_begins(thread: threading.Thread) -> None:
        if begun:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        start(thread)

    def waits() -> int:
        while not shared[0, columns_of_team.STOP]:
            time.sleep(0.001)
        return 0

    monkeypatch.setattr(threading.Thread, "start", one_begins)
    with pytest.raises(RuntimeError, match="can't start"):
        _side_by_side([(waits, ())] * 3, shared)
    begun[0].join(10)
    assert not begun[0].is_alive()
