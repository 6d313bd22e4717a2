"""``warpreg check``: what passes, what fails, and what is said of code that goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpreg.checks.contract import MACHINE, _subject, switched_off, undefined, values_kept
from warpreg.checks.subject import Subject
from warpreg.cli import main
from warpreg.designs import load

Output = pytest.CaptureFixture[str]

HEAD = """\
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", levels=("MRF", "X"), source="assumed: a test")
@hook
def plan_reads(state, program, warp, pc, plan):
    for operand in source_operands(program, pc):
        read(plan, operand, {level})
"""
WRITES = """
@hook
def plan_write(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        write(plan, operand, 1)
"""


@pytest.fixture(scope="module")
def subject() -> Subject:
    return _subject("vector-add", load("mrf"), MACHINE)


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["rfc", "rfc-lrf", "orf-lrf", "rsp", "bow", "bow-wr"])
def test_the_packages_designs_lose_no_write(subject: Subject, name: str) -> None:
    found = values_kept(load(name, checked=True), {}, [subject])
    assert found.verdict == "passed"
    assert "reads followed on vector-add" in found.detail


def test_a_lost_write_is_named(subject: Subject, tmp_path: Path) -> None:
    """Results go to X alone and sources come from the MRF."""
    found = values_kept(load(written(tmp_path, HEAD.format(level=0) + WRITES)), {}, [subject])
    assert found.verdict == "failed"
    assert "from MRF, and its last value is in X" in found.detail


def test_a_value_that_was_never_there_is_named(subject: Subject, tmp_path: Path) -> None:
    """Results go to the MRF and sources come from X."""
    found = values_kept(load(written(tmp_path, HEAD.format(level=1))), {}, [subject])
    assert found.verdict == "failed"
    assert "from X, and its last value is in MRF" in found.detail


def test_what_is_not_checked_does_not_pass(subject: Subject) -> None:
    assert values_kept(load("mrf", checked=True), {}, [subject]).verdict == "not checked"


@pytest.mark.parametrize(
    ("name", "off"),
    [("rfc", "entries=0"), ("orf-lrf", "entries=0, lrf=none"), ("bow", "window=1"), ("bow-wr", "window=1")],
)
def test_switched_off_the_packages_designs_are_the_register_file(subject: Subject, name: str, off: str) -> None:
    found = switched_off(load(name, checked=True), {}, [subject])
    assert (found.verdict, found.detail) == ("passed", f"with {off} it counts as the plain register file does")


def test_a_switch_that_does_not_switch_off_is_named(subject: Subject, tmp_path: Path) -> None:
    switch = (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Parameters:\n"
        '    size: int = parameter(4, low=0, high=8, off=0, source="assumed: a test")\n'
    )
    found = switched_off(load(written(tmp_path, HEAD.format(level=1) + WRITES + switch)), {}, [subject])
    assert (found.verdict, found.detail) == (
        "failed",
        "vector-add: with size=0 it counts other accesses than the register file",
    )


def test_without_a_switch_nothing_is_checked(subject: Subject, tmp_path: Path) -> None:
    found = switched_off(load(written(tmp_path, HEAD.format(level=1))), {}, [subject])
    assert (found.verdict, found.detail) == (
        "not checked",
        "no parameter declares the value `off` that switches the design off",
    )


def test_what_a_design_does_not_define_is_said(tmp_path: Path) -> None:
    words = list(undefined(load(written(tmp_path, HEAD.format(level=1)))))
    assert words[0] == "no plan_write: every result is written to the MRF"
    assert any(one.startswith("no structures") for one in words)


@pytest.mark.slow
def test_the_command(capsys: Output, tmp_path: Path) -> None:
    path = written(tmp_path, HEAD.format(level=9))
    assert main(["check", str(path), "--workloads", "vector-add", "--json"]) == 1
    found = {one["check"]: one for one in json.loads(capsys.readouterr().out)}
    assert found["checked replay"]["verdict"] == "failed"
    assert "level 9 is outside 0 to 1" in found["checked timing"]["detail"]


def test_ctrl_c_while_a_design_is_loaded(capsys: Output, tmp_path: Path) -> None:
    path = written(tmp_path, "raise KeyboardInterrupt\n")
    assert main(["compare", "vector-add", "--size", "tiny", "--design", str(path)]) == 130
    assert f"{path}:1: interrupted while the design was loaded" in capsys.readouterr().err


def test_unchecked_runs_what_checks_refuse(capsys: Output, tmp_path: Path) -> None:
    aliased = WRITES.replace("        write", "        f").replace("    for", "    f = write\n    for")
    path = written(tmp_path, HEAD.format(level=1) + aliased)
    assert main(["compare", "vector-add", "--size", "tiny", "--design", str(path)]) == 1
    assert "write can only be called, so that the call can be checked" in capsys.readouterr().err
    found = load(path, checked=False)
    assert not found.is_checked


def test_a_machine_that_does_not_exist_is_no_failure_of_the_design(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "rfc", "--machine", "gtx48"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "did you mean 'gtx480'?" in shown.err
