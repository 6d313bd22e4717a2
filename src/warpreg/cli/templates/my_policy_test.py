"""my-design on two warps whose first four instructions are independent: ``pytest my_design_test.py``."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import warpreg
from warpreg import simt, timing
from warpreg.designs import load
from warpreg.trace.schedule import ScheduleWord, records

DESIGN = load(Path(__file__).with_name("my_design.py"))

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry small(.param .u64 out)
{
    .reg .b32 %a<4>;
    .reg .b64 %out;
    ld.param.u64 %out, [out];
    mov.u32 %a1, %tid.x;
    mov.u32 %a2, %tid.y;
    mov.u32 %a3, %tid.z;
    st.global.u32 [%out], %a1;
    st.global.u32 [%out+4], %a2;
    st.global.u32 [%out+8], %a3;
    ret;
}
"""


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (1, [0, 2, 0, 2, 0, 2, 0, 2]),
        (2, [0, 0, 2, 2, 0, 0, 2, 2]),
        (16, [0, 0, 0, 0, 2, 2, 2, 2]),
    ],
)
def test_a_warp_issues_at_most_so_many_in_a_row(limit: int, expected: list[int]) -> None:
    """The warps in slots 0 and 2 belong to scheduler 0 of the two of an SM.

    Both can issue their first four instructions at any time, so the limit alone decides.  The fifth, a store, waits for
    results of these.
    """
    record = simt.Record(path=True, addresses=True)
    (launch,) = warpreg.compile(KERNEL, record=record)["small"][1, 128](np.zeros(128, np.uint32)).launches
    _, schedule = timing.recorded_schedule(launch, "gtx480", designs=[DESIGN], mode="interpreted", limit=limit)
    issues = [one for one in records(schedule.chunks()) if one.kind == ScheduleWord.ISSUE and one.slot % 2 == 0]
    slots = [one.slot for one in issues for _ in range(one.amount)]
    assert list(islice(slots, len(expected))) == expected
