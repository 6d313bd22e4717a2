"""RegLess in time: preloads worked by hand, values that are never lost, and accesses that add up.

Unless stated otherwise: one scheduler, lrr, ideal operand path, latency 4.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import kernel, op, r
from tests.timing.assembly import code, one_warp
from tests.timing.both_cores import compare, fast
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.random_runs import Case, cases
from tests.timing.reference.machine import Sm
from tests.timing.reference.machine_file import sm_of
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.test_both_cores import machine_with
from tests.timing.test_miniatures import miniature
from tests.timing.vocabulary import Timed, timed

from warpreg.designs import Design, load
from warpreg.timing.results.result import TimingResult
from warpreg.trace.patterns import Deltas, Shape, encoded, with_pattern

REGLESS, SHADOW = load("regless"), miniature("staged_shadow")
PLAIN = Sm(slots=4)
ONE_LINE = {"entries": 8, "region_lines": 1, "shortest": 1}
"""A bank has one line, so R0 and R8 take turns."""
SMALL = {"entries": 16, "region_lines": 1, "shortest": 1}
OFF: tuple[tuple[Design, dict[str, int]], ...] = (
    (REGLESS, {"enabled": False, "compressor_lines": 0}),
    (load("mrf"), {}),
)
TAKEN = "mov.b32 R0, 1\nmov.b32 R8, 2\nadd.s32 R1, R8, 3\nadd.s32 R2, R0, 3"


EVEN, UNEVEN = (with_pattern(4, encoded(*one)) for one in ((Shape.CONSTANT, Deltas.NONE), (Shape.UNEVEN, Deltas.FOUR)))


def values(launched: Launched, pattern: int) -> Launched:
    """The launch, with one pattern for the results of each of its instructions."""
    count = len(list(launched.kernel.instructions()))
    paths = tuple(tuple(replace(warp, widths=(pattern,) * count) for warp in block) for block in launched.blocks)
    return replace(launched, blocks=paths)


def with_live_values(launched: Launched) -> Launched:
    """The launch of a kernel in which each block first reads ten registers, so that they live before it."""
    sums = [op("add.s32", r(k), r(k), r(k + 5)) for k in range(5)]
    return replace(launched, kernel=kernel(*[[*sums, *block.instructions] for block in launched.kernel.blocks]))


def both(case: Case, model: str, design: Design, **parameters: int) -> tuple[Timed, TimingResult]:
    """What both cores make of a case, which is the same."""
    machine = machine_with(case, "gtx480", model)
    own = replace(sm_of(machine), texture_latency=case.sm.texture_latency)
    memory = PackageMemory(machine, case.sms)
    slow = timed(case.launched, own, memory, case.sms, case.resident, design, **parameters)
    quick = fast(
        case.launched, machine, case.sms, case.resident, "interpreted", False, design, None, 1, None, **parameters
    )
    compare(slow, quick)
    return slow, quick.result


def test_a_preload_takes_the_latency_of_the_first_level() -> None:
    """The first region is the move to R0, written at 5.  Woken then, the second one issues at 6: R8 takes the line of
    R0, which is spilled, and is written at 10, when the addition issues, its last reader.  That is written at 14.  The
    last region preloads R0: sent at 15, back ``latency`` cycles later; the addition issues in the next cycle.
    """
    case = Case(values(one_warp(TAKEN), UNEVEN), PLAIN, 1, 8, 1, 1)
    machine = machine_with(case, "gtx480", "cached")
    assert machine.memory.l1 is not None
    slow, result = both(case, "cached", REGLESS, **ONE_LINE)
    slow.warp(0).issues().at(1, 6, 10, 15 + machine.memory.l1.latency + 1)
    assert result.design_memory is not None
    assert result.design_memory["reads"] == {"SM": 1, "L2": 0, "DRAM": 0}
    events = result.counts.events
    assert (events["values saved"], events["preloads from memory"], events["lines lacking"]) == (1, 1, 0)


def test_a_dead_value_is_never_written_to_memory() -> None:
    """R0 is read before R8 takes its line."""
    text = "mov.b32 R0, 1\nadd.s32 R1, R0, 3\nmov.b32 R8, 2\nadd.s32 R2, R8, 3"
    _, result = both(Case(values(one_warp(text), UNEVEN), PLAIN, 1, 8, 1, 1), "cached", REGLESS, **ONE_LINE)
    assert result.counts.events["memory writes"] == result.counts.events["memory reads"] == 0


def test_a_constant_is_packed_and_comes_back_at_once() -> None:
    """All lanes of R0 are equal: it is packed when R8 takes its line, and the compressor has it for the last region."""
    _, result = both(Case(values(one_warp(TAKEN), EVEN), PLAIN, 1, 8, 1, 1), "cached", REGLESS, **ONE_LINE)
    events = result.counts.events
    assert (events["values packed"], events["preloads decompressed"], events["memory writes"]) == (1, 1, 0)


def test_preloads_are_the_same_wherever_they_come_from() -> None:
    """Sums over ten registers that all live, a region each: the smaller the unit, the more comes from elsewhere."""
    moves = [f"mov.b32 R{k}, {k}" for k in range(10)]
    sums = [f"add.s32 R{k % 10}, R{(k + 3) % 10}, R{(k + 7) % 10}" for k in range(30)]
    text = "\nbar.sync 0\n".join([*moves, *sums, *(f"add.s32 R0, R0, R{k}" for k in range(1, 10))])
    launched = Launched(code(text), ((WarpPath(((0, FULL),)),) * 3,) * 2)
    elsewhere, together = list[int](), set[int]()
    for entries in (512, 32, 16):
        case = Case(values(launched, UNEVEN), PLAIN, 1, 8, 1, 1)
        result = both(case, "cached", REGLESS, entries=entries, region_lines=2, shortest=2)[1]
        events = result.counts.events
        elsewhere.append(events["preloads from memory"] + events["preloads decompressed"])
        together.add(elsewhere[-1] + events["preloads staged"])
        assert events["memory reads"] == events["preloads from memory"]
        found = result.design_memory
        assert sum(found["reads"].values() if found else ()) == events["memory reads"]
        assert events["lines lacking"] == 0
    assert len(together) == 1
    assert elsewhere == sorted(elsewhere)
    assert elsewhere[0] == 0 < elsewhere[-1]


@pytest.mark.parametrize("model", ["fixed", "cached"])
def test_off_is_the_plain_register_file(model: str) -> None:
    case = Case(values(one_warp(TAKEN), UNEVEN), PLAIN, 1, 8, 1, 1)
    off, plain = (both(case, model, design, **parameters)[1] for design, parameters in OFF)
    assert (off.cycles, off.stall_account) == (plain.cycles, plain.stall_account)


@settings(max_examples=15, deadline=None)
@given(cases, st.sampled_from(("fixed", "cached", "contention")), st.integers(0, 99))
def test_no_value_is_lost(case: Case, model: str, seed: int) -> None:
    """In a small unit, no source is in memory, packed or on its way when it is read; both cores agree."""
    case = replace(case, launched=with_live_values(case.launched).with_patterns(seed))
    _, result = both(case, model, SHADOW, **SMALL)
    events = result.counts.events
    assert (events["wrong reads"], events["lines lacking"]) == (0, 0)
