"""The energies of the 28 nm technology, derived again from what CACTI 7 gives for the organisations that it assumes."""

import dataclasses

import pytest

from warpreg import energy
from warpreg.designs.caches import rc, rc_rsp
from warpreg.designs.compiled import rsp
from warpreg.energy.array import ArraySpec, least_squares
from warpreg.energy.cost import access_cost, wire_cost
from warpreg.energy.counts import Structure
from warpreg.energy.errors import EnergyError, TechnologyError
from warpreg.energy.technology import FOLDER

SLICES = {512: (2.90, 3.78, 0.032), 768: (3.01, 4.35, 0.036), 1024: (3.10, 4.90, 0.041), 2048: (3.59, 7.21, 0.057)}
SLICES |= {4096: (4.41, 11.7, 0.091)}
"""Scratchpad slices of 128 bits, 6 read and 2 write ports: by bytes, pJ of a read and of a write, and mm^2."""
TWO_WAY_1_KB = 6.11, 7.90, 0.081
BANK, KB_64, KB_256 = (35.8, 45.6), (147.9, 157.7), (346.8, 356.7)
"""pJ of a read and of a write: one bank of 16 KB; 4 and 16 of them with the way through the banks."""
NS_64, NS_256, PRINTED_NS = 0.54, 1.07, 0.82
PARTS = 8
BYTES_PER_ENTRY = 64
"""Slices of a warp-register, and bytes of one that hold an entry of four warps."""


def derived(column: int, entries: int) -> float:
    """Read, write (pJ) or area (mm^2) of a scratchpad, by the line through the slices."""
    line = least_squares([(size, found[column]) for size, found in SLICES.items()])
    return PARTS * line.at(BYTES_PER_ENTRY * entries)


@pytest.fixture(scope="module")
def technology() -> energy.Technology:
    return energy.load("rc-rsp-28nm")


def test_an_access_of_the_scratchpad_is_one_of_eight_slices(technology: energy.Technology) -> None:
    level = technology.levels["RSP"]
    for entries, read, write in zip(level.entries, level.read, level.write, strict=True):
        assert read == pytest.approx(derived(0, entries), abs=0.06)
        assert write == pytest.approx(derived(1, entries), abs=0.06)


def test_the_cache_costs_as_many_times_the_scratchpad_as_the_smallest_slice_of_two_ways(
    technology: energy.Technology,
) -> None:
    """It reads both ways: 6.11 pJ for 3.10."""
    level = technology.levels["RC"]
    for entries, read, write in zip(level.entries, level.read, level.write, strict=True):
        assert read == pytest.approx(derived(0, entries) * TWO_WAY_1_KB[0] / SLICES[1024][0], abs=0.06)
        assert write == pytest.approx(derived(1, entries) * TWO_WAY_1_KB[1] / SLICES[1024][1], abs=0.06)


def test_the_way_through_the_banks_follows_the_printed_access_time(technology: energy.Technology) -> None:
    least, most = (whole[0] - BANK[0] for whole in (KB_64, KB_256))
    way = least + (PRINTED_NS - NS_64) / (NS_256 - NS_64) * (most - least)
    mrf = Structure("MRF")
    assert access_cost(technology, mrf, "read").pj == BANK[0]
    assert access_cost(technology, mrf, "write").pj == BANK[1]
    assert wire_cost(technology, mrf, "private") == pytest.approx(way, abs=0.05)
    assert wire_cost(technology, mrf, "shared") == pytest.approx(way, abs=0.05)


def test_the_band_lies_between_the_banks_of_a_scheduler_and_those_of_an_sm(technology: energy.Technology) -> None:
    ends = technology.ends()
    assert ends is not None
    mrf = Structure("MRF")
    for end, whole in zip(ends, (KB_64, KB_256), strict=True):
        for action, pj in (("read", whole[0]), ("write", whole[1])):
            cost = access_cost(end, mrf, "read" if action == "read" else "write").pj + wire_cost(end, mrf, "private")
            assert cost == pytest.approx(pj, abs=0.2)
        assert end.levels["RC"] == technology.levels["RC"]


def test_a_technology_without_a_band_has_no_ends() -> None:
    assert energy.load("gebhart-40nm").ends() is None


def test_a_band_holds_its_distance(tmp_path_factory: pytest.TempPathFactory) -> None:
    text = (FOLDER / "rc-rsp-28nm.toml").read_text(encoding="utf-8")
    path = tmp_path_factory.mktemp("band") / "beside.toml"
    for wrong in ("[3.6, 5.115]", "[1.844]"):
        path.write_text(text.replace("[1.844, 5.115]", wrong), encoding="utf-8")
        with pytest.raises(TechnologyError, match=r"level.MRF.band: expected two distances around .* 3.572 mm, found"):
            energy.load(path)


def test_areas_are_in_proportion_to_the_lines(technology: energy.Technology) -> None:
    """12 KB are 24 lines of each scheduler; the cache takes 0.081 mm^2 for the scratchpad's 0.041."""
    area = derived(2, 6) * 1e6
    for name, ratio in (("RSP", 1.0), ("RC", TWO_WAY_1_KB[2] / SLICES[1024][2])):
        for lines in (8, 24):
            found = technology.arrays.cost(technology.levels[name].spec(lines)).area_um2
            assert found == pytest.approx(area * ratio * lines / 24, rel=1e-3)


def test_sizes_between_follow_the_line(technology: energy.Technology) -> None:
    """28 lines are 7 entries, which the file does not list."""
    found = access_cost(technology, Structure("RSP", entries=7), "write")
    assert (found.origin, found.pj) == ("model", pytest.approx(derived(1, 7), abs=0.06))


@pytest.mark.parametrize("lines", [8, 12, 24, 48])
def test_the_cache_costs_the_same_in_each_design(technology: energy.Technology, lines: int) -> None:
    alone = rc.structures(rc.Parameters(lines=lines))[1]
    hybrid = rc_rsp.structures(rc_rsp.Parameters(lines=lines))[1]
    level = technology.levels["RC"]
    for action, energies in (("read", level.read), ("write", level.write)):
        pj = energies[level.entries.index(lines // 4)]
        for structure in (alone, hybrid):
            cost = access_cost(technology, structure, "read" if action == "read" else "write").pj
            assert cost + wire_cost(technology, structure, "private") == pj


def test_a_technology_without_the_levels_prices_cache_and_scratchpad_as_arrays() -> None:
    other = energy.load("gebhart-40nm")
    for design in (
        rc.structures(rc.Parameters()),
        rc_rsp.structures(rc_rsp.Parameters()),
        rsp.structures(rsp.Parameters()),
    ):
        for structure in design[1:]:
            assert access_cost(other, structure, "read").origin == "model"


def test_other_ports_scale_a_slice(technology: energy.Technology) -> None:
    """A side of a cell is 6 + ports tracks: 14 with eight ports, 8 with two."""
    spec = technology.levels["RSP"].spec(24)
    fewer = dataclasses.replace(spec, read_ports=1, write_ports=1)
    whole, part = technology.arrays.cost(spec), technology.arrays.cost(fewer)
    assert part.read_pj == pytest.approx(whole.read_pj * 8 / 14)
    assert part.area_um2 == pytest.approx(whole.area_um2 * (8 / 14) ** 2)


def test_a_technology_may_do_without_flip_flops(technology: energy.Technology) -> None:
    with pytest.raises(EnergyError, match="no flip-flop arrays"):
        technology.arrays.cost(ArraySpec("flip-flop", words=8, word_bits=32))
