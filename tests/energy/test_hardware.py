"""Tables and logic: what is printed, what is scaled from it, what the array model gives; storage, leakage and area."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from warpreg import energy, gpu
from warpreg.energy import Access, ArraySpec, EnergyError, Structure, account
from warpreg.energy.cost import access_cost
from warpreg.energy.hardware import logic_cost, table_cost
from warpreg.energy.storage import copies, storage
from warpreg.ir.errors import UnknownNameError

CORF, BOW, GEBHART = energy.load("corf"), energy.load("bow"), energy.load("gebhart-40nm")
FERMI, TITANX = gpu.load("corf-fermi"), gpu.load("bow-titanx")


@dataclass(frozen=True)
class Shape:
    """The renaming table of corf §2.6, or another one."""

    name: str = "renaming"
    entries: int = 3024
    bits: int = 14
    banks: int = 4
    ports: int = 2


def test_a_printed_access_is_one_warp_register() -> None:
    """Thesis Tables 2.2 and 3.4: no wires, reads like writes; the network is in the writes of collectors."""
    network = 33.2 / 16
    for technology, level, pj, more in ((CORF, "MRF", 149.76, 0), (BOW, "MRF", 185.26, 0), (BOW, "BOC", 2.72, network)):
        report = account([Access(Structure(level), "read", "private", 3)], technology)
        assert (report.access_pj, report.wire_pj) == (pytest.approx(3 * pj), 0)
        assert access_cost(technology, Structure(level), "write").pj == pytest.approx(pj + more)


def test_energy_follows_the_amount_and_the_count_is_the_amount_by_default() -> None:
    # Two reads that together take 5 of 8 slices: 5/4 warp-registers of 4 slices each.
    both = account([Access(Structure("MRF"), "read", "private", 2, amount=1.25)], GEBHART)
    assert both.access_pj == pytest.approx(1.25 * 8 * 8.0)
    assert both.wire_pj == pytest.approx(1.25 * 32 * 1.9)
    assert both.lines[0].accesses == 2
    assert Access(Structure("MRF"), "read", "private", 2).amount == 2
    with pytest.raises(EnergyError, match="MRF count: expected a number of accesses, found -1"):
        Access(Structure("MRF"), "read", "private", 2, amount=-1)


def test_the_printed_table_costs_what_is_printed() -> None:
    cost = table_cost(CORF, Shape())
    assert (cost.read_pj, cost.write_pj, cost.leakage_mw, cost.origin) == (1.83, 1.83, 5.56, "printed")
    # Not printed: 42,336 bits at 304,000 um^2 for 262,144, cells of 6 + 4 tracks instead of 6 + 2.
    assert cost.area_mm2 == pytest.approx(42336 * 304000 / 262144 * (10 / 8) ** 2 / 1e6)


def test_a_table_of_another_size_scales_the_printed_one() -> None:
    # Four times the entries: twice the energy of an access, four times the leakage.  Twice the bits: twice both.
    large = table_cost(CORF, Shape(entries=4 * 3024))
    assert (large.read_pj, large.leakage_mw) == (pytest.approx(2 * 1.83), pytest.approx(4 * 5.56))
    assert table_cost(CORF, Shape(bits=28)).write_pj == pytest.approx(2 * 1.83)
    assert large.origin == "model"


def test_a_table_without_a_printed_price_is_an_array_like_the_mrf() -> None:
    """A 14-bit lookup costs 14 bits of a bank of 756 words, not a warp-register."""
    # 8 pJ for 128 bits of 256 words, 2 ports; here 14 bits, 756 words, 4 ports.
    cost = table_cost(GEBHART, Shape())
    assert cost.read_pj == pytest.approx(8 * 14 / 128 * math.sqrt(756 / 256) * (6 + 4) / (6 + 2))
    assert cost.origin == "model"
    assert cost.read_pj < access_cost(GEBHART, Structure("MRF"), "read").pj / 30


def test_logic_is_priced_by_cycle_or_by_event() -> None:
    coalescing = logic_cost(CORF, "coalescing", by_event=False)
    assert (coalescing.power_mw, coalescing.leakage_mw, coalescing.area_mm2) == (57, 0.2, 0.05)
    with pytest.raises(EnergyError, match="logic 'network' is priced by event, which needs an entry energy; it has po"):
        logic_cost(BOW, "network", by_event=True)
    with pytest.raises(EnergyError, match="technology gebhart-40nm has no logic 'network'; it has: none"):
        logic_cost(GEBHART, "network", by_event=False)


def test_the_register_file_of_the_machine_leaks_and_has_an_area() -> None:
    file = storage(CORF, Structure("MRF"), FERMI)
    assert (file.bytes, file.leakage_mw) == (128 * 1024, pytest.approx(89.6))  # Table 2.2
    whole = storage(BOW, Structure("MRF"), TITANX)
    # 64 KB leak 111.84 mW and take 1.72 mm^2 (Table 3.4, section 3.5.1); the machine has 256 KB.
    assert (whole.leakage_mw, whole.area_mm2) == (pytest.approx(4 * 111.84), pytest.approx(4 * 1.72))


def test_storage_is_counted_once_for_each_owner() -> None:
    # 12 entries of 128 bytes for each of 32 warps: 48 KB, 1.11 mW each (section 3.5.1, Table 3.4).
    collectors = storage(BOW, Structure("BOC", entries=12, per="warp"), TITANX)
    assert (collectors.bytes, collectors.leakage_mw) == (48 * 1024, pytest.approx(32 * 1.11))
    half = storage(BOW, Structure("BOC", entries=6, per="warp"), TITANX)
    assert (half.bytes, half.leakage_mw) == (24 * 1024, pytest.approx(16 * 1.11))
    # 6 entries of 8 warps: 6 KB (ISCA 2011 section 5.4), in 32 banks of 32 bits side by side.
    assert storage(GEBHART, Structure("RFC", entries=6), gpu.load("gebhart-rfc")).bytes == 6 * 1024
    assert storage(GEBHART, Structure("RFC", entries=0), FERMI).bytes == 0
    assert [copies(per, FERMI) for per in ("chip", "SM", "scheduler", "warp")] == [1 / 15, 1, 2, 48]


def test_an_array_of_its_own_stands_side_by_side_until_it_holds_a_warp_register() -> None:
    lanes = Structure("mine", array=ArraySpec("flip-flop", 8, 32))
    whole = Structure("mine", array=ArraySpec("flip-flop", 8, 32, banks=32))
    assert storage(GEBHART, lanes, FERMI) == storage(GEBHART, whole, FERMI)
    assert storage(GEBHART, lanes, FERMI).bytes == 8 * 128
    # 8192 flip-flops of 4.522 um^2 and a multiplexer of 1.9 um^2 a bit (one read and one write port).
    assert storage(GEBHART, lanes, FERMI).area_mm2 == pytest.approx(8192 * (4.522 + 1.9) / 1e6)


def test_a_half_size_collector_costs_less_than_a_full_one() -> None:
    """A kind of array of its own: scaled from the printed collector, not from the register file."""
    half = access_cost(BOW, Structure("BOC", entries=6), "read")
    assert (half.pj, half.origin) == (pytest.approx(2.72 * math.sqrt(0.5)), "model")


def test_the_register_file_cache_is_banks_like_those_of_the_register_file() -> None:
    """Section 3.5.1: 24 KB, organised like the register file: 32 banks of 6 words; the printed bank has 512."""
    derived = BOW.levels["MRF"].read[0] * math.sqrt(6 / 512)
    cache = Structure("RFC", entries=6)
    assert access_cost(BOW, cache, "read").pj == pytest.approx(derived, abs=0.01)
    whole = storage(BOW, cache, TITANX)
    assert (whole.bytes, whole.leakage_mw) == (24 * 1024, pytest.approx(111.84 * 24 / 64))
    assert whole.area_mm2 == pytest.approx(1.72 * 24 / 64)


def test_a_level_without_a_price_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="no level in technology corf named 'BOC'"):
        storage(CORF, Structure("BOC", entries=12), TITANX)
    with pytest.raises(EnergyError, match="has no collector arrays; it has flip-flop, sram"):
        storage(GEBHART, Structure("mine", array=ArraySpec("collector", 12, 1024)), TITANX)
    with pytest.raises(EnergyError, match="BOC per: expected one of chip, SM, scheduler, warp, found 'lane'"):
        Structure("BOC", per="lane")
