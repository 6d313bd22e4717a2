"""``warpreg check``: what passes, what fails, and what is said of code that goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpreg.checks.contract import (
    MACHINE,
    _all_ran,
    _replayed,
    _subject,
    _timed_kernels,
    switched_off,
    undefined,
    values_kept,
)
from warpreg.checks.statements import Ran
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


def test_results_that_are_planned_when_they_are_produced_are_followed(subject: Subject, tmp_path: Path) -> None:
    """To X, and no hook plans sources, which come from the MRF."""
    late = HEAD.partition("@hook")[0] + WRITES.replace("plan_write", "produced")
    found = values_kept(load(written(tmp_path, late)), {}, [subject])
    assert found.verdict == "failed"
    assert "from MRF, and its last value is in X" in found.detail
    kept = values_kept(load(written(tmp_path, late.replace("operand, 1", "operand, 0"))), {}, [subject])
    assert kept.verdict == "passed"


def test_sources_that_no_level_serves_do_not_pass(subject: Subject, tmp_path: Path) -> None:
    """Each source is accessed nowhere, so no read is left to follow."""
    free = HEAD.replace("read(plan, operand, {level})", "nowhere(plan, operand)")
    found = values_kept(load(written(tmp_path, free)), {}, [subject])
    assert found.verdict == "not checked"
    assert "sources are accessed nowhere, so no level holds their values" in found.detail


IDLE = """
@hook
def issued(state, program, warp, pc, plan):
    if pc < 0:
        count_it(plan)
    elif pc == 0:
        return


def count_it(plan):
    wake(plan, 1)


def never_named(plan):
    wake(plan, 2)


@hook
def load_lookup(state, program, warp, pc, base, stride, mask, plan):
    return 0


@hook
def suspended(state, program, warp, plan):
    wake(plan, 3)
"""


def test_hooks_and_statements_that_have_not_run_are_named(tmp_path: Path) -> None:
    """A branch that is never taken and the function that it calls; a hook of active sets on a machine that has none."""
    text = HEAD.partition("@hook")[0] + IDLE
    lines = {line: number for number, line in enumerate(text.splitlines(), 1)}
    design = load(written(tmp_path, text), checked=True)
    ran = Ran(design)
    with ran.watching():
        assert _timed_kernels(design, {}, "gtx480", 0).verdict == "passed"
    assert ran.uncalled() == ["suspended"]
    assert ran.idle() == [
        f"mine.py:{lines[f'    {text}']}" for text in ("    count_it(plan)", "wake(plan, 1)", "wake(plan, 3)")
    ]
    assert _all_ran(ran).verdict == "not checked"
    assert _all_ran(ran).detail.startswith("never called: suspended; never run: mine.py:")


def test_what_runs_whole_passes(tmp_path: Path) -> None:
    design = load(written(tmp_path, HEAD.format(level=0)), checked=True)
    ran = Ran(design)
    with ran.watching():
        _timed_kernels(design, {}, MACHINE, 0)
    assert (ran.uncalled(), ran.idle()) == ([], [])


def test_hooks_that_no_replay_calls_are_not_checked_by_it(subject: Subject, tmp_path: Path) -> None:
    text = HEAD.partition("@hook")[0] + "@hook\ndef stalled(state, program, warp, pc, plan):\n    wake(plan, 1)\n"
    found = _replayed(load(written(tmp_path, text)), {}, [subject], "interpreted")
    assert (found.verdict, found.detail) == ("not checked", "a replay calls none of its hooks")
    reads = text + "@hook\ndef issued(state, program, warp, pc, plan):\n    wake(plan, 1)\n"
    found = _replayed(load(written(tmp_path, reads)), {}, [subject], "interpreted")
    assert (found.verdict, found.detail) == ("passed", "vector-add; a replay does not call stalled")


@pytest.mark.parametrize(
    ("name", "off"),
    [("rfc", "entries=0"), ("orf-lrf", "entries=0, lrf=none"), ("bow", "window=1"), ("bow-wr", "window=1")],
)
def test_switched_off_the_packages_designs_are_the_register_file(subject: Subject, name: str, off: str) -> None:
    found = switched_off(load(name, checked=True), {}, [subject])
    assert (found.verdict, found.detail) == (
        "passed",
        f"with {off} it counts as the plain register file does, in a replay of vector-add",
    )


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


def test_columns_that_nothing_fills_are_said(tmp_path: Path) -> None:
    """Hint columns are 0 without a compile step; one that has it fills them, and `suspends` is always there."""
    text = HEAD.format(level="program.result_partial[0] + program.suspends[pc] * 0")
    told = "no compile: result_partial of the program, which it reads, stay 0"
    assert told in list(undefined(load(written(tmp_path, text))))
    compiled = text + "def compile(program, parameters):\n    return program\n"
    assert told not in list(undefined(load(written(tmp_path, compiled))))


def test_what_a_design_does_not_define_is_said(tmp_path: Path) -> None:
    words = list(undefined(load(written(tmp_path, HEAD.format(level=1)))))
    assert words[0] == "no plan_write or produced: every result is written to the MRF"
    assert any(one.startswith("no structures") for one in words)
    assert list(undefined(load("packing"))) == []


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
