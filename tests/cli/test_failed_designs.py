"""A design that fails has a row that says so, on the command line and in Python; the rows of the others come out."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import pytest

import warpreg
from warpreg.cli import main
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.energy.errors import EnergyError
from warpreg.evaluation.runs.comparison import DesignCounter, Setting, attempts
from warpreg.evaluation.runs.counting import Replayed
from warpreg.evaluation.runs.run import RunError, find_workload, run_workload
from warpreg.ir.errors import InterruptedCodeError, UnknownNameError, WarpregError

pytestmark = pytest.mark.slow
Output = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]
COMPARE = ("compare", "vector-add", "--size", "tiny", "-j", "1", "--designs")
NEEDS_ORDER = "corf: depends on the order of warps (sm), so it needs a recorded schedule"
TOO_MANY = "rfc: parameter entries expects int from 0 to 16 (entries per thread), found "
GOOD = (ROOT / "examples" / "my_design.py").read_text(encoding="utf-8")


def begins_with(statement: str) -> str:
    """The design with a first statement in ``init``."""
    begin = "    return State(parameters.entries,"
    return GOOD.replace(begin, f"    {statement}\n{begin}")


def broken(folder: Path, name: str, text: str) -> str:
    """A design file."""
    file = folder / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("designs", "more", "design", "cause"),
    [
        ("mrf,corf,rfc", (), "corf", NEEDS_ORDER),
        ("mrf,rfc", ("--set", "rfc.entries=4,5000"), "rfc", f"{TOO_MANY}'5000'"),
        ("mrf,rfc,drowsy", ("--technology", "gebhart-40nm"), "drowsy", "drowsy: level DROWSY has no price"),
    ],
)
def test_the_others_stand(designs: str, more: tuple[str, ...], design: str, cause: str, capsys: Output) -> None:
    assert main([*COMPARE, designs, *more]) == 1
    text = capsys.readouterr().out
    assert "\nvector-add  mrf " in text
    assert "\nvector-add  rfc(entries=" in text
    assert [line.split()[0] for line in text.splitlines() if ": failed" in line] == ["vector-add"]
    assert f"\nfailed: {cause.removeprefix(f'{design}: ')}" in text
    assert main([*COMPARE, designs, *more, "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    (bad,) = [row for row in rows if "error" in row]
    assert (bad["workload"], bad["design"]) == ("vector-add", design)
    assert bad["error"].startswith(cause)
    assert len(rows) == 3
    assert main([*COMPARE, designs, *more, "--csv"]) == 1
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["error"].startswith(cause) for row in table].count(True) == 1
    assert [row["error"] for row in table].count("") == 2


@pytest.mark.parametrize(
    ("name", "text", "cause"),
    [
        ("compiles", f"{GOOD}\n\ndef compile(program, parameters):\n    return 1 // 0\n", "ZeroDivisionError"),
        ("returns", f"{GOOD}\n\ndef compile(program, parameters):\n    return 5\n", "compile returned a int"),
        ("rewrites", f"{GOOD}\n\ndef rewrite(kernel, parameters):\n    raise RecursionError\n", "RecursionError"),
        ("index", GOOD.replace("register % state.entries", "register + 1000"), "index 1000 is outside"),
        ("begins", begins_with("raise MemoryError"), "MemoryError"),
        ("ends", begins_with("raise SystemExit(3)"), "the design ends the process (exit 3)"),
        ("level", GOOD.replace("write(plan, operand, RFC)", "write(plan, operand, 7)"), "level 7 is outside 0 to 1"),
    ],
)
def test_a_design_file_that_fails_has_a_row(name: str, text: str, cause: str, tmp_path: Path, capsys: Output) -> None:
    assert text != GOOD
    file = broken(tmp_path, name, text)
    assert main([*COMPARE, "mrf,rfc", "--design", file, "--json"]) == 1
    first, second, bad = json.loads(capsys.readouterr().out)
    assert ("error" in first, "error" in second) == (False, False)
    assert bad["design"] == name
    assert cause in bad["error"]
    assert bad["error"].startswith(f"{file}:")


def test_what_is_misspelt_is_an_error_of_the_command(capsys: Output, tmp_path: Path) -> None:
    """As in a study: nothing is measured."""
    for designs, more in (("mrf,rfcc", ()), ("mrf,rfc", ("--set", "rfc.entrie=4")), ("mrf,none.py", ())):
        assert main([*COMPARE, designs, *more, "--json"]) == 1
        found = capsys.readouterr()
        assert found.out == ""
        assert found.err.count("\n") == 1
    for designs, more in (("corf", ()), ("rfc", ("--set", "rfc.entries=17"))):  # and where no design has a result
        assert main([*COMPARE, designs, *more, "--json"]) == 1
        found = capsys.readouterr()
        assert (found.out, found.err.count("\n")) == ("", 1)


def test_a_failure_under_a_variation_names_it(capsys: Output) -> None:
    assert main([*COMPARE, "mrf,rfc", "--set", "rfc.entries=4,99", "--vary", "order", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [row["workload"] for row in found["rows"] if "error" in row] == ["vector-add", "vector-add (order)"]
    assert [one["design"] for one in found["ranking"]] == ["rfc(entries=4)", "mrf"]


def test_from_python_a_design_that_fails_has_a_line() -> None:
    run = warpreg.run("vector-add", size="tiny")
    table = warpreg.compare(run, ["mrf", "corf", "rfc"], parameters={"rfc": {"entries": [4, 99]}})
    assert list(table["design"]) == ["mrf", "corf", "rfc", "rfc"]
    told = list(table["error"])
    assert [isinstance(one, str) for one in told] == [False, True, False, True]
    assert str(told[1]).startswith(NEEDS_ORDER)
    assert told[3] == f"{TOO_MANY}99"
    assert math.isnan(table["energy_normalized"][1])
    assert "error" not in warpreg.compare(run, ["mrf", "rfc"])


def test_from_python_the_error_is_raised_if_no_design_has_a_line() -> None:
    run = warpreg.run("vector-add", size="tiny")
    with pytest.raises(RunError, match="corf: depends on the order"):
        warpreg.compare([run, run], ["corf"])
    with pytest.raises(EnergyError, match="drowsy: level DROWSY has no price"):
        warpreg.compare(run, ["drowsy"], technology="gebhart-40nm")
    with pytest.raises(WarpregError, match="rfc: parameter entries expects"):
        warpreg.compare(run, ["rfc"], parameters={"rfc": {"entries": 99}})
    with pytest.raises(UnknownNameError, match="no parameter of rfc named 'entrie'"):
        warpreg.compare(run, ["mrf", "rfc"], parameters={"rfc": {"entrie": 4}})
    with pytest.raises(UnknownNameError, match="no design named 'rfcc'"):
        warpreg.compare(run, ["mrf", "rfcc"])


def test_an_interruption_is_no_failure_of_a_design(tmp_path: Path) -> None:
    choices = [
        ConfiguredDesign.load(name)
        for name in ("mrf", broken(tmp_path, "stopped", begins_with("raise KeyboardInterrupt")))
    ]
    setting = Setting.load("gebhart-rfc", "gebhart-40nm")
    run = run_workload(find_workload("vector-add"))
    with pytest.raises(InterruptedCodeError):
        list(attempts(DesignCounter(run, setting.machine, Replayed()), choices, setting))
