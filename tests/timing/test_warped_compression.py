"""Warped-Compression (ISCA 2015): banks by hand, closed forms, and a shadow of where every value is.

Unless told otherwise: four clusters, latency 4, one warp placed in cycle 0, which issues from cycle 1 on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simt.patterns import pattern_by_definition
from tests.timing.assembly import one_warp
from tests.timing.both_cores import agreed
from tests.timing.launches import Launched
from tests.timing.random_runs import Case, cases
from tests.timing.reference.instruction import Step
from tests.timing.reference.machine import PIPES, Banks, CollectorSet, Sm
from tests.timing.reference.machine_file import sm_of
from tests.timing.reference.program import steps
from tests.timing.test_miniatures import events
from tests.timing.vocabulary import Timed

from warpreg import gpu
from warpreg.designs import load
from warpreg.designs.compression.warped_compression import (
    DIVERGED,
    EVENTS,
    WHOLE,
    State,
    banks_for,
    compress,
    first_banks,
)
from warpreg.designs.interface.patterns import delta_bytes, is_partial
from warpreg.designs.interface.plan import blank_plan
from warpreg.trace.patterns import Deltas, Shape, encoded, pattern_of, with_pattern

DESIGN = load("warped-compression")
SM = Sm(banks=Banks(count=4, mapping="register", sets=(CollectorSet(PIPES, collectors=4),)))
CHOICES: dict[str, Any] = {"clusters": 4, "registers": 64}
QUICK: dict[str, Any] = {**CHOICES, "compression": 0, "decompression": 0, "wake": 0}
CONSTANT = with_pattern(4, encoded(Shape.CONSTANT, Deltas.NONE))
UNEVEN = with_pattern(4, encoded(Shape.UNEVEN, Deltas.FOUR))
PARTIAL = with_pattern(4, encoded(Shape.UNEVEN, Deltas.FOUR, partial=True))
CHAIN = "mov.b32 R1, R9\nmov.b32 R2, R1"


@pytest.mark.parametrize(
    ("lanes", "banks"),
    [
        ([7] * 32, 1),  # 4 bytes
        (range(1000, 1032), 3),  # 4 + 31 * 1 = 35 bytes
        ([5, *[5 - 128] * 31], 3),
        ([5, *[5 + 128] * 31], 5),  # 128 needs two bytes: 4 + 31 * 2 = 66
        (range(0, 32 * 300, 300), 5),
        ([0, *[1 << 15] * 31], 8),
        ([2**32 - 1, *[0] * 31], 3),  # a difference of 1, modulo 2^32
    ],
)
def test_banks_by_hand(lanes: list[int], banks: int) -> None:
    assert banks_for(delta_bytes(pattern_by_definition(list(lanes)))) == banks


def told(text: str, *recorded: int) -> Launched:
    """One warp whose results have these recorded bytes."""
    launched = one_warp(text)
    return replace(launched, blocks=((replace(launched.blocks[0][0], widths=recorded),),))


@pytest.mark.parametrize(
    ("recorded", "later"),
    [(CONSTANT, 2 * (3 + 10) + 2), (UNEVEN, 2 * (3 + 10)), (PARTIAL, 2 * 10)],
    ids=["compressed", "passes the compressor", "diverged"],
)
def test_a_chain_of_two(recorded: int, later: int) -> None:
    """Compression takes 3 cycles, decompression 2, a gated bank 10.  Each result waits for its compressor and its
    bank, which nobody has used; the source of the second instruction is decompressed if it is compressed.
    """
    plain = agreed(told(CHAIN, recorded, recorded), SM, design=DESIGN, enabled=False, **CHOICES)
    times = {**CHOICES, "compression": 3, "decompression": 2, "wake": 10}
    assert agreed(told(CHAIN, recorded, recorded), SM, design=DESIGN, **times).cycles == plain.cycles + later


@pytest.mark.parametrize(("first", "moves"), [(CONSTANT, 1), (UNEVEN, 0), (PARTIAL, 0)])
def test_a_partial_write_of_a_compressed_register_waits_for_a_dummy_move(first: int, moves: int) -> None:
    """It issues ``move`` cycles later, and the move reads one bank and writes eight."""
    launched = told("mov.b32 R1, R9\nmov.b32 R1, R8", first, PARTIAL)
    runs = [agreed(launched, SM, design=DESIGN, move=move, **QUICK) for move in (7, 20)]
    plain = agreed(launched, SM, design=DESIGN, enabled=False, **CHOICES)
    assert [run.cycles for run in runs] == [plain.cycles + 7 * moves, plain.cycles + 20 * moves]
    found = events(runs[0], DESIGN)
    assert (found["dummy moves"], found["decompressions"]) == (moves, moves)
    assert sum(runs[0].outcome.counts.accesses.tolist()) == 2 + 2 + 2 * moves
    left_out = (WHOLE - 1) * (1 if first == CONSTANT else 0) + (WHOLE - 1) * moves
    assert sum(runs[0].outcome.counts.spared.tolist()) == left_out


def test_a_dummy_move_takes_an_issue_slot() -> None:
    """Two warps of one scheduler, in turn, each with a dummy move of one cycle.  Without moves, their second
    instructions issue in the cycles t and t + 1.  With them, the slots from t on are: move, write, move, write.
    """
    launched = told("mov.b32 R1, R9\nmov.b32 R1, R8", CONSTANT, PARTIAL)
    (warp,) = launched.blocks[0]
    moving = replace(launched, blocks=((warp, warp),))
    still = replace(launched, blocks=((replace(warp, widths=(UNEVEN, UNEVEN)),) * 2,))
    runs = [agreed(one, SM, design=DESIGN, move=1, **QUICK) for one in (moving, still)]
    with_moves, without = (sorted(one.cycle for one in run.outcome.issues)[2:] for run in runs)
    assert events(runs[0], DESIGN)["dummy moves"] == 2
    assert without[1] == without[0] + 1
    assert with_moves == [without[0] + 1, without[0] + 3]


def test_results_beyond_the_compressors_wait() -> None:
    """Two compressors of two cycles each take a result a cycle: five at once leave them after 2, 2, 3, 3 and 4."""
    plan = blank_plan(1, len(EVENTS), 4, 4)._replace(detailed=1, cycle=5)
    state: Any = SimpleNamespace(free=np.zeros((1, 2), np.int64), compression=2)
    assert [compress(state, 0, plan) for _ in range(5)] == [2, 2, 3, 3, 4]


class Shadow:
    """Banks of each register of a warp, by the definition, one instruction after the other; what they count."""

    def __init__(self) -> None:
        self.banks: dict[int, int] = {}
        self.counts: Counter[str] = Counter()
        self.left_out = 0

    def step(self, step: Step) -> None:
        """Dummy moves come before the reads of the instruction."""
        written = [(word, pattern_of(byte)) for word, byte in zip(step.instruction.results, step.widths, strict=True)]
        for word, pattern in written:
            if is_partial(pattern) and self.banks.get(word, WHOLE) < WHOLE:
                self.counts["dummy moves"] += 1
                self._read(self.banks[word])
                self.banks[word] = WHOLE
        for word in step.instruction.sources:
            self._read(self.banks.get(word, WHOLE))
        for word, pattern in written:
            needed = WHOLE if is_partial(pattern) else banks_for(delta_bytes(pattern))
            self.counts[EVENTS[DIVERGED] if is_partial(pattern) else "compressions"] += 1
            self.counts[f"writes of {needed} bank{'s' if needed > 1 else ''}"] += 1
            self.left_out += WHOLE - needed
            self.banks[word] = needed

    def _read(self, banks: int) -> None:
        self.left_out += WHOLE - banks
        self.counts["decompressions"] += banks < WHOLE


def shadowed(case: Case, launched: Launched) -> Counter[str]:
    """What shadows of all warps count, and the slices that accesses leave out."""
    counts: Counter[str] = Counter()
    for block in steps(launched, case.sm.worker):
        for warp in block:
            shadow = Shadow()
            for step in warp:
                shadow.step(step)
            counts.update(shadow.counts)
            counts["left out"] += shadow.left_out
    return counts


def run_of(case: Case, launched: Launched, **choices: Any) -> Timed:
    banks = case.sm.banks.count if case.sm.banks else 1
    given = {"clusters": banks, "registers": 16 * banks, **choices}
    return agreed(launched, case.sm, case.latency, case.interval, case.sms, case.resident, DESIGN, **given)


@settings(max_examples=25, deadline=None)
@given(cases, st.integers(0, 100))
def test_reads_find_values_as_the_shadow_says(case: Case, seed: int) -> None:
    """Accesses, their amounts and events add up, and the register file is empty at the end."""
    launched = case.launched.with_patterns(seed)
    run, expected = run_of(case, launched), shadowed(case, launched)
    found = events(run, DESIGN)
    for name in set(EVENTS) - {"late decompressions", "bank wake-ups"}:
        assert found[name] == expected[name], name
    assert sum(run.outcome.counts.spared.tolist()) == expected["left out"]
    writes = sum(found[name] for name in EVENTS if name.startswith("writes of"))
    assert found["compressions"] + found["diverged writes"] == writes
    assert sum(run.outcome.counts.accesses.tolist()[2:4]) == writes + found["dummy moves"]
    state: State = run.outcome.state
    assert not any(part.any() for part in (state.used, state.powered, state.banks))


@settings(max_examples=8, deadline=None)
@given(cases, st.integers(0, 100))
def test_switched_off_it_is_the_plain_register_file(case: Case, seed: int) -> None:
    launched = case.launched.with_patterns(seed)
    plain = agreed(launched, case.sm, case.latency, case.interval, case.sms, case.resident)
    off = run_of(case, launched, enabled=False)
    assert (off.cycles, off.stalls.counts, off.outcome.issues) == (
        plain.cycles,
        plain.stalls.counts,
        plain.outcome.issues,
    )
    assert off.outcome.counts.accesses.tolist() == plain.outcome.counts.accesses.tolist()


def test_first_banks_are_the_low_slices() -> None:
    assert [first_banks(number) for number in (1, 3, 5, 8)] == [0b1, 0b111, 0b11111, 0b11111111]


def test_a_dummy_move_takes_as_long_as_a_move_on_the_machine() -> None:
    """The default of ``move``: from its issue to that of a reader of its result."""
    run = agreed(one_warp(CHAIN), sm_of(gpu.load("gtx480")))
    first, second = (one.cycle for one in run.outcome.issues)
    assert DESIGN.defaults["move"] == second - first
