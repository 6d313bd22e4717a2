"""Invalid traces, machine files and design files with ``--cycles``: one line that names the place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.sass.vector_add import write_vector_add
from tests.timing import small_core

from warpreg.cli import main
from warpreg.gpu.machine import FOLDER
from warpreg.timing.launch import compile as native

Output = pytest.CaptureFixture[str]
LINE_OF_FADD = 35


def complaint(capsys: Output, *arguments: str) -> str:
    assert main(list(arguments)) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("warpreg: ")
    assert told.err.count("\n") == 1
    return told.err.removeprefix("warpreg: ").rstrip("\n")


def cut(trace: Path) -> str:
    text = trace.read_text()
    trace.write_text(text[: text.index("FADD") + len("FADD")])
    return f"{trace}:{LINE_OF_FADD}: "


def cut_between_lines(trace: Path) -> str:
    lines = trace.read_text().splitlines(keepends=True)
    trace.write_text("".join(lines[: LINE_OF_FADD - 1]))
    return f"{trace}:{LINE_OF_FADD}: the trace stops in warp 0 of thread block 0,0,0, after 11 of 14"


def unknown(trace: Path) -> str:
    trace.write_text(trace.read_text().replace("FADD", "FROB"))
    told = "opcodes that are in no table (--unknown-opcodes alu counts them as ALU): FROB executed 4 times, first at"
    return f"{trace}:{LINE_OF_FADD}: {told} {trace}:{LINE_OF_FADD}"


def mixed(trace: Path) -> str:
    second = trace.with_name("kernel-2.traceg")
    second.write_text(trace.read_text().replace("tracer version = 5", "tracer version = 4"))
    trace.with_name("kernelslist.g").write_text(f"{trace.name}\n{second.name}\n")
    return f"{second}:15: tracer version 4, but the first trace of the list has 5"


@pytest.mark.parametrize("damage", [cut, cut_between_lines, unknown, mixed])
@pytest.mark.parametrize("command", ["run", "compare"])
def test_a_wrong_trace(capsys: Output, tmp_path: Path, command: str, damage: Callable[[Path], str]) -> None:
    listed = write_vector_add(tmp_path, 128)
    expected = damage(tmp_path / "kernel-1.traceg")
    assert complaint(capsys, command, str(listed), "--cycles", "--machine", "gtx480").startswith(expected)


CHANGED = 'title = "Changed"\nbase = "gtx480"\n[{section}]\n{entry} = {{ value = {value}, assumed = "a test" }}\n'


@pytest.mark.parametrize(
    ("section", "entry", "value", "message"),
    [
        ("l2", "slices", '7, unit = "slices"', "mine.toml:4: l2.slices: expected a multiple of 6 channels, found 7"),
        ("l2", "slices", '6, unit = "bytes"', "mine.toml:4: l2.slices: expected unit 'slices', found unit 'bytes'"),
        ("l2", "slice", '6, unit = "slices"', "mine.toml:4: l2.slice: expected 'slices', found unknown key 'slice'"),
        ("schedulers", "policy", '"two-level"', "mine.toml:3: schedulers.active_warps: expected an entry with policy"),
        (
            "operand_path",
            "kind",
            '"ideal"',
            "mine.toml:1: collectors: expected sets of collectors with banks, and only",
        ),
        ("memory", "model", '"fixed"', "mine.toml:3: memory.bytes_per_cycle: expected bytes with model fixed"),
        ("sm", "threads", '64, unit = "threads"', "mine.toml:4: sm.threads: expected 48 warps x 32 = 1536, found 64"),
    ],
)
def test_an_inconsistent_machine(
    capsys: Output, tmp_path: Path, section: str, entry: str, value: str, message: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(CHANGED.format(section=section, entry=entry, value=value), encoding="utf-8")
    told = complaint(capsys, "run", "vector-add", "--cycles", "--machine", str(path))
    assert told.removeprefix(f"{tmp_path}/").startswith(message)


def test_a_machine_without_an_entry(capsys: Output, tmp_path: Path) -> None:
    lines = (FOLDER / "gtx480.toml").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(one for one in lines if not one.startswith("steps_per_cycle")), encoding="utf-8")
    told = complaint(capsys, "run", "vector-add", "--cycles", "--machine", str(path))
    line = lines.index("[register_file]") + 1
    entry = "register_file.steps_per_cycle: expected an entry (times a cycle that banks are read), found nothing"
    assert told == f"{path}:{line}: {entry}"


HEAD = 'from warpreg.designs.interface import *\nDESIGN = Declaration(slot="policy", source="assumed: a test")\n@hook\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def admitt(state, program, warp, pc, plan):\n    return GO\n", "mine.py:4: no hook named 'admitt'; did you"),
        (
            "def admit(state, program, warp, pc):\n    return GO\n",
            "mine.py:4: hook admit takes (state, program, warp, pc",
        ),
        ("def admit(state, program, warp, pc, plan):\n    pass\n", "mine.py:4: hook admit returns an integer"),
        ("def warp_end(state, program, warp, plan):\n    return 1\n", "mine.py:5: hook warp_end returns nothing"),
    ],
)
def test_a_hook_that_is_none(capsys: Output, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + text, encoding="utf-8")
    told = complaint(capsys, "run", "vector-add", "--size", "tiny", "--cycles", "--design", str(path))
    assert told.removeprefix(f"{tmp_path}/").startswith(message)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("    half = warp * 0.5\n    return half\n", "mine.py:4: hook priority returns an integer, found float64"),
        ("    return other(pc)\ndef other(pc):\n    return pc.all\n", "mine.py:7: hook priority: "),
    ],
)
def test_a_hook_that_does_not_compile(
    capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.setattr(native, "run", small_core.run)
    path = tmp_path / "mine.py"
    path.write_text(f"{HEAD}def priority(state, program, warp, pc):\n{text}", encoding="utf-8")
    listed = str(write_vector_add(tmp_path, 32))
    told = complaint(capsys, "run", listed, "--cycles", "--machine", "gebhart", "--design", str(path))
    assert told.removeprefix(f"{tmp_path}/").startswith(message)
