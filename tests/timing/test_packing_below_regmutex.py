"""Packing below RegMutex: what the extended set held is dead at the release, so its physical registers come back."""

from __future__ import annotations

from typing import Any

import pytest
from tests.timing.assembly import warps
from tests.timing.both_cores import agreed
from tests.timing.test_miniatures import A_SCHEDULER, events
from tests.timing.test_regmutex import EXTENDED, inside, room
from tests.timing.test_renaming import of_widths

from warpreg.designs import Design, load
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.residency import Residency

WARPS, BASE, PHYSICAL = 4, 7, 32
"""The file has as many registers as the warps and one section: 4 * 7 + 4."""
CODE = f"""
setmaxnreg.inc.sync.aligned.u32 {BASE + EXTENDED}
mov.b32 R7, 1
mov.b32 R8, 2
mov.b32 R0, R7
mov.b32 R2, R8
setmaxnreg.dec.sync.aligned.u32 {BASE}
mov.b32 R1, R0
""".strip()
CHOSEN: dict[str, Any] = {"packing_physical": PHYSICAL, "packing_banks": 4}


def placed(name: str) -> Design:
    return inside(load(name), room(Residency(BASE, pool=EXTENDED), WARPS))


def test_registers_of_the_section_come_back() -> None:
    """Each warp writes R7, R8, R0, R2 and R1, which get a place each; R2 and R1 are dead at once, the
    others after their read."""
    launched = of_widths(warps(CODE, *[[()]] * WARPS), 4, 4, 4, 4, 4)
    alone = agreed(launched, A_SCHEDULER, design=placed("regmutex"))
    run = agreed(launched, A_SCHEDULER, design=placed("packing+regmutex"), packing_virtualization=True, **CHOSEN)
    assert run.cycles == alone.cycles
    told, expected = events(run, placed("packing+regmutex")), events(alone, placed("regmutex"))
    assert {name: told[name] for name in expected} == expected
    assert expected["refusals"] > 0
    assert (told["placed"], told["released"], told["unplaced"]) == (WARPS * 5, WARPS * 5, 0)


def test_regmutex_divides_first_in_either_order() -> None:
    assert load("packing+regmutex").name == load("regmutex+packing").name == "regmutex+packing"


def test_packing_that_releases_nothing_is_refused() -> None:
    with pytest.raises(DesignError, match="a warp has 7 registers of its own and its kernel names 9, so dead ones"):
        agreed(warps(CODE, *[[()]] * WARPS), A_SCHEDULER, design=placed("packing+regmutex"), **CHOSEN)
