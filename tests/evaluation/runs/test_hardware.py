"""What a design's hardware costs in a run: tables and logic, leakage less what is gated, storage, area; worked by hand.

The design: a renaming table, gated registers and a small buffer of its own.  In the runs of `warpreg run` and `warpreg
compare` it leaves all accesses to the MRF.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.energy.test_kinds import with_slow
from tests.sass.vector_add import write_vector_add
from tests.timing.interpreted import interpret

import warpreg
from warpreg import energy, gpu
from warpreg.cli import main
from warpreg.designs.errors import DesignError
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.energy import EnergyError
from warpreg.evaluation.runs.choices import attempted
from warpreg.evaluation.runs.comparison import Setting
from warpreg.evaluation.runs.hardware import Use, check_prices, for_few_warps, parts, plain_leakage
from warpreg.evaluation.runs.parts import Part

DESIGN = '''"""Keep half of the registers on."""
from dataclasses import dataclass
from warpreg.designs.interface import *

DESIGN = Declaration(
    slot="levels", levels=("MRF", "BUF"), order="sm", events=("issues",), resources=("allocated",), source="assumed"
)

@dataclass(frozen=True)
class Parameters:
    entries: int = parameter(2, low=0, high=8, source="assumed: a test")

def structures(parameters):
    if parameters.entries == 0:
        return Structure("MRF", powered="allocated"), Structure("BUF", entries=0)
    array = ArraySpec("sram", parameters.entries, 1024)
    buffer = Structure("BUF", array=array, private_mm=0, shared_mm=0, per="warp", replaces_bytes=128)
    return Structure("MRF", powered="allocated"), buffer

def hardware(parameters, machine):
    if parameters.entries == 0:
        return ()
    return Table("renaming", 3024, 14, banks=4, ports=2), Logic("coalescing"), Logic("shift", "issues")

@hook
def block_start(state, program, sm, plan):
    level(plan, 0, 512)

@hook
def plan_reads(state, program, warp, pc, plan):
    count(plan, 0)
    for operand in source_operands(program, pc):
        read(plan, operand, MRF)
'''
SHIFT = """
[logic.shift]
energy = { value = 0.5, unit = "pJ", source = "a test" }
leakage = { value = 0.0, unit = "mW", source = "a test" }
area = { value = 0.001, unit = "mm^2", source = "a test" }
"""
GATED = str(Path(__file__).parents[3] / "examples" / "gated.py")
FERMI = gpu.load("corf-fermi")
MS = 700_000  # cycles of a millisecond at 700 MHz
USE = Use({"issues": 100, "renaming lookups": 40, "renaming updates": 10}, MS, 2, {"allocated": 512 * MS * 2})


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """The design, and the technology of the coalescing study with a price for its shifter."""
    design, technology = tmp_path / "half.py", tmp_path / "shifting.toml"
    design.write_text(DESIGN, encoding="utf-8")
    corf = (energy.technology.FOLDER / "corf.toml").read_text(encoding="utf-8")
    technology.write_text(corf + SHIFT, encoding="utf-8")
    return str(design), str(technology)


def parts_of(files: tuple[str, str], use: Use = USE, **values: int) -> dict[str, Part]:
    choice = ConfiguredDesign.load(files[0], values)
    found = parts(choice.design, choice.design.configure(**values), use, FERMI, energy.load(files[1]))
    return {part.name: part for part in found}


def test_dynamic_energy_of_tables_and_logic(files: tuple[str, str]) -> None:
    found = parts_of(files)
    assert found["renaming"].dynamic_pj == pytest.approx(50 * 1.83)
    assert found["shift"].dynamic_pj == pytest.approx(100 * 0.5)
    # 57 mW on 2 SMs for 1 ms are 114 uJ.
    assert found["coalescing"].dynamic_pj == pytest.approx(114e6)
    assert [part.dynamic_pj for part in found.values() if part.is_level] == [0, 0]


def test_leakage_over_the_cycles_less_what_is_gated(files: tuple[str, str]) -> None:
    """Table 2.2: the register file leaks 89.6 mW, the renaming table 5.56 mW; half of the registers are off."""
    found = parts_of(files)
    assert found["MRF"].leakage_pj == pytest.approx(2 * 89.6e6 / 2)
    assert found["renaming"].leakage_pj == pytest.approx(2 * 5.56e6)
    assert found["coalescing"].leakage_pj == pytest.approx(2 * 0.2e6)
    # 2 x 1024 bits for each of 48 warps, 85.45 nW a bit.
    assert found["BUF"].leakage_pj == pytest.approx(2 * 89.6e6 * 48 * 2 / 1024)
    assert plain_leakage(USE, FERMI, energy.load("corf")) == pytest.approx(2 * 89.6e6)


def test_registers_that_are_all_on_leak_like_the_plain_register_file(files: tuple[str, str]) -> None:
    on = Use({}, MS, 2, {"allocated": 1024 * MS * 2})
    assert parts_of(files, on)["MRF"].leakage_pj == plain_leakage(on, FERMI, energy.load(files[1]))
    with pytest.raises(EnergyError, match="MRF: expected at most 1024 entries of an SM in resource 'allocated'"):
        parts_of(files, Use({}, MS, 2, {"allocated": 1025 * MS * 2}))


HYBRID = '''"""Keep 624 of 1024 registers in slow cells."""
from warpreg.designs.interface import *

DESIGN = Declaration(
    slot="mapping", levels=("MRF", "SLOW"), main=("MRF", "SLOW"), order="sm", resources=("on",), source="assumed"
)

def structures(parameters):
    return Structure("MRF", registers=400, powered="on"), Structure("SLOW", registers=624)
'''


def test_a_main_register_file_in_two_technologies(tmp_path: Path) -> None:
    """A quarter of the 400 fast registers leak, at 89.6 mW for 1024; the 624 slow ones at 2 mW for 64, at their own
    voltage.  Together they are as many as the machine has, so nothing is added.
    """
    (tmp_path / "hybrid.py").write_text(HYBRID, encoding="utf-8")
    choice, technology = ConfiguredDesign.load(str(tmp_path / "hybrid.py"), {}), energy.load(with_slow(tmp_path))
    use = Use({}, MS, 2, {"on": 100 * MS * 2})
    found = {part.name: part for part in parts(choice.design, choice.design.configure(), use, FERMI, technology)}
    assert found["MRF"].leakage_pj == pytest.approx(2 * 89.6e6 * 100 / 1024)
    assert found["SLOW"].leakage_pj == pytest.approx(2 * 2e6 * 624 / 64)
    assert (found["MRF"].bytes, found["SLOW"].bytes) == (-624 * 128, 624 * 128)
    check_prices([choice], FERMI, technology)
    with pytest.raises(EnergyError, match="hybrid: level SLOW has no price"):
        check_prices([choice], FERMI, energy.load("corf"))


def test_structures_of_no_size_cost_nothing(files: tuple[str, str]) -> None:
    on = Use({"issues": 7}, MS, 2, {"allocated": 1024 * MS * 2})
    found = parts_of(files, on, entries=0)
    assert list(found) == ["MRF", "BUF"]
    assert sum(part.leakage_pj or 0 for part in found.values()) == plain_leakage(on, FERMI, energy.load("corf"))
    assert [(part.bytes, part.area_mm2, part.dynamic_pj) for part in found.values()] == [(0, 0, 0), (0, 0, 0)]


def test_added_storage_and_area_of_an_sm(files: tuple[str, str]) -> None:
    found = parts_of(files)
    assert found["renaming"].bytes == 3024 * 14 / 8  # 5.16 KB, section 2.8
    assert found["BUF"].bytes == 48 * (256 - 128)
    assert found["coalescing"].area_mm2 == 0.05
    assert found["MRF"].bytes == found["MRF"].area_mm2 == 0


def test_without_cycles_there_is_no_leakage_and_no_power(files: tuple[str, str]) -> None:
    found = parts_of(files, Use({"issues": 100}))
    assert {part.leakage_pj for part in found.values()} == {None}
    assert (found["coalescing"].dynamic_pj, found["shift"].dynamic_pj) == (None, 50)


def test_what_has_no_price_is_refused_before_the_run(files: tuple[str, str]) -> None:
    choice, setting = ConfiguredDesign.load(files[0]), Setting.load("corf-fermi", "gebhart-40nm")
    with pytest.raises(EnergyError) as caught:
        check_prices([choice], setting.machine, setting.technology)
    assert str(caught.value) == (
        "half: logic coalescing has no price (priced by --technology common-40nm, --technology corf): "
        "technology gebhart-40nm has no logic 'coalescing'; it has: none"
    )
    setting.check([ConfiguredDesign.load(files[0], {"entries": 0})])
    with pytest.raises(EnergyError, match=r"rfc: level RFC has no price \(priced by --technology bow, --tech"):
        Setting.load("gtx480", "corf").check([ConfiguredDesign.load("rfc")])


def test_a_composition_has_the_hardware_of_its_parts(files: tuple[str, str]) -> None:
    policy = Path(files[0]).with_name("first_come.py")
    policy.write_text(
        '"""Equal."""\nfrom warpreg.designs.interface import *\n'
        'DESIGN = Declaration(slot="policy", source="assumed: a test")\n'
        "def hardware(parameters, machine):\n    return (Logic('arbiter'),)\n"
        "@hook\ndef priority(state, program, warp, pc):\n    return 0\n",
        encoding="utf-8",
    )
    both = ConfiguredDesign.load(f"{files[0]}+{policy}")
    added = both.design.hardware(both.design.configure(), FERMI)
    assert [one.name for one in added] == ["renaming", "coalescing", "shift", "arbiter"]
    policy.write_text(policy.read_text(encoding="utf-8").replace("arbiter", "shift"), encoding="utf-8")
    twice = ConfiguredDesign.load(f"{files[0]}+{policy}")
    with pytest.raises(DesignError, match="two of the designs have hardware named shift"):
        twice.design.hardware(twice.design.configure(), FERMI)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('powered="allocated"', 'powered="on"', "MRF is powered by 'on', which is no resource; there are: allocated"),
        (
            'Logic("shift", "issues")',
            'Logic("shift", "issued")',
            "logic 'shift' counts 'issued', which is no event; there are: issues, renaming lookups, renaming updates",
        ),
        ('Logic("shift"', 'Logic("coalescing"', "two pieces of hardware are named 'coalescing'"),
        ('Logic("coalescing")', "3", "hardware returned a int, expected a Table or Logic"),
        ("3024, 14", "3024, 0", "table renaming: bits expects at least 1, found 0"),
        (
            'Logic("coalescing")',
            'Logic("coalescing", per="lane")',
            "logic coalescing: per expects one of chip, SM, ",
        ),
        (
            "def hardware(parameters, machine)",
            "def hardware(machine)",
            "hardware takes (parameters[, machine]), found ",
        ),
    ],
)
def test_wrong_hardware_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "half.py"
    assert old in DESIGN
    path.write_text(DESIGN.replace(old, new), encoding="utf-8")
    with pytest.raises(DesignError) as caught:
        Setting.load("corf-fermi", "corf").check([ConfiguredDesign.load(path)])
    assert message in str(caught.value)


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A recorded vector addition of one thread block of 4 warps, timed by the interpreted core on 2 SMs."""
    interpret(monkeypatch, sms=2)
    return str(write_vector_add(tmp_path, 128))


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_compare_tells_energy_by_cause(capsys: pytest.CaptureFixture[str], files: tuple[str, str], add: str) -> None:
    on = ["--machine", "corf-fermi", "--technology", files[1]]
    compared = ["compare", add, *on, "--cycles", "--designs", f"mrf,{files[0]},{GATED}"]
    plain, half, gated = told(capsys, *compared)
    # No table is looked up, so what is added to the same accesses is 57 mW and the shifts.
    assert half["added_pj"]["renaming"] == 0
    assert half["added_pj"]["coalescing"] == pytest.approx(57 * 2 * half["cycles"] * 1000 / 700)
    assert half["added_pj"]["shift"] == 0.5 * half["events"]["issues"] == 0.5 * half["warp_instructions"]
    assert half["energy_pj"] == pytest.approx(plain["energy_pj"] + sum(half["added_pj"].values()))
    shares = ("mrf_access", "mrf_wire", "buf_access", "buf_wire", "added")
    assert half["energy_normalized"] == pytest.approx(sum(half[f"{name}_normalized"] for name in shares))
    # All take the same cycles; 512 of the 1024 registers of one of two SMs are on.
    assert half["cycles"] == gated["cycles"] == plain["cycles"]
    assert (plain["leakage_normalized"], "added_pj" in plain, "added_bytes" in plain) == (1, False, False)
    assert half["leakage_pj"]["MRF"] == pytest.approx(plain["leakage_pj"]["MRF"] / 4)
    assert half["added_bytes"] == 3024 * 14 / 8 + 48 * 128
    # The trace names 12 registers: 48 of 4 warps are on from the first cycle until the last, in which the block ends.
    assert gated["resources"]["registers on"] == 48 * (gated["cycles"] - 1)
    assert gated["leakage_pj"]["switches"] == pytest.approx(89.6 * 2 * gated["cycles"] / 0.7 / 1024)
    assert (gated["added_bytes"], gated["energy_normalized"]) == (128, 1)

    assert main(compared) == 0
    assert {"arrays", "wires", "added", "leakage", "allocated", "issues"} <= set(capsys.readouterr().out.split())
    timed = told(capsys, "run", add, *on, "--cycles", "--design", files[0])
    same = ("added_pj", "added_bytes", "added_mm2", "leakage_pj", "events", "resources", "energy_pj")
    assert {name: timed[name] for name in same} == {name: half[name] for name in same}
    assert main(["run", add, *on, "--cycles", "--design", files[0]]) == 0
    assert {"coalescing", "leakage:", "KiB,"} <= set(capsys.readouterr().out.split())

    frame = warpreg.compare(
        warpreg.read_trace(add), ["mrf", files[0]], machine="corf-fermi", technology=files[1], cycles=True
    )
    assert frame["leakage_normalized"].tolist() == [1, half["leakage_normalized"]]
    assert frame["added_bytes"].tolist()[1] == half["added_bytes"]


def test_a_design_without_a_price_is_one_line(
    capsys: pytest.CaptureFixture[str], files: tuple[str, str], add: str
) -> None:
    for command in (["compare", add, "--designs", files[0]], ["run", add, "--cycles", "--design", files[0]]):
        assert main(command) == 1
        line = capsys.readouterr().err
        assert line.startswith(
            "warpreg: half: logic coalescing has no price (priced by --technology common-40nm, --tech"
        )
        assert line.count("\n") == 1


@pytest.mark.parametrize(
    ("design", "level", "machine"), [("rfc", "RFC", "gebhart-rfc"), ("ltrf", "RC", "gtx980-two-level")]
)
def test_entries_of_few_warps_are_told_where_more_run(design: str, level: str, machine: str) -> None:
    """RFC and LTRF have entries for eight active warps; an SM of the H100 runs 64 without an active set."""
    priced = energy.load("common-40nm")
    for name, notes in ((machine, 0), ("h100", 1)):
        described = gpu.load(name)
        ((choice,), _) = attempted({design: {}}, machine=described)
        found = for_few_warps(choice, described, priced)
        assert len(found) == notes
        assert all(
            f"{design}: level {level} has entries of 8 warps, and an SM of this machine runs 64" in one for one in found
        )
