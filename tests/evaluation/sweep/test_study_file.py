"""A study file: what it means, and what is said of mistakes in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.evaluation.sweep.conftest import StudyFolder

from warpreg import workloads
from warpreg.evaluation.runs.run import RunError
from warpreg.evaluation.sweep.cells import cells_of
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.evaluation.sweep.study_file import read_study
from warpreg.ir.errors import UnknownNameError, WarpregError

ROOT = Path(__file__).parents[3]
DESIGN = '[[designs]]\nname = "rfc"\n'


def test_every_combination_is_a_cell_and_parameters_change_fastest(study: StudyFolder) -> None:
    file = study.write(
        'workloads = ["vector-add", "bfs"]\nsizes = "tiny"\nmachines = ["gtx480", "v100"]\n'
        '[[designs]]\nname = "mrf"\n'
        '[[designs]]\nname = "rfc"\nparameters = { entries = { low = 2, high = 6, step = 4 } }\n'
        "[compile]\naddress_bits = [32, 64]\n"
    )
    cells = cells_of(read_study(file), study.folder)
    assert len(cells) == 2 * 2 * 2 * 3
    assert [(cell.design, cell.values) for cell in cells[:3]] == [
        ("mrf", ()),
        ("rfc", (("entries", 2),)),
        ("rfc", (("entries", 6),)),
    ]
    assert [cell.machine for cell in cells[:6]] == ["gtx480"] * 3 + ["v100"] * 3
    assert [cell.made.choice.address_bits for cell in cells[:12]] == [32] * 6 + [64] * 6
    assert [cell.made.workload for cell in cells] == ["vector-add"] * 12 + ["bfs"] * 12


def test_a_list_of_grids_is_not_their_product(study: StudyFolder) -> None:
    file = study.write(
        'workloads = "vector-add"\n[[designs]]\nname = "rfc"\n'
        'parameters = [{ entries = [2, 4] }, { entries = 6, replacement = ["fifo", "lru"] }]\n'
    )
    values = [dict(cell.values) for cell in cells_of(read_study(file), study.folder)]
    assert values == [
        {"entries": 2},
        {"entries": 4},
        {"entries": 6, "replacement": "fifo"},
        {"entries": 6, "replacement": "lru"},
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "workloads: field required"),
        ('workloads = "bfs"\nmachnes = "v100"\n' + DESIGN, "no key named 'machnes'; did you mean 'machines'?"),
        ('workloads = "bfs"\nmachines = []\n' + DESIGN, "machines: expected at least 1, found []"),
        (
            'workloads = "bfs"\n' + DESIGN + "parameters = { entries = [] }",
            "parameters.0.entries: expected values or { low, high, step }, found []",
        ),
        (
            'workloads = "bfs"\n' + DESIGN + "parameters = { entries = { low = 4, high = 2 } }",
            "designs.0.parameters.0.entries: expected low <= high and step >= 1, found {'low': 4, 'high': 2}",
        ),
        ('workloads = "bfs"\nsizes = "huge"\n' + DESIGN, "'tiny', 'small' or 'full', found 'huge'"),
        ('workloads = "bfs"\nseeds = -1\n' + DESIGN, "seeds.0: input should be greater than or equal to 0, found -1"),
        ('workloads = "bfs"\nsample = { windows = 4 }\n' + DESIGN, "sample: requires cycles = true"),
        ('workloads = "bfs"\n' + DESIGN + "[search]\ntrials = 4\n", "search: expected minimize or maximize"),
        ("workloads = ", "not a TOML file: Invalid value"),
    ],
)
def test_a_mistake_is_named_with_its_place(study: StudyFolder, text: str, message: str) -> None:
    with pytest.raises(SweepError) as found:
        read_study(study.write(text))
    assert str(found.value).startswith(f"{study.folder / 'study.toml'}: ")
    assert message in str(found.value)


def test_a_required_key_that_is_misspelt_is_one_line(study: StudyFolder) -> None:
    with pytest.raises(SweepError) as found:
        read_study(study.write('workload = "bfs"\n' + DESIGN))
    assert str(found.value).endswith("study.toml: no key named 'workload'; did you mean 'workloads'?")
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("workloads", "vector-ad", "no workload named 'vector-ad'; did you mean 'vector-add'?"),
        ("machines", "v10", "no machine named 'v10'; did you mean 'v100'?"),
        ("workloads", "none.py", "none.py"),
    ],
)
def test_an_unknown_name_stops_before_anything_runs(study: StudyFolder, key: str, value: str, message: str) -> None:
    workloads = "" if key == "workloads" else 'workloads = "vector-add"\n'
    file = study.write(f'{workloads}{key} = "{value}"\n{DESIGN}')
    with pytest.raises(WarpregError, match=message.replace("?", r"\?")):
        cells_of(read_study(file), study.folder)


def test_a_compile_option_has_a_name_and_a_type(study: StudyFolder) -> None:
    file = study.write(f'workloads = "bfs"\n{DESIGN}[compile]\naddres_bits = 32\n')
    with pytest.raises(UnknownNameError, match="did you mean 'address_bits'"):
        cells_of(read_study(file), study.folder)
    file = study.write(f'workloads = "bfs"\n{DESIGN}[compile]\naddress_bits = "32"\n')
    with pytest.raises(SweepError, match=r"compile\.address_bits: expected a value of type int, found '32'"):
        cells_of(read_study(file), study.folder)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("address_bits = [32, 33]", "address_bits: expected 32 or 64, found 33"),
        ("banks = -3", "banks: expected 0 to 32, found -3"),
        ("max_registers = 2", "max_registers: expected 8 to 255, found 2"),
        ("registers = 256", "registers: expected 1 to 255, found 256"),
    ],
)
def test_a_compile_option_has_a_range(study: StudyFolder, option: str, message: str) -> None:
    file = study.write(f'workloads = "bfs"\n{DESIGN}[compile]\n{option}\n')
    with pytest.raises(RunError, match=f"^{message}$"):
        cells_of(read_study(file), study.folder)


def test_a_parameter_that_no_cell_has_stops_before_anything_runs(study: StudyFolder) -> None:
    file = study.write('workloads = "bfs"\n[[designs]]\nname = "regmutex+rfc"\nparameters = { entries = [2, 4] }\n')
    with pytest.raises(UnknownNameError, match=r"no parameter of regmutex\+rfc named 'entries'; did you mean"):
        cells_of(read_study(file), study.folder)


def test_all_workloads_beside_others(study: StudyFolder) -> None:
    file = study.write(f'workloads = ["counted.py", "all", "bfs"]\n{DESIGN}')
    names = [cell.made.workload for cell in cells_of(read_study(file), study.folder)]
    assert names == [str(study.folder / "counted.py"), *workloads.names()]


def test_a_design_file_in_a_composition_is_named_without_its_folder(study: StudyFolder) -> None:
    shutil.copy(ROOT / "examples" / "my_design.py", study.folder)
    batch = study.batch(study.write('workloads = "bfs"\n[[designs]]\nname = "regmutex+my_design.py"\n'))
    assert batch.label(1) == "regmutex+my_design.py"
    assert batch.row(1, "why")["design"] == "regmutex+my_design.py"
