"""The 40 nm technology: printed, assumed and modelled numbers, and the rejection of invalid files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpreg import energy
from warpreg.energy import ArraySpec, OperatingPoint, rescale, residuals
from warpreg.energy.array import Line, least_squares
from warpreg.energy.technology import FOLDER
from warpreg.ir.errors import UnknownNameError, WarpregError

TECHNOLOGY = energy.load("gebhart-40nm")


def test_two_lost_read_energies_are_marked_as_assumed_and_what_is_printed_is_not() -> None:
    assumed = {
        key for key, origin in TECHNOLOGY.origins.items() if origin.assumed and key.endswith((".read", ".write"))
    }
    assert assumed == {"level.MRF.read", "level.LRF.read"}
    assert TECHNOLOGY.levels["ORF"].read == (0.7, 1.2, 1.2, 1.9, 2.0, 2.0, 2.4, 3.4)
    assert TECHNOLOGY.levels["RFC"].write == (2.0, 3.8, 4.4, 6.1, 6.0, 6.7, 7.7, 10.9)


def test_wire_energy_is_a_quarter_of_c_v_squared_a_bit() -> None:
    # 300 fF/mm x 0.81 V^2 x 32 bits / 4 = 1944 fJ/mm, printed as 1.9 pJ/mm.
    wire = TECHNOLOGY.wire
    by_capacitance = wire.capacitance * TECHNOLOGY.process.voltage**2 * wire.bits / 4 / 1000
    assert by_capacitance == pytest.approx(1.944)
    assert wire.energy == pytest.approx(by_capacitance, rel=0.03)


def test_private_wires_shrink_by_5_to_the_orf_and_by_20_to_the_lrf() -> None:
    levels = TECHNOLOGY.levels
    assert levels["MRF"].private / levels["ORF"].private == pytest.approx(5)
    assert levels["MRF"].private / levels["LRF"].private == pytest.approx(20)
    assert levels["LRF"].shared is None


def test_least_squares_on_points_with_a_known_answer() -> None:
    # y = 1, 2, 4 at x = 0, 1, 2: slope (-1 x -4/3 + 1 x 5/3) / 2 = 3/2, intercept 7/3 - 3/2 = 5/6.
    line = least_squares([(0, 1), (1, 2), (2, 4)])
    assert line.slope == pytest.approx(3 / 2)
    assert line.intercept == pytest.approx(5 / 6)
    assert least_squares([(4, 2.0)]) == Line(0.0, 0.5)


def test_the_flip_flop_line_is_the_least_squares_line_of_table_3() -> None:
    # Reads: mean 1.85 pJ at 36 words; sum (n - 4.5) E = 13.7 over 42 gives 0.3262 pJ an entry, 0.3821 pJ at none.
    cost = TECHNOLOGY.arrays.cost(ArraySpec("flip-flop", words=9 * 8, word_bits=32, read_ports=3))
    assert 4 * cost.read_pj == pytest.approx(0.3821 + 9 * 0.3262, abs=1e-3)
    # Writes: sum (n - 4.5) E = 44.3 over 42 gives 1.0548 pJ an entry; 5.95 - 4.5 x 1.0548 = 1.2036 pJ at none.
    assert 4 * cost.write_pj == pytest.approx(1.2036 + 9 * 1.0548, abs=1e-3)


def test_the_residuals_of_the_fit_are_within_a_fifth_and_cancel() -> None:
    fitted = [r for r in residuals(TECHNOLOGY) if r.fitted]
    assert len(fitted) == 2 * (1 + 8 + 8 + 1)
    assert max(abs(r.relative) for r in fitted) < 0.2
    for quantity in ("read", "write"):
        errors = [r.modelled - r.printed for r in fitted if r.point.startswith("ORF") and r.quantity == quantity]
        assert sum(errors) == pytest.approx(0, abs=1e-9)
    assert all(r.relative == pytest.approx(0) for r in fitted if r.point.startswith("MRF"))


def test_points_of_other_papers_are_shown_though_the_model_misses_some() -> None:
    checks = {(r.point, r.quantity): r for r in residuals(TECHNOLOGY) if not r.fitted}
    # 8 pJ x 8 (width) x 2 (square root of 4 times the words) x (0.96 / 0.9)^2 = 145.6 pJ; 149.76 are printed.
    assert checks["corf-register-file", "read"].modelled == pytest.approx(145.636, abs=1e-3)
    assert abs(checks["corf-register-file", "read"].relative) < 0.05
    # 85.4 nW a bit at 0.96 V x 42,336 bits = 3.62 mW; 5.56 are printed.
    assert checks["corf-renaming-table", "leakage"].modelled == pytest.approx(3.6176, abs=1e-3)
    assert checks["bow-register-bank", "read"].relative == pytest.approx(-0.61, abs=0.01)


def test_an_sram_bank_of_four_times_the_words_takes_twice_the_energy_and_four_times_the_area() -> None:
    small = TECHNOLOGY.arrays.cost(ArraySpec("sram", 256, 128))
    large = TECHNOLOGY.arrays.cost(ArraySpec("sram", 1024, 128))
    assert (small.read_pj, small.write_pj, small.area_um2) == (8, 11, 38000)
    assert large.read_pj == pytest.approx(16)
    assert large.area_um2 == pytest.approx(4 * 38000)
    assert large.access_ns == pytest.approx(2 * small.access_ns)


@given(
    st.sampled_from(["sram", "flip-flop"]),
    st.integers(1, 4096),
    st.sampled_from([1, 32, 128, 1024]),
    st.integers(1, 8),
    st.integers(1, 4),
    st.integers(1, 32),
)
def test_more_of_anything_never_costs_less(
    kind: str, words: int, bits: int, reads: int, writes: int, banks: int
) -> None:
    def cost(words: int, bits: int, reads: int, banks: int) -> tuple[float, ...]:
        spec = ArraySpec("sram" if kind == "sram" else "flip-flop", words, bits, reads, writes, banks)
        of = TECHNOLOGY.arrays.cost(spec)
        return (of.read_pj, of.write_pj, of.leakage_mw, of.area_um2, of.access_ns)

    base = cost(words, bits, reads, banks)
    assert min(base) > 0
    for more in (
        cost(words + 1, bits, reads, banks),
        cost(words, bits * 2, reads, banks),
        cost(words, bits, reads + 1, banks),
        cost(words, bits, reads, banks + 1),
    ):
        assert all(b >= a for a, b in zip(base, more, strict=True))


def test_scaling_to_half_the_node_and_two_thirds_of_the_voltage() -> None:
    cost = TECHNOLOGY.arrays.cost(ArraySpec("sram", 256, 128))
    scaled = rescale(cost, OperatingPoint(40, 0.9), OperatingPoint(20, 0.6))
    assert scaled.read_pj == pytest.approx(8 * 0.5 * 4 / 9)
    assert scaled.area_um2 == pytest.approx(38000 / 4)
    assert scaled.leakage_mw == pytest.approx(cost.leakage_mw / 2 * 2 / 3)
    assert rescale(cost, OperatingPoint(40, 0.9), OperatingPoint(40, 0.9)) == cost


def test_the_printed_chip_example() -> None:
    # 130 W x 2/3 = 87 W dynamic, x 0.7 / 16 = 3.8 W an SM, x 0.15 = 0.6 W of registers; 36% of it on 16 SMs = 3.3 W.
    chip = TECHNOLOGY.chip
    assert chip.dynamic_w == pytest.approx(87, abs=0.5)
    assert chip.sm_w == pytest.approx(3.8, abs=0.05)
    assert chip.register_file_w == pytest.approx(0.57, abs=0.005)
    saved = chip.saved(0.36)
    assert saved.watts_per_sm == pytest.approx(0.2, abs=0.01)
    assert saved.watts == pytest.approx(3.3, abs=0.05)
    assert saved.of_sm == pytest.approx(0.054)
    assert saved.of_dynamic == pytest.approx(0.038, abs=5e-4)


def test_the_later_paper_uses_the_same_chip_model_with_54_percent() -> None:
    # Printed 8.3% of SM and 5.8% of dynamic power; 0.54 x 0.15 = 8.1%, x 0.7 = 5.7%: its share was nearer 15.4%.
    saved = TECHNOLOGY.chip.saved(0.54)
    assert saved.of_sm == pytest.approx(0.083, abs=0.0025)
    assert saved.of_dynamic == pytest.approx(0.058, abs=0.0015)
    with pytest.raises(energy.EnergyError, match=r"expected a fraction up to 1, found 54"):
        TECHNOLOGY.chip.saved(54)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[level.LRF]", "[level.LRF]\nspeed = 3", "level.LRF.speed: expected one of array, word"),
        (
            "value = [11.0]",
            "value = [11.0, 12.0]",
            "level.MRF.write: expected 1 values, one for each of entries, found 2",
        ),
        ("value = [11.0]", "value = 11.0", "level.MRF.write: expected a list with at least one item, found 11.0"),
        ("value = [11.0]", "value = [-1]", "level.MRF.write: expected 0 to 1e+06 pJ, found -1"),
        ("value = [11.0]", "value = [nan]", "level.MRF.write: expected 0 to 1e+06 pJ, found nan"),
        ('value = "sram"', 'value = "dram"', "level.MRF.array: expected one of flip-flop, slices, sram, found 'dram'"),
        ("[level.MRF]", "[level.Main]", "level.MRF: expected a level MRF with array sram, found none"),
        (
            "value = 128, unit",
            "value = 100, unit",
            "level.MRF.word: expected a divisor of the access of 100 bits, found 128",
        ),
        ("[wire]", "[wires]", "wires: expected 'wire', found unknown key 'wires'"),
    ],
)
def test_a_wrong_technology_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (FOLDER / "gebhart-40nm.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(energy.TechnologyError) as caught:
        energy.load(path)
    assert message in str(caught.value)


def test_names_and_the_nearest_name() -> None:
    assert energy.names() == ("bow", "common-40nm", "corf", "gebhart-40nm", "rc-rsp-28nm", "tfet")
    with pytest.raises(UnknownNameError, match="did you mean 'gebhart-40nm'"):
        energy.load("gebhart-45nm")
    assert issubclass(energy.TechnologyError, WarpregError)


def test_a_file_is_read_once_until_it_is_edited(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    text = (FOLDER / "gebhart-40nm.toml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    first = energy.load(path)
    assert energy.load(path) is first
    path.write_text(text.replace(first.title, "another title"), encoding="utf-8")
    assert energy.load(path).title == "another title"
