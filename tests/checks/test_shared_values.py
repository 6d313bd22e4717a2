"""Shared values of recorded runs are what memory holds (thesis of 2021, §5.5.2)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.checks.shared_values import SharedValueError, check_shared_values

from warpreg import gpu, simt
from warpreg.designs.parts.load_sharing import results, shadow
from warpreg.evaluation.runs.run import find_workload, run_workload

MACHINE = gpu.load("larf-gp102")
IN_PLACE = """
.version 7.0
.target sm_60
.address_size 64
.visible .entry twice(.param .u64 words) {
    .reg .b64 %a;
    .reg .b32 %r<4>;
    .reg .b64 %o;
    ld.param.u64 %a, [words];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %o, %r0, 4;
    add.s64 %a, %a, %o;
    ld.global.u32 %r1, [%a];
    add.u32 %r2, %r1, 1;
    st.global.u32 [%a], %r2;
    ld.global.u32 %r3, [%a];
    add.u32 %r2, %r1, %r3;
    st.global.u32 [%a], %r2;
    ret;
}
"""


@pytest.fixture(autouse=True)
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow, "WORDS", 1 << 14)


def in_place() -> Sequence[simt.Launch]:
    """A thread loads a word, stores it, and loads it again."""
    device = simt.Device(IN_PLACE, record=simt.Record(path=True, addresses=True))
    words = device.zeros(64, "uint32")
    device.launch("twice", 1, 64, words)
    assert words.download().tolist() == [1] * 64
    return device.launches


def test_a_store_in_place_is_seen() -> None:
    found = check_shared_values(in_place(), MACHINE, sms=1, mode="interpreted")
    assert (found.loads, found.shared, found.unordered) == (4, 0, 0)


def test_an_old_value_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "remove_overlapping", lambda state, sm, lanes, size: 0)
    with pytest.raises(
        SharedValueError, match=r"^kernel twice: warp \d+ at pc \d+ 'ld\.global.* its own SM has stored"
    ):
        check_shared_values(in_place(), MACHINE, sms=1, mode="interpreted")


def test_more_words_than_are_followed_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of 64 rows hold words, so that 32 of the 64 words are lost, each twice."""
    monkeypatch.setattr(shadow, "WORDS", 64)
    with pytest.raises(SharedValueError, match="64 stored words are more than are followed"):
        check_shared_values(in_place(), MACHINE, sms=1, mode="interpreted")


@pytest.mark.slow
def test_a_workload_shares_with_both_designs() -> None:
    run = run_workload(find_workload("2mm"), "tiny", record=simt.Record(path=True, addresses=True))
    found = check_shared_values(run.launches[:1], MACHINE, ("larf", "las"), sms=2, mode="interpreted", entries=100)
    assert found.shared > 0
    assert found.unordered == 0
