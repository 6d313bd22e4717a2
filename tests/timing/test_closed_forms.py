"""Closed forms: where a formula predicts the cycles, both cores match it exactly.

A warp placed in cycle 0 issues from cycle 1 on.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.timing.assembly import one_warp, warps
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Banks, CollectorSet, Pipe, Sm, TwoLevel

CHAINS = {
    "int": "add.s32 R1, R1, 1",
    "fp": "add.f32 R1, R1, R1",
    "sfu": "sin.approx.f32 R1, R1",
    "dp": "add.f64 R2.64, R2.64, R2.64",
}
LOAD = "ld.global.u32 R1, [R4.64]"
LATENCY = 20


def sm(banks: Banks | None = None, **pipes: Pipe) -> Sm:
    """One scheduler; every pipe has one unit, latency 4 and initiation 1 unless told otherwise."""
    return Sm(banks=banks, pipes={name: pipes.get(name, Pipe()) for name in PIPES})


def loads(count: int, transactions: int = 1) -> list[tuple[Access, ...]]:
    """Accesses of ``count`` loads, each to lines of its own."""
    lines = ((load * transactions, transactions) for load in range(count))
    return [(Access(FULL, "global", 0, tuple(((first + i) * 128, 15) for i in range(n))),) for first, n in lines]


@pytest.mark.parametrize("pipe", CHAINS)
@pytest.mark.parametrize("latency", [1, 7])
def test_a_dependent_chain_issues_once_in_its_latency(pipe: str, latency: int) -> None:
    """The ideal path writes a result in the cycle in which it is due, and its reader issues in that cycle.

    The last result is due at 1 + 10 x latency, and the run ends with that cycle.
    """
    run = agreed(one_warp(CHAINS[pipe], times=10), sm(None, **{pipe: Pipe(latency=latency)}))
    run.warp(0).issues().every(latency, first=1)
    assert run.cycles == 1 + 10 * latency + 1


@pytest.mark.parametrize(("steps", "overhead"), [(1, 3), (2, 2)])
def test_collection_adds_its_steps_to_a_chain(steps: int, overhead: int) -> None:
    """Enter, read and dispatch take a step each, the first in the cycle after issue.

    With one step a cycle they fall on cycles 1, 2 and 3 after issue; with two on 1, 1 and 2.
    """
    banks = Banks(count=8, single_ported=False, steps=steps)
    run = agreed(one_warp("add.s32 R1, R1, 1", times=5), replace(sm(banks), dispatch_cycles=2))
    run.warp(0).issues().every(4 + overhead + 2, first=1)


@pytest.mark.parametrize("initiation", [1, 2, 5])
@pytest.mark.parametrize("units", [1, 2])
def test_an_independent_stream_is_bound_by_issue_and_initiation(initiation: int, units: int) -> None:
    """Each unit takes one in ``initiation`` cycles, the scheduler issues one a cycle: of two units both are used."""
    run = agreed(
        one_warp("mov.b32 R1, 1\nmov.b32 R2, 1\nmov.b32 R3, 1\nmov.b32 R5, 1\nmov.b32 R6, 1\nmov.b32 R7, 1"),
        sm(int=Pipe(units=units, initiation=initiation)),
    )
    expected = [1 + max(i, i // units * initiation + i % units) for i in range(6)]
    run.warp(0).issues().at(*expected)


def test_two_pipes_issue_together_when_the_width_is_two() -> None:
    """An int and an fp instruction in one cycle; two of one pipe in two; a reader of the first not with it."""
    text = "mov.b32 R1, 1\nadd.f32 R2, R0, R0\nmov.b32 R3, 1\nmov.b32 R5, 1\nadd.f32 R6, R5, R5"
    run = agreed(one_warp(text), replace(sm(), issue_width=2))
    run.warp(0).issues().at(1, 1, 2, 3, 3 + 4)


@pytest.mark.parametrize("sources", [1, 2, 3, 4])
def test_conflicting_sources_are_read_one_after_the_other(sources: int) -> None:
    """All sources lie in bank 0 of four.  Issue at 1, enter at 2, reads from 3 on, dispatch the cycle after the last.

    The reader of the result issues 4 cycles after dispatch.
    """
    text = {
        1: "mov.b32 R1, R0",
        2: "add.s32 R1, R0, R4",
        3: "mad.lo.s32 R1, R0, R4, R8",
        4: "st.global.v4.u32 [R0], {R4, R8, R12, R16}",
    }[sources]
    banks = Banks(count=4, mapping="register")
    if sources < 4:
        run = agreed(one_warp(text + "\nadd.s32 R2, R1, 1"), sm(banks))
        run.warp(0).issues("add.s32 R2").at(1 + 1 + sources + 1 + 4)
    else:
        run = agreed(one_warp(text, *loads(1)[0]), sm(banks))
        run.bank(0).reads("R16").at(3 + 4)
    run.bank(0).reads("R0").at(3)
    for cycle in range(3, 3 + sources):
        run.bank(0).busy_at(cycle)


def test_a_word_named_twice_is_read_once() -> None:
    run = agreed(one_warp("mad.lo.s32 R1, R0, R0, R0"), sm(Banks()))
    run.bank(0).reads("R0").at(3)


@pytest.mark.parametrize("ports", [1, 2, 3])
def test_a_collector_takes_as_many_operands_a_cycle_as_it_has_ports(ports: int) -> None:
    """Three operands from three banks arrive in ceil(3 / ports) cycles."""
    run = agreed(
        one_warp("mad.lo.s32 R3, R0, R1, R2\nadd.s32 R7, R3, 1"), sm(Banks(mapping="register", operand_ports=ports))
    )
    run.warp(0).issues("add.s32 R7").at(1 + 1 + -(-3 // ports) + 1 + 4)


@pytest.mark.parametrize("collectors", [1, 2, 3])
def test_collectors_bound_a_stream(collectors: int) -> None:
    """A collector is taken for two cycles, from entering to dispatch, when the next may enter: ``collectors`` in two.

    One instruction more waits in the latch: with one collector the second issues at 2 and enters at 4.
    """
    text = "\n".join(f"mov.b32 R{i}, R{i + 8}" for i in range(8))
    banks = Banks(count=8, single_ported=False, sets=(CollectorSet(PIPES, collectors=collectors),))
    run = agreed(one_warp(text), sm(banks))
    run.warp(0).issues().at(*([1, 2, 4, 6, 8, 10, 12, 14] if collectors == 1 else range(1, 9)))


def test_results_for_one_bank_are_written_one_after_the_other() -> None:
    """The load is dispatched at 4, sends at 5 and is back at 25: its four words go to bank 0 in cycles 25 to 28.

    The reader of word i issues at 25 + i. (Readers would wait for the writes if a bank had one port.)
    """
    text = "ld.global.v4.u32 {R4, R8, R12, R16}, [R0]\n" + "\n".join(
        f"mov.b32 R{4 * i + 5}, R{4 * i + 4}" for i in range(4)
    )
    run = agreed(one_warp(text, *loads(1)[0]), sm(Banks(count=4, mapping="register", single_ported=False)), LATENCY)
    run.warp(0).issues("mov").at(25, 26, 27, 28)
    run.bank(0).writes("R16").at(28)


@pytest.mark.parametrize(("single_ported", "read_at"), [(True, 10), (False, 9)])
def test_a_write_takes_the_read_of_a_bank_with_one_port(single_ported: bool, read_at: int) -> None:
    """The predicate has no sources: enter 2, dispatch 3, due 7, so the guarded instruction issues at 7, enters at 8 and
    asks for bank 0 from 9 on.  The sum issues at 2, enters at 3, reads at 4, is dispatched at 5 and writes bank 0 at 9.
    """
    text = "setp.lt.s32 P0, 1, 2\nadd.f32 R4, R1, R1\n@P0 mov.b32 R5, R0"
    run = agreed(one_warp(text), sm(Banks(mapping="register", single_ported=single_ported)))
    run.warp(0).issues().at(1, 2, 7)
    run.bank(0).writes("R4").at(9)
    run.bank(0).reads("R0").at(read_at)


def test_a_barrier_releases_when_the_last_warp_comes() -> None:
    """Warp 1 comes five adds later; the last one issues its barrier in cycle b and both go on at b + 1."""
    launched = warps("bar.sync 0\nmov.b32 R1, 1", [()], [()])
    run = agreed(launched, sm())
    run.warp(0).issues().at(1, 5)
    run.warp(1).issues().at(2, 6)


def test_a_pointer_chase_pays_the_latency_each_time() -> None:
    """Dispatch at issue, send one cycle later, back LATENCY cycles after that."""
    run = agreed(one_warp("ld.global.u32 R4, [R4]", *loads(1)[0], times=6), sm(), LATENCY)
    run.warp(0).issues().every(1 + LATENCY, first=1)
    assert run.cycles == 1 + 6 * (1 + LATENCY) + 1


@pytest.mark.parametrize("interval", [1, 3])
@pytest.mark.parametrize("transactions", [1, 4])
def test_streaming_is_bound_by_bandwidth(interval: int, transactions: int) -> None:
    """Four warps, five loads each, are 20 x transactions sends, the first in cycle 2, one in ``interval`` cycles.

    The last one is back LATENCY cycles after it was sent, and its warp ends then.
    """
    text = "\n".join(f"ld.global.u32 R{i}, [R8]" for i in range(5))
    accesses = tuple(access for (access,) in loads(5, transactions))
    run = agreed(warps(text, *[[accesses]] * 4), replace(sm(), queue=64), LATENCY, interval)
    assert run.cycles == 2 + (20 * transactions - 1) * interval + LATENCY + 1


@pytest.mark.parametrize("degree", [1, 2, 32])
def test_a_shared_load_takes_its_conflict_degree(degree: int) -> None:
    """Issue at 1, conflict cycles 2 to 1 + degree, complete 10 cycles after the last one."""
    access = Access(FULL, "shared", degree)
    run = agreed(one_warp("ld.shared.u32 R1, [R0]\nmov.b32 R2, R1", access), sm())
    run.warp(0).issues("mov").at(1 + degree + 10)


def test_two_level_warps_take_turns_at_their_loads() -> None:
    """One active place, two warps, a load and its reader each, swaps free.

    Warp 0 issues its load at 1 and leaves at 2 before its reader; warp 1 enters at the end of cycle 2, loads at 3,
    leaves at 4.  Warp 0's load was sent at 2 and is back at 22, so it enters at the end of 22 and reads at 23; it has
    nothing left at 24 and leaves; warp 1, back at 24, enters at the end of 24 and reads at 25.
    """
    launched = warps(f"{LOAD}\nmov.b32 R2, R1", [loads(1)[0]], [loads(1)[0]])
    run = agreed(launched, replace(sm(), two_level=TwoLevel(active_warps=1)), LATENCY)
    run.warp(0).issues().at(1, 23)
    run.warp(1).issues().at(3, 25)


@pytest.mark.parametrize("swap", [0, 2, 5])
def test_a_swap_delays_the_first_issue(swap: int) -> None:
    launched = warps(f"{LOAD}\nmov.b32 R2, R1", [loads(1)[0]])
    rules = TwoLevel(active_warps=1, swap_cycles=swap)
    run = agreed(launched, replace(sm(), two_level=rules), LATENCY)
    run.warp(0).issues().at(1 + swap, 1 + swap + 1 + LATENCY + 1 + swap)


MIXED = "ld.global.u32 R1, [R8]\nmov.b32 R2, 1\nmov.b32 R3, 2\nadd.s32 R4, R1, R2"


@pytest.mark.parametrize("waits_for_all", [False, True])
def test_a_warp_waits_for_the_results_that_it_names_or_for_all(waits_for_all: bool) -> None:
    """Pipes take 4 cycles.  The load issues at 1, is sent at 2 and back at 22.  With a scoreboard of cells the moves
    issue at 2 and 3, and the sum at 22.  A warp that waits for all its results moves at 22, 26 and 30.
    """
    run = agreed(one_warp(MIXED, *loads(1)[0]), replace(sm(), waits_for_all=waits_for_all), LATENCY)
    run.warp(0).issues().at(*((1, 22, 26, 30) if waits_for_all else (1, 2, 3, 22)))
    cause = {"memory": 20, "alu": 6} if waits_for_all else {"memory": 18}
    assert {name: run.stalls.counts[name] for name in cause} == cause


def test_a_warp_that_waits_for_all_does_not_wait_for_stores() -> None:
    """Which have no result: the moves follow in the next cycles, the second after the first is there."""
    text = "st.global.u32 [R8], R9\nmov.b32 R2, 1\nmov.b32 R3, 2"
    run = agreed(one_warp(text, *loads(1)[0]), replace(sm(), waits_for_all=True), LATENCY)
    run.warp(0).issues().at(1, 2, 6)


def test_a_branch_waits_for_all_results_too() -> None:
    """The move issues at 1 and is there at 5.  The next one is fetched 4 cycles after the branch."""
    run = agreed(one_warp("mov.b32 R2, 1\nbra 0\nmov.b32 R3, 1"), replace(sm(), waits_for_all=True))
    run.warp(0).issues().at(1, 5, 9)


ONE_BANK = Banks(count=1, steps=2, single_ported=False, sets=(CollectorSet(PIPES, collectors=1),))


@pytest.mark.parametrize("whole", [False, True])
def test_a_bank_that_serves_instructions_reads_all_their_words_at_once(whole: bool) -> None:
    """All three registers are in the one bank.  The product enters in the first step of 2 and reads in the second; word
    by word it reads the other two in 3, and dispatches in 4 instead of 3.  Its reader issues 4 cycles after that.
    """
    text = "mad.lo.s32 R1, R4, R5, R6\nadd.s32 R2, R1, 1"
    run = agreed(one_warp(text), sm(replace(ONE_BANK, whole_instructions=whole)))
    run.warp(0).issues("add").at(7 if whole else 8)
    for register, alone in (("R4", 2), ("R5", 3), ("R6", 3)):
        run.bank(0).reads(register).at(2 if whole else alone)


@pytest.mark.parametrize("whole", [False, True])
def test_a_bank_that_serves_instructions_writes_all_their_results_at_once(whole: bool) -> None:
    """As `test_results_for_one_bank_are_written_one_after_the_other`, a cycle earlier with two steps: the data are back
    at 24, and the words are written in 24 to 27, or all in 24.
    """
    text = "ld.global.v4.u32 {R4, R8, R12, R16}, [R0]\nmov.b32 R1, R16"
    run = agreed(one_warp(text, *loads(1)[0]), sm(replace(ONE_BANK, whole_instructions=whole)), LATENCY)
    run.warp(0).issues("mov").at(24 if whole else 27)
