"""Kinds of arrays and voltages of a technology file: several kinds of one form, a supply for each level."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpreg import energy
from warpreg.energy import Access, ArraySpec, Structure, account
from warpreg.energy.cost import access_cost
from warpreg.energy.technology import FOLDER

SLOW = """
[level.SLOW]
array = { value = "tunnel", source = "a test" }
word = { value = 1024, unit = "bits", source = "a test" }
read_ports = { value = 1, unit = "ports", source = "a test" }
write_ports = { value = 1, unit = "ports", source = "a test" }
warps = { value = 1, unit = "warps", source = "a test" }
entries = { value = [64], unit = "entries", source = "a test" }
read = { value = [10.0], unit = "pJ", source = "a test" }
write = { value = [20.0], unit = "pJ", source = "a test" }
private = { value = 0.0, unit = "mm", source = "a test" }
voltage = { value = 0.3, unit = "V", source = "a test" }

[model.tunnel]
form = { value = "sram", source = "a test" }
area = { value = 5000, unit = "um^2", source = "a test" }
leakage = { value = 2.0, unit = "mW", source = "a test" }
leakage_bits = { value = 65536, unit = "bits", source = "a test" }
leakage_voltage = { value = 0.3, unit = "V", source = "a test" }
access_time = { value = 1.0, unit = "ns", source = "a test" }
access_time_bits = { value = 65536, unit = "bits", source = "a test" }
cell_tracks = { value = 6, unit = "tracks", source = "a test" }
"""


def with_slow(folder: Path, old: str = "", new: str = "") -> Path:
    """The technology of the coalescing study with a level in another kind of array at 0.3 V."""
    path = folder / "two-kinds.toml"
    text = (FOLDER / "corf.toml").read_text(encoding="utf-8") + SLOW
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def test_each_kind_is_scaled_from_its_own_level_at_its_own_voltage(tmp_path: Path) -> None:
    technology = energy.load(with_slow(tmp_path))
    assert sorted(technology.arrays.kinds) == ["sram", "tunnel"]
    assert access_cost(technology, Structure("SLOW"), "write").pj == 20
    # Four times the words: twice the energy; the constants of the other kind play no part.
    assert access_cost(technology, Structure("SLOW", entries=256), "read").pj == pytest.approx(20)
    both = account([Access(Structure(name), "read", "private", 1) for name in ("MRF", "SLOW")], technology)
    assert {name: level.access for name, level in both.levels().items()} == {"MRF": pytest.approx(149.76), "SLOW": 10}


def test_an_array_at_another_voltage(tmp_path: Path) -> None:
    """Energy follows the square of the supply, leakage the supply."""
    arrays = energy.load(with_slow(tmp_path)).arrays
    own = arrays.cost(ArraySpec("tunnel", 64, 1024))
    assert arrays.cost(ArraySpec("tunnel", 64, 1024, voltage=0.3)) == own
    double = arrays.cost(ArraySpec("tunnel", 64, 1024, voltage=0.6))
    assert (own.read_pj, own.leakage_mw) == (10, pytest.approx(2))
    assert (double.read_pj, double.leakage_mw) == (pytest.approx(40), pytest.approx(4))
    with pytest.raises(energy.EnergyError, match="array voltage: expected more than 0 V, found 0"):
        ArraySpec("tunnel", 64, 1024, voltage=0)


BARE = """[logic.bare]
leakage = { value = 0.2, unit = "mW", source = "a test" }
area = { value = 0.05, unit = "mm^2", source = "a test" }

[logic.coalescing]"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('form = { value = "sram", source = "a test" }', "", "model.tunnel.form: expected an entry: flip-flop or sram"),
        ('form = { value = "sram"', 'form = { value = "dram"', "model.tunnel.form: expected one of flip-flop, sram"),
        (
            'array = { value = "tunnel"',
            'array = { value = "tunel"',
            "level.SLOW.array: expected one of flip-flop, slices",
        ),
        ("\npower         = {", "\npowers        = {", "logic.coalescing.powers: expected 'power', found unknown key"),
        ("read          = { value = 1.83", "reads         = { value = 1.83", "table.renaming.reads: expected 'read'"),
        ("[table.renaming]", "[tables.renaming]", "tables: expected 'table', found unknown key 'tables'"),
        ("[logic.coalescing]", BARE, "logic.bare: expected an energy, a power or both, found neither"),
    ],
)
def test_a_wrong_section_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(energy.TechnologyError) as caught:
        energy.load(with_slow(tmp_path, old, new))
    assert message in str(caught.value)
