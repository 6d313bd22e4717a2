"""What the printed numbers of chapter 2 imply of each other, by hand."""

from __future__ import annotations

import pytest

from warpreg_papers import published
from warpreg_papers.corf import designs
from warpreg_papers.corf.contradictions import CONTRADICTIONS, most_saved, reads_saved, saved_by_integer
from warpreg_papers.corf.mix import (
    integer_benchmarks,
    integer_share,
    integer_share_of_gains,
    printed_mix,
)

RESULTS = {result.id: result for result in published.results("corf")}


def printed(result: str) -> float:
    value = RESULTS[result].value
    assert value is not None
    return value


def test_the_share_of_integer_benchmarks_is_that_of_three_means() -> None:
    """15 of 20 save 0.12 and 5 save 0.04: (15 x 0.12 + 5 x 0.04) / 20 = 0.1.  Speeds of 2 and 1 have a harmonic mean of
    20 / (15 / 2 + 5) = 1.6.
    """
    assert integer_share(0.12, 0.04, 0.1) == pytest.approx(0.75)
    assert integer_share_of_gains(1, 0, 0.6) == pytest.approx(0.75)


def test_the_printed_means_imply_15_of_20() -> None:
    """(0.1 - 0.045) / (0.12 - 0.045) = 0.733 and (0.23 - 0.099) / (0.27 - 0.099) = 0.766 by accesses; by speeds
    (1 / 1.04 - 1 / 1.017) / (1 / 1.049 - 1 / 1.017) = 0.725 and 0.793.  Their mean is 0.754, 15.1 of 20.
    """
    assert integer_share(0.12, 0.045, 0.1) == pytest.approx(0.733, abs=5e-4)
    assert integer_share(0.27, 0.099, 0.23) == pytest.approx(0.766, abs=5e-4)
    assert integer_share_of_gains(0.049, 0.017, 0.04) == pytest.approx(0.725, abs=5e-4)
    assert integer_share_of_gains(0.105, 0.036, 0.09) == pytest.approx(0.793, abs=5e-4)
    assert integer_benchmarks() == 15


def test_the_mix_weighs_six_integer_workloads_like_fifteen_benchmarks() -> None:
    weights = printed_mix().weights(designs.WORKLOADS)
    assert {weights[name] for name in designs.INTEGER} == {15 / 6}
    assert {weights[name] for name in designs.WORKLOADS if name not in designs.INTEGER} == {5 / 14}


def test_a_coalesced_instruction_saves_one_of_at_least_two_reads() -> None:
    """Of 100 instructions 40 read two registers, half of them coalesced: 20 of 80 reads.  20 others read one: the 80
    are 0.8 of all reads, of which 0.2 are saved.
    """
    assert reads_saved(0.5, 0.8) == pytest.approx(20 / 100)


def test_printed_reductions_of_accesses_exceed_what_the_printed_shares_allow() -> None:
    """0.48 x 0.7 / 2 = 0.168 of CORF++, where 0.23 is printed, and 0.23 x 0.7 / 2 = 0.0805 of CORF, where 0.10 is, and
    0.05 its tolerance.  With 0.733 of integer benchmarks (0.168 - 0.267 x 0.099) / 0.733 = 0.193 of them.
    """
    assert most_saved("corf-pp-coalesced") == pytest.approx(0.168)
    assert most_saved("corf-coalesced") == pytest.approx(0.0805)
    assert saved_by_integer(0.48, 0.7, 0.099, 0.12, 0.045, 0.1) == pytest.approx(0.193, abs=5e-4)
    assert {name: one.allowed() for name, one in CONTRADICTIONS.items()} == {
        "corf-pp-access-reduction-all": pytest.approx(0.168),
        "corf-pp-access-reduction-int": pytest.approx(0.193, abs=5e-4),
    }
    assert RESULTS["corf-access-reduction-all"].within(0.0805)


def test_what_inherits_the_bounds_stays_within_its_tolerance() -> None:
    """Table 2.1 has 0.77 of the reads left, while 1 - 0.168 = 0.832 have to be; 0.17 of the dynamic energy are saved,
    while 0.168 - 0.03 of added energy can be; with CORF 0.9195 instead of 0.9, and 0.0505 instead of 0.085.
    """
    added = printed("corf-dynamic-overhead")
    for name, prefix in (("corf", "corf"), ("corf-pp", "corfpp")):
        most = most_saved(f"{name}-coalesced")
        assert 1 - most > printed(f"corf-table21-{prefix}-reads")
        assert RESULTS[f"corf-table21-{prefix}-reads"].within(1 - most)
        assert most - added < printed(f"{name}-dynamic-energy")
        assert RESULTS[f"{name}-dynamic-energy"].within(most - added)


def test_the_two_combined_sizes_differ_by_less_than_a_tolerance() -> None:
    """Figure 2.16 saves 0.54, Table 2.1 has 0.43 left: 0.57."""
    other = 1 - printed("corf-table21-packing-virt-size")
    assert other == pytest.approx(0.57)
    assert RESULTS["corf-combined-size"].within(other)


@pytest.mark.parametrize(
    ("saved", "smaller"), [("corf-packing-leakage", "corf-packing-size"), ("corf-pp-leakage", "corf-combined-size")]
)
def test_printed_leakage_follows_from_sizes_if_warps_have_93_percent_of_the_file(saved: str, smaller: str) -> None:
    """(1 - 0.33 - 0.054) / (1 - 0.34) = 0.933 and (1 - 0.52 - 0.054) / (1 - 0.54) = 0.926."""
    left = 1 - printed(saved) - printed("corf-leakage-overhead")
    assert left / (1 - printed(smaller)) == pytest.approx(0.93, abs=0.005)
