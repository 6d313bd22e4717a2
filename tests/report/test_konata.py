"""Konata's text, read by a parser of its own, against cycles worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tests.timing.assembly import one_warp
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Banks, Pipe, Sm
from tests.timing.traced import traced

from warpreg.report.konata import write_konata
from warpreg.timing.launch.tracing import TraceOfRun

CHAIN = "add.s32 R1, R0, 3\nadd.s32 R2, R1, 1\nbra 0"
BANKS = Banks(count=8, single_ported=False)


@dataclass
class Row:
    """An instruction of the file: ``stages`` with their first cycles, the end with its type, and its producers."""

    thread: int
    label: str = ""
    details: str = ""
    stages: list[tuple[str, int]] = field(default_factory=list)
    retired: tuple[int, int, int] = (-1, -1, -1)
    producers: list[int] = field(default_factory=list)


def parsed(trace: TraceOfRun, folder: Path) -> dict[int, Row]:
    """The rows of the file by their number; rows that are over say no more."""
    path = folder / "trace.kanata"
    write_konata(trace, path)
    head, start, *lines = path.read_text(encoding="utf-8").splitlines()
    assert head == "Kanata\t0004"
    word, now = start.split("\t")[0], int(start.split("\t")[1])
    assert word == "C="
    rows: dict[int, Row] = {}
    for line in lines:
        command, *words = line.split("\t")
        if command == "C":
            assert int(words[0]) > 0
            now += int(words[0])
            continue
        number = int(words[0])
        if command == "I":
            assert number == len(rows)
            rows[number] = Row(int(words[2]))
        row = rows[number]
        assert row.retired == (-1, -1, -1)
        if command == "L":
            row.label, row.details = (words[2], row.details) if words[1] == "0" else (row.label, words[2])
        elif command == "S":
            assert words[1] == "0"
            row.stages.append((words[2], now))
        elif command == "W":
            assert words[2] == "0"
            row.producers.append(int(words[1]))
        elif command == "R":
            row.retired = (now, int(words[1]), int(words[2]))
        else:
            assert command == "I"
    assert all(row.retired[0] >= 0 for row in rows.values())
    return rows


def sm(banks: Banks | None) -> Sm:
    """One scheduler; each pipe has one unit of latency 4."""
    return Sm(banks=banks, pipes={name: Pipe() for name in PIPES})


def test_stages_of_a_chain_with_banks(tmp_path: Path) -> None:
    """A warp placed in cycle 0 issues in cycle 1.  Its collector is entered in 2, the bank grants in 3, and dispatch is
    in 4; the result is due and written 4 cycles later, when the reader issues.  The branch executes at issue; fetch
    takes the cycle after its predecessor's issue, so it issues in 9.
    """
    first, second, branch = parsed(traced(one_warp(CHAIN), sm(BANKS)), tmp_path).values()
    assert first.label == "SM 0 warp 0 pc 0: add.s32 R1, R0, 3"
    assert (first.stages, first.retired) == ([("Is", 1), ("Oc", 2), ("Ex", 4), ("Wb", 8)], (8, 0, 0))
    assert (second.stages, second.producers) == ([("alu", 2), ("Is", 8), ("Oc", 9), ("Ex", 11), ("Wb", 15)], [0])
    assert second.details == "thread block 0; issued in cycle 8; waited: alu 6"
    assert second.retired == (15, 2, 0)
    assert (branch.stages, branch.retired) == ([("Is", 9)], (10, 1, 0))


def test_stages_on_the_ideal_path(tmp_path: Path) -> None:
    """Issue and dispatch are in one cycle, and there are no collectors."""
    first, second, _ = parsed(traced(one_warp(CHAIN), sm(None)), tmp_path).values()
    assert first.stages == [("Is", 1), ("Ex", 1), ("Wb", 5)]
    assert second.stages == [("alu", 2), ("Is", 5), ("Ex", 5), ("Wb", 9)]


def test_a_load_is_in_memory_until_its_data_come(tmp_path: Path) -> None:
    """It enters the queue at dispatch in 1, sends in 2, and its ticket returns 20 cycles later."""
    text = "ld.global.u32 R1, [R4.64]\nadd.s32 R2, R1, 1"
    load, add = parsed(traced(one_warp(text, Access(0xFFFFFFFF, "global", 0, ((0, 15),))), sm(None)), tmp_path).values()
    assert load.stages == [("Is", 1), ("Me", 1), ("Wb", 22)]
    assert (add.stages[:2], add.producers) == ([("memory", 2), ("Is", 22)], [0])


def test_a_window_cuts_rows(tmp_path: Path) -> None:
    """Only what issues in the window is a row; one that is under way at its end ends there as cut."""
    (second,) = parsed(traced(one_warp(CHAIN), sm(BANKS), begin=5, end=9), tmp_path).values()
    assert (second.stages, second.producers, second.retired) == ([("alu", 5), ("Is", 8)], [], (9, 0, 1))


def test_a_window_without_an_issue_has_no_rows(tmp_path: Path) -> None:
    assert parsed(traced(one_warp(CHAIN), sm(BANKS), begin=3, end=5), tmp_path) == {}


def test_the_same_trace_gives_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a", "b")]
    for file in files:
        write_konata(traced(one_warp(CHAIN, times=3), sm(BANKS)), file)
    assert files[0].read_bytes() == files[1].read_bytes()
