"""The hybrid of register cache and scratchpad (CASES 2018, sections III-A1 and IV-D)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import one_warp
from tests.replay.schedules import Scheduling

from piecewise_numba.options import Mode
from warpreg.ir.instruction import Instruction
from warpreg.replay import Counts, replay


def counts(*code: Instruction, design: str = "rc-rsp", mode: Mode = "interpreted", **chosen: Any) -> Counts:
    """One warp runs straight code once, in slot 0, active all the time."""
    path, kernel_of_it = one_warp([0]), kernel(list(code))
    schedule = Scheduling().start(0).active(0).issue(0, len(code)).end(0).of(kernel_of_it, path)
    return replay(path, kernel_of_it, design, schedule=schedule, mode=mode, **chosen)


def move(register: int) -> Instruction:
    return op("mov.u32", r(register), 7)


def add(result: int, *sources: int) -> Instruction:
    return op("add.s32", r(result), r(sources[0]), r(sources[1]) if len(sources) > 1 else 1)


BARRIER = op("bar.sync", 0)
LIVE_OUT = (move(1), add(2, 1), BARRIER, add(3, 1))
"""R1 is read in its strand and in the next; R2 and R3 never."""


def levels(found: Counts) -> dict[str, tuple[int, int]]:
    """(reads, writes) by level, without moves."""
    return {level: (found.reads(level), found.writes(level)) for level in found.levels}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["interpreted", "compiled"])
def test_the_cache_backs_the_scratchpad(mode: Mode) -> None:
    """R1 goes to both, is read from the scratchpad, then from the cache; R2 and R3 go to the cache."""
    found = counts(*LIVE_OUT, mode=mode)
    assert levels(found) == {"MRF": (0, 0), "RC": (1, 3), "RSP": (1, 1)}


def test_in_parallel_what_lives_on_goes_to_the_mrf() -> None:
    found = counts(*LIVE_OUT, organisation="parallel-evict")
    assert levels(found) == {"MRF": (1, 1), "RC": (0, 2), "RSP": (1, 1)}


def test_in_parallel_and_apart_it_stays_out_of_the_scratchpad() -> None:
    found = counts(*LIVE_OUT, organisation="parallel-apart")
    assert levels(found) == {"MRF": (0, 0), "RC": (2, 3), "RSP": (0, 0)}


def test_before_an_operand_enters_the_scratchpad_the_cache_gives_it_up() -> None:
    """R1 is written in the first strand and read twice in the second, where it fills an entry of the scratchpad.  In
    the hierarchy the fill hits the cache; in parallel the cache first moves its copy to the MRF.
    """
    code = (move(1), BARRIER, add(2, 1), add(3, 1))
    hierarchy, parallel = counts(*code), counts(*code, organisation="parallel-evict")
    assert levels(hierarchy) == {"MRF": (0, 0), "RC": (1, 3), "RSP": (1, 1)}
    assert levels(parallel) == {"MRF": (1, 0), "RC": (0, 3), "RSP": (1, 1)}
    assert (hierarchy.moved("RC", "MRF"), parallel.moved("RC", "MRF")) == (0, 1)


@pytest.mark.parametrize("code", [LIVE_OUT, (move(1), add(2, 1, 1), add(3, 2), add(1, 3, 0), add(2, 1, 3))])
def test_without_a_part_it_is_the_other_design(code: tuple[Instruction, ...]) -> None:
    without_scratchpad, cache = counts(*code, entries=0), counts(*code, design="rc", lines=16)
    assert levels(without_scratchpad) == {**levels(cache), "RSP": (0, 0)}
    without_cache = counts(*code, lines=0, backing_hits=0.0)
    assert levels(without_cache) == {**levels(counts(*code, design="rsp", entries=2)), "RC": (0, 0)}


def test_a_source_that_misses_the_cache_may_enter_it() -> None:
    """Section III-A2.  R5 comes from before and fills the scratchpad for its read in the same strand; after the barrier
    it is read for the last time.  With read allocation, the fill enters the cache too, which then serves that read.
    """
    code = (add(2, 5), add(3, 5), BARRIER, add(4, 5))
    without, allocating = counts(*code), counts(*code, allocate_sources=True)
    assert levels(without) == {"MRF": (2, 0), "RC": (0, 3), "RSP": (1, 1)}
    assert levels(allocating) == {"MRF": (1, 0), "RC": (1, 4), "RSP": (1, 1)}
    assert (without.events["fills"], allocating.events["fills"]) == (0, 1)


def test_in_parallel_what_fills_the_scratchpad_does_not_enter_the_cache() -> None:
    code = (add(2, 5), add(3, 5), BARRIER, add(4, 5))
    parallel = counts(*code, allocate_sources=True, organisation="parallel-evict")
    assert levels(parallel) == {"MRF": (2, 0), "RC": (0, 3), "RSP": (1, 1)}


WARP_BARRIER = op("bar.warp.sync", -1)
CROWDED = (move(1), WARP_BARRIER, add(4, 1), move(2), add(4, 2), WARP_BARRIER, add(4, 1), add(4, 1))
"""R1 (0 to 7) and R2 (3 to 4) want the one entry."""


@pytest.mark.parametrize(
    ("chosen", "served"),
    [({}, 3), ({"brief_last": True}, 3), ({"shortening": "tail"}, 2), ({"allocator": "orf-lrf"}, 2)],
)
def test_the_hybrid_has_the_options_of_the_scratchpad(chosen: dict[str, Any], served: int) -> None:
    """R2 goes first.  R1 until 2 fits, and its reads at 6 and 7 are a new range; not with the tail alone.  With a low
    priority of accesses in succession, R1 is served thrice, and R2 not at all.
    """
    found = counts(*CROWDED, entries=1, lines=0, backing_hits=0.0, **chosen)
    assert found.reads("RSP") == served
    assert found.writes("RSP") == (1 if "brief_last" in chosen else served)


def test_strands_of_the_hybrid_may_go_on_at_barriers() -> None:
    """R1 is read in the strand of its write if that goes on; then it never reaches the cache."""
    code = (move(1), add(2, 1), BARRIER, add(3, 1))
    assert levels(counts(*code, flush_at_barriers=False))["RSP"] == (2, 1)
    assert levels(counts(*code, flush_at_barriers=False))["RC"] == (0, 2)
    assert levels(counts(*code, strands="orf-lrf"))["RSP"] == (1, 1)
