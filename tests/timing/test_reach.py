"""How far the accesses went that warps waited for, worked by hand (CMOS-TFET paper, Figure 4)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.timing.assembly import code, one_warp, warps
from tests.timing.both_cores import machine_with_memory
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.random_runs import Case, cases
from tests.timing.reference.machine import Sm
from tests.timing.test_both_cores import machine_with
from tests.timing.test_miniatures import load_of

from piecewise_numba.options import Mode
from warpreg.designs import program_table
from warpreg.gpu import Machine
from warpreg.timing import memory
from warpreg.timing.launch.access_counts import Visits, plain_counts
from warpreg.timing.launch.binding import Behaviour, EntryArguments
from warpreg.timing.launch.engine import Engine
from warpreg.timing.results.result import TimingResult, joined, result_of

PLAIN = Sm(slots=2)
USE = "ld.global.u32 R1, [R4.64]\nmov.b32 R2, R1"


def timed(
    launched: Launched,
    machine: Machine,
    sms: int = 1,
    resident: int = 8,
    reach: bool = True,
    mode: Mode = "interpreted",
) -> TimingResult:
    """What the fast core makes of it, without a design."""
    outside = EntryArguments(
        Behaviour(program_table(launched.kernel)), machine, memory.for_machine(machine, sms), reach
    )
    visits = Visits(launched.kernel)
    warps_of_block = len(launched.blocks[0])
    blocks = visits.of(launched.batches())
    engine = Engine(launched.kernel, machine, blocks, outside, resident=resident, block_warps=warps_of_block, mode=mode)
    engine.run()
    counters, plain = memory.counters(outside.system), plain_counts(launched.kernel, visits)
    return result_of(machine, engine.core, engine.cycles, counters, plain, plain, {}, reach)


def cached(sm: Sm = PLAIN) -> Machine:
    return machine_with(Case(one_warp(USE, load_of(0)), sm, 1, 8, 1, 1), "gtx480", "cached")


def waited(result: TimingResult) -> list[int]:
    """Cycles by SM, L2 and DRAM."""
    assert result.waited is not None
    return result.waited.tolist()


def test_with_a_fixed_latency_all_waits_are_off_chip() -> None:
    """The move waits from 2 to 22."""
    result = timed(one_warp(USE, load_of(0)), machine_with_memory(PLAIN, 20, 1))
    assert waited(result) == [0, 0, 20]
    assert result.memory_stall_shares == {"SM": 0, "L2": 0, "DRAM": 20 / (result.cycles * 2)}
    assert sum(result.as_dict()["memory_stall_shares"].values()) == result.as_dict()["memory_stall_share"]


def test_what_the_first_level_answers_is_inside_the_sm() -> None:
    """The same line twice, one after the other: the second load hits and takes the latency of the first level."""
    once, twice = (timed(one_warp(USE, load_of(0), times=times), cached()) for times in (1, 2))
    first_level = cached().memory.l1
    assert first_level is not None
    assert waited(once)[:2] == [0, 0]
    assert waited(twice) == [first_level.latency, 0, waited(once)[2]]


def test_what_another_sm_has_fetched_is_in_the_second_level() -> None:
    """A thread block on each of two SMs; the second one loads the line of the first after 200 dependent additions."""
    late = code(USE, "add.s32 R7, R7, 1\n" * 200)
    early, later = (WarpPath(visits, (load_of(0),)) for visits in (((0, FULL),), ((1, FULL), (0, FULL))))
    alone = waited(timed(one_warp(USE, load_of(0)), cached()))
    found = waited(timed(Launched(late, ((early,), (later,))), cached(), 2, 1))
    assert (found[0], found[2]) == (0, alone[2])
    assert 0 < found[1] < alone[2]


def test_a_wait_belongs_to_the_result_that_ends_it() -> None:
    """The sum waits for a hit and, as long as the first move, for a miss that was sent a cycle later."""
    text = f"{USE}\nld.global.u32 R8, [R4.64]\nld.global.u32 R9, [R4.64]\nadd.s32 R7, R8, R9"
    miss = waited(timed(one_warp(USE, load_of(0)), cached()))
    assert waited(timed(one_warp(text, load_of(0), load_of(0), load_of(4096)), cached())) == [0, 0, 2 * miss[2]]


def test_it_is_only_there_if_asked() -> None:
    result = timed(one_warp(USE, load_of(0)), cached(), reach=False)
    assert result.waited is None
    assert "memory_stall_shares" not in result.as_dict()
    assert joined([result, result]).waited is None


def test_launches_in_sequence_add_up() -> None:
    result = timed(warps(USE, [(load_of(0),)], [(load_of(4096),)]), cached())
    assert waited(joined([result, result])) == [2 * cycles for cycles in waited(result)]


@pytest.mark.parametrize("model", ["cached", "contention"])
@settings(max_examples=15, deadline=None)
@given(case=cases)
def test_the_levels_add_up_and_nothing_else_changes(model: str, case: Case) -> None:
    machine = machine_with(case, "gtx480", model)
    asked, plain = (timed(case.launched, machine, case.sms, case.resident, reach) for reach in (True, False))
    assert sum(waited(asked)) == asked.memory_cycles.sum()
    found = asked.as_dict()
    del found["memory_stall_shares"]
    assert found == plain.as_dict()


@pytest.mark.slow
@pytest.mark.parametrize("model", ["cached", "contention"])
def test_the_compiled_core_does_the_same(model: str) -> None:
    launched = one_warp(USE, load_of(0), times=3)
    machine = machine_with(Case(launched, PLAIN, 1, 8, 1, 1), "gtx480", model)
    runs = [timed(launched, machine, mode=mode) for mode in ("interpreted", "compiled")]
    assert runs[0].as_dict() == runs[1].as_dict()
