"""What parts without a price could cost, on rows made by hand.

A bank of 256 words of 128 bits takes 8 pJ to read and 11 to write.
"""

from __future__ import annotations

import pytest
from tests.workbench.modern_gpu.test_design_figures import FOUND, made

from warpreg_workbench.modern_gpu.bounds import bound, gone_at, hit_share
from warpreg_workbench.modern_gpu.design_figures import CASES
from warpreg_workbench.modern_gpu.study import WINDOW
from warpreg_workbench.modern_gpu.unpriced import (
    Estimate,
    TagSets,
    estimates,
    line_pj,
    lookups,
    setting,
    tag_estimates,
    tags_of,
    together,
)
from warpreg_workbench.modern_gpu.unpriced_table import unpriced_text

MACHINE, TECHNOLOGY = setting()
EVENTS = {
    "regions": 2, "preloads staged": 5, "preloads decompressed": 1, "preloads from memory": 3, "values saved": 1,
    "values packed": 2, "memory reads": 3, "memory writes": 1, "memory bytes read": 384, "memory bytes written": 64,
}  # fmt: skip


def test_tags_follow_from_the_structure_of_a_design() -> None:
    """Of 255 registers of a thread, 16 warps of a scheduler and 64 of an SM: 8, 4 and 6 bits."""
    assert tags_of("rfc", MACHINE) == TagSets(sets=16, ways=6, bits=8)
    assert tags_of("rc", MACHINE) == TagSets(sets=12, ways=2, bits=12)
    assert tags_of("ltrf", MACHINE) == TagSets(sets=16, ways=16, bits=8)
    assert tags_of("regless", MACHINE) == TagSets(sets=1, ways=64, bits=14)
    assert tags_of("orf-lrf", MACHINE) is None


def test_tags_cost_what_the_array_model_says() -> None:
    """A quarter of the width and half of the root of the words: an eighth of 8 pJ.  With six ports in place of two, the
    cell is 12 tracks wide in place of 8: four reads of 8 of 128 bits, and a write.
    """
    least, most = tag_estimates(TagSets(sets=64, ways=4, bits=8), TECHNOLOGY)
    row = {"mrf_reads": 1, "mrf_writes": 0}
    assert least.pj is not None
    assert most.pj is not None
    assert least.pj(row) == pytest.approx(8 / 8)
    assert most.pj(row) == pytest.approx((4 * 8 + 11) / 16 * 1.5)


def test_every_read_and_every_write_of_an_own_level_looks_up_a_tag() -> None:
    row = {
        "mrf_reads": 10, "mrf_writes": 5, "reuse_reads": 2, "reuse_writes": 1, "rfc_reads": 20, "rfc_writes": 8,
        "events": {"preloads staged": 3, "regions": 9},
    }  # fmt: skip
    assert lookups(row) == 10 + 2 + 20 + 8 + 3


def test_a_moved_register_is_a_line_of_the_first_level() -> None:
    """256 KB are 2048 lines, eight times the words and the width of the bank.  Three registers are read; half of one,
    which is packed, is written.
    """
    read, write = line_pj(TECHNOLOGY, MACHINE)
    assert (read, write) == (pytest.approx(8 * 8 * 8**0.5), pytest.approx(11 * 8 * 8**0.5))
    moved = [one for one in estimates("regless", MACHINE, TECHNOLOGY) if one.part == "moved registers"]
    costs = [one.pj({"events": EVENTS}) for one in moved if one.pj]
    bits = 1024
    assert costs == [
        pytest.approx(3 * read + 0.5 * write),
        pytest.approx(4 * 5.85 * bits),
        pytest.approx(4 * 5.85 * bits + 15.48 * bits),
        pytest.approx(4 * (5.85 + 15.48 + 30.55) * bits),
    ]


def test_a_part_of_which_nothing_is_known_has_no_price() -> None:
    (one,) = (one for one in estimates("regless", MACHINE, TECHNOLOGY) if one.pj is None)
    assert (one.part, one.uses({"events": EVENTS})) == ("capacity manager", 2)
    assert estimates("packing", MACHINE, TECHNOLOGY) == []


def test_parts_together() -> None:
    """Tags and the warp control block of 2 x 256 bits: 16 words take a quarter of four banks' read and write."""
    found = estimates("ltrf", MACHINE, TECHNOLOGY)
    row = {"mrf_reads": 0, "mrf_writes": 0, "events": {"prefetches": 1, "reloads": 0}}
    least, most = together(found)
    assert least.pj is not None
    assert most.pj is not None
    assert least.pj(row) == pytest.approx((8 + 11) * 4 / 4)
    assert most.pj(row) == least.pj(row)
    assert not [*together(estimates("rfc", MACHINE, TECHNOLOGY))]


def test_what_an_estimate_means() -> None:
    """The RFC takes 0.4 of the plain register file, 40 pJ, and the reuse cache alone 0.8: an energy of 0.5.  Twenty
    uses of 2 pJ double it, so they take all of the saving.
    """
    one = Estimate("tags", "", lambda row: 20.0, lambda row: 40.0)
    found = bound(FOUND, CASES[0], "rfc", one)
    assert (found.pj, found.uses) == (2.0, 0.2)
    assert found.energy == pytest.approx(1.0)
    assert found.gone == pytest.approx(2.0)
    assert found.first_gone == pytest.approx(2.0)


def test_the_price_at_which_a_saving_is_gone() -> None:
    """In the geometric mean: 0.25 and 1 have a mean of 1 where the first takes four times as much."""
    assert gone_at([0.75], [0.01]) == pytest.approx(25)
    assert gone_at([0.25, 1.0], [0.01, 0.0]) == pytest.approx(75)
    assert gone_at([1.1], [0.01]) is None
    assert gone_at([0.5], [0.0]) is None


def test_where_fetches_hit() -> None:
    """Of three fetches of each workload two are further hits of the first level."""
    memory = [{"memory": {"l1_hits": hits}} for hits in (10, 12)]
    found = [
        *made(WINDOW, "reuse", False, (1.0, 1.0), 100, timing=memory[0]),
        *made(WINDOW, "regless", True, (0.7, 0.7), 100, timing=memory[1], events=EVENTS),
    ]
    assert hit_share(found, CASES[0], "regless") == pytest.approx(2 / 3)
    assert hit_share(FOUND, CASES[0], "regless") is None


def test_a_line_for_each_price() -> None:
    """Of 100 accesses, the RFC has 15 reads of the register file, 5 of the reuse cache and 80 accesses of its own.

    A set of tags is 48 bits, of 16 words: 0.75 pJ, 75 for all, on top of 40 that are half of the base.
    """
    lines = [*unpriced_text(FOUND, "tiny")]
    (head,) = (place for place, line in enumerate(lines) if line.startswith("| `rfc` |"))
    assert lines[head] == "| `rfc` | without them | | |  | 0.500 | | |"
    assert lines[head + 1] == "| | tags | 6 x 8 bits, one word | 0.8 | 1.0000 | 1.438 | 0.4 | 0.4 |"
    assert lines[head + 2].startswith("| | tags | 6 x 8 bits, one by one |")
    assert lines[head + 2].endswith("|  |  |")
    assert not [line for line in lines if "`mrf`" in line]
