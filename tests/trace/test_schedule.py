"""The recorded schedule: its words, its file, and the run to which it belongs."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import one_warp
from tests.replay.schedules import ONE_SM, Scheduling
from tests.trace.records import record_word

from warpreg.trace import Schedule, ScheduleWord, Slots, TraceError, schedule_order
from warpreg.trace.schedule import SLOT_SHIFT, Record, path_digest, records

CODE = kernel([op("mov.b32", r(1), 1), op("mov.b32", r(2), r(1))], [op("mov.b32", r(3), r(2))])
PATH = one_warp([0, 1])


def small() -> Scheduling:
    return Scheduling().start(3, 5, 2).active(3).issue(3, 2).suspended(3).active(3).issue(3).end(3)


def test_what_is_written_comes_back() -> None:
    schedule = small().of(CODE, PATH)
    assert schedule.slots == ONE_SM
    assert [(record.kind.name, record.slot, record.amount) for record in records(schedule.chunks())] == [
        ("START", 3, 2), ("ACTIVATE", 3, 0), ("ISSUE", 3, 2), ("SUSPEND", 3, 0), ("ACTIVATE", 3, 0), ("ISSUE", 3, 1),
        ("END", 3, 0),
    ]  # fmt: skip
    assert next(records(schedule.chunks())).thread_block == 5


def test_a_file_that_does_not_say_so_has_the_order_of_an_sm() -> None:
    """As all had before there was another."""
    schedule = small().of(CODE, PATH)
    del schedule.header["order"]
    assert schedule.order == "sm"


def test_the_layout_of_words() -> None:
    """Kind in 3 bits, slot in 8, amount in 21."""
    words = [word for chunk in small().of(CODE, PATH).chunks() for word in chunk.tolist()]
    slot = 3 << 3
    assert words == [
        1 | slot | 2 << 11,
        5,
        3 | slot,
        0 | slot | 2 << 11,
        4 | slot,
        3 | slot,
        0 | slot | 1 << 11,
        2 | slot,
    ]


def test_each_sm_has_records_of_its_own() -> None:
    scheduling = Scheduling(Slots(2, 4, 2)).start(0).sm(1).start(1, 7).issue(1, 4).sm(0).issue(0, 2)
    found = list(records(scheduling.of(CODE, PATH).chunks()))
    assert found == [
        Record(0, ScheduleWord.START, 0, 0, 0),
        Record(1, ScheduleWord.START, 1, 0, 7),
        Record(1, ScheduleWord.ISSUE, 1, 4),
        Record(0, ScheduleWord.ISSUE, 0, 2),
    ]


def test_a_schedule_knows_its_run() -> None:
    schedule = small().of(CODE, PATH)
    schedule.check(CODE, PATH)
    schedule.check(CODE, one_warp([0]).visits(1, mask=None))  # the same words in other hands
    with pytest.raises(TraceError, match="the schedule is of another run of hand: its path differs"):
        schedule.check(CODE, one_warp([0, 0]))
    other = kernel([op("mov.b32", r(1), 2)], [op("mov.b32", r(3), r(2))])
    with pytest.raises(TraceError, match="the schedule is of another kernel: hand, not this hand"):
        schedule.check(other, PATH)


def test_the_digest_of_a_path_does_not_depend_on_its_chunks() -> None:
    assert path_digest(one_warp([0]).cut().visits(1, mask=None)) == path_digest(PATH)


def test_saved_and_opened(tmp_path: Path) -> None:
    file = tmp_path / "run.schedule"
    small().of(CODE, PATH).save(file)
    schedule = Schedule.open(file)
    assert len(list(records(schedule.chunks()))) == 7
    schedule.close()


def test_a_file_that_is_cut_off_or_foreign_is_refused() -> None:
    data = small().data(CODE, PATH)
    for length in range(len(data)):
        with pytest.raises(TraceError, match=r"^short: "):
            Schedule(io.BytesIO(data[:length]), "short")
    with pytest.raises(TraceError, match="other: not a Warpreg schedule"):
        Schedule(io.BytesIO(b"WARPREG1" + data[8:]), "other")


def test_every_flipped_bit_is_noticed_or_changes_nothing() -> None:
    data = small().data(CODE, PATH)
    expected = list(records(small().of(CODE, PATH).chunks()))
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= 1 << position % 8
        try:
            schedule = Schedule(io.BytesIO(bytes(damaged)))
            found = list(records(schedule.chunks()))
        except TraceError:
            continue
        assert (schedule.slots, found) == (ONE_SM, expected)


@pytest.mark.parametrize(
    ("sms", "warps", "schedulers", "expected"),
    [
        (0, 4, 2, "sms expects 1 to 1048576, found 0"),
        (1, 257, 2, "warps expects 1 to 256, found 257"),
        (1, 4, 5, "schedulers expects 1 to 4, found 5"),
    ],
)
def test_a_machine_that_cannot_be_is_refused(sms: int, warps: int, schedulers: int, expected: str) -> None:
    with pytest.raises(TraceError, match=expected):
        Slots(sms, warps, schedulers)


def test_a_run_longer_than_one_record_takes_several() -> None:
    schedule = Scheduling().start(0).issue(0, (1 << 21) - 1).issue(0, 1).of(CODE, PATH)
    assert [record.amount for record in records(schedule.chunks())] == [0, 2097151, 1]
    assert np.concatenate(list(schedule.chunks())).dtype == np.uint32


@given(st.data(), st.integers(1, 40), st.integers(1, 3))
def test_what_was_recorded_cycle_by_cycle_is_sorted(data: st.DataObject, piece: int, schedulers: int) -> None:
    """The records of each scheduler in their order, whatever thread blocks look like and wherever a piece ends."""
    sms = data.draw(st.lists(st.integers(0, 2), max_size=60))
    words: list[Any] = []
    expected: dict[tuple[int, int], list[Any]] = {(sm, one): [] for sm in range(3) for one in range(schedulers)}
    present = 0
    for sm in sms:
        if sm != present:
            words.append(ScheduleWord.SM | sm << SLOT_SHIFT)
            present = sm
        kind = data.draw(st.sampled_from([k for k in ScheduleWord if k != ScheduleWord.SM]))
        slot, amount = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 5))
        words.append(record_word(kind, slot, amount))
        block = data.draw(st.integers(0, 16)) if kind == ScheduleWord.START else 0
        words += [block] if kind == ScheduleWord.START else []
        expected[sm, slot % schedulers].append(Record(sm, kind, slot, amount, block))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule_order, "PIECE_WORDS", piece)
        found = list(schedule_order.sorted_records(np.array(words, np.uint32), schedulers))
    for sm, scheduler in expected:
        mine = [replace(r, sm=sm) for of, some in found if of == sm for r in records([some])]
        of_scheduler = [record for record in mine if record.slot % schedulers == scheduler]
        assert one_by_one(of_scheduler) == one_by_one(expected[sm, scheduler])


def one_by_one(found: Iterable[Record]) -> list[Record]:
    """Issues of several instructions as so many records of one."""
    return [
        replace(record, amount=1) if record.kind == ScheduleWord.ISSUE else record
        for record in found
        for _ in range(record.amount if record.kind == ScheduleWord.ISSUE else 1)
    ]
