"""Energy of extra bits in each instruction (MICRO 2011, section 6.5)."""

from __future__ import annotations

import pytest

from warpreg.energy import EnergyError, encoding_overhead, load


@pytest.mark.parametrize(("bits", "fetch", "chip"), [(0, 0, 0), (1, 0.03, 0.003), (5, 0.15, 0.015)])
def test_the_printed_overheads(bits: int, fetch: float, chip: float) -> None:
    overhead = encoding_overhead(bits)
    assert overhead.of_fetch_decode == pytest.approx(fetch, abs=0.007)
    assert overhead.of_dynamic == pytest.approx(chip, abs=0.0007)


def test_what_is_left_of_a_chip_saving() -> None:
    """54% of a register file that takes 15% of 70% of the power: 5.7%, less 0.3% for one bit and 1.6% for five."""
    saved = load("gebhart-40nm").chip.saved(0.54).of_dynamic
    assert saved - encoding_overhead(1).of_dynamic == pytest.approx(0.055, abs=0.002)
    assert saved - encoding_overhead(5).of_dynamic == pytest.approx(0.043, abs=0.003)


def test_bits_are_not_negative() -> None:
    with pytest.raises(EnergyError, match="encoding: expected 0 bits or more, found -1"):
        encoding_overhead(-1)
