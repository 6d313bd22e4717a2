"""Decode address records from their words; the layout is that of `warpreg.trace.addresses`."""

from __future__ import annotations

import numpy as np
import pytest
from tests.trace.address_decoder import AddressDecoder

ALL = 0xFFFFFFFF


def decoder(*words: int) -> AddressDecoder:
    return AddressDecoder(np.array([word % (1 << 32) for word in words], np.uint32))


def head(kind: int, payload: int = 0, masked: bool = False) -> int:
    return payload << 3 | (4 if masked else 0) | kind


def test_an_affine_record_then_steps_of_its_base() -> None:
    # Base 0x1_0000_0000 and stride 4 in full, then 128 further on, then 256 back.
    words = decoder(head(1), 0, 1, 4, head(0, 128), head(0, -256))
    for base in (1 << 32, (1 << 32) + 128, (1 << 32) - 128):
        mask, addresses = words.next(pc=3, mask=ALL, size=4, guarded=False)
        assert mask == ALL
        assert addresses.tolist() == [base + 4 * lane for lane in range(32)]
    assert words.at == 6


def test_every_instruction_remembers_its_own_base_and_stride() -> None:
    words = decoder(head(1), 1000, 0, 8, head(1), 5000, 0, -4, head(0, 16), head(0, 16))
    assert [words.next(pc, ALL, 4, False)[1][2] for pc in (0, 1, 0, 1)] == [1016, 4992, 1032, 5008]


def test_the_base_of_an_affine_record_is_that_of_lane_0_even_if_it_is_inactive() -> None:
    # Lanes 4 and 5 at 0 and 8: lane 0 would lie at -32, modulo 2^64.
    words = decoder(head(1), -32, -1, 8)
    assert words.next(0, 0b110000, 8, False)[1].tolist() == [0] * 5 + [8] + [0] * 26


def offsets(base: int, form: int) -> int:
    return head(2, base << 2 | form)


def test_offsets_from_the_lowest_address() -> None:
    # Lanes 1, 3 and 4, elements of 4 bytes.  Base 100: 2, 0 and 255 in the bytes of one word.  Base 101: 0, 256 and
    # 65535 in the halves of two.
    words = decoder(offsets(100, 0), 255 << 16 | 2, offsets(1, 1), 256 << 16 | 0, 0xFFFF)
    assert words.next(0, 0b11010, 4, False)[1][[1, 3, 4]].tolist() == [108, 100, 100 + 4 * 255]
    assert words.next(0, 0b11010, 4, False)[1][[1, 3, 4]].tolist() == [101, 101 + 1024, 101 + 4 * 65535]
    assert words.at == 5


def test_a_single_lane_has_no_offset() -> None:
    words = decoder(offsets(100, 0), offsets(-1, 1))
    assert [words.next(0, 1 << 7, 4, False)[1][7] for _ in range(2)] == [100, 99]


def test_a_ramp_does_not_change_the_stride_of_the_instruction() -> None:
    # Base 8 and stride -4: lanes 0 to 2 at 8, 4 and 0; then the affine record 8 further on has the stride before, 0.
    words = decoder(offsets(8, 2), -4, head(0, 8))
    assert words.next(0, 0b111, 4, False)[1][:4].tolist() == [8, 4, 0, 0]
    assert words.next(0, 0b111, 4, False)[1][:4].tolist() == [16, 16, 16, 0]


def test_each_lanes_address_in_full() -> None:
    # The next record counts from the first active lane's address.
    words = decoder(head(3), 7, 1, 9, 0, offsets(-7, 0))
    assert words.next(0, 0b101, 1, False)[1][:3].tolist() == [(1 << 32) + 7, 0, 9]
    assert words.next(0, 0b100, 1, False)[1][2] == 1 << 32


def test_the_mask_of_a_guarded_instruction_lasts_until_it_changes() -> None:
    words = decoder(head(1, masked=True), 0b11, 64, 0, 4, head(0), head(0, masked=True), 0)
    assert [words.next(0, ALL, 4, True)[0] for _ in range(3)] == [0b11, 0b11, 0]


@pytest.mark.parametrize("payload", [-(1 << 28), (1 << 28) - 1])
def test_the_largest_payloads(payload: int) -> None:
    words = decoder(head(1), 0, 16, 0, head(0, payload))
    words.next(0, ALL, 4, False)
    assert words.next(0, ALL, 4, False)[1].tolist() == [(16 << 32) + payload] * 32
