"""The stall account: each cause dominates a small kernel, and every slot-cycle has one cause."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.timing.assembly import code, one_warp, warps
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Banks, CollectorSet, Pipe, Sm, TwoLevel

from warpreg.designs import load
from warpreg.timing.results.result import CAUSES

GLOBAL = Access(FULL, "global", 0, ((0, 15),))
WIDE = Access(FULL, "global", 0, tuple((128 * i, 15) for i in range(16)))
ONE = Sm(slots=1)
FOUR = Sm(slots=4)


def pipe(name: str, **numbers: Any) -> dict[str, Pipe]:
    """All pipes, one of them with other numbers."""
    return {other: Pipe(**numbers) if other == name else Pipe() for other in PIPES}


def alike(text: str, *accesses: Access, count: int = 4, times: int = 10) -> Launched:
    """Warps of one thread block that all do the same."""
    return warps(text, *[[accesses] * times] * count)


@dataclass(frozen=True)
class Case:
    """A kernel and the SM on which the cause dominates, perhaps with a design."""

    cause: str
    launched: Launched
    sm: Sm
    design: str = ""


MOVES = "mov.b32 R1, 1\nmov.b32 R2, 1\nmov.b32 R3, 1\nmov.b32 R4, 1"
CHASE = "ld.global.u32 R1, [R1]\nmov.b32 R1, R1"
MANY = "\n".join(f"add.s32 R{i}, R0, R4" for i in range(8, 16))
ONE_COLLECTOR = Banks(mapping="register", sets=(CollectorSet(PIPES, collectors=1),))
LATE = Launched(
    code("bar.sync 0\nmov.b32 R2, 1", "add.s32 R1, R1, 1"),
    ((WarpPath(((1, FULL),) * 9 + ((0, FULL),)), *[WarpPath(((0, FULL),))] * 3),),
)
"""Warp 0 comes to the barrier after nine additions."""
ALONE = Launched(code("add.s32 R1, R1, 1"), ((WarpPath(((0, FULL),) * 9),),) * 4)
"""Four thread blocks of one warp."""
TURNS = Launched(code("\n".join(["mov.b32 R8, R8"] * 9)), ((WarpPath(((0, FULL),)),),) * 4)
"""Four thread blocks of one warp; whoever has R8 keeps it to the end."""
CASES = (
    Case("issued", one_warp(MOVES, times=9), replace(ONE, pipes=pipe("int", latency=1))),
    Case("not selected", alike("mov.b32 R1, 1"), replace(FOUR, pipes=pipe("int", latency=1))),
    Case("fetch", one_warp("bra 0", times=9), replace(ONE, pipes=pipe("ctrl", latency=6))),
    Case("alu", one_warp("add.s32 R1, R1, 1", times=9), ONE),
    Case("sfu", one_warp("sin.approx.f32 R1, R1", times=9), ONE),
    Case("dp", one_warp("add.f64 R2.64, R2.64, R2.64", times=9), ONE),
    Case("shared", one_warp("ld.shared.u32 R1, [R1]", Access(FULL, "shared", 2), times=9), ONE),
    Case("memory", one_warp("ld.global.u32 R1, [R1]", GLOBAL, times=9), ONE),
    Case("operands", alike(MANY), replace(FOUR, banks=ONE_COLLECTOR)),
    Case("unit", one_warp(MOVES, times=9), replace(ONE, pipes=pipe("int", initiation=6))),
    Case("unit", alike(MANY), replace(FOUR, banks=ONE_COLLECTOR, pipes=pipe("int", initiation=9))),
    Case("memory queue", alike("st.global.u32 [R0], R1", WIDE), replace(FOUR, queue=1)),
    Case("memory queue", alike("st.global.u32 [R0], R1", WIDE), replace(FOUR, queue=1, banks=Banks())),
    Case("barrier", LATE, FOUR),
    Case("fence", one_warp("st.global.u32 [R0], R1\nmembar.gl", GLOBAL, times=9), ONE),
    Case("token", TURNS, FOUR, "blocking_pool"),
    Case("inactive", ALONE, replace(FOUR, two_level=TwoLevel(active_warps=1))),
    Case("swap", one_warp(CHASE, GLOBAL, times=9), replace(ONE, two_level=TwoLevel(swap_cycles=90))),
    Case("drain", one_warp("st.global.u32 [R0], R1", GLOBAL), ONE),
    Case("empty", one_warp("mov.b32 R1, 1"), FOUR),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.cause)
def test_each_cause_has_a_kernel_that_it_dominates(case: Case) -> None:
    design = load(Path(__file__).parent / "designs" / f"{case.design}.py") if case.design else None
    run = agreed(case.launched, case.sm, design=design)
    run.stalls.dominated_by(case.cause)
    run.stalls.sum_to(run.cycles * case.sm.slots)


def test_every_cause_has_its_kernel() -> None:
    assert {case.cause for case in CASES} == set(CAUSES) - {"other"}
