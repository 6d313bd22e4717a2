"""The derived energies of the 28 nm technology, derived again from the bank that orf-lrf Table 4 prints."""

import math

import pytest

from warpreg import energy
from warpreg.energy.array import ArraySpec
from warpreg.energy.errors import EnergyError

SHRINK = 28 / 40
TAGS = 1 + 2 * 12 / 1024
"""Two ways of 12 bits beside a line of 1024."""


def test_energies_of_the_mrf_bank_follow_from_a_bank_of_256_by_128_bits() -> None:
    level = energy.load("rc-rsp-28nm").levels["MRF"]
    scale = 1024 / 128 * math.sqrt(128 / 256) * SHRINK
    assert level.read == pytest.approx((8.0 * scale,), abs=0.05)
    assert level.write == pytest.approx((11.0 * scale,), abs=0.05)


@pytest.mark.parametrize(("name", "tags"), [("RSP", 1.0), ("RC", TAGS)])
def test_energies_of_cache_and_scratchpad_follow_from_words_and_ports(name: str, tags: float) -> None:
    technology = energy.load("rc-rsp-28nm")
    level, bank = technology.levels[name], technology.levels["MRF"]
    for entries, read, write in zip(level.entries, level.read, level.write, strict=True):
        scale = (6 + 8) / (6 + 2) * math.sqrt(4 * entries / 128) * tags
        assert read == pytest.approx(bank.read[0] * scale, abs=0.1)
        assert write == pytest.approx(bank.write[0] * scale, abs=0.1)


def test_a_technology_may_do_without_flip_flops() -> None:
    with pytest.raises(EnergyError, match="no flip-flop arrays"):
        energy.load("rc-rsp-28nm").arrays.cost(ArraySpec("flip-flop", words=8, word_bits=32))
