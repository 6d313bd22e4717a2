"""Results that a design postpones, and refusals that depend on patterns of results.

Unless told otherwise: one scheduler, lrr, latency 4, one warp placed in cycle 0, which issues from cycle 1 on.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.assembly import one_warp
from tests.timing.both_cores import agreed
from tests.timing.random_runs import Case, cases
from tests.timing.reference.machine import Banks, Sm
from tests.timing.test_miniatures import A_SCHEDULER, events, miniature

from warpreg.trace.patterns import Deltas, Shape, encoded, with_pattern

FULL, PARTIAL = (with_pattern(4, encoded(Shape.UNEVEN, Deltas.FOUR, partial)) for partial in (False, True))
ONE_PORT = Sm(banks=Banks(count=4, mapping="register", operand_ports=1))
CHAIN = "mov.b32 R{first}, R9\nmov.b32 R5, R{first}"


@pytest.mark.parametrize("sm", [A_SCHEDULER, ONE_PORT], ids=["ideal", "banks"])
def test_a_reader_issues_as_many_cycles_later(sm: Sm) -> None:
    """R1 is not postponed, R2 is, by 3 cycles."""
    design = miniature("staged")
    runs = []
    for first in (1, 2):
        launched = one_warp(CHAIN.format(first=first))
        launched = replace(launched, blocks=((replace(launched.blocks[0][0], widths=(FULL, FULL)),),))
        runs.append(agreed(launched, sm, design=design))
    assert runs[1].cycles == runs[0].cycles + 3
    assert [events(run, design)["late"] for run in runs] == [0, 1]


def test_admit_sees_the_pattern_of_the_results() -> None:
    """The second of three independent instructions is partial: it waits two cycles, and the third behind it."""
    design = miniature("staged")
    found = []
    for patterns in ((FULL, FULL, FULL), (FULL, PARTIAL, FULL)):
        launched = one_warp("mov.b32 R1, R9\nmov.b32 R3, R9\nmov.b32 R5, R9")
        launched = replace(launched, blocks=((replace(launched.blocks[0][0], widths=patterns),),))
        found.append(agreed(launched, A_SCHEDULER, design=design))
    assert found[1].cycles == found[0].cycles + 2
    assert events(found[1], design)["refused"] == 1


@settings(max_examples=15, deadline=None)
@given(cases, st.integers(0, 100))
def test_both_cores_agree(case: Case, seed: int) -> None:
    launched = case.launched.with_patterns(seed)
    agreed(launched, case.sm, case.latency, case.interval, case.sms, case.resident, miniature("staged"))
