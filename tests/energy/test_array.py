"""The model of SRAM banks: how ports, words and bits change what one bank costs."""

from __future__ import annotations

import pytest

from warpreg.energy.array import SRAM, ArraySpec, Line, SliceModel, SramModel

BANK = ArraySpec(SRAM, words=64, word_bits=32, read_ports=1, write_ports=1)
MODEL = SramModel(
    reference=BANK,
    read_pj=1.5,
    write_pj=2.5,
    area_um2=1000,
    leakage_nw_per_bit=10,
    access_ns=0.4,
    access_bits=64 * 32,
    cell_tracks=2,
)
"""A cell of two ports is 2 + 2 tracks wide and high; one of six ports is 2 + 6, twice as wide and high."""
SIX_PORTS = ArraySpec(SRAM, words=64, word_bits=32, read_ports=4, write_ports=2)
SLICED = SliceModel(MODEL, read=Line(1.5, 0), write=Line(2.5, 0))


@pytest.mark.parametrize("model", [MODEL, SLICED])
def test_leakage_and_area_follow_the_square_of_the_side_of_a_cell_and_energy_the_side(
    model: SramModel | SliceModel,
) -> None:
    """The reference leaks 64 * 32 bits * 10 nW = 20.48 uW; four times the area of a cell leaks four times that."""
    two, six = model.cost(BANK), model.cost(SIX_PORTS)
    assert (two.leakage_mw, two.area_um2) == (pytest.approx(0.02048), pytest.approx(1000))
    assert (six.leakage_mw, six.area_um2) == (pytest.approx(0.08192), pytest.approx(4000))
    assert (six.read_pj, six.write_pj, six.access_ns) == pytest.approx((3, 5, 0.8))


def test_leakage_and_area_follow_the_bits_and_energy_width_and_the_root_of_the_words() -> None:
    """Four times the words: 4 times the bits, and sqrt(4) = 2 times the energy and the time of an access."""
    deep, wide = MODEL.cost(ArraySpec(SRAM, 256, 32)), MODEL.cost(ArraySpec(SRAM, 64, 64))
    assert (deep.leakage_mw, deep.area_um2) == (pytest.approx(0.08192), pytest.approx(4000))
    assert (deep.read_pj, deep.access_ns) == (pytest.approx(3), pytest.approx(0.8))
    assert (wide.leakage_mw, wide.read_pj) == (pytest.approx(0.04096), pytest.approx(3))
