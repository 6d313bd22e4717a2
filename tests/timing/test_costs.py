"""Cost of a timing run: memory is bounded by the machine, and time by the number of events."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.timing.assembly import code
from tests.timing.both_cores import fast, machine_with_memory
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Sm

from warpreg.timing.launch import engine, load_blocks

LOAD = WarpPath(((0, FULL),), (Access(FULL, "global", 0, ((0, 15),)),))


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes of all arrays of the core whenever it has got more thread blocks, four at a time."""
    found: list[int] = []

    def more_blocks(*given: Any) -> Any:
        core: Any = load_blocks.more_blocks(*given)
        found.append(sum(column.nbytes for column in core if isinstance(column, np.ndarray)))
        return core

    monkeypatch.setattr(engine, "FEED_WORDS", 1)
    monkeypatch.setattr(engine, "more_blocks", more_blocks)
    return found


def test_a_longer_run_takes_no_more_memory(sizes: list[int]) -> None:
    """100 thread blocks come in 50 batches; behind none of them is more kept than behind the first three."""
    launched = Launched(code("ld.global.u32 R1, [R4]\nadd.s32 R2, R1, R1"), ((LOAD,),) * 100)
    run = fast(launched, machine_with_memory(Sm(slots=4), 20, 1, resident=4), 1, 4)
    assert run.result.warp_instructions == 200
    assert len(sizes) == 50
    assert max(sizes[3:]) <= max(sizes[:3])


def test_cycles_in_which_nothing_happens_cost_nothing() -> None:
    """A load and what waits for it take as many steps whether the memory answers after 20 cycles or after 200,000."""
    launched = Launched(code("ld.global.u32 R1, [R4]\nadd.s32 R2, R1, R1"), ((LOAD,),) * 10)
    quick, slow = (fast(launched, machine_with_memory(Sm(slots=4), latency, 1), 1, 1) for latency in (20, 200_000))
    assert slow.result.cycles - quick.result.cycles == 10 * (200_000 - 20)
    assert slow.steps == quick.steps
