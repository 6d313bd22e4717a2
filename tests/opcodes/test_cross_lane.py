"""Cross-lane instructions: shuffles, votes, the active mask."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.opcodes.bench import LANES, Case, check, run

from warpreg.ir.operands import Immediate

MODES = ("up", "down", "bfly", "idx")
ALL = Immediate(0xFFFFFFFF)
VALUES = [1000 + lane for lane in range(LANES)]


def source_lane(mode: str, lane: int, b: int, c: int) -> int | None:
    """The lane that is read, None if it is out of range (PTX ISA, shfl)."""
    clamp, segment = c & 31, c >> 8 & 31
    first, b = lane & segment, b & 31
    limit = first | (clamp & ~segment)
    source = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": first | (b & ~segment)}[mode]
    return source if (source >= limit if mode == "up" else source <= limit) else None


def shuffled(mode: str, bs: list[int], cs: list[int]) -> tuple[list[int], list[int]]:
    sources = [source_lane(mode, lane, bs[lane], cs[lane]) for lane in range(LANES)]
    return [VALUES[lane if s is None else s] for lane, s in enumerate(sources)], [int(s is not None) for s in sources]


@pytest.mark.parametrize("mode", MODES)
def test_shuffle_with_constant_offset(mode: str) -> None:
    cases = []
    for b, c in [(0, 0), (1, 31), (16, 31), (3, 0x1807), (1, 0x1C00), (5, 0x1003), (33, 31)]:
        case = Case(f"shfl.sync.{mode}.b32", [VALUES, Immediate(b), Immediate(c), ALL], results=2)
        cases.append((case, shuffled(mode, [b] * LANES, [c] * LANES)))
    run([case for case, _ in cases])
    for case, expected in cases:
        assert tuple(case.outcome) == expected


@pytest.mark.parametrize("mode", MODES)
def test_shuffle_with_an_offset_of_each_lane_its_own(mode: str) -> None:
    source = random.Random(5)
    bs = [source.getrandbits(6) for _ in range(LANES)]
    cs = [source.choice([0, 31, 0x1807, 0x101F, 0x1C03]) for _ in range(LANES)]
    case = Case(f"shfl.sync.{mode}.b32", [VALUES, bs, cs, ALL], results=2)
    run([case])
    assert tuple(case.outcome) == shuffled(mode, bs, cs)


def test_shuffle_from_an_inactive_lane_keeps_the_own_value() -> None:
    even = 0x55555555
    case = Case("shfl.sync.down.b32", [VALUES, Immediate(1), Immediate(31), ALL], results=2, active=even)
    run([case])
    assert case.outcome[0][::2] == VALUES[::2]
    assert case.outcome[1][:30:2] == [1] * 15


def test_votes_count_active_lanes_only() -> None:
    flags = [int(lane < 4) for lane in range(LANES)]
    outcomes = {
        ("all", 0x0000000F): 1,
        ("all", 0x0000001F): 0,
        ("any", 0xFFFFFFF8): 1,
        ("any", 0xFFFFFFF0): 0,
        ("uni", 0x0000000F): 1,
        ("uni", 0xFFFFFFF0): 1,
        ("uni", 0x00000018): 0,
    }
    expectations: list[tuple[Case, Any]] = [
        (Case(f"vote.sync.{mode}.pred", [flags, ALL], active=active), lambda p, m, result=result: result)
        for (mode, active), result in outcomes.items()
    ]
    expectations.append((Case("vote.sync.ballot.b32", [flags, ALL], active=0x3C), lambda p, m: 0xC))
    expectations.append((Case("vote.ballot.b32", [flags]), lambda p: 0xF))
    check(expectations)


def test_each_lane_votes_among_its_own_members() -> None:
    flags = [int(lane % 3 == 0) for lane in range(LANES)]
    low, high = 0xFFFF, 0xFFFF0000
    ballot = sum(flag << lane for lane, flag in enumerate(flags))
    case = Case("vote.sync.ballot.b32", [flags, [low] * 16 + [high] * 16])
    run([case])
    assert case.outcome[0] == [ballot & low] * 16 + [ballot & high] * 16


def test_active_mask() -> None:
    partial, full = Case("activemask.b32", [], active=0x8000F00F), Case("activemask.b32", [])
    run([partial, full])
    assert partial.outcome[0] == [0x8000F00F] * LANES
    assert full.outcome[0] == [0xFFFFFFFF] * LANES
